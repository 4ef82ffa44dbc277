"""Logs the demo's customer in, buys the purchase of the document's examples and refunds it; has the outlet take QRIS by bills; pairs a browser and
logs a person in there.
Prints the customer's token, the session's and the browser's cookie, and the ids of browser and person."""

from nyala import NOTA, PASSWORD, TELP, post
from till import Till

token = post("/scan/v1/auth/login", {"country_code": "62", "telp": TELP, "password": PASSWORD})["token"]
order = {"id": NOTA, "idcustomer": 1, "idmesin": 1, "idoutlet": 1, "idsnap_layanan": 1, "total": 2000, "grandtotal": 2000}
post("/scan/v1/transaksi/create_snap_transaksi", order, token)
back = {"idtransaksi": NOTA, "alasan": "mesin rusak"}
post("/ops/v1/refund", {**back, "nominal": 500}, **{"Idempotency-Key": "refund"})
post("/ops/v1/hapus", back, **{"Idempotency-Key": "hapus"})
post("/ops/v1/outlet/1", {"qris": "simulated"})
till = Till()
print(token, till.token, till.cookie.partition("=")[2], till.browser, till.person)
