//! Who a customer is: registration, logins, codes, tokens.

pub mod akun;
pub mod code;
pub mod code_limits;
pub mod data;
pub mod deletion;
pub mod dev_whatsapp;
pub mod known_phone;
pub mod login;
pub mod logout;
pub mod meta;
mod move_due;
mod move_message;
pub mod number_move;
pub mod register;
pub mod reset_alarm;
pub mod token;
