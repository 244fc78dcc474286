//! The waiting line: three lanes, and in each lane one turn per tenant.
//!
//! Plain data without threads or clocks, so that its promises can be tested exactly.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use super::stats::JobKind;

/// After this many short jobs in a row a waiting long recording gets its turn.
const SHORT_TURNS_PER_LONG: u32 = 4;
/// Of one recording: more than an hour has.
const PIECES_MAX: f64 = 256.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Speech and short recordings: somebody is waiting at a telephone.
    Short,
    /// Long recordings, which would otherwise hold every worker for minutes.
    Long,
    /// Work that nobody waits for: taken only while the other lanes are empty.
    Background,
}

/// What the time that a job takes grows with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Load {
    pub kind: JobKind,
    /// Characters to speak or seconds to read.
    pub units: f64,
    /// Those of the piece that one worker takes at a time.
    pub turn_units: f64,
}

#[derive(Debug)]
pub(super) struct Waiting<T> {
    pub id: u64,
    pub tenant: Arc<str>,
    pub lane: Lane,
    pub load: Load,
    pub deadline: Instant,
    /// Seconds of decoded audio that this job keeps in memory.
    pub held_seconds: f64,
    pub work: T,
}

/// A place kept for a job that is still being prepared: its recording decoded, its money set aside.
#[derive(Debug)]
pub(super) struct BookedSlot {
    pub id: u64,
    pub tenant: Arc<str>,
    pub lane: Lane,
    pub load: Load,
    pub held_seconds: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub jobs_max: usize,
    pub tenant_jobs_max: usize,
    pub held_seconds_max: f64,
}

/// Why a job was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    Queue,
    Tenant,
    Wait,
}

#[derive(Debug)]
pub(super) struct JobQueue<T> {
    bounds: Bounds,
    short: Turns<T>,
    long: Turns<T>,
    background: Turns<T>,
    /// In order of arrival; each stands behind its tenant's waiting jobs.
    booked: Vec<BookedSlot>,
    /// Waiting and booked.
    per_tenant: HashMap<Arc<str>, usize>,
    held_seconds: f64,
    short_turns_taken: u32,
}

impl<T> JobQueue<T> {
    pub(super) fn new(bounds: Bounds) -> Self {
        JobQueue {
            bounds,
            short: Turns::default(),
            long: Turns::default(),
            background: Turns::default(),
            booked: Vec::new(),
            per_tenant: HashMap::new(),
            held_seconds: 0.0,
            short_turns_taken: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.short.len + self.long.len + self.background.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn tenants(&self) -> usize {
        self.per_tenant.len()
    }

    pub(super) fn held_seconds(&self) -> f64 {
        self.held_seconds
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting<T>> {
        let waited_for = self.short.iter().chain(self.long.iter());
        waited_for.chain(self.background.iter())
    }

    pub(super) fn room_for(&self, tenant: &str, held_seconds: f64) -> Result<(), Full> {
        if self.per_tenant.get(tenant).copied().unwrap_or(0) >= self.bounds.tenant_jobs_max {
            return Err(Full::Tenant);
        }
        // One recording longer than the bound may still wait alone: the bound caps the pile.
        let piles_up = held_seconds > 0.0
            && self.held_seconds > 0.0
            && self.held_seconds + held_seconds > self.bounds.held_seconds_max;
        if self.len() + self.booked.len() >= self.bounds.jobs_max || piles_up {
            return Err(Full::Queue);
        }
        Ok(())
    }

    /// Appends without asking for room: call `room_for` first.
    pub(super) fn push(&mut self, waiting: Waiting<T>) {
        self.count(&waiting.tenant, waiting.held_seconds);
        self.lane_mut(waiting.lane).push(waiting);
    }

    /// Keeps a place without asking for room: call `room_for` first.
    pub(super) fn book(&mut self, booked: BookedSlot) {
        self.count(&booked.tenant, booked.held_seconds);
        self.booked.push(booked);
    }

    pub(super) fn unbook(&mut self, id: u64) -> Option<BookedSlot> {
        let at = self.booked.iter().position(|booked| booked.id == id)?;
        let booked = self.booked.remove(at);
        self.forget(&booked.tenant, booked.held_seconds);
        Some(booked)
    }

    /// The pieces of work, in seconds, that are done before a new job of this tenant gets its turn; without a tenant,
    /// before that of somebody who waits for everybody else. `seconds` prices units of work.
    pub(super) fn ahead_of(
        &self,
        tenant: Option<&str>,
        lane: Lane,
        long_turns_max: usize,
        seconds: impl Fn(JobKind, f64) -> f64,
    ) -> Vec<f64> {
        if lane == Lane::Short {
            let mut pieces = self.lane_ahead(Lane::Short, tenant, &seconds);
            // Long recordings that wait get a turn now and then, a piece each time.
            let turns = (pieces.len() / SHORT_TURNS_PER_LONG as usize).min(long_turns_max);
            let long = self.long.iter().map(|job| job.load);
            let longest = long.map(|load| seconds(load.kind, load.turn_units));
            let longest = longest.fold(0.0, f64::max);
            pieces.extend(std::iter::repeat_n(longest, turns));
            return pieces;
        }
        let mut pieces = self.lane_ahead(Lane::Short, None, &seconds);
        pieces.extend(self.lane_ahead(Lane::Long, tenant, &seconds));
        pieces
    }

    /// Of each other tenant, as many jobs come first as this one has waiting, and one more.
    fn lane_ahead(
        &self,
        lane: Lane,
        tenant: Option<&str>,
        seconds: impl Fn(JobKind, f64) -> f64,
    ) -> Vec<f64> {
        let turns = self.lane(lane);
        let booked = || self.booked.iter().filter(|booked| booked.lane == lane);
        let turns_max = tenant.map(|tenant| {
            let waiting = turns.lines.get(tenant).map_or(0, VecDeque::len);
            let booked = booked().filter(|booked| *booked.tenant == *tenant);
            waiting + booked.count() + 1
        });
        let mut turns_of: HashMap<&str, usize> = HashMap::new();
        let waiting = turns.iter().map(|job| (&*job.tenant, &job.load));
        let booked = booked().map(|booked| (&*booked.tenant, &booked.load));
        let mut pieces = Vec::new();
        for (of, load) in waiting.chain(booked) {
            let turn = turns_of.entry(of).or_default();
            *turn += 1;
            if turns_max.is_none_or(|max| *turn <= max) {
                // Several workers can share a long recording, a piece each.
                let count = (load.units / load.turn_units).ceil().clamp(1.0, PIECES_MAX);
                let piece = seconds(load.kind, load.units) / count;
                pieces.extend(std::iter::repeat_n(piece, count as usize));
            }
        }
        pieces
    }

    /// Puts the rest of a job back ahead of its tenant's other jobs, behind the other tenants.
    pub(super) fn push_rest(&mut self, waiting: Waiting<T>) {
        self.count(&waiting.tenant, waiting.held_seconds);
        self.lane_mut(waiting.lane).push_front(waiting);
    }

    /// The job whose turn it is. Long recordings and background work are passed over unless `long_allowed`.
    pub(super) fn pop(&mut self, long_allowed: bool) -> Option<Waiting<T>> {
        let long_waits = long_allowed && self.long.len > 0;
        let long_first = long_waits && self.short_turns_taken >= SHORT_TURNS_PER_LONG;
        let next = if self.short.len > 0 && !long_first {
            self.short_turns_taken = if self.long.len > 0 {
                self.short_turns_taken.saturating_add(1)
            } else {
                0
            };
            self.short.pop()
        } else if long_waits {
            self.short_turns_taken = 0;
            self.long.pop()
        } else if long_allowed {
            self.background.pop()
        } else {
            None
        };
        next.inspect(|job| self.forget(&job.tenant, job.held_seconds))
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Waiting<T>> {
        let lanes = [&mut self.short, &mut self.long, &mut self.background];
        let job = lanes.into_iter().find_map(|lane| lane.remove(id))?;
        self.forget(&job.tenant, job.held_seconds);
        Some(job)
    }

    pub(super) fn remove_expired(&mut self, now: Instant) -> Vec<Waiting<T>> {
        let late: Vec<u64> = self
            .iter()
            .filter(|job| job.deadline <= now)
            .map(|job| job.id)
            .collect();
        late.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    pub(super) fn remove_all(&mut self) -> Vec<Waiting<T>> {
        std::iter::from_fn(|| self.pop(true)).collect()
    }

    fn lane(&self, lane: Lane) -> &Turns<T> {
        match lane {
            Lane::Short => &self.short,
            Lane::Long => &self.long,
            Lane::Background => &self.background,
        }
    }

    fn lane_mut(&mut self, lane: Lane) -> &mut Turns<T> {
        match lane {
            Lane::Short => &mut self.short,
            Lane::Long => &mut self.long,
            Lane::Background => &mut self.background,
        }
    }

    fn count(&mut self, tenant: &Arc<str>, held_seconds: f64) {
        *self.per_tenant.entry(tenant.clone()).or_default() += 1;
        self.held_seconds += held_seconds;
    }

    fn forget(&mut self, tenant: &Arc<str>, held_seconds: f64) {
        if let Some(count) = self.per_tenant.get_mut(tenant) {
            *count -= 1;
            if *count == 0 {
                self.per_tenant.remove(tenant);
            }
        }
        self.held_seconds -= held_seconds;
        if self.per_tenant.is_empty() {
            self.held_seconds = 0.0; // rounding must not pile up
        }
    }
}

/// One lane: the tenants that wait take turns, each with its own line in order of arrival.
#[derive(Debug)]
struct Turns<T> {
    order: VecDeque<Arc<str>>,
    lines: HashMap<Arc<str>, VecDeque<Waiting<T>>>,
    len: usize,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Turns {
            order: VecDeque::new(),
            lines: HashMap::new(),
            len: 0,
        }
    }
}

impl<T> Turns<T> {
    fn iter(&self) -> impl Iterator<Item = &Waiting<T>> {
        self.lines.values().flatten()
    }

    fn push(&mut self, waiting: Waiting<T>) {
        self.line_of(&waiting.tenant).push_back(waiting);
        self.len += 1;
    }

    fn push_front(&mut self, waiting: Waiting<T>) {
        self.line_of(&waiting.tenant).push_front(waiting);
        self.len += 1;
    }

    /// A tenant's line; a tenant that had none queues up behind the others.
    fn line_of(&mut self, tenant: &Arc<str>) -> &mut VecDeque<Waiting<T>> {
        let line = self.lines.entry(tenant.clone()).or_default();
        if line.is_empty() {
            self.order.push_back(tenant.clone());
        }
        line
    }

    fn pop(&mut self) -> Option<Waiting<T>> {
        let tenant = self.order.pop_front()?;
        let line = self.lines.get_mut(&tenant)?;
        let job = line.pop_front()?;
        if line.is_empty() {
            self.lines.remove(&tenant);
        } else {
            self.order.push_back(tenant);
        }
        self.len -= 1;
        Some(job)
    }

    fn remove(&mut self, id: u64) -> Option<Waiting<T>> {
        let (tenant, at) = self.lines.iter().find_map(|(tenant, line)| {
            let at = line.iter().position(|job| job.id == id)?;
            Some((tenant.clone(), at))
        })?;
        let line = self.lines.get_mut(&tenant)?;
        let job = line.remove(at)?;
        if line.is_empty() {
            self.lines.remove(&tenant);
            self.order.retain(|waiting| *waiting != tenant);
        }
        self.len -= 1;
        Some(job)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
