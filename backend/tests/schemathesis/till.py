"""Tills: paired browsers with a person who has logged in."""

import itertools

from nyala import answer, post

PIN = "246813"
# Rupiah in the drawer when a shift is opened.
FLOAT = 10_000_000
# Numbers for names. No two tills share a person, so that wrong PINs at one do not count for another.
NUMBER = itertools.count(1)


def hire(role="supervisor", outlet=1):
    """A new person, and the first PIN."""
    hired = post("/ops/v1/petugas", {"nama": f"Petugas {next(NUMBER)}", "role": role, "idoutlet": outlet})
    return hired["id"], hired["pin_awal"]


def new_outlet():
    """An outlet in which nothing happens."""
    return post("/ops/v1/outlet", {"idowner": 1, "nama": "Outlet", "kota": "Bandung", "latitude": 0, "longitude": 0})["idoutlet"]


def invite(**of):
    """A browser that is not paired yet, of the outlet or of a person, and its code."""
    invited = post("/ops/v1/perangkat", {"nama": f"Tablet {next(NUMBER)}", **(of or {"idoutlet": 1})})
    return invited["id"], invited["kode"]


class Till:
    """A browser with its own session, and an open shift if `shift` is set. With `own` it is a person's, of an outlet in which nothing happens."""

    def __init__(self, shift=True, own=False):
        self.person, first = hire(outlet=new_outlet() if own else 1)
        self.browser, kode = invite(**({"idpetugas": self.person} if own else {}))
        # Uses the cookie name of the document, which every server reads in addition to its installation's own: schemathesis removes that
        # one.
        self.cookie = "nyala_till=" + answer("/ops/v1/pasang", {"kode": kode}, None)[1].partition("=")[2]
        body = {"idpetugas": self.person, "pin": first, "pin_baru": PIN}
        self.token = answer("/ops/v1/masuk", body, None, Cookie=self.cookie)[0]["token"]
        if shift:
            self.ask("shift", {"modal": FLOAT})

    def ask(self, call, body):
        once = f"till-{next(NUMBER)}"
        return answer(f"/ops/v1/{call}", body, self.token, Cookie=self.cookie, **{"Idempotency-Key": once})[0]

    def take(self, case):
        """Makes the request one of this till."""
        case.headers["Authorization"] = f"Bearer {self.token}"
        case.headers["Cookie"] = self.cookie
