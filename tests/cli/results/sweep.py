#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""`barecpc sweep` runs every point of a description and joins the records; it names points that fail, and goes on after them.

The counts of spin are exact on every CPU model, so each record's count is known.
"""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from host.results import sweep as description
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]

POINTS = """# two CPUs, two lengths
arch = arm64
accel = tcg
cpu = cortex-a53 cortex-a72
program = spin
runs = 1 3
args = "-w 0 -e PAPI_tot_ins -r {runs}"
"""
SPIN = 4000  # instructions of spin's row


def sweep(text, *options, command="sweep", words=("A",), path=None):
    """Run a sweep of this description.  Returns its status, and the lines of standard error."""
    if text is not None:
        (folder / "A").write_text(text)
    done = subprocess.run([sys.executable, ROOT / "scripts" / "barecpc", command, *words, *options], cwd=folder,
                          env={**os.environ, **({"PATH": path} if path else {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr.splitlines()


def results():
    return [json.loads(line) for line in (folder / "A.results" / "results.jsonl").read_text().splitlines()]


def grid():
    status, out, err = sweep(POINTS, "-j", "2")
    rows = [(r["sweep"]["point"], r["sweep"]["parameters"]["cpu"], int(r["sweep"]["parameters"]["runs"]), r["runs"], r["count"]["net"])
            for r in results() if (r["label"], r["privilege"]) == ("spin/pic0", "user")]
    equal("two CPUs and two lengths are four points, with exact counts", rows, [
        (1, "cortex-a53", 1, 1, SPIN), (2, "cortex-a53", 3, 3, SPIN), (3, "cortex-a72", 1, 1, SPIN), (4, "cortex-a72", 3, 3, SPIN)])
    check("the last line counts them", [] if (status, out) == (0, "") and re.fullmatch(r"host: 4 of 4 points ran, \d+ records", err[-1]) else err)
    check("compare reads the joined records", [] if subprocess.run(
        [sys.executable, ROOT / "scripts" / "barecpc", "compare", *2 * ["A.results/results.jsonl"]], cwd=folder, capture_output=True
    ).returncode == 0 else ["it does not"])


def failures():
    """One point of two fails; --resume runs only that one again."""
    bad = POINTS.replace("cortex-a53 cortex-a72", "cortex-a53 nonsense").replace("runs = 1 3", "runs = 1")
    status, _, err = sweep(bad)
    equal("the results of another description are not overwritten", (status, err), (
        125, ["host: A.results: has the results of a sweep: give --resume, or another folder by -o"]))
    status, _, err = sweep(bad, "--resume")
    equal("nor resumed", (status, err), (125, ["host: A.results: has results of another description: give another folder by -o"]))
    # From here on without real guests.
    emulator = folder / "emulator"
    emulator.write_text(f"""#!/bin/sh
case "$*" in *nonsense*) FAKE=refused ;; *) FAKE=good ;; esac
export FAKE
exec '{ROOT}/tests/cli/lib/fake-qemu' "$@"
""")
    emulator.chmod(0o755)
    bad += f"qemu = {emulator}\n"
    words = ("A", "-o", "B")
    status, _, err = sweep(bad, words=words)
    check("a point that fails is named", [] if status == 1 and re.fullmatch(
        r"host: B: point 2: .*cpu=nonsense .*: status 125: host: QEMU failed .*", err[1]) and err[2].startswith("host: 1 of 2 points ran") else err)
    for name in ("1.status", "1.jsonl"):
        os.utime(folder / "B" / name, (1, 1))
    status, _, err = sweep(None, "--resume", words=words)
    check("--resume runs it again, and only it", [] if status == 1 and (folder / "B" / "1.status").stat().st_mtime == 1
          and len((folder / "B" / "joblog").read_text().splitlines()) == 4 else err)
    (folder / "B" / "2.status").unlink()
    status, out, err = sweep(None, command="collect", words=("A.results", "B"))
    check("collect joins folders, and names a point that did not run", [] if status == 1 and len({json.dumps(json.loads(line)["sweep"]) for line in out.splitlines()}) == 5
          and err[0].startswith("host: B: point 2: ") and err[0].endswith(": did not run") else err)
    status, _, err = sweep(None, "--point", "1", words=("A", "-o", "C"))
    check("--point runs one point", [] if (status, err, (folder / "C" / "1.status").read_text()) == (0, [], "0\n") else err)


def other_machines():
    """A point that another program's machine runs: its command line, and the results from its console."""
    text = POINTS.replace("arm64\n", "arm64\nappend = uart=pl011,0x9000000\n").replace("-r {runs}", "-r {runs} '|'")
    status, out, err = sweep(text, "--point", "2", "--cmdline")
    equal("--cmdline has the words of barecpc run", (status, out, err), (
        0, "output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid uart=pl011,0x9000000 "
        "-- spin -w 0 -e PAPI_tot_ins -r 3 |\n", []))
    status, out, err = sweep(text.replace("accel = tcg\n", ""), "--point", "2", "--cmdline")
    equal("without accel it is that of a board", (status, out, err), (0, "output=framed uart=pl011,0x9000000 -- spin -w 0 -e PAPI_tot_ins -r 3 |\n", []))
    for option in (("--cmdline",), ("--place", "desk"), ("--read", "log")):
        status, _, err = sweep(None, *option)
        equal(f"{option[0]} needs a point", (status, err), (125, [f"host: {option[0]}: for one point only: give --point N"]))
    log = folder / "log"
    log.write_bytes(subprocess.run([ROOT / "tests/cli/lib/fake-qemu", "x"], env={**os.environ, "FAKE": "good"}, capture_output=True).stdout)
    bad = log.read_bytes().replace(b'{"n":1}', b'{"n":2}')
    for number, content, wanted in ((1, log.read_bytes(), 0), (2, bad, 1), (3, bad[:200], 1)):
        log.write_bytes(content)
        status, _, err = sweep(POINTS, "--point", str(number), "--place", f"desk {number}", "--read", "log", words=("A", "-o", "L"))
        check(f"--read: log {number}: its status, and a line if it failed", [] if (status, len(err)) == (wanted, wanted) else [str(status), *err])
    check("the line has the point and the reason", [] if re.fullmatch(r"host: L: point 3: .*: status 125: .*the text ends before the closing line.*", err[0]) else err)
    (folder / "L" / "4.jsonl").write_text('{"n":1}\n{"n"')
    (folder / "L" / "4.status").write_text("0\n")
    status, out, err = sweep(None, command="collect", words=("L",))
    equal("its records name their place", [json.loads(line) for line in out.splitlines()], [
        {"n": 1, "sweep": {"point": 1, "parameters": {**dict(arch="arm64", accel="tcg", cpu="cortex-a53", program="spin", runs="1"),
                                                      "args": "-w 0 -e PAPI_tot_ins -r {runs}"}, "place": "desk 1"}}])
    check("a log that lost a frame gives a point that failed", [] if re.search(r"host: L: point 2: .*: status 125: .*lost frames: 1 ", err[0]) else err)
    check("so does a log that is cut", [] if re.search(r"host: L: point 3: .*: status 125: .*the text ends before the closing line", err[1]) else err)
    check("and records that are cut", [] if err[2].endswith(": 4.jsonl is missing or damaged") and status == 1 else err)
    equal("1 of 4 points", err[3:], ["host: 1 of 4 points ran, 1 records"])
    (folder / "L" / "1.jsonl").write_text("")
    status, out, err = sweep(None, command="collect", words=("L",))
    check("a point without a record is named", [] if err[0].endswith("runs=1 args='-w 0 -e PAPI_tot_ins -r {runs}': ran, and left no record") else err)


def full_disk():
    """A file that cannot be written whole keeps what it had, and the line names it."""
    (folder / "all").write_text("before")
    done = subprocess.run([sys.executable, ROOT / "scripts" / "barecpc", "collect", "A.results", "-o", "all"], cwd=folder, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    equal("a full disk: one line, and the old file is kept", (done.returncode, done.stderr, (folder / "all").read_text(), list(folder.glob(".*"))),
          (125, "host: all: File too large\n", "before", []))
    with open("/dev/full", "w") as full:
        for words in (["collect", "A.results"], ["sweep", "A", "--list"]):
            done = subprocess.run([sys.executable, ROOT / "scripts" / "barecpc", *words], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "PYTHONUNBUFFERED": ""})
            equal(f"{words[0]}: standard output without room", (done.returncode, done.stderr), (125, "host: standard output: No space left on device\n"))
    wanted = (folder / "A.results" / "results.jsonl").read_text()
    equal("-o /dev/stdout is standard output", sweep(None, "-o", "/dev/stdout", command="collect", words=("A.results",))[1], wanted)


def bad_input():
    def refused(name, why, text):
        (folder / "A").write_text(text)
        try:
            description.read(folder / "A")
            check(name, ["it is accepted"])
        except description.HostError as error:
            equal(name, str(error), f"{folder / 'A'}{why}")

    refused("a line without =", ":1: not of the form NAME = VALUE VALUE...", "cpu max\n")
    refused("a parameter twice", ":2: cpu is there twice: give all its values on one line", "cpu = a\ncpu = b\n")
    refused("a parameter without a value", ":1: cpu has no value", "cpu =\n")
    refused("a quote that is not closed", ":1: no closing quotation", 'args = "a\n')
    refused("a quote in args that is not closed", ": args: it's: no closing quotation", 'program = spin\nargs = "it\'s"\n')
    refused("a misspelt parameter", ": no value has {cpus}, so cpus changes nothing: see barecpc sweep --help", "program = spin\ncpus = a b\n")
    refused("an unknown parameter in a value", ": {n}: no parameter has this name", "program = spin\nargs = {n}\n")
    refused("no program", ": names no program: add program = NAME", "args = 1\n")
    refused("too many points", ": 1000000 points: at most 100000 are possible", "program = spin\nargs = \"{a}{b}\"\n" + "".join(
        f"{name} = {' '.join(map(str, range(1000)))}\n" for name in "ab"))
    (folder / "A").write_bytes(b"cpu = \xff\n")
    status, _, err = sweep(None)
    equal("not a text", (status, err), (125, ["host: A: not a text"]))
    status, _, err = sweep("program = spin\ncpu = a b\n", "--point", "3")
    equal("a point that is not there", (status, err), (125, ["host: --point 3: A has the points 1 to 2"]))
    status, _, err = sweep(None, command="collect")
    equal("no folder of a sweep", (status, err), (125, ["host: A: no folder of barecpc sweep: its sweep.json is missing or damaged"]))
    status, _, err = sweep("program = spin\n", "-o", "D", path=str(folder))
    equal("no GNU parallel", (status, err), (125, ["host: GNU parallel: not found: install the package parallel, or run scripts/setup"]))
    _, out, _ = sweep("program = spin\ncpu = a b\nargs = '1 2'\n", "--list")
    equal("--list prints the points", out, "1: program=spin cpu=a args='1 2'\n2: program=spin cpu=b args='1 2'\n")


with tempfile.TemporaryDirectory() as at:
    folder = pathlib.Path(at)
    for part in (grid, full_disk, failures, other_machines, bad_input):
        part()
end()
