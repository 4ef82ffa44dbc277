//! Bodies of requests: read within a size, a time (their reader's) and, while they are unfinished, within the room there is for all.

mod room;

use std::pin::pin;

use actix_web::HttpRequest;
use actix_web::error::PayloadError;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{Bytes, BytesMut};
use futures_util::{FutureExt, Stream, StreamExt, future};

pub use room::{BodyPlace, NoRoom, Room};

/// What the first piece of a body gets that does not say its length, and more is to come; it doubles as the body grows.
const FIRST_BYTES: usize = 4 * 1024;

/// Why there is no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    TooLarge,
    /// It is coded wrongly, or its sender went away in the middle.
    Broken,
    NoRoom,
}

impl From<NoRoom> for BodyError {
    fn from(NoRoom: NoRoom) -> Self {
        Self::NoRoom
    }
}

/// How long the body of `req` says that it is, in bytes.
pub fn declared(req: &HttpRequest) -> Option<u64> {
    req.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The whole body, at most `max` bytes, of which its sender has `declared` so many. One that arrives in one piece, as nearly all do, is
/// not copied and takes up no room; of a slower one what has arrived counts for `enter`'s address.
pub async fn read<S>(
    mut payload: S,
    declared: Option<u64>,
    max: usize,
    enter: impl FnOnce() -> BodyPlace,
) -> Result<Bytes, BodyError>
where
    S: Stream<Item = Result<Bytes, PayloadError>> + Unpin,
{
    let fits = |before: usize, piece: Result<Bytes, PayloadError>| match piece {
        Ok(piece) if piece.len() <= max - before => Ok(piece),
        Ok(_) => Err(BodyError::TooLarge),
        Err(_) => Err(BodyError::Broken),
    };
    let Some(first) = payload.next().await else { return Ok(Bytes::new()) };
    let mut piece = fits(0, first)?;
    let mut early = payload.next().now_or_never();
    if matches!(early, Some(None)) {
        return Ok(piece);
    }
    let (mut place, mut body) = (enter(), BytesMut::new());
    // Memory that grows step by step leaves its smaller steps behind in the allocator.
    let foreseen = declared.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(FIRST_BYTES).min(max);
    loop {
        append(&mut body, &piece, foreseen, &mut place)?;
        // It keeps the connection's buffer while it is there.
        drop(piece);
        let next = match early.take() {
            Some(next) => next,
            None => {
                let lost = pin!(place.lost());
                match future::select(payload.next(), lost).await {
                    future::Either::Left((next, _)) => next,
                    future::Either::Right(_) => return Err(BodyError::NoRoom),
                }
            }
        };
        piece = match next {
            Some(next) => fits(body.len(), next)?,
            None => return Ok(body.freeze()),
        };
    }
}

/// Appends, with exactly the memory that `place` holds.
fn append(body: &mut BytesMut, piece: &[u8], foreseen: usize, place: &mut BodyPlace) -> Result<(), NoRoom> {
    let needed = body.len() + piece.len();
    if needed > body.capacity() {
        let capacity = if needed <= foreseen { foreseen } else { needed.next_power_of_two() };
        place.hold(capacity)?;
        let mut grown = BytesMut::with_capacity(capacity);
        grown.extend_from_slice(body);
        *body = grown;
    }
    body.extend_from_slice(piece);
    Ok(())
}
