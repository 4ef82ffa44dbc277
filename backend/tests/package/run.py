#!/usr/bin/env python3
"""usage: run.py FOLDER PACKAGE.deb DEVICE_SIM [BEFORE.deb]

Installs the package as README.md says, in a clean Debian without Rust and Node, and uses it as a shop does: production profile, a customer who
registers and buys a wash of a played device, a backup, an upgrade from the package BEFORE, removal and purge. Without BEFORE the package itself
counts as the one before, with a lower version.

FOLDER keeps the clean system for the next time. Needs root, debootstrap and the Debian archive of this machine's own settings. Everything runs
in namespaces of its own for mounts and processes, so nothing of it is left when this program ends, in whatever way. There is no systemd in the
clean system: the service is started by hand, as the account and with the files that its unit names.
"""

import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
IN_NAMESPACES = "NYALA_PACKAGE_TEST_INSIDE"
ENV_FILE = "etc/nyala/nyala.env"
DATA = "var/lib/nyala"
PASSWORD = "Rahasia123"
PRICE = 10_000
TOPUP = 50_000
# Limits in seconds: of a command, of an installation with its downloads, and of what the server takes its time for.
COMMAND_S, INSTALL_S, PATIENCE_S = 60, 900, 120


def say(text):
    print(f"package: {text}", flush=True)


def fail(text):
    sys.exit(f"package: FAILED: {text}")


def expect(held, text):
    if not held:
        fail(text)


def run(*command, limit=COMMAND_S, **options):
    """What the command prints; its failure ends the test."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "stdin": subprocess.DEVNULL} | options
    done = subprocess.run([str(word) for word in command], timeout=limit, check=False, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def until(what, is_so):
    """Waits until `is_so` gives something true, and gives that."""
    end = time.monotonic() + PATIENCE_S
    while True:
        found = is_so()
        if found:
            return found
        if time.monotonic() > end:
            fail(f"not within {PATIENCE_S} s: {what}")
        time.sleep(0.2)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def clean_system(folder):
    """A tar file of Debian's smallest system, of this machine's release and from its archive."""
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/etc/os-release").read_text(), re.M))
    expect(release.get("ID") == "debian", "this machine is no Debian, so it has no Debian archive to install from")
    suite = release["VERSION_CODENAME"]
    targets = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    archive = next((line.split()[0] for line in targets.splitlines() if line.split()[1:] == [suite, "main"]), None)
    expect(archive, f"apt's sources name no archive of {suite} main (apt-get update may be needed)")
    kept = folder / f"debian-{suite}.tar"
    if not kept.exists():
        say(f"making a clean {suite} (once)")
        fresh = folder / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        run("debootstrap", "--variant=minbase", suite, fresh, archive, limit=INSTALL_S)
        with tarfile.open(kept.with_suffix(".part"), "w") as tar:
            tar.add(fresh, arcname=".", filter=lambda entry: None if entry.isdev() else entry)
        shutil.rmtree(fresh)
        kept.with_suffix(".part").rename(kept)
    return kept, suite, archive


def package_before(package, folder):
    """The same package with a lower version."""
    tree, before = folder / "before", folder / "before.deb"
    shutil.rmtree(tree, ignore_errors=True)
    run("dpkg-deb", "-R", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", "Version: 0.0.1", control.read_text(), flags=re.M))
    run("dpkg-deb", "-Znone", "-b", tree, before)
    shutil.rmtree(tree)
    return before


class WhatsApp(http.server.BaseHTTPRequestHandler):
    """Takes the codes that the server would send by WhatsApp's Cloud API."""

    codes = []

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.codes.append(message["template"]["components"][0]["parameters"][0]["text"])
        body = b'{"messages":[{"id":"wamid.1"}]}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Shop:
    """The clean system, and the shop that is opened in it."""

    def __init__(self, root, port):
        self.root, self.port = root, port
        self.server = None
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    # --- the system

    def sh(self, script, limit=COMMAND_S):
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "HOME": "/root"}
        return run("chroot", self.root, "/bin/sh", "-euc", script, limit=limit, env=env)

    def owner(self, path):
        return self.sh(f"stat -c '%U:%G %a' /{path}").strip()

    def start(self):
        """As the unit says, without its sandbox."""
        unit = (self.root / "lib/systemd/system/nyala.service").read_text()
        value = lambda key: re.search(rf"^{key}=(.*)$", unit, re.M)[1]
        expect(value("EnvironmentFile") == f"/{ENV_FILE}", "the unit reads another file of settings")
        account = ["--reuid", value("User"), "--regid", value("Group"), "--init-groups", "--no-new-privs", "--bounding-set=-all"]
        log = open(self.root / "server.log", "ab")
        # The program reads the same file by itself.
        command = [shutil.which("chroot"), self.root, "setpriv", *account, *value("ExecStart").split()]
        self.server = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        until("the server is ready", self.is_ready)

    def is_ready(self):
        expect(self.server.poll() is None, f"the server ended:\n{(self.root / 'server.log').read_text()[-4000:]}")
        try:
            return self.opener.open(f"http://127.0.0.1:{self.port}/readyz", timeout=5).status == 200
        except OSError:
            return False

    def stop(self):
        self.server.send_signal(signal.SIGTERM)
        code = self.server.wait(timeout=90)
        expect(code == 0, f"the server ended with {code}")

    # --- the shop

    def call(self, path, body=None, key=None, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode() if body is not None else None)
        request.add_header("content-type", "application/json")
        if key:
            request.add_header("authorization", f"Bearer {key}")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            return json.load(self.opener.open(request, timeout=30))["data"]
        except urllib.error.HTTPError as refused:
            fail(f"{path} answered {refused.code}: {refused.read().decode()}")

    def open_shop(self):
        key = self.sh("nyala key add --role root --nama 'Kantor pusat'").strip().splitlines()[-1]
        owner = self.call("/ops/v1/owner", {"nama": "Laundry Melati"}, key)["idowner"]
        place = {"idowner": owner, "nama": "Melati Kemang", "kota": "Jakarta Selatan", "latitude": -6.26, "longitude": 106.81}
        self.outlet = self.call("/ops/v1/outlet", place, key)["idoutlet"]
        self.service = self.call("/ops/v1/layanan", {"idoutlet": self.outlet, "nama": "Kilat", "durasi": 3, "harga": PRICE}, key)["id"]
        machine = self.call("/ops/v1/mesin", {"idoutlet": self.outlet, "nama": "Cuci 01", "driver": "mqtt"}, key)
        self.machine, self.kode = machine["id"], machine["kode"]
        self.device_key = self.sh(f"nyala device add {self.machine}")
        number = {"telp": "81234567890", "country_code": "62"}
        self.call("/scan/v1/auth/request_otp", number)
        account = number | {"otp": WhatsApp.codes[-1], "password": PASSWORD, "nama": "Siti Rahma"}
        self.token = self.call("/scan/v1/auth/register", account)["token"]
        top_up = {"telp": number["telp"], "idoutlet": self.outlet, "nominal": TOPUP}
        sold = self.call("/ops/v1/topup", top_up, key, idempotency_key="package-test-1")
        self.wallet = sold["idcustomer"]

    def machine_status(self):
        answer = self.call("/scan/v1/transaksi/get_layanan", {"qr": self.kode, "limit": 10, "skip": 0}, self.token)
        return answer["data_mesin"]["status"]

    def buy(self, number):
        until("the machine is idle", lambda: self.machine_status() == "idle")
        purchase = {
            "id": f"SLF{number:015}", "idcustomer": self.wallet, "idmesin": self.machine, "idoutlet": self.outlet,
            "idsnap_layanan": self.service, "total": PRICE, "grandtotal": PRICE,
        }
        self.call("/scan/v1/transaksi/create_snap_transaksi", purchase, self.token)

    def balance(self):
        accounts = self.call("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", key=self.token)
        return accounts[0]["quota_emoney"]["saldo"]


def readme_lines():
    """The lines of README.md that install the package: those before the settings are edited, and the package's name in them."""
    text = (CHECKOUT / "README.md").read_text()
    block = next((b for b in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S) if "apt-get install" in b), None)
    expect(block, "README.md does not say how the package is installed")
    lines = block.splitlines()
    at = next(i for i, line in enumerate(lines) if "apt-get install" in line)
    expect("create_main_cluster = false" in "\n".join(lines[:at]), "README.md installs before create_main_cluster = false")
    lines[at] = lines[at].split(" && nano ")[0]
    return lines[: at + 1], re.search(r"\./(nyala_\S+\.deb)", lines[at])[1]


def systemd_says(unit):
    """What systemd itself can say of the unit without running it."""
    if not shutil.which("systemd-analyze"):
        say("NOT CHECKED: systemd-analyze is not installed here")
        return
    told = run("systemd-analyze", "security", "--offline=true", "--threshold=25", unit)
    say(re.search(r"Overall exposure level.*", told)[0].strip(" →"))


def main(folder, package, device_sim, before):
    kept, suite, archive = clean_system(folder)
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    run("tar", "-C", root, "-xf", kept, limit=INSTALL_S)
    run("mount", "-t", "proc", "proc", root / "proc")
    run("mount", "-t", "tmpfs", "tmpfs", root / "dev")
    (root / "dev/shm").mkdir(mode=0o1777)
    os.chmod(root / "dev/shm", 0o1777)
    for device in ("null", "zero", "random", "urandom"):
        (root / "dev" / device).touch()
        run("mount", "--bind", f"/dev/{device}", root / "dev" / device)
    (root / "dev/fd").symlink_to("/proc/self/fd")
    # This machine's way to its archive.
    (root / "etc/apt/sources.list").write_text(f"deb {archive} {suite} main\n")
    (root / "etc/apt/apt.conf.d/99host").write_text(run("apt-config", "dump", "Acquire"))
    for file in ("etc/resolv.conf", "etc/hosts"):
        shutil.copy(f"/{file}", root / file)
    # Debian's own way to start nothing at an installation.
    (root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    (root / "usr/sbin/policy-rc.d").chmod(0o755)

    whatsapp = http.server.ThreadingHTTPServer(("127.0.0.1", 0), WhatsApp)
    threading.Thread(target=whatsapp.serve_forever, daemon=True).start()
    shop = Shop(root, free_port())
    expect(shop.sh("command -v cargo rustc node npm || true") == "", "the clean system has Rust or Node")

    lines, name = readme_lines()
    shutil.copy(before, root / name)
    shop.sh("apt-get update", INSTALL_S)
    shop.sh("cd /\n" + "\n".join(lines), INSTALL_S)
    say(f"installed {shop.sh('dpkg-query -W nyala').strip()} as README.md says")
    expect(shop.sh("pg_lsclusters -h") == "", "Debian's own cluster was made")
    expect(shop.sh("ls /usr/lib/postgresql").strip(), "no PostgreSQL was installed")
    expect(shop.owner(ENV_FILE) == "root:nyala 640", f"{ENV_FILE} is {shop.owner(ENV_FILE)}")
    expect(shop.owner(DATA) == "nyala:nyala 700", f"{DATA} is {shop.owner(DATA)}")
    expect((root / "etc/systemd/system/multi-user.target.wants/nyala.service").is_symlink(), "the service is not enabled")
    expect(ENV_FILE not in shop.sh("cat /var/lib/dpkg/info/nyala.conffiles 2>/dev/null || true"), f"{ENV_FILE} is a conffile")
    expect(shop.sh("ls -A /var/lib/nyala") == "", "the installation has started the server")

    settings = {
        "HTTP__PORT": shop.port, "MQTT__PORT": free_port(), "MQTT__HOST": "127.0.0.1", "MQTT__PUBLIC_HOST": "localhost",
        "WHATSAPP__META_BASE_URL": f"http://127.0.0.1:{whatsapp.server_port}", "WHATSAPP__META_PHONE_NUMBER_ID": "123456789012345",
        "WHATSAPP__META_ACCESS_TOKEN": "x", "WHATSAPP__META_TEMPLATE": "kode", "BACKUP__DIR": "/backup/nyala",
    }
    with open(root / ENV_FILE, "a") as env:
        env.writelines(f"NYALA__{key}={value}\n" for key, value in settings.items())
    shop.sh("install -d -o nyala -g nyala -m 700 /backup/nyala")
    expect('profile = "production"' in shop.sh("nyala config check"), "the package does not begin in production")

    shop.start()
    page = shop.opener.open(f"http://127.0.0.1:{shop.port}/", timeout=10).read().decode()
    expect('<div id="root">' in page, "the program has no app in it")
    shop.open_shop()
    keys = folder / "device.json"
    keys.write_text(shop.device_key)
    devices = subprocess.Popen([device_sim, "--keys", keys], stdout=subprocess.DEVNULL, stderr=open(folder / "device.log", "w"))
    shop.buy(1)
    expect(shop.balance() == TOPUP - PRICE, f"the balance is {shop.balance()} after one purchase")
    say("a customer has registered and bought a wash of a played device, in production")
    customers = shop.sh("with-postgres /var/lib/nyala psql -Atc 'SELECT count(*) FROM customer_global'").strip()
    expect(customers == "1", f"with-postgres psql counts {customers} customers")
    until("the backup is in order", lambda: "verified" in (shop.sh("nyala backup status || true")))
    # By root, as an operator would.
    shop.sh("nyala backup base", PATIENCE_S)
    say("nyala backup status: " + ", ".join(shop.sh("nyala backup status").split("\n")).strip(", "))

    until("the machine is idle", lambda: shop.machine_status() == "idle")
    shop.stop()
    env_before = (root / ENV_FILE).read_bytes()
    shutil.copy(package, root / name)
    shop.sh(f"cd / && apt-get install -y ./{name}", INSTALL_S)
    expect((root / ENV_FILE).read_bytes() == env_before, f"the upgrade has changed {ENV_FILE}")
    expect("restart" in (root / "var/lib/dpkg/info/nyala.postinst").read_text(), "an upgrade does not restart the server")
    shop.start()
    shop.buy(2)
    expect(shop.balance() == TOPUP - 2 * PRICE, "the balance was not kept by the upgrade")
    shop.sh("nyala audit verify")
    say(f"upgraded to {shop.sh('dpkg-query -W nyala').strip()}: the same login has bought again, and the ledger is intact")
    shop.stop()

    for command in ("remove", "purge"):
        shop.sh(f"apt-get {command} -y nyala", INSTALL_S)
        expect(not (root / "usr/bin/nyala").exists(), f"{command} leaves the program")
        expect(shop.owner(f"{DATA}/secrets.toml") == "nyala:nyala 600", f"{command} has touched the keys")
        expect((root / DATA / "postgres/cluster/PG_VERSION").exists(), f"{command} has touched the database")
        expect((root / ENV_FILE).read_bytes() == env_before, f"{command} has touched {ENV_FILE}")
    say("remove and purge keep the data, the keys and the settings")
    shop.sh(f"cd / && apt-get install -y ./{name}", INSTALL_S)
    shop.start()
    expect(shop.balance() == TOPUP - 2 * PRICE, "the data that purge kept is not served again")
    shop.stop()
    devices.terminate()
    systemd_says(root / "lib/systemd/system/nyala.service")
    say("installed again on the kept data. Not run here: systemd itself (the start, the restart of an upgrade and the sandbox of the unit)")
    shutil.rmtree(root, ignore_errors=True)


def entry():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    expect(os.geteuid() == 0, "needs root, to install packages in a folder")
    for tool in ("debootstrap", "unshare", "chroot", "dpkg-deb"):
        expect(shutil.which(tool), f"{tool} is missing: apt-get install debootstrap util-linux")
    if IN_NAMESPACES not in os.environ:
        inside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, __file__, *sys.argv[1:]]
        os.execvpe("unshare", inside, os.environ | {IN_NAMESPACES: "1"})
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    package, device_sim = (Path(path).resolve() for path in sys.argv[2:4])
    if len(sys.argv) == 5:
        before = Path(sys.argv[4]).resolve()
        say(f"upgrades from {before.name}")
    else:
        before = package_before(package, folder)
        say("upgrades from the same package with a lower version: none of a release before was given")
    main(folder, package, device_sim, before)


entry()
