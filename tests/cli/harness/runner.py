#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""tests/run counts the points of a test, fails a test that does not print its plan and all points, and ends what it starts."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time

from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]
loader = importlib.machinery.SourceFileLoader("run", str(ROOT / "tests" / "run"))
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
sys.modules["run"] = runner  # dataclasses look up their module there
loader.exec_module(runner)


# A test's output, and the passed, failed and skipped points.
CASES = {
    "a plan at the start": ("1..2\nok 1 - a\nok 2 - b\n", (2, 0, 0)),
    "a plan at the end": ("ok 1 - a\nok 2 - b\n1..2\n", (2, 0, 0)),
    "two streams": ("TAP version 13\n# one\n1..1\nok 1\nTAP version 13\n# two\n1..2\nok 1\nok 2\n", (3, 0, 0)),
    "a failure": ("1..2\nnot ok 1 - a\n# why\nok 2 - b\n", (1, 1, 0)),
    "a skip": ("1..2\nok 1 - a # SKIP no PMU\nok 2 - b\n", (1, 0, 1)),
    "a skip without a reason": ("1..1\nok 1 - a # SKIP\n", (0, 1, 0)),
    "a whole stream skipped": ("1..0 # SKIP no PMU\n", (0, 0, 1)),
    "nothing": ("", (0, 1, 0)),
    "an end before the first point": ("1..3\n", (0, 1, 0)),
    "an end in the middle": ("1..3\nok 1\nok 2\n", (2, 1, 0)),
    "an end in the middle of one of two streams": ("TAP version 13\n1..3\nok 1\nTAP version 13\n1..1\nok 1\n", (2, 1, 0)),
    "more points than planned": ("1..1\nok 1\nok 2\n", (2, 1, 0)),
    "no plan": ("ok 1 - a\n", (1, 1, 0)),
    "a bail-out": ("1..1\nBail out! no image\n", (0, 2, 0)),
    "a plan of no tests": ("TAP version 13\n# one\n1..0\nTAP version 13\n# two\n1..1\nok 1\n", (1, 1, 0)),
    "lines that only look like points": ("1..1\nokay\n ok 2\nok 1 - a\n", (1, 0, 0)),
}


# Scripts of a list of its own: the name, needs, seconds, the script, and the verdict with the words that explain a failure.
SCRIPTS = {
    "good": ("-", 60, 'echo "ok 1 - a"; echo 1..1', "1 passed, 0 failed, 0 skipped", ""),
    "limit": ("-", 1, 'echo "ok 1 - a"; echo 1..1; sleep 60', "1 passed, 1 failed, 0 skipped", "took more than 1 s"),
    "status": ("-", 60, 'echo "ok 1 - a"; echo 1..1; exit 3', "1 passed, 1 failed, 0 skipped", "status 3"),
    "status77": ("-", 60, 'echo "ok 1 - a"; echo 1..1; exit 77', "1 passed, 1 failed, 0 skipped", "nothing was counted"),
    "nopmu77": ("nopmu", 60, 'echo "ok 1 - a"; echo 1..1; exit 77', "1 passed, 0 failed, 0 skipped", ""),
    "refused77": ("refused", 60, 'echo "ok 1 - a"; echo 1..1; exit 77', "1 passed, 0 failed, 0 skipped", ""),
    "nopmu_point": ("-", 60, 'echo "ok 1 - a # SKIP no usable PMU here"; echo 1..1', "0 passed, 1 failed, 1 skipped", "nothing was counted"),
    "silent": ("-", 60, ":", "0 passed, 1 failed, 0 skipped", "no test reported"),
    "points_missing": ("-", 60, 'echo "ok 1 - a"; echo 1..2', "1 passed, 1 failed, 0 skipped", "2 tests planned, 1 reported"),
    "tap_empty": ("-", 60, ". tests/cli/lib/tap.sh; end", "0 passed, 1 failed, 0 skipped", "nothing was checked"),
    "unknown_need": ("such", 60, ":", "0 passed, 1 failed, 0 skipped", "unknown need such"),
}
ARCH = "arm64" if platform.machine() == "aarch64" else "x86_64"
# Boots, with the words that explain what is wrong, or "".
BOOTS = {
    "pmu_lost": ("-", "--arch arm64 --accel tcg --cpu max,pmu=off -- cpc_open", "no usable PMU"),
    "pmu_absent": ("nopmu", "--arch arm64 --accel tcg --cpu max,pmu=off -- cpc_open", ""),
    "titles": ("-", "--arch arm64 --accel tcg -- startup", ""),
    "title_missing": ("-", "--arch arm64 --accel tcg --payload {folder}/quiet.cpio", "quiet: the line boots it, and it printed no test"),
}


class Lists:
    """Lists of tests with their scripts, in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, lines):
        path = self.folder / f"{name}.list"
        path.write_text("".join(line + "\n" for line in lines))
        return path

    def script(self, name, needs, seconds, text):
        path = self.folder / f"{name}.sh"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return f"{name} {self.folder} {needs} {seconds}"

    def start(self, path, *options):
        return subprocess.Popen([ROOT / "tests" / "run", "--list", path, *options], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def run(self, path, *options):
        process = self.start(path, *options)
        said = process.communicate()[0]
        return process.returncode, said, pathlib.Path(f"{path}.out/verdict").read_text().strip()


def expect_run(name, got, verdict, words=""):
    """A run with this verdict, as its last line, in its file, and as its status; it says these words."""
    status, said, kept = got
    good = kept == verdict == said.splitlines()[-1] and (status == 0) == (" 0 failed" in verdict) and words in said
    check(name, [] if good else [f"status {status}, kept {kept}", *said.splitlines()[-8:]])


def points():
    for name, (text, want) in CASES.items():
        result = runner.Result()
        runner.read_tap(text, result)
        equal(name, result.counts(), want)
    done = subprocess.run([ROOT / "tests" / "run", "no-such-test"], capture_output=True, text=True)
    check("a test that does not exist", [] if done.returncode == 2 and done.stderr.endswith(
        ": no-such-test: no test and no folder of tests/list\n") else [done.stderr])
    short = runner.Test("short", "tests/cli", [], 1, [])
    long = runner.Test("long", "tests/cli", ["campaign:some"], 1, [])
    equal("a campaign runs with --all or by its name", [runner.chosen([short, long], only, campaigns) for only, campaigns in (
        ([], False), ([], True), (["tests/cli"], False), (["long"], False))], [[short], [short, long], [short], [long]])


def endings(lists):
    """The verdict on what a test does."""
    for name, (needs, seconds, text, verdict, words) in SCRIPTS.items():
        expect_run(f"a script: {name}", lists.run(lists.write(name, [lists.script(name, needs, seconds, text)])), verdict, words)
    path = lists.write("causes", [lists.script(name, "-", 60, f'echo "ok 1 - a # SKIP no PMU: buy one"; echo "ok 2 - b # SKIP {why}"; echo 1..2')
                                  for name, why in (("first", "no PMU: buy one"), ("second", "one CPU"))])
    lists.run(path)
    equal("--causes is a table of why points were skipped", lists.run(path, "--causes")[:2],
          (0, "    3  no PMU: buy one: first, second\n    1  one CPU: second\n"))
    line = lists.script("leaves", "-", 60, f'sleep 300 & echo $! >{lists.folder}/left; setsid -f true; echo "ok 1 - a"; echo 1..1')
    lists.run(lists.write("leaves", [line]))
    check("a process that a test left is ended", ended(lists.folder / "left"))


def ended(path):
    """Whether the process whose number a file has is there: the reason for check()."""
    pid = path.read_text().strip()
    state = pathlib.Path(f"/proc/{pid}/stat")
    return [f"{pid} runs"] if state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z" else []


def interruptions(lists):
    """SIGINT and SIGTERM end the test that runs, what it started, and what is queued."""
    for number in (signal.SIGINT, signal.SIGTERM):
        for name in ("started", "child", "removed"):
            (lists.folder / name).unlink(missing_ok=True)
        hangs = lists.script("hangs", "-", 300, f"trap 'touch {lists.folder}/removed; exit 1' TERM\nsleep 300 & echo $! >{lists.folder}/child\nwait; sleep 300")
        path = lists.write("hangs", [hangs, lists.script("queued", "-", 60, f'touch {lists.folder}/started; echo "ok 1"; echo 1..1')])
        process, until = lists.start(path, "-j1"), time.monotonic() + 60
        while not ((lists.folder / "child").exists() and (lists.folder / "child").read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(number)
        said = process.communicate(timeout=60)[0]
        name = number.name
        equal(f"{name}: the status", process.returncode, 128 + number)
        check(f"{name}: the verdict has failed", [] if said.splitlines()[-1] == pathlib.Path(f"{path}.out/verdict").read_text().strip()
              and " 0 failed" not in said.splitlines()[-1] else [said])
        check(f"{name}: what the test started is ended", ended(lists.folder / "child"))
        check(f"{name}: the test could remove its files", [] if (lists.folder / "removed").exists() else ["it was killed at once"])
        check(f"{name}: what is queued does not run", ["it ran"] if (lists.folder / "started").exists() else [])


def budgets(lists):
    """--all shares the time, --resume keeps what passed, and the end says what was left out."""
    count = f'echo x >>{lists.folder}/runs; echo "ok 1 - a"; echo 1..1'
    lines = ["share some 1", "share other 1", lists.script("plain", "-", 60, count), lists.script("draw", "campaign:some", 60, count),
             lists.script("slow", "campaign:other", 300, 'echo "ok 1 - a"; echo 1..1; sleep 300'), lists.script("poor", "campaign:none", 60, count),
             lists.script("more", "longer:none", 60, 'echo "ok 1 - ${BARECPC_CAMPAIGN-short}"; echo 1..1')]
    path = lists.write("budget", lines)
    got = lists.run(path, "--all", "--minutes", "0.05")
    expect_run("--all: campaigns end with their time", got, "3 passed, 0 failed, 0 skipped")
    for words in ("left out: slow: cut after", "left out: poor: the time of none is over", "left out: more, its longer form: the time of none"):
        check(f"--all says: {words}", [] if words in got[1] else [got[1]])
    check("--all ends with a table of commits", [] if f"{runner.commit_now()} " in got[1] and "test" in got[1] else [got[1]])
    runs = (lists.folder / "runs").read_text()
    (lists.folder / "plain.sh").write_text("#!/bin/sh\nexit 9\n")
    expect_run("--resume keeps what passed on this commit", lists.run(path, "--all", "--minutes", "0.05", "--resume"), "3 passed, 0 failed, 0 skipped")
    equal("and runs it no more", (lists.folder / "runs").read_text(), runs)
    file = pathlib.Path(f"{path}.out/results.jsonl")
    entries = [json.loads(line) | {"commit": "another"} for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    expect_run("but not what passed on another", lists.run(path, "--resume", "plain"), "0 passed, 1 failed, 0 skipped")


def boots(lists):
    """A machine without the PMU of its line fails, and a program that prints no test."""
    (lists.folder / "quiet.c").write_text("int main(void) { return 0; }\n")
    (lists.folder / "suite").write_text("quiet\nstartup\n")
    for command in (["scripts/barecpc-cc", "--arch", "arm64", "-o", lists.folder / "quiet", lists.folder / "quiet.c"],
                    ["scripts/mkcpio", "-o", lists.folder / "quiet.cpio", lists.folder / "quiet", lists.folder / "suite", "build/arm64/tests/startup"]):
        subprocess.run(command, cwd=ROOT, check=True)
    for name, (needs, words, why) in BOOTS.items():
        status, said, verdict = lists.run(lists.write(name, [f"{name} tests/image {needs} 120 {words.format(folder=lists.folder)}"]))
        good = (why in said and status == 1) if why else status == 0 and " 0 failed" in verdict
        check(f"a boot: {name}", [] if good else said.splitlines()[-8:])


def nothing_checked(lists):
    """The harness of the image's programs, on this machine's Linux."""
    source = lists.folder / "empty.c"
    source.write_text('#include "tests/lib/image/test.h"\nTEST(nothing) {}\nTEST(skipped) { SKIP("why"); }\nTEST(checked) { EXPECT(1); }\n')
    subprocess.run(["scripts/barecpc-cc", "--arch", ARCH, "-I.", "-o", lists.folder / "empty", source, f"build/{ARCH}/libtest.a"], cwd=ROOT, check=True)
    said = subprocess.run([lists.folder / "empty"], capture_output=True, text=True).stdout
    equal("a TEST that evaluated no EXPECT fails", [line for line in said.splitlines() if line.startswith(("ok", "not"))][:3],
          ["not ok 1 - nothing", "ok 2 - skipped # SKIP why", "ok 3 - checked"])
    for helper in ("import tap; tap.end()", "import sys, qmp_guest; sys.exit(qmp_guest.Points().end())"):
        done = subprocess.run([sys.executable, "-B", "-c", helper], cwd=ROOT, capture_output=True, text=True)
        check(f"a test of no points fails: {helper}", [] if done.returncode == 1 and "nothing was checked" in done.stdout else [done.stdout + done.stderr])


def mistakes(lists):
    """An exception in a worker is a failure of the run."""
    class Broken(runner.Sessions):
        def start(self, command, **options):
            raise ValueError("a mistake")
    result = runner.run(runner.Test("x", str(lists.folder), [], 1, []), lists.folder, Broken(), {})
    check("an exception in a worker fails its test", [] if result.counts() == (0, 1, 0) and "ValueError: a mistake" in result.failures[0][-1] else [str(result)])


points()
os.chdir(ROOT)
with tempfile.TemporaryDirectory() as name:
    for part in (endings, interruptions, budgets, boots, nothing_checked, mistakes):
        part(Lists(pathlib.Path(name)))
end()
