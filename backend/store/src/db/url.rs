//! What is wrong with a connection string, and what to write instead. Never contains a value, which may be a password.

use std::error::Error as _;

use tokio_postgres::Error;

/// Options that other programs know, each with what to write instead.
const INSTEAD: [(&[&str], &str); 9] = [
    (
        &["schema", "currentschema", "search_path"],
        "leave it out: the schema that has the tables is found by itself; for a new shop in a schema of its own write \
         options=-c%20search_path%3D<schema> (in the key=value form: options='-c search_path=<schema>')",
    ),
    (
        &["sslrootcert", "sslcert", "sslkey", "sslcrl", "sslpassword"],
        "leave it out: sslmode=require checks the server's certificate against the public authorities",
    ),
    (&["ssl", "tls", "ssl_mode", "ssl-mode", "requiressl"], "write sslmode=require"),
    (&["username", "role"], "write user"),
    (&["database", "db"], "write dbname"),
    (&["passwd", "pass"], "write password"),
    (
        &["pgbouncer", "connection_limit", "pool_timeout", "max_connections", "pool_size", "socket_timeout"],
        "leave it out: database.connections and database.wait_ms are the limits",
    ),
    (&["client_encoding", "encoding", "charset", "timezone"], "leave it out: every connection sets its own"),
    (&["statement_timeout", "lock_timeout"], "leave it out: database.statement_ms and database.lock_ms are the limits"),
];

/// All known options, for the message about an unknown one.
const KNOWN: &str = "user, password, dbname, host, hostaddr, port, options, sslmode, connect_timeout, keepalives, \
                     application_name, channel_binding";

/// Says what `e`, the driver's refusal of `url`, is about.
pub fn explain(url: &str, e: &Error) -> String {
    let why = e.source().map_or_else(|| e.to_string(), ToString::to_string);
    let quoted = why.split('`').nth(1).unwrap_or_default();
    if why.starts_with("unknown option") {
        let lower = quoted.to_lowercase();
        let instead = INSTEAD.iter().find(|(names, _)| names.contains(&lower.as_str())).map(|(_, instead)| (*instead).to_owned());
        let instead = instead.unwrap_or_else(|| format!("leave it out; the options are {KNOWN}"));
        return format!("unknown option `{quoted}`: {instead}");
    }
    if quoted == "sslmode" {
        let end = |c: char| c == '&' || c.is_whitespace();
        let value = url.rsplit_once("sslmode").map_or("", |(_, rest)| rest.trim_start_matches([' ', '=']));
        let value = value.split(end).next().unwrap_or_default().trim_matches('\'');
        return match value {
            "verify-full" | "verify-ca" => format!(
                "sslmode={value}: write sslmode=require, which checks the server's certificate and its name against the public \
                 authorities"
            ),
            _ => "sslmode: write sslmode=require for TLS, or sslmode=disable for a plain connection".to_owned(),
        };
    }
    why
}
