//! Connection settings, as the kernel reports them for the server's sockets.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use actix_web::rt::net::TcpStream as AsyncStream;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::realtime::phone::Phone;
use crate::support::helpers::{Setup, TestApp};

/// The state of a listening socket, as the kernel numbers states.
const LISTEN: u8 = 10;

/// How many connections may wait at the listening `port`: what `ss -ltn` shows as its Send-Q (sock_diag(7)).
fn backlog_of(port: u16) -> u32 {
    const BY_FAMILY: u16 = 20;
    const REQUEST_ALL: u16 = 0x301;
    const DONE: u16 = 3;
    const TCP: u8 = 6;
    const QUESTION_BYTES: u32 = 72;
    let mut question = Vec::new();
    question.extend(QUESTION_BYTES.to_ne_bytes());
    question.extend([BY_FAMILY, REQUEST_ALL].map(u16::to_ne_bytes).concat());
    question.extend([0; 8]);
    question.extend([AddressFamily::Inet as u8, TCP, 0, 0]);
    question.extend((1_u32 << LISTEN).to_ne_bytes());
    question.extend(port.to_be_bytes());
    question.resize(QUESTION_BYTES as usize, 0);
    let kernel =
        socket(AddressFamily::Netlink, SockType::Datagram, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkSockDiag).unwrap();
    send(kernel.as_raw_fd(), &question, MsgFlags::empty()).unwrap();
    let mut bytes = [0; 32 * 1024];
    loop {
        let read = recv(kernel.as_raw_fd(), &mut bytes, MsgFlags::empty()).unwrap();
        let mut rest = &bytes[..read];
        while !rest.is_empty() {
            let length = u32::from_ne_bytes(rest[..4].try_into().unwrap()) as usize;
            let kind = u16::from_ne_bytes(rest[4..6].try_into().unwrap());
            assert_ne!(kind, DONE, "nobody listens on {port}");
            let listener = &rest[16..length];
            if kind == BY_FAMILY && listener[1] == LISTEN && listener[4..6] == port.to_be_bytes() {
                return u32::from_ne_bytes(listener[60..64].try_into().unwrap());
            }
            rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        }
    }
}

fn port(app: &TestApp) -> u16 {
    app.address().parse::<SocketAddr>().unwrap().port()
}

#[actix_web::test]
async fn as_many_connections_may_wait_as_the_setting_says() {
    let (app, small) = (TestApp::spawn().await, Setup::new().with(|c| c.http.backlog = 17).start().await);
    let somaxconn = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    assert_eq!(backlog_of(port(&app)), 4_096.min(somaxconn.trim().parse().unwrap()));
    assert_eq!(backlog_of(port(&small)), 17);
}

/// Whether the server, in this process, sends its writes to `client` immediately (TCP_NODELAY).
#[allow(unsafe_code)]
fn sends_at_once(client: SocketAddr) -> bool {
    let fds = std::fs::read_dir("/proc/self/fd").unwrap();
    let fds = fds.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<RawFd>().ok());
    // SAFETY: the descriptors are only passed to getpeername and getsockopt, which return an error for a number that is no open socket.
    // The one that is wanted stays open as long as its client does.
    let mut fds = fds.map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
    let is_peer = |fd: &BorrowedFd<'_>| SockRef::from(fd).peer_addr().is_ok_and(|peer| peer.as_socket() == Some(client));
    SockRef::from(&fds.find(is_peer).expect("an accepted connection")).tcp_nodelay().unwrap()
}

/// The second response on a kept-alive connection may be sent in several parts, and the client may acknowledge the first part late.
#[actix_web::test]
async fn no_answer_waits_for_the_acknowledgement_of_its_first_part() {
    let app = TestApp::spawn().await;
    let mut client = AsyncStream::connect(app.address()).await.unwrap();
    let address = client.local_addr().unwrap();
    let request = format!("GET /openapi.json HTTP/1.1\r\nHost: {}\r\n\r\n", app.address());
    let body = nyala::app::openapi::document().unwrap();
    for _ in 0..2 {
        client.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(body.as_bytes()) {
            assert!(client.read_buf(&mut answer).await.unwrap() > 0, "kept alive");
        }
        assert!(answer.starts_with(b"HTTP/1.1 200 "));
        assert!(sends_at_once(address));
    }
}

#[actix_web::test]
async fn no_tick_waits_for_the_acknowledgement_of_the_one_before() {
    let app = Setup::new().with(|c| c.http.workers = 2).start().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let phone = Phone::join(&app, &siti.token).await;
    assert!(sends_at_once(phone.stream.local_addr().unwrap()));
}

/// A connection that the server closed first stays in TIME_WAIT, which must not delay a restart.
#[actix_web::test]
async fn a_port_is_free_as_soon_as_its_server_is_gone() {
    let bind = |port: u16| {
        let mut config = Setup::new().config();
        config.http.port = port;
        nyala::app::server::bind(&config).unwrap()
    };
    let listener = bind(0);
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    drop((listener.accept().unwrap(), listener));
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "closed by the server");
    drop(client);
    assert_eq!(bind(address.port()).local_addr().unwrap(), address);
}
