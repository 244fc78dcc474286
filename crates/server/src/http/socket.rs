//! What a service manager may hand us: a socket that is open already, and an ear for our readiness.
//!
//! A socket that outlives the process is what makes a restart that nobody notices: while no process accepts, the kernel
//! keeps callers waiting in line instead of turning them away.

use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;

use anyhow::{Context, ensure};
use listenfd::ListenFd;

/// The listening socket of systemd's socket activation, if the variables name this very process.
pub fn inherited() -> anyhow::Result<Option<TcpListener>> {
    let mut sockets = ListenFd::from_env();
    let count = sockets.len();
    ensure!(
        count <= 1,
        "one socket is expected from the service manager, not {count} (LISTEN_FDS)"
    );
    match count {
        0 => Ok(None),
        _ => sockets
            .take_tcp_listener(0)
            .context("the inherited descriptor is no TCP socket"),
    }
}

/// Tells systemd how we are: "READY=1", "STOPPING=1". Nobody may be listening, which is no fault.
pub fn notify(state: &str) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET").filter(|path| !path.is_empty()) else {
        return;
    };
    let sent = UnixDatagram::unbound().and_then(|socket| send(&socket, &path, state));
    if let Err(error) = sent {
        tracing::warn!(%error, "the service manager was not told {state}");
    }
}

fn send(socket: &UnixDatagram, path: &std::ffi::OsStr, state: &str) -> std::io::Result<usize> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    match path.as_bytes().strip_prefix(b"@") {
        // An abstract address: a name that stands in no folder.
        Some(name) => {
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            socket.send_to_addr(state.as_bytes(), &address)
        }
        None => socket.send_to(state.as_bytes(), path),
    }
}
