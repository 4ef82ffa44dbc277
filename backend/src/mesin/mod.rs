//! Machines: one actor each while somebody buys or watches, the registry that finds it, and the devices behind it.

pub mod actor;
pub mod device;
pub mod messages;
pub mod registry;
