use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use futures_util::future::BoxFuture;
use sauti_server::http;
use sauti_server::http::socket;
use sauti_service::app::App;
use sauti_service::config::Config;
use sauti_service::telemetry;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::demo::{self, Demo};
use super::{Common, output};
use crate::offline;

/// Run the service
///
/// Listens until SIGTERM or Ctrl-C, then finishes what runs and refuses what comes; a second
/// signal ends it at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti serve --demo                          try it: makes an account, money and a key, prints them
  sauti serve --listen 0.0.0.0:8080 --data /var/lib/sauti
  sauti serve --config /etc/sauti.toml
  SAUTI_DATABASE__URL=postgres://sauti@db/sauti sauti serve")]
pub(super) struct Serve {
    /// On an empty data folder, make a confirmed account, a funded workspace and a key; print how
    /// to use them
    #[arg(long)]
    demo: bool,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
}

impl Serve {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let mut sources = common.sources();
        if let Some(address) = &self.listen {
            sources = sources.with("server.listen", address);
        }
        let config = Config::load(&sources)?;
        let _telemetry = telemetry::start(&config.telemetry)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        runtime.block_on(self.serve(config))?;
        // What is left on blocking threads must not hold up the end.
        runtime.shutdown_background();
        Ok(ExitCode::SUCCESS)
    }

    async fn start(&self, config: Config) -> anyhow::Result<App> {
        let app = App::build(config).await?;
        if self.demo {
            let demo = demo::prepare(&app.store, &app.config).await?;
            tokio::spawn(show_demo(app.clone(), demo));
        }
        Ok(app)
    }

    async fn serve(self, mut config: Config) -> anyhow::Result<()> {
        let address = config.server.listen;
        let inherited = socket::inherited()?;
        let is_inherited = inherited.is_some();
        let listener = match inherited {
            Some(listener) => {
                listener.set_nonblocking(true)?;
                TcpListener::from_std(listener)?
            }
            None => TcpListener::bind(address)
                .await
                .with_context(|| format!("cannot listen on {address} (server.listen, --listen)"))?,
        };
        config.server.listen = listener.local_addr()?;
        let mut shutdown = shutdown_signal()?;
        outlive_file_limits()?;
        sauti_server::http::raise_files_max();
        // Whoever tries the service has no mail server for it.
        config.mail.show_outbox |= self.demo && config.mail.smtp_url.is_none();
        let app = tokio::select! {
            started = self.start(config) => started?,
            () = &mut shutdown => return Ok(()),
        };
        let ready = tokio::spawn(tell_readiness(app.clone()));
        if is_inherited {
            // Callers wait in the socket's line; better there than to be told that we warm up.
            tokio::select! {
                _ = ready => {}
                () = &mut shutdown => return Ok(()),
            }
        }
        let told = async {
            shutdown.await;
            socket::notify("STOPPING=1");
        };
        http::serve(app, listener, Box::pin(told)).await
    }
}

/// Says so in the log and to the service manager once the models are loaded, or why they are not.
async fn tell_readiness(app: App) {
    match offline::wait_ready(&app.engine).await {
        Ok(()) => {
            tracing::info!(load_ms = app.engine.stats().model_load_ms, "ready");
            socket::notify("READY=1");
        }
        Err(error) => tracing::error!("{error:#}"),
    }
}

/// Once the models are loaded, so that the lines work as soon as they can be read.
async fn show_demo(app: App, demo: Option<Demo>) {
    // The log says why, if they cannot be.
    offline::wait_ready(&app.engine).await.ok();
    let shown = match demo {
        Some(demo) => {
            let voices = app.engine.voices();
            demo.instructions(&base_url(&app.config), voices.first())
        }
        None => "The data folder holds accounts of its own: no demonstration was made.".to_owned(),
    };
    // Nobody reads our output: the service runs all the same.
    let _ = output::print(&shown);
}

/// An address that a browser on this machine can open, also when we listen on all of them.
fn base_url(config: &Config) -> String {
    let listen = config.server.listen;
    if !config.server.public_url.is_empty() || !listen.ip().is_unspecified() {
        return config.public_url();
    }
    format!("http://{}", reachable(listen))
}

/// Where this machine reaches what listens there.
pub(super) fn reachable(listen: SocketAddr) -> SocketAddr {
    match listen {
        _ if !listen.ip().is_unspecified() => listen,
        SocketAddr::V4(_) => ([127, 0, 0, 1], listen.port()).into(),
        SocketAddr::V6(_) => (std::net::Ipv6Addr::LOCALHOST, listen.port()).into(),
    }
}

/// A file that may not grow is an error for the one who writes it, not the end of the process.
fn outlive_file_limits() -> anyhow::Result<()> {
    const SIGXFSZ: i32 = 25;
    // Once a handler was asked for, the signal's own effect is off, also after this is dropped.
    drop(signal(SignalKind::from_raw(SIGXFSZ))?);
    Ok(())
}

/// Completes at the first SIGTERM or SIGINT; the second one ends the process.
fn shutdown_signal() -> anyhow::Result<BoxFuture<'static, ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(Box::pin(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tracing::warn!("second signal: ending at once");
            telemetry::flush();
            std::process::exit(1);
        });
    }))
}
