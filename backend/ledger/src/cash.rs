//! Cash that goes into a till's drawer or out of it: append-only, and what should be in the drawer is the sum of its shift's rows.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{PayoutId, ShiftId, TopUpId};
use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::types::ToSql;

use super::error::LedgerError;

/// Why it moved: `jenis` of the table, with what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CashKind<'a> {
    /// What was in the drawer when the shift began.
    Float,
    /// A top-up that was paid in cash.
    TopUp {
        idpembelian_emoney: TopUpId,
    },
    /// The cash of a top-up that was taken back.
    Reversal {
        idpembelian_emoney: TopUpId,
    },
    /// Balance that was paid out.
    Payout {
        idpenarikan: PayoutId,
    },
    In {
        reason: &'a str,
    },
    Out {
        reason: &'a str,
    },
    /// Brought to the owner or the bank.
    Deposit {
        reason: &'a str,
    },
}

impl<'a> CashKind<'a> {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Float => "modal",
            Self::TopUp { .. } => "topup",
            Self::Reversal { .. } => "batal",
            Self::Payout { .. } => "tarik",
            Self::In { .. } => "masuk",
            Self::Out { .. } => "keluar",
            Self::Deposit { .. } => "setor",
        }
    }

    const fn top_up(self) -> Option<TopUpId> {
        match self {
            Self::TopUp { idpembelian_emoney } | Self::Reversal { idpembelian_emoney } => Some(idpembelian_emoney),
            Self::Float | Self::Payout { .. } | Self::In { .. } | Self::Out { .. } | Self::Deposit { .. } => None,
        }
    }

    const fn payout(self) -> Option<PayoutId> {
        if let Self::Payout { idpenarikan } = self { Some(idpenarikan) } else { None }
    }

    const fn reason(self) -> Option<&'a str> {
        match self {
            Self::In { reason } | Self::Out { reason } | Self::Deposit { reason } => Some(reason),
            Self::Float | Self::TopUp { .. } | Self::Reversal { .. } | Self::Payout { .. } => None,
        }
    }
}

/// Writes one movement of `nominal` rupiah (never negative: the kind knows the direction) in a shift that this transaction holds or
/// has just opened. Gives the row's id.
pub async fn record(
    tx: &Transaction<'_>,
    shift: ShiftId,
    kind: CashKind<'_>,
    nominal: i64,
    principal: &str,
    now: Timestamp,
) -> Result<i64, LedgerError> {
    const RECORD: &str = "
        INSERT INTO kas_gerak (idshift, jenis, nominal, idpembelian_emoney, idpenarikan, alasan, aktor, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id";
    let stmt = tx.prepare_cached(RECORD).await?;
    let params: [&(dyn ToSql + Sync); 8] =
        [&shift, &kind.as_str(), &nominal, &kind.top_up(), &kind.payout(), &kind.reason(), &principal, &now];
    let row = tx.query_one(&stmt, &params).await?;
    Ok(row.get(0))
}
