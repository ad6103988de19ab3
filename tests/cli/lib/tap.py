"""TAP for the tests of tests/cli that are Python, as tap.sh is for shells."""

import sys

_points = []


def check(name, wrong):
    """One point; it fails if `wrong` lists anything."""
    _points.append(not wrong)
    print(f"{'not ok' if wrong else 'ok'} {len(_points)} - {name}", flush=True)
    for line in wrong[:30]:
        print(f"# {line}")


def skip(name, why):
    """One point that is skipped."""
    _points.append(True)
    print(f"ok {len(_points)} - {name} # SKIP {why}", flush=True)


def equal(name, got, expected):
    """One point; it fails if the values differ."""
    check(name, [] if got == expected else [f"{got}", f"not {expected}"])


def passed():
    """No point has failed until now."""
    return all(_points)


def end():
    """Print the plan, and end with the test's status.  Without a point the test fails."""
    if not _points:
        check("nothing was checked", ["the test has no points"])
    print(f"1..{len(_points)}")
    sys.exit(0 if passed() else 1)
