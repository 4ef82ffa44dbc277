//! Who stands together while passwords wait to be hashed (docs/limits.md).

use nyala_core::domain::address::Address;

/// A line, of which nobody else makes a longer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Line {
    /// The phones at an address that are known as this customer's by the present password; the number is `id_customer_global`.
    Customer(i64, Address),
    /// Everybody else there.
    Address(Address),
}

/// Lines that share what one place in the network may have. Accounts and cookies cost an attacker little, so that a customer's line is
/// worth no more than the address it comes from; known phones and strangers are apart, so that neither takes the other's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group {
    pub known: bool,
    whole: Address,
}

impl Line {
    pub const fn group(self) -> Group {
        match self {
            Self::Customer(_, address) => Group { known: true, whole: whole(address) },
            Self::Address(address) => Group { known: false, whole: whole(address) },
        }
    }
}

/// IPv6 by its /48: one customer of a provider may have that much, which is 65,536 addresses as limits count them.
const fn whole(address: Address) -> Address {
    match address {
        Address::V4(_) => address,
        Address::V6(upper) => Address::V6(upper & !0xffff),
    }
}
