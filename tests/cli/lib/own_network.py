"""Run a test in a network of its own: no other program reaches its servers, and its ports are free."""

import os
import shutil
import subprocess
import sys
import time

import tap

SECONDS = 240  # of elapsed time, for what hangs


def enter():
    """Start this test again in a new network namespace, unless it is in one.  Skip it if that is refused, as in some containers."""
    if os.environ.get("BARECPC_OWN_NETWORK") == "yes":
        return
    os.environ["BARECPC_OWN_NETWORK"] = "yes"
    words = ["unshare", "-n" if os.getuid() == 0 else "-rn"]
    missing = [name for name in ("unshare", "ip", "ss") if not shutil.which(name)]
    tried = missing or subprocess.run([*words, "true"], capture_output=True, text=True)
    if missing:
        tap.skip("a network of its own", f"{missing[0]} is not installed: scripts/setup --campaign")
        tap.end()
    if tried.returncode:
        if "Operation not permitted" in tried.stderr:
            tap.skip("a network of its own", tried.stderr.strip())
        else:
            tap.check("a network of its own", [tried.stderr.strip()])
        tap.end()
    os.execvp(words[0], [*words, sys.executable, *sys.argv])


def add_loopback(address):
    """127.0.0.1, and an address for programs that want a network: getaddrinfo(3), AI_ADDRCONFIG, ignores 127.0.0.1."""
    for command in ("ip link set lo up", f"ip addr add {address}/32 dev lo"):
        subprocess.run(command.split(), check=True)


def wait_port(port):
    """Wait until a server listens at the port.  A connection would be the one that it waits for."""
    end = time.monotonic() + SECONDS
    while not subprocess.run(["ss", "-Htln", f"sport = {port}"], capture_output=True, check=True).stdout:
        if time.monotonic() > end:
            raise SystemExit(f"port {port}: no server")
        time.sleep(0.1)
