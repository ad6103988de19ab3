"""Makes the one file on a machine to send back, from the log of a run of `board`.

The first lines are board's report, which tests/boards/ takes (docs/machine.md, "Add a board").  Records of the same run
follow without their arguments, and the kernel's lines on memory, CPUs and counters.  The program has overwritten serial
numbers.  The command line in a device tree, words of the caller, and other lines of the log are left out here."""

import base64
import json
import pathlib
import re
import struct
import tempfile
import zlib

from host import files
from host.console import console, line, outputs
from host.emulator.qemu import HostError
from host.terminal import say, say_wrong

LINE = re.compile(r"(barecpc: (x86_64|arm64),|(mem|cpu|pcbe|boot|witness|watchdog|quiet|panic): )")
FACTS = ("clock", "icount_shift", "accel", "outer")  # of machine.host; other words are the caller's
MAX_PIECE = 16 << 20  # of the device tree
MAX_LINES = 1000
# Devicetree Specification, release v0.4, "Flattened Devicetree (DTB) Format": tokens.
BEGIN_NODE, END_NODE, PROP, NOP, END = 1, 2, 3, 4, 9


def without_arguments(tree):
    """A device tree whose bootargs are overwritten."""
    data = bytearray(tree)
    _, _, at, strings = struct.unpack_from(">4I", data)
    while at + 4 <= len(data):
        token, at = struct.unpack_from(">I", data, at)[0], at + 4
        if token == BEGIN_NODE:
            at = data.index(0, at) // 4 * 4 + 4
        elif token == PROP:
            length, name = struct.unpack_from(">2I", data, at)
            at += 8
            if at + length > len(data):
                raise ValueError("a device tree is cut")
            if data.startswith(b"bootargs\0", strings + name):
                data[at:at + length] = (b"x" * (length - 1) + b"\0")[:length]
            at += (length + 3) // 4 * 4
        elif token not in (END_NODE, NOP):
            break
    return bytes(data)


def _piece(text):
    """A line of board's report, without what may identify a person."""
    piece = json.loads(text)
    if piece["name"] != "FDT ":
        return text
    unpack = zlib.decompressobj()
    tree = unpack.decompress(base64.b64decode(piece["zlib"], validate=True), MAX_PIECE)
    if not unpack.eof:
        raise ValueError("a device tree is cut or too long")
    return json.dumps(piece | {"zlib": base64.b64encode(zlib.compress(without_arguments(tree), 9)).decode()})


def _machine(machine):
    host = {name: value for name, value in (machine.get("host") or {}).items() if name in FACTS}
    return {name: value for name, value in machine.items() if name != "host"} | {"host": host}


def made(report, records, log):
    """The lines of the file."""
    head, *pieces = report.splitlines()
    head = json.loads(head)
    if sum(json.loads(text)["name"] == "FDT " for text in pieces) > 1:
        raise ValueError("it has two device trees")
    lines = [json.dumps(head | {"machine": _machine(head["machine"])}), *map(_piece, pieces)]
    for record in records:
        if "label" in record or "short" in record:
            kept = {name: value for name, value in record.items() if name not in ("arguments", "machine", "sweep")}
            lines.append(json.dumps({"record": kept}, separators=(",", ":")))
    return [*lines, json.dumps({"log": [text for text in log if LINE.match(text)][:MAX_LINES]})]


def main(args):
    log = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "records"
        with line.opened(args.source, args.baud) as fd, outputs.Outputs(path) as out:
            screen = console.Console(out.stream, log.append, lambda damage: say_wrong(f"host: {damage}"))
            line.listen(fd, screen, 0, 0)
            out.unpack(screen)
            report = out.file("board")
            out.complete = True
        records = [json.loads(text) for text in path.read_bytes().splitlines()]
    if report is None:
        raise HostError(f"{args.source}: no report of the program `board`: run `-- board` on the machine, and give the log of that run")
    try:
        lines = made(report, records, log)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, struct.error, zlib.error, RecursionError) as error:
        raise HostError(f"{args.source}: board's report is damaged: {error}: run it again") from None
    files.replace(args.o, "".join(text + "\n" for text in lines).encode())
    say(f"host: {args.o}: {len(lines)} lines: look at them, then send the file back")
    if fault := out.fault or screen.fault:
        raise HostError(f"{args.o}: it is not complete: {fault}")
    return 0
