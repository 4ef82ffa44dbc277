#!/bin/sh
# A device made of mosquitto_sub, which receives, and a mosquitto_pub for each message; drive.py controls it like a real device.
set -eu
host=$1 port=$2 user=$3 secret=$4 prefix=$5 qos=$6
at="-h $host -p $port -u $user -P $secret -q $qos"
conn=0 seq=0 epoch=0 run=null last=null

# usage: say TOPIC FIELDS; a message is lost when the connection is cut
say() {
    seq=$((seq + 1))
    # shellcheck disable=SC2086
    mosquitto_pub $at -t "$prefix/$1" -m "{\"boot_id\":7,\"conn\":$conn,\"seq\":$seq,$2}" 2>/dev/null || true
}

say_state() { say state "\"online\":true,\"epoch\":$epoch,\"run\":$run,\"last\":$last"; }

# usage: field CMD NAME
field() { printf '%s' "$1" | sed -n "s/.*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

# Its debug lines show when it has subscribed.
# shellcheck disable=SC2086
stdbuf -oL mosquitto_sub $at -k 5 -d -t "$prefix/cmd" 2>&1 | while read -r line; do
    case $line in
    Subscribed*)
        conn=$((conn + 1))
        say_state
        echo online
        ;;
    *refused:* | *Refused:*) echo refused ;;
    {*)
        id=$(field "$line" cmd_id) of=$(field "$line" epoch)
        [ "$of" -le "$epoch" ] || epoch=$of
        case $(field "$line" op) in
        start)
            run="{\"cmd_id\":\"$id\",\"sisa_s\":$(field "$line" durasi_s)}" last="{\"cmd_id\":\"$id\",\"result\":\"started\"}"
            say ack "\"cmd_id\":\"$id\",\"result\":\"started\""
            ;;
        stop)
            run=null last="{\"cmd_id\":\"$id\",\"result\":\"done\"}"
            say ack "\"cmd_id\":\"$id\",\"result\":\"done\""
            ;;
        esac
        say_state
        ;;
    esac
done
