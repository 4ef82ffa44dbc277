//! A customer who wants to be deleted (docs/money.md, A person's data).

/// What decides whether a customer may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// A purchase is undecided or runs.
    pub has_open_purchase: bool,
    /// A payment may still come in.
    pub awaits_payment: bool,
    /// Rupiah of all accounts together.
    pub balance: i64,
}

/// Why a customer is not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    OpenPurchase,
    AwaitsPayment,
    /// There is this much balance, and it was not given up.
    Balance(i64),
}

/// Decides on a deletion; `given_up` is the balance that its customer gives up.
///
/// # Errors
/// The first reason against it.
pub fn decide(facts: Facts, given_up: Option<i64>) -> Result<(), Refusal> {
    match facts {
        Facts { has_open_purchase: true, .. } => Err(Refusal::OpenPurchase),
        Facts { awaits_payment: true, .. } => Err(Refusal::AwaitsPayment),
        Facts { balance, .. } if balance > 0 && given_up != Some(balance) => Err(Refusal::Balance(balance)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn just_the_balance_is_given_up_and_nothing_is_left_open() {
        let nothing = Facts { has_open_purchase: false, awaits_payment: false, balance: 0 };
        let rich = Facts { balance: 50_000, ..nothing };
        for (facts, given_up, expected) in [
            (nothing, None, Ok(())),
            (nothing, Some(7), Ok(())),
            (rich, Some(50_000), Ok(())),
            (rich, None, Err(Refusal::Balance(50_000))),
            (rich, Some(49_999), Err(Refusal::Balance(50_000))),
            (rich, Some(50_001), Err(Refusal::Balance(50_000))),
            (Facts { awaits_payment: true, ..rich }, Some(50_000), Err(Refusal::AwaitsPayment)),
            (Facts { has_open_purchase: true, awaits_payment: true, ..rich }, None, Err(Refusal::OpenPurchase)),
        ] {
            assert_eq!(decide(facts, given_up), expected, "{facts:?} {given_up:?}");
        }
    }
}
