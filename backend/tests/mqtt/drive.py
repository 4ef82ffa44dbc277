"""Tests real MQTT clients as devices of the server. Each is a program beside this one: DEVICE HOST PORT USER SECRET PREFIX QOS.

Such a program logs in with a keep-alive of 5 s, subscribes to its commands, sends its state, and follows the commands (docs/contract.md
§6). It prints `online` after the first state of a connection and `refused` after a refused login, and reconnects by itself.
"""

import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
URL, KEY = os.environ["NYALA_URL"], os.environ["NYALA_KEY"]
PORT = int(os.environ["NYALA__MQTT__PORT"])
WAIT = 20  # seconds, for events that happen at once
KEEP_ALIVE = 5
PRICE = 2_000


def call(path, body, token=KEY):
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}", "idempotency-key": str(uuid.uuid4())}
    request = urllib.request.Request(URL + path, None if body is None else json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=WAIT) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def ops(path, body):
    status, answer = call(f"/ops/v1/{path}", body)
    assert status == 200, (path, answer)
    return answer["data"]


class Cable:
    """The connection between a device and the server, which the test can cut."""

    def __init__(self):
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        self.ends, self.lock = [], threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.door.accept()
            far = socket.create_connection(("127.0.0.1", PORT))
            with self.lock:
                self.ends += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while data := one.recv(4096):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        with self.lock:
            for end in self.ends:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.ends.clear()


class Device:
    def __init__(self, program, port, user, secret, prefix, qos):
        arguments = [*program, "127.0.0.1", str(port), user, secret, prefix, str(qos)]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.said = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.said.put(line.strip())

    def says(self, word):
        assert (told := self.said.get(timeout=WAIT)) == word, told

    def stop(self):
        # mosquitto's program is a pipe of several processes.
        try:
            os.killpg(self.process.pid, 15)
        except ProcessLookupError:
            pass
        self.process.wait(WAIT)


class Shop:
    def __init__(self):
        owner = ops("owner", {"nama": "Bu Ani"})["idowner"]
        place = {"idowner": owner, "nama": "Melati", "kota": "Bandung", "latitude": -6.9, "longitude": 107.6}
        self.outlet = ops("outlet", place)["idoutlet"]
        service = {"idoutlet": self.outlet, "nama": "Cuci", "durasi": 600, "harga": PRICE}
        self.service = ops("layanan", service)["id"]
        self.receipts = iter(range(1, 1_000))

    def machine(self, name):
        made = ops("mesin", {"idoutlet": self.outlet, "nama": name, "driver": "mqtt"})
        return made["id"], ops(f"mesin/{made['id']}/perangkat", {})

    def customer(self):
        many = {"jumlah": 1, "awalan_telp": "8120", "idoutlet": self.outlet, "saldo": 10 * PRICE}
        return ops("pelanggan/bulk", many)["pelanggan"][0]

    def buy(self, machine, customer):
        body = {
            "id": f"SLF{next(self.receipts):015}", "idcustomer": customer["idcustomer"], "idmesin": machine, "idoutlet": self.outlet,
            "idsnap_layanan": self.service, "total": PRICE, "grandtotal": PRICE,
        }
        status, answer = call("/scan/v1/transaksi/create_snap_transaksi", body, customer["token"])
        assert status == 200, answer


def status(machine):
    return call(f"/ops/v1/mesin/{machine}", None)[1]["data"]["status"]


def until(machine, wanted):
    ends = time.monotonic() + WAIT
    while (now := status(machine)) != wanted:
        assert time.monotonic() < ends, f"{now} and not {wanted}"
        time.sleep(0.05)


def held_to(shop, name, program, qos):
    """All requirements of one client."""
    machine, key = shop.machine(f"{name} {qos}")
    customer, cable = shop.customer(), Cable()
    prefix = f"nyala/v1/{key['idoutlet']}/{machine}"
    refused = Device(program, cable.port, key["user"], "0" * 32, prefix, qos)
    refused.says("refused")
    refused.stop()
    device = Device(program, cable.port, key["user"], key["secret"], prefix, qos)
    try:
        device.says("online")
        until(machine, "idle")
        shop.buy(machine, customer)
        assert status(machine) == "busy"
        # Longer than the server waits for a packet and for a message of the device: the client must send both without a request.
        time.sleep(2 * KEEP_ALIVE)
        assert device.said.empty(), device.said.get()
        ops(f"mesin/{machine}/stop", {"alasan": "uji"})
        until(machine, "idle")
        cable.cut()
        device.says("online")
        shop.buy(machine, customer)
    finally:
        device.stop()
    print(f"ok: {name}, QoS {qos}", flush=True)


def metric(name):
    with urllib.request.urlopen(f"{URL}/metrics", timeout=WAIT) as page:
        lines = [line.split() for line in page.read().decode().splitlines() if line.startswith(name)]
    return sum(float(value) for _, value in lines)


def main():
    clients = {
        "paho-mqtt": [sys.executable, HERE / "paho_device.py"],
        "mqtt.js": ["node", HERE / "mqttjs.mjs"],
        "rumqttc": [sys.argv[1]],
        "mosquitto": ["sh", HERE / "mosquitto.sh"],
    }
    if not (shutil.which("mosquitto_sub") and shutil.which("mosquitto_pub")):
        del clients["mosquitto"]
        print("SKIPPED: mosquitto, whose clients are not here (Debian: mosquitto-clients)", flush=True)
    shop = Shop()
    with ThreadPoolExecutor(8) as pool:
        runs = {pool.submit(held_to, shop, name, program, qos): name for name, program in clients.items() for qos in (0, 1)}
    failed = [name for run, name in runs.items() if run.exception() and not traceback.print_exception(run.exception())]
    assert not failed, failed
    for reason in ("malformed", "foreign", "stale"):
        assert metric(f'nyala_device_words_dropped_total{{reason="{reason}"}}') == 0, reason
    for reason in ("protocol", "flood", "slow", "silent"):
        assert metric(f'nyala_device_closed_total{{reason="{reason}"}}') == 0, reason


main()
