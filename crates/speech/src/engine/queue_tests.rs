use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

const ROOMY: Bounds = Bounds {
    jobs_max: 1000,
    tenant_jobs_max: 1000,
    held_seconds_max: 1e9,
};

fn job(id: u64, tenant: &str, lane: Lane) -> Waiting<()> {
    Waiting {
        id,
        tenant: tenant.into(),
        lane,
        load: Load {
            kind: JobKind::Speech,
            units: 1.0,
            turn_units: 1.0,
        },
        deadline: Instant::now() + Duration::from_secs(3600),
        held_seconds: if lane == Lane::Long { 100.0 } else { 1.0 },
        work: (),
    }
}

fn ids(queue: &mut JobQueue<()>, long_allowed: bool) -> Vec<u64> {
    std::iter::from_fn(|| queue.pop(long_allowed))
        .map(|job| job.id)
        .collect()
}

#[test]
fn a_tenant_with_one_job_does_not_wait_behind_a_tenant_with_many() {
    let mut queue = JobQueue::new(ROOMY);
    for id in 0..4 {
        queue.push(job(id, "many", Lane::Short));
    }
    queue.push(job(10, "one", Lane::Short));
    assert_eq!(ids(&mut queue, true), [0, 10, 1, 2, 3]);
}

#[test]
fn short_jobs_go_first_and_long_ones_still_get_their_turn() {
    let mut queue = JobQueue::new(ROOMY);
    queue.push(job(100, "a", Lane::Long));
    queue.push(job(101, "a", Lane::Long));
    for id in 0..6 {
        queue.push(job(id, "a", Lane::Short));
    }
    assert_eq!(ids(&mut queue, true), [0, 1, 2, 3, 100, 4, 5, 101]);
}

#[test]
fn long_jobs_stay_where_they_are_while_none_may_start() {
    let mut queue = JobQueue::new(ROOMY);
    queue.push(job(100, "a", Lane::Long));
    queue.push(job(1, "a", Lane::Short));
    assert_eq!(ids(&mut queue, false), [1]);
    assert_eq!(queue.len(), 1);
    assert_eq!(ids(&mut queue, true), [100]);
}

#[test]
fn the_audio_that_waits_is_bounded_but_one_long_recording_always_fits() {
    let mut queue = JobQueue::new(Bounds {
        held_seconds_max: 50.0,
        ..ROOMY
    });
    assert_eq!(queue.room_for("a", 100.0), Ok(()));
    queue.push(job(1, "a", Lane::Long));
    assert_eq!(queue.room_for("b", 1.0), Err(Full::Queue));
    assert_eq!(queue.room_for("b", 0.0), Ok(()), "speech holds no audio");
    queue.remove(1);
    assert_eq!(queue.room_for("b", 1.0), Ok(()));
}

#[test]
fn expired_jobs_are_taken_out_and_the_others_stay() {
    let mut queue = JobQueue::new(ROOMY);
    let now = Instant::now();
    let mut late = job(1, "a", Lane::Short);
    late.deadline = now;
    queue.push(late);
    queue.push(job(2, "a", Lane::Short));
    let expired: Vec<u64> = queue.remove_expired(now).iter().map(|job| job.id).collect();
    assert_eq!(expired, [1]);
    assert_eq!(ids(&mut queue, true), [2]);
}

#[derive(Debug, Clone)]
enum Act {
    Push { tenant: u8, long: bool },
    Pop { long_allowed: bool },
    Remove { nth: usize },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0..5u8, any::<bool>()).prop_map(|(tenant, long)| Act::Push { tenant, long }),
        2 => any::<bool>().prop_map(|long_allowed| Act::Pop { long_allowed }),
        1 => (0..50usize).prop_map(|nth| Act::Remove { nth }),
    ];
    prop::collection::vec(act, 0..200)
}

proptest! {
    #[test]
    fn every_job_leaves_once_in_its_tenants_order_and_no_bound_is_passed(acts in acts()) {
        let bounds = Bounds { jobs_max: 12, tenant_jobs_max: 5, held_seconds_max: 400.0 };
        let mut queue = JobQueue::new(bounds);
        let mut waiting: Vec<(u64, String, Lane)> = Vec::new();
        for (id, act) in acts.into_iter().enumerate() {
            let id = id as u64;
            match act {
                Act::Push { tenant, long } => {
                    let lane = if long { Lane::Long } else { Lane::Short };
                    let new = job(id, &tenant.to_string(), lane);
                    if queue.room_for(&new.tenant, new.held_seconds).is_ok() {
                        waiting.push((id, new.tenant.to_string(), lane));
                        queue.push(new);
                    }
                }
                Act::Pop { long_allowed } => {
                    if let Some(job) = queue.pop(long_allowed) {
                        prop_assert!(long_allowed || job.lane == Lane::Short);
                        let first = waiting.iter().position(|(_, tenant, lane)| {
                            *tenant == *job.tenant && *lane == job.lane
                        });
                        let (id, ..) = waiting.remove(first.expect("it was waiting"));
                        prop_assert_eq!(id, job.id, "first come, first served in a tenant's line");
                    } else {
                        let left = waiting.iter().any(|(_, _, lane)| long_allowed || *lane == Lane::Short);
                        prop_assert!(!left, "something could have run");
                    }
                }
                Act::Remove { nth } => {
                    if !waiting.is_empty() {
                        let (id, ..) = waiting.remove(nth % waiting.len());
                        prop_assert_eq!(queue.remove(id).map(|job| job.id), Some(id));
                        prop_assert!(queue.remove(id).is_none());
                    }
                }
            }
            prop_assert_eq!(queue.len(), waiting.len());
            prop_assert!(queue.len() <= bounds.jobs_max);
            let mut per_tenant: HashMap<&str, usize> = HashMap::new();
            for (_, tenant, _) in &waiting {
                *per_tenant.entry(tenant).or_default() += 1;
            }
            prop_assert!(per_tenant.values().all(|count| *count <= bounds.tenant_jobs_max));
            prop_assert_eq!(queue.tenants(), per_tenant.len());
            let held: f64 = waiting.iter().map(|(.., lane)| if *lane == Lane::Long { 100.0 } else { 1.0 }).sum();
            prop_assert!((queue.held_seconds() - held).abs() < 1e-6);
        }
    }

    #[test]
    fn nobody_is_served_twice_before_everybody_who_waits_was_served_once(
        counts in prop::collection::vec(1..8usize, 1..8),
    ) {
        let mut queue = JobQueue::new(ROOMY);
        for (tenant, count) in counts.iter().enumerate() {
            for n in 0..*count {
                queue.push(job((tenant * 100 + n) as u64, &tenant.to_string(), Lane::Short));
            }
        }
        let mut left = counts.clone();
        while !queue.is_empty() {
            let round = left.iter().filter(|count| **count > 0).count();
            let served: HashSet<u64> = (0..round)
                .filter_map(|_| queue.pop(true))
                .map(|job| job.id / 100)
                .collect();
            prop_assert_eq!(served.len(), round);
            for tenant in served {
                left[tenant as usize] -= 1;
            }
        }
    }
}

#[test]
fn background_work_waits_for_everybody_else() {
    let mut queue = JobQueue::new(ROOMY);
    for id in 0..3 {
        queue.push(job(id, "batch", Lane::Background));
    }
    queue.push(job(100, "a", Lane::Long));
    for id in 10..16 {
        queue.push(job(id, "a", Lane::Short));
    }
    assert_eq!(queue.len(), 10);
    assert_eq!(ids(&mut queue, false), [10, 11, 12, 13, 14, 15]);
    queue.remove(1);
    assert_eq!(ids(&mut queue, true), [100, 0, 2]);
}
