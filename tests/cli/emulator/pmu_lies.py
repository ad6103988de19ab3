#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A PMU that lies is found by what qemu/README.md names: the boot proof, `vpmu`, `record`, or none of them.

Each lie of the emulator is booted on a PMU of Intel, of AMD and on arm64, in `make check` on one of these.  The table of
the page is compared with what the run finds.  With --table the script prints the table.

A lie is found
- by the boot proof, if the kernel's lines about the PMU differ from those of the PMU without a lie;
- by `vpmu`, if a point fails;
- by `record`, if it ends with a status of its own: not 0, 1 (the program failed), 77 (the boot proof left no counter).
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from tap import check, end, equal, skip

ROOT = pathlib.Path(__file__).resolve().parents[3]
QEMU_PMU = ROOT / "scripts" / "qemu-pmu"
MACHINES = {"Intel, version 2": ("x86_64", "intel-v2"), "AMD, PerfMonV2": ("x86_64", "amd-v2"), "arm64": ("arm64", "max")}
LIES = ("extra=1000", "extra=10000", "still=1", "width=40", "lose=7", "double=7", "late=10000", "kernel=on")
# spin ends with 77 in `record`, which holds the counters.
COMMANDS = {"`vpmu`": ("vpmu", "-r", "1"), "`record`": ("record", "-c", "10007", "spin")}
HEAD = f"| `-cpu ...,pmu-lie-` | {' | '.join(MACHINES)} |"


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def boot(arch, cpu, words):
    """The status, the kernel's lines about the PMU, and the number of failed points."""
    done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--accel", "tcg", "--qemu", "pmu", "--cpu", cpu,
                           "--", *words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=600)
    return (done.returncode, re.findall(r"^pcbe: .*", done.stdout, re.M), len(re.findall(r"^not ok", done.stdout, re.M)))


def finders(runs, honest):
    """Which of the three find a lie, by the boots with it and without."""
    found = ["boot proof"] if any(proof != honest for _, proof, _ in runs) else []
    found += [name for name, (status, _, failed) in zip(COMMANDS, runs) if failed or status not in (0, 1, 77)]
    return ", ".join(found) or "none"


def run_all(wanted):
    """The finders of each lie that is wanted on each PMU, and a point for the PMU without a lie."""
    cells = {}
    for title, (arch, model) in MACHINES.items():
        cpu = output(QEMU_PMU, "--cpu", model).strip() if arch == "x86_64" else model
        lies = [lie for lie in LIES if (lie, title) in wanted]
        cpus = [cpu, *(f"{cpu},pmu-lie-{lie}" for lie in lies)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = [[pool.submit(boot, arch, cpu, words) for words in COMMANDS.values()] for cpu in cpus]
            honest, *lying = [[run.result() for run in pair] for pair in runs]
        proof = honest[0][1]
        check(f"{title}: a PMU that does not lie passes", [] if proof and honest == [(0, proof, 0), (77, proof, 0)] else honest)
        cells |= {(lie, title): finders(pair, proof) for lie, pair in zip(lies, lying)}
    return cells


def table_of(page):
    """The cells of the page's table."""
    lines = page.splitlines()
    body = lines[lines.index(HEAD) + 2:][:len(LIES)] if HEAD in lines else []
    rows = [line.strip("| ").split(" | ") for line in body]
    return {(row[0].strip("`"), title): cell for row in rows for title, cell in zip(MACHINES, row[1:])}


def check_marks():
    """The suite on a PMU that only `spin` finds out: each later row is marked, in the table and in its record."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "records"
        done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", "arm64", "--accel", "tcg", "--qemu", "pmu", "--cpu",
                               "max,pmu-lie-extra=10000", f"--results={results}"], cwd=ROOT, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600)
        made = [json.loads(line) for line in results.read_text().splitlines()]
    rows = [line.split() for line in done.stdout.splitlines() if re.match(r"(spin|triad|matmul|chase|example)\S* +PAPI_", line)]
    wrong = [row for row in rows if row[2].endswith("!") == row[0].startswith("spin")]
    wrong += [r["label"] for r in made if "label" in r and r["machine"].get("spin_failed", False) == r["label"].startswith("spin")]
    said = re.findall(r"^# !: spin failed in this suite", done.stdout, re.M)
    check("a row whose suite mate spin failed is marked", wrong or ([] if done.returncode == 1 and len(rows) > 18 and said else [done.stderr]))


def main():
    if subprocess.run([QEMU_PMU, "--built"], check=False).returncode:
        skip("lies", "scripts/qemu-pmu --path x86_64 would have to build the emulator first")
        end()
    pairs = list(itertools.product(LIES, MACHINES))
    if "--table" in sys.argv:
        cells = run_all(pairs)
        print(HEAD, "| --- " * (1 + len(MACHINES)) + "|", sep="\n")
        for lie in LIES:
            print(f"| `{lie}` | {' | '.join(cells[lie, title] for title in MACHINES)} |")
        return
    # `make check` boots each lie on one PMU.
    some = [(lie, list(MACHINES)[i % len(MACHINES)]) for i, lie in enumerate(LIES)]
    cells = run_all(pairs if os.environ.get("BARECPC_CAMPAIGN") == "yes" else some)
    table = table_of((ROOT / "qemu" / "README.md").read_text())
    equal("qemu/README.md has a cell for each lie and PMU", sorted(table), sorted(pairs))
    for (lie, title), found in cells.items():
        equal(f"{lie}, {title}: found as qemu/README.md says", table.get((lie, title)), found)
    check_marks()
    end()


if __name__ == "__main__":
    main()
