//! Tests of the unchanged examples: each is built, started and used over websockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[path = "protocol/wire.rs"]
mod wire;

/// Maximum time that a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);

struct Example {
    process: Child,
    address: String,
}

impl Drop for Example {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `cargo test` builds the examples beside the tests.
fn run(name: &str) -> Example {
    let deps = std::env::current_exe().unwrap();
    let program = deps.parent().unwrap().parent().unwrap().join("examples").join(name);
    let mut process = Command::new(program).env("PORT", "0").stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
    Example { process, address: address.trim().into() }
}

fn connect(example: &Example) -> TcpStream {
    let stream = TcpStream::connect(&example.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn request(example: &Example, head: &str) -> String {
    let mut stream = connect(example);
    write!(stream, "{head} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", example.address).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

struct Client(BufReader<TcpStream>);

impl Client {
    /// Joins with `packet`; also returns the answer.
    fn join(example: &Example, packet: &str) -> (Self, String) {
        let mut stream = connect(example);
        let head = wire::upgrade_request(&example.address, "/socket.io/?EIO=4&transport=websocket", "");
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        let mut client = Self(reader);
        assert!(client.receive().starts_with("0{"));
        client.send(packet);
        let answer = client.receive();
        (client, answer)
    }

    fn send(&mut self, text: &str) {
        self.send_together(&[text]);
    }

    /// The server reads them at once.
    fn send_together(&mut self, texts: &[&str]) {
        let frames: Vec<u8> = texts.iter().flat_map(|text| wire::text_frame(text)).collect();
        self.0.get_mut().write_all(&frames).unwrap();
    }

    fn receive(&mut self) -> String {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        assert!(head[1] < 126, "the examples say little");
        let mut payload = vec![0; head[1].into()];
        self.0.read_exact(&mut payload).unwrap();
        if head[0] != 0x81 {
            return format!("{:#x}", head[0]);
        }
        String::from_utf8(payload).unwrap()
    }
}

#[test]
fn chat() {
    let example = run("chat");
    assert!(request(&example, "GET /").contains("socket.emit(\"say\""));
    let (_, refused) = Client::join(&example, "40");
    assert_eq!(refused, r#"44{"message":"who are you?"}"#);
    let (mut siti, _) = Client::join(&example, r#"40{"name":"Siti"}"#);
    let (mut budi, _) = Client::join(&example, r#"40{"name":"Budi"}"#);
    assert_eq!(siti.receive(), r#"42["came","Budi"]"#);
    budi.send(r#"42["say","halo"]"#);
    assert_eq!(siti.receive(), r#"42["said",["Budi","halo"]]"#);
    assert_eq!(budi.receive(), r#"42["said",["Budi","halo"]]"#);
    drop(budi);
    assert_eq!(siti.receive(), r#"42["went","Budi"]"#);
}

#[test]
fn rooms() {
    let example = run("rooms");
    let (mut a, _) = Client::join(&example, "40");
    let (mut b, _) = Client::join(&example, "40");
    for client in [&mut a, &mut b] {
        client.send(r#"421["watch",7]"#);
        assert_eq!(client.receive(), "431[null]");
    }
    b.send(r#"422["watch","seven"]"#);
    assert_eq!(b.receive(), r#"432["watch or leave, and a machine's number"]"#);
    assert!(request(&example, "POST /machines/7/42").starts_with("HTTP/1.1 204"));
    for client in [&mut a, &mut b] {
        assert_eq!(client.receive(), r#"42["at",[7,42]]"#);
    }
    a.send(r#"423["leave",7]"#);
    assert_eq!(a.receive(), "433[null]");
    let watching = request(&example, "GET /machines/7");
    assert_eq!(watching.lines().last().unwrap().split(',').count(), 1, "{watching}");
    request(&example, "POST /machines/7/43");
    assert_eq!(b.receive(), r#"42["at",[7,43]]"#);
}

#[test]
fn auth() {
    let example = run("auth");
    for (packet, refused) in [
        ("40", r#"44{"message":"send auth: { token }"}"#),
        (r#"40{"token":"guessed"}"#, r#"44{"message":"unauthorized"}"#),
        (r#"40/staff,{"token":"token of siti"}"#, r#"44/staff,{"message":"Invalid namespace"}"#),
    ] {
        assert_eq!(Client::join(&example, packet).1, refused);
    }
    let (mut rina, _) = Client::join(&example, r#"40/staff,{"token":"token of rina"}"#);
    assert_eq!(rina.receive(), r#"42/staff,["welcome","rina"]"#);
    let (mut first, _) = Client::join(&example, r#"40{"token":"token of siti"}"#);
    assert_eq!(first.receive(), r#"42["welcome","siti"]"#);
    first.send(r#"421["who am i"]"#);
    assert_eq!(first.receive(), r#"431["siti"]"#);
    let (mut second, _) = Client::join(&example, r#"40{"token":"token of siti"}"#);
    assert_eq!(first.receive(), "0x88", "a close frame");
    assert_eq!(second.receive(), r#"42["welcome","siti"]"#);
}

#[test]
fn ack() {
    let example = run("ack");
    let (mut client, _) = Client::join(&example, "40");
    client.send_together(&[r#"427["add slowly",20,3]"#, r#"428["add",2,3]"#]);
    assert_eq!(client.receive(), "438[5]");
    assert_eq!(client.receive(), "437[23]");
    client.send(r#"429["multiply",2,3]"#);
    assert_eq!(client.receive(), r#"439["add, add slowly, or quiz me"]"#);
    client.send(r#"42["quiz me"]"#);
    assert_eq!(client.receive(), r#"420["how much is",[6,7]]"#);
    client.send("430[42]");
    assert_eq!(client.receive(), r#"42["verdict","right"]"#);
}
