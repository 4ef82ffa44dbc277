"""Tills: paired browsers with somebody who has logged in."""

import itertools

from nyala import answer, post

PIN = "246813"
# Whose names they are does not matter, and no two tills share a person: wrong PINs of one are not another's.
NUMBER = itertools.count(1)


def hire(role="supervisor"):
    """Somebody new, and the first PIN."""
    hired = post("/ops/v1/petugas", {"nama": f"Petugas {next(NUMBER)}", "role": role, "idoutlet": 1})
    return hired["id"], hired["pin_awal"]


def pair():
    """The cookie of a browser of the outlet."""
    kode = post("/ops/v1/perangkat", {"nama": f"Tablet {next(NUMBER)}", "idoutlet": 1})["kode"]
    return answer("/ops/v1/pasang", {"kode": kode}, None)[1]


def log_in(cookie):
    """A supervisor's session in a browser: who it is, and the token."""
    person, first = hire()
    body = {"idpetugas": person, "pin": first, "pin_baru": PIN}
    return person, answer("/ops/v1/masuk", body, None, Cookie=cookie)[0]["token"]


class Till:
    """A browser with a session of its own, and an open shift if it is wanted."""

    def __init__(self, shift=True):
        self.cookie = pair()
        self.person, self.token = log_in(self.cookie)
        self.shift = self.ask("shift", {"modal": 10_000_000}) if shift else None

    def ask(self, call, body):
        once = f"till-{next(NUMBER)}"
        return answer(f"/ops/v1/{call}", body, self.token, Cookie=self.cookie, **{"Idempotency-Key": once})[0]

    def take(self, case):
        """Has it make a request."""
        case.headers["Authorization"] = f"Bearer {self.token}"
        case.headers["Cookie"] = self.cookie
