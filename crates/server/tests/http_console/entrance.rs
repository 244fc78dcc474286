use sauti_service::accounts;
use secrecy::ExposeSecret;

use crate::browser::{Browser, assert_sent_to, text};
use crate::support::World;

const EMAIL: &str = "amina@example.com";
const PASSWORD: &str = "siri kubwa sana";

/// The token in the newest letter about this, once it is written.
async fn mailed_token(world: &World, about: &str) -> String {
    let outbox = world.dir.path().join("data/outbox");
    for _ in 0..1_000 {
        let letters = std::fs::read_dir(&outbox).into_iter().flatten();
        for file in letters.flatten() {
            let letter = std::fs::read_to_string(file.path()).unwrap_or_default();
            if let Some(start) = letter.find(&format!("/console/{about}?token=")) {
                let token = &letter[start + about.len() + "/console/?token=".len()..];
                return token
                    .chars()
                    .take_while(char::is_ascii_alphanumeric)
                    .collect();
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("no letter with a link to {about}");
}

#[tokio::test]
async fn a_stranger_signs_up_confirms_signs_in_and_signs_out() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let sign_up = [("email", EMAIL), ("password", PASSWORD), ("name", "Amina")];
    let answer = browser.post("/console/sign-up", &sign_up).await;
    assert!(text(answer.assert_ok()).contains("This service sends no mail"));

    let token = mailed_token(&world, "confirm").await;
    let page = text(
        browser
            .get(&format!("/console/confirm?token={token}"))
            .await
            .assert_ok(),
    );
    assert!(page.contains(&token), "the button carries the token");
    // In another browser than the one that signed up.
    let mut browser = Browser::new(&world);
    let answer = browser.post("/console/confirm", &[("token", &token)]).await;
    assert_sent_to(&answer, "/console/sign-in?done=confirmed");
    let again = browser.post("/console/confirm", &[("token", &token)]).await;
    assert_eq!(again.status.as_u16(), 404);
    assert!(text(&again).contains("Ask for a new one"));

    let sign_in = [
        ("email", EMAIL),
        ("password", PASSWORD),
        ("next", "/console/keys"),
    ];
    let answer = browser.post("/console/sign-in", &sign_in).await;
    assert_sent_to(&answer, "/console/keys");
    let cookie = answer.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    assert!(text(browser.get("/console").await.assert_ok()).contains("Speak a text"));

    let csrf = browser.csrf().await;
    let before = browser.cookies.clone();
    let answer = browser.post("/console/sign-out", &[("csrf", &csrf)]).await;
    assert_sent_to(&answer, "/console/sign-in?done=signed-out");
    assert!(
        !browser
            .cookies
            .iter()
            .any(|c| c.starts_with("sauti_session"))
    );
    browser.cookies = before;
    let answer = browser.get("/console").await;
    assert_eq!(answer.status.as_u16(), 303, "the old cookie opens nothing");
}

#[tokio::test]
async fn a_forgotten_password_is_replaced_and_every_session_ends() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    browser.get("/console").await.assert_ok();
    browser
        .post("/console/forgot", &[("email", "mtu@example.com")])
        .await
        .assert_ok();
    let token = mailed_token(&world, "reset").await;
    let short = browser
        .post("/console/reset", &[("token", &token), ("password", "fupi")])
        .await;
    assert_eq!(short.status.as_u16(), 422);
    assert!(text(&short).contains("10 to 256 characters"));
    let answer = browser
        .post(
            "/console/reset",
            &[("token", &token), ("password", PASSWORD)],
        )
        .await;
    assert_sent_to(&answer, "/console/sign-in?done=reset");
    assert_eq!(browser.get("/console").await.status.as_u16(), 303);
    let answer = browser
        .post(
            "/console/sign-in",
            &[("email", "mtu@example.com"), ("password", PASSWORD)],
        )
        .await;
    assert_sent_to(&answer, "/console");
}

#[tokio::test]
async fn a_wrong_password_is_told_in_the_readers_language() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let wrong = [
        ("email", "mtu@example.com"),
        ("password", "not the password"),
    ];
    let answer = browser.post("/console/sign-in", &wrong).await;
    assert_eq!(answer.status.as_u16(), 401);
    let page = text(&answer);
    assert!(page.contains("The address or the password is wrong.") && page.contains("lang=\"en\""));
    assert!(
        page.contains("value=\"mtu@example.com\""),
        "the address stays filled in"
    );
    assert!(!page.contains("not the password"));

    browser.language = "sw-KE,en;q=0.5";
    let page = text(&browser.post("/console/sign-in", &wrong).await);
    assert!(page.contains("Barua pepe au nenosiri si sahihi.") && page.contains("lang=\"sw\""));
}

#[tokio::test]
async fn the_language_can_be_chosen_against_the_browsers() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    browser.language = "sw";
    assert!(text(&browser.get("/console/sign-in").await).contains("<h1>Ingia</h1>"));
    let answer = browser
        .post(
            "/console/language",
            &[("language", "en"), ("next", "/console/sign-in")],
        )
        .await;
    assert_sent_to(&answer, "/console/sign-in");
    assert!(text(&browser.get("/console/sign-in").await).contains("<h1>Sign in</h1>"));
    let answer = browser
        .post(
            "/console/language",
            &[("language", "en"), ("next", "//evil.example")],
        )
        .await;
    assert_sent_to(&answer, "/console");
}

#[tokio::test]
async fn whoever_is_not_signed_in_is_asked_to_and_comes_back() {
    let world = World::new().await;
    let browser = Browser::new(&world);
    assert_sent_to(&browser.get("/").await, "/console");
    let answer = browser.get("/console/usage?days=7").await;
    let location = answer.header("location");
    assert_eq!(
        location,
        "/console/sign-in?done=expired&next=%2Fconsole%2Fusage%3Fdays%3D7"
    );
    let page = text(&browser.get(location).await);
    assert!(
        page.contains("name=\"next\" value=\"/console/usage?days=7\""),
        "{page}"
    );
}

#[tokio::test]
async fn an_unconfirmed_account_is_told_what_to_do() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let sign_up = [("email", EMAIL), ("password", PASSWORD)];
    browser.post("/console/sign-up", &sign_up).await.assert_ok();
    mailed_token(&world, "confirm").await;
    browser.post("/console/sign-in", &sign_up).await;
    let page = text(browser.get("/console").await.assert_ok());
    assert!(page.contains("not confirmed yet") && page.contains("/console/account/resend"));
}

async fn balance_of(world: &World, email: &str) -> i64 {
    let store = &world.app.store;
    let account = store.account_by_email(email).await.unwrap().unwrap();
    let mine = store.workspaces_of(&account.id).await.unwrap();
    let balance = store.balance(&mine[0].0.id).await.unwrap();
    balance.available_micro
}

#[tokio::test]
async fn whoever_confirms_where_they_signed_up_is_in_and_welcomed_with_credit_once() {
    let settings = [("signup.welcome_credit_micro", "7000000")];
    let world = World::with(&settings).await;
    let mut browser = Browser::new(&world);
    let sign_up = [("email", " Amina@Example.com"), ("password", PASSWORD)];
    let answer = browser.post("/console/sign-up", &sign_up).await;
    assert!(!text(answer.assert_ok()).contains("/console/confirm"));
    let token = mailed_token(&world, "confirm").await;
    assert_eq!(
        balance_of(&world, EMAIL).await,
        0,
        "not before the address is proven"
    );
    let answer = browser.post("/console/confirm", &[("token", &token)]).await;
    assert_sent_to(&answer, "/console?done=welcome");
    assert!(text(browser.get("/console").await.assert_ok()).contains("KES 7.00"));

    // A reset proves the address again, and gives nothing more.
    browser.post("/console/forgot", &[("email", EMAIL)]).await;
    let token = mailed_token(&world, "reset").await;
    let reset = [("token", token.as_str()), ("password", "nyingine kabisa")];
    let answer = browser.post("/console/reset", &reset).await;
    assert_sent_to(&answer, "/console/sign-in?done=reset");
    assert_eq!(balance_of(&world, EMAIL).await, 7_000_000);
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn an_invited_newcomer_lands_on_the_invitation() {
    let world = World::new().await;
    let role = sauti_store::Role::Member;
    let issued = world
        .app
        .store
        .invite(&world.workspace_id, EMAIL, role, &world.account_id)
        .await
        .unwrap();
    let invitation = format!("/console/invite?token={}", issued.token.expose_secret());
    let mut browser = Browser::new(&world);
    let turned = browser.get(&invitation).await;
    let sign_in = turned.header("location").to_owned();
    let (_, coded) = sign_in.split_once("&next=").unwrap();
    let page = text(browser.get(&sign_in).await.assert_ok());
    // The link to sign up, and where a change of the language leads back to.
    for kept in ["sign-up", "sign-in"] {
        let kept = format!("\"/console/{kept}?next={coded}\"");
        assert!(page.contains(&kept), "{kept}: {page}");
    }
    let sign_up = [
        ("email", EMAIL),
        ("password", PASSWORD),
        ("next", &invitation),
    ];
    browser.post("/console/sign-up", &sign_up).await.assert_ok();
    let token = mailed_token(&world, "confirm").await;
    let confirmed = browser.post("/console/confirm", &[("token", &token)]).await;
    assert_sent_to(&confirmed, &invitation);

    let elsewhere = [
        ("email", "b@example.com"),
        ("password", PASSWORD),
        ("next", "https://evil.example"),
    ];
    browser
        .post("/console/sign-up", &elsewhere)
        .await
        .assert_ok();
    let kept = |cookie: &&String| cookie.starts_with("sauti_next=");
    let next = browser.cookies.iter().find(kept).unwrap();
    assert_eq!(next, "sauti_next=%2Fconsole");
}

#[tokio::test]
async fn a_welcome_that_a_dead_process_left_behind_is_given_once() {
    let world = World::with(&[("signup.welcome_credit_micro", "7000000")]).await;
    let mut browser = Browser::new(&world);
    let sign_up = [("email", EMAIL), ("password", PASSWORD)];
    browser.post("/console/sign-up", &sign_up).await.assert_ok();
    let token = mailed_token(&world, "confirm").await;
    // Confirmed, and then the process died.
    let store = &world.app.store;
    let account_id = store.confirm_account(&token, 7_000_000).await.unwrap();
    assert_eq!(balance_of(&world, EMAIL).await, 0);
    assert_eq!(
        store.welcomes_due().await.unwrap(),
        [(account_id.clone(), 7_000_000)]
    );
    accounts::welcome_whoever_is_due(&world.app).await;
    assert_eq!(balance_of(&world, EMAIL).await, 7_000_000);
    assert_eq!(store.welcomes_due().await.unwrap(), []);

    // Given, and then the process died before it wrote that down: another link owes it again, the ledger does not.
    let mine = store.workspaces_of(&account_id).await.unwrap();
    let again = store.credit(&mine[0].0.id, 7_000_000, "welcome", &account_id);
    assert!(!again.await.unwrap().applied);
    browser.post("/console/forgot", &[("email", EMAIL)]).await;
    let token = mailed_token(&world, "reset").await;
    let reset = [("token", token.as_str()), ("password", PASSWORD)];
    browser.post("/console/reset", &reset).await;
    assert_eq!(store.welcomes_due().await.unwrap(), [], "confirmed before");
    assert_eq!(balance_of(&world, EMAIL).await, 7_000_000);
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn a_reset_before_the_confirmation_confirms_and_welcomes_too() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let sign_up = [("email", EMAIL), ("password", PASSWORD)];
    browser.post("/console/sign-up", &sign_up).await.assert_ok();
    mailed_token(&world, "confirm").await;
    browser.post("/console/forgot", &[("email", EMAIL)]).await;
    let token = mailed_token(&world, "reset").await;
    let reset = [("token", token.as_str()), ("password", PASSWORD)];
    browser.post("/console/reset", &reset).await;
    assert_eq!(balance_of(&world, EMAIL).await, 20_000_000);
    let token = mailed_token(&world, "confirm").await;
    browser.post("/console/confirm", &[("token", &token)]).await;
    assert_eq!(balance_of(&world, EMAIL).await, 20_000_000);
}

#[tokio::test]
async fn the_letter_is_shown_on_the_page_only_where_the_settings_say_so() {
    let world = World::with(&[("mail.show_outbox", "true")]).await;
    let mut browser = Browser::new(&world);
    let sign_up = [("email", EMAIL), ("password", PASSWORD)];
    let page = text(browser.post("/console/sign-up", &sign_up).await.assert_ok());
    assert!(page.contains("href=\"/console/confirm?token="), "{page}");
    // Of an account that exists, only the way in.
    let page = text(browser.post("/console/sign-up", &sign_up).await.assert_ok());
    assert!(page.contains("href=\"/console/sign-in\"") && !page.contains("token="));
    // A link to a new password is never shown.
    let page = text(
        browser
            .post("/console/forgot", &[("email", EMAIL)])
            .await
            .assert_ok(),
    );
    assert!(!page.contains("token="), "{page}");
}
