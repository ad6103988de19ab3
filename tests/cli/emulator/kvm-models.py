#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Each vPMU of KVM counts right: that of two releases of Linux, emulated and mediated.

One boot for each (docs/vpmu.md): the default suite, vpmu, image tests that the seed draws, and what operations cost.  The
tables of costs are comments of the output.

    kvm-models.py [ARCH[,OUTER]]...    only these, as x86_64,7.3,mediated
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from host import cpio
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
DRAWN = 6
# Each machine, and what vpmu finds by the cost of a read.
MODELS = {
    "arm64": "emulated",
    "arm64,7.3": "emulated",
    "x86_64": "emulated",
    "x86_64,7.3": "emulated",
    "x86_64,7.3,mediated": "mediated",
}
OPERATIONS = ("null call", "switch", "sample", "bind+unbind", "overflow round trip")
seed = int(os.environ.get("BARECPC_SEED", "1"))


def make_payload(arch, file):
    """An archive with the suite of one boot; returns the names of the tests drawn."""
    members = cpio.unpack((ROOT / "build" / arch / "tests.cpio").read_bytes())
    lines = [line for line in members["suite"].decode().splitlines() if line.strip()]
    drawn = random.Random(f"{seed} {arch}").sample(lines, DRAWN)
    own = (ROOT / "payloads" / "suite").read_text().splitlines()
    suite = [*own, "vpmu -r 3", *drawn, "opcost"]
    programs = {line.split()[0] for line in drawn}
    file.write_bytes(cpio.pack({"suite": "\n".join([*suite, ""]).encode(), **{name: members[name] for name in programs}}))
    return drawn


def boot(machine, *words):
    """Status and text of one boot.  Plain text is short: each character is an exit to the hypervisor."""
    arch, _, outer = machine.partition(",")
    words = ["run", "--arch", arch, "--accel", "nested-kvm", *(["--outer", outer] if outer else []), "--timeout", "1700",
             "--append", "output=text", *words]
    done = subprocess.run([ROOT / "scripts" / "barecpc", *words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def model(said):
    """The line of vpmu that says which model it found."""
    found = re.search(r"- pmu model((?:\n#.*)*)", said)
    notes = found[1] if found else ""
    told = re.search(r"^# (emulated|mediated):", notes, re.M)
    return told[1] if told else "cannot tell" if "- pmu model # SKIP cannot tell" in said else "no point"


for machine in sys.argv[1:] or MODELS:
    with tempfile.TemporaryDirectory() as name:
        payload = pathlib.Path(name) / "payload.cpio"
        drawn = make_payload(machine.partition(",")[0], payload)
        print(f"# {machine}: drawn by seed {seed}: {', '.join(drawn)}", flush=True)
        status, said = boot(machine, "--payload", payload)
    wrong = [line for line in said.splitlines() if line.startswith("not ok")]
    check(f"{machine}: no point fails", wrong or ([] if status == 0 else [f"status {status}", *said.splitlines()[-12:]]))
    spins = re.findall(r"^spin/pic\d+ +PAPI_tot_ins:u +(-?\d+) .* (\d+) +\S+$", said, re.M)  # median, range
    equal(f"{machine}: spin counts exactly in each run on each PIC", (len(spins), set(spins)), (6, {("4000", "0")}))
    equal(f"{machine}: vpmu finds its model", model(said), MODELS[machine])
    for line in re.findall(r"(?:# a read of a PIC|# an overflow int|# an instruction that).*", said):
        print(line)
    costs = {(m[1].strip(), int(m[2])): int(m[3]) for m in re.finditer(r"^(\S.*?) +([016]) +(\d+)$", said, re.M)}
    print(f"# {machine}: cost in instructions of guest and hypervisor: " +
          ", ".join(f"{o} {n}: {costs[o, n]}" for o in OPERATIONS for n in (0, 1, 6) if (o, n) in costs))
    check(f"{machine}: a sample and a switch have a cost", [] if {("sample", 1), ("switch", 1)} <= costs.keys() else said.splitlines()[-12:])
end()
