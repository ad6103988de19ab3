"""An engine of examples/fleet, unpacked from the distribution's packages, for the tests fleet_*.py."""

import json
import os
import pathlib
import subprocess
import sys

import own_network
from tap import check, end, skip

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = str(ROOT / "scripts" / "barecpc")
FLEET = ROOT / "examples" / "fleet"

# Four points whose records are the same on every host.
POINTS = """arch = arm64
accel = tcg
machine = virt,gic-version=3
cpu = cortex-a53 cortex-a72
program = spin
runs = 1 3
args = "-w 0 -e PAPI_tot_ins -r {runs}"
"""


def start(name):
    """Unpack an engine, and go on in a network of the test's own.  Returns its folder, and the environment for its programs."""
    folder = unpacked(name)
    own_network.enter()
    own_network.add_loopback("10.9.8.1")
    return folder, environment(folder)


def unpacked(name):
    """The folder of an engine.  Ends the test if the packages cannot be had."""
    done = subprocess.run([ROOT / "scripts" / "setup", f"--{name}"], capture_output=True, text=True)
    if done.returncode == 77:
        skip(name, done.stderr.strip().rpartition("\n")[2])
    elif done.returncode:
        check(f"scripts/setup --{name}", [f"status {done.returncode}", *done.stderr.splitlines()[-5:]])
    if done.returncode:
        end()
    return pathlib.Path(done.stdout.strip())


def environment(folder):
    """The environment for the programs in a folder of unpacked packages."""
    libraries = [p for pattern in ("usr/lib/*-linux-gnu", "lib/*-linux-gnu", "usr/lib/*-linux-gnu/slurm-wlm") for p in folder.glob(pattern)]
    # The packages are for the distribution's Python.
    paths = {"PATH": [folder / "usr/bin", folder / "usr/sbin", "/usr/bin"], "LD_LIBRARY_PATH": libraries,
             "PYTHONPATH": [folder / "usr/lib/python3/dist-packages"]}
    env = {**os.environ, "BARECPC": BARECPC, "PYTHONDONTWRITEBYTECODE": "1"}
    for variable, folders in paths.items():
        env[variable] = ":".join([*map(str, folders), *filter(None, [env.get(variable)])])
    return env


def sweep(folder, text, name):
    """Run a description on this machine.  Returns the lines of its records."""
    (folder / name).write_text(text)
    done = subprocess.run([sys.executable, BARECPC, "sweep", name], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        print(f"# {done.stderr}")
    return (folder / f"{name}.results" / "results.jsonl").read_text().splitlines()


def without_place(lines):
    """The records without sweep.place, and the places."""
    records = [json.loads(line) for line in lines]
    places = [record["sweep"].pop("place", None) for record in records]
    return [json.dumps(record, separators=(",", ":")) for record in records], places
