//! How much of an account's balance was paid for, and how much is bonus: a replay of the account's ledger rows in their order. A payout pays the
//! paid part (docs/money.md, Paying out).

use std::collections::HashMap;

use super::domain::id::PurchaseId;
use super::domain::ledger_kind::LedgerKind;

/// A row of an account's ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Movement {
    pub kind: LedgerKind,
    /// Rupiah, never negative: the kind knows the direction.
    pub amount: i64,
    /// The price of the top-up that it is about, or the paid part of what was moved or brought along; otherwise 0.
    pub paid: i64,
    pub purchase: Option<PurchaseId>,
}

/// An account after some of its rows, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaidBalance {
    paid: i64,
    balance: i64,
    /// The paid part of the price of each purchase, less what came back of it.
    spent: HashMap<PurchaseId, i64>,
}

impl PaidBalance {
    pub const fn paid(&self) -> i64 {
        self.paid
    }

    /// The rest, which was not paid for.
    pub const fn bonus(&self) -> i64 {
        self.balance - self.paid
    }

    /// What can be spent, without what is held.
    pub const fn balance(&self) -> i64 {
        self.balance
    }

    /// A purchase takes paid money first, and a refund returns paid money first. A reversal takes back what was paid for its top-up, as far as
    /// it is there.
    pub fn apply(&mut self, row: &Movement) {
        let bought = row.paid.min(row.amount);
        let paid = match row.kind {
            LedgerKind::TopUp | LedgerKind::MoveIn | LedgerKind::Opening => self.paid + bought,
            LedgerKind::Reversal => self.paid - bought,
            LedgerKind::Hold => self.paid - self.spend(row),
            LedgerKind::Post => self.paid,
            LedgerKind::Void | LedgerKind::Refund | LedgerKind::Deletion => self.paid + self.give_back(row),
            LedgerKind::Payout | LedgerKind::Forfeit | LedgerKind::MoveOut => 0,
        };
        self.balance += row.kind.change(row.amount);
        self.paid = paid.min(self.balance).max(0);
    }

    fn spend(&mut self, row: &Movement) -> i64 {
        let paid = self.paid.min(row.amount);
        if let Some(purchase) = row.purchase.filter(|_| paid > 0) {
            self.spent.insert(purchase, paid);
        }
        paid
    }

    fn give_back(&mut self, row: &Movement) -> i64 {
        let Some(left) = row.purchase.and_then(|purchase| self.spent.get_mut(&purchase)) else { return 0 };
        let back = row.amount.min(*left);
        *left -= back;
        back
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(kind: LedgerKind, amount: i64, paid: i64, purchase: i64) -> Movement {
        Movement { kind, amount, paid, purchase: Some(PurchaseId::new(purchase)) }
    }

    fn top_up(price: i64, quota: i64) -> Movement {
        Movement { kind: LedgerKind::TopUp, amount: quota, paid: price, purchase: None }
    }

    fn after(rows: &[Movement]) -> PaidBalance {
        let mut account = PaidBalance::default();
        rows.iter().for_each(|row| account.apply(row));
        account
    }

    fn parts(rows: &[Movement]) -> (i64, i64) {
        let account = after(rows);
        (account.paid(), account.bonus())
    }

    #[test]
    fn a_bonus_that_was_used_is_not_taken_from_new_money() {
        let used = [row(LedgerKind::Hold, 80, 0, 1), row(LedgerKind::Post, 80, 0, 1)];
        assert_eq!(parts(&[top_up(50, 100), used[0], used[1]]), (0, 20));
        assert_eq!(parts(&[top_up(50, 100), used[0], used[1], top_up(100, 100)]), (100, 20));
    }

    #[test]
    fn what_comes_back_of_a_price_is_paid_as_far_as_it_was() {
        let used = [top_up(50, 100), row(LedgerKind::Hold, 80, 0, 1), row(LedgerKind::Post, 80, 0, 1)];
        let then = |rows: &[Movement]| parts(&[&used, rows].concat());
        assert_eq!(then(&[row(LedgerKind::Refund, 30, 0, 1)]), (30, 20));
        assert_eq!(then(&[row(LedgerKind::Refund, 30, 0, 1), row(LedgerKind::Deletion, 50, 0, 1)]), (50, 50));
        assert_eq!(parts(&[top_up(50, 100), row(LedgerKind::Hold, 80, 0, 1), row(LedgerKind::Void, 80, 0, 1)]), (50, 50));
        assert_eq!(then(&[top_up(100, 100), row(LedgerKind::Payout, 100, 0, 0), row(LedgerKind::Forfeit, 20, 0, 0)]), (0, 0));
        let refunded_later = [
            top_up(100, 100),
            row(LedgerKind::Payout, 100, 0, 0),
            row(LedgerKind::Forfeit, 20, 0, 0),
            row(LedgerKind::Refund, 60, 0, 1),
        ];
        assert_eq!(then(&refunded_later), (50, 10), "it is balance again");
    }

    #[test]
    fn a_reversal_takes_what_was_paid_as_far_as_it_is_there() {
        let reversal = |price, quota| Movement { kind: LedgerKind::Reversal, ..top_up(price, quota) };
        assert_eq!(parts(&[top_up(50, 100), top_up(30, 30), reversal(50, 100)]), (30, 0));
        assert_eq!(parts(&[top_up(10, 100), top_up(0, 60), row(LedgerKind::Hold, 40, 0, 1), reversal(10, 100)]), (0, 20));
        assert_eq!(parts(&[top_up(100, 50)]), (50, 0), "no more than the balance that it gave");
        assert_eq!(parts(&[top_up(50, 50), top_up(0, 50), reversal(0, 50)]), (50, 0));
    }

    #[test]
    fn what_was_moved_or_brought_along_says_what_was_paid() {
        let brought = |kind, amount, paid| Movement { kind, amount, paid, purchase: None };
        assert_eq!(parts(&[brought(LedgerKind::Opening, 70, 70), brought(LedgerKind::MoveIn, 50, 20)]), (90, 30));
        assert_eq!(parts(&[brought(LedgerKind::MoveIn, 50, 20), brought(LedgerKind::MoveOut, 50, 20)]), (0, 0));
    }

    /// An account as the ledger keeps it: nothing is spent or taken that is not there, and no more comes back than was paid for a purchase.
    #[derive(Debug, Default)]
    struct Ledger {
        rows: Vec<Movement>,
        balance: i64,
        /// Purchases with what is left of their price, and whether they are held still.
        purchases: Vec<(i64, bool)>,
        /// Quotas and prices of top-ups that are not reversed.
        top_ups: Vec<(i64, i64)>,
        /// Rupiah that were paid in.
        cash: i64,
    }

    impl Ledger {
        fn push(&mut self, kind: LedgerKind, amount: i64, paid: i64, purchase: Option<usize>) {
            let purchase = purchase.map(|n| PurchaseId::new(n as i64 + 1));
            self.rows.push(Movement { kind, amount, paid, purchase });
            self.balance += kind.change(amount);
        }

        fn step(&mut self, (what, a, b): (u8, i64, i64)) {
            let nth = |many: usize| (many > 0).then(|| a.unsigned_abs() as usize % many.max(1));
            match what {
                0 | 1 => {
                    self.push(LedgerKind::TopUp, a, b, None);
                    self.top_ups.push((a, b));
                    self.cash += b.min(a);
                }
                2 | 3 if self.balance > 0 => {
                    let price = b.min(self.balance);
                    self.purchases.push((price, true));
                    self.push(LedgerKind::Hold, price, 0, Some(self.purchases.len() - 1));
                }
                4 | 5 => {
                    if let Some(n) = nth(self.purchases.len()).filter(|n| self.purchases[*n].1) {
                        let price = self.purchases[n].0;
                        self.purchases[n] = if what == 4 { (price, false) } else { (0, false) };
                        self.push(if what == 4 { LedgerKind::Post } else { LedgerKind::Void }, price, 0, Some(n));
                    }
                }
                6 => {
                    if let Some(n) = nth(self.purchases.len()).filter(|n| !self.purchases[*n].1 && self.purchases[*n].0 > 0) {
                        let back = b.min(self.purchases[n].0);
                        self.purchases[n].0 -= back;
                        self.push(LedgerKind::Refund, back, 0, Some(n));
                    }
                }
                7 => {
                    if let Some(n) = nth(self.top_ups.len()).filter(|n| self.top_ups[*n].0 <= self.balance) {
                        let (quota, price) = self.top_ups.swap_remove(n);
                        self.push(LedgerKind::Reversal, quota, price, None);
                    }
                }
                _ => {}
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn nobody_is_paid_more_than_was_paid_in(steps in proptest::collection::vec((0..9_u8, 1..100_i64, 1..100_i64), 1..60)) {
            let (mut ledger, mut account, mut done, mut paid_out) = (Ledger::default(), PaidBalance::default(), 0, 0);
            for step in steps {
                ledger.step(step);
                for row in &ledger.rows[done..] {
                    account.apply(row);
                }
                if step.0 == 8 && account.paid() > 0 {
                    paid_out += account.paid();
                    let (paid, bonus) = (account.paid(), account.bonus());
                    ledger.push(LedgerKind::Payout, paid, 0, None);
                    ledger.push(LedgerKind::Forfeit, bonus, 0, None);
                    for row in &ledger.rows[ledger.rows.len() - 2..] {
                        account.apply(row);
                    }
                }
                done = ledger.rows.len();
                prop_assert_eq!(account.balance(), ledger.balance);
                prop_assert!((0..=account.balance()).contains(&account.paid()), "{:?}", account);
                prop_assert!(paid_out + account.paid() <= ledger.cash, "{:?} of {:?}", account, ledger.rows);
            }
        }

        /// Bonus alone is never paid out, and without bonus the whole balance is.
        #[test]
        fn it_is_all_or_nothing_without_a_mixture(steps in proptest::collection::vec((0..7_u8, 1..100_i64, 1..100_i64), 1..60)) {
            let (mut paid, mut given) = (Ledger::default(), Ledger::default());
            for (what, a, b) in steps {
                paid.step((what, a, if what < 2 { a } else { b }));
                given.step((what, a, if what < 2 { 0 } else { b }));
            }
            prop_assert_eq!(after(&paid.rows).bonus(), 0);
            prop_assert_eq!(after(&given.rows).paid(), 0);
        }
    }
}
