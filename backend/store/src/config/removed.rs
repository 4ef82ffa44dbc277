//! Settings that earlier versions had. An empty one is ignored. One with a value is refused with what to do instead.

use config::{Value, ValueKind};

use super::ConfigError;

/// Section, key, and what to do instead.
const REMOVED: [(&str, &str, &str); 3] =
    [("mqtt", "broker_url", NO_BROKER), ("mqtt", "broker_password", NO_BROKER), ("mqtt", "broker_ca", NO_BROKER)];
const NO_BROKER: &str = "devices no longer connect through a broker: boards have its host in their keys, so give this server the broker's \
                         name and port (DNS, mqtt.public_host, mqtt.port) or the boards new keys (`nyala device rotate`), and take the \
                         setting out (docs/operations.md, \"Coming over from a broker\")";

/// Takes removed settings out of `settings`, which has no field for them, and returns their names.
///
/// # Errors
/// When one of them has a value, which is not part of the message: it may be a password.
pub fn take_out(settings: &mut Value) -> Result<Vec<String>, ConfigError> {
    let mut found = Vec::new();
    for (section, key, instead) in REMOVED {
        let ValueKind::Table(sections) = &mut settings.kind else { continue };
        let Some(ValueKind::Table(keys)) = sections.get_mut(section).map(|section| &mut section.kind) else { continue };
        match keys.remove(key).map(|value| value.kind) {
            None => {}
            Some(ValueKind::Nil) => found.push(format!("{section}.{key}")),
            Some(ValueKind::String(text)) if text.trim().is_empty() => found.push(format!("{section}.{key}")),
            Some(_) => return Err(ConfigError::Refused(format!("{section}.{key} is set, but {instead}"))),
        }
    }
    Ok(found)
}
