//! `nyala device export`: the keys of a file for a broker that devices connect to instead of the server. The server keeps hashes that a
//! broker cannot use, so the secrets come from the file that `nyala device add` wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as B64;
use clap::{Args, ValueEnum};
use rand::RngCore;
use sha2::{Digest, Sha512};

use super::keys_file::{self, Key};
use super::write_new;
use crate::cli::context::CommandContext;
use crate::cli::{Failure, output};
use crate::machine::device::mqtt::broker;
use crate::machine::device::mqtt::keys::hash;
use crate::machine::device::mqtt::logins::{self, Claim};

const SALT_BYTES: usize = 12;
/// The least that there is: a secret of 128 random bits is not guessed, however quick a guess is.
const BCRYPT_COST: u32 = 4;

#[derive(Debug, Args)]
pub struct Export {
    #[arg(long = "for", value_name = "BROKER")]
    broker: Broker,
    /// What `nyala device add` and `rotate` wrote: files of --out, and lines of JSON; of a machine's keys the last one that counts
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    keys: Vec<PathBuf>,
    /// The folder for the broker's files; it must not be there yet
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Broker {
    Mosquitto,
    Nats,
}

impl Export {
    pub async fn run(self, k: &CommandContext) -> Result<(), Failure> {
        let mut keys = Vec::new();
        for file in &self.keys {
            keys.extend(keys_file::read(file)?);
        }
        let keys = counting(k, keys, &self.keys).await?;
        let server = broker::password(&k.secrets().await?);
        std::fs::create_dir(&self.out).map_err(|e| Failure::new(format!("{} cannot be made: {e}", self.out.display())))?;
        match self.broker {
            Broker::Mosquitto => {
                write_new(&self.out.join("passwd"), &mosquitto_passwords(&keys, &server))?;
                write_new(&self.out.join("acl"), &mosquitto_acl(&keys))?;
            }
            Broker::Nats => write_new(&self.out.join("users.conf"), &nats_users(&keys, &server)?)?,
        }
        let done = format!(
            "{} devices and the server are in {}; docs/devices.md says what the broker is told of it",
            keys.len(),
            self.out.display()
        );
        output::print(&done, &done)
    }
}

/// Of each machine the last one that counts: a device with one that does not would be let in by the broker and by nobody else, and a
/// broker knows one password of a user.
async fn counting(k: &CommandContext, keys: Vec<Key>, files: &[PathBuf]) -> Result<Vec<Key>, Failure> {
    let files = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    let claims: Vec<Claim> = keys.iter().map(|key| Claim { idmesin: key.idmesin, hash: hash(key.secret.as_bytes()) }).collect();
    let found = logins::check(&k.client().await?, &claims).await?;
    let (counting, stale): (Vec<_>, Vec<_>) = keys.into_iter().zip(found).partition(|(_, found)| found.is_some());
    if counting.is_empty() {
        return Err(Failure::new(format!("no key in {files} counts any more")));
    }
    let last: BTreeMap<i64, Key> = counting.into_iter().map(|(key, _)| (key.idmesin, key)).collect();
    let lost: BTreeSet<i64> = stale.iter().map(|(key, _)| key.idmesin).filter(|id| !last.contains_key(id)).collect();
    if !lost.is_empty() {
        let machines: Vec<String> = lost.iter().map(i64::to_string).collect();
        output::warn(&format!("left out: keys in {files} that do not count any more, of machines {}", machines.join(", ")));
    }
    Ok(last.into_values().collect())
}

/// The password of a user as mosquitto keeps it: SHA-512 of password and salt (mosquitto_passwd(1)).
fn mosquitto_line(user: &str, password: &str) -> String {
    let mut salt = [0; SALT_BYTES];
    rand::rng().fill_bytes(&mut salt);
    let hashed = Sha512::new().chain_update(password).chain_update(salt).finalize();
    format!("{user}:$6${}${}\n", B64.encode(salt), B64.encode(hashed))
}

fn mosquitto_passwords(keys: &[Key], server: &str) -> String {
    let devices = keys.iter().map(|key| mosquitto_line(&key.idmesin.to_string(), &key.secret));
    std::iter::once(mosquitto_line(broker::USER, server)).chain(devices).collect()
}

/// Who may say and hear what (mosquitto.conf(5), acl_file).
fn mosquitto_acl(keys: &[Key]) -> String {
    let mut acl = format!("user {}\n", broker::USER);
    for word in broker::WORDS {
        let _ = writeln!(acl, "topic read nyala/v1/+/+/{word}");
    }
    acl += "topic write nyala/v1/+/+/cmd\n";
    for Key { idmesin, idoutlet, .. } in keys {
        let _ = writeln!(acl, "\nuser {idmesin}\ntopic read nyala/v1/{idoutlet}/{idmesin}/cmd");
        for word in broker::WORDS {
            let access = if word == "state" { "readwrite" } else { "write" };
            let _ = writeln!(acl, "topic {access} nyala/v1/{idoutlet}/{idmesin}/{word}");
        }
    }
    acl
}

/// NATS names topics with dots, and takes passwords as bcrypt (docs.nats.io, "Authorization").
fn nats_users(keys: &[Key], server: &str) -> Result<String, Failure> {
    let hashed = |password: &str| bcrypt::hash(password, BCRYPT_COST).map_err(|e| Failure::new(e.to_string()));
    let list = |of: &str| broker::WORDS.map(|word| format!("\"nyala.v1.{of}.{word}\"")).join(", ");
    let mut text = "authorization {\n  users = [\n".to_owned();
    let (password, words) = (hashed(server)?, list("*.*"));
    let _ = writeln!(
        text,
        "    {{ user: \"{}\", password: \"{password}\", allowed_connection_types: [\"MQTT\"], permissions: {{ publish: [\"nyala.v1.*.*.cmd\"], \
         subscribe: [{words}] }} }}",
        broker::USER
    );
    for Key { idmesin, idoutlet, secret, .. } in keys {
        let (password, of) = (hashed(secret)?, format!("{idoutlet}.{idmesin}"));
        let _ = writeln!(
            text,
            "    {{ user: \"{idmesin}\", password: \"{password}\", allowed_connection_types: [\"MQTT\"], permissions: {{ publish: [{}], \
             subscribe: [\"nyala.v1.{of}.cmd\", \"nyala.v1.{of}.state\"] }} }}",
            list(&of)
        );
    }
    text += "  ]\n}\n";
    Ok(text)
}
