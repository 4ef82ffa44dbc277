//! Who a customer, a member of staff, a program or a browser at a till is.

pub mod auth;
pub mod push;
pub mod qr;
pub mod staff;
pub mod whatsapp;
