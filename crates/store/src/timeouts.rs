//! How long we wait for PostgreSQL, and PostgreSQL for us: a statement that hangs, a lock that is never given back and a line
//! that was cut without a word all end in an error, which the caller is told.

use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use rustix::net::{getpeername, sockopt};
use sqlx::AnyConnection;
use sqlx::Executor as _;

/// Work on one row or a page takes milliseconds; only checks of all books and migrations may take longer, and say so.
const SESSION: [&str; 7] = [
    "set statement_timeout = '30s'",
    "set lock_timeout = '10s'",
    // A process that was cut off in the midst of a transaction must not hold its rows for the others.
    "set idle_in_transaction_session_timeout = '20s'",
    "set tcp_keepalives_idle = 10",
    "set tcp_keepalives_interval = 5",
    "set tcp_keepalives_count = 2",
    "set tcp_user_timeout = 20000",
];

/// Without a word from the other side for this long, a line is dead.
const SILENCE_MAX: Duration = Duration::from_secs(20);

pub(crate) async fn wait_within_bounds(
    connection: &mut AnyConnection,
    port: u16,
) -> Result<(), sqlx::Error> {
    for setting in SESSION {
        connection.execute(setting).await?;
    }
    give_up_dead_lines(port);
    Ok(())
}

/// The driver sets no options on its sockets and gives them to nobody: an answer that never comes would be waited for for
/// ever. So they are looked for among our files, by the port they go to.
fn give_up_dead_lines(port: u16) {
    let files = std::fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten();
    let numbers = files.filter_map(|file| file.file_name().to_str()?.parse::<RawFd>().ok());
    for number in numbers {
        // SAFETY: the number was open a moment ago. Should it be closed or be another file by now, the calls below fail, or
        // set a bound on another connection to the same port, which is what is wanted of all of them.
        #[allow(unsafe_code)]
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        let goes_there = getpeername(file)
            .ok()
            .flatten()
            .and_then(|peer| std::net::SocketAddr::try_from(peer).ok());
        if goes_there.is_some_and(|peer| peer.port() == port) {
            // A system that does not know one of them is left as it is.
            sockopt::set_socket_keepalive(file, true).ok();
            sockopt::set_tcp_keepidle(file, SILENCE_MAX / 2).ok();
            sockopt::set_tcp_keepintvl(file, SILENCE_MAX / 4).ok();
            sockopt::set_tcp_keepcnt(file, 2).ok();
            sockopt::set_tcp_user_timeout(file, SILENCE_MAX.as_millis() as u32).ok();
        }
    }
}
