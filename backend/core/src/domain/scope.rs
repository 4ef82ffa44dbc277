//! What a caller may see.

use super::id::{OutletId, OwnerId};

/// Limits to an owner's outlets, to one outlet, or not at all: `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    pub owner: Option<OwnerId>,
    pub outlet: Option<OutletId>,
}
