"""The real Python client against the example server, in one of its settings: default, websocket or polling."""

import queue
import sys

import socketio

WAIT = 5  # seconds
url, setting = sys.argv[1:]
transports = {"default": None, "websocket": ["websocket"], "polling": ["polling"]}[setting]


def connect(namespace="/", **extra):
    """A connected client, and the queue of what it receives."""
    client, received = socketio.Client(reconnection_delay=0.01, randomization_factor=0), queue.Queue()
    for event in ("auth", "message-back"):
        client.on(event, lambda *args, event=event: received.put((event, args)), namespace=namespace)
    client.connect(url, transports=transports, namespaces=[namespace], wait_timeout=WAIT, **extra)
    return client, received


def auth_is_echoed():
    client, received = connect(auth={"token": "good"})
    assert received.get(timeout=WAIT) == ("auth", ({"token": "good"},))
    return client


def events_and_binary():
    client, received = connect("/custom")
    assert received.get(timeout=WAIT) == ("auth", ({},))
    client.emit("message", (1, "dua é", {"a": [True]}, b"\1\2\3"), namespace="/custom")
    assert received.get(timeout=WAIT) == ("message-back", (1, "dua é", {"a": [True]}, b"\1\2\3"))
    return client


def acknowledgements():
    client, _ = connect()
    for n in range(50):
        assert client.call("message-with-ack", n, timeout=WAIT) == n
    assert client.call("message-with-ack", b"\7" * 9, timeout=WAIT) == b"\7" * 9
    return client


def refusals():
    for namespace, auth, message in (("/random", None, "Invalid namespace"), ("/", {"token": "wrong"}, "unauthorized")):
        client, refused = socketio.Client(reconnection=False), queue.Queue()
        client.on("connect_error", refused.put, namespace=namespace)
        try:
            client.connect(url, transports=transports, namespaces=[namespace], auth=auth, wait_timeout=WAIT)
            raise AssertionError("connected though refused")
        except socketio.exceptions.ConnectionError:
            pass
        assert refused.get(timeout=WAIT) == {"message": message}
        client.disconnect()
    return client


def transport_is_the_one_asked_for():
    client, _ = connect()
    assert client.transport() == ("polling" if setting == "polling" else "websocket")
    client.sleep(1)  # three heartbeats
    assert client.call("message-with-ack", 1, timeout=WAIT) == 1
    return client


for test in (auth_is_echoed, events_and_binary, acknowledgements, refusals, transport_is_the_one_asked_for):
    test().disconnect()
    print(f"ok: python-socketio {setting}: {test.__name__}", flush=True)
