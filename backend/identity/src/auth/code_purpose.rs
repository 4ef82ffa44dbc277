//! What a code is for, and who requests it.

use std::fmt;

use nyala_core::domain::address::Address;
use nyala_core::domain::id::CustomerId;

/// What a code allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodePurpose {
    Register,
    ForgotPassword,
    UpdatePassword,
    /// A move to another number; both numbers get one.
    Move,
}

impl CodePurpose {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::ForgotPassword => "forgot_password",
            Self::UpdatePassword => "update_password",
            Self::Move => "pindah",
        }
    }
}

/// Who requests a code. It is stored with the code, so that each requester has a separate limit.
#[derive(Debug, Clone, Copy)]
pub enum Asker {
    Address(Address),
    /// A phone that is known as this customer's (`id_customer_global`), for the customer's own number. What strangers have requested
    /// does not count for it.
    Customer(CustomerId),
}

/// `192.0.2.1`, `2001:db8:1:2::/64` or `customer 7`.
impl fmt::Display for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Customer(id) => write!(f, "customer {id}"),
        }
    }
}
