//! Vectors of voices put together by person: the two groups that are most alike become one, until none are alike enough.

use super::config::{SPEAKERS_MAX, SpeakerConfig};
use super::network::to_length_one;

use crate::kernels::simd::{dot, vectorised};

/// Vectors that are compared each with each; of more, so many are taken evenly.
const COMPARED_MAX: usize = 800;
/// How often people's means are taken anew from the vectors nearest to them.
const ROUNDS: usize = 3;

/// The mean vector of each person; none where there are no vectors.
pub(super) fn people(vectors: &[&[f32]], config: &SpeakerConfig) -> Vec<Vec<f32>> {
    let count = vectors.len().min(COMPARED_MAX);
    let compared: Vec<&[f32]> = (0..count)
        .map(|n| vectors[n * vectors.len() / count])
        .collect();
    let groups = grouped(&compared, config.alike_min);
    let least = ((count as f32 * config.share_min) as usize).max(config.windows_min);
    let mut large: Vec<&Vec<usize>> = groups.iter().filter(|g| g.len() >= least).collect();
    large.sort_by_key(|group| std::cmp::Reverse(group.len()));
    large.truncate(SPEAKERS_MAX);
    if large.is_empty() {
        large.extend(groups.iter().max_by_key(|group| group.len()));
    }
    let mut people: Vec<Vec<f32>> = large
        .iter()
        .map(|group| mean(group.iter().map(|at| compared[*at])))
        .collect();
    for _ in 0..ROUNDS {
        let mut own: Vec<Vec<&[f32]>> = vec![Vec::new(); people.len()];
        for vector in vectors {
            own[nearest(vector, &people)].push(vector);
        }
        for (person, own) in people.iter_mut().zip(own) {
            if !own.is_empty() {
                *person = mean(own.into_iter());
            }
        }
    }
    people
}

fn nearest(vector: &[f32], people: &[Vec<f32>]) -> usize {
    let alike = |at: &usize| dot(vector, &people[*at]);
    let best = (0..people.len()).max_by(|a, b| alike(a).total_cmp(&alike(b)));
    best.unwrap_or(0)
}

fn mean<'a>(vectors: impl Iterator<Item = &'a [f32]>) -> Vec<f32> {
    let mut sum = Vec::new();
    for vector in vectors {
        sum.resize(vector.len(), 0.0);
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += v);
    }
    to_length_one(&mut sum);
    sum
}

/// Agglomerative clustering by the mean likeness of all pairs between two groups (average linkage).
fn grouped(vectors: &[&[f32]], alike_min: f32) -> Vec<Vec<usize>> {
    let count = vectors.len();
    let mut groups: Vec<Vec<usize>> = (0..count).map(|at| vec![at]).collect();
    let mut alike = vec![f32::MIN; count * count];
    vectorised(
        #[inline(always)]
        || {
            for a in 0..count {
                for b in 0..a {
                    let likeness = dot(vectors[a], vectors[b]);
                    alike[a * count + b] = likeness;
                    alike[b * count + a] = likeness;
                }
            }
        },
    );
    let most_alike = |alike: &[f32], a: usize| {
        let row = &alike[a * count..][..count];
        (0..count)
            .max_by(|b, c| row[*b].total_cmp(&row[*c]))
            .unwrap_or(a)
    };
    let mut best: Vec<usize> = (0..count).map(|a| most_alike(&alike, a)).collect();
    loop {
        let likeness = |a: &usize| alike[a * count + best[*a]];
        let open = (0..count).filter(|at| !groups[*at].is_empty());
        let Some(a) = open.max_by(|a, b| likeness(a).total_cmp(&likeness(b))) else {
            break;
        };
        let b = best[a];
        if a == b || alike[a * count + b] < alike_min {
            break;
        }
        let (in_a, in_b) = (groups[a].len() as f32, groups[b].len() as f32);
        let taken = std::mem::take(&mut groups[b]);
        groups[a].extend(taken);
        for c in 0..count {
            let joined =
                (alike[a * count + c] * in_a + alike[b * count + c] * in_b) / (in_a + in_b);
            let is_open = c != a && !groups[c].is_empty();
            let joined = if is_open { joined } else { f32::MIN };
            alike[a * count + c] = joined;
            alike[c * count + a] = joined;
            alike[b * count + c] = f32::MIN;
            alike[c * count + b] = f32::MIN;
        }
        for c in 0..count {
            let is_stale = c == a || best[c] == a || best[c] == b;
            if is_stale && !groups[c].is_empty() {
                best[c] = most_alike(&alike, c);
            }
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors around so many directions that stand at right angles, in turn.
    fn around(people: usize, each: usize, spread: f32) -> Vec<Vec<f32>> {
        (0..people * each)
            .map(|n| {
                let noise = |d: usize| ((n * 31 + d * 17) as f32 * 12.9898).sin() * spread;
                let mut vector: Vec<f32> = (0..32).map(noise).collect();
                vector[n % people] += 1.0;
                to_length_one(&mut vector);
                vector
            })
            .collect()
    }

    fn counted(vectors: &[Vec<f32>]) -> usize {
        let vectors: Vec<&[f32]> = vectors.iter().map(Vec::as_slice).collect();
        people(&vectors, &SpeakerConfig::default()).len()
    }

    #[test]
    fn as_many_people_are_found_as_there_are() {
        for count in 1..=SPEAKERS_MAX {
            assert_eq!(counted(&around(count, 20, 0.1)), count);
        }
    }

    #[test]
    fn no_more_than_the_most_are_told_apart_and_nobody_is_nobody() {
        assert_eq!(counted(&around(SPEAKERS_MAX + 3, 20, 0.05)), SPEAKERS_MAX);
        assert_eq!(counted(&[]), 0);
        assert_eq!(counted(&around(1, 1, 0.1)), 1);
    }

    #[test]
    fn of_a_long_recording_a_part_is_compared() {
        assert_eq!(counted(&around(3, 700, 0.1)), 3);
    }
}
