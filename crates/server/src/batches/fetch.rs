//! A recording from a URL: fetched into a file without a name, within bounds. Redirects are not followed: they could
//! lead anywhere.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use axum::http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use sauti_service::ServiceError;
use sauti_service::outbound::{Connector, target_and_host};
use sauti_service::transcribing::{Spool, Upload};

use super::item::Stop;

/// To connect and get an answer; and between two pieces of the body.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
const PIECE_TIME_MAX: Duration = Duration::from_secs(30);
const TIME_MAX: Duration = Duration::from_secs(900);

pub async fn fetch(
    connector: &Connector,
    url: &str,
    bytes_max: u64,
    spool_dir: &Path,
) -> Result<Upload, Stop> {
    let fetched = tokio::time::timeout(TIME_MAX, try_fetch(connector, url, bytes_max, spool_dir));
    match fetched.await.context("took too long") {
        Ok(Ok(upload)) => Ok(upload),
        Ok(Err(error)) | Err(error) => Err(Stop::Again(ServiceError::RecordingUnreachable(
            error.to_string(),
        ))),
    }
}

async fn try_fetch(
    connector: &Connector,
    url: &str,
    bytes_max: u64,
    spool_dir: &Path,
) -> anyhow::Result<Upload> {
    let uri: Uri = url.parse().context("the URL is not one")?;
    let answer = tokio::time::timeout(ANSWER_TIME_MAX, ask(connector, &uri));
    let answer = answer.await.context("no answer in time")??;
    if answer.status().as_u16() != 200 {
        bail!("the host answered {}", answer.status().as_u16());
    }
    let length = answer.headers().get(CONTENT_LENGTH);
    let length: Option<u64> = length.and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|bytes| bytes > bytes_max) {
        bail!("it has more than {bytes_max} bytes");
    }
    let content_type = answer.headers().get(CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let mut spool = Spool::new(spool_dir, bytes_max);
    let mut body = answer.into_body();
    while let Some(frame) = tokio::time::timeout(PIECE_TIME_MAX, body.frame())
        .await
        .context("the host stopped sending")?
    {
        let Ok(piece) = frame.context("the connection broke off")?.into_data() else {
            continue;
        };
        spool.add(&piece).await?;
    }
    if length.is_some_and(|bytes| bytes != spool.bytes()) {
        bail!("the connection broke off");
    }
    Ok(spool.finish(content_type.as_deref()).await?)
}

async fn ask(connector: &Connector, uri: &Uri) -> anyhow::Result<Response<Incoming>> {
    let (target, host) = target_and_host(uri)?;
    let request = Request::get(target)
        .header(HOST, host)
        .header(ACCEPT, "audio/*, */*;q=0.1")
        .header(USER_AGENT, concat!("Sauti/", env!("CARGO_PKG_VERSION")))
        .body(Full::default())?;
    connector.ask(uri, request).await
}
