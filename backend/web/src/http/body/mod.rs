//! Request bodies. Each is read within a size limit, a time limit (set by its reader) and, while it is unfinished, within the room
//! shared by all.

mod room;

use std::pin::pin;

use actix_web::HttpRequest;
use actix_web::error::PayloadError;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{Bytes, BytesMut};
use futures_util::{FutureExt, Stream, StreamExt, future};

pub use room::{BodyPlace, NoRoom, Room};

/// Initial room for a body that does not declare its length and has more to come. It doubles as the body grows.
const FIRST_BYTES: usize = 4 * 1024;

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    TooLarge,
    /// It is encoded wrongly, or the client disconnected in the middle.
    Broken,
    NoRoom,
}

impl From<NoRoom> for BodyError {
    fn from(NoRoom: NoRoom) -> Self {
        Self::NoRoom
    }
}

/// Length that the body of `req` declares, in bytes.
pub fn declared(req: &HttpRequest) -> Option<u64> {
    req.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Length of a body: what the client declares, and the maximum, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct BodyLength {
    pub declared: Option<u64>,
    pub max: usize,
}

/// Reads the whole body. A body that arrives in one piece, as nearly all do, is not copied and takes up no room. The received part of a
/// slower body counts for the address of `enter`.
pub async fn read<S>(
    mut payload: S,
    BodyLength { declared, max }: BodyLength,
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
    // A buffer that grows step by step leaves its smaller sizes behind in the allocator.
    let foreseen = declared.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(FIRST_BYTES).min(max);
    loop {
        append(&mut body, &piece, foreseen, &mut place)?;
        // The piece keeps the connection's buffer alive.
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

/// Appends the piece, with exactly the memory that `place` holds.
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
