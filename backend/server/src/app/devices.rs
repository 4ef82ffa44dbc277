//! The listener for devices over MQTT (docs/contract.md §6).

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use actix_server::ServerBuilder;
use actix_service::fn_service;
use actix_web::rt::net::TcpStream;
use nyala_store::config::ServerSettings;

use super::AppState;
use super::listener::listen;

#[derive(Debug, thiserror::Error)]
pub enum DeviceBindError {
    #[error(
        "port {port} on {host} is taken, where devices connect; choose another with NYALA__MQTT__PORT or mqtt.port in config/ ({source})"
    )]
    Taken { host: String, port: u16, source: std::io::Error },
    #[error("cannot listen for devices on {host}:{port}; check mqtt.host and mqtt.port ({source})")]
    Other { host: String, port: u16, source: std::io::Error },
}

/// `None`: this server serves no devices over MQTT, and has logged the reason.
///
/// # Errors
/// When the port is taken or cannot be bound, and it was chosen or production needs it.
pub fn bind(config: &ServerSettings) -> Result<Option<TcpListener>, DeviceBindError> {
    if config.is_production() && config.mqtt.public_host.is_empty() {
        tracing::warn!("mqtt.public_host is not set: devices over MQTT are not served");
        return Ok(None);
    }
    let (host, port) = (config.mqtt.host.clone(), config.mqtt.port);
    match listen((&host, port), config.http.backlog) {
        Ok(listener) => Ok(Some(listener)),
        Err(e) if e.kind() == ErrorKind::AddrInUse && config.mqtt.port_is_default && !config.is_production() => {
            tracing::warn!(host, port, "the default port for devices is taken: devices over MQTT are not served");
            Ok(None)
        }
        Err(source) if source.kind() == ErrorKind::AddrInUse => Err(DeviceBindError::Taken { host, port, source }),
        Err(source) => Err(DeviceBindError::Other { host, port, source }),
    }
}

/// Has the workers take what comes to `listener`.
///
/// # Errors
/// When the listener cannot be used.
pub fn serve(builder: ServerBuilder, state: &AppState, listener: TcpListener) -> std::io::Result<ServerBuilder> {
    let mqtt = state.mqtt.clone();
    if state.config.mqtt.port == 0 {
        // A key contains the address of the server.
        std::fs::write(state.config.device_port_file(), listener.local_addr()?.port().to_string())?;
    }
    builder.listen("devices", listener, move || {
        // Runs once on each worker thread, where the devices of its outlets live.
        let endpoint = mqtt.start_thread().inspect_err(|e| tracing::error!(error = %e, "a thread serves no devices")).ok();
        fn_service(move |io: TcpStream| {
            if let Some(endpoint) = &endpoint
                && let Ok(stream) = io.into_std()
            {
                endpoint.take(stream);
            }
            std::future::ready(Ok::<_, Infallible>(()))
        })
    })
}

/// Address for devices, as it is printed at the start.
pub fn address(listener: Option<&TcpListener>) -> Option<SocketAddr> {
    listener.and_then(|listener| listener.local_addr().ok())
}
