//! Guessing passwords, and making us write letters.

use axum::http::Method;
use serde_json::json;

use crate::accounts::{EMAIL, Member, PASSWORD, letter_to, post, send, signed_up, token_in};
use crate::support::World;

/// A service that sees each guesser at the address its proxy names.
async fn behind_a_proxy(failures_max: &str) -> World {
    World::with(&[
        ("limits.sign_in_failures_max", failures_max),
        ("server.trusted_proxies", "127.0.0.1/32"),
    ])
    .await
}

async fn guess(world: &World, from: &str, email: &str, password: &str) -> u16 {
    let body = json!({"email": email, "password": password});
    let from = [("x-forwarded-for", from)];
    let answer = send(world, Method::POST, "/v1/account/session", &body, &from).await;
    answer.status.as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_at_the_same_moment_are_counted_before_they_are_looked_at() {
    let world = std::sync::Arc::new(behind_a_proxy("5").await);
    signed_up(&world).await;
    letter_to(&world, EMAIL, 1).await;
    // From one address at many accounts, and from many addresses at one account.
    for one_address in [true, false] {
        let mut guesses = tokio::task::JoinSet::new();
        for number in 0..80 {
            let world = std::sync::Arc::clone(&world);
            guesses.spawn(async move {
                let (from, email) = match one_address {
                    true => ("41.0.0.1".to_owned(), format!("n{number}@example.com")),
                    false => (format!("41.1.0.{number}"), EMAIL.to_owned()),
                };
                guess(&world, &from, &email, "si hii kabisa").await
            });
        }
        let answers = guesses.join_all().await;
        let looked_at = answers.iter().filter(|status| **status == 401).count();
        assert_eq!(looked_at, 5, "{answers:?}");
        assert!(answers.iter().all(|status| [401, 429].contains(status)));
    }
}

#[tokio::test]
async fn signing_in_to_ones_own_account_does_not_clear_the_guesses_at_others() {
    let world = behind_a_proxy("3").await;
    signed_up(&world).await;
    letter_to(&world, EMAIL, 1).await;
    let mut answers = Vec::new();
    for number in 0..4 {
        let email = format!("mwingine{number}@example.com");
        answers.push(guess(&world, "41.0.0.1", &email, "si hii kabisa").await);
        let own = guess(&world, "41.0.0.1", EMAIL, PASSWORD).await;
        assert_eq!(own, if number < 2 { 200 } else { 429 });
    }
    assert_eq!(answers, [401, 401, 401, 429]);
}

#[tokio::test]
async fn an_address_without_an_account_runs_out_of_guesses_like_one_with() {
    let world = behind_a_proxy("3").await;
    signed_up(&world).await;
    letter_to(&world, EMAIL, 1).await;
    let run = async |email: &str, network: &str| {
        let mut answers = Vec::new();
        for number in 0..6 {
            let from = format!("{network}.{number}");
            answers.push(guess(&world, &from, email, "si hii kabisa").await);
        }
        answers
    };
    let known = run(EMAIL, "41.1.0").await;
    assert_eq!(known, [401, 401, 401, 429, 429, 429]);
    assert_eq!(run("nobody@example.com", "41.2.0").await, known);
    // Nor does the spelling of the address make it another one.
    assert_eq!(
        guess(&world, "41.3.0.1", " AMINA@example.com", PASSWORD).await,
        429
    );
    // A new password by the link of a letter opens the door again.
    let reset = json!({"email": EMAIL});
    let asked = post(&world, "/v1/account/password-reset", reset).await;
    asked.assert_status(202);
    let letters = letter_to(&world, EMAIL, 2).await;
    let token = token_in(&letters[letters.find("/console/reset").unwrap()..]);
    let body = json!({"token": token, "password": PASSWORD});
    let path = "/v1/account/password-reset";
    let set = send(&world, Method::PUT, path, &body, &[]).await;
    set.assert_status(204);
    assert_eq!(guess(&world, "41.3.0.1", EMAIL, PASSWORD).await, 200);
    // The link worked once.
    let again = send(&world, Method::PUT, path, &body, &[]).await;
    again.assert_problem(404, "not_found");
}

#[tokio::test]
async fn a_stolen_session_does_not_help_to_guess_the_password() {
    let world = World::with(&[("limits.sign_in_failures_max", "3")]).await;
    let member = Member::confirmed(&world).await;
    let deletion = json!({"password": "si hii kabisa"});
    for _ in 0..3 {
        let answer = member.post(&world, "/v1/account/deletion", &deletion).await;
        answer.assert_problem(401, "credentials_wrong");
    }
    let right = json!({"password": PASSWORD});
    let answer = member.post(&world, "/v1/account/deletion", &right).await;
    answer.assert_problem(429, "rate_limited");
}

#[tokio::test]
async fn letters_to_one_receiver_are_limited_from_wherever_they_are_asked_for() {
    let world = World::with(&[
        ("limits.signups_per_hour", "2"),
        ("server.trusted_proxies", "127.0.0.1/32"),
    ])
    .await;
    signed_up(&world).await;
    letter_to(&world, EMAIL, 1).await;
    for email in [EMAIL, "nobody@example.com"] {
        let mut answers = Vec::new();
        for number in 0..3 {
            let from = format!("41.0.{number}.{}", email.len());
            let from = [("x-forwarded-for", from.as_str())];
            let body = json!({"email": email});
            let path = "/v1/account/password-reset";
            let answer = send(&world, Method::POST, path, &body, &from).await;
            answers.push(answer.status.as_u16());
        }
        assert_eq!(answers, [202, 202, 429], "{email}");
    }
}

#[tokio::test]
async fn a_session_asks_no_more_often_than_a_key() {
    let world = World::with(&[("limits.requests_per_minute", "5")]).await;
    let member = Member::confirmed(&world).await;
    let path = format!("/v1/workspaces/{}/credits", world.workspace_id);
    for _ in 0..5 {
        let answer = member.post(&world, &path, &json!({})).await;
        answer.assert_problem(403, "role_missing");
    }
    let answer = member.post(&world, &path, &json!({})).await;
    answer.assert_problem(429, "rate_limited");
}
