//! Where a purchase stands, and what the customer's app is told of it.

use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// `snap_transaksi.state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// The money is held and the machine reserved; the command has not left yet.
    Held,
    /// The command was sent and its answer is awaited.
    Sent,
    /// No answer came; the device's next word decides.
    Unsure,
    Running,
    /// Ran to its end.
    Finished,
    /// Ended early by an operator.
    Stopped,
    /// The device refused; the money is back.
    Refused,
    /// Known not to have started; the money is back.
    Expired,
}

impl State {
    const ALL: [Self; 8] =
        [Self::Held, Self::Sent, Self::Unsure, Self::Running, Self::Finished, Self::Stopped, Self::Refused, Self::Expired];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "HELD",
            Self::Sent => "SENT",
            Self::Unsure => "UNSURE",
            Self::Running => "RUNNING",
            Self::Finished => "FINISHED",
            Self::Stopped => "STOPPED",
            Self::Refused => "REFUSED",
            Self::Expired => "EXPIRED",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }

    /// `snap_transaksi_detail[].status` (contract §2): 1 held, 2 command sent or unsure, 3 running, 4 finished. `None` for a
    /// purchase that never started: its detail is 404.
    pub const fn detail_status(self) -> Option<u8> {
        match self {
            Self::Held => Some(1),
            Self::Sent | Self::Unsure => Some(2),
            Self::Running => Some(3),
            Self::Finished | Self::Stopped => Some(4),
            Self::Refused | Self::Expired => None,
        }
    }

    /// Whether the purchase still has its machine.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Held | Self::Sent | Self::Unsure | Self::Running)
    }
}

type SqlError = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for State {
    fn to_sql(&self, ty: &Type, out: &mut bytes::BytesMut) -> Result<IsNull, SqlError> {
        self.as_str().to_sql(ty, out)
    }
    accepts!(TEXT);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for State {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        let text = <&str>::from_sql(ty, raw)?;
        Self::parse(text).ok_or_else(|| format!("unknown state {text}").into())
    }
    accepts!(TEXT);
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn every_state_reads_back() {
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
        assert_eq!(State::parse("held"), None);
    }

    #[test]
    fn an_open_purchase_is_never_told_as_finished() {
        for state in State::ALL {
            assert_eq!(state.is_open(), state.detail_status().is_some_and(|s| s != 4), "{state:?}");
        }
    }
}
