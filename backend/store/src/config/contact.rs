//! Settings that are a contact, a mailbox or a web page, or the address of a site.

use nyala_core::domain::origin::Origin;

/// # Errors
/// When `value` is neither empty nor the address of a mailbox or a page. One with a blank or a line break is no URI, and would add
/// lines to `security.txt`.
pub fn check(key: &str, value: &str) -> Result<(), String> {
    let is_uri = ["mailto:", "https://"].iter().any(|scheme| value.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    let is_plain = value.bytes().all(|b| b.is_ascii_graphic());
    if value.is_empty() || (is_uri && is_plain) {
        return Ok(());
    }
    Err(format!(
        "{key} = \"{value}\" must begin with mailto: or https:// and have no blanks, such as \"mailto:it@laundry.example\""
    ))
}

/// # Errors
/// When `value` is neither empty nor the address of a site without a path, as links begin with it.
pub fn check_address(key: &str, value: &str) -> Result<(), String> {
    let is_origin = Origin::parse(value).is_ok_and(|origin| origin.as_str() == value);
    if value.is_empty() || is_origin {
        return Ok(());
    }
    Err(format!(
        "{key} = \"{value}\" must be an address without a path and a last slash, such as \"https://app.laundry.example\""
    ))
}
