#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The kernel's parsers find in each report of tests/boards what the kernel found on that machine.

    tests/cli/boot/board_reports.py               compare, and make and compare a report of an emulated machine
    tests/cli/boot/board_reports.py --add FILE NAME   take a report, as docs/machine.md, "Add a board", makes it
    tests/cli/boot/board_reports.py --table       write tests/boards/README.md, the list of the reports
    tests/cli/boot/board_reports.py --update      make the reports of emulated machines again

The pieces of each report are those of /dev/firmware.  The host build of the parsers reads them.  `found`, in a report's first
line, is what they found when the report was added.
"""

import base64
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

from qmp_guest import ROOT, Points

PARSER = ROOT / "build/host/tests/kern/firmware"
BOARDS = ROOT / "tests/boards"
# Reports whose names begin so are from these machines.
EMULATED = {
    "qemu-q35-qboot": "--arch x86_64",
    "qemu-q35-seabios": "--arch x86_64 --boot bios --smp 4,cores=2,threads=2",
    "qemu-q35-ovmf": "--arch x86_64 --boot uefi",
    "qemu-microvm": "--arch x86_64 --machine microvm",
    "qemu-virt": "--arch arm64",
    "qemu-virt-gicv2": "--arch arm64 --machine gic-version=2 --smp 4 --cpu cortex-a72",
    "qemu-virt-aavmf": "--arch arm64 --boot uefi --smp 2",
    "qemu-raspi4b": "--machine raspi4b",
}
NO_TABLES = ("MAP ", "FDT ", "CPUI")


class Report:
    """A report: the first line, and the pieces by name, address and bytes."""

    def __init__(self, text):
        self.lines = text.splitlines()
        self.head = json.loads(self.lines[0])
        self.machine, self.found = self.head["machine"], self.head.get("found")
        self.pieces = []
        for line in self.lines[1:]:
            piece = json.loads(line)
            if "zlib" not in piece:  # a record, or the log: barecpc report-machine adds them
                continue
            data = zlib.decompress(base64.b64decode(piece["zlib"], validate=True))
            if len(data) != piece["bytes"]:
                raise ValueError(f"{piece['name']}: {len(data)} bytes, not {piece['bytes']}")
            self.pieces.append((piece["name"], int(piece["address"], 0), data))

    def binary(self):
        """The pieces as /dev/firmware has them: struct barecpc_firmware, then the bytes."""
        return b"".join(struct.pack("<4sIQQ", name.encode(), 0, address, len(data)) + data for name, address, data in self.pieces)

    def parsed(self):
        """The lines of what the parsers find."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.binary())
            file.flush()
            done = subprocess.run([PARSER, self.machine["arch"], file.name], capture_output=True, text=True)
        return done.stdout.splitlines()[1:] if done.returncode == 0 else [*done.stdout.splitlines(), *done.stderr.splitlines()[:20]]

    def wrong(self):
        """The lines of how the parsers differ from the report."""
        lines = self.parsed()
        pieces = [line for line in lines if line.startswith("piece ")]
        wanted = [f"piece {name} {address:#x} {len(data)} {sum(data) % 256}" for name, address, data in self.pieces if name not in NO_TABLES]
        found = next((line.partition(" ")[2] for line in lines if line.startswith("smbios ")), "")
        smbios = json.loads("{" + found.rstrip(",") + "}").get("smbios")
        facts = dict(word.split("=") for line in lines if line.startswith("machine ") for word in line.replace("device tree", "device_tree").split()[1:])
        wrong = [] if pieces == wanted else [f"tables: {pieces}", f"not {wanted}"]
        wrong += [] if smbios == self.machine.get("smbios") else [f"SMBIOS: {smbios}", f"not {self.machine.get('smbios')}"]
        for fact in ("tables", "gic", "cpus") if self.machine["arch"] == "arm64" else ():
            value = str(self.machine[fact]).replace(" ", "_")
            wrong += [] if facts.get(fact) == value else [f"{fact}: {facts.get(fact)}, not {value}", *lines[-3:]]
        if self.found is not None and self.found != lines:
            wrong += [f"found: {line}" for line in lines if line not in self.found] + [f"gone: {line}" for line in self.found if line not in lines]
        names = [name for name, _, _ in self.pieces]
        return wrong + ([] if "MAP " in names and ("RSDP" in names or "FDT " in names) else [f"neither ACPI nor a device tree: {names}"])


def boot(options, file):
    """Run `board` on an emulated machine.  Returns the report, or None and the last line."""
    done = subprocess.run([ROOT / "scripts/barecpc", "run", "--accel=tcg", *options.split(), "--out", f"board={file}", "--", "board"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode or not file.exists():
        return None, done.stderr.strip().splitlines()[-1]
    return Report(file.read_text()), ""


def add(report, name):
    """Write a report, with what the parsers find in it now."""
    head = {"board": report.head["board"], "found": report.parsed(), "machine": report.machine}
    wrong = report.wrong()
    for line in wrong:
        print(f"{name}: {line}", file=sys.stderr)
    (BOARDS / f"{name}.jsonl").write_text("\n".join([json.dumps(head), *report.lines[1:], ""]))
    return bool(wrong)


def take(path, name):
    """Add the report of a board to tests/boards."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
        sys.exit(f"board_reports: {name}: not a name such as maker-board: small letters, digits, - and .")
    if (BOARDS / f"{name}.jsonl").exists():
        sys.exit(f"board_reports: {name}: tests/boards has this report: give another name")
    if not PARSER.exists():
        sys.exit(f"board_reports: {PARSER.relative_to(ROOT)}: not built: run make host-tests")
    try:
        report = Report(pathlib.Path(path).read_text())
        wrong = add(report, name)
    except OSError as error:
        sys.exit(f"board_reports: {path}: {error.strerror}")
    except (IndexError, KeyError, TypeError, ValueError, zlib.error):
        sys.exit(f"board_reports: {path}: no report of the program board, or a damaged one: docs/machine.md, \"Add a board\"")
    (BOARDS / "README.md").write_text(table())
    print(f"board_reports: tests/boards/{name}.jsonl: added{': the lines above show what the parsers find in another way' if wrong else ''}", file=sys.stderr)
    return wrong


def update():
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, options in EMULATED.items():
            report, why = boot(options, pathlib.Path(folder) / name)
            if report:
                status |= add(report, name)
            else:
                print(f"{name}: {why}", file=sys.stderr)
                status = 1
    return status


def damaged(report):
    """The same report with a changed byte in each table, and another interrupt controller in its tree."""
    report.pieces = [(n, a, d if n in NO_TABLES else d[:-1] + bytes([d[-1] ^ 1])) for n, a, d in report.pieces]
    report.pieces = [(n, a, d.replace(b"arm,gic", b"arm,gib").replace(b"cortex-a15-gic", b"cortex-a15-gib")) for n, a, d in report.pieces]
    return report


def shuffled(report):
    """The same report, with the first two ranges of its memory map in the other order."""
    report.pieces = [(n, a, d[24:48] + d[:24] + d[48:] if n == "MAP " else d) for n, a, d in report.pieces]
    return report


def with_watchdog(report):
    """The same report, with a table WDAT in place of WAET: its one action reads bit 11 of port 608H."""
    table = bytearray(struct.pack("<4sI28xI24xI", b"WDAT", 92, 32, 1) + struct.pack("<BBHBBBBQII", 8, 0, 0, 1, 16, 11, 2, 0x608, 0, 1))
    table[9] = -sum(table) % 256
    report.pieces = [("WDAT", a, bytes(table)) if n == "WAET" else (n, a, d) for n, a, d in report.pieces]
    return report


def hides_serial_number(report, folder):
    """Boot with the report's device tree and a serial number in it.  True if the new report does not have the number."""
    tree = folder / "serial.dtb"
    tree.write_bytes(next(data for name, _, data in report.pieces if name == "FDT "))
    subprocess.run(["fdtput", "-t", "s", tree, "/", "serial-number", "SERIAL-1"], check=True)
    again, why = boot(f"{EMULATED['qemu-virt']} --dtb {tree}", folder / "again")
    data = next((data for name, _, data in again.pieces if name == "FDT "), b"") if again else why.encode()
    return b"serial-number" in data and b"SERIAL-1" not in data


def check_refused(points, file):
    """--add writes no file if the report or the name is wrong."""
    before = set(BOARDS.iterdir())
    with tempfile.TemporaryDirectory() as folder:
        cut = pathlib.Path(folder) / "cut"
        cut.write_bytes(file.read_bytes()[:-200])
        for words, why in ((["/none", "new"], "/none: No such file or directory"), ([file, file.stem], f"{file.stem}: tests/boards has this report"),
                           ([file, "../new"], "../new: not a name"), ([cut, "new"], f"{cut}: no report of the program board"),
                           (["/dev/null", "new"], "/dev/null: no report of the program board")):
            done = subprocess.run([sys.executable, __file__, "--add", *words], capture_output=True, text=True)
            points.check(done.returncode == 1 and done.stderr.count("\n") == 1 and done.stderr.startswith(f"board_reports: {why}"),
                         f"--add is refused: {why.replace(folder, '')}", done.stderr)
    points.check(set(BOARDS.iterdir()) == before, "it changed nothing")


def table():
    """The machines of the reports, for tests/boards/README.md."""
    rows = ["| report | CPU | PMU | PICs | CPUs | hypervisor |", "| --- | --- | --- | --- | --- | --- |"]
    for file in sorted(BOARDS.glob("*.jsonl")):
        m = Report(file.read_text()).machine
        rows.append(" | ".join(["| " + file.stem, *(str(m.get(name) or "-") for name in ("cpu", "pmu", "npic", "cpus", "vmm"))]) + " |")
    return "\n".join(["# Machines that sent a report", "", "`tests/cli/boot/board_reports.py --table` writes this page.", "", *rows, ""])


def framed(number, stream, data):
    what = b"%s %d %d" % (stream, number, len(data))
    return b"BARECPC-BEGIN %s %08x\n%s\nBARECPC-END\n" % (what, zlib.crc32(what + data), data)


def check_machine_report(points, folder):
    """barecpc report-machine leaves out what identifies a person, and what it makes can be added."""
    report = Report((BOARDS / "qemu-virt.jsonl").read_text())
    tree = folder / "person.dtb"
    tree.write_bytes(next(data for name, _, data in report.pieces if name == "FDT "))
    subprocess.run(["fdtput", "-t", "s", tree, "/chosen", "bootargs", "user=JOE -- board"], check=True)
    head = json.dumps({"board": 1, "machine": report.machine | {"host": {"accel": "tcg", "user": "JOE"}}})
    pieces = [line if json.loads(line)["name"] != "FDT " else json.dumps(json.loads(line) | {
        "bytes": len(tree.read_bytes()), "zlib": base64.b64encode(zlib.compress(tree.read_bytes())).decode()}) for line in report.lines[1:]]

    def log_of(lines):
        records = [{"schema": 1, "payload": "board", "file": "board", "text": "\n".join(lines) + "\n"},
                   {"schema": 1, "payload": "spin", "label": "spin/pic0", "arguments": ["--user=JOE"], "machine": {"host": {"user": "JOE"}}}]
        frames = [framed(n, b"json", json.dumps(record).encode()) for n, record in enumerate(records, 1)]
        return b"PXE: JOE 192.0.2.1\ncpu: 1 online\nbarecpc: env.NAME=JOE\n" + b"".join(frames) + framed(3, b"exit", b"0") + b"barecpc: exit 0\n"

    def tree_of(words):
        data = struct.pack(">4I", 0xd00dfeed, 0, 25, 16) + b"bootargs\0" + words
        return json.dumps({"name": "FDT ", "zlib": base64.b64encode(zlib.compress(data)).decode()})

    def make(data, to=folder / "made"):
        (folder / "log").write_bytes(data)
        return subprocess.run([ROOT / "scripts/barecpc", "report-machine", "-o", to, folder / "log"], capture_output=True, text=True, timeout=60)
    done = make(log_of([head, *pieces]))
    text = (folder / "made").read_text() if done.returncode == 0 else ""
    again = Report(text) if text else None
    trees = [data for name, _, data in again.pieces if name == "FDT "] if again else []
    points.check(again and len(trees) == 1 and b"JOE" not in trees[0] and "JOE" not in text and "192.0.2.1" not in text, "report-machine leaves out names",
                 done.stderr, text[-300:])
    points.check(again and not again.wrong() and json.loads(text.splitlines()[-1]) == {"log": ["cpu: 1 online"]} and '"spin/pic0"' in text,
                 "it has the tables, the records, and the kernel's lines", *(again.wrong() if again else []))
    for name, data, why in (("no report", b"cpu: 1 online\n", "no report of the program `board`: run"), ("a damaged one", log_of([head, "{"]), "board's report is damaged"),
                            ("a damaged tree", log_of([head, '{"name":"FDT ","zlib":"eJwDAAAAAAE="}']), "board's report is damaged"),
                            ("two trees", log_of([head, *[tree_of(struct.pack(">I", 9))] * 2]), "it has two device trees"),
                            ("a property beyond the tree", log_of([head, tree_of(struct.pack(">3I", 3, 1 << 28, 0))]), "a device tree is cut"),
                            ("many properties", log_of([head, tree_of(struct.pack(">3I", 3, 0, 1) * (1 << 18) + struct.pack(">3I", 3, 1, 0))]),
                             "a device tree is cut")):
        done = make(data)
        points.check(done.returncode == 125 and why in done.stderr.splitlines()[-1], f"report-machine: {name}", done.stderr)
    done = make(log_of([head, *pieces]), "/dev/full")
    points.check(done.returncode == 125 and done.stderr == "host: /dev/full: No space left on device\n", "report-machine: a full device", done.stderr)


def main(points):
    files = sorted(BOARDS.glob("*.jsonl"))
    points.check({f.stem for f in files} >= set(EMULATED), "there is a report of each emulated machine", *[f.stem for f in files])
    for file in files:
        report = Report(file.read_text())
        report.found = report.found or ["none"]
        points.check(not (wrong := report.wrong()), f"{file.stem}: the parsers find what the kernel found", *wrong)
        points.check(damaged(report).wrong(), f"{file.stem}: changed bytes are found")
    check_refused(points, files[0])
    ovmf = (BOARDS / "qemu-q35-ovmf.jsonl").read_text()
    wrong = shuffled(Report(ovmf)).wrong()
    points.check("firmware: the memory map is not sorted and disjoint" in " ".join(wrong), "a memory map that is not sorted is found", *wrong)
    lines = with_watchdog(Report(ovmf)).parsed()
    points.check("watchdog register=0x608 bytes=2" in lines and "watchdog kind=ACPI WDAT state=2" in lines,
                 "a watchdog's table is read, and its state is unknown (WATCHDOG_UNKNOWN)", *lines)
    with tempfile.TemporaryDirectory() as folder:
        report, why = boot(EMULATED["qemu-virt"], pathlib.Path(folder) / "board")
        points.check(report and not report.wrong(), "a new report", why, *(report.wrong() if report else []))
        check_machine_report(points, pathlib.Path(folder))
        page = BOARDS / "README.md"
        points.check(page.read_text() == table(), "tests/boards/README.md lists the reports: --table writes it")
        points.check(report and hides_serial_number(report, pathlib.Path(folder)), "a device tree's serial number is not reported")
    return points.end()


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            sys.exit(main(Points()))
        case ["--table"]:
            (BOARDS / "README.md").write_text(table())
        case ["--update"]:
            sys.exit(update())
        case ["--add", file, name]:
            sys.exit(take(file, name))
        case _:
            sys.exit(__doc__)
