"""Calls of Nyala, for the other files."""

import json
import os
import urllib.request

URL = os.environ["NYALA_URL"]
KEY = os.environ["NYALA_KEY"]

# The demo's customer, and the values in the document's examples: a receipt, and 1 for every id.
TELP = "81234567890"
PASSWORD = "Rahasia123"
NOTA = "SLF261120180530123"


def answer(path, body, bearer, **headers):
    """The answer's data and its cookie, if any; any refusal is an error."""
    if bearer:
        headers |= {"Authorization": f"Bearer {bearer}"}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as told:
        return json.load(told)["data"], (told.headers["Set-Cookie"] or "").partition(";")[0]


def get(path, bearer=KEY):
    """The answer's data; any refusal is an error."""
    request = urllib.request.Request(URL + path, headers={"Authorization": f"Bearer {bearer}"})
    with urllib.request.urlopen(request, timeout=30) as told:
        return json.load(told)["data"]


def post(path, body, bearer=KEY, **headers):
    """The answer's data; any refusal is an error."""
    return answer(path, body, bearer, **headers)[0]
