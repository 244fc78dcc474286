//! The server on a socket of its own: what in-process requests cannot show.

use std::net::SocketAddr;
use std::time::Duration;

use sauti_server::http;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::{SPEECH, World};
use crate::with_models::ready_world;

pub struct Running {
    pub address: SocketAddr,
    pub stop: oneshot::Sender<()>,
    pub server: JoinHandle<anyhow::Result<()>>,
}

pub async fn serve(world: &World) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async move { drop(stopped.await) };
    let server = tokio::spawn(http::serve(world.app.clone(), listener, Box::pin(shutdown)));
    Running {
        address,
        stop,
        server,
    }
}

pub async fn read_head(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut buffer = [0; 4096];
        let read = tokio::time::timeout(Duration::from_secs(30), stream.read(&mut buffer))
            .await
            .unwrap()
            .unwrap();
        assert!(
            read > 0,
            "the connection was closed: {}",
            String::from_utf8_lossy(&answer)
        );
        answer.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_reaches_a_caller_who_is_still_sending() {
    let world = World::new().await;
    let running = serve(&world).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let bytes = 32 * 1024 * 1024;
    let head = format!(
        "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // A client that writes everything before it reads anything, as many do.
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..bytes / chunk.len() {
        stream.write_all(&chunk).await.unwrap();
    }
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 401 "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_outlives_a_refusal_that_came_before_a_small_body() {
    let world = World::new().await;
    let running = serve(&world).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let head = "POST /v1/quotes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 401 "));
    tokio::time::sleep(Duration::from_millis(100)).await;
    stream.write_all(&[b'x'; 20]).await.unwrap();
    let next = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(next).await.unwrap();
    assert!(read_head(&mut stream).await.contains("HTTP/1.1 200 "));
}

#[tokio::test(flavor = "multi_thread")]
async fn shutting_down_ends_the_server_and_closes_the_store() {
    let world = World::new().await;
    let running = serve(&world).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200 "));
    running.stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(60), running.server)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(TcpStream::connect(running.address).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_http_1_1_names_one_host() {
    let world = World::new().await;
    let running = serve(&world).await;
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "),
        (
            "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "HTTP/1.1 400 ",
        ),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 "),
        ("GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1.0 200 "),
    ] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = read_head(&mut stream).await;
        assert!(answer.starts_with(status), "{head}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_http_is_answered_and_harms_nobody() {
    let world = World::new().await;
    let running = serve(&world).await;
    let mut garbage = TcpStream::connect(running.address).await.unwrap();
    garbage
        .write_all(b"\x16\x03\x01 this is no request\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    garbage.read_to_end(&mut answer).await.ok();
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_body_comes_after_the_signal_to_end_is_answered() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let body = json!({"text": "Habari za leo.", "voice_id": "asha"}).to_string();
    let head = format!(
        "POST {SPEECH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        world.key,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    running.stop.send(()).unwrap();
    // Past the moment when connections without a request are closed.
    tokio::time::sleep(Duration::from_secs(1)).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let answer = read_head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(stream);
    running.server.await.unwrap().unwrap();
}
