"""Requests that must succeed: the document's, with customers, codes and purchases that exist on the server."""

import base64
import hashlib
import hmac
import itertools
import json
import os
import re
import struct
import time
import urllib.request
import uuid

from nyala import NOTA, PASSWORD, TELP, URL, get, post
from till import FLOAT, PIN, Till, hire, invite

# Number of customers that one call creates, the rupiah that each of them has, and the price of a cycle.
CUSTOMERS, BALANCE, PRICE = 200, 100_000, 2000


def customers(prefix, **account):
    """An endless supply of customers; no other request uses them."""
    for first in itertools.count():
        asked = {"jumlah": CUSTOMERS, "awalan_telp": f"{prefix}{first}", **account}
        yield from post("/ops/v1/pelanggan/bulk", asked)["pelanggan"]


CUSTOMER = customers("87", idoutlet=1, saldo=BALANCE)
# Without a wallet: the first top-up opens one of its kind.
NEWCOMER = customers("88")
NUMBER = (f"855{n:08}" for n in itertools.count())
RECEIPT = (f"SLF{n:015}" for n in itertools.count())
POINT = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
KODE = post("/ops/v1/mesin", {"idoutlet": 1, "nama": "Mesin Cuci"})["kode"]


def code(path, telp, bearer=None):
    """The code that is sent to a number."""
    post(path, {"telp": telp, "country_code": "62"}, *[bearer] if bearer else [])
    with urllib.request.urlopen(f"{URL}/dev/whatsapp?telp={telp}", timeout=30) as answer:
        return json.load(answer)["data"][0]["code"]


def bought(who=None):
    """A purchase at a new machine, by `who` or a new customer."""
    who, receipt = who or next(CUSTOMER), next(RECEIPT)
    idmesin = post("/ops/v1/mesin", {"idoutlet": 1, "nama": "Mesin Cuci"})["id"]
    order = {"id": receipt, "idcustomer": who["idcustomer"], "idmesin": idmesin, "idoutlet": 1, "idsnap_layanan": 1}
    post("/scan/v1/transaksi/create_snap_transaksi", {**order, "total": PRICE, "grandtotal": PRICE}, who["token"])
    return idmesin, {"idtransaksi": receipt, "idcustomer": who["idcustomer"]}


def somebody(case):
    """Sends the request as a customer that no other request uses."""
    who = next(CUSTOMER)
    case.headers["Authorization"] = f"Bearer {who['token']}"
    return who


def change(case, **fields):
    case.body = {**case.body, **fields}


def update_password(case):
    who = somebody(case)
    sent = code("/scan/v1/akun/request_otp_password", who["telp"], who["token"])
    change(case, otp=sent, password_lama=PASSWORD)


def forgot_password(case):
    telp = next(CUSTOMER)["telp"]
    change(case, telp=telp, otp=code("/scan/v1/auth/request_otp_forgot_password", telp))


def register(case):
    telp = next(NUMBER)
    change(case, telp=telp, otp=code("/scan/v1/auth/request_otp", telp))


def topup(case):
    # Other fields that name a customer, or a package with another price.
    for field in ("qr", "id_customer_global", "idpaket"):
        case.body.pop(field, None)
    change(case, telp=next(NEWCOMER)["telp"], idoutlet=1)


def stop(case):
    case.path_parameters["id"] = bought()[0]


def fetched(case):
    """A cycle that was stopped."""
    idmesin, purchase = bought(somebody(case))
    post(f"/ops/v1/mesin/{idmesin}/stop", {"alasan": "selesai"})
    change(case, id=purchase["idtransaksi"])


def leaves(case):
    somebody(case)
    case.body = {"password": PASSWORD, "lepas_saldo": BALANCE}


def complained():
    """A complaint about a new purchase."""
    who = next(CUSTOMER)
    _, purchase = bought(who)
    return post("/scan/v1/transaksi/masalah", {"id": purchase["idtransaksi"], "alasan": "hasil"}, who["token"])["idkeluhan"], purchase


def complains(case):
    _, purchase = bought(somebody(case))
    change(case, id=purchase["idtransaksi"])


def answered(case):
    case.path_parameters["id"] = complained()[0]


def refunded(case):
    """The refund of a purchase, in half of the cases one that answers a complaint."""
    complaint, purchase = complained()
    nominal = min(case.body["nominal"], PRICE)
    change(case, **purchase, nominal=nominal, idkeluhan=complaint if case.body.get("idkeluhan") else None)


def subscribed(case):
    """A valid point of the curve, because random 65 bytes almost never are one. The customer buys nothing, so no push is sent."""
    somebody(case)
    change(case, p256dh=POINT)


def device(case):
    made = post("/ops/v1/mesin", {"idoutlet": 1, "nama": "Mesin Cuci", "driver": "mqtt"})
    case.path_parameters["id"] = made["id"]


def detail_refund(case):
    case.path_parameters["id"] = NOTA
    case.query.clear()


def at_till(call=lambda case, till: None, shift=True):
    """Makes the request from a separate till."""

    def good(case):
        till = Till(shift)
        till.take(case)
        call(case, till)

    return good


def in_turn(*ways):
    """Uses the functions in turn."""
    turns = itertools.cycle(ways)
    return lambda case: next(turns)(case)


def masuk(case):
    till = Till(shift=False)
    case.headers["Cookie"] = till.cookie
    case.body = {"idpetugas": till.person, "pin": PIN}


def pasang(case):
    case.body = {"kode": invite()[1]}


def closed(case, till):
    """A shift that the same till has counted."""
    counted = till.ask("shift/tutup", {"dihitung": FLOAT})
    case.path_parameters["id"] = counted["id"]


def sold(case):
    made = post("/ops/v1/topup", {"telp": next(CUSTOMER)["telp"], "idoutlet": 1, "nominal": 1000}, **{"Idempotency-Key": next(RECEIPT)})
    case.path_parameters["id"] = made["idpembelian_emoney"]


def sold_here(case, till):
    made = till.ask("topup", {"telp": next(CUSTOMER)["telp"], "idoutlet": 1, "nominal": 1000})
    case.path_parameters["id"] = made["idpembelian_emoney"]


def bill():
    """A bill of a new customer at a separate till."""
    return Till().ask("tagihan", {"telp": next(CUSTOMER)["telp"], "nominal": 1000})["idtagihan"]


def billed(case):
    case.path_parameters["id"] = bill()


def billed_here(case, till):
    change(case, telp=next(CUSTOMER)["telp"], nominal=1000)
    for field in ("qr", "id_customer_global", "idpaket"):
        case.body.pop(field, None)


def held(case):
    """A bill for which another amount was paid."""
    billed(case)
    post(f"/dev/qris/{case.path_parameters['id']}", {"aksi": "bayar", "jumlah": 1}, None)


def own_bill(case):
    asked = {"id": str(uuid.uuid4()), "idoutlet": 1, "nominal": 10_000}
    made = post("/scan/v1/epayment/tagihan", asked, somebody(case)["token"])
    case.path_parameters["id"] = made["idtagihan"]


def asked_for(case):
    """A customer's request for a bill."""
    somebody(case)
    case.body = {"id": str(uuid.uuid4()), "idoutlet": 1, "nominal": 10_000}


def notified(case):
    """A signed notification of the simulated provider."""
    fields = {"order_id": bill(), "status_code": "200", "gross_amount": "1000.00"}
    signature = hashlib.sha512(("".join(fields.values()) + "simulated").encode()).hexdigest()
    case.body = {**fields, "transaction_status": "settlement", "signature_key": signature}


def ordered(case):
    case.path_parameters["order_id"] = bill()


def new_outlet(case):
    premises = {"idowner": 1, "nama": "Outlet", "kota": "Bandung", "latitude": 0, "longitude": 0}
    case.path_parameters["id"] = post("/ops/v1/outlet", premises)["idoutlet"]


def new_service(case):
    service = {"idoutlet": 1, "nama": "Cuci", "durasi": 60, "harga": PRICE}
    case.path_parameters["id"] = post("/ops/v1/layanan", service)["id"]


def new_machine(case):
    case.path_parameters["id"] = post("/ops/v1/mesin", {"idoutlet": 1, "nama": "Mesin Cuci"})["id"]


def tested(case):
    new_machine(case)
    case.body = {"durasi": 1}


def in_order(case):
    """An outlet without machines has one order of them."""
    new_outlet(case)
    case.body = {"mesin": []}


def taken(case):
    """An entry about a machine whose device has never connected."""
    made = post("/ops/v1/mesin", {"idoutlet": 1, "nama": "Mesin Cuci", "driver": "mqtt"})["id"]
    for _ in range(100):
        for entry in get("/ops/v1/perhatian?idoutlet=1"):
            if entry["idmesin"] == made:
                case.body = {"jenis": entry["jenis"], "idmesin": made, "sejak": entry["sejak"]}
                return
        time.sleep(0.1)
    raise RuntimeError(f"machine {made} needs no person")


def of_person(case):
    case.path_parameters["id"] = hire()[0]


def browser(case):
    case.path_parameters["id"] = invite()[0]


def key(case):
    made = post("/ops/v1/kunci", {"nama": "Program", "role": "kasir", "idoutlet": 1})
    case.path_parameters["id"] = made["id"]


def customer_of_shop(case):
    case.path_parameters["id"] = next(CUSTOMER)["id_customer_global"]


def package(case):
    made = post("/ops/v1/paket", {"idoutlet": 1, "nama": "Hemat", "harga": 1000, "quota": 1100})
    case.path_parameters["id"] = made["idpaket"]


def shown_code(who):
    """The text of the code that a customer's phone shows: `NYC1.<kid>.<payload>.<mac>`, signed with the key of this server."""
    with open(os.path.join(os.environ["NYALA__DATA__DIR"], "secrets.toml"), encoding="utf-8") as file:
        secret = re.search(r'qr_pelanggan = "([^"]+)"', file.read())[1]

    def text(raw):
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    body = "NYC1.1." + text(struct.pack(">qq", who["id_customer_global"], int(time.time() * 1000) + 240_000))
    key = base64.b64decode(secret + "=" * (-len(secret) % 4))
    return f"{body}.{text(hmac.digest(key, body.encode(), 'sha256')[:16])}"


def counted(case, till):
    case.body = {"qr": shown_code(next(CUSTOMER))}


def paid_out(case, till):
    case.body = {"qr": shown_code(next(CUSTOMER)), "dibayar": BALANCE, "hangus": 0}


def asked_to_move(case, till):
    case.body = {"qr": shown_code(next(NEWCOMER)), "telp": next(CUSTOMER)["telp"]}


def sent(telp):
    """The newest message to a number."""
    with urllib.request.urlopen(f"{URL}/dev/whatsapp?telp={telp}", timeout=30) as answer:
        return json.load(answer)["data"][0]


def move(old):
    """A till asks to move a customer's accounts to a new number."""
    body = {"qr": shown_code(next(NEWCOMER)), "telp": old["telp"]}
    return Till(shift=False).ask("pindah", body)["idpindah"]


def own_move(case):
    """The customer says no to a move."""
    change(case, idpindah=move(somebody(case)))


def page_of_move(case):
    old = next(CUSTOMER)
    move(old)
    case.path_parameters["rahasia"] = sent(old["telp"])["text"].rpartition("/")[2]


def code_to_both(case):
    somebody(case)
    change(case, telp=next(NEWCOMER)["telp"])


def moved(case):
    """A customer whose accounts have moved, logged in with the new number."""
    old, new = somebody(case), next(CUSTOMER)
    post("/scan/v1/akun/pindah/kode", {"telp": new["telp"]}, old["token"])
    codes = {"otp_lama": sent(old["telp"])["code"], "otp_baru": sent(new["telp"])["code"]}
    return old, {"telp": new["telp"], **codes, "password": PASSWORD}


def detail_of_move(case):
    old, body = moved(case)
    token = post("/scan/v1/akun/pindah", body, old["token"])["token"]
    case.headers["Authorization"] = f"Bearer {token}"
    case.path_parameters["id"] = newest(token, "pindah_masuk")


def newest(token, kind):
    """The id of a customer's newest entry of that kind."""
    page = {"skip": 0, "limit": 20, "jenis": "pembelian_emoney", "outlet": ""}
    rows = post("/scan/v1/transaksi/list_history", page, token)["history_data"]
    return next(row["ref_id"] for row in rows if row["ref_type"] == kind)


def detail_of_payout(case):
    who = somebody(case)
    Till().ask("tarik", {"qr": shown_code(who), "dibayar": BALANCE, "hangus": 0})
    case.path_parameters["id"] = newest(who["token"], "penarikan")


def voided(case):
    """A customer's reversed top-up, as that customer sees it."""
    who = somebody(case)
    made = post("/ops/v1/topup", {"telp": who["telp"], "idoutlet": 1, "nominal": 1000}, **{"Idempotency-Key": next(RECEIPT)})
    number = made["idpembelian_emoney"]
    post(f"/ops/v1/topup/{number}/batal", {"alasan": "salah"}, **{"Idempotency-Key": next(RECEIPT)})
    case.path_parameters["id"] = number


def listed(case):
    case.query["idoutlet"] = 1


def listed_here(case, till):
    """A till needs no parameter for its own outlet."""
    case.query.pop("idoutlet", None)


ALARM = {"jenis": ["offline"], "idoutlet": None, "senyap": None, "ringkasan": False}

# For all other operations the examples of the document succeed.
def reported(case):
    """A period of a few days at the demo's outlet, as JSON."""
    case.query.update(idoutlet=1, dari="2026-11-01", sampai="2026-11-30")
    case.query.pop("format", None)


def waits(case):
    """A customer waits at an outlet whose only machine is not there."""
    somebody(case)
    new_outlet(case)
    machine = {"idoutlet": case.path_parameters["id"], "nama": "Mesin", "driver": "mqtt", "jenis": "lain"}
    post("/ops/v1/mesin", machine)
    change(case, jenis="lain")


GOOD = {
    "POST /scan/v1/outlet/{id}/panggil": waits,
    "GET /scan/v1/outlet/{id}/mesin": lambda case: case.path_parameters.update(id="1"),
    "GET /ops/v1/ringkasan": reported,
    **{f"GET /ops/v1/laporan/{report}": reported for report in ("harian", "mesin", "shift", "saldo", "pemakaian", "qris")},
    "POST /ops/v1/tarik/hitung": at_till(counted),
    "POST /ops/v1/tarik": at_till(paid_out),
    "POST /ops/v1/pindah": at_till(asked_to_move, shift=False),
    "POST /scan/v1/akun/pindah": lambda case: setattr(case, "body", moved(case)[1]),
    "POST /scan/v1/akun/pindah/kode": code_to_both,
    "POST /scan/v1/akun/pindah/tolak": own_move,
    "GET /scan/v1/epayment/get_detail_penarikan/{id}": detail_of_payout,
    "GET /scan/v1/epayment/get_detail_pindah/{id}": detail_of_move,
    "GET /pindah/{rahasia}": page_of_move,
    "POST /pindah/{rahasia}": page_of_move,
    "POST /ops/v1/masuk": masuk,
    "POST /ops/v1/pasang": pasang,
    "POST /ops/v1/izin": at_till(lambda case, till: change(case, idpetugas=till.person, pin=PIN), shift=False),
    "POST /ops/v1/shift": at_till(shift=False),
    "POST /ops/v1/shift/kas": at_till(lambda case, till: change(case, nominal=min(case.body["nominal"], 1000))),
    "POST /ops/v1/shift/tutup": lambda case: setattr(case, "body", {"dihitung": FLOAT}),
    "POST /ops/v1/shift/{id}/catatan": at_till(closed),
    "POST /ops/v1/pelanggan/cari": at_till(lambda case, till: setattr(case, "body", {"telp": TELP}), shift=False),
    "POST /ops/v1/petugas": lambda case: change(case, role="kasir", idoutlet=1, idowner=None),
    "POST /ops/v1/petugas/{id}/cabut": of_person,
    "POST /ops/v1/petugas/{id}/reset_pin": of_person,
    "POST /ops/v1/petugas/{id}/buka_kunci": of_person,
    "POST /ops/v1/kunci": lambda case: change(case, role="kasir", idoutlet=1, idowner=None),
    "POST /ops/v1/kunci/{id}/cabut": key,
    "GET /ops/v1/audit": listed,
    "GET /ops/v1/pelanggan/{id}": customer_of_shop,
    "GET /ops/v1/pelanggan/{id}/riwayat": customer_of_shop,
    "POST /ops/v1/perangkat": lambda case: change(case, idoutlet=1, idpetugas=None),
    "POST /ops/v1/perangkat/{id}/cabut": browser,
    "POST /ops/v1/perangkat/{id}/pasang": browser,
    "POST /ops/v1/paket": lambda case: change(case, idoutlet=1),
    "POST /ops/v1/paket/{id}": package,
    "POST /ops/v1/topup/{id}/batal": in_turn(sold, at_till(sold_here)),
    "POST /ops/v1/tagihan": at_till(billed_here),
    "GET /ops/v1/tagihan": in_turn(listed, at_till(listed_here)),
    "GET /ops/v1/tagihan/{id}": billed,
    "POST /ops/v1/tagihan/{id}/batal": billed,
    "POST /ops/v1/tagihan/{id}/selesai": held,
    "POST /scan/v1/epayment/tagihan": asked_for,
    "GET /scan/v1/epayment/tagihan/{id}": own_bill,
    "POST /scan/v1/epayment/tagihan/{id}/batal": own_bill,
    "POST /qris/simulated": notified,
    "POST /dev/qris/{order_id}": ordered,
    "GET /ops/v1/topup": in_turn(listed, at_till(listed_here)),
    "GET /ops/v1/pemakaian": in_turn(listed, at_till(listed_here)),
    "GET /scan/v1/epayment/get_detail_batal/{id}": voided,
    "GET /ops/v1/layanan": listed,
    "GET /ops/v1/mesin": listed,
    "GET /ops/v1/perhatian": listed,
    "GET /ops/v1/stiker": lambda case: case.query.update(id="1,2"),
    "POST /ops/v1/layanan": lambda case: change(case, idoutlet=1, aturan=None),
    "POST /ops/v1/layanan/{id}": lambda case: (new_service(case), change(case, aturan=None)),
    "POST /ops/v1/outlet": lambda case: change(case, idowner=1),
    "POST /ops/v1/outlet/{id}": new_outlet,
    "POST /ops/v1/outlet/{id}/tutup": lambda case: (new_outlet(case), change(case, sampai=None)),
    "POST /ops/v1/outlet/{id}/buka": new_outlet,
    "POST /ops/v1/outlet/{id}/kunci_mesin": new_outlet,
    "GET /ops/v1/outlet/{id}/siap": new_outlet,
    "POST /ops/v1/outlet/{id}/urut": in_order,
    "POST /ops/v1/mesin/{id}": new_machine,
    "GET /ops/v1/mesin/{id}/rincian": new_machine,
    "POST /ops/v1/mesin/{id}/tutup": new_machine,
    "POST /ops/v1/mesin/{id}/buka": new_machine,
    "POST /ops/v1/mesin/{id}/servis": new_machine,
    "POST /ops/v1/mesin/{id}/uji": tested,
    "POST /ops/v1/mesin/{id}/tanya": new_machine,
    "POST /ops/v1/mesin/{id}/stiker": new_machine,
    "POST /ops/v1/perhatian/tangani": taken,
    "POST /ops/v1/alarm": lambda case: setattr(case, "body", ALARM),
    "POST /ops/v1/push/langganan": lambda case: change(case, p256dh=POINT),
    "POST /ops/v1/hapus": lambda case: change(case, **bought()[1]),
    "POST /ops/v1/mesin/{id}/perangkat": device,
    "POST /ops/v1/mesin/{id}/stop": stop,
    "POST /ops/v1/refund": refunded,
    "GET /ops/v1/keluhan": listed,
    "POST /ops/v1/keluhan/{id}/tolak": answered,
    "POST /ops/v1/topup": in_turn(topup, at_till(lambda case, till: topup(case))),
    "GET /scan/v1/akun/data": somebody,
    "POST /scan/v1/akun/hapus": leaves,
    "POST /scan/v1/akun/request_otp_password": somebody,
    "POST /scan/v1/akun/update_password": update_password,
    "POST /scan/v1/auth/forgot_password": forgot_password,
    "POST /scan/v1/auth/login": lambda case: change(case, telp=TELP, password=PASSWORD),
    "POST /scan/v1/auth/register": register,
    "POST /scan/v1/auth/request_otp": lambda case: change(case, telp=next(NUMBER)),
    "POST /scan/v1/auth/request_otp_forgot_password": lambda case: change(case, telp=next(CUSTOMER)["telp"]),
    "GET /scan/v1/epayment/get_detail_refund/{id}": detail_refund,
    "GET /scan/v1/epayment/get_detail_saldo_awal/{id}": lambda case: case.path_parameters.update(id="1"),
    "POST /scan/v1/push/langganan": subscribed,
    "POST /scan/v1/transaksi/ambil": fetched,
    "POST /scan/v1/transaksi/masalah": complains,
    "POST /scan/v1/transaksi/get_layanan": lambda case: change(case, qr=KODE),
}
