#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Every boot loader starts the image, which then counts exactly, and the machine ends with the right status.

The campaign takes every route, and compares them with the table in tests/cli/boot/loaders/routes.md.  `--write` writes that table.
"""

import os
import sys
import tempfile

from loaders import five_levels, from_linux, machine, media, net, routes, signed
from qmp_guest import ROOT, Points

DOC = ROOT / "tests/cli/boot/loaders/routes.md"
HEAD = "| machine | firmware | loader or medium | boot protocol |\n| --- | --- | --- | --- |\n"


def take(points, route):
    """Boot by this route.  Return whether it passed."""
    with tempfile.TemporaryDirectory() as folder:
        status, text = machine.boot(route.arch, route.options(folder))
    why = machine.wrong(route, status, text)
    points.check(not why, route.name, why, *text.splitlines()[-12:])
    return not why


def table(passed):
    names = {"x86_64": "x86-64", "arm64": "arm64"}
    return HEAD + "".join(f"| {names[r.arch]} | {r.firmware} | {r.loader} | {r.via} |\n" for r in passed)


def main():
    campaign = os.environ.get("BARECPC_CAMPAIGN") == "yes" or "--write" in sys.argv
    wanted = [word for word in sys.argv[1:] if word != "--write"]
    points = Points()
    known = list(routes.routes())
    if campaign:
        known += [*media.routes(), *net.routes(), *signed.routes(), *from_linux.routes()]
    chosen = [r for r in known if (campaign or r.check) and (not wanted or any(word in r.name for word in wanted))]
    passed = [r for r in chosen if take(points, r)]
    with tempfile.TemporaryDirectory() as folder:
        points.check(routes.bios_says(folder), "BIOS that starts the disk prints what to do")
    if campaign and not wanted:
        with tempfile.TemporaryDirectory() as folder:
            why, text = five_levels.boots(folder)
        points.check(not why, five_levels.ROUTE.name, why, *text.splitlines()[-12:])
    for arch in signed.FIRMWARE if campaign and not wanted else ():
        with tempfile.TemporaryDirectory() as folder:
            points.check(signed.refused(arch, folder), f"{arch}: Secure Boot refuses an image that is not signed")
    if campaign and not wanted:
        with tempfile.TemporaryDirectory() as folder:
            points.check(signed.enforced(folder), "arm64: the firmware of strict NX executes no data")
    text = DOC.read_text()
    before, mark, rest = text.partition(HEAD)
    rows, gap, after = rest.partition("\n\n")
    if "--write" in sys.argv and not wanted:
        DOC.write_text(before + table(passed) + "\n" + after)
    else:
        lines = (HEAD + rows).splitlines()
        missing = [line for line in table(passed).splitlines() if line not in lines]
        extra = [line for line in lines if line not in table(passed).splitlines()] if campaign and not wanted else []
        points.check(mark and not missing and not extra, "tests/cli/boot/loaders/routes.md lists these routes", f"missing {missing}, too many {extra}")
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
