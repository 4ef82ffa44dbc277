#!/bin/sh
# Runs the real Socket.IO clients (npm socket.io-client, PyPI python-socketio; versions are pinned here) against the
# example server, as one that hands its websockets over and as an ordinary HttpServer, each over polling with upgrade, websocket only
# and polling only. Installs them beside this script first.
set -eu
cd "$(dirname "$0")"

[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
if ! [ .venv/installed -nt requirements.txt ]; then
    python3 -m venv .venv
    .venv/bin/pip install --quiet --requirement requirements.txt
    touch .venv/installed
fi

cargo build --quiet --package actix-socketio --all-features --example conformance
target=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')

address=$(mktemp)
server=
trap '[ -z "$server" ] || kill "$server"; rm -f "$address"' EXIT

for kind in raw ordinary; do
    : >"$address"
    SERVER=$kind PORT=0 PING_TIMEOUT_MS=5000 "$target/debug/examples/conformance" >"$address" &
    server=$!
    tries=0
    until grep -q . "$address"; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || { echo "the example server did not start within 10 s" >&2; exit 1; }
        sleep 0.1
    done
    url="http://$(cat "$address")"
    echo "server: $kind"
    for setting in default websocket polling; do
        node client.mjs "$url" $setting
        .venv/bin/python client.py "$url" $setting
    done
    kill "$server"
    wait "$server" || true
    server=
done
