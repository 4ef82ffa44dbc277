//! The `tl` event of a machine on the wire (docs/contract.md §3).

use actix_socketio::Frame;
use nyala_core::domain::id::MachineId;
use nyala_machines::tick::Tick;

/// Frame that is encoded once for all watchers.
pub fn encode(idmesin: MachineId, tick: Tick) -> Frame {
    let ends_at = tick.ends_at.map_or_else(|| "null".to_owned(), |ms| ms.to_string());
    Frame::text(&format!(
        r#"42["heartbeat/{idmesin}",{{"tl":{},"ends_at":{ends_at},"server_time":{}}}]"#,
        tick.tl, tick.server_time
    ))
}

#[cfg(test)]
mod tests {
    use nyala_core::domain::timestamp::Timestamp;

    use super::*;

    #[test]
    fn a_tick_is_the_event_of_its_machine() {
        let (machine, now) = (MachineId::new(7), Timestamp::from_ms(1_500));
        let text = |tick| encode(machine, tick).as_text().to_string();
        assert_eq!(text(Tick::over(now, now)), r#"42["heartbeat/7",{"tl":0,"ends_at":1500,"server_time":1500}]"#);
        assert_eq!(text(Tick::voided(now)), r#"42["heartbeat/7",{"tl":0,"ends_at":null,"server_time":1500}]"#);
    }
}
