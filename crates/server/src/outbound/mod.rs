//! Connections to addresses that customers choose: webhooks and recordings to fetch. The host is looked up once, addresses
//! inside are refused, and the socket goes to exactly the address that was checked, whatever the name says a moment later.

mod address;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use axum::http::Uri;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, pki_types::ServerName};

use address::is_public;

pub struct Connector {
    allow_private: bool,
    tls: TlsConnector,
}

/// A connection, encrypted or not.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
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
            tls: TlsConnector::from(Arc::new(config)),
        }
    }

    pub async fn connect(&self, uri: &Uri) -> anyhow::Result<Box<dyn Stream>> {
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
            None => bail!("the host has only addresses that requests from here may not go to"),
        }
    }
}

/// The target of a request line and the Host header. Names and passwords in a URL are not passed on.
pub fn target_and_host(uri: &Uri) -> anyhow::Result<(&str, &str)> {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let host = uri.authority().context("the URL has no host")?.as_str();
    Ok((target, host.rsplit('@').next().unwrap_or(host)))
}
