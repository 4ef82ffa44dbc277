//! Phones that read slowly or not at all: they lose whole ticks, never parts of them, and cost no other phone a tick.

use actix_web::rt::net::TcpStream;
use bytes::BytesMut;
use serde_json::json;
use tokio::io::AsyncReadExt;

use super::phone::{PATIENCE, Phone, Tick, soon, take_frame, tick_of};
use super::setup;
use super::wire::text_frame;
use crate::support::helpers::TestApp;
use crate::support::shop::Shop;

const MACHINES: i32 = 8;
const DURATION_S: i64 = 600;
/// Minimum size of the kernel's buffer for a phone; the kernel doubles it. Beyond that the server has to buffer.
const NARROW_BYTES: usize = 4096;

/// Machines that run with the same end, a phone that receives all of them, and one that does not read.
struct Scene {
    app: TestApp,
    machines: Vec<Shop>,
    ends_at: i64,
    prompt: Phone,
    slow: Phone,
}

impl Scene {
    async fn new() -> Self {
        let app = setup().send_buffer(NARROW_BYTES).start().await;
        let shop = app.shop(600).await;
        let mut machines = vec![shop];
        for _ in 1..MACHINES {
            machines.push(app.neighbour(shop, 600).await);
        }
        let mut ends_at = 0;
        for (n, machine) in (1..).zip(&machines) {
            ends_at = app.run(*machine, DURATION_S, n).await;
        }
        let siti = app.customer(1).await;
        let mut prompt = Phone::join(&app, &siti.token).await;
        let mut slow = narrow(&app, &siti.token).await;
        for machine in &machines {
            prompt.watch(machine.idmesin, Some(ends_at)).await;
            slow.watch(machine.idmesin, Some(ends_at)).await;
        }
        let mut scene = Self { app, machines, ends_at, prompt, slow };
        // From here on every second contains a tick of each machine.
        scene.pass_ms(1_200).await;
        scene
    }

    /// Lets time pass; the prompt phone receives one tick of every machine, of that moment.
    async fn pass_ms(&mut self, ms: i64) {
        self.app.clock.advance_ms(ms);
        let now = self.app.now().ms();
        let mut received = Vec::new();
        for _ in 0..MACHINES {
            let tick = self.prompt.tick().await;
            assert_eq!(tick, Tick { tl: self.ends_at - now, ends_at: Some(self.ends_at), server_time: now, ..tick });
            received.push(tick.idmesin);
        }
        received.sort_unstable();
        assert!(received.iter().copied().eq(self.machines.iter().map(|m| m.idmesin)), "{received:?}");
    }

    /// Sends requests until the unread answers fill the kernel's buffer and ticks are dropped.
    async fn until_ticks_are_dropped(&mut self) {
        soon("a dropped tick", async {
            while self.app.metric("nyala_socket_frames_dropped_total").await == 0.0 {
                self.ask(10).await;
                self.pass_ms(1_000).await;
            }
        })
        .await;
        assert_eq!(self.app.metric("nyala_socket_stalled_total").await, 0.0);
    }

    /// The slow phone asks `n` times for a machine's state and does not read the answers. An answer has about 100 bytes.
    async fn ask(&mut self, n: usize) {
        let topic = self.machines[0].idmesin;
        self.slow.send_raw(&text_frame(&format!(r#"421["subscribe","heartbeat/{topic}"]"#)).repeat(n)).await;
    }
}

/// A phone whose own kernel buffer is small.
async fn narrow(app: &TestApp, token: &str) -> Phone {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(2_048).unwrap();
    let address: std::net::SocketAddr = app.address().parse().unwrap();
    socket.connect(&address.into()).unwrap();
    socket.set_nonblocking(true).unwrap();
    let stream = TcpStream::from_std(socket.into()).unwrap();
    let mut phone = Phone::dial_on(stream, app.address()).await;
    phone.connect(Some(&json!({ "token": token }))).await.unwrap();
    phone
}

#[actix_web::test]
async fn a_phone_that_never_reads_is_dropped_and_delays_no_other() {
    let mut scene = Scene::new().await;
    scene.until_ticks_are_dropped().await;
    for _ in 0..3 {
        scene.pass_ms(1_000).await;
    }
    // Frames that may not be dropped wait for the phone, 64 at most.
    scene.ask(100).await;
    scene.app.until_metric("nyala_socket_stalled_total", 1.0).await;
    scene.app.until_metric("nyala_sessions", 1.0).await;
    scene.app.until_metric("nyala_subscriptions", f64::from(MACHINES)).await;
    let dropped = scene.app.metric("nyala_socket_frames_dropped_total").await;
    scene.pass_ms(1_000).await;
    assert_eq!(scene.app.metric("nyala_socket_frames_dropped_total").await, dropped, "nothing is kept for it any more");
}

#[actix_web::test]
async fn a_phone_that_reads_byte_by_byte_gets_whole_frames_and_every_end() {
    let mut scene = Scene::new().await;
    scene.until_ticks_are_dropped().await;
    scene.pass_ms(1_000).await;
    scene.app.set_ms(scene.ends_at);
    for _ in 0..MACHINES {
        assert_eq!(scene.prompt.tick().await.tl, 0);
    }
    let (mut ticks, mut bytes) = (Vec::<Tick>::new(), BytesMut::new());
    while ticks.iter().filter(|tick| tick.tl == 0).count() < MACHINES as usize {
        let mut byte = [0];
        let read = actix_web::rt::time::timeout(PATIENCE, scene.slow.stream.read_exact(&mut byte)).await;
        read.expect("all ends").expect("an open connection");
        bytes.extend_from_slice(&byte);
        if let Some((opcode, payload)) = take_frame(&mut bytes) {
            assert_eq!(opcode, 1);
            let packet = String::from_utf8(payload).unwrap();
            assert!(packet.starts_with("431[{") && packet.ends_with("}]") || tick_of(&packet).is_some(), "{packet}");
            ticks.extend(tick_of(&packet));
        }
    }
    for machine in &scene.machines {
        let own: Vec<i64> = ticks.iter().filter(|tick| tick.idmesin == machine.idmesin).map(|tick| tick.tl).collect();
        assert!(own.windows(2).all(|two| two[1] < two[0]), "{own:?}");
        assert_eq!(own.last(), Some(&0));
    }
}
