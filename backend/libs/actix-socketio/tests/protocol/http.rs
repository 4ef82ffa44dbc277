//! Raw HTTP/1.1 requests.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use crate::server::{PATIENCE, Server};

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// An open request on its own connection.
pub struct PendingAnswer(pub TcpStream);

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// A client whose kernel buffers few bytes until the client reads.
pub fn narrow(address: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(2048).unwrap();
    socket.connect(&address.into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

impl PendingAnswer {
    pub fn send(address: SocketAddr, head: &str, body: &[u8]) -> Self {
        let mut stream = connect(address);
        let request = format!("{head}\r\nHost: {address}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        stream.write_all(request.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        Self(stream)
    }

    pub fn answer(mut self) -> Answer {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole answer");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.into(), body: body.into() }
    }
}

/// A session on polling.
pub struct Polling {
    address: SocketAddr,
    path: String,
    pub sid: String,
}

pub fn get(address: SocketAddr, target: &str) -> Answer {
    get_with(address, target, "")
}

/// `more` is a further header line.
pub fn get_with(address: SocketAddr, target: &str, more: &str) -> Answer {
    let more = if more.is_empty() { String::new() } else { format!("\r\n{more}") };
    PendingAnswer::send(address, &format!("GET {target} HTTP/1.1{more}"), b"").answer()
}

/// The JSON of a handshake packet.
pub fn handshake(packet: &str) -> serde_json::Value {
    serde_json::from_str(packet.strip_prefix('0').expect("a handshake packet")).unwrap()
}

impl Polling {
    /// Opens a session at `/engine.io/` or `/socket.io/`.
    pub fn open(server: &Server, path: &str) -> Self {
        let path = format!("{path}?EIO=4&transport=polling");
        let answer = get(server.address, &path);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let sid = handshake(&answer.body)["sid"].as_str().unwrap().to_string();
        Self { address: server.address, path, sid }
    }

    /// Opens a session and joins the main namespace.
    pub fn joined(server: &Server) -> Self {
        let session = Self::open(server, "/socket.io/");
        assert_eq!(session.post("40").status, 200);
        let mut packets = String::new();
        while !packets.contains("42[\"auth\"") {
            packets.push_str(&session.get().body);
        }
        session
    }

    fn target(&self) -> String {
        format!("{}&sid={}", self.path, self.sid)
    }

    pub fn begin_get(&self) -> PendingAnswer {
        PendingAnswer::send(self.address, &format!("GET {} HTTP/1.1", self.target()), b"")
    }

    pub fn get(&self) -> Answer {
        self.begin_get().answer()
    }

    pub fn post(&self, body: impl AsRef<[u8]>) -> Answer {
        PendingAnswer::send(self.address, &format!("POST {} HTTP/1.1", self.target()), body.as_ref()).answer()
    }

    /// A POST whose length is greater than the sent body.
    pub fn begin_post(&self, body: &str, announced: usize) -> PendingAnswer {
        let mut stream = connect(self.address);
        let head = format!("POST {} HTTP/1.1\r\nHost: {}\r\n", self.target(), self.address);
        let request = format!("{head}Content-Length: {announced}\r\nConnection: close\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        PendingAnswer(stream)
    }

    /// The query of a websocket for this session.
    pub fn upgrade_target(&self) -> String {
        self.target().replace("transport=polling", "transport=websocket")
    }
}
