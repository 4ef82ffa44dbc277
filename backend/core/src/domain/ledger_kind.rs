//! Kind of a ledger row: which way money moved, and why (docs/money.md, Kinds of the ledger).

/// `ledger_transfer.kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LedgerKind {
    /// The price of a purchase is held.
    Hold,
    /// A hold is paid: the machine started.
    Post,
    /// A hold is released.
    Void,
    TopUp,
    /// The rest of a price goes back, and the use is deleted.
    Deletion,
    Refund,
    /// A top-up is taken back.
    Reversal,
    /// Balance is paid out in cash.
    Payout,
    /// Bonus, or expired balance, ends.
    Forfeit,
    /// Balance leaves the accounts of a number that retires.
    MoveOut,
    /// The same balance reaches the customer who stays.
    MoveIn,
    /// Balance that a customer had in another system.
    Opening,
}

impl LedgerKind {
    pub const ALL: [Self; 12] = [
        Self::Hold,
        Self::Post,
        Self::Void,
        Self::TopUp,
        Self::Deletion,
        Self::Refund,
        Self::Reversal,
        Self::Payout,
        Self::Forfeit,
        Self::MoveOut,
        Self::MoveIn,
        Self::Opening,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hold => "pending",
            Self::Post => "post",
            Self::Void => "void",
            Self::TopUp => "topup",
            Self::Deletion => "hapus",
            Self::Refund => "refund",
            Self::Reversal => "batal",
            Self::Payout => "penarikan",
            Self::Forfeit => "hangus",
            Self::MoveOut => "pindah_keluar",
            Self::MoveIn => "pindah_masuk",
            Self::Opening => "saldo_awal",
        }
    }

    /// Reads what `as_str` wrote; the schema's CHECK allows nothing else.
    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// By how much a row of `amount` rupiah changes the balance that can be spent.
    pub const fn change(self, amount: i64) -> i64 {
        match self {
            Self::Hold | Self::Reversal | Self::Payout | Self::Forfeit | Self::MoveOut => -amount,
            // The hold has taken it.
            Self::Post => 0,
            Self::Void | Self::TopUp | Self::Deletion | Self::Refund | Self::MoveIn | Self::Opening => amount,
        }
    }

    /// Whether it is about the balance itself, and not about a purchase.
    pub const fn is_of_balance(self) -> bool {
        match self {
            Self::TopUp | Self::Reversal | Self::Payout | Self::Forfeit | Self::MoveOut | Self::MoveIn | Self::Opening => true,
            Self::Hold | Self::Post | Self::Void | Self::Deletion | Self::Refund => false,
        }
    }
}

/// The kinds of [`LedgerKind::is_of_balance`], as SQL writes them after `IN`: the condition of the index `riwayat_topup`.
#[doc(hidden)]
#[macro_export]
macro_rules! __kinds_of_balance {
    () => {
        "('topup', 'batal', 'penarikan', 'hangus', 'pindah_keluar', 'pindah_masuk', 'saldo_awal')"
    };
}
pub use __kinds_of_balance as kinds_of_balance;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_and_nothing_else_does() {
        for kind in LedgerKind::ALL {
            assert_eq!(LedgerKind::from_stored(kind.as_str()), Some(kind));
        }
        assert_eq!(LedgerKind::from_stored("HAPUS"), None);
    }

    #[test]
    fn sql_names_the_kinds_of_a_balance() {
        let listed = |sql: &str, kind: LedgerKind| sql.contains(&format!("'{}'", kind.as_str()));
        for kind in LedgerKind::ALL {
            assert_eq!(listed(kinds_of_balance!(), kind), kind.is_of_balance(), "{kind:?}");
        }
    }
}
