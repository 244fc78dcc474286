use axum::body::Body;
use axum::http::Request;

use crate::browser::{Browser, FORMS, PAGES, assert_sent_to, text};
use crate::support::World;

#[tokio::test]
async fn no_form_is_taken_without_the_pages_token() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    let workspace = world.workspace_id.clone();
    let fields = [
        ("email", "mtu@example.com"),
        ("name", "Changed"),
        ("workspace", workspace.as_str()),
        ("amount", "5"),
        ("reference", "r"),
        ("below", "7"),
    ];
    for form in FORMS {
        for token in [None, Some(""), Some("0".repeat(64).as_str())] {
            let mut all = fields.to_vec();
            all.extend(token.map(|token| ("csrf", token)));
            let answer = browser.post(form, &all).await;
            assert_eq!(answer.status.as_u16(), 403, "{form} {token:?}");
            assert!(text(&answer).contains("Reload the page"), "{form}");
        }
    }
    let account = world.app.store.account(&world.account_id).await.unwrap();
    assert_eq!(account.name, "Mtu");
    let workspace = world
        .app
        .store
        .workspace(&world.workspace_id)
        .await
        .unwrap();
    assert_eq!(
        (workspace.name.as_str(), workspace.low_balance_micro),
        ("Kazi", None)
    );
    browser.get("/console").await.assert_ok();
}

#[tokio::test]
async fn the_scripts_calls_need_the_token_too() {
    let world = World::new().await;
    let browser = Browser::signed_in(&world, &world.account_id).await;
    let csrf = browser.csrf().await;
    let call = |token: String| {
        let request = Request::post("/v1/quotes")
            .header("cookie", browser.cookies.join("; "))
            .header("content-type", "application/json")
            .header("x-csrf-token", token);
        world.send(request.body(Body::from(r#"{"text": "habari"}"#)).unwrap())
    };
    call("wrong".to_owned())
        .await
        .assert_problem(403, "csrf_failed");
    call(csrf).await.assert_ok();
}

#[tokio::test]
async fn another_site_cannot_sign_a_visitor_in() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let fields = [("email", "mtu@example.com"), ("password", "whatever it is")];
    for headers in [
        [("sec-fetch-site", "cross-site"), ("host", "sauti.example")],
        [
            ("origin", "https://evil.example"),
            ("host", "sauti.example"),
        ],
    ] {
        let answer = browser
            .post_with("/console/sign-in", &fields, &headers)
            .await;
        assert_eq!(answer.status.as_u16(), 403, "{headers:?}");
    }
    let own = [
        ("origin", "https://sauti.example"),
        ("host", "sauti.example"),
    ];
    let answer = browser.post_with("/console/sign-in", &fields, &own).await;
    assert_eq!(answer.status.as_u16(), 401, "our own form is read");
}

#[tokio::test]
async fn a_browser_that_says_nothing_of_a_forms_origin_has_to_bring_the_pages_token() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let fields = [("email", "mtu@example.com"), ("password", "whatever it is")];
    for headers in [&[][..], &[("origin", "null")]] {
        let answer = browser
            .post_with("/console/sign-in", &fields, headers)
            .await;
        assert_eq!(answer.status.as_u16(), 403, "{headers:?}");
    }
    // The page sets the token as a cookie and writes it into its form.
    let page = browser.get("/console/sign-in").await;
    let cookie = page.header("set-cookie").split(';').next().unwrap();
    let token = cookie.strip_prefix("sauti_visit=").unwrap();
    assert!(text(&page).contains(&format!("name=\"visit\" value=\"{token}\"")));
    browser.cookies.push(cookie.to_owned());
    let mut with_token = fields.to_vec();
    with_token.push(("visit", token));
    for headers in [&[][..], &[("origin", "null")]] {
        let answer = browser
            .post_with("/console/sign-in", &with_token, headers)
            .await;
        assert_eq!(answer.status.as_u16(), 401, "read: {headers:?}");
    }
    let answer = browser.post_with("/console/sign-in", &fields, &[]).await;
    assert_eq!(
        answer.status.as_u16(),
        403,
        "the cookie alone is not enough"
    );
    let evil = [("sec-fetch-site", "cross-site")];
    let answer = browser
        .post_with("/console/sign-in", &with_token, &evil)
        .await;
    assert_eq!(
        answer.status.as_u16(),
        403,
        "what the browser says counts first"
    );
}

#[tokio::test]
async fn someone_in_no_workspace_is_led_to_make_one_and_makes_no_flood_of_them() {
    let world = World::with(&[("limits.signups_per_hour", "2")]).await;
    let store = &world.app.store;
    let lone = store
        .create_account("peke@example.com", "not a hash", "Peke")
        .await
        .unwrap();
    store.confirm_account_by_id(&lone.id).await.unwrap();
    let mut browser = Browser::signed_in(&world, &lone.id).await;
    for page in PAGES {
        assert_sent_to(&browser.get(page).await, "/console/workspace/new");
    }
    let page = text(browser.get("/console/workspace/new").await.assert_ok());
    assert!(page.contains("You are in no workspace any more"), "{page}");
    let start = page.find("name=\"csrf\" value=\"").unwrap() + "name=\"csrf\" value=\"".len();
    let csrf: String = page[start..].chars().take_while(|c| *c != '"').collect();
    let nameless = [("csrf", csrf.as_str()), ("name", " ")];
    let answer = browser.post("/console/workspace/new", &nameless).await;
    assert_eq!(answer.status.as_u16(), 422, "{}", text(&answer));
    let named = [("csrf", csrf.as_str()), ("name", "Duka")];
    let answer = browser.post("/console/workspace/new", &named).await;
    assert_sent_to(&answer, "/console/members?done=saved");
    assert!(text(browser.get("/console/keys").await.assert_ok()).contains("Duka"));
    let answer = browser.post("/console/workspace/new", &named).await;
    assert_eq!(answer.status.as_u16(), 429, "{}", text(&answer));
}

#[tokio::test]
async fn what_belongs_to_another_workspace_is_out_of_reach() {
    let world = World::new().await;
    let store = &world.app.store;
    let stranger = store
        .create_account("mwingine@example.com", "not a hash", "Mwingine")
        .await
        .unwrap();
    store.confirm_account_by_id(&stranger.id).await.unwrap();
    let own = store
        .create_workspace(Some(&stranger.id), "Kwingine", "KES")
        .await
        .unwrap();
    let invite = store
        .invite(
            &world.workspace_id,
            "rafiki@example.com",
            sauti_store::Role::Member,
            &world.account_id,
        )
        .await
        .unwrap();
    let key_id = store.list_keys(&world.workspace_id).await.unwrap()[0]
        .id
        .clone();

    let mut browser = Browser::signed_in(&world, &stranger.id).await;
    let csrf = browser.csrf().await;
    let switch = [("csrf", csrf.as_str()), ("workspace", &world.workspace_id)];
    assert_eq!(
        browser
            .post("/console/workspace/switch", &switch)
            .await
            .status
            .as_u16(),
        404
    );
    let cancel = [
        ("csrf", csrf.as_str()),
        ("invite", invite.invite.id.as_str()),
    ];
    assert_eq!(
        browser
            .post("/console/members/cancel-invite", &cancel)
            .await
            .status
            .as_u16(),
        404
    );
    assert_eq!(store.invites(&world.workspace_id).await.unwrap().len(), 1);

    // A made-up cookie chooses nothing: the pages show one's own workspace.
    browser
        .cookies
        .push(format!("sauti_workspace={}", world.workspace_id));
    for page in PAGES {
        let html = text(browser.get(page).await.assert_ok());
        assert!(
            html.contains(own.id.as_str()) && !html.contains(world.workspace_id.as_str()),
            "{page}"
        );
        assert!(
            !html.contains(key_id.as_str()) && !html.contains("rafiki@example.com"),
            "{page}"
        );
    }
    let revoke = Request::delete(format!("/v1/keys/{key_id}"))
        .header("cookie", &browser.cookies[0])
        .header("x-csrf-token", &csrf);
    let answer = world.send(revoke.body(Body::empty()).unwrap()).await;
    answer.assert_problem(404, "not_found");
    world.get("/v1/balance").await.assert_ok();
}

#[tokio::test]
async fn a_form_acts_on_the_workspace_it_was_shown_for() {
    let world = World::new().await;
    let store = &world.app.store;
    let mine = Some(&world.account_id);
    let second = store.create_workspace(mine, "Pili", "KES").await.unwrap();
    let foreign = store.create_workspace(None, "Yao", "KES").await.unwrap();
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    // Chosen in another tab.
    let chosen = format!("sauti_workspace={}", world.workspace_id);
    browser.cookies.push(chosen);
    let csrf = browser.csrf().await;
    let form = |at| [("csrf", csrf.as_str()), ("at", at), ("name", "Jina jipya")];
    let answer = browser
        .post("/console/workspace/name", &form(foreign.id.as_str()))
        .await;
    assert_eq!(answer.status.as_u16(), 404);
    assert!(text(&answer).contains("You are in no such workspace."));
    let answer = browser
        .post("/console/workspace/name", &form(second.id.as_str()))
        .await;
    assert_sent_to(&answer, "/console/members?done=saved");
    let page = text(browser.get("/console/members").await.assert_ok());
    let at = format!("name=\"at\" value=\"{}\"", second.id);
    assert!(page.contains(&at) && page.contains("value=\"Jina jipya\""));
    for (id, name) in [
        (&world.workspace_id, "Kazi"),
        (&second.id, "Jina jipya"),
        (&foreign.id, "Yao"),
    ] {
        assert_eq!(store.workspace(id).await.unwrap().name, name);
    }
}

#[tokio::test]
async fn a_refused_form_leads_back_to_its_page() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    let csrf = browser.csrf().await;
    for (form, page) in [
        ("/console/workspace/alert", "/console/money"),
        ("/console/members/cancel-invite", "/console/members"),
        ("/console/operator/credit", "/console/operator"),
        ("/console/language", "/console"),
    ] {
        assert_sent_to(&browser.get(form).await, page);
    }
    for form in FORMS {
        let answer = browser.get(form).await;
        let location = answer.headers.get("location");
        assert!(location.is_none_or(|page| page != form), "{form}");
        assert_ne!(answer.status.as_u16(), 405, "{form}");
    }
    // What only a script can send.
    let answer = browser.post("/console/keys", &[("name", "IVR")]).await;
    assert_eq!(answer.status.as_u16(), 405);
    let page = text(&answer);
    assert!(page.contains("JavaScript") && page.contains("href=\"/console/keys\""));
    browser.language = "sw";
    let nameless = [("csrf", csrf.as_str()), ("name", " ")];
    let answer = browser.post("/console/workspace/name", &nameless).await;
    assert_eq!(answer.status.as_u16(), 422);
    let page = text(&answer);
    assert!(page.contains("Andika jina lenye herufi 1 hadi 200."));
    assert!(page.contains("href=\"/console/members\""));
    assert!(page.contains("name=\"next\" value=\"/console/members\""));
}

#[tokio::test]
async fn a_plain_member_sees_no_keys_and_changes_no_workspace() {
    let world = World::new().await;
    let store = &world.app.store;
    let member = store
        .create_account("mwanachama@example.com", "not a hash", "M")
        .await
        .unwrap();
    store.confirm_account_by_id(&member.id).await.unwrap();
    store
        .add_member(&world.workspace_id, &member.id, sauti_store::Role::Member)
        .await
        .unwrap();
    let mut browser = Browser::signed_in(&world, &member.id).await;
    let csrf = browser.csrf().await;
    let page = text(browser.get("/console/keys").await.assert_ok());
    assert!(page.contains("Only admins and owners") && !page.contains("data-api"));
    for (form, field) in [
        ("/console/workspace/name", "name"),
        ("/console/workspace/alert", "below"),
    ] {
        let answer = browser.post(form, &[("csrf", &csrf), (field, "5")]).await;
        assert_eq!(answer.status.as_u16(), 403, "{form}");
    }
}

#[tokio::test]
async fn only_an_operator_books_money_and_a_reference_counts_once() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    let csrf = browser.csrf().await;
    let fields = [
        ("csrf", csrf.as_str()),
        ("workspace", &world.workspace_id),
        ("amount", "1,250.50"),
        ("reference", "QK12AB34"),
    ];
    let before = world.balance_micro().await;
    assert_eq!(browser.get("/console/operator").await.status.as_u16(), 404);
    assert_eq!(
        browser
            .post("/console/operator/credit", &fields)
            .await
            .status
            .as_u16(),
        404
    );
    assert_eq!(world.balance_micro().await, before);

    world
        .app
        .store
        .set_operator(&world.account_id, true)
        .await
        .unwrap();
    assert!(text(browser.get("/console/operator").await.assert_ok()).contains("mtu@example.com"));
    let answer = browser.post("/console/operator/credit", &fields).await;
    assert_sent_to(&answer, "/console/operator?done=credited");
    let answer = browser.post("/console/operator/credit", &fields).await;
    assert_sent_to(&answer, "/console/operator?done=credited-before");
    assert_eq!(world.balance_micro().await, before + 1_250_500_000);
    browser.language = "sw";
    let (amount, reference) = ("Andika kiasi", "Andika kumbukumbu");
    let used = "Kumbukumbu hii ilitumika kwa malipo mengine";
    for (field, value, status, said) in [
        ("amount", "-5", 422, amount),
        ("amount", "0", 422, amount),
        ("amount", "elfu", 422, amount),
        ("amount", "300", 409, used),
        ("reference", "", 422, reference),
    ] {
        let form = fields.map(|(name, old)| (name, if name == field { value } else { old }));
        let answer = browser.post("/console/operator/credit", &form).await;
        assert_eq!(answer.status.as_u16(), status, "{field} {value}");
        assert!(text(&answer).contains(said), "{}", text(&answer));
    }
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn an_account_is_deleted_only_by_its_address_its_password_and_knowing_of_the_money() {
    let world = World::new().await;
    let password = "siri kubwa sana";
    let hash = sauti_store::password::hash(&password.into()).unwrap();
    let store = &world.app.store;
    let set = store.set_password(&world.account_id, &hash, None).await;
    set.unwrap();
    let mut browser = Browser::signed_in(&world, &world.account_id).await;
    let csrf = browser.csrf().await;
    let own = "mtu@example.com";
    for (email, password, money, said) in [
        (
            "mwingine@example.com",
            password,
            "yes",
            "Type your e-mail address",
        ),
        (own, "si hii kabisa", "yes", "current password is wrong"),
        (own, password, "", "still holds money"),
    ] {
        let fields = [
            ("csrf", csrf.as_str()),
            ("email", email),
            ("password", password),
            ("money", money),
        ];
        let answer = browser.post("/console/account/delete", &fields).await;
        assert_eq!(answer.status.as_u16(), 422);
        let page = text(&answer);
        assert!(page.contains(said), "{said}");
        assert!(
            page.contains(&format!("value=\"{email}\"")),
            "as it was typed"
        );
        browser.get("/console").await.assert_ok();
    }
    let fields = [
        ("csrf", csrf.as_str()),
        ("email", own),
        ("password", password),
        ("money", "yes"),
    ];
    let answer = browser.post("/console/account/delete", &fields).await;
    assert_sent_to(&answer, "/console/sign-in?done=deleted");
    assert!(
        world
            .app
            .store
            .account_by_email("mtu@example.com")
            .await
            .unwrap()
            .is_none()
    );
}
