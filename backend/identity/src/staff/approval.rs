//! Approval by a supervisor at a kasir's till: of one action on one object, once, within two minutes.

use std::fmt;

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{CustomerId, StaffId, TopUpId, WalletId};
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;

use super::Staff;
use super::error::StaffError;
use super::key::{self, KeyKind};
use super::operator::AtTill;

const VALID_MS: i64 = 2 * 60 * 1000;
const MAX_OBJECT_BYTES: usize = 64;

/// The approved act: `aksi` and `objek` of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    kind: ActKind,
    object: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ActKind {
    TopUp,
    Reversal,
    Refund,
    Delete,
    Cash,
    Payout,
    Move,
}

impl ActKind {
    const ALL: [Self; 7] = [Self::TopUp, Self::Reversal, Self::Refund, Self::Delete, Self::Cash, Self::Payout, Self::Move];

    const fn as_str(self) -> &'static str {
        match self {
            Self::TopUp => "topup",
            Self::Reversal => "batal",
            Self::Refund => "refund",
            Self::Delete => "hapus",
            Self::Cash => "kas",
            Self::Payout => "tarik",
            Self::Move => "pindah",
        }
    }
}

impl Act {
    fn new(kind: ActKind, object: impl fmt::Display) -> Self {
        Self { kind, object: object.to_string() }
    }

    pub fn top_up(id_customer_global: CustomerId, nominal: i64) -> Self {
        Self::new(ActKind::TopUp, format_args!("{id_customer_global}:{nominal}"))
    }

    pub fn reversal(idpembelian_emoney: TopUpId) -> Self {
        Self::new(ActKind::Reversal, idpembelian_emoney)
    }

    pub fn refund(receipt: &str, idcustomer: WalletId, nominal: i64) -> Self {
        Self::new(ActKind::Refund, format_args!("{receipt}:{idcustomer}:{nominal}"))
    }

    pub fn delete(receipt: &str, idcustomer: WalletId) -> Self {
        Self::new(ActKind::Delete, format_args!("{receipt}:{idcustomer}"))
    }

    pub fn cash(kind: &str, nominal: i64) -> Self {
        Self::new(ActKind::Cash, format_args!("{kind}:{nominal}"))
    }

    pub fn payout(idcustomer: WalletId, paid: i64) -> Self {
        Self::new(ActKind::Payout, format_args!("{idcustomer}:{paid}"))
    }

    /// `new` is the customer whose code was shown; the accounts of `telp` move there.
    pub fn move_number(new: CustomerId, telp: &Telp) -> Self {
        Self::new(ActKind::Move, format_args!("{new}:{telp}"))
    }

    /// Object as the audit log has it, which nothing can be deleted from: without a number.
    pub fn object_for_audit(&self) -> &str {
        match self.kind {
            ActKind::Move => self.object.split(':').next().unwrap_or_default(),
            _ => &self.object,
        }
    }

    /// Parses a request. `None` for an unknown action, or an object that no action can have.
    pub fn read(kind: &str, object: &str) -> Option<Self> {
        let kind = ActKind::ALL.into_iter().find(|k| k.as_str() == kind)?;
        let plain = object.bytes().all(|b| b.is_ascii_alphanumeric() || b == b':');
        (plain && (1..=MAX_OBJECT_BYTES).contains(&object.len())).then(|| Self::new(kind, object))
    }
}

impl Staff {
    /// Records an approval by `approver` for the session at `till`. Its text is returned only here.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn approve(
        &self,
        tx: &Transaction<'_>,
        till: AtTill,
        approver: StaffId,
        act: &Act,
        now: Timestamp,
    ) -> Result<String, StaffError> {
        const GIVE: &str = "
            INSERT INTO izin (hash, id_kunci, id_sesi, aksi, objek, created_at, sampai) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id";
        let (secret, hash) = key::generate();
        let until = now.plus_ms(VALID_MS);
        let row = tx.query_one(GIVE, &[&hash, &approver, &till.session, &act.kind.as_str(), &act.object, &now, &until]).await?;
        Ok(KeyKind::Approval.text(row.get::<_, i64>(0), &secret))
    }
}

/// Uses up an approval in the transaction that it allows. Returns the approver.
///
/// # Errors
/// `NotApproved` when it is for another action, object or session, or is used or expired.
pub async fn use_up(tx: &Transaction<'_>, text: &str, till: AtTill, act: &Act, now: Timestamp) -> Result<StaffId, StaffError> {
    const USE: &str = "
        UPDATE izin i SET dipakai_at = $6 FROM kunci_operator k
        WHERE i.id = $1 AND i.hash = $2 AND i.id_sesi = $3 AND i.aksi = $4 AND i.objek = $5 AND i.dipakai_at IS NULL AND i.sampai > $6
            AND k.id = i.id_kunci AND k.revoked_at IS NULL
        RETURNING i.id_kunci";
    let (id, hash) = KeyKind::Approval.read(text).ok_or(StaffError::NotApproved)?;
    let stmt = tx.prepare_cached(USE).await?;
    let row = tx.query_opt(&stmt, &[&id, &hash, &till.session, &act.kind.as_str(), &act.object, &now]).await?;
    row.map(|row| row.get(0)).ok_or(StaffError::NotApproved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requested_act_equals_the_performed_one() {
        assert_eq!(Act::read("topup", "7:1500000"), Some(Act::top_up(CustomerId::new(7), 1_500_000)));
        assert_eq!(Act::read("batal", "12"), Some(Act::reversal(TopUpId::new(12))));
        assert_eq!(
            Act::read("refund", "SLF261120180530123:4:5000"),
            Some(Act::refund("SLF261120180530123", WalletId::new(4), 5_000))
        );
        assert_eq!(Act::read("hapus", "SLF261120180530123:4"), Some(Act::delete("SLF261120180530123", WalletId::new(4))));
        assert_eq!(Act::read("kas", "setor:100000"), Some(Act::cash("setor", 100_000)));
        assert_eq!(Act::read("tarik", "4:40000"), Some(Act::payout(WalletId::new(4), 40_000)));
        let telp = Telp::parse("0812-3456-7890").unwrap();
        let moves = Act::move_number(CustomerId::new(7), &telp);
        assert_eq!((Act::read("pindah", "7:81234567890"), moves.object_for_audit()), (Some(moves.clone()), "7"));
        for (kind, object) in [("stop", "1"), ("topup", ""), ("topup", "1;2"), ("kas", &"1".repeat(65))] {
            assert_eq!(Act::read(kind, object), None, "{kind} {object}");
        }
    }
}
