//! Letters to people: by SMTP where it is set up, else into a folder where a developer reads them.

mod letters;

use std::path::PathBuf;

use anyhow::Context as _;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use secrecy::ExposeSecret;

use crate::config::Config;

pub use letters::Letter;

pub struct Mailer {
    from: Mailbox,
    way: Way,
}

enum Way {
    Outbox(PathBuf),
    Smtp(Box<AsyncSmtpTransport<Tokio1Executor>>),
}

impl Mailer {
    pub fn new(config: &Config) -> anyhow::Result<Mailer> {
        let from = config
            .mail
            .from
            .parse()
            .context("mail.from is not an address")?;
        let way = match &config.mail.smtp_url {
            Some(url) => {
                let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret())
                    .context("mail.smtp_url is not understood")?;
                Way::Smtp(Box::new(transport.build()))
            }
            None => Way::Outbox(config.outbox_dir()),
        };
        Ok(Mailer { from, way })
    }

    /// The folder letters go to, where there is no SMTP: the console shows it in development.
    pub fn outbox(&self) -> Option<&PathBuf> {
        match &self.way {
            Way::Outbox(dir) => Some(dir),
            Way::Smtp(_) => None,
        }
    }

    pub async fn send(&self, to: &str, letter: &Letter) -> anyhow::Result<()> {
        let message = Message::builder()
            .from(self.from.clone())
            .to(to.parse().context("the address is not one")?)
            .subject(letter.subject.clone())
            .header(ContentType::TEXT_PLAIN)
            .body(letter.body.clone())?;
        match &self.way {
            Way::Smtp(transport) => drop(
                transport
                    .send(message)
                    .await
                    .context("the mail was not sent")?,
            ),
            Way::Outbox(dir) => {
                let name = format!("{}.eml", uuid::Uuid::now_v7().simple());
                let (dir, bytes) = (dir.clone(), message.formatted());
                tokio::task::spawn_blocking(move || write_letter(&dir, &name, &bytes)).await??;
            }
        }
        Ok(())
    }
}

/// Moved into place when whole, so that nobody reads half a letter.
fn write_letter(dir: &std::path::Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir)?;
    let part = dir.join(format!(".{name}.part"));
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, dir.join(name))?;
    Ok(())
}

impl std::fmt::Debug for Mailer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailer")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
