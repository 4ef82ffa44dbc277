//! The good keys of one purpose, each with its number (`kid`).

use std::fmt;
use std::str::FromStr;

use nyala_core::domain::timestamp::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The uses of the keys; each has a separate ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Customers' tokens and QR codes, the codes that WhatsApp sends, cookies of known phones, and tickets of the tills' sockets.
    Tokens,
    /// Stickers on the machines.
    Stickers,
    /// The authority that signs the certificate that devices see.
    Devices,
    /// The sender's identity at push services (VAPID).
    Pushes,
    /// What PINs are mixed with before they are hashed.
    Pins,
}

impl What {
    pub const ALL: [Self; 5] = [Self::Tokens, Self::Stickers, Self::Devices, Self::Pushes, Self::Pins];

    pub const fn as_str(self) -> &'static str {
        self.fields().0
    }

    /// Description of the purpose for the help of the command line.
    pub const fn meaning(self) -> &'static str {
        self.fields().1
    }

    const fn fields(self) -> (&'static str, &'static str) {
        match self {
            Self::Tokens => ("tokens", "Customers' logins and codes"),
            Self::Stickers => ("stickers", "Stickers on the machines"),
            Self::Devices => ("devices", "The authority that devices trust"),
            Self::Pushes => ("pushes", "The sender's identity at push services"),
            Self::Pins => ("pins", "The key that PINs are mixed with"),
        }
    }
}

impl FromStr for What {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|what| what.as_str() == text).ok_or("no such purpose")
    }
}

/// Number of a key among those of its purpose; each rotation counts one up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kid(i32);

impl Kid {
    pub const FIRST: Self = Self(1);

    pub(super) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    pub const fn get(self) -> i32 {
        self.0
    }

    pub fn new(kid: i32) -> Option<Self> {
        (kid > 0).then_some(Self(kid))
    }
}

impl fmt::Display for Kid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads only what `Display` writes: a text with another spelling of the number was not made here.
impl FromStr for Kid {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let kid = text.parse().ok().and_then(Self::new).filter(|kid| kid.to_string() == text);
        kid.ok_or("a kid must be a number from 1 on, without zeros in front")
    }
}

impl Serialize for Kid {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Kid {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

/// The keys of one purpose that are good, the oldest first. There is always one.
#[derive(Debug, Clone)]
pub struct Ring<K> {
    keys: Vec<GoodKey<K>>,
    /// Place of the key in use.
    in_use: usize,
}

#[derive(Debug, Clone)]
pub struct GoodKey<K> {
    pub kid: Kid,
    /// When it was made; `None` for the first keys until the first rotation, because their file does not contain it.
    pub since: Option<Timestamp>,
    pub key: K,
}

/// What can be done with the keys of every purpose, whatever they are.
pub(super) trait KeyRing {
    fn kids(&self) -> Vec<Kid>;
    fn newest(&self) -> Kid;
    fn kid_in_use(&self) -> Kid;
    /// The bytes of a good key.
    fn material(&self, kid: Kid) -> Option<Vec<&[u8]>>;
    /// When a good key was made, as far as it is known.
    fn since(&self, kid: Kid) -> Option<Timestamp>;
    /// Drops a key that is not the newest.
    fn remove(&mut self, kid: Kid);
    /// Uses the newest key of which `is_usable`, or the oldest one.
    fn use_newest(&mut self, is_usable: &dyn Fn(Kid) -> bool);
    /// Dates the keys that have no date.
    fn date(&mut self, first_at: Timestamp);
}

/// A key, or several that are replaced together.
pub(super) trait Material {
    fn material(&self) -> Vec<&[u8]>;
}

impl<K: Material> KeyRing for Ring<K> {
    fn kids(&self) -> Vec<Kid> {
        self.keys.iter().map(|good| good.kid).collect()
    }

    fn newest(&self) -> Kid {
        self.keys[self.keys.len() - 1].kid
    }

    fn kid_in_use(&self) -> Kid {
        self.in_use().kid
    }

    fn material(&self, kid: Kid) -> Option<Vec<&[u8]>> {
        self.get(kid).map(|good| good.key.material())
    }

    fn since(&self, kid: Kid) -> Option<Timestamp> {
        self.get(kid)?.since
    }

    fn remove(&mut self, kid: Kid) {
        let (in_use, newest) = (self.in_use().kid, self.newest());
        self.keys.retain(|good| good.kid != kid || kid == newest);
        self.use_newest(&|kid| kid <= in_use);
    }

    fn use_newest(&mut self, is_usable: &dyn Fn(Kid) -> bool) {
        self.in_use = self.keys.iter().rposition(|good| is_usable(good.kid)).unwrap_or(0);
    }

    fn date(&mut self, first_at: Timestamp) {
        self.keys.iter_mut().for_each(|good| _ = good.since.get_or_insert(first_at));
    }
}

impl<K> Ring<K> {
    /// A ring with the first key.
    pub(super) fn first(kid: Kid, key: K) -> Self {
        Self { keys: vec![GoodKey { kid, since: None, key }], in_use: 0 }
    }

    /// `None` when there is no key, or the numbers do not go up.
    pub(super) fn of(keys: Vec<GoodKey<K>>) -> Option<Self> {
        let goes_up = keys.array_windows().all(|[one, next]| one.kid < next.kid);
        let in_use = keys.len().checked_sub(1)?;
        goes_up.then_some(Self { keys, in_use })
    }

    /// The key that signs: the newest one that every server has.
    pub fn in_use(&self) -> &GoodKey<K> {
        &self.keys[self.in_use]
    }

    pub fn oldest(&self) -> &GoodKey<K> {
        &self.keys[0]
    }

    pub fn get(&self, kid: Kid) -> Option<&GoodKey<K>> {
        self.keys.iter().find(|good| good.kid == kid)
    }

    /// All good keys, the newest first.
    pub fn iter(&self) -> impl Iterator<Item = &GoodKey<K>> {
        self.keys.iter().rev()
    }

    /// The key that replaced this one.
    pub(super) fn successor(&self, kid: Kid) -> Option<&GoodKey<K>> {
        self.keys.iter().find(|good| good.kid > kid)
    }

    pub(super) fn push(&mut self, key: K, since: Timestamp) -> (Kid, Kid) {
        let from = self.keys[self.keys.len() - 1].kid;
        self.keys.push(GoodKey { kid: from.next(), since: Some(since), key });
        self.in_use = self.keys.len() - 1;
        (from, from.next())
    }
}
