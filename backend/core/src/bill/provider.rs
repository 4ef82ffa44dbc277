//! Payment providers, and what they report.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A payment provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    Midtrans,
    /// Part of this server, for development.
    Simulated,
}

impl ProviderKind {
    pub const ALL: [Self; 2] = [Self::Midtrans, Self::Simulated];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Midtrans => "midtrans",
            Self::Simulated => "simulated",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Name of the provider in the ledger and the audit log.
    pub const fn principal(self) -> &'static str {
        match self {
            Self::Midtrans => "qris:midtrans",
            Self::Simulated => "qris:simulated",
        }
    }
}

/// How an outlet takes QRIS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum QrisMode {
    Off,
    /// The outlet's own QRIS: the kasir looks whether it was paid.
    Manual,
    Midtrans,
    Simulated,
}

impl QrisMode {
    pub const ALL: [Self; 4] = [Self::Off, Self::Manual, Self::Midtrans, Self::Simulated];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Manual => "manual",
            Self::Midtrans => "midtrans",
            Self::Simulated => "simulated",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }

    /// Who says that a bill of the outlet is paid; `None`: the outlet makes no bills.
    pub const fn provider(self) -> Option<ProviderKind> {
        match self {
            Self::Off | Self::Manual => None,
            Self::Midtrans => Some(ProviderKind::Midtrans),
            Self::Simulated => Some(ProviderKind::Simulated),
        }
    }
}

/// State of an order at its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentState {
    /// The provider does not know the order.
    Unknown,
    Pending,
    /// `in_rupiah` is false for another currency, and for a part of a rupiah.
    Paid {
        amount: i64,
        in_rupiah: bool,
    },
    Expired,
    /// Cancelled, or refused by the provider.
    Cancelled,
    /// It was paid, and refunded in whole or in part.
    Refunded {
        amount: i64,
    },
}

impl fmt::Display for PaymentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Pending => f.write_str("pending"),
            Self::Paid { amount, in_rupiah: true } => write!(f, "paid {amount}"),
            Self::Paid { amount, in_rupiah: false } => write!(f, "paid {amount} in another currency"),
            Self::Expired => f.write_str("expired"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Refunded { amount } => write!(f, "refunded, of {amount}"),
        }
    }
}

/// What a provider reports about an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReport {
    pub state: PaymentState,
    /// The provider's own id of the payment.
    pub reference: Option<String>,
}

impl From<PaymentState> for ProviderReport {
    fn from(state: PaymentState) -> Self {
        Self { state, reference: None }
    }
}
