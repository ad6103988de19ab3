#!/usr/bin/env python3
"""tests/run counts the points of a test, and fails a test that does not print its plan and all points."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
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
    "a whole stream skipped": ("1..0 # SKIP no PMU\n", (0, 0, 1)),
    "nothing": ("", (0, 1, 0)),
    "an end before the first point": ("1..3\n", (0, 1, 0)),
    "an end in the middle": ("1..3\nok 1\nok 2\n", (2, 1, 0)),
    "an end in the middle of one of two streams": ("TAP version 13\n1..3\nok 1\nTAP version 13\n1..1\nok 1\n", (2, 1, 0)),
    "more points than planned": ("1..1\nok 1\nok 2\n", (2, 1, 0)),
    "no plan": ("ok 1 - a\n", (1, 1, 0)),
    "a bail-out": ("1..1\nBail out! no image\n", (0, 2, 0)),
    "lines that only look like points": ("1..1\nokay\n ok 2\nok 1 - a\n", (1, 0, 0)),
}


def main():
    wrong = 0
    for number, (name, (text, want)) in enumerate(CASES.items(), 1):
        result = runner.Result()
        runner.read_tap(text, result)
        got = (result.passed, len(result.failures), len(result.skips))
        print(f"{'ok' if got == want else 'not ok'} {number} - {name}")
        if got != want:
            print(f"# passed, failed, skipped: {got}, not {want}")
            wrong += 1
    done = subprocess.run([ROOT / "tests" / "run", "no-such-test"], capture_output=True, text=True)
    told = done.returncode == 2 and done.stderr.endswith(": no-such-test: no test and no folder of tests/list\n")
    print(f"{'ok' if told else 'not ok'} {len(CASES) + 1} - a test that does not exist")
    short = runner.Test("short", "tests/cli", [], 1, [])
    long = runner.Test("long", "tests/cli", ["campaign"], 1, [])
    right = ([runner.chosen([short, long], only, campaigns) for only, campaigns in
              (([], False), ([], True), (["tests/cli"], False), (["long"], False))]
             == [[short], [short, long], [short], [long]])
    print(f"{'ok' if right else 'not ok'} {len(CASES) + 2} - a campaign runs with --all or by its name")
    print(f"1..{len(CASES) + 2}")
    return 0 if told and right and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
