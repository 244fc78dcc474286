//! What is known of a request from its first line on, and what its handler leaves for the answer.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use sauti_service::config::Network;
use sauti_service::ratelimit::RateStatus;
use sauti_store::WorkspaceId;
use uuid::Uuid;

use super::deadline::Deadline;
use super::key_in_address::has_key;
use super::language::Language;

pub const REQUEST_ID: &str = "x-request-id";
/// For a request that came past the layer that knows the settings.
const TIME_UNKNOWN: Duration = Duration::from_secs(120);

/// Cheap to clone; the same one for the layers, the handler and the answer.
#[derive(Debug, Clone)]
pub struct Context(Arc<RequestFacts>);

#[derive(Debug)]
struct RequestFacts {
    request_id: HeaderValue,
    language: Language,
    path: String,
    client: IpAddr,
    deadline: Deadline,
    rate: OnceLock<RateStatus>,
    workspace_id: OnceLock<String>,
}

impl Context {
    pub fn new(request: &Request, trusted_proxies: &[Network], deadline: Deadline) -> Context {
        Context(Arc::new(RequestFacts {
            request_id: request_id(request.headers()),
            language: Language::of(request.headers()),
            // An address with a key in it is not repeated.
            path: match has_key(request.uri().path()) {
                true => "/".to_owned(),
                false => request.uri().path().to_owned(),
            },
            client: client_address(request, trusted_proxies),
            deadline,
            rate: OnceLock::new(),
            workspace_id: OnceLock::new(),
        }))
    }

    pub fn request_id(&self) -> &str {
        self.0.request_id.to_str().unwrap_or_default()
    }

    pub fn request_id_header(&self) -> HeaderValue {
        self.0.request_id.clone()
    }

    pub fn language(&self) -> Language {
        self.0.language
    }

    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The caller's address, seen through the proxies that are trusted.
    pub fn client(&self) -> IpAddr {
        self.0.client
    }

    pub fn deadline(&self) -> &Deadline {
        &self.0.deadline
    }

    pub fn rate(&self) -> Option<&RateStatus> {
        self.0.rate.get()
    }

    pub fn set_rate(&self, status: RateStatus) {
        self.0.rate.set(status).ok();
    }

    pub fn workspace_id(&self) -> Option<&str> {
        self.0.workspace_id.get().map(String::as_str)
    }

    pub fn set_workspace_id(&self, workspace_id: &WorkspaceId) {
        self.0.workspace_id.set(workspace_id.to_string()).ok();
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Context {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Context, Infallible> {
        let known = parts.extensions.get::<Context>().cloned();
        Ok(known.unwrap_or_else(|| {
            let mut request = Request::new(axum::body::Body::empty());
            *request.uri_mut() = parts.uri.clone();
            *request.headers_mut() = parts.headers.clone();
            Context::new(&request, &[], Deadline::new(TIME_UNKNOWN, TIME_UNKNOWN))
        }))
    }
}

/// The caller's own id where it is short and plain, so that it can be found again in both logs.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let plain = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        let fits = (1..=128).contains(&bytes.len());
        fits && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(b))
    };
    if let Some(given) = headers.get(REQUEST_ID).filter(plain) {
        return given.clone();
    }
    let mut buffer = [0; uuid::fmt::Simple::LENGTH + 4];
    buffer[..4].copy_from_slice(b"req_");
    Uuid::now_v7().simple().encode_lower(&mut buffer[4..]);
    HeaderValue::from_bytes(&buffer).unwrap_or(HeaderValue::from_static("req_unknown"))
}

/// Walks X-Forwarded-For from the right for as long as the hop is a proxy we trust.
fn client_address(request: &Request, trusted: &[Network]) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let mut address = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| info.0.ip());
    if trusted.is_empty() {
        return address;
    }
    let forwarded = request.headers().get_all("x-forwarded-for");
    let hops: Vec<&str> = forwarded
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    for hop in hops.iter().rev().take(16) {
        if !trusted.iter().any(|network| network.contains(address)) {
            break;
        }
        match hop.trim().parse() {
            Ok(parsed) => address = parsed,
            Err(_) => break,
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(peer: &str, forwarded: &str, trusted: &[Network]) -> String {
        let mut request = Request::new(axum::body::Body::empty());
        let peer: SocketAddr = peer.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        request
            .headers_mut()
            .insert("x-forwarded-for", forwarded.parse().unwrap());
        client_address(&request, trusted).to_string()
    }

    #[test]
    fn a_forwarded_address_is_believed_only_from_a_trusted_proxy() {
        let trusted: Vec<Network> = vec!["10.0.0.0/8".parse().unwrap()];
        assert_eq!(
            from("10.0.0.1:1", "6.6.6.6, 41.0.0.9", &trusted),
            "41.0.0.9"
        );
        assert_eq!(
            from("10.0.0.1:1", "41.0.0.9, 10.0.0.2", &trusted),
            "41.0.0.9"
        );
        assert_eq!(from("41.0.0.1:1", "6.6.6.6", &trusted), "41.0.0.1");
        assert_eq!(from("10.0.0.1:1", "6.6.6.6", &[]), "10.0.0.1");
    }

    #[test]
    fn a_strange_request_id_is_replaced() {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, "order-17".parse().unwrap());
        assert_eq!(request_id(&headers), "order-17");
        headers.insert(REQUEST_ID, "a b<script>".parse().unwrap());
        assert!(request_id(&headers).to_str().unwrap().starts_with("req_"));
    }
}
