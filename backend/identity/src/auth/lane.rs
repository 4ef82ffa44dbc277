//! Which requesters share a lane while passwords wait to be hashed (docs/limits.md).

use nyala_core::domain::address::Address;
use nyala_core::domain::id::CustomerId;

/// A lane. No requester can make another one longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The phones at an address that are known as this customer's by the current password.
    Customer(CustomerId, Address),
    /// All other requesters at an address.
    Address(Address),
}

/// Lanes that share the places of one location in the network. An attacker gets accounts and cookies cheaply, so a customer's lane
/// counts for no more than its address. Known phones and strangers have separate groups, so that neither takes the other's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group {
    pub known: bool,
    whole: Address,
}

impl Lane {
    pub const fn group(self) -> Group {
        match self {
            Self::Customer(_, address) => Group { known: true, whole: whole(address) },
            Self::Address(address) => Group { known: false, whole: whole(address) },
        }
    }
}

/// IPv6 by its /48: a provider may give one customer that much, which is 65,536 addresses as limits count them.
const fn whole(address: Address) -> Address {
    match address {
        Address::V4(_) => address,
        Address::V6(upper) => Address::V6(upper & !0xffff),
    }
}
