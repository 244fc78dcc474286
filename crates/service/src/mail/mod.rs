//! Letters to people: by SMTP where it is set up, else into a folder where a developer reads them.

mod letters;

use std::collections::VecDeque;
use std::path::PathBuf;

use anyhow::Context as _;
use lettre::message::header::{ContentTransferEncoding, ContentType};
use lettre::message::{Body, Mailbox, Message};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use parking_lot::{Mutex, MutexGuard};
use sauti_store::ids::now_us;
use secrecy::ExposeSecret;

use crate::config::Config;

pub use letters::Letter;

const WRITTEN_MAX: usize = 20;

pub struct Mailer {
    from: Mailbox,
    way: Way,
}

/// A letter that went into the outbox.
#[derive(Debug, Clone)]
pub struct OutboxEmail {
    pub to: String,
    pub letter: Letter,
    pub at_us: i64,
}

enum Way {
    Outbox(PathBuf, Mutex<VecDeque<OutboxEmail>>),
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
            None => Way::Outbox(config.outbox_dir(), Mutex::default()),
        };
        Ok(Mailer { from, way })
    }

    /// Without SMTP: what went into the outbox since the start, the newest first, for an operator
    /// to hand on.
    pub fn written(&self) -> Option<Vec<OutboxEmail>> {
        match &self.way {
            Way::Outbox(_, written) => Some(lock(written).iter().cloned().collect()),
            Way::Smtp(_) => None,
        }
    }

    pub async fn send(&self, to: &str, letter: &Letter) -> anyhow::Result<()> {
        let message = Message::builder()
            .from(self.from.clone())
            // An address and nothing else: as a mailbox, "x<y@example.com>" would be the address behind a name.
            .to(Mailbox::new(
                None,
                to.parse().context("the address is not one")?,
            ))
            .subject(letter.subject.clone())
            .header(ContentType::TEXT_PLAIN)
            .body(body(letter, matches!(self.way, Way::Smtp(_))))?;
        match &self.way {
            Way::Smtp(transport) => drop(
                transport
                    .send(message)
                    .await
                    .context("the mail was not sent")?,
            ),
            Way::Outbox(dir, written) => {
                let name = format!("{}.eml", uuid::Uuid::now_v7().simple());
                let (dir, bytes) = (dir.clone(), message.formatted());
                tokio::task::spawn_blocking(move || write_letter(&dir, &name, &bytes)).await??;
                let mut written = lock(written);
                written.truncate(WRITTEN_MAX - 1);
                written.push_front(OutboxEmail {
                    to: to.to_owned(),
                    letter: letter.clone(),
                    at_us: now_us(),
                });
            }
        }
        Ok(())
    }
}

/// As it is, so that a link is one line whoever reads the file: quoted-printable would break it and write "=3D" for "=".
/// Lines are far below the 998 bytes that mail allows.
fn body(letter: &Letter, by_smtp: bool) -> Body {
    let encoding = match letter.body.is_ascii() {
        true => ContentTransferEncoding::SevenBit,
        // Not every mail server takes eight bits.
        false if by_smtp => return Body::new(letter.body.clone()),
        false => ContentTransferEncoding::EightBit,
    };
    let lines = letter.body.replace('\n', "\r\n");
    Body::dangerous_pre_encoded(lines.into_bytes(), encoding)
}

fn lock(written: &Mutex<VecDeque<OutboxEmail>>) -> MutexGuard<'_, VecDeque<OutboxEmail>> {
    written.lock()
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
