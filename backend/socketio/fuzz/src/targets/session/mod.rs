//! Whole sessions: a Socket.IO server in this process, without a network, and clients that do what the input says. The first byte says
//! which limits the server has, the others are a script ([`script`]).

mod client;
mod host;
mod script;

use std::cell::{Cell, RefCell};
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Once;
use std::time::Duration;

use actix_http::error::PayloadError;
use actix_http::{BoxedPayloadStream, Payload, Request, StatusCode};
use actix_socketio::{Config, EngineError, Limits, SocketIo, socket_io};
use actix_web::body::{MessageBody, to_bytes};
use actix_web::dev::{Service, ServiceResponse};
use actix_web::http::{Method, Uri};
use actix_web::rt::Runtime;
use actix_web::rt::task::JoinHandle;
use actix_web::test::{TestRequest, init_service};
use actix_web::{App, Error};
use bytes::Bytes;
use bytestring::ByteString;
use futures_util::stream::poll_fn;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use self::client::{Client, begins_badly};
use self::host::Host;
use self::script::{NOBODY, Step, steps};
use crate::harness::{kind_and_rest, of_kind};

const SMALL: u8 = 0;
const ROOMY: u8 = 1;
const LATE: u8 = 2;
const KINDS: u8 = 3;

/// Longer scripts end here.
const MAX_STEPS: usize = 96;
/// Turns of the thread after which nothing is ready any more.
const TURNS: usize = 8;
const METHODS: [Method; 6] = [Method::GET, Method::POST, Method::OPTIONS, Method::DELETE, Method::PUT, Method::HEAD];

/// Scripts that one runtime plays: a new one each time would take longer than they do, but a server leaves entries with its runtime's
/// wheel that go in their time, and its part of the hub, which goes with the runtime.
const SCRIPTS: u32 = 64;

thread_local!(
    /// With how many scripts it has played.
    static RUNTIME: RefCell<Option<(Runtime, u32)>> = const { RefCell::new(None) };
    /// Panics on this thread, those of tasks too, which nobody else hears of.
    static PANICS: Cell<u64> = const { Cell::new(0) };
);

pub fn run(bytes: &[u8]) {
    reached(bytes);
}

fn reached(bytes: &[u8]) -> Reached {
    count_panics();
    let before = PANICS.get();
    let (runtime, played) = RUNTIME.take().filter(|(_, played)| *played < SCRIPTS).unwrap_or_else(|| (runtime(), 0));
    let reached = runtime.block_on(play(bytes));
    RUNTIME.set(Some((runtime, played + 1)));
    assert_eq!(PANICS.get(), before, "a task panicked");
    reached
}

fn runtime() -> Runtime {
    let Ok(runtime) = Runtime::new() else { unreachable!("the system gives no runtime") };
    runtime
}

fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            hook(panic);
        }));
    });
}

/// Bounds that a short script reaches; the usual ones; and heartbeats that are always overdue. Nothing waits for a time.
fn limits(kind: u8) -> Limits {
    match kind % KINDS {
        SMALL => Limits {
            max_payload: 200,
            max_attachments: 2,
            max_attachment_bytes: 24,
            max_queued_frames: 4,
            max_queued_bytes: 256,
            max_waiting_packets: 8,
            max_waiting_bytes: 500,
            max_namespaces: 2,
            max_namespace_bytes: 12,
            max_rooms: 0,
            max_pending_acks: 2,
            max_sessions: 2,
            unjoined_per_address: 2,
            max_unjoined: 3,
            ..Limits::default()
        },
        LATE => Limits { ping_interval: Duration::ZERO, ping_timeout: Duration::ZERO, ..Limits::default() },
        _ => Limits::default(),
    }
}

/// What a script reached.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reached {
    joined: u64,
    answered: u64,
    heard: u64,
    acks: u64,
    attachments: u64,
    violations: u64,
    stalled: u64,
    dropped: u64,
    displaced: u64,
    refused: u64,
    overdue: u64,
}

async fn play(bytes: &[u8]) -> Reached {
    let (kind, script) = kind_and_rest(bytes);
    let (limits, host) = (limits(kind), Host::default());
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
    /// Requests outside of a session, and those that may open one.
    others: Vec<(JoinHandle<Answer>, bool)>,
    /// Nothing is ready: everything that was begun is answered, or waits for its client.
    settled: bool,
}

struct Session {
    client: Client,
    gets: Vec<Get>,
    posts: Vec<Post>,
    stage: Stage,
}

/// How much of a session is left for requests that begin now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// As far as its client knows it is open.
    Open,
    /// It takes nothing any more; one GET may bring what it said last.
    Closed,
    /// Nobody knows it.
    Over,
}

struct Get {
    answer: JoinHandle<Answer>,
    /// Of the session, when it began.
    stage: Stage,
}

struct Post {
    answer: JoinHandle<Answer>,
    stage: Stage,
    sent: Vec<u8>,
    /// Takes the rest of the body, until that is over.
    rest: Option<UnboundedSender<Piece>>,
    broken_off: bool,
}

type Piece = Result<Bytes, PayloadError>;

struct Answer {
    status: StatusCode,
    body: String,
}

impl Answer {
    /// Why the request was refused. Panics when that is no answer of the protocol.
    fn error(&self) -> EngineError {
        use EngineError::*;
        let all = [
            UnknownTransport,
            UnknownSid,
            BadHandshakeMethod,
            BadRequest,
            UnsupportedVersion,
            TooManySessions,
            PayloadTooLarge,
            TooManyUnjoined,
        ];
        let error = all.into_iter().find(|error| error.status() == self.status && error.to_json() == self.body);
        let Some(error) = error else { unreachable!("no answer of the protocol: {} {}", self.status, self.body) };
        error
    }
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

    /// The session that a digit stands for.
    fn nth(&self, whom: Option<usize>) -> Option<usize> {
        whom.filter(|_| !self.sessions.is_empty()).map(|nth| nth % self.sessions.len())
    }

    fn shake_hands(&mut self, address: usize) {
        let peer = SocketAddr::from((Ipv4Addr::new(192, 0, 2, address as u8), 1));
        let request = TestRequest::with_uri("/socket.io/?EIO=4&transport=polling").peer_addr(peer).to_request();
        let answer = self.send(request);
        self.others.push((answer, true));
    }

    /// Any query, and any method; those that take nothing from a session name one.
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

    /// A request of a session that there is not.
    fn stranger(&mut self, of: TestRequest) {
        let answer = self.send(request(of, NOBODY).to_request());
        self.others.push((answer, false));
    }

    /// One more step of a request that is under way.
    fn go_on(&mut self, step: &Step) {
        let Some(at) = self.nth(step.whom) else { return };
        // A client that hangs up ends its session, if its request has begun and is not answered.
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

    /// Lets everything run that is ready, and reads the answers.
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
        let said = answer.body.strip_prefix('0').and_then(|json| serde_json::from_str::<serde_json::Value>(json).ok());
        let said = said.unwrap_or_default();
        let sid = said["sid"].as_str().unwrap_or_default().to_owned();
        assert_eq!(sid.len(), NOBODY.len(), "{}", answer.body);
        assert_eq!(said["maxPayload"], self.limits.max_payload);
        let client = Client::new(sid, self.limits.max_payload);
        self.sessions.push(Session { client, gets: Vec::new(), posts: Vec::new(), stage: Stage::Open });
    }

    /// The server goes; nobody is left behind.
    async fn end(mut self) -> Reached {
        self.settle().await;
        let io = self.io.clone();
        let going = actix_web::rt::spawn(async move { io.shut_down(Duration::MAX).await });
        self.settle().await;
        for at in 0..self.sessions.len() {
            let session = &mut self.sessions[at];
            assert!(session.gets.is_empty(), "a GET that waits hears the end");
            session.end_post();
            // A session that parted in order keeps its last payload for one GET.
            self.get(Some(at));
        }
        going.abort(); // it looks again after a while, and all are gone by now
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
            heard: sum(|client| client.heard),
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

/// A request of a session on polling.
fn request(of: TestRequest, sid: &str) -> TestRequest {
    of.uri(&format!("/socket.io/?EIO=4&transport=polling&sid={sid}"))
}

/// Takes those out whose answer is there.
fn done<T>(requests: &mut Vec<T>, answer: impl Fn(&T) -> &JoinHandle<Answer>) -> Vec<T> {
    requests.extract_if(.., |request| answer(request).is_finished()).collect()
}

async fn read(answer: JoinHandle<Answer>) -> Answer {
    let Ok(answer) = answer.await else { unreachable!("a request panicked") };
    answer
}

impl Session {
    fn end_post(&mut self) {
        if let Some(post) = self.posts.last_mut()
            && post.rest.take().is_some()
        {
            self.client.says(&post.sent);
        }
    }

    fn reaches(&mut self, stage: Stage) {
        self.stage = self.stage.max(stage);
    }

    /// The answers that are there.
    async fn read(&mut self, max_payload: usize) {
        for post in done(&mut self.posts, |post| &post.answer) {
            let reached = post.read(max_payload).await;
            self.reaches(reached);
        }
        for Get { answer, stage } in done(&mut self.gets, |get| &get.answer) {
            let answer = read(answer).await;
            if answer.status == StatusCode::OK {
                assert!(stage < Stage::Over, "a session that is over has nothing to say: {}", answer.body);
                let ends = self.client.hears(&answer.body);
                assert!(ends || stage < Stage::Closed, "a session that is closed says so: {}", answer.body);
                self.reaches(if self.client.is_closed() { Stage::Over } else { stage });
                continue;
            }
            let error = answer.error();
            let second = error == EngineError::BadRequest && stage == Stage::Open;
            assert!(second || error == EngineError::UnknownSid, "{error}");
            self.reaches(Stage::Over);
        }
    }
}

impl Post {
    /// What the answer says of the session.
    async fn read(self, max_payload: usize) -> Stage {
        let answer = read(self.answer).await;
        let text = ByteString::try_from(Bytes::from(self.sent)).ok();
        if answer.status == StatusCode::OK {
            assert_eq!(answer.body, "ok");
            assert!(self.stage == Stage::Open, "a session that is closed takes nothing");
            assert!(self.rest.is_none() && !self.broken_off, "a body that did not come whole is not taken");
            let allowed = text.is_some_and(|text| text.len() <= max_payload && !begins_badly(&text));
            assert!(allowed, "what breaks a rule is not taken");
            return Stage::Open;
        }
        let error = answer.error();
        assert!(self.stage == Stage::Open || error == EngineError::UnknownSid, "{error}: a session that is closed is not known");
        match error {
            EngineError::UnknownSid => Stage::Closed,
            // Whoever breaks the protocol is not heard any more. What is no text at all is refused, and no more.
            EngineError::BadRequest if text.is_some() => Stage::Over,
            EngineError::BadRequest => Stage::Open,
            error => {
                assert_eq!(error, EngineError::PayloadTooLarge);
                assert!(text.is_none_or(|text| text.len() > max_payload));
                Stage::Open
            }
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let scripts: [(u8, &[u8]); 16] = [
        // Events, answers both ways, a second namespace.
        (ROOMY, b"h0\np0\x01\ng0\np042[\"message\",1,\"e\"]\np0421[\"ack\",[2]]\ng0\np0\x0c\np0430[\"yes\"]\x1e3\ng0\np0\x02\x1e\x09\ng0\np0\x1a\ng0"),
        // Attachments.
        (ROOMY, b"h0\np0\x01\ng0\np0\x15\ng0\np0452-[\"message\",{\"_placeholder\":true,\"num\":1}]\x1ebAA==\x1ebAQ==\ng0\np0\x16\np0\x17\np0\x17\ng0"),
        // A GET that is given up, a POST that is, one in pieces, two at once.
        (ROOMY, b"h0\nh0\nh0\nh0\np0\x01\ng0\ng0\nx0\ng1\nx1\ng1\no24\nm20\ne2\ng2\no24\nf2\ng2\no34\np33\ng3\ng3"),
        // What breaks the protocol.
        (ROOMY, b"h0\nh0\nh0\nh0\nh0\nh0\np02\np142[\"early\"]\np2\x01\x1e44{}\np3b\np4\x01\x1e451-[\"a\"]\x1e3\x1e42[\"b\"]\np5\xff\ng0\ng1\ng2\ng3\ng4\ng5"),
        // Ways to go.
        (ROOMY, b"h0\nh0\nh0\nh0\np0\x01\ng0\np0\x0f\ng0\np1\x01\np1\x10\ng1\np2\x01\x1e1\ng2\np3\x01\ng3\np3\x11\ng3\nk0leave\nk0close"),
        // What `connect` may do.
        (ROOMY, b"h0\np0\x06\x1e\x02\ng0\nP0\x04\np041\ng0\np0\x05\x1e\x01\ng0\nh0\np1\x08\ng1\nh0\np2\x07\ng2\nh0\np340{\"token\":\"ask\"}\ng3\nh0\np440{\"token\":\"data\"}"),
        // The bounds: of what waits, of answers, of namespaces, of a payload, of attachments.
        (SMALL, b"h0\np0\x01\ng0\np0\x0c\x1e\x0c\x1e\x0c\ng0\np0\x02\x1e\x03\x1e40/c,\ng0\np0\x14\ng0\np0\x13\ng0\np0\x12\ng0"),
        (SMALL, b"h0\np0\x01\ng0\np042[\"volatile\",10,1]\ng0\np0452-[\"message\"]\x1e\x17\x1e\x17\ng0\nh0\np1\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
        // Places: of an address, of all, of those who have joined.
        (SMALL, b"h0\nh0\nh0\nh1\nh2\ng0\np1\x01\np2\x01\np3\x01\nh3\nh4\np141\nh5"),
        // A heartbeat that is overdue.
        (LATE, b"h0\nh0\ng0\np13\ng1"),
        // Whoever is no session.
        (ROOMY, b"g?\np?3\nq0EIO=4&transport=polling\nq0EIO=3&transport=polling\nq0EIO=4&transport=websocket\nq0x\nq1EIO=4&transport=polling\nq2"),
        (ROOMY, b"h0\nq3EIO=4&transport=polling&sid=\nq5EIO=4&transport=polling&sid=\nq0EIO=4&transport=polling&sid=AAAAAAAAAAAAAAAAAAAA"),
        // Rooms: of three sockets, one is in none.
        (ROOMY, b"h0\nh1\nh2\np0\x01\np1\x01\np2\x01\np0\x0e\np1\x0e\np042[\"others\",1]\ng0\ng1\np0\x1f\ng2\np1\x19\np0\x1f\nk0end\ng0"),
        // Several in one turn.
        (ROOMY, b"H0\nh1\nP0\x01\nG0\nP1\x01\ng1\nG0\nP0\x00\nK0message\nX0\ng1"),
        // The same as bytes: two sessions that join, hear and go.
        (ROOMY, b"\xe0\xe1\x81\xe4\xa1\xe5\x80\xe4\xe7\xfa\x8c\xe4\x8d\xe4\xa9\xe5\xc0\xe4\x8f\xe4\xbb\xe5"),
        (SMALL, b"\xe0\xe0\x81\xe4\xa1\xe5\x95\xe4\x8b\xe4\x82\xe4\x93\xe4\x92\xe4\xe1\xe2"),
    ];
    scripts.iter().map(|(kind, script)| of_kind(*kind, script)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the search would begin where little is found.
    #[test]
    fn the_seeds_reach_what_a_session_does() {
        let reached: Vec<_> = seeds().iter().map(|seed| reached(seed)).collect();
        let reaches = |of: fn(&Reached) -> u64| reached.iter().any(|reached| of(reached) > 0);
        assert!(reaches(|r| r.joined) && reaches(|r| r.answered) && reaches(|r| r.heard), "{reached:#?}");
        assert!(reaches(|r| r.acks) && reaches(|r| r.attachments) && reaches(|r| r.violations), "{reached:#?}");
        assert!(reaches(|r| r.stalled) && reaches(|r| r.dropped) && reaches(|r| r.displaced), "{reached:#?}");
        assert!(reaches(|r| r.refused) && reaches(|r| r.overdue), "{reached:#?}");
    }
}
