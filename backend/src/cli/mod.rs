//! The commands of the `nyala` binary (contract §4).

pub mod serve;
