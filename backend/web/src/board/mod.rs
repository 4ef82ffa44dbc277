//! The board: what staff see of an outlet's machines and of what needs a person, and how changes reach their pages (docs/board.md).

pub mod customers;
pub mod detail;
pub mod entry;
pub mod history;
pub mod read;
pub mod spells;
pub mod tablet;
pub mod technician;
pub mod tile;
