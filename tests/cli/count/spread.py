#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""`barecpc run --boots N` prints the spread of counts over boots, which the range of one boot's runs does not bound."""
import json
import pathlib
import re
import subprocess
import tempfile

from host.emulator import boots
from made_records import record
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]

NOISY = re.compile(r"^# the range of the runs of one boot does not bound that of another: barecpc run --boots N", re.M)


def run(*words):
    return subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", "arm64", "--accel", "tcg", *words], cwd=ROOT,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)


def rows(text):
    """The table's rows: the words after the event's name."""
    return [line.split()[2:] for line in text.splitlines() if not line.startswith("#")][1:]


# Three boots whose medians are 1000, 1200 and 5000, each with a range of 0; one did not count the second row.
made = [[record("triad/8", [n] * 5), record("matmul/8", None if n == 1200 else [7, 7, 7, 7, 9])] for n in (1000, 1200, 5000)]
equal("the table has the median of the medians, their spread, the range within a boot, and the boots that counted",
      rows(boots.table(made)), [["1200", "1000..5000", "0", "3"], ["7", "7..7", "2", "2"]])
equal("--boots and --results are not passed on, the program's own words are",
      boots.words_of(["--boots", "3", "--results=a", "--smp", "2", "--", "spin", "--boots", "9"]), ["--smp", "2", "--", "spin", "--boots", "9"])

with tempfile.TemporaryDirectory() as folder:
    results = pathlib.Path(folder) / "records"
    done = run("--boots", "2", "--results", str(results), "--", "spin")
    found = rows(done.stdout)
    check("two boots of an exact machine: no spread",
          [] if done.returncode == 0 and len(found) == 18 and all(spread == f"{n}..{n}" and r == "0" and b == "2" for n, spread, r, b in found)
          else [done.returncode, *found, done.stderr])
    kept = [json.loads(line) for line in results.read_text().splitlines()]
    equal("--results has the records of both boots", sum("label" in r for r in kept), 2 * len(found))

failed = run("--boots", "2", "--", "spin", "--no-such-option")
check("a boot that leaves no record is named with what it said",
      [] if failed.returncode == 125 and re.search(r"^host: boot 1 of 2: status 2, and no record: ", failed.stderr, re.M) else [failed.stderr])
for words in (("--boots", "0"), ("--boots", "2", "--folded", "x")):
    refused = run(*words, "--", "spin")
    check(f"{' '.join(words)} is refused in one line",
          [] if refused.returncode == 125 and refused.stderr.startswith("host: --boots ") and refused.stderr.count("\n") == 1 else [refused.stderr])

exact, noisy = run("--", "spin"), run("--no-icount", "--", "spin", "-e", "PAPI_tot_cyc")
check("the heading of an exact machine does not speak of other boots", [] if not NOISY.search(exact.stdout) else [exact.stdout])
check("the heading of a noisy machine says that the range does not bound another boot", [] if NOISY.search(noisy.stdout) else [noisy.stdout])
end()
