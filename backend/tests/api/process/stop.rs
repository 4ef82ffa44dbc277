//! SIGTERM: requests in progress are answered, and the server waits for no idle connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use futures_util::future::join;
use nix::sys::signal::Signal;

use super::{LOOK_EVERY, Site};

/// `http.drain_s`: the duration of a stop that waits for idle connections.
const DRAIN: Duration = Duration::from_secs(20);

#[actix_web::test]
async fn a_stop_answers_running_requests_and_leaves_idle_connections() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(60).await;
    site.fault(&shop, "silent").await;
    // A browser keeps its connection for the next request, which never comes.
    let mut idle = TcpStream::connect(site.address()).unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    assert!(idle.read(&mut [0; 4096]).unwrap() > 0);
    let asked_to_stop = async {
        while site.states().await.is_empty() {
            sleep(LOOK_EVERY).await;
        }
        site.signal(Signal::SIGTERM);
        Instant::now()
    };
    let (answer, since) = join(site.buy(&shop), asked_to_stop).await;
    answer.unwrap().expect(504, "mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala");
    assert!(site.ended().await.success());
    assert!(since.elapsed() < DRAIN, "it waited for the idle connection");
    let receipt = shop.body["id"].as_str().unwrap();
    assert!(site.log().contains(receipt), "an operator finds the purchase by its receipt number");
}
