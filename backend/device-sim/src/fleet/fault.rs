//! Faults that a device may have.

use std::str::FromStr;

use super::selection::Selection;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Refuse,
    Silent,
    Late,
    Reboot,
    Amnesia,
    ClockOff,
    Flap,
    Duplicate,
    Reorder,
    Clone,
    HalfOpen,
    NeverRuns,
    SlowStart,
    LongCycle,
    StuckSensor,
}

impl Fault {
    pub const ALL: [Self; 15] = [
        Self::Refuse,
        Self::Silent,
        Self::Late,
        Self::Reboot,
        Self::Amnesia,
        Self::ClockOff,
        Self::Flap,
        Self::Duplicate,
        Self::Reorder,
        Self::Clone,
        Self::HalfOpen,
        Self::NeverRuns,
        Self::SlowStart,
        Self::LongCycle,
        Self::StuckSensor,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Silent => "silent",
            Self::Late => "late",
            Self::Reboot => "reboot",
            Self::Amnesia => "amnesia",
            Self::ClockOff => "clock-off",
            Self::Flap => "flap",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Clone => "clone",
            Self::HalfOpen => "half-open",
            Self::NeverRuns => "never-runs",
            Self::SlowStart => "slow-start",
            Self::LongCycle => "long-cycle",
            Self::StuckSensor => "stuck-sensor",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::as_str).join(", ");
        Self::ALL.into_iter().find(|fault| fault.as_str() == text).ok_or_else(|| format!("{text:?} is no fault: {}", known()))
    }
}

/// Devices that have a fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Share {
    Of(Selection),
    /// Each device, with this probability.
    Percent(f64),
}

impl Share {
    /// Parses `KIND[:ids|:percent]`, the form of a flag.
    ///
    /// # Errors
    /// A description of the part that is not understood.
    pub fn parse(text: &str) -> Result<(Fault, Self), String> {
        let (kind, share) = text.split_once(':').unwrap_or((text, "all"));
        let share = match share.strip_suffix('%') {
            Some(percent) => match percent.parse() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Self::Percent(percent),
                _ => return Err(format!("{share:?} is not from 0% to 100%")),
            },
            None => Self::Of(share.parse()?),
        };
        Ok((kind.parse()?, share))
    }
}

/// The faults of one device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Faults(u16);

impl Faults {
    pub fn has(self, fault: Fault) -> bool {
        self.0 & fault.bit() != 0
    }

    pub fn set(&mut self, fault: Fault, is: bool) {
        if is { self.0 |= fault.bit() } else { self.0 &= !fault.bit() }
    }

    /// The fault that makes the device lose its connection or its power repeatedly, if any.
    pub fn recurring(self) -> Option<Fault> {
        [Fault::Amnesia, Fault::Reboot, Fault::Flap].into_iter().find(|fault| self.has(*fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_kind_and_whom_it_is_for() {
        let all = || Share::Of("all".parse().unwrap());
        for (text, fault, share) in [
            ("refuse", Fault::Refuse, all()),
            ("clock-off:all", Fault::ClockOff, all()),
            ("flap:5%", Fault::Flap, Share::Percent(5.0)),
            ("late:1-50", Fault::Late, Share::Of("1-50".parse().unwrap())),
        ] {
            assert_eq!(Share::parse(text), Ok((fault, share)), "{text}");
        }
        for (text, why) in [
            ("broken", "\"broken\" is no fault: refuse, silent,"),
            ("flap:101%", "\"101%\" is not from 0% to 100%"),
            ("flap:x%", "\"x%\" is not from"),
            ("flap:", "\"\" is no machines"),
        ] {
            let error = Share::parse(text).unwrap_err();
            assert!(error.starts_with(why), "{text}: {error}");
        }
    }

    #[test]
    fn every_fault_is_one_of_its_own() {
        for fault in Fault::ALL {
            let mut faults = Faults::default();
            faults.set(fault, true);
            assert_eq!(Fault::ALL.map(|other| faults.has(other)), Fault::ALL.map(|other| other == fault));
            faults.set(fault, false);
            assert_eq!((faults, fault.as_str().parse()), (Faults::default(), Ok(fault)));
        }
    }
}
