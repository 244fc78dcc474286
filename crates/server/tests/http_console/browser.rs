//! A browser as far as these tests need one: cookies, forms and redirects that are not followed.

use sauti_store::AccountId;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use secrecy::ExposeSecret;

use crate::support::{Answer, World};

pub const PAGES: &[&str] = &[
    "/console",
    "/console/transcribe",
    "/console/voices",
    "/console/pronunciations",
    "/console/vocabularies",
    "/console/keys",
    "/console/usage",
    "/console/money",
    "/console/members",
    "/console/webhooks",
    "/console/account",
];

/// Every form of someone signed in.
pub const FORMS: &[&str] = &[
    "/console/sign-out",
    "/console/account/sign-out-everywhere",
    "/console/account/password",
    "/console/account/name",
    "/console/account/resend",
    "/console/account/delete",
    "/console/workspace/new",
    "/console/workspace/switch",
    "/console/workspace/name",
    "/console/workspace/alert",
    "/console/members/cancel-invite",
    "/console/invite",
    "/console/operator/credit",
    "/console/operator/confirm",
];

pub struct Browser<'a> {
    pub world: &'a World,
    pub cookies: Vec<String>,
    pub language: &'static str,
}

impl<'a> Browser<'a> {
    pub fn new(world: &'a World) -> Browser<'a> {
        Browser {
            world,
            cookies: Vec::new(),
            language: "en",
        }
    }

    /// Signed in as this account, without the form.
    pub async fn signed_in(world: &'a World, account_id: &AccountId) -> Browser<'a> {
        let lifetime = Duration::from_secs(3_600);
        let issued = world
            .app
            .store
            .create_session(account_id, lifetime, "a test")
            .await
            .unwrap();
        let mut browser = Browser::new(world);
        let token = issued.token.expose_secret();
        browser.cookies.push(format!("sauti_session={token}"));
        browser
    }

    pub async fn get(&self, path: &str) -> Answer {
        let request = Request::get(path)
            .header("cookie", self.cookies.join("; "))
            .header("accept-language", self.language);
        self.world.send(request.body(Body::empty()).unwrap()).await
    }

    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.post_with(path, fields, &[("sec-fetch-site", "same-origin")])
            .await
    }

    pub async fn post_with(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Answer {
        let encode = |text: &str| {
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
                .to_string()
        };
        let body: Vec<_> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
            .collect();
        let mut request = Request::post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("cookie", self.cookies.join("; "))
            .header("accept-language", self.language);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = self
            .world
            .send(request.body(Body::from(body.join("&"))).unwrap())
            .await;
        self.keep_cookies(&answer);
        answer
    }

    fn keep_cookies(&mut self, answer: &Answer) {
        for cookie in answer.headers.get_all("set-cookie") {
            let pair = cookie
                .to_str()
                .unwrap()
                .split(';')
                .next()
                .unwrap()
                .to_owned();
            let name = format!("{}=", pair.split('=').next().unwrap());
            self.cookies.retain(|kept| !kept.starts_with(&name));
            if !pair.ends_with('=') {
                self.cookies.push(pair);
            }
        }
    }

    /// The token that stands in the pages of this session.
    pub async fn csrf(&self) -> String {
        let html = text(&self.get("/console").await);
        let start = html.find("data-csrf=\"").expect("a signed-in page") + "data-csrf=\"".len();
        html[start..].chars().take_while(|c| *c != '"').collect()
    }
}

pub fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.to_vec()).unwrap()
}

/// Status 303 and where to.
#[track_caller]
pub fn assert_sent_to(answer: &Answer, path: &str) {
    assert_eq!(answer.status.as_u16(), 303, "{}", text(answer));
    assert_eq!(answer.header("location"), path);
}
