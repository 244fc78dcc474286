//! Keys: only the very text that was issued is a key.

use sauti_store::{ApiKey, Environment};

use crate::mutate::{Noise, damage, rounds};
use crate::try_each;

#[test]
fn a_damaged_key_is_never_taken_for_one() {
    let mut noise = Noise(0x7e57_0000_0000_0003);
    let key = ApiKey::generate(Environment::Live).unwrap();
    let text = key.reveal().to_owned();
    try_each("key", rounds(20_000), |_| {
        let mut bytes = text.clone().into_bytes();
        damage(&mut bytes, &mut noise);
        let damaged = String::from_utf8_lossy(&bytes);
        match ApiKey::parse(&damaged) {
            Ok(_) if damaged != text => Err(format!("{damaged:?} passes for a key")),
            Err(_) if damaged == text => Err("the key itself is refused".to_owned()),
            _ => Ok(()),
        }
    });
}
