//! Sticker on a machine: `NYM1.<kid>.<payload>.<mac>`. It is valid as long as its version (`mesin.qr_versi`) is current.

use nyala_core::domain::id::MachineId;
use nyala_store::secrets::Secrets;
use rand::Rng;

const PREFIX: &str = "NYM1";

/// A version for a new sticker. Random: after a restore a machine may be given the id of a lost one, whose sticker must not open it.
pub fn new_version() -> i32 {
    rand::rng().random_range(1..=i32::MAX)
}

/// The sticker's text for version `versions` of machine `idmesin`.
pub fn make(secrets: &Secrets, idmesin: MachineId, versions: i32) -> String {
    let mut payload = [0; 12];
    payload[..8].copy_from_slice(&idmesin.to_be_bytes());
    payload[8..].copy_from_slice(&versions.to_be_bytes());
    let good = secrets.stickers.in_use();
    super::seal(PREFIX, good.kid, &good.key, &payload)
}

/// The machine's id and the sticker's version; the sticker is revoked when the machine has a newer version. `None` when the text is not
/// a sticker of this installation.
pub fn parse(text: &str, secrets: &Secrets) -> Option<(MachineId, i32)> {
    let payload: [u8; 12] = super::open(PREFIX, |kid| Some(&secrets.stickers.get(kid)?.key), text)?;
    let idmesin = payload.first_chunk().copied().map(MachineId::from_be_bytes)?;
    let versions = payload.last_chunk().copied().map(i32::from_be_bytes)?;
    Some((idmesin, versions))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two restores of one backup may give the same machine id again.
    #[test]
    fn a_new_stickers_version_is_random() {
        let versions: std::collections::BTreeSet<i32> = (0..100).map(|_| new_version()).collect();
        assert!(versions.len() > 90 && versions.iter().all(|version| *version > 0), "{versions:?}");
    }

    #[test]
    fn a_sticker_contains_its_machine_and_version() {
        let secrets = Secrets::random();
        assert_eq!(parse(&make(&secrets, MachineId::new(i64::MAX), 3), &secrets), Some((MachineId::new(i64::MAX), 3)));
        assert_eq!(parse(&make(&secrets, MachineId::new(1), 1), &Secrets::random()), None);
    }
}
