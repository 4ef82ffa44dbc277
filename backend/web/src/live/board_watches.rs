//! The boards that one socket watches.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use actix_socketio::{Ack, Socket};
use nyala_core::domain::id::OutletId;

use super::boards::{BoardWatch, Boards, Content, MAX_BOARDS, TOO_MANY};
use super::watcher::acknowledge;
use crate::http::error::AppError;

/// Stays on the socket's thread.
pub struct BoardWatches {
    socket: Socket,
    watching: Rc<RefCell<Vec<BoardWatch>>>,
    /// Counts the subscriptions that are being answered.
    answering: Rc<()>,
}

impl BoardWatches {
    pub fn new(socket: Socket) -> Self {
        Self { socket, watching: Rc::default(), answering: Rc::default() }
    }

    /// Watches an outlet's board if the socket `sees` it.
    pub fn subscribe<C: Content>(
        &self,
        boards: &Boards<C>,
        (idoutlet, view): (OutletId, C::View),
        ack: Option<Ack>,
        sees: impl Future<Output = Result<bool, AppError>> + 'static,
    ) {
        if Rc::strong_count(&self.answering) > MAX_BOARDS {
            return acknowledge(ack, 429, "terlalu banyak permintaan sekaligus, coba lagi");
        }
        let (boards, socket, watching) = (boards.clone(), self.socket.clone(), self.watching.clone());
        let counted = self.answering.clone();
        actix_web::rt::spawn(async move {
            let _counted = counted;
            let sees = match sees.await {
                Ok(true) => Ok(()),
                Ok(false) => Err(AppError::NotFound("outlet tidak ditemukan")),
                Err(e) => Err(e),
            };
            if let Err(e) = sees {
                return acknowledge(ack, e.status().as_u16(), &e.to_string());
            }
            let others = watching.borrow().iter().filter(|watch| watch.idoutlet != idoutlet).count();
            if others >= MAX_BOARDS {
                return acknowledge(ack, 429, TOO_MANY);
            }
            if let Some(watch) = boards.watch((idoutlet, view), &socket, ack).await {
                let mut watching = watching.borrow_mut();
                watching.retain(|watch| watch.idoutlet != idoutlet);
                watching.push(watch);
            }
        });
    }

    pub fn unsubscribe<C: Content>(&self, (idoutlet, view): (OutletId, C::View), ack: Option<Ack>) {
        self.socket.leave(&C::room(idoutlet, view));
        self.watching.borrow_mut().retain(|watch| watch.idoutlet != idoutlet);
        acknowledge(ack, 200, "OK");
    }
}
