//! The chat of the README, with a page: `cargo run --example chat`, then http://127.0.0.1:3000 in two windows. `$PORT` sets
//! another port (0: any free one). It prints its address.

use actix_socketio::{CloseReason, Config, Connect, Event, Handler, Refused, Socket, socket_io};
use actix_web::http::header::ContentType;
use actix_web::{App, HttpResponse, HttpServer, web};

struct Chat;

struct Guest {
    socket: Socket,
    name: String,
}

impl Handler for Chat {
    type Session = Guest;

    async fn connect(&self, connect: Connect) -> Result<Guest, Refused> {
        let auth: serde_json::Value = connect.auth.read().map_err(|_| Refused::new("bad auth"))?;
        let Some(name) = auth["name"].as_str() else { return Err(Refused::new("who are you?")) };
        connect.socket.broadcast().emit("came", name).map_err(|_| Refused::new("bad name"))?;
        Ok(Guest { name: name.into(), socket: connect.socket })
    }

    fn event(&self, guest: &mut Guest, event: Event) {
        if let ("say", Ok((text,))) = (event.name.as_str(), event.args.read::<(String,)>()) {
            let _ = guest.socket.everyone().emit("said", &(&guest.name, &text));
        }
    }

    fn disconnected(&self, guest: Guest, _: CloseReason) {
        let _ = guest.socket.everyone().emit("went", &guest.name);
    }
}

async fn page() -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::html()).body(include_str!("page.html"))
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000);
    let io = socket_io(Config::default(), Chat);
    let server = HttpServer::new(move || App::new().route("/", web::get().to(page)).configure(|app| io.configure(app)))
        .on_connect(actix_socketio::on_connect)
        .h1_allow_half_closed(false)
        .bind(("127.0.0.1", port))?;
    server.addrs().iter().for_each(|address| println!("{address}"));
    server.run().await
}
