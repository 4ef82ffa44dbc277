//! A new file of the app's build is embedded only when this crate is built again. Cargo runs this each time for a path that is missing.

use std::path::Path;

fn main() {
    let built = "../../frontend/dist";
    println!("cargo:rerun-if-changed={}", if Path::new(built).is_dir() { built } else { "build.rs" });
}
