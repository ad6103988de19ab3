#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A stranger can judge the machine of a record: threads of the core, mitigations, hypervisor, pages, what quiet= changed."""
import json
import pathlib
import subprocess
import tempfile

import schema
from tap import check, end, equal, skip

ROOT = pathlib.Path(__file__).resolve().parents[3]
QEMU_PMU = ROOT / "scripts" / "qemu-pmu"


def run(*words):
    """The output, and the machine's part of the first record."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "records"
        done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--accel", "tcg", f"--results={results}", *words], cwd=ROOT, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        record = json.loads(results.read_text().splitlines()[0])
    check(f"{words[1]}: the record is as in the schema", schema.faults([record]))
    return done.stdout, record["machine"]


def main():
    _, arm = run("--arch", "arm64", "--qemu", "stock", "--", "triad", "-n", "64")
    equal("arm64: one thread, pages of 4 KiB", (arm["smt"], arm["page_bytes"]), ("absent", {"code": 4096, "data": 4096}))
    # QEMU's CPU max has both; a program starts with 0.
    equal("arm64: PSTATE", arm["mitigations"], {"ssbs": "0", "dit": "0"})
    check("arm64: features", [] if {"fp", "asimd", "atomics"} <= set(arm["features"].split()) else [arm["features"]])
    if subprocess.run([QEMU_PMU, "--built"], check=False).returncode:
        skip("x86-64", "scripts/qemu-pmu --path x86_64 would have to build the emulator first")
        end()
    cpu = subprocess.run([QEMU_PMU, "--cpu", "intel-v5"], check=True, capture_output=True, text=True).stdout.strip()
    x86 = ("--arch", "x86_64", "--qemu", "pmu", "--cpu")
    for state, words in {"absent": (), "halted": ("--smp", "2,threads=2"),
                         "parked": ("--smp", "2,threads=2", "--append", "cpus=1")}.items():
        _, machine = run(*x86, cpu, *words, "--", "triad", "-n", "64")
        equal(f"x86-64: the other thread is {state}", machine["smt"], state)
    _, machine = run(*x86, cpu, "--smp", "2,threads=2", "--", "triad", "-n", "-r", "1", "-w", "0", "64", "&", "matmul", "-n", "-w", "0")
    equal("x86-64: the other thread is busy", machine["smt"], "busy")
    equal("x86-64: a hypervisor, so no default of quiet=", machine.get("quiet"), None)
    # The emulator's own leaves: docs/x86.md, "Events an emulator models".
    check("x86-64: the hypervisor's leaves", [] if "0x40000101" in machine["enlightenments"] else [machine["enlightenments"]])
    output, metal = run(*x86, f"{cpu},-hypervisor")
    equal("metal: the suite has quiet=all", sorted(metal["quiet"]), ["cstates", "freq", "prefetch", "smm", "turbo"])
    check("metal: and says so", [] if "quiet: all is the suite's default on bare hardware: quiet=none" in output else [output])
    equal("metal: no hypervisor's leaves", metal.get("enlightenments"), None)
    for words in (("--append", "quiet=none"), ("--", "triad", "-n", "64")):
        equal(f"metal, {words[1]}: nothing is held", run(*x86, f"{cpu},-hypervisor", *words)[1].get("quiet"), None)
    end()


if __name__ == "__main__":
    main()
