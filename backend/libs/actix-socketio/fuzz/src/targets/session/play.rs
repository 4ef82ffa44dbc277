//! Execution of a script: each step is a request or a part of one. The invariants are checked each time that all tasks have run.

use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use actix_http::error::PayloadError;
use actix_http::{BoxedPayloadStream, Payload, Request, StatusCode};
use actix_socketio::{Config, EngineError, Limits, SocketIo, socket_io};
use actix_web::body::{MessageBody, to_bytes};
use actix_web::dev::{Service, ServiceResponse};
use actix_web::http::{Method, Uri};
use actix_web::rt::task::JoinHandle;
use actix_web::test::{TestRequest, init_service};
use actix_web::{App, Error};
use futures_util::stream::poll_fn;
use tokio::sync::mpsc::unbounded_channel;

use super::Reached;
use super::client::Client;
use super::host::Host;
use super::requests::{Answer, Get, Piece, Post, Session, Stage, done, read, request};
use super::script::{NOBODY, Step, steps};

/// Maximum number of steps; longer scripts are cut.
const MAX_STEPS: usize = 96;
/// Event-loop turns after which no task is ready any more.
const TURNS: usize = 8;
const METHODS: [Method; 6] = [Method::GET, Method::POST, Method::OPTIONS, Method::DELETE, Method::PUT, Method::HEAD];

/// Runs a script on a server with these limits.
pub(super) async fn play(limits: Limits, script: &[u8]) -> Reached {
    let host = Host::default();
    let io = socket_io(Config::default().limits(limits.clone()), host.clone());
    let app = init_service(App::new().configure(|c| io.configure(c))).await;
    let mut play = Play { app: Rc::new(app), io, host, limits, sessions: Vec::new(), others: Vec::new(), settled: true };
    for step in steps(script).take(MAX_STEPS) {
        play.step(&step);
        play.settled = step.settles;
        if step.settles {
            play.settle().await;
        }
    }
    play.end().await
}

/// A server and its clients.
struct Play<S> {
    app: Rc<S>,
    io: SocketIo<Host>,
    host: Host,
    limits: Limits,
    sessions: Vec<Session>,
    /// Requests outside of a session, and whether they may open one.
    others: Vec<(JoinHandle<Answer>, bool)>,
    /// No task is ready: each request is answered or waits for its client.
    settled: bool,
}

impl<S, B> Play<S>
where
    S: Service<Request, Response = ServiceResponse<B>, Error = Error> + 'static,
    B: MessageBody + 'static,
{
    fn step(&mut self, step: &Step) {
        match step.what {
            b'h' => self.shake_hands(step.whom.unwrap_or_default()),
            b'q' => self.ask(step.whom.unwrap_or_default(), &step.text()),
            b'k' => self.host.act_on(step.whom.unwrap_or_default(), &step.text()),
            b'g' => self.get(step.whom),
            b'p' => self.post(step.whom, step.body(), false),
            b'o' => self.post(step.whom, step.body(), true),
            b'm' | b'e' | b'f' | b'x' | b'y' => self.go_on(step),
            _ => {}
        }
    }

    /// The session of a digit.
    fn nth(&self, whom: Option<usize>) -> Option<usize> {
        whom.filter(|_| !self.sessions.is_empty()).map(|nth| nth % self.sessions.len())
    }

    fn shake_hands(&mut self, address: usize) {
        let peer = SocketAddr::from((Ipv4Addr::new(192, 0, 2, address as u8), 1));
        let request = TestRequest::with_uri("/socket.io/?EIO=4&transport=polling").peer_addr(peer).to_request();
        let answer = self.send(request);
        self.others.push((answer, true));
    }

    /// Sends any query with any method. Queries that do not change a session may name one.
    fn ask(&mut self, method: usize, query: &str) {
        let method = METHODS[method % METHODS.len()].clone();
        let opens = method == Method::GET;
        let sid = self.sessions.first().filter(|_| !opens && method != Method::POST).map_or("", |session| session.client.sid());
        let Ok(uri) = format!("/socket.io/?{query}{sid}").parse::<Uri>() else { return };
        let answer = self.send(TestRequest::with_uri(&uri.to_string()).method(method).to_request());
        self.others.push((answer, opens));
    }

    fn get(&mut self, whom: Option<usize>) {
        let Some(at) = self.nth(whom) else { return self.stranger(TestRequest::get()) };
        let answer = self.send(request(TestRequest::get(), self.sessions[at].client.sid()).to_request());
        let session = &mut self.sessions[at];
        session.gets.push(Get { answer, stage: session.stage });
    }

    fn post(&mut self, whom: Option<usize>, body: Vec<u8>, goes_on: bool) {
        let Some(at) = self.nth(whom) else { return self.stranger(TestRequest::post().set_payload(body)) };
        let (rest, mut pieces) = unbounded_channel::<Piece>();
        let _ = rest.send(Ok(body.clone().into()));
        let payload: BoxedPayloadStream = Box::pin(poll_fn(move |cx| pieces.poll_recv(cx)));
        let request = request(TestRequest::post(), self.sessions[at].client.sid()).to_request();
        let answer = self.send(request.replace_payload(Payload::from(payload)).0);
        let session = &mut self.sessions[at];
        session.posts.push(Post { answer, stage: session.stage, sent: body, rest: Some(rest), broken_off: false });
        if !goes_on {
            session.end_post();
        }
    }

    /// A request of a session that does not exist.
    fn stranger(&mut self, of: TestRequest) {
        let answer = self.send(request(of, NOBODY).to_request());
        self.others.push((answer, false));
    }

    /// One more step of an open request.
    fn go_on(&mut self, step: &Step) {
        let Some(at) = self.nth(step.whom) else { return };
        // A client that disconnects ends its session if its request has started and is not answered.
        let ends = self.settled && step.settles;
        let session = &mut self.sessions[at];
        match step.what {
            b'm' => {
                let more = step.body();
                if let Some(Post { rest: Some(rest), sent, .. }) = session.posts.last_mut() {
                    sent.extend_from_slice(&more);
                    let _ = rest.send(Ok(more.into()));
                }
            }
            b'e' => session.end_post(),
            b'f' => {
                if let Some(post) = session.posts.last_mut()
                    && let Some(rest) = post.rest.take()
                {
                    post.broken_off = true;
                    let _ = rest.send(Err(PayloadError::Incomplete(None)));
                }
            }
            b'x' => {
                if let Some(get) = session.gets.pop() {
                    get.answer.abort();
                    session.reaches(if ends { Stage::Over } else { Stage::Open });
                }
            }
            _ => {
                if let Some(post) = session.posts.pop() {
                    post.answer.abort();
                    session.reaches(if ends { Stage::Closed } else { Stage::Open });
                }
            }
        }
    }

    fn send(&self, request: Request) -> JoinHandle<Answer> {
        let app = self.app.clone();
        actix_web::rt::spawn(async move {
            let Ok(response) = app.call(request).await else { unreachable!("the server answers everything itself") };
            let status = response.status();
            let Ok(body) = to_bytes(response.into_body()).await else { unreachable!("bodies are there at once") };
            let Ok(body) = String::from_utf8(body.into()) else { unreachable!("every body is text") };
            Answer { status, body }
        })
    }

    /// Runs all ready tasks, and reads the answers.
    async fn settle(&mut self) {
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        let metrics = self.io.metrics();
        let (open, joined, unjoined) =
            (metrics.sessions_open.get(), metrics.sessions_joined.get(), metrics.sessions_unjoined.get());
        assert_eq!(open, joined + unjoined);
        assert!(joined <= self.limits.max_sessions as u64 && unjoined <= self.limits.max_unjoined as u64);
        for (answer, opens) in done(&mut self.others, |(answer, _)| answer) {
            self.others(read(answer).await, opens);
        }
        for session in &mut self.sessions {
            session.read(self.limits.max_payload).await;
        }
    }

    fn others(&mut self, answer: Answer, opens: bool) {
        if answer.status == StatusCode::NO_CONTENT {
            return assert_eq!(answer.body, "", "what a browser asks first");
        }
        if answer.status != StatusCode::OK {
            let error = answer.error();
            return assert!(!matches!(error, EngineError::PayloadTooLarge), "nothing of it is read");
        }
        assert!(opens, "only a handshake opens a session: {}", answer.body);
        let open_packet = answer.body.strip_prefix('0').and_then(|json| serde_json::from_str::<serde_json::Value>(json).ok());
        let open_packet = open_packet.unwrap_or_default();
        let sid = open_packet["sid"].as_str().unwrap_or_default().to_owned();
        assert_eq!(sid.len(), NOBODY.len(), "{}", answer.body);
        assert_eq!(open_packet["maxPayload"], self.limits.max_payload);
        let client = Client::new(sid, self.limits.max_payload);
        self.sessions.push(Session { client, gets: Vec::new(), posts: Vec::new(), stage: Stage::Open });
    }

    /// Shuts the server down, and checks that no session or socket is left.
    async fn end(mut self) -> Reached {
        self.settle().await;
        let io = self.io.clone();
        let going = actix_web::rt::spawn(async move { io.shut_down(Duration::MAX).await });
        self.settle().await;
        for at in 0..self.sessions.len() {
            let session = &mut self.sessions[at];
            assert!(session.gets.is_empty(), "a GET that waits hears the end");
            session.end_post();
            // A session that ended in order keeps its last payload for one GET.
            self.get(Some(at));
        }
        going.abort(); // it would check again after a delay, but all sessions are gone by now
        self.settle().await;
        for session in &mut self.sessions {
            assert!(session.gets.is_empty() && session.posts.is_empty(), "a closed session keeps nobody waiting");
            session.reaches(Stage::Over);
        }
        for at in 0..self.sessions.len() {
            self.get(Some(at));
            self.post(Some(at), b"3".to_vec(), false);
        }
        self.shake_hands(0);
        let sessions = self.sessions.len();
        self.settle().await;
        assert_eq!(self.sessions.len(), sessions, "no session is opened any more");
        assert!(self.io.shut_down(Duration::ZERO).await);
        for namespace in ["/", "/custom"] {
            assert_eq!(self.io.of(namespace).ids().await, Ok(Vec::new()), "a room keeps nobody who is gone");
        }
        self.reached()
    }

    fn reached(self) -> Reached {
        let metrics = self.io.metrics().clone();
        for now in [&metrics.sessions_open, &metrics.sessions_joined, &metrics.sessions_unjoined, &metrics.websockets_open] {
            assert_eq!(now.get(), 0, "{metrics:?}");
        }
        let Self { app, io, host, sessions, others, .. } = self;
        assert!(others.is_empty());
        drop((app, io));
        assert!(host.is_alone(), "something of the server is left");
        let account = host.account();
        assert_eq!((account.joined, account.waiting), (account.left, 0), "whoever joined left, and hears no answers");
        let sum = |of: fn(&Client) -> u64| sessions.iter().map(|session| of(&session.client)).sum();
        Reached {
            joined: account.joined,
            answered: account.answered,
            events: sum(|client| client.events),
            acks: sum(|client| client.acks),
            attachments: sum(|client| client.attachments),
            violations: metrics.violations.get(),
            stalled: metrics.stalled.get(),
            dropped: metrics.frames_dropped.get(),
            displaced: metrics.unjoined_displaced.get(),
            refused: metrics.sessions_refused.get() + metrics.unjoined_refused.get(),
            overdue: metrics.heartbeats_missed.get(),
        }
    }
}
