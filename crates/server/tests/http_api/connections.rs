//! Connections that are held for nothing: each is closed by its own clock, and none keeps others out.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::real_port::{read_head, serve};
use crate::support::World;

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

/// Connects and sends these bytes.
async fn send(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// What comes until the other side closes.
async fn until_closed(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    // A reset is a close too.
    tokio::time::timeout(Duration::from_secs(60), read)
        .await
        .expect("it is never closed")
        .ok();
    String::from_utf8_lossy(&answer).into_owned()
}

/// How many are open by the service's own figures, the one that asks included.
async fn open(address: SocketAddr) -> usize {
    let ask = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let figures = until_closed(&mut send(address, ask).await).await;
    let states = figures
        .lines()
        .filter(|line| line.starts_with("sauti_connections{"));
    states
        .map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
        .sum()
}

async fn until_open(address: SocketAddr, wanted: usize) {
    for _ in 0..3_000 {
        if open(address).await == wanted + 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} are still open", open(address).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sends_no_whole_request_is_closed() {
    let world = World::with(&[("server.header_timeout_s", "1")]).await;
    let running = serve(&world).await;
    let starts: [&[u8]; 4] = [
        b"",
        b"PRI * HTTP/2.0\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: ",
        // HTTP/2 with its settings, and never a request.
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ];
    for start in starts {
        let mut stream = send(running.address, start).await;
        let answer = until_closed(&mut stream).await;
        assert!(!answer.contains("200"), "{answer}");
    }
    until_open(running.address, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_is_closed_after_its_answer() {
    let world = World::with(&[("server.idle_timeout_s", "1")]).await;
    let running = serve(&world).await;
    let mut stream = send(running.address, HEALTH).await;
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200 "));
    until_closed(&mut stream).await;
    until_open(running.address, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_beyond_the_limit_keep_nobody_out() {
    let world = World::with(&[
        ("server.connections_max", "16"),
        ("server.connections_reserved", "0"),
    ])
    .await;
    let running = serve(&world).await;
    let mut silent = Vec::new();
    for _ in 0..60 {
        silent.push(send(running.address, b"").await);
    }
    let mut stream = send(running.address, HEALTH).await;
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200 "));
    // The first made room for the last, long before its own time was up.
    until_closed(&mut silent[0]).await;
    assert!(open(running.address).await <= 16);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_pauses_for_too_long_is_told_so() {
    let world = World::with(&[("server.body_timeout_s", "1")]).await;
    let running = serve(&world).await;
    let head = format!(
        "POST /v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{\"text\":",
        world.key
    );
    let mut stream = send(running.address, head.as_bytes()).await;
    let answer = until_closed(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("request_timeout"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_read_the_answers_is_cut_off() {
    let world = World::with(&[
        ("server.write_timeout_s", "1"),
        ("server.idle_timeout_s", "3600"),
    ])
    .await;
    let running = serve(&world).await;
    let many = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000);
    // It may be cut off before all was sent.
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    until_open(running.address, 1).await;
    stream.write_all(&many).await.ok();
    until_open(running.address, 0).await;
}
