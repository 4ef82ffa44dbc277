//! Polling requests of a session, and the checks of their answers.

use actix_http::StatusCode;
use actix_http::error::PayloadError;
use actix_socketio::EngineError;
use actix_web::rt::task::JoinHandle;
use actix_web::test::TestRequest;
use bytes::Bytes;
use bytestring::ByteString;
use tokio::sync::mpsc::UnboundedSender;

use super::client::{Client, begins_badly};

/// A session on polling, with its open requests.
pub(super) struct Session {
    pub client: Client,
    pub gets: Vec<Get>,
    pub posts: Vec<Post>,
    pub stage: Stage,
}

/// State of a session for requests that start now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Open, as far as its client knows.
    Open,
    /// Closed; one GET may still return its last payload.
    Closed,
    /// Removed: its sid is unknown.
    Over,
}

pub(super) struct Get {
    pub answer: JoinHandle<Answer>,
    /// State of the session when the request started.
    pub stage: Stage,
}

pub(super) struct Post {
    pub answer: JoinHandle<Answer>,
    pub stage: Stage,
    pub sent: Vec<u8>,
    /// Sends the rest of the body, until its end.
    pub rest: Option<UnboundedSender<Piece>>,
    pub broken_off: bool,
}

pub(super) type Piece = Result<Bytes, PayloadError>;

pub(super) struct Answer {
    pub status: StatusCode,
    pub body: String,
}

impl Answer {
    /// The error of a refused request. Panics if the answer is not one of the protocol.
    pub fn error(&self) -> EngineError {
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

/// A request of a session on polling.
pub(super) fn request(of: TestRequest, sid: &str) -> TestRequest {
    of.uri(&format!("/socket.io/?EIO=4&transport=polling&sid={sid}"))
}

/// Removes and returns the requests that are answered.
pub(super) fn done<T>(requests: &mut Vec<T>, answer: impl Fn(&T) -> &JoinHandle<Answer>) -> Vec<T> {
    requests.extract_if(.., |request| answer(request).is_finished()).collect()
}

/// Reads a finished answer.
pub(super) async fn read(answer: JoinHandle<Answer>) -> Answer {
    let Ok(answer) = answer.await else { unreachable!("a request panicked") };
    answer
}

impl Session {
    /// Ends the body of the last POST.
    pub fn end_post(&mut self) {
        if let Some(post) = self.posts.last_mut()
            && post.rest.take().is_some()
        {
            self.client.says(&post.sent);
        }
    }

    pub fn reaches(&mut self, stage: Stage) {
        self.stage = self.stage.max(stage);
    }

    /// Checks the finished answers.
    pub async fn read(&mut self, max_payload: usize) {
        for post in done(&mut self.posts, |post| &post.answer) {
            let reached = post.read(max_payload).await;
            self.reaches(reached);
        }
        for Get { answer, stage } in done(&mut self.gets, |get| &get.answer) {
            let answer = read(answer).await;
            if answer.status == StatusCode::OK {
                assert!(stage < Stage::Over, "a session that is over has nothing to say: {}", answer.body);
                let ends = self.client.receives(&answer.body);
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
    /// The state of the session according to the answer.
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
            // A violation of the protocol ends the session. A body that is not text is only refused.
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
