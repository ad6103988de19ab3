"""Reads the profiles that `barecpc record` writes, and finds the functions and lines of their addresses.

A profile is a file of records (docs/record.schema.json).  Its last line, which `barecpc record` adds, has the files of
this machine whose programs ran.  Symbols are read from these files.
"""

import bisect
import collections
import dataclasses
import itertools
import json
import math
import os
import pathlib
import subprocess
import zlib

from host.emulator import qemu
from host.emulator.qemu import HostError
from host.programs.linked import PREFIX
from host.programs.objfile import BadObject, ObjectFile
from host.results import records

UNKNOWN = "[unknown]"
NOWHERE = ((UNKNOWN, ""),)
KERNEL = "[kernel]"
KERNEL_BIT = 1 << 63
ALL_BITS = (1 << 64) - 1
DEBUG = "/usr/lib/debug"  # where Debian's packages with symbols have them
PRODUCER = "name a file that `barecpc record` wrote"


@dataclasses.dataclass(frozen=True)
class Frame:
    """The place of an address.  `places` are pairs of a function and its line: inlined functions, then the one that holds them."""

    address: int  # as linked
    places: tuple
    program: str
    path: str  # the program's file on this machine
    kernel: bool = False

    @property
    def symbol(self):
        """The function in the program's symbol table."""
        return self.places[-1][0]

    @property
    def line(self):
        """The innermost source line, "file:number", or ""."""
        return self.places[0][1]


# The time is in ns.  The innermost frame comes first.
Sample = collections.namedtuple("Sample", "time pid tid frames program")


def build_id(data):
    """The build id of an ELF file in hex, or ""."""
    try:
        note = ObjectFile(data).contents(".note.gnu.build-id")
    except BadObject:
        return ""
    # namesz, descsz, type, "GNU\\0": System V ABI, "Note Section".
    return note[16:].hex() if note[12:16] == b"GNU\0" else ""


def debug_file(path):
    """The separate file with the symbols of this file, or the file itself: GDB manual, "Debugging Information in Separate Files"."""
    data, folder = pathlib.Path(path).read_bytes(), os.path.realpath(os.path.dirname(path))
    try:
        link, _, rest = ObjectFile(data).contents(".gnu_debuglink").partition(b"\0")
    except BadObject:
        return path
    known, name = build_id(data), os.path.basename(os.fsdecode(link))  # "../" may lead to a file without an end
    places = [f"{DEBUG}/.build-id/{known[:2]}/{known[2:]}.debug"] if known else []
    places += [f"{folder}/{name}", f"{folder}/.debug/{name}", f"{DEBUG}{folder}/{name}"] if name else []
    for file in filter(lambda file: os.path.isfile(file) and os.access(file, os.R_OK), places):
        found = pathlib.Path(file).read_bytes()
        if known == build_id(found) if known else zlib.crc32(found) == int.from_bytes(rest[-4:], "little"):
            return file
    return path


def _sha256(data):
    import hashlib  # slow to load, and most commands need no sum
    return hashlib.sha256(data).hexdigest()


def describe(name, path):
    """The facts about a program's file that `barecpc record` keeps."""
    data = pathlib.Path(path).read_bytes()
    return {"program": name, "path": str(pathlib.Path(path).resolve()), "build_id": build_id(data), "sha256": _sha256(data)}


def add_files(path, arch, files):
    """Add the line about files to a profile."""
    line = {"schema": records.SCHEMA, "payload": "barecpc", "arch": arch, "files": files}
    with open(path, "a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")


class Symbols:
    """The functions and lines of one file."""

    def __init__(self, path, arch):
        self._path, self._tool = debug_file(path), PREFIX[arch]
        self._known = {}
        self._exported = [] if _nm(self._path, arch) else sorted([(0, 0), *functions(path, arch)])
        self._ends = list(itertools.accumulate((high for _, high in self._exported), max))  # of a function and of those before it

    def load(self, addresses):
        """Find all these addresses at once."""
        wanted = sorted(set(addresses) - set(self._known))
        if not wanted:
            return
        out = run([self._tool + "addr2line", "-e", self._path, "-a", "-f", "-i", "-C"], "".join(f"{a:#x}\n" for a in wanted))
        found = []
        for line in map(records.clean, out.split("\n")[:-1]):
            if line.startswith("0x") and len(line) == 18:
                found.append([])
            else:
                found[-1].append(line)
        for address, lines in zip(wanted, found):
            # A stripped library names what it exports: after that may be a function without a name.
            known = not self._exported or not lines[1].startswith("??:") or address < self._ends[bisect.bisect(self._exported, (address, math.inf)) - 1]
            self._known[address] = tuple((symbol if symbol != "??" and known else UNKNOWN, _known_line(line))
                                         for symbol, line in zip(lines[::2], lines[1::2]))

    def find(self, address):
        return self._known.get(address, NOWHERE)


def functions(path, arch):
    """The begin and end of each symbol of a file or its debug file; without any, those that it exports."""
    lines = [line.split(None, 3) for line in (_nm(debug_file(path), arch) or _nm(path, arch, "-D")).splitlines()]
    return {(int(line[0], 16), int(line[0], 16) + int(line[1], 16)) for line in lines if len(line) == 4 and len(line[1]) == 16}


def _nm(path, arch, *options):
    return run([PREFIX[arch] + "nm", "-S", "-C", "--defined-only", *options, path])


def _known_line(text):
    """addr2line's `file:line (discriminator 1)` as `file:line`, or "" if it is unknown."""
    text = text.split(" (discriminator")[0]
    return "" if text.startswith("??:") or text.endswith(":?") else text


def run(words, text=""):
    """The output of a program of binutils."""
    try:
        done = subprocess.run(words, input=text, capture_output=True, text=True, errors="replace")
    except FileNotFoundError:
        raise qemu.missing(words[0]) from None
    if done.returncode != 0:
        raise HostError(f"{words[0]}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
    return done.stdout


def of_image(name, arch):
    """The file with the symbols of a program of the image, or None."""
    path = qemu.build_file(arch, "programs")
    return path if (qemu.build_file(arch, "bin") / name).is_file() and path.is_file() else None


NUMBERS = ("period", "samples", "lost", "events", "lwps")


def check(path, parts):
    """Raise HostError unless the members of a profile's records have their types."""
    try:
        _check(parts)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise HostError(f"{path}: its profile is not as docs/records.md has it: {PRODUCER}") from None


def _check(parts):
    """Raise ValueError unless the members that are used have their types, and a path is as short as the kernel's.  _read() converts the others."""
    head = parts[0]
    if not (all(records.is_int(head[name]) for name in NUMBERS) and isinstance(head["event"], str) and head["privilege"] in records.SUFFIX
            and head["period"] > 0):
        raise ValueError
    for part in parts:
        if not (all(isinstance(program["path"], str) and len(program["path"]) < 4096 for program in part.get("programs", []))
                and all(records.is_int(number) for sample in part.get("trace", []) for number in sample)):
            raise ValueError


class Profile:
    """All samples of a file, with the places of their addresses."""

    def __init__(self, path):
        self.path = path
        _, others = records.load(path, PRODUCER)
        parts = [record for record in others if record.get("payload") == "record"]
        if not parts:
            raise HostError(f"{path}: no profile: {PRODUCER}")
        self.head = parts[0]
        try:
            _check(parts)
            self._read(parts, [record for record in others if record.get("payload") == "barecpc"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            raise HostError(f"{path}: its profile is not as docs/records.md has it: {PRODUCER}") from None
        if self.head.get("samples") == 0:
            raise HostError(f"{path}: no samples: the period is longer than the run: give record a shorter one by -c")
        if not self.samples:
            raise HostError(f"{path}: no addresses of samples: {PRODUCER}")

    def _read(self, parts, about):
        if not about:
            self.samples = []
            return
        self.arch = about[-1]["arch"]
        if not (self.arch in PREFIX and all(isinstance(text, str) for file in about[-1]["files"] for text in file.values())):
            raise ValueError
        self.files = {file["program"]: file for file in about[-1]["files"]}
        listed = [program for record in parts for program in record.get("programs", [])]
        self.programs = {program["image"]: (program["path"], int(program["bias"], 16)) for program in listed}
        self.libraries = sorted(((program["image"], program["of"], int(program["start"], 16), int(program["end"], 16))
                                 for program in listed if "of" in program), reverse=True)
        stacks = {place: self._stack(text) for record in parts for place, text in record.get("addresses", [])}
        self._resolve(stacks.values())
        frames = {place: self._frames(stack) for place, stack in stacks.items()}
        self.samples = [Sample(time, pid, tid, frames[place], stacks[place][0]) for record in parts
                        for time, pid, tid, place in record.get("trace", [])]

    def _stack(self, text):
        """The program, the kernel's function or None, and pairs of a program or library and the address as linked: the first, then calls."""
        image, kernel, first, *returns = text.split(" ")
        # The record has return addresses; the call is before them.  The kernel's function has one address.
        addresses = [int(address, 16) - (n > (kernel != "-")) for n, address in enumerate((first, *returns))]
        return self._linked(int(image), 0)[0], None if kernel == "-" else kernel, [self._linked(int(image), address) for address in addresses]

    def _linked(self, image, address):
        """The program, or its library that is at an address, the last mapped, and the address as linked."""
        image = next((library for library, of, start, end in self.libraries if of == image and start <= address < end), image)
        path, bias = self.programs.get(image, (UNKNOWN, 0))
        return path, (address if address & KERNEL_BIT else address - bias) & ALL_BITS

    def _resolve(self, stacks):
        """Read the symbols of every program that has samples."""
        wanted = collections.defaultdict(set)
        for _, kernel, addresses in stacks:
            for program, address in addresses[kernel is not None:]:
                wanted[program].add(address)
        self.symbols = {}
        for program, addresses in wanted.items():
            if program in self.files:
                self.check(program)
                self.symbols[program] = Symbols(self.files[program]["path"], self.arch)
                self.symbols[program].load(addresses)

    def check(self, program):
        """The program's file must be the one that ran."""
        known = self.files[program]
        path = pathlib.Path(known["path"])
        try:
            data = path.read_bytes() if path.is_file() or not path.exists() else b""  # a device has no end
        except OSError as error:
            raise HostError(f"{known['path']}: {error.strerror}: its symbols are needed: record again") from None
        same = known["build_id"] == build_id(data) if known["build_id"] else known["sha256"] == _sha256(data)
        if not same:
            raise HostError(f"{known['path']}: not the program that ran, by its build id: record again")

    def _frames(self, stack):
        program, kernel, addresses = stack
        frames = []
        if kernel is not None:
            frames.append(Frame(addresses[0][1], ((kernel, ""),), KERNEL, KERNEL, True))
        for file, at in addresses[kernel is not None:]:
            *inlined, (symbol, line) = self.symbols[file].find(at) if file in self.symbols else NOWHERE
            library = "" if file == program else "@" + file.rpartition("/")[2]
            frames.append(Frame(at, (*inlined, (symbol + library, line)), file, self.files.get(file, {}).get("path", file)))
        return frames

    def title(self):
        head = self.head
        lost = f", lost: {head['lost']}" if head["lost"] else ""
        missed = f", periods without a sample: {head['missed']}" if head.get("missed") else ""
        sampled = 100 * head["samples"] * head["period"] / max(1, head["events"])
        return (f"{records.event_name(head)}, a sample each {head['period']}: {head['samples']} samples{lost}{missed}, "
                f"{head['events']} events, LWPs: {head['lwps']}, sampled: {sampled:.2f}%")
