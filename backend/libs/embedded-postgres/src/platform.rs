//! The platform's name in the npm package.

/// The package's last name, `linux-x64` and the like; `None` where `npm/package.json` pins none.
pub(crate) fn platform() -> Option<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Some("linux-x64"),
        "aarch64" => Some("linux-arm64"),
        _ => None,
    }
}
