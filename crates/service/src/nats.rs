//! NATS JetStream, which carries the names of items to whichever process has a place free. It is a messenger and not a
//! record: an item is claimed, answered and paid in the database, so a message that comes twice does nothing and one that
//! is lost is sent again by a sweep. While it is away, the database is asked for work instead.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use async_nats::connection::State;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::{Context, GetStreamErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, AckKind, Message, stream};
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use sauti_store::{BatchId, ItemId};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};

use crate::config::Nats;
use crate::telemetry::metrics;

/// One for all processes: each message goes to one of them.
const CONSUMER: &str = "workers";
/// A message that nobody has said a word about for this long is given to another process.
const ACK_WAIT: Duration = Duration::from_secs(30);
/// More than a recording of two hours in the hands of another process can cost; then the sweep takes over.
const DELIVERIES_MAX: i64 = 500;
/// Pauses before a message comes again, longer each time.
const PAUSE: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(120);
/// How long a free place waits at the server before it asks again.
const PULL_TIME: Duration = Duration::from_secs(20);
const ANSWER_TIME_MAX: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_secs(3);
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);
/// The server knows the same message again for this long.
const KNOWN_AGAIN: Duration = Duration::from_secs(120);

/// Which item a message means, and where it stands in its batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemRef {
    pub item: ItemId,
    pub batch: BatchId,
    pub position: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueState {
    pub up: bool,
    /// Grows each time it comes back: what was sent before may be lost.
    pub returns: u64,
    /// Messages that nobody was given yet.
    pub pending: u64,
}

pub struct NatsQueue {
    jetstream: Context,
    subject: String,
    stream: stream::Config,
    consumer: Mutex<Option<Arc<PullConsumer>>>,
    standing: watch::Sender<QueueState>,
    news: Arc<ConnectionEvents>,
}

/// What the connection said last.
#[derive(Default)]
struct ConnectionEvents {
    stirred: Notify,
    complaint: Mutex<String>,
}

impl ConnectionEvents {
    fn take(&self, event: &Event) {
        match event {
            Event::ServerError(_) | Event::ClientError(_) => {
                *self.complaint.lock() = event.to_string();
            }
            Event::Connected => self.complaint.lock().clear(),
            _ => {}
        }
        self.stirred.notify_one();
    }
}

/// The servers and how to sign in there, or what is wrong with the settings.
pub fn options(settings: &Nats) -> anyhow::Result<Option<(Vec<ServerAddr>, ConnectOptions)>> {
    let Some(url) = &settings.url else {
        return Ok(None);
    };
    let servers = url.expose_secret().split(',').map(|server| {
        // The error of the parser may repeat the password.
        let server: Result<ServerAddr, _> = server.trim().parse();
        server.map_err(|_| anyhow!("nats.url is not the address of a server"))
    });
    let servers: Vec<_> = servers.collect::<Result<_, _>>()?;
    let mut options = ConnectOptions::new()
        .name("sauti")
        .retry_on_initial_connect()
        .connection_timeout(ANSWER_TIME_MAX)
        .request_timeout(Some(ANSWER_TIME_MAX))
        // A line that was cut without a word is noticed after two of these.
        .ping_interval(Duration::from_secs(5))
        .reconnect_delay_callback(|attempts| {
            Duration::from_millis(100 * attempts.clamp(1, 20) as u64)
        });
    let signed = servers
        .iter()
        .find_map(|server| Some((server.username()?, server.password())));
    options = match signed {
        Some((user, Some(password))) => options.user_and_password(plain(user)?, plain(password)?),
        Some((token, None)) => options.token(plain(token)?),
        None => options,
    };
    if let Some(file) = &settings.tls.ca_file {
        options = options.add_root_certificates(readable("nats.ca_file", file)?.to_owned());
    }
    if let (Some(certificate), Some(key)) = (&settings.tls.cert_file, &settings.tls.key_file) {
        options = options.add_client_certificate(
            readable("nats.cert_file", certificate)?.to_owned(),
            readable("nats.key_file", key)?.to_owned(),
        );
    }
    Ok(Some((servers, options)))
}

fn plain(escaped: &str) -> anyhow::Result<String> {
    let text = percent_decode_str(escaped).decode_utf8();
    Ok(text
        .context("nats.url: a name or password is not UTF-8")?
        .into_owned())
}

fn readable<'a>(key: &str, file: &'a Path) -> anyhow::Result<&'a Path> {
    std::fs::File::open(file).with_context(|| format!("{key}: cannot read {}", file.display()))?;
    Ok(file)
}

/// A client that connects in the background, and what it tells of its connection. `None` where no server is named.
async fn client(settings: &Nats) -> anyhow::Result<Option<(Client, Arc<ConnectionEvents>)>> {
    let Some((servers, options)) = options(settings)? else {
        return Ok(None);
    };
    let news = Arc::new(ConnectionEvents::default());
    let told = Arc::clone(&news);
    let options = options.event_callback(move |event| {
        told.take(&event);
        std::future::ready(())
    });
    let connected = options.connect(servers).await;
    let client = connected.context("nats.url cannot be used")?;
    Ok(Some((client, news)))
}

impl NatsQueue {
    /// Connects in the background: a service must start without it. `None` where no server is named.
    pub fn connect(settings: &Nats) -> BoxFuture<'_, anyhow::Result<Option<NatsQueue>>> {
        Box::pin(async move {
            let Some((client, news)) = client(settings).await? else {
                return Ok(None);
            };
            metrics::nats_up(false);
            Ok(Some(NatsQueue {
                jetstream: jetstream(client),
                subject: format!("{}.items", settings.stream),
                stream: stream_config(settings),
                consumer: Mutex::new(None),
                standing: watch::channel(QueueState::default()).0,
                news,
            }))
        })
    }

    pub fn standing(&self) -> QueueState {
        *self.standing.borrow()
    }

    /// Completes when it is, or is not, to be counted on.
    pub async fn until(&self, up: bool) {
        let mut standing = self.standing.subscribe();
        // The sender lives as long as we do.
        standing.wait_for(|now| now.up == up).await.ok();
    }

    /// Looks after the connection, the stream and the consumer for as long as the server runs.
    pub fn keep_forever(&self) -> BoxFuture<'_, Infallible> {
        Box::pin(async move {
            // The first word of the connection, or long enough without one.
            tokio::time::timeout(ANSWER_TIME_MAX, self.news.stirred.notified())
                .await
                .ok();
            let mut told = false;
            loop {
                match self.look().await {
                    Ok(pending) => {
                        if !self.standing().up {
                            metrics::nats_up(true);
                            tracing::info!("NATS answers: the items of batches go through it");
                        }
                        self.standing.send_modify(|now| {
                            now.returns += u64::from(!now.up);
                            (now.up, now.pending) = (true, pending);
                        });
                        told = true;
                    }
                    Err(why) => {
                        self.consumer.lock().take();
                        if self.standing().up || !told {
                            metrics::nats_up(false);
                            metrics::nats_failure("look");
                            let why = format!("{why:#}");
                            tracing::warn!(
                                why,
                                "NATS does not answer: the items of batches are taken from the database meanwhile"
                            );
                        }
                        self.standing.send_modify(|now| now.up = false);
                        told = true;
                    }
                }
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = self.news.stirred.notified() => {}
                }
            }
        })
    }

    /// How many messages wait. Makes the stream and the consumer where they are missing.
    async fn look(&self) -> anyhow::Result<u64> {
        let client = self.jetstream.client();
        if client.connection_state() != State::Connected {
            let complaint = self.news.complaint.lock().clone();
            return Err(match complaint.is_empty() {
                true => anyhow!("no connection"),
                false => anyhow!(complaint),
            });
        }
        let looked = async {
            let known = self.consumer.lock().clone();
            let consumer = match known {
                Some(consumer) => consumer,
                None => self.prepare().await?,
            };
            Ok(consumer.get_info().await?.num_pending)
        };
        let looked = tokio::time::timeout(2 * ANSWER_TIME_MAX, looked).await;
        looked.context("no answer in time")?
    }

    async fn prepare(&self) -> anyhow::Result<Arc<PullConsumer>> {
        let stream = self.jetstream.get_or_create_stream(self.stream.clone());
        let stream = stream.await.context("the stream")?;
        let replicas = stream.cached_info().config.num_replicas;
        if replicas != self.stream.num_replicas {
            let mut wanted = stream.cached_info().config.clone();
            wanted.num_replicas = self.stream.num_replicas;
            if let Err(error) = self.jetstream.update_stream(wanted).await {
                tracing::warn!(%error, replicas, "the stream keeps its number of replicas (nats.replicas)");
            }
        }
        let consumer = stream.get_or_create_consumer(CONSUMER, consumer_config());
        let consumer = Arc::new(consumer.await.context("the consumer")?);
        *self.consumer.lock() = Some(Arc::clone(&consumer));
        Ok(consumer)
    }

    /// Sends messages; they are in the stream when this returns. What the server knows again (by the item, and by `mark`
    /// where one is given) it does not take twice.
    pub async fn publish(&self, item_refs: &[ItemRef], mark: &str) -> anyhow::Result<()> {
        let sent = self.try_publish(item_refs, mark).await;
        if let Err(error) = &sent {
            metrics::nats_failure("publish");
            tracing::debug!(%error, "messages were not taken");
            self.news.stirred.notify_one();
        }
        sent
    }

    fn try_publish<'a>(
        &'a self,
        item_refs: &'a [ItemRef],
        mark: &'a str,
    ) -> BoxFuture<'a, anyhow::Result<()>> {
        Box::pin(async move {
            let mut taken = Vec::with_capacity(item_refs.len());
            for item_ref in item_refs {
                let message = PublishMessage::build()
                    .payload(serde_json::to_vec(item_ref)?.into())
                    .message_id(format!("{}{mark}", item_ref.item));
                taken.push(
                    self.jetstream
                        .send_publish(self.subject.clone(), message)
                        .await?,
                );
            }
            for taken in taken {
                taken.await?;
            }
            Ok(())
        })
    }

    /// The next message, as soon as there is one; `None` after a while, or when the server is away.
    pub fn pull(&self) -> BoxFuture<'_, Option<QueueMessage>> {
        Box::pin(async move {
            let consumer = self.consumer.lock().clone();
            let Some(consumer) = consumer else {
                tokio::time::sleep(PAUSE_AFTER_ERROR).await;
                return None;
            };
            let pulled = tokio::select! {
                pulled = pull_one(&consumer) => pulled,
                () = self.until(false) => Ok(None),
            };
            match pulled {
                Ok(message) => QueueMessage::of(message?).await,
                Err(error) => {
                    metrics::nats_failure("pull");
                    tracing::debug!(%error, "no message could be fetched");
                    self.news.stirred.notify_one();
                    tokio::time::sleep(PAUSE_AFTER_ERROR).await;
                    None
                }
            }
        })
    }
}

fn jetstream(client: Client) -> Context {
    let mut jetstream = jetstream::new(client);
    jetstream.set_timeout(ANSWER_TIME_MAX);
    jetstream
}

fn stream_config(settings: &Nats) -> stream::Config {
    stream::Config {
        name: settings.stream.clone(),
        description: Some("Items of Sauti's batches that wait for a worker".to_owned()),
        subjects: vec![format!("{}.items", settings.stream)],
        retention: stream::RetentionPolicy::WorkQueue,
        storage: stream::StorageType::File,
        num_replicas: settings.replicas,
        duplicate_window: KNOWN_AGAIN,
        ..stream::Config::default()
    }
}

fn consumer_config() -> pull::Config {
    pull::Config {
        durable_name: Some(CONSUMER.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_deliver: DELIVERIES_MAX,
        // Messages that rest between two attempts count too, and must not hold up the others.
        max_ack_pending: 100_000,
        max_waiting: 10_000,
        ..pull::Config::default()
    }
}

async fn pull_one(consumer: &PullConsumer) -> anyhow::Result<Option<Message>> {
    let asked = consumer
        .batch()
        .max_messages(1)
        .expires(PULL_TIME)
        .messages();
    let mut messages = asked.await?;
    // A little longer than the server waits: its word that there is nothing must have time to arrive.
    let next = tokio::time::timeout(PULL_TIME + ANSWER_TIME_MAX, messages.next());
    let next = next.await.context("no answer in time")?;
    next.transpose().map_err(|error| anyhow!(error))
}

/// A message in hand. One that is dropped without a word comes again at once, and not only after [`ACK_WAIT`].
pub struct QueueMessage {
    pub item_ref: ItemRef,
    deliveries: i64,
    message: Option<Message>,
}

impl QueueMessage {
    async fn of(message: Message) -> Option<QueueMessage> {
        let deliveries = message.info().map_or(1, |info| info.delivered);
        match serde_json::from_slice(&message.payload) {
            Ok(item_ref) => Some(QueueMessage {
                item_ref,
                deliveries,
                message: Some(message),
            }),
            Err(_) => {
                tracing::warn!("a message in the queue of items is not one of ours; it is dropped");
                message.ack_with(AckKind::Term).await.ok();
                None
            }
        }
    }

    /// Says again and again that the work goes on.
    pub fn beat_forever(&self) -> BoxFuture<'_, Infallible> {
        Box::pin(async move {
            loop {
                tokio::time::sleep(ACK_WAIT / 3).await;
                if let Some(message) = &self.message {
                    // What does not arrive is made good by the next beat; at worst the message goes to another process,
                    // which finds the item claimed.
                    message.ack_with(AckKind::Progress).await.ok();
                }
            }
        })
    }

    /// Nothing is left to do for the item.
    pub async fn done(mut self) {
        self.answer(AckKind::Ack).await;
    }

    /// The item is not over: the message comes again, later each time.
    pub async fn later(mut self) {
        let pause = PAUSE.saturating_mul(u32::try_from(self.deliveries).unwrap_or(1));
        let again = AckKind::Nak(Some(pause.min(PAUSE_MAX)));
        // After the last time a message would lie in the stream for ever.
        let last = self.deliveries >= DELIVERIES_MAX;
        self.answer(if last { AckKind::Term } else { again }).await;
    }

    fn answer(&mut self, kind: AckKind) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Some(message) = self.message.take() else {
                return;
            };
            if let Err(error) = message.ack_with(kind).await {
                metrics::nats_failure("answer");
                tracing::debug!(%error, item = %self.item_ref.item, "a message was not answered; it comes again");
            }
        })
    }
}

impl Drop for QueueMessage {
    fn drop(&mut self) {
        let (Some(message), Ok(runtime)) =
            (self.message.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        runtime.spawn(async move { message.ack_with(AckKind::Nak(Some(PAUSE))).await.ok() });
    }
}

/// For `sauti doctor`: signs in and asks whether there is JetStream.
pub fn examine(settings: &Nats) -> BoxFuture<'_, anyhow::Result<String>> {
    Box::pin(async move {
        let Some((client, news)) = client(settings).await? else {
            return Ok("none".to_owned());
        };
        for _ in 0..50 {
            if client.connection_state() == State::Connected {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        if client.connection_state() != State::Connected {
            let complaint = news.complaint.lock().clone();
            return Err(match complaint.is_empty() {
                true => anyhow!("no connection (nats.url)"),
                false => anyhow!("{complaint} (nats.url)"),
            });
        }
        let version = client.server_info().version;
        let found = jetstream(client).get_stream(&settings.stream).await;
        let stream = match found.map_err(|error| error.kind()) {
            Ok(stream) => format!("{} messages wait", stream.cached_info().state.messages),
            Err(GetStreamErrorKind::JetStream(error)) if error.code() == 404 => {
                format!("the stream {} is yet to be made", settings.stream)
            }
            Err(error) => anyhow::bail!(
                "NATS {version} answers, but JetStream does not; start it with -js: {error}"
            ),
        };
        Ok(format!("NATS {version} with JetStream, {stream}"))
    })
}
