#!/bin/sh
# usage: run.sh NYALA-BINARY WITH-POSTGRES…
# Two servers on one PostgreSQL behind Debian's HAProxy and nginx, each with its example from docs/cluster, and phones with the real
# socket.io-client (the one of backend/libs/actix-socketio/tests/clients). For their requirements see drive.mjs. A program that is not
# installed is skipped with a message. WITH-POSTGRES… runs a command with a PostgreSQL at hand (PGHOST, PGPORT, PGUSER), and takes a data
# folder first.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
nyala=$(realpath "$1")
shift
clients=$here/../../libs/actix-socketio/tests/clients
[ "$clients/node_modules/.package-lock.json" -nt "$clients/package-lock.json" ] || npm --prefix "$clients" ci --no-audit --no-fund

unset DATABASE_URL
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
"$@" "$folder/postgres" node "$here/drive.mjs" "$nyala" "$folder"
