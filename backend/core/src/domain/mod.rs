//! Values that are parsed once where they arrive and trusted afterwards.

pub mod address;
pub mod cause;
pub mod code;
pub mod cookie;
pub mod cursor;
pub mod driver_kind;
pub mod error;
pub mod expiry;
pub mod id;
pub mod machine_code;
pub mod machine_kind;
pub mod name;
pub mod origin;
pub mod otp;
pub mod password;
pub mod pin;
pub mod receipt_number;
pub mod role;
pub mod rupiah;
pub mod scope;
pub mod secret;
pub mod shard;
pub mod telp;
pub mod text;
pub mod timestamp;
pub mod whole;
