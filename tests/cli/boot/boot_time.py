#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A run on x86-64 takes at most twice the host's CPU time of one on arm64, because qboot starts the machine.
With `--boot bios` SeaBIOS does, and the counts are the same."""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

from qmp_guest import ROOT, Points

RUNS = 4  # other work on the host lengthens some of them


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(arch, *options):
    """The CPU time of the shortest of several runs of `spin`, and what it printed."""
    seconds = []
    for _ in range(RUNS):
        before = cpu_seconds()
        done = subprocess.run([str(ROOT / "scripts" / "barecpc"), "run", "--arch", arch, "--accel", "tcg", *options, "--", "spin"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        seconds.append(cpu_seconds() - before)
    return min(seconds), done.stdout


def main():
    points = Points()
    arm64, _ = run("arm64")
    with tempfile.TemporaryDirectory() as folder:
        results = [pathlib.Path(folder) / name for name in ("direct", "bios")]
        x86_64, table = run("x86_64", "--results", str(results[0]))
        _, same = run("x86_64", "--boot", "bios", "--results", str(results[1]))
        vendors = [json.loads(path.read_text().splitlines()[0])["machine"]["smbios"]["firmware_vendor"] for path in results]
    points.check(x86_64 < 2 * arm64, f"x86-64 takes {x86_64 / arm64:.1f} times the CPU time of arm64", f"{x86_64} s, {arm64} s")
    points.check(vendors == ["qboot", "SeaBIOS"], "the records name qboot, and SeaBIOS with --boot bios", str(vendors))
    points.check(table == same and "PAPI_tot_ins" in table, "the counts are the same by both", table)
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
