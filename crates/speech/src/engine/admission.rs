//! Who gets in. A job is let in only while it would wait no longer than it may; whoever is turned away learns it
//! before anything was spent on the job, and when to come back.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::pool_state::{PoolConfig, PoolShared, Queued, Readiness, State};
use super::queue::{BookedSlot, Full, Lane, Load, Waiting};
use super::stats::{Ending, JobKind};
use super::wait::{retry_after, wait_seconds};
use super::work::{JobTally, Task};
use crate::{Job, Priority, SpeechError};

/// How soon to ask again while the models load.
const WARMING_RETRY_AFTER: Duration = Duration::from_secs(2);
/// A recording this much longer than was booked takes more than its place.
const BOOKED_FACTOR_MAX: f64 = 1.5;
const BOOKED_SECONDS_EXTRA: f64 = 5.0;

/// A place kept in the queue for a job that is still being prepared. Dropping it gives the place up.
#[derive(Debug)]
pub struct Booking {
    /// None when the engine could promise nothing.
    place: Option<(u64, Weak<PoolShared>)>,
}

impl Drop for Booking {
    fn drop(&mut self) {
        if let Some((id, shared)) = self.place.take()
            && let Some(shared) = shared.upgrade()
        {
            shared.state.lock().queue.unbook(id);
        }
    }
}

/// What a job asks the door for.
struct AdmissionRequest<'a> {
    tenant: &'a str,
    kind: JobKind,
    lane: Lane,
    held_seconds: f64,
    /// Whether it is let in however long it would wait.
    may_be_late: bool,
}

impl PoolConfig {
    fn lane(&self, kind: JobKind, seconds: f64) -> Lane {
        match kind {
            JobKind::Transcription if seconds > self.short_seconds_max => Lane::Long,
            _ => Lane::Short,
        }
    }

    /// How long a job may wait.
    fn patience_seconds(&self, lane: Lane, held_seconds: f64) -> f64 {
        let long = (lane == Lane::Long).then_some(held_seconds);
        self.patience.seconds(long)
    }
}

impl State {
    /// How long a new job of this tenant would wait before it begins; without a tenant, behind everybody.
    pub(super) fn wait_seconds(
        &self,
        tenant: Option<&str>,
        lane: Lane,
        config: &PoolConfig,
        now: Instant,
    ) -> f64 {
        let long_turns_max = config.workers.saturating_sub(1).max(1);
        let price = |kind, units| self.pace.seconds(kind, units);
        let ahead = self.queue.ahead_of(tenant, lane, long_turns_max, price);
        wait_seconds(self.in_hand_seconds(now), config.workers, &ahead)
    }

    /// Lets a job in, or counts it as refused.
    fn ask_for_room(
        &mut self,
        wanted: &AdmissionRequest,
        config: &PoolConfig,
        now: Instant,
    ) -> Result<(), SpeechError> {
        let Err((full, retry_after)) = self.look_for_room(wanted, config, now) else {
            return Ok(());
        };
        self.stats.kind_mut(wanted.kind).refuse(full);
        Err(SpeechError::Overloaded { retry_after })
    }

    fn look_for_room(
        &mut self,
        wanted: &AdmissionRequest,
        config: &PoolConfig,
        now: Instant,
    ) -> Result<(), (Full, Duration)> {
        let AdmissionRequest {
            tenant,
            held_seconds,
            ..
        } = *wanted;
        if self.queue.room_for(tenant, held_seconds).is_err() {
            self.expire(now);
        }
        if let Err(full) = self.queue.room_for(tenant, held_seconds) {
            return Err((full, self.room_after(full, tenant, config)));
        }
        if wanted.may_be_late {
            return Ok(());
        }
        let wait = self.wait_seconds(Some(tenant), wanted.lane, config, now);
        let over = wait - config.patience_seconds(wanted.lane, held_seconds);
        match over > 0.0 {
            true => Err((Full::Wait, retry_after(over))),
            false => Ok(()),
        }
    }

    /// By then half of the jobs that fill the queue should be done.
    fn room_after(&self, full: Full, tenant: &str, config: &PoolConfig) -> Duration {
        let of_all = full != Full::Tenant;
        let jobs = self.queue.iter();
        let seconds: f64 = jobs
            .filter(|job| of_all || *job.tenant == *tenant)
            .map(|job| self.pace.seconds(job.load.kind, job.load.units))
            .sum();
        // A tenant's own line moves at its share of the machine.
        let shares = if of_all { 1 } else { self.queue.tenants() };
        retry_after(seconds * shares as f64 / 2.0 / config.workers.max(1) as f64)
    }
}

impl PoolShared {
    pub(super) fn book(
        self: &Arc<Self>,
        tenant: &str,
        kind: JobKind,
        units: f64,
    ) -> Result<Booking, SpeechError> {
        let now = Instant::now();
        let held_seconds = match kind {
            JobKind::Speech => 0.0,
            JobKind::Transcription => units,
        };
        let lane = self.config.lane(kind, held_seconds);
        let mut state = self.state.lock();
        if state.readiness() != Readiness::Ready {
            return Ok(Booking { place: None });
        }
        let wanted = AdmissionRequest {
            tenant,
            kind,
            lane,
            held_seconds,
            may_be_late: false,
        };
        state.ask_for_room(&wanted, &self.config, now)?;
        let id = state.next_id;
        state.next_id += 1;
        state.queue.book(BookedSlot {
            id,
            tenant: tenant.into(),
            lane,
            load: Load {
                kind,
                units,
                turn_units: units,
            },
            held_seconds,
        });
        let place = Some((id, Arc::downgrade(self)));
        Ok(Booking { place })
    }

    pub(super) fn admit(
        &self,
        job: &Job,
        held_seconds: f64,
        task: Task,
        left: Arc<AtomicBool>,
        booking: Option<Booking>,
    ) -> Result<u64, SpeechError> {
        let now = Instant::now();
        let load = task.load();
        let background = job.priority == Priority::Background;
        // Whoever sends background work bounds it; it must not use up the room of those who wait.
        let held_seconds = if background { 0.0 } else { held_seconds };
        let mut state = self.state.lock();
        match state.readiness() {
            Readiness::Ready => {}
            Readiness::Draining => return Err(SpeechError::ShuttingDown),
            Readiness::Failed(message) => return Err(SpeechError::Model(message)),
            Readiness::Loading => {
                let retry_after = WARMING_RETRY_AFTER;
                return Err(SpeechError::WarmingUp { retry_after });
            }
        }
        let booked = booking
            .and_then(|mut booking| booking.place.take())
            .and_then(|(id, _)| state.queue.unbook(id));
        if job.deadline <= now {
            state.stats.kind_mut(load.kind).count(Ending::Expired);
            return Err(SpeechError::DeadlineExceeded);
        }
        let lane = match background {
            true => Lane::Background,
            false => self.config.lane(load.kind, held_seconds),
        };
        if !booked.is_some_and(|booked| booked.is_enough_for(lane, held_seconds)) {
            let wanted = AdmissionRequest {
                tenant: &job.tenant,
                kind: load.kind,
                lane,
                held_seconds,
                may_be_late: job.priority != Priority::Interactive,
            };
            state.ask_for_room(&wanted, &self.config, now)?;
        }
        let id = state.next_id;
        state.next_id += 1;
        state.queue.push(Waiting {
            id,
            tenant: job.tenant.as_str().into(),
            lane,
            load,
            deadline: job.deadline,
            held_seconds,
            work: Queued {
                progress: Arc::new(JobTally::new(task.pieces())),
                task,
                left,
            },
        });
        drop(state);
        self.changed.notify_all();
        Ok(id)
    }
}

impl BookedSlot {
    fn is_enough_for(&self, lane: Lane, held_seconds: f64) -> bool {
        lane == self.lane
            && held_seconds <= self.held_seconds * BOOKED_FACTOR_MAX + BOOKED_SECONDS_EXTRA
    }
}
