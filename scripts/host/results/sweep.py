"""`barecpc sweep` runs every combination of parameters, `barecpc collect` joins the results (docs/machine.md)."""

import argparse
import itertools
import json
import pathlib
import re
import shlex
import subprocess
import sys

from host import files, terminal
from host.emulator import qemu
from host.emulator.qemu import HostError
from host.terminal import say, say_wrong

HELP = """
description:
  A line for each parameter: NAME = VALUE VALUE...  A value with blanks is quoted.  # begins a comment.
  Each combination of values is a point, and a run of its own.
    arch accel outer cpu smp mem machine boot qemu payload env append timeout  options of barecpc run
    program                                                                the program to run
    args                                                                   its arguments, in one value
    any other name                                                         replaces {NAME} in values

folder:
  N.jsonl  the records of point N        sweep.json     all points
  N.out    what the program printed      joblog         GNU parallel's, for --resume
  N.err    all other lines               results.jsonl  all records, each with its parameters

status:
  0    every point ran
  1    a point failed, or did not run: standard error names it
  125  bad input: nothing ran
"""

OPTIONS = ("arch", "accel", "outer", "cpu", "smp", "mem", "machine", "boot", "qemu", "payload", "env", "append", "timeout")
PROGRAM = ("program", "args")
LINE = re.compile(r"([a-z][a-z0-9_]*)\s*=\s*(.*)")
USE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
MAX_POINTS = 100000
STATUS_FAILED = 1


def add_sweep(parser):
    parser.epilog, parser.formatter_class = HELP, argparse.RawDescriptionHelpFormatter
    parser.add_argument("description", metavar="DESCRIPTION", help="the file with the parameters")
    parser.add_argument("-o", dest="folder", type=pathlib.Path, metavar="FOLDER", help="the folder for results (DESCRIPTION.results)")
    parser.add_argument("-j", dest="jobs", default="100%", metavar="N", help="runs at a time (one for each processor)")
    parser.add_argument("--resume", action="store_true", help="run the points that are missing or failed")
    parser.add_argument("--list", action="store_true", help="print the points, and end")
    parser.add_argument("--point", type=int, metavar="N", help="run point N only, as a job of a cluster does: see collect")
    parser.add_argument("--read", dest="source", metavar="SOURCE", help="do not run point N, but read the console of a machine that does: "
                        "a log, a serial line, tcp:HOST:PORT or -: see read")
    parser.add_argument("--place", metavar="NAME", help="where point N runs: a member of its records")
    parser.add_argument("--cmdline", action="store_true", help="print the kernel's command line for point N, and end")


def add_collect(parser):
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER", help="the folder of a sweep")
    parser.add_argument("-o", dest="output", type=pathlib.Path, metavar="FILE", help="write to FILE, not to standard output")


def main(args):
    points = read(args.description)
    folder = args.folder or pathlib.Path(f"{args.description}.results")
    if args.list:
        for number, point in enumerate(points, 1):
            print(f"{number}: {named(point)}")
        return 0
    number_of(args, points)
    if not args.point and not args.resume and (folder / "joblog").exists():
        raise HostError(f"{folder}: has the results of a sweep: give --resume, or another folder by -o")
    describe(folder, points)
    if args.point is not None:
        return run_point(args, folder, points[args.point - 1])
    run_all(args, folder, len(points))
    return join([folder], folder / "results.jsonl")


def number_of(args, points):
    """Raise HostError if --point does not name a point, or is missing."""
    if args.point is not None and not 1 <= args.point <= len(points):
        raise HostError(f"--point {args.point}: {args.description} has the points 1 to {len(points)}")
    for option, value in (("--read", args.source), ("--place", args.place), ("--cmdline", args.cmdline)):
        if value and args.point is None:
            raise HostError(f"{option}: for one point only: give --point N")


def words_of(args):
    """The words of `barecpc run` for --point."""
    points = read(args.description)
    number_of(args, points)
    return command(points[args.point - 1])


#
# The description
#

def read(path):
    """The points of a description: dictionaries of parameters."""
    values = {}
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise HostError(f"{path}: not a text") from None
    for number, text in enumerate(lines, 1):
        where = f"{path}:{number}"
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        match = LINE.fullmatch(text)
        if not match:
            raise HostError(f"{where}: not of the form NAME = VALUE VALUE...")
        if match[1] in values:
            raise HostError(f"{where}: {match[1]} is there twice: give all its values on one line")
        try:
            values[match[1]] = shlex.split(match[2], comments=True)
        except ValueError as error:
            raise HostError(f"{where}: {str(error).lower()}") from None
        if not values[match[1]]:
            raise HostError(f"{where}: {match[1]} has no value")
    check(path, values)
    return [dict(zip(values, point)) for point in itertools.product(*values.values())]


def check(path, values):
    """Raise HostError if a parameter has no effect or is missing, or if there are too many points."""
    used = {name for texts in values.values() for text in texts for name in USE.findall(text)}
    for name in values:
        if name not in used and name not in OPTIONS + PROGRAM:
            raise HostError(f"{path}: no value has {{{name}}}, so {name} changes nothing: see barecpc sweep --help")
    for name in sorted(used - set(values)):
        raise HostError(f"{path}: {{{name}}}: no parameter has this name")
    for text in values.get("args", []):
        try:
            shlex.split(text)
        except ValueError as error:
            raise HostError(f"{path}: args: {text}: {str(error).lower()}") from None
    if "program" not in values and ("args" in values or "payload" not in values):
        raise HostError(f"{path}: names no program: add program = NAME")
    points = 1
    for texts in values.values():
        points *= len(texts)
    if points > MAX_POINTS:
        raise HostError(f"{path}: {points} points: at most {MAX_POINTS} are possible")


def named(point):
    """A point in words."""
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in point.items())


def values_of(point):
    """The values of a point, with those of its own parameters in place of {NAME}."""
    return {name: USE.sub(lambda m: point[m[1]], value) for name, value in point.items()}


def command(point, *options):
    """The words of `barecpc run` for a point."""
    full = values_of(point)
    words = ["run", "--quiet", *options]
    for name in OPTIONS:
        words += [f"--{name}={full[name]}"] if name in full else []
    if "program" in full:
        words += ["--", full["program"], *shlex.split(full.get("args", ""))]
    return words


#
# The runs
#

def describe(folder, points):
    """Write the points into the folder.  Raise HostError if it has other ones."""
    text = json.dumps(points, indent=1) + "\n"
    file = folder / "sweep.json"
    if file.exists() and file.read_bytes() != text.encode():
        raise HostError(f"{folder}: has results of another description: give another folder by -o")
    folder.mkdir(parents=True, exist_ok=True)
    files.replace(file, text.encode())


def barecpc():
    return [sys.executable, str(qemu.ROOT / "scripts" / "barecpc")]


def run_point(args, folder, point):
    """Run a point, or read its run.  Its status is written last: without it the point did not run."""
    file = {name: folder / f"{args.point}.{name}" for name in ("status", "place", "jsonl", "out", "err")}
    for name in ("status", "place"):
        file[name].unlink(missing_ok=True)
    words, stdin = command(point, "--results", str(file["jsonl"])), subprocess.DEVNULL
    if args.source:
        words, stdin = ["read", "--results", str(file["jsonl"]), f"--timeout={values_of(point).get('timeout', 0)}", args.source], None
    with open(file["out"], "wb") as out, open(file["err"], "wb") as err:
        done = subprocess.run(barecpc() + words, stdin=stdin, stdout=out, stderr=err)
    if args.place:
        files.replace(file["place"], args.place.encode())
    files.replace(file["status"], f"{done.returncode}\n".encode())
    why = failure(folder, args.point)
    if why:
        say_lost(folder, args.point, point, why)
    return STATUS_FAILED if why else 0


def run_all(args, folder, count):
    """Run all points by GNU parallel, which keeps the journal."""
    try:
        version = subprocess.run(["parallel", "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    except FileNotFoundError:
        version = ""
    if not version.startswith("GNU parallel"):
        raise HostError("GNU parallel: not found: install the package parallel, or run scripts/setup")
    say(f"host: {count} points: {folder}")
    words = ["parallel", "--plain", "--will-cite", "-j", args.jobs, "--joblog", str(folder / "joblog"), *(["--resume-failed"] if args.resume else []),
             *map(shlex.quote, [*barecpc(), "sweep", args.description, "-o", str(folder), "--point"]), "{}"]
    points = "".join(f"{number}\n" for number in range(1, count + 1))
    done = subprocess.run(words, input=points, text=True, capture_output=True)
    if done.returncode > 101:  # parallel(1), "EXIT STATUS": up to 101 jobs failed, which collect() names
        raise HostError(f"parallel: {(done.stderr.strip().splitlines() or [f'status {done.returncode}'])[-1]}")


#
# The results
#

def collect(args):
    return join(args.folders, args.output)


def join(folders, output):
    """Write all records of the folders, with their parameters, and name the points that have none."""
    lines, failed, total = [], 0, 0
    for folder in folders:
        try:
            points = json.loads((folder / "sweep.json").read_text())
            if not isinstance(points, list) or not all(isinstance(text, str) for point in points for pair in point.items() for text in pair):
                raise ValueError
        except (OSError, ValueError, AttributeError, RecursionError):
            raise HostError(f"{folder}: no folder of barecpc sweep: its sweep.json is missing or damaged") from None
        total += len(points)
        for number, point in enumerate(points, 1):
            records, why = records_of(folder, number, point)
            if why:
                failed += 1
                say_lost(folder, number, point, why)
            elif not records:
                say(f"host: {folder}: point {number}: {named(point)}: ran, and left no record")
            lines += records
    if output:
        files.replace(output, "".join(lines).encode())
    else:
        terminal.pass_on(sys.stdout, "".join(lines).encode())
    say(f"host: {total - failed} of {total} points ran, {len(lines)} records")
    return STATUS_FAILED if failed else 0


def say_lost(folder, number, point, why):
    say_wrong(f"host: {folder}: point {number}: {named(point)}: {why}")


def failure(folder, number):
    """Why a point has no results, or ""."""
    try:
        status = (folder / f"{number}.status").read_text(errors="replace").strip()
    except FileNotFoundError:
        return "did not run"
    if status == "0":
        return ""
    said = (folder / f"{number}.err").read_text(errors="replace").strip().splitlines()
    return f"status {status}: {said[-1] if said else 'it said nothing'}"


def records_of(folder, number, point):
    """The lines of a point's records, and why there are none, or ""."""
    why = failure(folder, number)
    if why:
        return [], why
    where = {"point": number, "parameters": point}
    try:
        where["place"] = (folder / f"{number}.place").read_text(errors="replace")
    except FileNotFoundError:
        pass
    lines = []
    try:
        for text in filter(None, (folder / f"{number}.jsonl").read_text().split("\n")):  # not at other breaks of lines
            lines.append(json.dumps({**json.loads(text), "sweep": where}, separators=(",", ":")) + "\n")
    except (OSError, ValueError, TypeError, RecursionError):
        return [], f"{number}.jsonl is missing or damaged"
    return lines, ""
