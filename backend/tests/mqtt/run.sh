#!/bin/sh
# usage: run.sh NYALA-BINARY
# Real MQTT clients as devices of the server: paho-mqtt (PyPI), mqtt (npm), rumqttc (crates.io), versions pinned here, and Debian's
# mosquitto_sub and mosquitto_pub, which are skipped with a message where they are missing. For the requirements of each client see
# drive.py. The server is private: free ports, a temporary folder. Installs the clients beside this script first.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
nyala=$(realpath "$1")
cd "$here"

[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
if ! [ .venv/installed -nt requirements.txt ]; then
    python3 -m venv .venv
    .venv/bin/pip install --quiet --requirement requirements.txt
    touch .venv/installed
fi
# The target folder of the server's build is used: a separate one would build the same crates again.
target=$(dirname "$(dirname "$nyala")")
cargo build --quiet --locked --manifest-path rumqttc/Cargo.toml --target-dir "$target"

unset DATABASE_URL
folder=$(mktemp -d)
export NYALA__DATA__DIR="$folder/data" NYALA__HTTP__PORT=0 NYALA__LOG__FILTER=warn NYALA__DEV__SEED_DEMO=false
NYALA__MQTT__PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export NYALA__MQTT__PORT
cd "$here/../../.."
: >"$folder/address"
"$nyala" serve >"$folder/address" 2>"$folder/log" &
server=$!
close() {
    kill $server 2>/dev/null || true
    wait $server || true
    # A database whose creation was interrupted writes for a moment longer.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if rm -rf "$folder" 2>/dev/null; then return; fi
        sleep 0.5
    done
    echo "left behind: $folder" >&2
}
trap close EXIT
trap 'exit 130' INT TERM
tries=0
until grep -q 'open at' "$folder/address"; do
    tries=$((tries + 1))
    if [ $tries -gt 600 ] || ! kill -0 $server; then
        echo "the server did not open within a minute:" >&2
        cat "$folder/log" >&2
        exit 1
    fi
    sleep 0.1
done
NYALA_URL=$(sed -n 's/.* at \(http:[^ ]*\)\/$/\1/p' "$folder/address")
NYALA_KEY=$("$nyala" key add --role root --nama klien)
export NYALA_URL NYALA_KEY PYTHONDONTWRITEBYTECODE=1
if ! "$here/.venv/bin/python" "$here/drive.py" "$target/debug/nyala-rumqttc"; then
    echo "the end of the server's log:" >&2
    tail -n 40 "$folder/log" >&2
    exit 1
fi
