#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Results come home on the stick: the run keeps them in memory over a warm reset, and the next boot writes them to files.

OVMF and AAVMF run with variables in flash.  A file is the memory.  So a test can end the machine at a reset, look at what
is kept, change it, and go on.  The files on the stick have the bytes that `scripts/barecpc read` gets from the
serial line."""

import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import time

from qmp_guest import Points, cpu_seconds

ROOT = pathlib.Path(__file__).resolve().parents[3]

LIMIT_SECONDS = 900  # of QEMU's CPU time, for one machine; of elapsed time four times as many
MEMORY = 256 << 20
MAGIC = b"BCKEPT1\0"
STEP = 16 << 20
LEFT = 30000  # bytes of a full store of variables: OVMF needs minutes with less
WORDS = "output=framed -- spin -r 1 -w 0"
WAITS = "then press a key to try again"
STAY_SECONDS = 10  # the application powers off five seconds after its last line, if it does
MACHINES = {
    "x86_64": (["qemu-system-x86_64", "-M", "q35,memory-backend=ram"], "/usr/share/OVMF/OVMF_CODE_4M.fd",
               "/usr/share/OVMF/OVMF_VARS_4M.fd", "BOOTX64.EFI"),
    "arm64": (["qemu-system-aarch64", "-M", "virt,gic-version=3,memory-backend=ram", "-boot", "menu=on,splash-time=0"],
              "/usr/share/AAVMF/AAVMF_CODE.fd", "/usr/share/AAVMF/AAVMF_VARS.fd", "BOOTAA64.EFI"),
}


class Board:
    """A machine with a stick.  power_off() forgets its memory."""

    def __init__(self, arch, folder, words=WORDS):
        self.arch, self.folder = arch, pathlib.Path(folder)
        self.stick, self.memory, self.log = (self.folder / name for name in ("stick.img", "memory", "log"))
        self.command, self.code, variables, application = MACHINES[arch]
        self.variables = self.folder / "variables.fd"
        shutil.copy(variables, self.variables)
        subprocess.run([ROOT / "scripts/mkdisk", "--fat", "--cmdline", words, "--efi", ROOT / "build" / arch / application,
                        self.stick], check=True)

    def power_off(self):
        self.memory.unlink(missing_ok=True)

    def disk(self, readonly):
        """QEMU's words for what the machine boots from."""
        return ["-drive", f"if=none,id=d,format=raw,file={self.stick},readonly={'on' if readonly else 'off'}",
                "-device", "virtio-blk-pci,drive=d"]

    def boot(self, once=True, readonly=False, until=None, act=None):
        """Run until the machine is off, at the first reset if `once`, or killed at the pattern `until`.  Returns the console.

        If act() is given, the machine stays on for STAY_SECONDS after `until`, and goes on if act() returns keys to press."""
        words = [*self.command, "-accel", "tcg", "-cpu", "max", "-m", str(MEMORY >> 20), "-display", "none", "-nodefaults",
                 "-object", f"memory-backend-file,id=ram,size={MEMORY},mem-path={self.memory},share=on",
                 "-drive", f"if=pflash,format=raw,readonly=on,file={self.code}",
                 "-drive", f"if=pflash,format=raw,file={self.variables}",
                 *self.disk(readonly), "-serial", "stdio", *(["-no-reboot"] if once else [])]
        with open(self.log, "wb") as log:
            guest = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log)
        end = time.monotonic() + 4 * LIMIT_SECONDS
        try:
            while guest.poll() is None and (cpu_seconds(guest.pid) or 0) < LIMIT_SECONDS and time.monotonic() < end:
                if until and re.search(until, self.log.read_bytes()):
                    if act is None:
                        break
                    time.sleep(STAY_SECONDS)
                    keys = act() if guest.poll() is None else b""
                    if not keys:
                        break
                    guest.stdin.write(keys)
                    guest.stdin.flush()
                    act = until = None
                time.sleep(0.1)
        finally:
            guest.kill()
            guest.wait()
            guest.stdin.close()
        return self.log.read_bytes().decode(errors="replace")

    def files(self):
        listing = subprocess.run(["mdir", "-b", "-i", self.stick, "::"], capture_output=True, text=True, check=True).stdout
        return sorted(line.removeprefix("::/") for line in listing.splitlines() if "barecpc" in line)

    def file(self, name):
        return subprocess.run(["mtype", "-i", self.stick, f"::/{name}"], capture_output=True, check=True).stdout

    def kept(self):
        """The places in memory that keep something."""
        with open(self.memory, "rb") as memory:
            places = []
            for at in range(0, MEMORY, STEP):
                memory.seek(at)
                if memory.read(len(MAGIC)) == MAGIC:
                    places.append(at)
            return places

    def change(self, at):
        with open(self.memory, "r+b") as memory:
            memory.seek(at)
            byte = memory.read(1)[0]
            memory.seek(at)
            memory.write(bytes([byte ^ 1]))

    def records(self, text):
        """The records that the host reads from this text, and the status."""
        path, log = self.folder / "records", self.folder / "text"
        log.write_bytes(text)
        done = subprocess.run([ROOT / "scripts/barecpc", "read", "--results", path, log], capture_output=True, check=False)
        return path.read_bytes(), done.returncode


def line_of(text, words):
    """The lines of the application with these words."""
    return [line for line in text.splitlines() if line.startswith("barecpc: ") and words in line]


def results_come_home(points, board):
    arch = board.arch
    console = board.boot(once=False)
    wanted, status = board.records(board.log.read_bytes())
    points.check(line_of(console, "results of the last run are in barecpc-results.jsonl, its log in barecpc.log"),
                 f"{arch}: the second boot reports the results", *console.splitlines()[-5:])
    files = board.files()
    points.check({"barecpc-results.jsonl", "barecpc.log"} <= set(files), f"{arch}: they are on the stick", *files)
    points.check(wanted and board.file("barecpc-results.jsonl") == wanted,
                 f"{arch}: their bytes are those of the serial line")
    points.check(status in (0, 77) and board.records(board.file("barecpc.log")) == (wanted, status),
                 f"{arch}: the log on the stick can be read as the serial line, with the same status", status)
    points.check(not board.kept(), f"{arch}: memory keeps nothing more")
    points.check(board.file("barecpc.run").startswith(b"0 "), f"{arch}: no run is without results")
    board.power_off()
    console = board.boot(once=False)
    points.check(board.file("barecpc-results.jsonl") == wanted and
                 board.file("barecpc-results-2.jsonl") == board.records(board.log.read_bytes())[0],
                 f"{arch}: a second run has its own files, and changes none", *console.splitlines()[-5:])


def power_cut(points, board):
    arch = board.arch
    board.boot()
    points.check(len(board.kept()) == 1, f"{arch}: a run is kept in one place")
    for n in (1, 2):
        board.power_off()
        console = board.boot()
        points.check(line_of(console, "results of the last run are lost: power was cut"),
                     f"{arch}: power cut {n}: it says so", *console.splitlines()[-5:])
    points.check(not line_of(console, "results are in") and set(board.files()) == {"barecpc.cfg", "barecpc.run"},
                 f"{arch}: power cut: no results are claimed", *board.files())
    points.check(line_of(console, "this run's results are not kept") and not board.kept(),
                 f"{arch}: memory that is lost each time starts no third run", *console.splitlines()[-5:])


def damaged_memory(points, board):
    arch = board.arch
    board.boot()
    start = board.kept()[0]
    saved, stick = board.memory.read_bytes(), board.stick.read_bytes()
    for offset, what in ((24, "the head"), (200, "the text")):
        board.memory.write_bytes(saved)
        board.stick.write_bytes(stick)
        board.change(start + offset)
        console = board.boot(until=b"barecpc: " + arch.encode())
        points.check(line_of(console, "results of the last run are damaged in memory") and
                     "barecpc-results.jsonl" not in board.files(),
                     f"{arch}: a changed bit in {what}: nothing is written", *console.splitlines()[-5:])


def reset_in_the_run(points, board):
    arch = board.arch
    board.boot(until=b"cpu: 1 online")
    points.check(len(board.kept()) == 1, f"{arch}: a run has begun")
    console = board.boot(until=b"barecpc: " + arch.encode())
    points.check(line_of(console, "the last run was reset before its end") and "barecpc-results.jsonl" not in board.files(),
                 f"{arch}: a reset before its end: nothing is written", *console.splitlines()[-5:])


def fill_volume(board):
    """Add files, each half as long as the one before, until no byte is free."""
    full = board.folder / "full"
    size = 64 << 20
    while size >= 512:
        full.write_bytes(bytes(size))
        name = f"::/full.{size}"
        if subprocess.run(["mcopy", "-i", board.stick, full, name], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False).returncode:
            subprocess.run(["mdel", "-i", board.stick, name], capture_output=True, check=False)
        size //= 2


def volumes(points, board):
    arch = board.arch
    board.boot()
    wanted, _ = board.records(board.log.read_bytes())
    stayed = []
    console = board.boot(readonly=True, until=WAITS.encode(), act=lambda: stayed.append(board.kept()))
    points.check(line_of(console, "results of the last run are not written: the volume is read-only") and
                 line_of(console, f"the results stay in memory: leave the power on: let the volume or the server take files, {WAITS}"),
                 f"{arch}: a volume that became read-only", *console.splitlines()[-5:])
    points.check(len(stayed) == 1 and len(stayed[0]) == 1, f"{arch}: the machine stays on, and memory keeps the results", stayed)
    fill_volume(board)

    def make_room():
        stayed.append(board.files())
        subprocess.run(["mdel", "-i", board.stick, "::full.*"], check=True)
        return b" "

    console = board.boot(once=False, until=WAITS.encode(), act=make_room)
    points.check(line_of(console, "is not written: ") and len(stayed) == 2 and "barecpc-results.jsonl" not in stayed[1],
                 f"{arch}: a full volume: a message, and no part of a file", *console.splitlines()[-5:], *stayed[1:])
    points.check(line_of(console, "results of the last run are in") and wanted and board.file("barecpc-results.jsonl") == wanted,
                 f"{arch}: with room, a key brings home the records of the serial line", *console.splitlines()[-5:], *board.files())
    points.check(not board.kept(), f"{arch}: then memory keeps nothing more")
    board.power_off()
    console = board.boot(readonly=True)
    points.check(line_of(console, "results are not kept: the volume is read-only") and "barecpc: exit" in console and
                 not board.kept(), f"{arch}: a volume that is read-only from the start: the run ends as without keep=",
                 *console.splitlines()[-5:])


def fill_variables(path, left):
    """Put variables into a store of EDK II until so many bytes are left.

    EDK II, MdeModulePkg/Include/Guid/VariableFormat.h: VARIABLE_STORE_HEADER, AUTHENTICATED_VARIABLE_HEADER."""
    store = bytearray(path.read_bytes())
    start = struct.unpack_from("<H", store, 48)[0]  # EFI_FIRMWARE_VOLUME_HEADER.HeaderLength
    end = start + struct.unpack_from("<I", store, start + 16)[0]
    at = start + 28
    while store[at:at + 2] == b"\xaa\x55":
        at += 60 + sum(struct.unpack_from("<II", store, at + 36))
        at += -at % 4
    count = 0
    while (room := end - at - left) > 100:
        name = f"Fill{count}\0".encode("utf-16-le")
        data = bytes(min(room - 80, 4096) & ~3)
        one = struct.pack("<HBBIQ16sIII16s", 0x55aa, 0x3f, 0, 7, 0, bytes(16), 0, len(name), len(data), b"barecpc's tests.") + name + data
        one += b"\xff" * (-len(one) % 4)
        store[at:at + len(one)] = one
        at += len(one)
        count += 1
    path.write_bytes(store)


def variables(points, arch, folder):
    board = Board(arch, folder, f"keep=nvram {WORDS}")
    console = board.boot()
    wanted, _ = board.records(board.log.read_bytes())
    points.check("keep: the records are in " in console, f"{arch}: keep=nvram: records are in UEFI variables",
                 *console.splitlines()[-5:])
    board.power_off()
    console = board.boot(readonly=True, until=WAITS.encode())
    points.check(line_of(console, "the results stay in UEFI variables: "),
                 f"{arch}: keep=nvram: a volume that became read-only", *console.splitlines()[-5:])
    board.power_off()
    console = board.boot()
    points.check(line_of(console, "results of the last run are in barecpc-results.jsonl, its log is lost"),
                 f"{arch}: keep=nvram: a power cut loses only the log", *console.splitlines()[-5:])
    points.check(wanted and board.file("barecpc-results.jsonl") == wanted,
                 f"{arch}: keep=nvram: the bytes are those of the serial line")
    board.power_off()
    console = board.boot()
    points.check(not line_of(console, "of the last run") and "keep: the records are in " in console,
                 f"{arch}: keep=nvram: the variables were removed", *console.splitlines()[-5:])


def full_store(points, arch, folder):
    board = Board(arch, folder, "keep=nvram output=framed -- chase -r 1 -w 0 & triad -r 1 -w 0 & spin & matmul")
    board.boot(until=b"barecpc: " + arch.encode())  # firmware's own variables
    fill_variables(board.variables, LEFT)
    board.power_off()
    console = board.boot()
    wanted, _ = board.records(board.log.read_bytes())
    points.check("keep: no UEFI variables: the run has no status, or its records exceed" in console and len(wanted) > LEFT // 2,
                 f"{arch}: keep=nvram: a full store: it says so, and the run goes on", len(wanted), *console.splitlines()[-5:])
    console = board.boot()
    points.check(line_of(console, "results of the last run are in") and board.file("barecpc-results.jsonl") == wanted,
                 f"{arch}: keep=nvram: a full store: the results come from memory", *console.splitlines()[-5:])


def words(points, arch, folder):
    board = Board(arch, folder, f"keep=no {WORDS}")
    console = board.boot()
    points.check(not board.kept() and board.files() == ["barecpc.cfg"] and "barecpc: exit" in console,
                 f"{arch}: keep=no keeps nothing", *board.files())
    board = Board(arch, folder, f"checks=smash {WORDS}")
    board.boot()
    console = board.boot()
    points.check(line_of(console, "the last run has no results: the run did not reach its status: its log is in barecpc.log") and
                 b"\npanic: " in board.file("barecpc.log") and "barecpc-results.jsonl" not in board.files(),
                 f"{arch}: a panic leaves its log", *console.splitlines()[-5:])
    board = Board(arch, folder, f"then=run {WORDS}")
    board.boot()
    console = board.boot()
    points.check(line_of(console, "results of the last run are in") and "barecpc: exit" in console and len(board.kept()) == 1,
                 f"{arch}: then=run runs again", *console.splitlines()[-5:])


def main():
    points = Points()
    for arch in MACHINES:
        for part in (results_come_home, power_cut, damaged_memory, reset_in_the_run, volumes):
            with tempfile.TemporaryDirectory() as folder:
                part(points, Board(arch, folder))
        for part in (variables, full_store, words):
            with tempfile.TemporaryDirectory() as folder:
                part(points, arch, folder)
    return points.end()


if __name__ == "__main__":
    raise SystemExit(main())
