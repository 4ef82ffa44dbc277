//! The server's line to the broker: logged in, with the topics that it hears.

use std::io;
use std::time::Duration;

use nyala_mqtt::client::{Connection, Event, Login};
use nyala_mqtt::{Granted, Limits, Qos, Refusal, Unsent, Violation};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address::Broker;
use super::{USER, WORDS};

/// For each step until the server hears its devices.
const STEP: Duration = Duration::from_secs(5);
/// For all of them: a broker may tell what it has kept, word by word, before it answers.
const ALL_STEPS: Duration = Duration::from_secs(30);
/// Seconds between two packets that the broker may count on.
pub const KEEP_ALIVE_S: u16 = 30;
const READ_BYTES: usize = 64 * 1024;
/// Bytes that may wait to be sent. Commands that find no room are lost, as on any network, and said again.
const MOST_WAITING: usize = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("no answer within {} s", STEP.as_secs())]
    Slow(#[from] tokio::time::error::Elapsed),
    #[error("it does not let the server hear devices within {} s", ALL_STEPS.as_secs())]
    Endless,
    #[error("it refuses the server: {0}")]
    Refused(Refusal),
    #[error("it does not let the server hear {0}")]
    Denied(String),
    #[error("it breaks the protocol: {0}")]
    Violation(#[from] Violation),
    #[error(transparent)]
    Unsent(#[from] Unsent),
    #[error("it closed the connection")]
    Closed,
    #[error("it says nothing")]
    Silent,
}

trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

/// What was read, or that something was sent.
pub enum Moved {
    Read(usize),
    Sent,
}

pub struct Line {
    stream: Box<dyn Stream>,
    mqtt: Connection,
    out: Vec<u8>,
    buf: Vec<u8>,
}

impl Line {
    /// Connects, logs in and asks for what devices say.
    ///
    /// # Errors
    /// What kept it from that.
    pub async fn connect(broker: &Broker) -> Result<Self, LineError> {
        timeout(ALL_STEPS, Self::log_in(broker)).await.unwrap_or(Err(LineError::Endless))
    }

    async fn log_in(broker: &Broker) -> Result<Self, LineError> {
        let tcp = timeout(STEP, TcpStream::connect((broker.host.as_str(), broker.port))).await??;
        tcp.set_nodelay(true)?;
        let stream: Box<dyn Stream> = match &broker.tls {
            None => Box::new(tcp),
            Some((config, name)) => {
                Box::new(timeout(STEP, TlsConnector::from(config.clone()).connect(name.clone(), tcp)).await??)
            }
        };
        let mut line = Self { stream, mqtt: Connection::new(Limits::default()), out: Vec::new(), buf: vec![0; READ_BYTES] };
        let client_id = format!("nyala-{}", uuid::Uuid::new_v4().simple());
        let login = Login {
            client_id: &client_id,
            user: Some(USER),
            password: Some(broker.password.as_bytes()),
            keep_alive: KEEP_ALIVE_S,
            will: None,
        };
        line.mqtt.connect(&login, &mut line.out)?;
        match timeout(STEP, line.event()).await?? {
            Event::Refused(why) => return Err(LineError::Refused(why)),
            _ => line.subscribe().await?,
        }
        Ok(line)
    }

    async fn subscribe(&mut self) -> Result<(), LineError> {
        let topics = WORDS.map(|word| format!("nyala/v1/+/+/{word}"));
        for topic in &topics {
            self.mqtt.subscribe(&[(topic, Qos::AtMostOnce)], &mut self.out)?;
        }
        for topic in topics {
            // What it has kept may come before its answer, and is worth nothing.
            let granted = loop {
                if let Event::Subscribed(subscribed) = timeout(STEP, self.event()).await?? {
                    break subscribed.granted;
                }
            };
            if granted.iter().any(|granted| matches!(granted, Granted::No)) {
                return Err(LineError::Denied(topic));
            }
        }
        Ok(())
    }

    /// The next event, one read at a time; only before devices are heard.
    async fn event(&mut self) -> Result<Event, LineError> {
        loop {
            self.stream.write_all(&self.out).await?;
            self.out.clear();
            let mut byte = [0];
            if self.stream.read(&mut byte).await? == 0 {
                return Err(LineError::Closed);
            }
            if let Some(event) = self.mqtt.feed(&mut &byte[..], &mut self.out)? {
                return Ok(event);
            }
        }
    }

    /// Waits until something was read or sent.
    ///
    /// # Errors
    /// When the line is over.
    pub async fn turn(&mut self) -> Result<Moved, LineError> {
        let (mut reader, mut writer) = tokio::io::split(&mut self.stream);
        tokio::select! {
            read = reader.read(&mut self.buf) => match read? {
                0 => Err(LineError::Closed),
                n => Ok(Moved::Read(n)),
            },
            sent = writer.write(&self.out), if !self.out.is_empty() => {
                let sent = sent?;
                self.out.drain(..sent);
                writer.flush().await?;
                Ok(Moved::Sent)
            }
        }
    }

    /// What came in `n` bytes that were read.
    ///
    /// # Errors
    /// When the broker breaks the protocol.
    pub fn events(&mut self, n: usize) -> Result<Vec<Event>, LineError> {
        let mut bytes = self.buf.get(..n).unwrap_or_default();
        let mut events = Vec::new();
        while let Some(event) = self.mqtt.feed(&mut bytes, &mut self.out)? {
            events.push(event);
        }
        Ok(events)
    }

    /// Publishes at QoS 0: what is not answered is said again. False: there is no room.
    pub fn publish(&mut self, topic: &str, payload: &[u8]) -> bool {
        self.out.len() < MOST_WAITING && self.mqtt.publish(topic, payload, Qos::AtMostOnce, false, &mut self.out).is_ok()
    }

    pub fn ping(&mut self) -> Result<(), LineError> {
        Ok(self.mqtt.ping(&mut self.out)?)
    }
}
