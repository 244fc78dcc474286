//! The table of open connections. A connection with no request under way (silent, slow with its head, or idle
//! between requests) is one that its caller can do without: when the table is full, the one that has waited longest is
//! closed to make room, so that nobody can keep others out by holding sockets open. Nothing that is being answered is
//! ever closed for room, and what cannot be let in is closed at once instead of left to wait.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sauti_service::config::{Network, Server};
use tokio::sync::oneshot;

use super::metrics;

/// Files that are no connections of callers: database, cache, spool, mails, models.
const OTHER_FILES: usize = 256;

/// The default has no room for any.
#[derive(Debug, Default)]
pub struct Connections {
    connections_max: usize,
    per_address_max: usize,
    /// The last places, for `reserved_networks` alone.
    reserved: usize,
    reserved_networks: Vec<Network>,
    trusted_proxies: Vec<Network>,
    header_time: Duration,
    idle_time: Duration,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<u64, Entry>,
    /// Connections without a request, by the turn at which they began to wait: the oldest first.
    waiting: BTreeMap<u64, u64>,
    addresses: HashMap<IpAddr, Address>,
    /// Counts up: ids and turns.
    last: u64,
}

#[derive(Debug)]
struct Entry {
    address: IpAddr,
    requests: usize,
    /// Some while no request is under way.
    turn: Option<u64>,
    since: Instant,
    /// A whole request has come in: from now on waiting is idling.
    has_asked: bool,
    /// Dropped to tell the connection's task to close.
    _close: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Address {
    open: usize,
    waiting: BTreeSet<u64>,
}

/// A place in the table; given back with the socket that holds it.
#[derive(Debug)]
pub(super) struct Place {
    id: u64,
    connections: Arc<Connections>,
}

/// One request of a connection, which keeps it from being closed.
#[derive(Debug)]
pub(super) struct Underway(Arc<Place>);

impl Connections {
    pub fn new(server: &Server) -> Connections {
        let files_max = files_max();
        let connections_max = server
            .connections_max
            .min(files_max.saturating_sub(OTHER_FILES).max(16));
        if connections_max < server.connections_max {
            tracing::warn!(
                connections_max,
                files_max,
                "the limit on open files allows fewer connections than server.connections_max"
            );
        }
        Connections {
            connections_max,
            per_address_max: server.connections_per_address_max,
            reserved: server.connections_reserved.min(connections_max / 2),
            reserved_networks: server.reserved_networks.clone(),
            trusted_proxies: server.trusted_proxies.clone(),
            header_time: Duration::from_secs(server.header_timeout_s),
            idle_time: Duration::from_secs(server.idle_timeout_s),
            table: Mutex::default(),
        }
    }

    /// A place for a connection and the word to close it; None where it cannot be let in.
    pub(super) fn admit(
        self: &Arc<Self>,
        peer: IpAddr,
    ) -> Option<(Arc<Place>, oneshot::Receiver<()>)> {
        let within = |networks: &[Network]| networks.iter().any(|network| network.contains(peer));
        let reserved = within(&self.reserved_networks);
        let places = self.connections_max - if reserved { 0 } else { self.reserved };
        let address = counted_as(peer);
        let mut table = self.table.lock();
        // A proxy brings everybody's connections.
        if !within(&self.trusted_proxies)
            && table.of(address) >= self.per_address_max
            && !table.close_oldest_of(address)
        {
            metrics::connection_refused("address");
            return None;
        }
        if table.open.len() >= places && !table.close_oldest() {
            metrics::connection_refused("full");
            return None;
        }
        let (close, closed) = oneshot::channel();
        let id = table.insert(address, close);
        let place = Place {
            id,
            connections: Arc::clone(self),
        };
        Some((Arc::new(place), closed))
    }

    /// Out of file handles: gives back some that nobody uses.
    pub(super) fn close_some(&self) {
        let mut table = self.table.lock();
        for _ in 0..OTHER_FILES {
            if !table.close_oldest() {
                break;
            }
        }
    }

    /// How many are open, and how many of them wait for a request.
    fn count(&self) -> (usize, usize) {
        let table = self.table.lock();
        (table.open.len(), table.waiting.len())
    }

    pub fn measure(&self) {
        let (open, waiting) = self.count();
        metrics::connections(open, waiting);
    }
}

/// How many files this process may have open.
fn files_max() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.map_or(usize::MAX, |files| files as usize)
}

/// Raises what the process was given to what it is allowed: every connection is a file.
pub fn raise_files_max() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit on open files stays as it is");
    }
}

/// A caller with IPv6 has a network of its own to choose addresses from.
fn counted_as(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

impl Place {
    pub(super) fn begin(self: &Arc<Self>) -> Underway {
        self.connections.table.lock().begin(self.id);
        Underway(Arc::clone(self))
    }

    pub(super) fn shortest_time(&self) -> Duration {
        let connections = &self.connections;
        connections.header_time.min(connections.idle_time)
    }

    /// When this connection will have waited too long for a request; None while one is under way.
    pub(super) fn closes_at(&self) -> Option<Instant> {
        let table = self.connections.table.lock();
        let entry = table.open.get(&self.id)?;
        let time = match entry.has_asked {
            true => self.connections.idle_time,
            false => self.connections.header_time,
        };
        entry.turn.map(|_| entry.since + time)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.table.lock().remove(self.id);
    }
}

impl Underway {
    /// For a connection that has left HTTP, such as a WebSocket: it is in use until it closes.
    pub(super) fn until_closed(self) {
        self.0.connections.table.lock().begin(self.0.id);
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.connections.table.lock().finish(self.0.id);
    }
}

impl Table {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn of(&self, address: IpAddr) -> usize {
        self.addresses.get(&address).map_or(0, |found| found.open)
    }

    fn insert(&mut self, address: IpAddr, close: oneshot::Sender<()>) -> u64 {
        let id = self.next();
        let entry = Entry {
            address,
            requests: 0,
            turn: None,
            since: Instant::now(),
            has_asked: false,
            _close: close,
        };
        self.open.insert(id, entry);
        self.addresses.entry(address).or_default().open += 1;
        self.wait(id);
        id
    }

    /// The connection has nothing to do from now on.
    fn wait(&mut self, id: u64) {
        let turn = self.next();
        let Some(entry) = self.open.get_mut(&id) else {
            return;
        };
        entry.turn = Some(turn);
        entry.since = Instant::now();
        self.waiting.insert(turn, id);
        let address = self.addresses.entry(entry.address).or_default();
        address.waiting.insert(turn);
    }

    fn begin(&mut self, id: u64) {
        let Some(entry) = self.open.get_mut(&id) else {
            return;
        };
        entry.requests += 1;
        entry.has_asked = true;
        if let Some(turn) = entry.turn.take() {
            self.waiting.remove(&turn);
            if let Some(address) = self.addresses.get_mut(&entry.address) {
                address.waiting.remove(&turn);
            }
        }
    }

    fn finish(&mut self, id: u64) {
        let Some(entry) = self.open.get_mut(&id) else {
            return;
        };
        entry.requests -= 1;
        if entry.requests == 0 {
            self.wait(id);
        }
    }

    fn remove(&mut self, id: u64) {
        let Some(entry) = self.open.remove(&id) else {
            return;
        };
        let Some(address) = self.addresses.get_mut(&entry.address) else {
            return;
        };
        address.open -= 1;
        if let Some(turn) = entry.turn {
            self.waiting.remove(&turn);
            address.waiting.remove(&turn);
        }
        if address.open == 0 {
            self.addresses.remove(&entry.address);
        }
    }

    fn close_oldest(&mut self) -> bool {
        let oldest = self.waiting.first_key_value().map(|(_, id)| *id);
        self.close(oldest)
    }

    fn close_oldest_of(&mut self, address: IpAddr) -> bool {
        let turn = self.addresses.get(&address).and_then(|a| a.waiting.first());
        let oldest = turn.and_then(|turn| self.waiting.get(turn)).copied();
        self.close(oldest)
    }

    fn close(&mut self, id: Option<u64>) -> bool {
        let Some(id) = id else {
            return false;
        };
        self.remove(id);
        metrics::connection_closed("room");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sauti_service::config::Config;

    fn table(overrides: &[(&str, &str)]) -> Arc<Connections> {
        let config = Config::with_overrides(overrides).unwrap();
        Arc::new(Connections::new(&config.server))
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_one_that_waited_longest_makes_room_and_what_is_answered_stays() {
        let table = table(&[
            ("server.connections_max", "16"),
            ("server.connections_reserved", "0"),
        ]);
        let mut held: Vec<_> = (0..16)
            .map(|n| table.admit(ip(&format!("41.0.0.{n}"))).unwrap())
            .collect();
        // The first has asked and been answered since: the second has waited longest.
        drop(held[0].0.begin());
        let _answering = held[1].0.begin();
        let _new = table.admit(ip("41.0.1.1")).unwrap();
        let closed: Vec<bool> = held
            .iter_mut()
            .map(|(_, closed)| closed.try_recv() == Err(oneshot::error::TryRecvError::Closed))
            .collect();
        assert_eq!(closed.iter().filter(|closed| **closed).count(), 1);
        assert!(closed[2], "{closed:?}");
        assert_eq!(table.count(), (16, 15));
    }

    #[test]
    fn nobody_is_let_in_when_all_are_being_answered_but_from_the_reserved_networks() {
        let table = table(&[
            ("server.connections_max", "16"),
            ("server.connections_reserved", "2"),
        ]);
        let held: Vec<_> = (0..14)
            .map(|_| table.admit(ip("41.0.0.1")).unwrap().0)
            .collect();
        let answering: Vec<_> = held.iter().map(Place::begin).collect();
        assert!(table.admit(ip("41.0.0.2")).is_none());
        assert!(table.admit(ip("127.0.0.1")).is_some());
        drop(answering);
        assert!(table.admit(ip("41.0.0.2")).is_some());
    }

    #[test]
    fn one_address_has_its_share_and_a_trusted_proxy_everybodys() {
        let table = table(&[
            ("server.connections_per_address_max", "2"),
            ("server.trusted_proxies", "10.0.0.0/8"),
        ]);
        let mut keep = Vec::new();
        for _ in 0..5 {
            let proxied = table.admit(ip("::ffff:10.0.0.1")).unwrap().0;
            keep.push(proxied.begin());
        }
        // The first 64 bits of an IPv6 address are one caller's.
        for address in ["2001:db8::1", "2001:db8::2"] {
            keep.push(table.admit(ip(address)).unwrap().0.begin());
        }
        assert!(table.admit(ip("2001:db8::ffff:3")).is_none());
        assert!(table.admit(ip("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn nothing_is_left_of_a_connection_that_is_gone() {
        let table = table(&[]);
        let (place, closed) = table.admit(ip("41.0.0.1")).unwrap();
        place.begin().until_closed();
        assert_eq!(place.closes_at(), None);
        assert_eq!(table.count(), (1, 0));
        drop((place, closed));
        assert_eq!(table.count(), (0, 0));
        assert!(table.table.lock().addresses.is_empty());
    }
}
