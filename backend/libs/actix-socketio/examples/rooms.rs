//! Rooms: clients `watch` a machine and `leave` it; `POST /machines/7/42` sends the value 42 to all clients that watch machine 7.
//! `cargo run --example rooms`; `$PORT` is the port (default 3000; 0: any free one). It prints its address.

use actix_socketio::{CloseReason, Config, Connect, Event, Handler, Refused, Socket, SocketIo, socket_io};
use actix_web::{App, HttpResponse, HttpServer, web};

struct Machines;

impl Handler for Machines {
    type Session = Socket;

    async fn connect(&self, connect: Connect) -> Result<Socket, Refused> {
        Ok(connect.socket)
    }

    fn event(&self, socket: &mut Socket, event: Event) {
        // A number, not a name from the client: so the length of a room's name is limited.
        let answer = match (event.name.as_str(), event.args.read::<(u32,)>()) {
            ("watch", Ok((machine,))) => socket.join(room(machine)).map_err(|error| error.to_string()),
            ("leave", Ok((machine,))) => {
                socket.leave(&room(machine));
                Ok(())
            }
            _ => Err("watch or leave, and a machine's number".into()),
        };
        if let Some(ack) = event.ack {
            let _ = ack.send(&answer.err());
        }
    }

    fn disconnected(&self, _: Socket, _: CloseReason) {} // the socket has left its rooms automatically
}

fn room(machine: u32) -> String {
    format!("machine {machine}")
}

async fn send(path: web::Path<(u32, u32)>, io: web::Data<SocketIo<Machines>>) -> HttpResponse {
    let (machine, at) = path.into_inner();
    match io.to(room(machine)).volatile().emit("at", &(machine, at)) {
        Ok(()) => HttpResponse::NoContent().finish(),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

async fn who(machine: web::Path<u32>, io: web::Data<SocketIo<Machines>>) -> HttpResponse {
    match io.to(room(machine.into_inner())).ids().await {
        Ok(ids) => HttpResponse::Ok().json(ids),
        Err(error) => HttpResponse::ServiceUnavailable().body(error.to_string()),
    }
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000);
    let io = socket_io(Config::default(), Machines);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::new(io.clone()))
            .route("/machines/{machine}", web::get().to(who))
            .route("/machines/{machine}/{at}", web::post().to(send))
            .configure(|app| io.configure(app))
    })
    .on_connect(actix_socketio::on_connect)
    .h1_allow_half_closed(false)
    .bind(("127.0.0.1", port))?;
    server.addrs().iter().for_each(|address| println!("{address}"));
    server.run().await
}
