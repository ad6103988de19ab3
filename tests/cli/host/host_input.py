#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Input of a guest or of another person reaches no file of the host, and wrong input is one line."""

import io
import contextlib
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time
import types
import zlib

import made_records
import tap
from host import cpio
from host import main as command
from host.emulator import qemu
from host.programs import objfile, symbols, tools
from host.results import profiles

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = ROOT / "scripts" / "barecpc"


def barecpc(folder, *words, **options):
    return subprocess.run([BARECPC, *map(str, words)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **options)


def frames(bodies):
    """The console of a run that sent these records."""
    text = b""
    for number, body in enumerate([*bodies, b"0"], 1):
        head = f"{'exit' if number > len(bodies) else 'json'} {number} {len(body)}".encode()
        text += b"BARECPC-BEGIN %s %08x\n%s\nBARECPC-END" % (head, zlib.crc32(body, zlib.crc32(head)), body)
    return text + b"barecpc: exit 0\n"


def read(folder, bodies):
    """`barecpc read` of that console, with results in a file that was there before."""
    (folder / "log").write_bytes(frames(bodies))
    (folder / "results").write_text("before\n")
    return barecpc(folder, "read", "--results", "results", "log")


def failed(done, words):
    """Returns nothing if it failed with one line that has these words, else what is wrong."""
    lines = done.stderr.splitlines()
    if done.returncode == 125 and "Traceback" not in done.stderr and lines and words in lines[-1]:
        return []
    return [f"status {done.returncode}", *lines[-8:]]


def refused(call, words):
    """Returns nothing if the call raises an error of the host with these words, else what is wrong."""
    try:
        return [f"not refused: {str(call())[:100]}"]
    except (qemu.HostError, cpio.ArchiveError) as error:
        return [] if words in str(error) else [str(error)]


def consoles(folder):
    good = json.dumps({"schema": 1, "n": 1}).encode()
    for body in (b"[]", b"1", b"null", b'"\\ud800"'):
        tap.check(f"a record that is {body.decode()} is one line", failed(read(folder, [body]), "no JSON object"))
    forged = b'{"schema":1,"payload":"barecpc","arch":"arm64","files":[{"program":"p","path":"/etc/hostname","build_id":"","sha256":""}]}'
    tap.check("a program cannot write the record that names files of the host", failed(read(folder, [good, forged]), "only the host writes"))
    tap.equal("and it is not in the results", (folder / "results").read_text(), good.decode() + "\n")
    hidden = forged.replace(b'"arch"', b'"x":"\n","arch"')  # becomes valid when a newline becomes a blank
    tap.check("not even if it becomes valid later", failed(read(folder, [good, hidden]), "not valid"))
    tap.equal("and that one is not in the results", (folder / "results").read_text(), good.decode() + "\n")
    (folder / "results").write_text("before\n")
    (folder / "log").write_bytes(b"nothing\n")
    tap.check("a run that fails without a record is one line", failed(barecpc(folder, "read", "--results", "results", "log"), "closing line"))
    tap.equal("and the old results remain", [(folder / "results").read_text(), sorted(os.listdir(folder))], ["before\n", ["log", "results"]])
    (folder / "log").write_bytes(frames([b"[]"]).split(b"BARECPC-BEGIN exit")[0])
    done = barecpc(folder, "read", "log")
    tap.check("a bad record does not hide why the run failed", failed(done, "closing line") or ([] if "no JSON object" in done.stderr else [done.stderr]))
    deep = json.dumps({"schema": 1, "payload": "record", "folded": [[";".join(["f"] * 499), 1]]}).encode()
    (folder / "log").write_bytes(frames([deep]))
    done = barecpc(folder, "read", "--folded", "folded", "--flamegraph", "svg", "log")
    tap.equal("a stack of 499 frames is drawn", [done.returncode, (folder / "svg").read_text().count("<title>")], [0, 500])
    (folder / "log").write_bytes(b"barecpc: exit " + b"1" * 5000 + b"\n")
    tap.check("a closing line with a status of 5,000 digits is none", failed(barecpc(folder, "read", "log"), "closing line"))
    (folder / "log").write_bytes(frames([json.dumps({"schema": 1, "file": "/tmp/", "text": "x"}).encode()]))
    done = barecpc(folder, "read", "--out", "/tmp/o=out", "log")
    tap.equal("a record is no file of /tmp", [done.returncode, (folder / "out").exists(), "Traceback" in done.stderr, "internal" in done.stderr],
              [0, False, False, False])
    (folder / "profile").write_text(json.dumps({"schema": 1, "payload": "record"}) + "\n")
    args = types.SimpleNamespace(o=str(folder / "profile"), payload=[])
    tap.check("a profile that a program forged is refused", refused(lambda: tools.finish_record(args, "arm64", None, print), "not as docs/records.md"))
    nul = json.dumps({"schema": 1, "file": "o", "text": "a\ud800b"}).encode()
    (folder / "log").write_bytes(frames([nul]))
    done = barecpc(folder, "read", "--out", "o=o", "log")
    tap.equal("a lone surrogate of a program's file is replaced", [done.returncode, (folder / "o").read_text()], [0, "a?b"])


def payloads(folder):
    inner = folder / "dir"
    inner.mkdir()
    (inner / "f").write_text("x")
    args = types.SimpleNamespace(payload=[str(inner)])
    tap.equal("record finds a file of --payload", tools._payload_file(args, "dir/f"), inner.resolve() / "f")
    tap.equal("record takes no path that a guest names", [tools._payload_file(args, p) for p in ("dir/../../../../etc/hostname", "/dev/zero", "dir/../dir/f")], [None] * 3)
    archive = bytearray(cpio.pack({"a": b"x"}))
    archive[94:102] = b"-000006e"  # the size of the first name: back to the header
    tap.check("an archive with a negative size ends", refused(lambda: cpio.unpack(bytes(archive)), "garbage in the header at byte 0"))


def elf(folder):
    """A file of 16 MiB of A with symbols that all name it, and headers outside of the file."""
    count, names = 20000, b"A" * (16 << 20)
    header = b"\x7fELF\x02\x01" + bytes(34) + struct.pack("<Q", 64) + bytes(10) + struct.pack("<HHH", 64, 3, 2)
    at = 64 + 3 * 64
    text = struct.pack("<IIQQQQIIQQ", 0, 1, 4, 0x1000, 0, 0x1000, 0, 0, 0, 0)
    table = struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, at, count * 24, 2, 0, 0, 24)
    strings = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at + count * 24, len(names), 0, 0, 0, 0)
    entries = b"".join(struct.pack("<IBBHQQ", n, 2, 0, 0, 0x1000 + n % 16, 0) for n in range(count))
    begin = time.process_time()
    file = symbols.parse(header + text + table + strings + entries + names)
    shown = symbols.place(0x1010, None, file)
    tap.equal("20,000 symbols that share 16 MiB of name take no memory and no time",
              [len(shown) < 2 * objfile.MAX_NAME_BYTES, time.process_time() - begin < 5], [True, True])
    one = bytearray(header + text + b"\x80" * objfile.MAX_NAME_BYTES)
    struct.pack_into("<HHH", one, 58, 0, 65535, 0)  # all are the first, whose name is the rest
    struct.pack_into("<Q", one, 64 + 24, 128)
    begin = time.process_time()
    parsed = symbols.parse(bytes(one))
    tap.equal("65,535 sections that share a name take no memory and no time", [parsed is not None, time.process_time() - begin < 5], [True, True])
    far = bytearray(header + text)
    far[40:48] = struct.pack("<Q", 1 << 63)
    tap.equal("a table of sections outside of the file", symbols.parse(bytes(far)), None)
    escape = header + text + table + strings + struct.pack("<IBBHQQ", 0, 2, 0, 0, 0x1000, 0) + bytes((count - 1) * 24) + b"\x1b[31m\0"
    tap.equal("an escape in a symbol is not printed", "\x1b" in symbols.place(0x1000, None, symbols.parse(escape)), False)


def nb(folder):
    run = ("nb", "--arch", "arm64")
    tap.check("nb -asm reads no file", failed(barecpc(folder, *run, "-asm", '.incbin "/etc/hostname"'), "-allow_directives"))
    tap.check("nb -asm makes no directive of parts", failed(barecpc(folder, *run, "-asm", '.irp x, cbin; .in\\x "/etc/hostname"; .endr'), "-allow_directives"))
    tap.check("nb -asm of 10^12 copies", failed(barecpc(folder, *run, "-asm", "1000000000000*|nop|"), "16 MiB"))
    tap.check("nb -code of a file without end", failed(barecpc(folder, *run, "-code", "/dev/zero"), "16 MiB"))


def exports(folder):
    rows = [made_records.record("=1+1/8", [3]), made_records.record("@x", [3]), made_records.record("l/99999999999999999", [3]),
            made_records.record("l/99999999999999998", [4]), made_records.record("n/1", list(range(200000)))]
    (folder / "r").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cells = barecpc(folder, "export", "--to", "csv", "r").stdout.splitlines()[1:3]
    tap.equal("a label is no formula of a spreadsheet", [row.split(",")[1] for row in cells], ["'=1+1/8", "'@x"])
    begin = time.monotonic()
    done = barecpc(folder, "export", "--to", "html", "r", timeout=60)
    tap.check("a plot of two large parameters, and 200,000 raw values, take seconds",
              [] if done.returncode == 0 and time.monotonic() - begin < 30 else [done.stderr[-300:]])


def profile(folder):
    """A function that the program made is below the program's addresses; a guest may write any address and thread."""
    shared = {"schema": 1, "payload": "record", "arguments": [], "event": "PAPI_tot_ins", "privilege": "user", "machine": {}}
    for name, stack, tid, status in (("code below the program", "0 - 1000 0 401000", 1, 0), ("a negative thread", "0 - 401000", -5, 0),
                                     ("a stack without addresses", "0 -", 1, 125)):
        parts = [{"period": 10, "samples": 1, "lost": 0, "events": 10, "lwps": 1, "programs": [{"image": 0, "bias": "400000", "path": "p"}]},
                 {"addresses": [[0, stack]], "trace": [[1, 1, tid, 0]]}, {"payload": "barecpc", "arch": "x86_64", "files": []}]
        (folder / "p").write_text("".join(json.dumps(shared | part) + "\n" for part in parts))
        wrong = []
        for words in (("export", "--to", "pprof"), ("export", "--to", "perf-script"), ("report", "-i")):
            done = barecpc(folder, *words, "p")
            if done.returncode != status or "internal error" in done.stderr:
                wrong.append(f"{words}: status {done.returncode}: {done.stderr}")
            if words[-1] == "perf-script" and status == 0:
                wrong += [line for line in done.stdout.splitlines() if line.startswith("\t") and "-" in line.split()[0]]
        tap.check(f"a profile with {name}", wrong)


def programs(folder):
    """A guest may list its programs in any order, and write any path."""
    shared = {"schema": 1, "payload": "record", "arguments": [], "event": "PAPI_tot_ins", "privilege": "user", "machine": {}, "period": 10, "samples": 1,
              "lost": 0, "events": 10, "lwps": 1, "addresses": [[0, "0 - 1800"]], "trace": [[1, 1, 1, 0]]}
    library, device = {"bias": "0", "of": 0, "start": "1000", "end": "2000"}, {"program": "new", "path": "/dev/zero", "build_id": "", "sha256": "0"}
    for name, path, files, words in (("the last mapped of two libraries has the sample", "p", [], ""), ("no device is read", "p", [device], "not the program that ran"),
                                     ("no path is longer than the kernel's", "a/" * 100000, [], "not as docs/records.md has it")):
        listed = [{"image": 0, "bias": "0", "path": path}, {"image": 2, "path": "new", **library}, {"image": 1, "path": "old", **library}]
        parts = shared | {"programs": listed}, {"schema": 1, "payload": "barecpc", "arch": "x86_64", "files": files}
        (folder / "p").write_text("".join(json.dumps(part) + "\n" for part in parts))
        done = barecpc(folder, "report", "-i", "p")
        tap.check(f"a profile: {name}", failed(done, words) if words else [] if "] [unknown]@new\n" in done.stdout else [done.stdout + done.stderr])
    low = symbols.parse((spin := qemu.build_file("arm64", "bin") / "spin").read_bytes()).global_symbol("spin_main")
    parts = shared | {"programs": [{"image": 0, "bias": "0", "path": "p"}], "addresses": [[0, "0 - 10"], [1, f"0 - {low:x}"]], "trace": [[n, 1, 1, n // 2] for n in range(3)]}
    (folder / "p").write_text("".join(json.dumps(part) + "\n" for part in (parts, {"schema": 1, "payload": "barecpc", "arch": "arm64", "files": [profiles.describe("p", spin)]})))
    tap.check("annotate takes a function that has a name", [] if f"{low:x}:" in (done := barecpc(folder, "annotate", "-i", "p")).stdout else [done.stderr])
    (folder / "link").write_bytes(f"{'../' * 40}{BARECPC}\0".encode() + zlib.crc32(BARECPC.read_bytes()).to_bytes(4, "little"))
    subprocess.run([profiles.PREFIX["arm64"] + "objcopy", "-R.note.gnu.build-id", "--add-section", ".gnu_debuglink=link", spin, "spin"], cwd=folder, check=True)
    tap.equal("a program's debug file is in no folder that the program names", profiles.debug_file(folder / "spin"), folder / "spin")


def host(folder):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([BARECPC, "--help"], stdout=writer, stderr=subprocess.PIPE, text=True)
    tap.equal("--help to a closed pipe", [done.returncode, done.stderr], [0, ""])

    def fails(words):
        raise KeyError("\x1b[31mtwo\nlines")

    command.parse = fails
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        status = command.main()
    tap.equal("an internal error is one line, and status 125", [status, said.getvalue().count("\n"), "\x1b" in said.getvalue()], [125, 1, False])
    tap.check("a model without its emulator says what it needs",
              failed(barecpc(folder, "run", "--arch", "x86_64", "--qemu", "/usr/bin/qemu-system-x86_64", "--cpu", "intel-v4", "--", "spin"), "needs a QEMU"))
    for made in (scratch := folder / "scratch", fake := folder / "bin"):
        made.mkdir()
    (fake / "mformat").write_text(f'#!/bin/sh\nls "$TMPDIR" | wc -l >"{folder}/entries"\nexit 1\n')
    (fake / "mformat").chmod(0o755)
    (folder / "a.efi").write_bytes(b"MZ")
    subprocess.run([ROOT / "scripts" / "mkdisk", "--fat", "--efi", "a.efi", "out.img"], cwd=folder, capture_output=True,
                   env={**os.environ, "TMPDIR": str(scratch), "PATH": f"{fake}:{os.environ['PATH']}"})
    tap.equal("mkdisk works in its private folder alone", (folder / "entries").read_text().strip(), "1")


for part in (consoles, payloads, elf, nb, exports, profile, programs, host):
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        part(pathlib.Path(name))
tap.end()
