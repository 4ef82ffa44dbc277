//! A device on rumqttc; `drive.py` controls it like a real device.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rumqttc::{Client, ConnectReturnCode, ConnectionError, Event, Incoming, LastWill, MqttOptions, QoS, SubscribeReasonCode};
use serde_json::{Value, json};

struct Device {
    client: Client,
    prefix: String,
    qos: QoS,
    booted: Instant,
    conn: u32,
    seq: u32,
    epoch: i64,
    run: Value,
    last: Value,
}

impl Device {
    fn publish(&mut self, topic: &str, message: &Value) {
        self.seq += 1;
        let up_ms = u64::try_from(self.booted.elapsed().as_millis()).unwrap_or_default();
        let mut stamped = json!({"boot_id": 7, "conn": self.conn, "seq": self.seq, "up_ms": up_ms});
        if let (Some(stamped), Some(message)) = (stamped.as_object_mut(), message.as_object()) {
            stamped.extend(message.clone());
        }
        let topic_of = format!("{}/{topic}", self.prefix);
        self.client.try_publish(topic_of, self.qos, topic == "state", stamped.to_string()).expect("room");
    }

    fn publish_state(&mut self) {
        let message = json!({"online": true, "epoch": self.epoch, "run": self.run, "last": self.last});
        self.publish("state", &message);
    }

    fn on_command(&mut self, cmd: &Value) {
        self.epoch = self.epoch.max(cmd["epoch"].as_i64().expect("an epoch"));
        let known = self.last["cmd_id"] == cmd["cmd_id"];
        if cmd["op"] == "start" && !known {
            self.run = json!({"cmd_id": cmd["cmd_id"], "sisa_s": cmd["durasi_s"]});
            self.last = json!({"cmd_id": cmd["cmd_id"], "result": "started"});
        } else if cmd["op"] == "stop" && known {
            self.run = Value::Null;
            self.last["result"] = json!("done");
        }
        self.publish_state();
        if self.last["cmd_id"] == cmd["cmd_id"] {
            let last = self.last.clone();
            self.publish("ack", &last);
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, user, secret, prefix, qos] = arguments.as_slice() else { panic!("{arguments:?}") };
    let qos = if qos == "0" { QoS::AtMostOnce } else { QoS::AtLeastOnce };
    let mut options = MqttOptions::new(format!("rumqttc-{user}"), host, port.parse().expect("a port"));
    options.set_credentials(user, secret).set_keep_alive(Duration::from_secs(5));
    let will = json!({"online": false, "boot_id": 7}).to_string();
    options.set_last_will(LastWill::new(format!("{prefix}/state"), will, QoS::AtLeastOnce, true));
    let (client, mut connection) = Client::new(options, 16);
    let (run, last, booted) = (Value::Null, Value::Null, Instant::now());
    let mut device = Device { client, prefix: prefix.clone(), qos, booted, conn: 0, seq: 0, epoch: 0, run, last };
    for event in connection.iter() {
        match event {
            Ok(Event::Incoming(Incoming::ConnAck(_))) => {
                device.conn += 1;
                device.client.try_subscribe(format!("{prefix}/cmd"), qos).expect("room");
            }
            Ok(Event::Incoming(Incoming::SubAck(answer))) => {
                assert!(!answer.return_codes.contains(&SubscribeReasonCode::Failure));
                device.publish_state();
                println!("online");
            }
            Ok(Event::Incoming(Incoming::Publish(publish))) => {
                assert!(publish.topic == format!("{prefix}/cmd") && !publish.retain);
                device.on_command(&serde_json::from_slice(&publish.payload).expect("JSON"));
            }
            Ok(_) => {}
            Err(ConnectionError::ConnectionRefused(ConnectReturnCode::BadUserNamePassword)) => return println!("refused"),
            Err(_) => sleep(Duration::from_millis(500)),
        }
    }
}
