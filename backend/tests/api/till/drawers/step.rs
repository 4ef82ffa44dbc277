//! The steps of a history.

use proptest::prelude::*;
use proptest::sample::Index;

use super::{CUSTOMERS, TILLS};

#[derive(Debug, Clone)]
pub enum Step {
    Open {
        till: usize,
        float: i64,
    },
    TopUp {
        till: usize,
        customer: usize,
        nominal: i64,
        means: &'static str,
    },
    Package {
        till: usize,
        customer: usize,
        means: &'static str,
    },
    /// Sold with an API key, which has no drawer.
    ByKey {
        outlet: usize,
        customer: usize,
        nominal: i64,
    },
    Reverse {
        till: usize,
        sale: Index,
    },
    Spend {
        outlet: usize,
        customer: usize,
    },
    PayOut {
        till: usize,
        customer: usize,
    },
    Cash {
        till: usize,
        direction: &'static str,
        nominal: i64,
    },
    /// All cash is taken out of the drawer.
    Empty {
        till: usize,
    },
    Close {
        till: usize,
        off: i64,
    },
    HandOver {
        till: usize,
        off: i64,
    },
    TenMinutes,
}

pub fn step() -> impl Strategy<Value = Step> {
    let till = || 0..TILLS.len();
    let (customer, outlet) = (|| 0..CUSTOMERS, || 0..2_usize);
    let nominal = || (1..60_i64).prop_map(|n| n * 1_000);
    let means = || prop::sample::select(vec!["tunai", "tunai", "qris", "transfer"]);
    let direction = prop::sample::select(vec!["masuk", "keluar", "setor"]);
    prop_oneof![
        3 => (till(), prop_oneof![Just(0), 0..200_000_i64]).prop_map(|(till, float)| Step::Open { till, float }),
        8 => (till(), customer(), nominal(), means())
            .prop_map(|(till, customer, nominal, means)| Step::TopUp { till, customer, nominal, means }),
        2 => (till(), customer(), means()).prop_map(|(till, customer, means)| Step::Package { till, customer, means }),
        1 => (outlet(), customer(), nominal()).prop_map(|(outlet, customer, nominal)| Step::ByKey { outlet, customer, nominal }),
        6 => (till(), any::<Index>()).prop_map(|(till, sale)| Step::Reverse { till, sale }),
        2 => (outlet(), customer()).prop_map(|(outlet, customer)| Step::Spend { outlet, customer }),
        2 => (till(), customer()).prop_map(|(till, customer)| Step::PayOut { till, customer }),
        4 => (till(), direction, nominal()).prop_map(|(till, direction, nominal)| Step::Cash { till, direction, nominal }),
        2 => till().prop_map(|till| Step::Empty { till }),
        1 => (till(), -5_000..5_000_i64).prop_map(|(till, off)| Step::Close { till, off }),
        1 => (till(), -5_000..5_000_i64).prop_map(|(till, off)| Step::HandOver { till, off }),
        1 => Just(Step::TenMinutes),
    ]
}
