//! One delivery: connect, send, and read no more than the status.

use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Request, Uri};
use sauti_store::ClaimedDelivery;
use sauti_store::ids::now_us;
use sha2::Sha256;

use crate::outbound::{Connector, target_and_host};

const TIME_MAX: Duration = Duration::from_secs(15);

pub(crate) struct Sender {
    connector: Connector,
}

impl Sender {
    pub(crate) fn new(allow_private: bool) -> Sender {
        Sender {
            connector: Connector::new(allow_private),
        }
    }

    pub(crate) async fn send(&self, delivery: &ClaimedDelivery) -> anyhow::Result<u16> {
        tokio::time::timeout(TIME_MAX, self.try_send(delivery))
            .await
            .context("took too long")?
    }

    async fn try_send(&self, delivery: &ClaimedDelivery) -> anyhow::Result<u16> {
        let uri: Uri = delivery
            .endpoint
            .url
            .parse()
            .context("the URL is not one")?;
        let request = signed_request(&uri, delivery)?;
        Ok(self.connector.ask(&uri, request).await?.status().as_u16())
    }
}

/// `Sauti-Signature: t=<seconds>,v1=<hex>`: HMAC-SHA256 over `<seconds>.<body>`.
fn signed_request(uri: &Uri, delivery: &ClaimedDelivery) -> anyhow::Result<Request<Full<Bytes>>> {
    let seconds = now_us() / 1_000_000;
    let signature = signature(
        delivery.endpoint.secret.as_bytes(),
        seconds,
        delivery.payload.as_bytes(),
    );
    let (target, host) = target_and_host(uri)?;
    Ok(Request::post(target)
        .header(HOST, host)
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, concat!("Sauti/", env!("CARGO_PKG_VERSION")))
        .header("Sauti-Event", &delivery.event_type)
        .header("Sauti-Event-Id", &delivery.event_id)
        .header("Sauti-Signature", format!("t={seconds},v1={signature}"))
        .body(Full::new(Bytes::from(delivery.payload.clone())))?)
}

pub fn signature(secret: &[u8], seconds: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length will do");
    mac.update(seconds.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    hex::encode(mac.finalize().into_bytes())
}
