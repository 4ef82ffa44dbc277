//! Where a cluster lies below its base folder.

use std::fs;
use std::path::{Path, PathBuf};

/// PGDATA.
pub(crate) fn dir(base: &Path) -> PathBuf {
    base.join("cluster")
}

pub(crate) fn exists(base: &Path) -> bool {
    version(&dir(base)).is_some()
}

/// The content of `PG_VERSION`: the major version that made the cluster.
pub(crate) fn version(cluster: &Path) -> Option<String> {
    fs::read_to_string(cluster.join("PG_VERSION")).ok().map(|text| text.trim().to_owned())
}
