//! Conditions of machines with their beginning and end.

use nyala_core::board::Condition;
use nyala_core::board::attention::Spell;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use tokio_postgres::Row;

/// Conditions of an outlet's machines, the oldest first.
#[derive(Debug, Default)]
pub struct Spells(Vec<(MachineId, Spell)>);

impl Spells {
    /// Adds a row with outlet, machine, condition, beginning and end; the oldest first.
    pub fn add(&mut self, row: &Row) -> Result<(), DbError> {
        self.0.push((row.try_get(1)?, spell(row.try_get(2)?, row.try_get(3)?, row.try_get(4)?)?));
        Ok(())
    }

    /// Since when a condition of a machine holds.
    pub fn since(&self, id: MachineId, condition: Condition) -> Option<Timestamp> {
        self.of(id).find(|spell| spell.condition == condition && spell.until.is_none()).map(|spell| spell.from)
    }

    /// Those of one machine.
    pub fn of(&self, id: MachineId) -> impl Iterator<Item = &Spell> {
        self.0.iter().filter(move |(of, _)| *of == id).map(|(_, spell)| spell)
    }
}

/// A condition as it is stored.
pub(super) fn spell(stored: &str, from: Timestamp, until: Option<Timestamp>) -> Result<Spell, DbError> {
    let condition = Condition::from_stored(stored).ok_or_else(|| DbError::broken(format!("unknown condition {stored}")))?;
    Ok(Spell { condition, from, until })
}
