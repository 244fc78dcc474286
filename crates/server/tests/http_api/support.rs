//! A small world for a test: a service of its own, a funded workspace and a key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use bytes::Bytes;
use sauti_server::http::router;
use sauti_server::routes::speech::AskedSpeech;
use sauti_service::app::App;
use sauti_service::cache::CachedSpeech;
use sauti_service::config::Config;
use sauti_service::lexicons::VersionedLexicon;
use sauti_store::ids::new_id;
use sauti_store::{AccountId, Environment, NewKey, Permission, Permissions, WorkspaceId};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;

pub const SPEECH: &str = "/v1/audio/speech";
pub const TRANSCRIPTIONS: &str = "/v1/audio/transcriptions";
pub const CREDIT_MICRO: i64 = 100_000_000;

pub struct World {
    pub app: App,
    pub router: Router,
    pub account_id: AccountId,
    pub workspace_id: WorkspaceId,
    pub key: String,
    pub dir: TempDir,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl World {
    pub async fn new() -> World {
        World::with(&[]).await
    }

    /// The engine knows its voices but has no weights: it never becomes ready, and what is in
    /// the cache is all that can be heard.
    pub async fn with(settings: &[(&str, &str)]) -> World {
        let dir = tempfile::tempdir().unwrap();
        let voices = dir.path().join("models/voices");
        std::fs::create_dir_all(&voices).unwrap();
        let catalogue = repository().join("models/voices/catalogue.json");
        std::fs::copy(catalogue, voices.join("catalogue.json")).unwrap();
        let models = dir.path().join("models");
        World::build(dir, &models, settings).await
    }

    pub async fn with_models(settings: &[(&str, &str)]) -> World {
        World::build(
            tempfile::tempdir().unwrap(),
            &repository().join("models"),
            settings,
        )
        .await
    }

    async fn build(dir: TempDir, models: &Path, settings: &[(&str, &str)]) -> World {
        let data = dir.path().join("data").display().to_string();
        let models = models.display().to_string();
        let mut all = vec![("data.dir", data.as_str()), ("models.dir", models.as_str())];
        // The same tests through a queue, where one is named; each world has a stream of its own.
        let nats = std::env::var("SAUTI_TEST_NATS_URL").unwrap_or_default();
        let stream = new_id("test_");
        all.extend([
            ("nats.url", nats.as_str()),
            ("nats.stream", stream.as_str()),
        ]);
        all.extend_from_slice(settings);
        let app = App::build(Config::with_overrides(&all).unwrap())
            .await
            .unwrap();
        let account = app
            .store
            .create_account("mtu@example.com", "not a hash", "Mtu")
            .await
            .unwrap();
        app.store.confirm_account_by_id(&account.id).await.unwrap();
        let workspace = app
            .store
            .create_workspace(Some(&account.id), "Kazi", "KES")
            .await
            .unwrap();
        app.store
            .credit(&workspace.id, CREDIT_MICRO, "test", "first")
            .await
            .unwrap();
        let mut world = World {
            router: router(app.clone(), Arc::default()),
            app,
            account_id: account.id,
            workspace_id: workspace.id,
            key: String::new(),
            dir,
        };
        world.key = world.key_with(Permissions::all()).await;
        world
    }

    pub fn new_key(&self) -> NewKey {
        NewKey {
            workspace_id: self.workspace_id.clone(),
            environment: Environment::Test,
            name: "a test".to_owned(),
            permissions: Permissions::all(),
            expires_us: None,
            spend_cap_micro: None,
            created_by: self.account_id.to_string(),
        }
    }

    pub async fn make_key(&self, new: NewKey) -> String {
        self.app
            .store
            .create_key(new)
            .await
            .unwrap()
            .key
            .reveal()
            .to_owned()
    }

    pub async fn key_with(&self, permissions: Permissions) -> String {
        self.make_key(NewKey {
            permissions,
            ..self.new_key()
        })
        .await
    }

    pub async fn key_for(&self, permission: Permission) -> String {
        self.key_with([permission].into_iter().collect()).await
    }

    pub async fn send(&self, mut request: Request<Body>) -> Answer {
        let host = axum::http::HeaderValue::from_static("test");
        request.headers_mut().entry("host").or_insert(host);
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    /// With the key that may do everything.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path).body(Body::empty()).unwrap())
            .await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, body, &[]).await
    }

    pub async fn post_with(&self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        let mut request = self
            .request(Method::POST, path)
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body.to_string())).unwrap())
            .await
    }

    pub fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "test")
            .header("authorization", format!("Bearer {}", self.key))
    }

    pub async fn balance_micro(&self) -> i64 {
        self.app
            .store
            .balance(&self.workspace_id)
            .await
            .unwrap()
            .available_micro
    }

    /// What a refused or abandoned request held goes back a moment later.
    pub async fn until_nothing_is_held(&self) {
        for _ in 0..600 {
            if self.app.store.open_reservations().await.unwrap() == 0 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("money is still on hold");
    }

    /// The ledger's own rules hold, and nothing is left on hold.
    pub async fn assert_ledger_is_sound(&self) {
        let report = self.app.store.check().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(self.app.store.open_reservations().await.unwrap(), 0);
    }

    /// Puts speech into the cache, as if it had been asked for before.
    pub fn remember_speech(&self, body: &Value, audio: &'static [u8]) {
        self.remember_speech_by(&VersionedLexicon::builtin(), body, audio);
    }

    /// The same, in a workspace with words of its own.
    pub fn remember_speech_by(
        &self,
        lexicon: &VersionedLexicon,
        body: &Value,
        audio: &'static [u8],
    ) {
        let voices = self.app.engine.voices();
        let config = &self.app.config;
        let asked = AskedSpeech::parse(body.to_string().as_bytes(), config, &voices).unwrap();
        let passage = asked.request.passage();
        let reader = &self.app.reader;
        let reading = reader.read(&config.limits, passage, lexicon).unwrap();
        let first = &reading.script.clauses[0].words[0];
        let words = [sauti_speech::Word {
            word: first.text.clone(),
            start: 0.0,
            end: 0.5,
            confidence: 1.0,
            ..Default::default()
        }];
        let audio = Bytes::from_static(audio);
        let speech = CachedSpeech::new(&reading.script, 0.5, &words, audio);
        let key = reading.key(Some(&self.workspace_id), &asked.request);
        self.app.cache.put(key, Arc::new(speech));
    }
}

/// A text that is said as it is written, in this many characters, its full stop included.
pub fn text_of(characters: usize) -> String {
    let text = "baba ".repeat(characters / 5);
    text.trim_end().to_owned()
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The one shape that every refusal has.
    #[track_caller]
    pub fn assert_problem(&self, status: u16, code: &str) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status.as_u16(), status, "{text}");
        assert_eq!(
            self.header("content-type"),
            "application/problem+json",
            "{text}"
        );
        let body = self.json();
        assert_eq!(body["code"], code, "{text}");
        assert_eq!(body["status"], status);
        assert_eq!(body["request_id"], self.header("x-request-id"));
        assert!(!self.header("x-request-id").is_empty());
        for field in ["type", "title", "detail", "instance"] {
            assert!(
                body[field].as_str().is_some_and(|value| !value.is_empty()),
                "{field}: {text}"
            );
        }
        assert!(body["errors"].is_array());
        assert_eq!(body["error"]["message"], body["detail"]);
        assert_eq!(body["error"]["code"], code);
        assert!(body["error"]["type"].is_string());
        assert!(body["error"].get("param").is_some());
        body
    }

    #[track_caller]
    pub fn assert_status(&self, status: u16) -> &Answer {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status.as_u16(), status, "{text}");
        self
    }

    #[track_caller]
    pub fn assert_ok(&self) -> &Answer {
        assert!(
            self.status.is_success(),
            "{} {}",
            self.status,
            String::from_utf8_lossy(&self.body)
        );
        self
    }
}

/// Name; file name and content type, for a file; bytes.
pub type Part<'a> = (&'a str, Option<(&'a str, &'a str)>, &'a [u8]);

/// A multipart form as clients send it.
pub fn multipart(parts: &[Part<'_>]) -> (String, Vec<u8>) {
    let boundary = "sautiboundary42";
    let mut body = Vec::new();
    for (name, file, bytes) in parts {
        body.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"").as_bytes(),
        );
        if let Some((file_name, content_type)) = file {
            body.extend_from_slice(
                format!("; filename=\"{file_name}\"\r\nContent-Type: {content_type}").as_bytes(),
            );
        }
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

impl World {
    pub async fn transcribe(&self, parts: &[Part<'_>]) -> Answer {
        self.transcribe_with(parts, &[]).await
    }

    pub async fn transcribe_with(&self, parts: &[Part<'_>], headers: &[(&str, &str)]) -> Answer {
        let (content_type, body) = multipart(parts);
        let mut request = self
            .request(Method::POST, TRANSCRIPTIONS)
            .header("content-type", content_type);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body)).unwrap()).await
    }
}

/// A WAV file of silence.
pub fn silent_wav(seconds: f64) -> Vec<u8> {
    let samples = vec![0.0; (seconds * 16_000.0) as usize];
    sauti_audio::encode(&samples, 16_000, sauti_audio::OutputFormat::Wav16000).unwrap()
}
