//! Connections to addresses that customers choose: webhooks and recordings to fetch. The host is looked up once, addresses
//! inside are refused (SSRF), and the socket goes to exactly the address that was checked, whatever the name says a moment
//! later (DNS rebinding).

mod address;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use futures_util::future::BoxFuture;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, pki_types::ServerName};

use address::is_public;

/// Somebody waits for the answer.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(2);

/// Asks for the addresses of a host; tests answer in its place.
type Lookup = fn(String, u16) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>>;

pub struct Connector {
    allow_private: bool,
    lookup: Lookup,
    tls: TlsConnector,
}

/// A connection, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Connector {
    pub fn new(allow_private: bool) -> Connector {
        let mut roots = RootCertStore::empty();
        for certificate in rustls_native_certs::load_native_certs().certs {
            roots.add(certificate).ok();
        }
        let config = ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Connector {
            allow_private,
            lookup: |host, port| {
                Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
            },
            tls: TlsConnector::from(Arc::new(config)),
        }
    }

    async fn connect(&self, uri: &Uri) -> anyhow::Result<Box<dyn Stream>> {
        let host = uri.host().context("the URL has no host")?.to_owned();
        let secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let address = self.resolve(&host, port).await?;
        let stream = TcpStream::connect(address)
            .await
            .context("could not connect")?;
        if !secure {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
            .map_err(|_| anyhow!("the host has no name to check a certificate against"))?;
        let stream = self.tls.connect(name, stream).await.context("TLS failed")?;
        Ok(Box::new(stream))
    }

    /// Redirects are not followed: they could lead inside. Boxed, so that a client's HTTP is compiled once and here.
    pub fn ask<'a>(
        &'a self,
        uri: &'a Uri,
        request: Request<Full<Bytes>>,
    ) -> BoxFuture<'a, anyhow::Result<Response<Incoming>>> {
        Box::pin(async move {
            let stream = self.connect(uri).await?;
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
            // Ends with the body or when the answer is dropped.
            tokio::spawn(connection);
            sender.send_request(request).await.context("no answer")
        })
    }

    async fn resolve(&self, host: &str, port: u16) -> anyhow::Result<SocketAddr> {
        let host = host.trim_matches(['[', ']']).to_owned();
        let found = (self.lookup)(host, port)
            .await
            .context("the host was not found")?;
        let allowed = |address: &&SocketAddr| self.allow_private || is_public(address.ip());
        match found.iter().find(allowed) {
            Some(address) => Ok(*address),
            None if found.is_empty() => bail!("the host has no address"),
            None => bail!("the host has only addresses that requests from here may not go to"),
        }
    }
}

/// Whether all addresses that the host of a URL has now are inside. A host without any may get one later.
pub(crate) async fn leads_inside(url: &str) -> bool {
    let uri: Option<Uri> = url.parse().ok();
    let Some(host) = uri.as_ref().and_then(Uri::host) else {
        return false;
    };
    let lookup = tokio::net::lookup_host((host.trim_matches(['[', ']']), 0));
    match tokio::time::timeout(LOOKUP_TIME_MAX, lookup).await {
        Ok(Ok(found)) => {
            let found: Vec<_> = found.collect();
            !found.is_empty() && !found.iter().any(|address| is_public(address.ip()))
        }
        _ => false,
    }
}

/// The target of a request line and the Host header. Names and passwords in a URL are not passed on.
pub fn target_and_host(uri: &Uri) -> anyhow::Result<(&str, &str)> {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let host = uri.authority().context("the URL has no host")?.as_str();
    Ok((target, host.rsplit('@').next().unwrap_or(host)))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn answering(allow_private: bool, lookup: Lookup) -> Connector {
        Connector {
            lookup,
            ..Connector::new(allow_private)
        }
    }

    #[tokio::test]
    async fn a_name_that_changes_its_address_after_the_check_is_not_asked_again() {
        static LOOKUPS: AtomicUsize = AtomicUsize::new(0);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // The second answer leads elsewhere: nothing listens there.
        let connector = answering(true, |_, port| {
            let nth = LOOKUPS.fetch_add(1, Ordering::SeqCst) as u8;
            Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1 + nth], port))]) })
        });
        let uri: Uri = format!("http://rebinding.example:{port}/").parse().unwrap();
        connector.connect(&uri).await.unwrap();
        assert_eq!(LOOKUPS.load(Ordering::SeqCst), 1);
        listener.accept().await.unwrap();
    }

    #[tokio::test]
    async fn of_mixed_answers_only_public_addresses_are_taken() {
        let connector = answering(false, |_, port| {
            let addresses = [[10, 0, 0, 1], [127, 0, 0, 1], [41, 90, 64, 1]];
            Box::pin(async move { Ok(addresses.map(|ip| SocketAddr::from((ip, port))).to_vec()) })
        });
        let taken = connector.resolve("mixed.example", 443).await.unwrap();
        assert_eq!(taken, SocketAddr::from(([41, 90, 64, 1], 443)));
    }

    #[tokio::test]
    async fn a_url_that_leads_inside_is_known_at_once() {
        for url in [
            "http://localhost/x",
            "https://10.1.2.3",
            "http://[::1]:9/x",
            "http://127.1/",
        ] {
            assert!(leads_inside(url).await, "{url}");
        }
        for url in [
            "https://41.90.64.1/x",
            "https://nobody.invalid/x",
            "nonsense",
        ] {
            assert!(!leads_inside(url).await, "{url}");
        }
    }

    #[tokio::test]
    async fn names_and_spellings_of_addresses_inside_are_refused() {
        let connector = Connector::new(false);
        for host in [
            "localhost",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "0",
            "0x7f.1",
            "127.1",
        ] {
            let uri: Uri = format!("http://{host}:9/").parse().unwrap();
            assert!(connector.connect(&uri).await.is_err(), "{host}");
        }
    }
}
