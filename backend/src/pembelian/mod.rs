//! The purchase: one pure `step` (design: money 2), the rules of refusal, and what is read and written for them.

pub mod aturan;
pub mod batas;
pub mod fakta;
pub mod fault;
pub mod keadaan;
pub mod perangkat;
pub mod pulih;
pub mod rate;
pub mod step;
