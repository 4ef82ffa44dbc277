"""A device on paho-mqtt; drive.py controls it like a real device."""

import json
import sys
import time

from paho.mqtt.client import CallbackAPIVersion, Client

host, port, user, secret, prefix, qos = sys.argv[1:]
booted = time.monotonic()
device = {"conn": 0, "seq": 0, "epoch": 0, "run": None, "last": None}


def say(client, topic, word):
    device["seq"] += 1
    stamp = {"boot_id": 7, "conn": device["conn"], "seq": device["seq"], "up_ms": int(1000 * (time.monotonic() - booted))}
    client.publish(f"{prefix}/{topic}", json.dumps({**stamp, **word}), int(qos), topic == "state")


def say_state(client):
    say(client, "state", {"online": True, **{name: device[name] for name in ("epoch", "run", "last")}})


def connected(client, _, flags, reason, properties):
    if reason.is_failure:
        print("refused", flush=True)
        sys.exit()
    device["conn"] += 1
    client.subscribe(f"{prefix}/cmd", int(qos))


def subscribed(client, _, mid, reasons, properties):
    assert not reasons[0].is_failure, reasons
    say_state(client)
    print("online", flush=True)


def told(client, _, message):
    assert message.topic == f"{prefix}/cmd" and not message.retain
    cmd = json.loads(message.payload)
    device["epoch"] = max(device["epoch"], cmd["epoch"])
    known = device["last"] and device["last"]["cmd_id"] == cmd["cmd_id"]
    if cmd["op"] == "start" and not known:
        device["run"] = {"cmd_id": cmd["cmd_id"], "sisa_s": cmd["durasi_s"]}
        device["last"] = {"cmd_id": cmd["cmd_id"], "result": "started"}
    elif cmd["op"] == "stop" and known:
        device["run"], device["last"]["result"] = None, "done"
    say_state(client)
    if device["last"] and device["last"]["cmd_id"] == cmd["cmd_id"]:
        say(client, "ack", {"epoch": cmd["epoch"], **device["last"]})


client = Client(CallbackAPIVersion.VERSION2, client_id="")
client.on_connect, client.on_subscribe, client.on_message = connected, subscribed, told
client.username_pw_set(user, secret)
client.will_set(f"{prefix}/state", json.dumps({"online": False, "boot_id": 7}), 1, True)
client.reconnect_delay_set(1, 1)
client.connect(host, int(port), keepalive=5)
client.loop_forever()
