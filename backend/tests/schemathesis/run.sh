#!/bin/sh
# usage: run.sh NYALA-BINARY [schemathesis options]
# Tests the server against /openapi.json: schemathesis (PyPI, versions pinned in requirements.txt) generates valid and invalid requests
# from the document and checks each answer. The server is private: a free port, a temporary folder, the demo's data, raised limits.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
nyala=$(realpath "$1")
shift

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    echo "the tests of /openapi.json need Python 3.10 or newer, and $(command -v python3) is $(python3 --version 2>&1)" >&2
    exit 1
fi
if ! [ "$here/.venv/installed" -nt "$here/requirements.txt" ]; then
    python3 -m venv "$here/.venv"
    "$here/.venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
    touch "$here/.venv/installed"
fi

unset DATABASE_URL
folder=$(mktemp -d)
export NYALA__DATA__DIR="$folder/data" NYALA__HTTP__PORT=0 NYALA__MQTT__PORT=0 NYALA__LOG__FILTER=warn
# Raises all limits that would answer 429 or block the one address and the few numbers of a run.
many=1000000
export NYALA__LEDGER__MAX_BALANCE=0 NYALA__PURCHASE__PER_CUSTOMER_MINUTE=$many NYALA__REALTIME__UNJOINED_PER_ADDRESS=$many
export NYALA__AUTH__OTP_PER_IP_HOUR=$many NYALA__AUTH__OTP_PER_HOUR=$many NYALA__AUTH__OTP_PER_TELP_DAY=$many
export NYALA__AUTH__OTP_KNOWN_PER_HOUR=$many
export NYALA__AUTH__WRONG_LOGINS_PER_PHONE=$many NYALA__AUTH__WRONG_LOGINS_PER_NUMBER=$many NYALA__AUTH__WRONG_LOGINS_PER_ADDRESS=$many
export NYALA__AUTH__WRONG_CODES_PER_ADDRESS_HOUR=$many NYALA__AUTH__WRONG_CODES_PER_SITE_HOUR=$many
export NYALA__HTTP__TRUSTED_PROXIES=127.0.0.1
# A new machine whose device never connects soon needs a person.
export NYALA__ATTENTION__OFFLINE_S=1
export NYALA__AUTH__RESET_ALARM_WRONG_PER_HOUR=10000 NYALA__AUTH__RESET_ALARM_CODES_PER_HOUR=$many
cd "$here/../../.."
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
NYALA_KEY=$("$nyala" key add --role root --nama schemathesis)
export NYALA_URL NYALA_KEY PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1
"$here/.venv/bin/python" "$here/arrange.py" >"$folder/arranged"
printf "telp,nama,saldo\n81234567890,,1000\n" >"$folder/saldo.csv"
"$nyala" import saldo "$folder/saldo.csv" --outlet 1 --yes >/dev/null
read -r NYALA_TOKEN NYALA_SESSION NYALA_COOKIE NYALA_BROWSER NYALA_PERSON <"$folder/arranged"
export NYALA_TOKEN NYALA_SESSION NYALA_COOKIE NYALA_BROWSER NYALA_PERSON NYALA_SUCCEEDED="$folder/succeeded"

# A run with a time limit or with excluded operations does not reach all of them.
extent=whole
case " $* " in *" --max-time"* | *" --include"* | *" --exclude"* | *" --phases"*) extent=part ;; esac

cd "$here"
if ! .venv/bin/schemathesis run "$NYALA_URL/openapi.json" "$@" || ! .venv/bin/python verdict.py $extent; then
    echo "the end of the server's log:" >&2
    tail -n 40 "$folder/log" >&2
    exit 1
fi
