//! Machines: installing them, their devices, their status, and stopping them.

pub mod ask;
pub mod bulk;
pub mod change;
pub mod closing;
pub mod detail;
pub mod device_key;
pub mod install;
pub mod start_by;
pub mod status;
pub mod sticker;
pub mod stop;
pub mod test_start;
