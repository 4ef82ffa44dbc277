//! Settings from the environment: `NYALA__SECTION__KEY`, two underscores each time.

use std::collections::HashMap;

use config::{Map, Value, ValueKind};

use super::{ConfigError, LISTS};

/// Refuses variables that look like a setting and would be ignored, such as `NYALA_PROFILE`. `defaults` are the
/// sections and settings there are; `NYALA_BIN` and others that name none of them are not settings.
pub fn refuse_misspelt(defaults: &Map<String, Value>) -> Result<(), ConfigError> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let misspelt = names.filter_map(|name| Some((meant(&name, defaults)?, name))).min();
    misspelt.map_or(Ok(()), |(right, name)| {
        Err(ConfigError::Refused(format!(
            "{name} in the environment is no setting and would be ignored; write {right}, or unset it"
        )))
    })
}

/// The right spelling, when `name` means a setting and is spelt otherwise, or names a section and no key of it.
fn meant(name: &str, defaults: &Map<String, Value>) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let rest = upper.strip_prefix("NYALA_")?.trim_start_matches('_');
    let right = defaults.iter().find_map(|(known, value)| {
        let known = known.to_ascii_uppercase();
        let key = rest.strip_prefix(&known)?;
        match (&value.kind, key.strip_prefix('_')) {
            (ValueKind::Table(keys), _) if key.trim_start_matches('_').is_empty() => Some(of_section(&known, keys)),
            (ValueKind::Table(_), Some(key)) => Some(format!("NYALA__{known}__{}", key.trim_start_matches('_'))),
            (ValueKind::Table(_), None) => None,
            _ => key.is_empty().then(|| format!("NYALA__{known}")),
        }
    })?;
    // What follows the prefix may be in small letters.
    let right_already = name.starts_with("NYALA__") && upper == right;
    (!right_already).then_some(right)
}

/// What a section's settings are called.
fn of_section(section: &str, keys: &Map<String, Value>) -> String {
    let mut names: Vec<_> = keys.keys().map(|key| format!("NYALA__{section}__{}", key.to_ascii_uppercase())).collect();
    names.sort();
    names.join(" or ")
}

/// `NYALA__SECTION__KEY`: the lists, of which an empty one counts as not given, and the rest, whose values stay the text they are
/// (`0123` is no number when a text is asked).
pub fn sources() -> (Vec<(&'static str, Vec<String>)>, config::Environment) {
    let ours = std::env::vars_os().filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
    let (mut lists, mut plain) = (Vec::new(), HashMap::new());
    for (key, value) in ours.filter(|(key, _)| key.starts_with("NYALA__")) {
        match LISTS.iter().find(|list| key[7..].to_lowercase().replace("__", ".") == **list) {
            Some(list) => lists.push((*list, items(&value))),
            None => _ = plain.insert(key, value),
        }
    }
    lists.retain(|(_, items)| !items.is_empty());
    let source = config::Environment::with_prefix("NYALA").prefix_separator("__").separator("__").source(Some(plain));
    (lists, source)
}

/// The items of a list as it is written in the environment and in flags: separated by commas, with blanks or not.
pub fn items(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_underscore_or_a_section_without_key_is_reported_and_names_of_our_own_are_not() {
        let section = |keys: &[&str]| {
            let keys = keys.iter().map(|key| ((*key).to_owned(), Value::new(None, "")));
            Value::new(None, ValueKind::Table(keys.collect()))
        };
        let defaults = Map::from_iter([
            ("profile".to_owned(), Value::new(None, "development")),
            ("data".to_owned(), section(&["dir"])),
            ("log".to_owned(), section(&["format", "filter"])),
            ("database".to_owned(), section(&["url"])),
            ("http".to_owned(), section(&["port"])),
        ]);
        for (name, right) in [
            ("NYALA_PROFILE", "NYALA__PROFILE"),
            ("NYALA___PROFILE", "NYALA__PROFILE"),
            ("nyala__profile", "NYALA__PROFILE"),
            ("NYALA_HTTP_PORT", "NYALA__HTTP__PORT"),
            ("NYALA_HTTP__PORT", "NYALA__HTTP__PORT"),
            ("NYALA__HTTP_PORT", "NYALA__HTTP__PORT"),
            ("NYALA__HTTP_TRUSTED_PROXIES", "NYALA__HTTP__TRUSTED_PROXIES"),
            ("NYALA_DATA_DIR", "NYALA__DATA__DIR"),
            ("NYALA_DATABASE_URL", "NYALA__DATABASE__URL"),
            ("NYALA_DATA", "NYALA__DATA__DIR"),
            ("NYALA__DATA", "NYALA__DATA__DIR"),
            ("NYALA__DATA__", "NYALA__DATA__DIR"),
            ("NYALA_LOG", "NYALA__LOG__FILTER or NYALA__LOG__FORMAT"),
        ] {
            assert_eq!(meant(name, &defaults).as_deref(), Some(right), "{name}");
        }
        for name in [
            "NYALA__PROFILE",
            "NYALA__http__port",
            "NYALA__HTTP__PORT",
            "NYALA__NO__SUCH",
            "NYALA_BIN",
            "NYALA_KEY",
            "NYALA_URL",
            "NYALA_SIM_SEED",
            "NYALA_TEST_DATABASE_URL",
            "NYALA_PROFILES",
            "NYALA_HTTPS_PORT",
            "NYALA_",
            "DATABASE_URL",
            "HTTP_PORT",
        ] {
            assert_eq!(meant(name, &defaults), None, "{name}");
        }
    }
}
