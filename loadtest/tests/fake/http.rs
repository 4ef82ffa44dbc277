//! Requests of the fake server, with a thread for each connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::shop::Answer;
use super::{World, now_ms, socket};

const PAY: &str = "/scan/v1/transaksi/create_snap_transaksi";

struct Request {
    method: String,
    path: String,
    token: String,
    body: Value,
}

/// Answers requests until the client disconnects, or passes the connection on as a websocket.
pub fn serve(world: &World, mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut read = Vec::new();
    while let Some((request, upgrade)) = next(&mut stream, &mut read) {
        if upgrade {
            return socket::serve(world, stream, read);
        }
        let Some(answer) = answer(world, &request) else { return };
        let (status, message, data) = match answer {
            Ok(data) => (200, "ok", data),
            Err((status, message)) => (status, message, Value::Null),
        };
        let body = json!({ "status": status, "message": message, "data": data }).to_string();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

/// `None`: it is done, and no answer is sent.
fn answer(world: &World, request: &Request) -> Option<Answer> {
    let faults = &world.faults;
    let customer = request.token.strip_prefix("token-").and_then(|id| id.parse().ok()).unwrap_or(0);
    let path = request.path.split('?').next().unwrap_or_default();
    if path == PAY {
        return pay(world, customer, &request.body);
    }
    let shop = &mut world.state().shop;
    Some(match (request.method.as_str(), path) {
        ("GET", "/readyz") => Ok(Value::Null),
        ("POST", "/scan/v1/auth/request_otp") => shop.request_code(faults),
        ("POST", path) if path.starts_with("/ops/v1/") && request.token == "root" => {
            shop.ops(path.trim_start_matches("/ops/v1/"), &request.body, faults)
        }
        ("POST", path) if path.starts_with("/ops/v1/") => Err((401, "kunci tidak dikenal")),
        ("GET", "/dev/whatsapp") => Ok(if faults.no_code { json!([]) } else { json!([{ "code": "000000" }]) }),
        ("POST", "/scan/v1/auth/register") => shop.register(&request.body),
        ("POST", "/scan/v1/transaksi/get_layanan") => shop.service(&request.body),
        ("POST", "/scan/v1/transaksi/list_history") => shop.history(customer),
        ("GET", "/scan/v1/dashboard/get_user_epayment_by_id_customer_global") => shop.accounts(customer, faults),
        ("GET", path) if path.starts_with("/scan/v1/transaksi/get_epayment/") => shop.accounts(customer, faults),
        _ => Err((404, "alamat tidak ditemukan")),
    })
}

fn pay(world: &World, customer: i64, body: &Value) -> Option<Answer> {
    std::thread::sleep(Duration::from_millis(world.faults.pay_ms));
    let answer = world.state().shop.pay(customer, body, &world.faults, now_ms());
    world.changed.notify_one();
    answer
}

/// Reads the next request, and whether it asks for a websocket.
fn next(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<(Request, bool)> {
    let end = loop {
        match read.windows(4).position(|w| w == b"\r\n\r\n") {
            Some(at) => break at + 4,
            None => more(stream, read)?,
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let header = |name: &str| {
        let pair = head.lines().filter_map(|l| l.split_once(':')).find(|(n, _)| n.eq_ignore_ascii_case(name));
        pair.map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let length: usize = header("content-length").parse().unwrap_or(0);
    while read.len() < end + length {
        more(stream, read)?;
    }
    let body = serde_json::from_slice(&read[end..end + length]).unwrap_or(Value::Null);
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let token = header("authorization").trim_start_matches("Bearer ").to_owned();
    let upgrade = header("upgrade").eq_ignore_ascii_case("websocket");
    read.drain(..end + length);
    Some((Request { method, path, token, body }, upgrade))
}

/// Reads what the client sends next; `None` when it has disconnected.
pub fn more(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<()> {
    let mut bytes = [0; 4096];
    let n = stream.read(&mut bytes).ok().filter(|n| *n > 0)?;
    read.extend_from_slice(&bytes[..n]);
    Some(())
}
