//! Times the acoustic model on noise: `recogniser_speed MODELS [SECONDS] [ROUNDS]`.

use std::time::Instant;

use sauti_speech::recogniser::Recogniser;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let models = arguments
        .first()
        .ok_or("recogniser_speed MODELS [SECONDS] [ROUNDS]")?;
    let number = |i: usize, default: f64| arguments.get(i).map_or(Ok(default), |n| n.parse());
    let (seconds, rounds) = (number(1, 10.0)?, number(2, 5.0)? as usize);
    let recogniser = Recogniser::load(std::path::Path::new(models))?;
    let mut seed = 1u32;
    let samples: Vec<i16> = (0..(seconds * 16_000.0) as usize)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 18) as i16 - 8192
        })
        .collect();
    for _ in 0..rounds {
        let started = Instant::now();
        let posteriors = recogniser.listen(&samples);
        let elapsed = started.elapsed().as_secs_f64();
        println!(
            "{} steps in {:.1} ms, real-time factor {:.4}",
            posteriors.steps(),
            elapsed * 1e3,
            elapsed / seconds
        );
    }
    Ok(())
}
