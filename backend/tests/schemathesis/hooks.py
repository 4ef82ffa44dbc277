"""Facts about Nyala that schemathesis needs in addition to the document. Loaded by schemathesis.toml."""

import collections
import functools
import hashlib
import ipaddress
import itertools
import json
import os
import time

import schemathesis
from good import GOOD, RECEIPT, browser, new_machine, new_outlet, new_service, of_person, somebody
from nyala import NOTA, TELP
from till import Till

TOKEN, SESSION, COOKIE, BROWSER, PERSON = (os.environ[f"NYALA_{name}"] for name in ("TOKEN", "SESSION", "COOKIE", "BROWSER", "PERSON"))
LAST_INSTANT_MS = 253402300799999
DAY_MS = 24 * 60 * 60 * 1000

# Text fields, and the last letter up to which their pattern and the server agree (`VISIBLE` of http/schema.rs).
WORDS = ("nama", "kota", "alasan", "nama_paket", "search", "catatan", "kalimat")
LAST_SHARED_LETTER = 0x2FF

# Larger numbers of machines or customers in a call are for load tests: 20,000 would take most of a run's time.
FEW = 20

# Existing values, used in half of the calls: random ids, numbers and receipts would never match one.
KNOWN = {"telp": TELP, "idtransaksi": NOTA, "total": 2000, "grandtotal": 2000}
KNOWN |= dict.fromkeys(["idowner", "idoutlet", "idcustomer", "id_customer_global", "idmesin", "idsnap_layanan"], 1)
KNOWN["idpetugas"] = int(PERSON)

# Operations that use a till up, and the number of requests after which it is replaced. A logout ends its session, a count ends its shift,
# and a till may look up only sixty numbers an hour.
WEARS_OUT = {"POST /ops/v1/keluar": 1, "POST /ops/v1/shift/tutup": 1, "POST /ops/v1/pelanggan/cari": 50}
TILLS = {}

# Operations that need a person's own browser.
IN_OWN_BROWSER = {"GET /ops/v1/push/kunci", "POST /ops/v1/push/langganan", "POST /ops/v1/push/berhenti"}

# Operations that end sessions. When one names the browser or the person of a till that is still needed, another one is used instead.
BROWSERS, PEOPLE = {BROWSER}, {PERSON}
ENDS_SESSION = {
    "POST /ops/v1/perangkat/{id}/cabut": (BROWSERS, browser),
    "POST /ops/v1/perangkat/{id}/pasang": (BROWSERS, browser),
    "POST /ops/v1/petugas/{id}/cabut": (PEOPLE, of_person),
    "POST /ops/v1/petugas/{id}/reset_pin": (PEOPLE, of_person),
}

# Operations that close, retire or replace what the demo has, and other requests need: another one is used instead.
DEMO = {str(number) for number in range(1, 21)}
CHANGES_SHOP = {
    "POST /ops/v1/outlet/{id}": new_outlet,
    "POST /ops/v1/outlet/{id}/tutup": new_outlet,
    "POST /ops/v1/layanan/{id}": new_service,
    "POST /ops/v1/mesin/{id}": new_machine,
    "POST /ops/v1/mesin/{id}/tutup": new_machine,
    "POST /ops/v1/mesin/{id}/stiker": new_machine,
    "POST /ops/v1/mesin/{id}/uji": new_machine,
    "POST /ops/v1/outlet/{id}/kunci_mesin": new_outlet,
}
# Fields that are instants.
INSTANTS = {"POST /ops/v1/outlet/{id}/tutup": "sampai", "POST /ops/v1/perhatian/tangani": "sejak"}
LAST_INSTANT = "2999-12-31T23:59:59Z"

# Source addresses of pairing codes, in a proxy header that run.sh makes the server trust: twenty wrong codes block
# their address for right ones, too.
ADDRESSES = (str(ipaddress.IPv4Address("10.0.0.0") + n) for n in itertools.count(1))

# Operations that have answered a request of the document, with whether one succeeded.
SUCCEEDED = {}
CALLS = collections.Counter()


def is_good(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def till_for(label):
    """A usable till, reserved for that operation."""
    till, left = TILLS.get(label, (None, 0))
    if not left:
        till, left = Till(), WEARS_OUT[label]
        BROWSERS.add(str(till.browser))
        PEOPLE.add(str(till.person))
    TILLS[label] = till, left - 1
    return till


@functools.cache
def own_browser():
    """Of an outlet in which nothing happens, so that no alert is sent to an invented address."""
    return Till(shift=False, own=True)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes requests succeed: for each operation until one did, and every second one of the fuzzing phase."""
    label = case.operation.label
    if case.headers.get("Authorization") == f"Bearer {SESSION}":
        if label in WEARS_OUT:
            till_for(label).take(case)
        elif label in IN_OWN_BROWSER:
            own_browser().take(case)
        else:
            case.headers["Cookie"] = f"nyala_till={COOKIE}"
    needed, another = ENDS_SESSION.get(label, ((), None))
    if str(case.path_parameters.get("id")).lstrip("0") in needed:
        another(case)
    if label in CHANGES_SHOP and str(case.path_parameters.get("id")).lstrip("0") in DEMO:
        CHANGES_SHOP[label](case)
    # No schema knows that the first day comes before the last one.
    days = [case.query[name] for name in ("dari", "sampai") if isinstance(case.query.get(name), str)] if is_good(case) else []
    if len(days) == 2:
        case.query["dari"], case.query["sampai"] = sorted(days)
    if label == "POST /ops/v1/pasang":
        case.headers["X-Forwarded-For"] = next(ADDRESSES)
    # A logged-out token is invalid, so each logout gets a separate token.
    if case.operation.path == "/scan/v1/auth/logout" and case.headers.get("Authorization") == f"Bearer {TOKEN}":
        somebody(case)
    if label in GOOD and is_good(case):
        CALLS[label] += 1
        if not SUCCEEDED.get(label) or (case.meta.phase.name == "fuzzing" and CALLS[label] % 2):
            GOOD[label](case)
            # Each request asks for something else, so it needs a new key.
            if "Idempotency-Key" in case.headers:
                case.headers["Idempotency-Key"] = next(RECEIPT)


@schemathesis.hook
def after_call(context, case, response):
    """Reports to verdict.py: one line for each operation, and another one for its first success."""
    label, success = case.operation.label, 200 <= response.status_code < 300
    if is_good(case) and (label not in SUCCEEDED or success > SUCCEEDED[label]):
        SUCCEEDED[label] = success
        with open(os.environ["NYALA_SUCCEEDED"], "a", encoding="utf-8") as told:
            print(label, "succeeded" if success else "tried", sep="\t", file=told)


@schemathesis.hook
def filter_case(context, case):
    """Skips invalid requests whose texts the server may accept: the document's pattern allows common letters only, and says so."""
    if is_good(case) or not isinstance(case.body, dict):
        return True
    return not any(ord(letter) > LAST_SHARED_LETTER for name in WORDS for letter in str(case.body.get(name, "")))


@schemathesis.hook
def map_case(context, case):
    """Changes valid requests, and no invalid ones, so that they get further than the first look-up."""
    body = case.body
    if not is_good(case) or not isinstance(body, dict):
        return case
    body = dict(body)
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode())
    if case.meta.phase.name == "fuzzing" and digest.digest()[0] % 2:
        body |= {name: value for name, value in KNOWN.items() if body.get(name) is not None}
    jumlah, masa_aktif = body.get("jumlah"), body.get("masa_aktif")
    if isinstance(jumlah, (int, float)):
        body["jumlah"] = min(jumlah, FEW)
    # An expiry in the past is refused, and no schema knows the time.
    if isinstance(masa_aktif, (int, float)) and masa_aktif < time.time() * 1000 + DAY_MS:
        body["masa_aktif"] = LAST_INSTANT_MS
    # No schema knows the time, or that a rule's two times differ.
    instant = INSTANTS.get(case.operation.label)
    if isinstance(body.get(instant), str):
        body[instant] = LAST_INSTANT
    if isinstance(body.get("aturan"), list):
        body["aturan"] = [rule | {"sampai": "24:00"} if rule["dari"] == rule["sampai"] else rule for rule in body["aturan"]]
    # No schema knows that quiet hours need two times, or that an entry is named by its kind and time unless a secret does that.
    quiet = body.get("senyap")
    if isinstance(quiet, dict) and quiet["dari"] == quiet["sampai"]:
        body["senyap"] = quiet | {"sampai": "24:00"}
    if case.operation.label == "POST /ops/v1/perhatian/tangani":
        body.pop("tangani", None)
        body |= {"jenis": body.get("jenis") or "offline", "sejak": body.get("sejak") or LAST_INSTANT}
    # The same key with another body is refused, so that almost all answers would be this refusal.
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = digest.hexdigest()
    case.body = body
    return case
