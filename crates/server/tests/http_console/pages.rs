use sauti_store::{NewKey, Role};
use secrecy::ExposeSecret;

use crate::browser::{Browser, PAGES, assert_sent_to, text};
use crate::support::World;

const ATTACK: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'{{7*7}}";

/// Nothing in a page may run but our own files.
#[track_caller]
fn assert_harmless(path: &str, html: &str) {
    assert!(!html.contains("<script>"), "{path}: {html}");
    assert!(!html.contains("<img src=x"), "{path}");
    for piece in html.split("<script").skip(1) {
        let tag = piece.split('>').next().unwrap();
        assert!(
            tag.contains("src=\"/console/assets/") || tag.contains("application/json"),
            "{path}: {tag}"
        );
    }
    for tag in html.split('<').filter_map(|piece| piece.split('>').next()) {
        assert!(
            !tag.contains(" style=") && !tag.contains(" onclick="),
            "{path}: {tag}"
        );
    }
}

/// A voice is data: one more entry of the catalogue is listed and described, and no code knows it.
#[tokio::test]
async fn a_voice_that_only_the_catalogue_knows_is_listed_and_described_in_both_languages() {
    let source = crate::support::repository().join("models/voices/catalogue.json");
    let mut catalogue: serde_json::Value =
        serde_json::from_slice(&std::fs::read(source).unwrap()).unwrap();
    let mut made_up = catalogue["voices"][0].clone();
    made_up["voice_id"] = "pendo".into();
    made_up["name"] = "Pendo".into();
    made_up["description"] = "A made-up voice for a test.".into();
    made_up["description_sw"] = "Sauti ya kubuni kwa jaribio.".into();
    catalogue["voices"].as_array_mut().unwrap().push(made_up);
    let models = tempfile::tempdir().unwrap();
    std::fs::create_dir(models.path().join("voices")).unwrap();
    std::fs::write(
        models.path().join("voices/catalogue.json"),
        catalogue.to_string(),
    )
    .unwrap();
    let world = World::with(&[("models.dir", models.path().to_str().unwrap())]).await;

    let listed = world.get("/v1/voices").await.json();
    let last = listed["voices"].as_array().unwrap().last().unwrap();
    assert_eq!(last["voice_id"], "pendo");
    assert_eq!(last["description"], "A made-up voice for a test.");
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    for (language, new, first) in [
        ("en", "A made-up voice for a test.", "A warm woman"),
        (
            "sw",
            "Sauti ya kubuni kwa jaribio.",
            "Sauti ya upole ya mwanamke",
        ),
    ] {
        browser.language = language;
        for path in ["/console/voices", "/console"] {
            let html = text(browser.get(path).await.assert_ok());
            for wanted in ["pendo", "Pendo", new, first] {
                assert!(html.contains(wanted), "{path} in {language}: {wanted}");
            }
        }
    }
}

#[tokio::test]
async fn every_page_speaks_both_languages_and_runs_only_our_own_files() {
    let world = World::new().await;
    world
        .app
        .store
        .set_operator(&world.account_id, true)
        .await
        .unwrap();
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    for (language, heading) in [("en", "Sign out"), ("sw", "Toka")] {
        browser.language = language;
        for path in PAGES
            .iter()
            .chain(&["/console/operator", "/console/invite?token=x"])
        {
            let answer = browser.get(path).await;
            let html = text(answer.assert_ok());
            assert!(
                html.contains(&format!("<html lang=\"{language}\">")),
                "{path}"
            );
            assert!(html.contains(heading), "{path} in {language}");
            assert_harmless(path, &html);
            let policy = answer.header("content-security-policy");
            assert!(
                policy.contains("script-src 'self'") && !policy.contains("unsafe"),
                "{policy}"
            );
            assert_eq!(answer.header("cache-control"), "no-store", "{path}");
            assert!(!html.contains(&world.key), "{path} holds a key");
        }
    }
}

/// Pages that only show, and forms that a browser sends by itself, need no script and do not ask for one.
#[tokio::test]
async fn only_pages_that_need_a_script_ask_for_one() {
    let world = World::new().await;
    let store = &world.app.store;
    store.set_operator(&world.account_id, true).await.unwrap();
    let browser = Browser::signed_in(&world, &world.account_id).await;
    for path in PAGES.iter().chain(&["/console/operator"]) {
        let html = text(browser.get(path).await.assert_ok());
        let works = ["account", "operator", "usage", "money"];
        let works = works.iter().any(|page| path.ends_with(page));
        assert_eq!(html.contains("<noscript>"), !works, "{path}");
    }
}

#[tokio::test]
async fn keys_that_work_stand_above_those_that_have_ended() {
    let world = World::new().await;
    for (name, expires_us) in [("Ya kazi", None), ("Imeisha", Some(1))] {
        let name = name.to_owned();
        let new = NewKey {
            name,
            expires_us,
            ..world.new_key()
        };
        world.make_key(new).await;
    }
    let browser = Browser::signed_in(&world, &world.account_id).await;
    let html = text(browser.get("/console/keys").await.assert_ok());
    assert!(html.find("Ya kazi").unwrap() < html.find("Imeisha").unwrap());
}

#[tokio::test]
async fn of_many_keys_those_that_are_old_or_have_ended_are_folded_away() {
    let world = World::new().await;
    for number in 0..30 {
        let name = format!("Simu {number}.");
        let new = world.new_key();
        world.make_key(NewKey { name, ..new }).await;
    }
    let ended = NewKey {
        name: "Imeisha".to_owned(),
        expires_us: Some(1),
        ..world.new_key()
    };
    world.make_key(ended).await;
    let browser = Browser::signed_in(&world, &world.account_id).await;
    let html = text(browser.get("/console/keys").await.assert_ok());
    let (open, folded) = html.split_once("<details").unwrap();
    let folded = folded.split_once("</details>").unwrap().0;
    assert!(open.contains("<h2>Simu 29.</h2>") && folded.contains("<h2>Simu 0.</h2>"));
    assert!(folded.contains("<h2>Imeisha</h2>"));
    assert_eq!(open.matches("<article").count(), 20);
}

#[tokio::test]
async fn whoever_removes_a_member_is_told_the_keys_that_they_made() {
    let world = World::new().await;
    let store = &world.app.store;
    let guest = store.create_account("mgeni@example.com", "hash", "Mgeni");
    let guest = guest.await.unwrap();
    let (workspace_id, inviter) = (&world.workspace_id, &world.account_id);
    let invite = store.invite(workspace_id, &guest.email, Role::Member, inviter);
    let token = invite.await.unwrap().token;
    let joined = store.accept_invite(token.expose_secret(), &guest.id);
    joined.await.unwrap();
    let browser = Browser::signed_in(&world, &world.account_id).await;
    let members = async || text(browser.get("/console/members").await.assert_ok());
    assert!(!members().await.contains("keys they made"));
    let made = NewKey {
        name: "Ya mgeni".to_owned(),
        created_by: guest.id.to_string(),
        ..world.new_key()
    };
    world.make_key(made).await;
    assert!(
        members()
            .await
            .contains("revoke those they know: Ya mgeni.")
    );
}

#[tokio::test]
async fn what_people_type_is_shown_and_never_run() {
    let world = World::new().await;
    let store = &world.app.store;
    store.set_operator(&world.account_id, true).await.unwrap();
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    let csrf = browser.csrf().await;
    for form in ["/console/account/name", "/console/workspace/name"] {
        let answer = browser
            .post(form, &[("csrf", &csrf), ("name", ATTACK)])
            .await;
        assert_eq!(answer.status.as_u16(), 303, "{form}: {}", text(&answer));
    }
    world
        .make_key(NewKey {
            name: ATTACK.to_owned(),
            ..world.new_key()
        })
        .await;
    store
        .add_webhook(
            &world.workspace_id,
            "https://example.com/?a=\"><script>alert(1)</script>",
            &[],
        )
        .await
        .ok();
    store
        .create_workspace(Some(&world.account_id), ATTACK, "KES")
        .await
        .unwrap();
    store
        .invite(
            &world.workspace_id,
            "a'b@example.com",
            Role::Member,
            &world.account_id,
        )
        .await
        .ok();
    store
        .credit(&world.workspace_id, 5_000_000, ATTACK, ATTACK)
        .await
        .unwrap();
    store
        .create_session(
            &world.account_id,
            std::time::Duration::from_secs(60),
            ATTACK,
        )
        .await
        .unwrap();
    let mut shown = 0;
    for path in PAGES.iter().chain(&["/console/operator"]) {
        let html = text(browser.get(path).await.assert_ok());
        assert_harmless(path, &html);
        shown += html.matches("&#60;script&#62;alert(1)").count();
    }
    assert!(shown >= 8, "escaped, not lost: {shown}");
}

#[tokio::test]
async fn addresses_and_forms_of_strangers_are_escaped_too() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let attack = percent_encoding::utf8_percent_encode(ATTACK, percent_encoding::NON_ALPHANUMERIC)
        .to_string();
    for path in [
        "sign-in?next=",
        "reset?token=",
        "confirm?token=",
        "sign-in?done=",
        "no-such-page/",
    ] {
        let path = format!("/console/{path}{attack}");
        assert_harmless(&path, &text(&browser.get(&path).await));
    }
    let fields = [
        ("email", ATTACK),
        ("name", ATTACK),
        ("next", ATTACK),
        ("token", ATTACK),
        ("password", "fupi"),
    ];
    for form in ["sign-in", "sign-up", "forgot", "reset", "confirm"] {
        let answer = browser.post(&format!("/console/{form}"), &fields).await;
        assert_harmless(form, &text(&answer));
    }
}

#[tokio::test]
async fn the_console_is_found_with_a_slash_behind_it_too() {
    let world = World::new().await;
    let answer = Browser::new(&world).get("/console/").await;
    assert_sent_to(&answer, "/console");
}

#[tokio::test]
async fn an_unknown_page_is_told_in_words() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    browser.language = "sw";
    let answer = browser.get("/console/hakuna").await;
    assert_eq!(answer.status.as_u16(), 404);
    assert!(text(&answer).contains("Hakuna ukurasa kama huo."));
    assert!(answer.header("content-type").starts_with("text/html"));
}

#[tokio::test]
async fn the_files_of_a_page_are_few_and_small() {
    let world = World::new().await;
    let browser = Browser::signed_in(&world, &world.account_id).await;
    let html = text(browser.get("/console").await.assert_ok());
    let mut bytes = html.len();
    let mut names: Vec<String> = html
        .split('"')
        .filter(|piece| piece.starts_with("/console/assets/"))
        .map(str::to_owned)
        .collect();
    let base = names[0].rsplit_once('/').unwrap().0.to_owned();
    names.push(format!("{base}/wave.js"));
    for name in &names {
        let answer = browser.get(name).await;
        bytes += answer.assert_ok().body.len();
        let kind = answer.header("content-type");
        assert!(
            ["text/css", "text/javascript", "image/svg"]
                .iter()
                .any(|k| kind.starts_with(k)),
            "{name}"
        );
    }
    assert!(bytes < 100_000, "{bytes}");
    let answer = browser.get(&format!("{base}/..%2f..%2fCargo.toml")).await;
    assert_eq!(answer.status.as_u16(), 404);
}

#[tokio::test]
async fn an_empty_workspace_says_what_to_do_next() {
    let world = World::new().await;
    let store = &world.app.store;
    let account = store
        .create_account("mpya@example.com", "not a hash", "Mpya")
        .await
        .unwrap();
    store.confirm_account_by_id(&account.id).await.unwrap();
    store
        .create_workspace(Some(&account.id), "Mpya", "KES")
        .await
        .unwrap();
    let browser = Browser::signed_in(&world, &account.id).await;
    for (path, hint) in [
        ("/console/keys", "No keys yet"),
        ("/console/usage", "Speak a first sentence"),
        ("/console/money", "The balance is empty"),
        ("/console/webhooks", "No webhooks yet"),
    ] {
        assert!(
            text(browser.get(path).await.assert_ok()).contains(hint),
            "{path}"
        );
    }
}

#[tokio::test]
async fn usage_and_money_show_what_was_spent() {
    let world = World::new().await;
    let body = serde_json::json!({"text": "Habari za asubuhi.", "voice_id": "asha"});
    world.remember_speech(&body, b"RIFF");
    world.post("/v1/audio/speech", &body).await.assert_ok();
    let browser = Browser::signed_in(&world, &world.account_id).await;
    let usage = text(browser.get("/console/usage?days=7").await.assert_ok());
    assert!(
        usage.contains("a test") && usage.contains("<rect class=\"speech\""),
        "{usage}"
    );
    let money = text(browser.get("/console/money").await.assert_ok());
    assert!(money.contains("−KES 0.018"), "{money}");
    let store = &world.app.store;
    for (source, reference) in [
        ("mpesa", "QK12AB34"),
        ("welcome", world.account_id.as_str()),
    ] {
        let credit = store.credit(&world.workspace_id, 1_000_000, source, reference);
        credit.await.unwrap();
    }
    let money = text(browser.get("/console/money").await.assert_ok());
    assert!(money.contains("money in · mpesa:QK12AB34") && money.contains("welcome credit"));
    let csv = browser.get("/v1/statement?format=csv").await;
    assert!(text(csv.assert_ok()).lines().count() >= 3);
}

#[tokio::test]
async fn a_low_balance_alert_is_kept() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    let csrf = browser.csrf().await;
    let answer = browser
        .post(
            "/console/workspace/alert",
            &[("csrf", &csrf), ("below", "12.5")],
        )
        .await;
    assert_sent_to(&answer, "/console/money?done=saved");
    let workspace = world
        .app
        .store
        .workspace(&world.workspace_id)
        .await
        .unwrap();
    assert_eq!(workspace.low_balance_micro, Some(12_500_000));
    assert!(text(&browser.get("/console/money").await).contains("value=\"12.50\""));
}

#[tokio::test]
async fn a_pasted_text_is_not_cut_and_a_key_can_be_replaced() {
    let world = World::new().await;
    let browser = Browser::signed_in(&world, &world.account_id).await;
    let page = text(browser.get("/console").await.assert_ok());
    let start = page.find("<textarea id=\"text\"").unwrap();
    let end = start + page[start..].find('>').unwrap();
    assert!(!page[start..end].contains("maxlength"), "{page}");
    let keys = text(browser.get("/console/keys").await.assert_ok());
    assert!(keys.contains("/rotate?old_lives_hours=24"), "{keys}");
}
