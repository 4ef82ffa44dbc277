//! Identity of customers, members of staff, programs and tills' browsers.

pub mod auth;
pub mod push;
pub mod qr;
pub mod staff;
pub mod whatsapp;
