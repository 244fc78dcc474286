use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use super::serve::reachable;
use super::{Common, output};

const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// Ask a running service on this machine whether it can work; exit status 1 if not
///
/// For containers' health checks: it needs no other program. The address is that of server.listen.
#[derive(Debug, Args)]
pub(super) struct HealthCommand {
    /// Ask only whether the process lives
    #[arg(long)]
    alive: bool,
    /// Another address than the settings'
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

impl HealthCommand {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let listen = match self.listen {
            Some(address) => address,
            None => common.load()?.server.listen,
        };
        let path = if self.alive { "/healthz" } else { "/readyz" };
        let address = reachable(listen);
        let answer = ask(address, path).with_context(|| format!("http://{address}{path}"))?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        output::print(body)?;
        Ok(output::exit_code(head.split(' ').nth(1) == Some("200")))
    }
}

fn ask(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_TIME_MAX)?;
    stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
    stream.set_write_timeout(Some(ANSWER_TIME_MAX))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(64 * 1024).read_to_string(&mut answer)?;
    Ok(answer)
}
