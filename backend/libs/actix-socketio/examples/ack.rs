//! Acknowledgements both ways: a client asks for a sum, at once or after a delay; the server asks the client, with a time-out of five
//! seconds. `cargo run --example ack`; `$PORT` is the port (default 3000; 0: any free one). It prints its address.

use std::time::Duration;

use actix_socketio::{CloseReason, Config, Connect, Event, Handler, Refused, Socket, socket_io};
use actix_web::rt::time::{sleep, timeout};
use actix_web::{App, HttpServer, rt};

struct Sums;

impl Handler for Sums {
    type Session = Socket;

    async fn connect(&self, connect: Connect) -> Result<Socket, Refused> {
        Ok(connect.socket)
    }

    fn event(&self, socket: &mut Socket, event: Event) {
        let numbers = event.args.read::<(i64, i64)>();
        match (event.name.as_str(), numbers, event.ack) {
            ("add", Ok((a, b)), Some(ack)) => {
                let _ = ack.send(&a.saturating_add(b));
            }
            // Longer work runs in its own task.
            ("add slowly", Ok((a, b)), Some(ack)) => {
                rt::spawn(async move {
                    sleep(Duration::from_millis(50)).await;
                    let _ = ack.send(&a.saturating_add(b));
                });
            }
            ("quiz me", ..) => {
                rt::spawn(quiz(socket.clone()));
            }
            // Unknown requests are answered too, because their clients wait.
            (_, _, Some(ack)) => {
                let _ = ack.send("add, add slowly, or quiz me");
            }
            _ => {}
        }
    }

    fn disconnected(&self, _: Socket, _: CloseReason) {}
}

async fn quiz(socket: Socket) {
    let verdict = match socket.ask("how much is", &(6, 7)) {
        Ok(Ok(answer)) => match timeout(Duration::from_secs(5), answer.wait()).await {
            Ok(Ok(args)) => match args.read::<(i64,)>() {
                Ok((42,)) => "right",
                _ => "wrong",
            },
            Ok(Err(_)) => return, // the socket is gone
            Err(_) => "too late",
        },
        _ => return,
    };
    let _ = socket.emit("verdict", verdict);
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000);
    let io = socket_io(Config::default(), Sums);
    let server = HttpServer::new(move || App::new().configure(|app| io.configure(app)))
        .on_connect(actix_socketio::on_connect)
        .h1_allow_half_closed(false)
        .bind(("127.0.0.1", port))?;
    server.addrs().iter().for_each(|address| println!("{address}"));
    server.run().await
}
