"""usage: verdict.py whole|part: checks that a run without findings has reached all operations. schemathesis itself reports findings.

Well-formed requests may be refused, so a run in which all of them are (an expired token, a reached limit) finds nothing.
"""

import json
import os
import sys
import urllib.request

from nyala import URL

# Operations without a successful request in a run, with the reason.
NEVER = {"POST /qris/midtrans": "the run's server is paid by the simulated provider"}


def get(path, **headers):
    """The answer; any refusal is an error."""
    with urllib.request.urlopen(urllib.request.Request(URL + path, headers=headers), timeout=30) as answer:
        return json.load(answer)


def main(extent):
    methods = {"get", "put", "post", "delete", "patch"}
    paths = get("/openapi.json")["paths"].items()
    expected = {f"{method.upper()} {path}" for path, known in paths for method in methods & known.keys()} - NEVER.keys()
    with open(os.environ["NYALA_SUCCEEDED"], encoding="utf-8") as told:
        lines = {tuple(line.rstrip("\n").split("\t")) for line in told}
    succeeded = {label for label, what in lines if what == "succeeded"}
    if extent == "part":
        expected &= {label for label, _ in lines}
    wrong = [f"no request succeeded: {label}" for label in sorted(expected - succeeded)]
    token, session, cookie = (os.environ[f"NYALA_{name}"] for name in ("TOKEN", "SESSION", "COOKIE"))
    kept = {
        "the customer's token": ("/scan/v1/dashboard/get_dashboard", {"Authorization": f"Bearer {token}"}),
        "the till's session": ("/ops/v1/shift", {"Authorization": f"Bearer {session}", "Cookie": f"nyala_till={cookie}"}),
    }
    for what, (path, headers) in kept.items():
        try:
            get(path, **headers)
        except OSError as error:
            wrong.append(f"{what} is not good any more: {error}")
    print("\n".join(wrong) or f"{len(expected)} operations had a request that succeeded; token and session are good to the end.")
    return 1 if wrong or not expected else 0


sys.exit(main(*sys.argv[1:]))
