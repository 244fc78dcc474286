//! Password hashing. Each call takes some 20 ms of a core and 19 MiB: run it on a blocking thread.

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier, Version};
use secrecy::{ExposeSecret, SecretString};

use crate::StoreError;
use crate::sql::require;

pub const CHARACTERS_MIN: usize = 10;
pub const BYTES_MAX: usize = 1024;

fn hasher() -> Result<Argon2<'static>, StoreError> {
    // 19 MiB, two passes, one lane: the OWASP recommendation for argon2id.
    let params = Params::new(19 * 1024, 2, 1, None).map_err(refused)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn refused(error: impl std::fmt::Display) -> StoreError {
    StoreError::invalid("password", error.to_string())
}

/// Hashes a password into a PHC string with a random salt. Blocking.
pub fn hash(password: &SecretString) -> Result<String, StoreError> {
    let password = password.expose_secret();
    require(
        password.chars().count() >= CHARACTERS_MIN,
        "password",
        format_args!("needs at least {CHARACTERS_MIN} characters"),
    )?;
    require(
        password.len() <= BYTES_MAX,
        "password",
        format_args!("takes at most {BYTES_MAX} bytes"),
    )?;
    let hash = hasher()?.hash_password(password.as_bytes());
    Ok(hash.map_err(refused)?.to_string())
}

/// Whether the password belongs to the hash. Blocking; false for a hash that cannot be read.
pub fn verify(password: &SecretString, hash: &str) -> bool {
    let password = password.expose_secret();
    password.len() <= BYTES_MAX
        && PasswordHash::new(hash).is_ok_and(|parsed| {
            hasher().is_ok_and(|argon| argon.verify_password(password.as_bytes(), &parsed).is_ok())
        })
}

const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c2F1dGktbm9ib2R5$9Xq0aYk3oQz7mV9m0n5w1r0c8v2y4u6i8o0p2s4d6f8";

/// Takes as long as a real check. For sign-ins with an unknown e-mail, so that the time tells nothing.
pub fn verify_nobody(password: &SecretString) -> bool {
    verify(password, NOBODY);
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_matches_its_own_hash_only() {
        let hash = hash(&"siri kubwa sana".into()).unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert!(verify(&"siri kubwa sana".into(), &hash));
        assert!(!verify(&"siri kubwa sanA".into(), &hash));
        assert!(!verify(&"siri kubwa sana".into(), "not a hash"));
    }

    #[test]
    fn short_and_huge_passwords_are_refused() {
        assert!(hash(&"fupi".into()).is_err());
        assert!(hash(&"x".repeat(BYTES_MAX + 1).into()).is_err());
    }

    #[test]
    fn nobody_never_matches_but_is_a_readable_hash() {
        assert!(PasswordHash::new(NOBODY).is_ok());
        assert!(!verify_nobody(&"siri kubwa sana".into()));
    }
}
