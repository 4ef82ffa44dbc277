"""Tills: paired browsers with somebody who has logged in."""

import itertools

from nyala import answer, post

PIN = "246813"
# Rupiah in the drawer when a shift is opened.
FLOAT = 10_000_000
# Whose names they are does not matter, and no two tills share a person: wrong PINs of one are not another's.
NUMBER = itertools.count(1)


def hire(role="supervisor"):
    """Somebody new, and the first PIN."""
    hired = post("/ops/v1/petugas", {"nama": f"Petugas {next(NUMBER)}", "role": role, "idoutlet": 1})
    return hired["id"], hired["pin_awal"]


def invite():
    """A browser of the outlet that is yet to be paired, and its code."""
    invited = post("/ops/v1/perangkat", {"nama": f"Tablet {next(NUMBER)}", "idoutlet": 1})
    return invited["id"], invited["kode"]


class Till:
    """A browser with a session of its own, and an open shift if it is wanted."""

    def __init__(self, shift=True):
        self.browser, kode = invite()
        # By the name in the document, which every server reads beside the name of its installation: schemathesis takes that one away.
        self.cookie = "nyala_till=" + answer("/ops/v1/pasang", {"kode": kode}, None)[1].partition("=")[2]
        self.person, first = hire()
        body = {"idpetugas": self.person, "pin": first, "pin_baru": PIN}
        self.token = answer("/ops/v1/masuk", body, None, Cookie=self.cookie)[0]["token"]
        if shift:
            self.ask("shift", {"modal": FLOAT})

    def ask(self, call, body):
        once = f"till-{next(NUMBER)}"
        return answer(f"/ops/v1/{call}", body, self.token, Cookie=self.cookie, **{"Idempotency-Key": once})[0]

    def take(self, case):
        """Has it make a request."""
        case.headers["Authorization"] = f"Bearer {self.token}"
        case.headers["Cookie"] = self.cookie
