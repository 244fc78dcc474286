//! What a service manager may hand us: a socket that is open already, and an ear for our readiness.
//!
//! A socket that outlives the process is what makes a restart that nobody notices: while no process accepts, the kernel
//! keeps callers waiting in line instead of turning them away.
#![expect(
    unsafe_code,
    reason = "a descriptor that was inherited is only a number"
)]

use std::net::TcpListener;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

use anyhow::{Context, ensure};

/// The first descriptor of systemd's protocol (sd_listen_fds).
const FIRST_DESCRIPTOR: i32 = 3;

/// The listening socket of systemd's socket activation, if the variables name this very process.
pub fn inherited() -> anyhow::Result<Option<TcpListener>> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    if number("LISTEN_PID") != Some(std::process::id()) {
        return Ok(None);
    }
    let count = number("LISTEN_FDS").unwrap_or(0);
    ensure!(
        count == 1,
        "one socket is expected from the service manager, not {count} (LISTEN_FDS)"
    );
    // SAFETY: LISTEN_PID names this process, so the descriptor was opened for us by whoever started it, and nothing
    // else here owns it: this runs once, before any other file is opened by that number.
    let descriptor = unsafe { OwnedFd::from_raw_fd(FIRST_DESCRIPTOR) };
    rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC)
        .context("the inherited socket is not open")?;
    let listener = TcpListener::from(descriptor);
    listener
        .local_addr()
        .context("the inherited descriptor is no TCP socket")?;
    Ok(Some(listener))
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
