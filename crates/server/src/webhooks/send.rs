//! One delivery: look the host up, refuse addresses inside, connect to exactly the address that
//! was checked, send, and read no more than the status.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use axum::http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use axum::http::{Request, Uri};
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use sauti_store::ClaimedDelivery;
use sauti_store::ids::now_us;
use sha2::Sha256;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, pki_types::ServerName};

use super::address::is_public;

const TIME_MAX: Duration = Duration::from_secs(15);

pub struct Sender {
    allow_private: bool,
    tls: TlsConnector,
}

impl Sender {
    pub fn new(allow_private: bool) -> Sender {
        let mut roots = RootCertStore::empty();
        for certificate in rustls_native_certs::load_native_certs().certs {
            roots.add(certificate).ok();
        }
        let config = ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Sender {
            allow_private,
            tls: TlsConnector::from(Arc::new(config)),
        }
    }

    pub async fn send(&self, delivery: &ClaimedDelivery) -> anyhow::Result<u16> {
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
        let host = uri.host().context("the URL has no host")?.to_owned();
        let secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let address = self.resolve(&host, port).await?;
        let request = signed_request(&uri, delivery)?;
        // The socket goes to the address that was checked, whatever the name says a moment later.
        let stream = TcpStream::connect(address)
            .await
            .context("could not connect")?;
        if !secure {
            return exchange(stream, request).await;
        }
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
            .map_err(|_| anyhow!("the host has no name to check a certificate against"))?;
        exchange(
            self.tls.connect(name, stream).await.context("TLS failed")?,
            request,
        )
        .await
    }

    async fn resolve(&self, host: &str, port: u16) -> anyhow::Result<SocketAddr> {
        let host = host.trim_matches(['[', ']']);
        let found: Vec<_> = tokio::net::lookup_host((host, port))
            .await
            .context("the host was not found")?
            .collect();
        let allowed = |address: &&SocketAddr| self.allow_private || is_public(address.ip());
        match found.iter().find(allowed) {
            Some(address) => Ok(*address),
            None if found.is_empty() => bail!("the host has no address"),
            None => bail!("the host has only addresses that webhooks may not go to"),
        }
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
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let host = uri.authority().context("the URL has no host")?.as_str();
    // Names and passwords in a URL are not passed on.
    let host = host.rsplit('@').next().unwrap_or(host);
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
    mac.finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Redirects are not followed: they could lead inside.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> anyhow::Result<u16>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let answered = sender.send_request(request).await;
    connection.abort();
    Ok(answered.context("no answer")?.status().as_u16())
}
