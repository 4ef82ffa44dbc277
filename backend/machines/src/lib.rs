//! Machines: one actor for each machine that is bought from or watched, the registry `Machines` that finds it, and the devices.

pub mod actor;
pub mod alarm;
pub mod conditions;
pub mod device;
pub mod error;
pub mod listeners;
pub mod machines;
pub mod metrics;
pub mod recovery;
pub mod status;
pub mod threads;
pub mod tick;
pub mod ticker;
