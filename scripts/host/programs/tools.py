"""`barecpc stat` and `barecpc record`: run the image's tools of these names on a program of the host (docs/stat.md)."""

import argparse
import os
import pathlib
import re
import shlex

from host import cpio, files, lazy
from host.emulator import qemu
from host.emulator.qemu import HostError
from host.programs import linux, program
from host.results import records
from host.results.records import DATA

profiles = lazy("host.results.profiles")

PASSED_ON = ("accel", "outer", "smp", "mem", "machine", "dtb", "planted", "boot", "image", "qemu", "silence", "results")
PASSED_ON_EACH = ("payload", "env", "append")
# Names that would hide what the run itself needs.  A program of such a name gets a folder, and next to other files that of a folder of the system.
TAKEN = {"stat", "record", "suite", "dev", "proc", "sys", "tmp"}
FOLDER = "program"
INPUT = ".stdin"  # the guest's name of --stdin
MOST_OFFERED = 16  # files and folders that a failed program may have missed
STAT_FILE = "stat.out"  # the guest's name of stat -o

HELP = """
program:
  With a slash, a file of this machine: ./prog.  Without one, a program of the image or of --payload, or a command of this machine.
  The program gets the last part of its name as argv[0], so that counts do not depend on its folder.
  Other files that it reads or executes: --with FILE, --with FOLDER.

status:
  as that of barecpc run
"""


def within(least, most):
    """The type of an option whose number the guest parses: a boot takes longer than a look."""
    def check(text):
        if not re.fullmatch(r"0[xX][0-9a-fA-F]+|[0-9]+", text) or not least <= int(text, 16 if text[:2] in ("0x", "0X") else 10) <= most:
            raise argparse.ArgumentTypeError(f"{text}: not a number from {least} to {most}")
        return text
    return check


def named(text):
    """A file's name on the command line."""
    if not text:
        raise argparse.ArgumentTypeError("give a file's name, not an empty word")
    return text


STAT_WORDS = (("-r", "RUNS", "runs of each group of events (1)", within(1, 1000)), ("-x", "SEPARATOR", "print fields, as perf stat -x does", str),
              ("-I", "EVENTS", "also print the counts each time this many instructions have passed", within(1000, 2**31 - 1)),
              ("--timeout", "MS", "end the program after this many milliseconds of the guest", within(10, 10**9)))
STAT_FLAGS = (("-j", "print JSON, as perf stat -j does"), ("--per-thread", "print the counts of each thread"),
              ("--aggregates", "print min, median, mean, trimmed mean, error"),
              ("--undisturbed", "exclude disturbed runs, and say which"))
RECORD_WORDS = (("-c", "PERIOD", "events from one sample to the next (100003)", within(1, 2**31 - 1)), STAT_WORDS[-1])
RECORD_FLAGS = (("-g", "sample the callers, too"),)


def _add_machine(parser):
    program.add_arch(parser)
    parser.add_argument("--model", metavar="MODEL", help="the machine's CPU: QEMU's -cpu (max)")
    for name in PASSED_ON:
        if name != "results":
            parser.add_argument("--" + name, metavar="X", help="as for run")
    for name in PASSED_ON_EACH:
        parser.add_argument("--" + name, action="append", default=[], metavar="X", help="as for run")
    parser.add_argument("--with", dest="payload_with", action="append", default=[], type=named, metavar="FILE", help="a file, folder or command "
                        "that the program opens or executes, with the libraries that it needs; a full path keeps its place")
    parser.add_argument("--stdin", type=named, metavar="FILE", help="the program's standard input; -: that of this command")
    parser.add_argument("--sysroot", type=named, metavar="DIR", help="take dynamic programs and libraries from another system's root")
    for name in ("--no-icount", "--quiet"):
        parser.add_argument(name, action="store_true", help="as for run")
    parser.add_argument("--host-timeout", metavar="S", help="as --timeout of run: end the run after S seconds of this machine")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM [ARG...]")
    parser.epilog, parser.formatter_class = HELP, argparse.RawDescriptionHelpFormatter


def _add_words(parser, words, flags):
    for name, metavar, text, kind in words:
        parser.add_argument(name, metavar=metavar, help=text, type=kind)
    for name, text in flags:
        parser.add_argument(name, action="store_true", help=text)


def add_stat(parser):
    parser.usage = "barecpc stat [options] PROGRAM [ARG...]"
    parser.add_argument("-e", action="append", default=[], metavar="EVENT[:uk],...", help="what to count (instructions and cycles)")
    parser.add_argument("-d", action="count", default=0, help="perf's list of events; twice: a longer list")
    _add_words(parser, STAT_WORDS, STAT_FLAGS)
    parser.add_argument("-o", metavar="FILE", help="write the counts to FILE, not to standard error")
    parser.add_argument("--results", metavar="FILE", help="write the records to FILE, each as a line of JSON")
    _add_machine(parser)


def add_record(parser):
    parser.usage = "barecpc record [options] PROGRAM [ARG...]"
    parser.add_argument("-e", action="append", default=[], metavar="EVENT[:uk]", help="what to count (instructions); one event")
    _add_words(parser, RECORD_WORDS, RECORD_FLAGS)
    parser.add_argument("-o", metavar="FILE", default=DATA, help=f"write the profile to FILE ({DATA})")
    _add_machine(parser)


class Log:
    """The lines that are not the program's.  The lines of every boot are shown only if the run fails."""

    USUAL = re.compile(r"$|(host: \w+, [\w-]+: |mem: |cpu: |pcbe: |boot: |barecpc: ((arm64|x86_64), version [0-9.]+|exit \d+)$)")

    def __init__(self, say):
        self._say = say
        self._kept = []

    def line(self, text):
        if self.USUAL.match(text):
            self._kept.append(text)
        else:
            self._say(text)

    def show(self):
        for text in self._kept:
            self._say(text)


class Subject:
    """The program to run: its name in the guest, and for a file of this machine the payload that holds it, and its other files."""

    def __init__(self, word, folder, args):
        self.name, self.file, self.payload, self.files, self.arch = word, None, None, {}, args.arch
        self.root = root = linux.Root(args.sysroot)
        path = word if word.startswith("/") else None
        if "/" not in word and not args.image and not program.is_known(word, args.payload):
            path = root.program(word)
            if not path and pathlib.Path(word).is_file():
                raise HostError(f"{word}: no program of the image: for the file of this folder give ./{word}")
        if path or "/" in word:
            self._take(word, root, path, args, folder)
        if args.payload_with and not self.files:
            self._pack(root, args, folder)

    def _take(self, word, root, path, args, folder):
        # A link keeps its name: a program of many names does what argv[0] says.
        self.file = (root.file(path) if path and root.top else None) or pathlib.Path(word if root.top else path or word)
        try:
            data = self.file.read_bytes()
        except OSError as error:
            raise HostError(f"{word}: {error.strerror}") from None
        self.arch = linux.arch_of_program(root, self.file)
        if not data.startswith(b"#!"):
            program.check(word, data)
        elif not self.arch:
            raise HostError(f"{word}: its interpreter is no program for x86-64 or arm64 in {root.top or 'this system'}: give --sysroot DIR that has one")
        if args.arch not in (None, self.arch):
            raise HostError(f"{self.file}: for {self.arch}, and --arch is {args.arch}: leave --arch out")
        self.name, self.payload = self.file.name if not path or linux.is_static(data) else path, self.file
        packs = not linux.is_static(data) or args.payload_with
        if self.name in TAKEN or packs and os.path.isdir(root.top + root.real("/" + self.name)):
            self.name = f"{FOLDER}/{self.name}"
        if packs:
            self._pack(root, args, folder)
        elif self.name != self.file.name:
            self.payload = folder / FOLDER
            self.payload.mkdir()
            (self.payload / self.file.name).symlink_to(self.file.resolve())

    def _pack(self, root, args, folder):
        """Make an archive of the program and what it needs."""
        if not self.arch:
            raise HostError("--with: for which architecture? give --arch")
        packed = linux.Packed(root, self.arch, args.env)
        if self.file:
            packed.add("/" + self.name.lstrip("/"), self.file)
        for word in args.payload_with:
            packed.add_word(word)
        qemu.check_size(packed.files.values(), _memory(args), option="file")
        self.files, self.payload = packed.files, folder / "linux.cpio"
        self.payload.write_bytes(cpio.pack({**packed.links, **{name: file.read_bytes() for name, file in self.files.items()}}))


def _memory(args):
    """The memory of the machine, as run will have it."""
    board = qemu.board_of(args.machine or "")
    return args.mem or (board.mem if board else "256M")


def prepare(args, folder):
    """The words of `barecpc run` for this run, and the program."""
    words = args.program[args.program[:1] == ["--"]:]
    if not words:
        raise HostError(f"no program: give it after the options: barecpc {args.command} ./prog")
    subject = Subject(words[0], folder, args)
    if len(getattr(args, "e")) > 1 and args.command == "record":
        raise HostError(f"-e {' -e '.join(args.e)}: record samples one event: give one, and run record again for another")
    run = ["run", *(["--arch", subject.arch] if subject.arch else [])]
    for name in PASSED_ON:
        if getattr(args, name, None) is not None:
            run.append(f"--{name}={getattr(args, name)}")  # the value may begin with a dash
    for name in PASSED_ON_EACH:
        run += [f"--{name}={value}" for value in getattr(args, name)]
    run += [f"--cpu={args.model}"] if args.model else []
    run += ["--no-icount"] if args.no_icount else []
    run += ["--quiet"] if args.quiet else []
    run += [f"--timeout={args.host_timeout}"] if args.host_timeout else []
    run += [f"--payload={subject.payload}"] if subject.payload else []
    if args.stdin:
        with files.named(args.stdin), open(0 if args.stdin == "-" else args.stdin, "rb", closefd=args.stdin != "-") as file:
            data = file.read(qemu.memory_bytes(_memory(args)) + 1)
        if len(data) > qemu.memory_bytes(_memory(args)):
            raise HostError(f"--stdin {args.stdin}: the machine has {_memory(args)}: give more by --mem")
        (folder / INPUT).write_bytes(data)
        run += [f"--payload={folder / INPUT}"]
    tool = stat_words(args, run) if args.command == "stat" else record_words(args, run)
    ends = ["--"] if subject.name.startswith("-") else []  # the tool's options end before the program
    return [*run, "--", *map(escape, [args.command, *tool, *ends, subject.name, *words[1:]])], subject


def escape(word):
    """A word of the program's arguments that run would take for an operator between programs."""
    return "\\" + word if word.lstrip("\\") in qemu.OPERATORS else word


def _given(args, words, flags):
    """The options of a table that were given, as the guest's tool takes them."""
    found = []
    for name, *_ in words:
        value = getattr(args, name.strip("-").replace("-", "_"))
        found += [name, value] if value is not None else []
    return found + [name for name, _ in flags if getattr(args, name.strip("-").replace("-", "_"))]


def stat_words(args, run):
    words = _given(args, STAT_WORDS, STAT_FLAGS) + ["-d"] * args.d
    for events in args.e:
        words += ["-e", events]
    if args.o is not None:
        run.append(f"--out={STAT_FILE}={args.o}")
        words += ["-o", STAT_FILE]
    return words


def record_words(args, run):
    run.append(f"--results={args.o}")
    return [*_given(args, RECORD_WORDS, RECORD_FLAGS), *(word for event in args.e for word in ("-e", event)), "-a", "-o", "/dev/null"]


def inode(path):
    """The number of a file, which another one gets that replaces it; or None."""
    return os.stat(path).st_ino if path and os.path.exists(path) else None


def finish_record(args, arch, subject, say):
    """Add to a profile which files of this machine ran, and say how many samples there are."""
    if not pathlib.Path(args.o).is_file() or not pathlib.Path(args.o).stat().st_size:
        return  # the program did not run: record has said why
    parts = [record for record in records.load(args.o)[1] if record.get("payload") == "record"]
    if not parts:
        return
    profiles.check(args.o, parts)
    ran = {}
    for path in (program["path"] for part in parts for program in part.get("programs", [])):
        real = subject.root.real("/" + path.lstrip("/")).lstrip("/")  # the loader's may be a link's
        own = subject.files.get(path.lstrip("/")) or subject.files.get(real) or (subject.file if path == subject.name else None)
        file = own or _payload_file(args, path) or profiles.of_image(path, arch)
        if file:
            ran[path] = profiles.describe(path, file)
    profiles.add_files(args.o, arch, list(ran.values()))
    missed = f", {parts[0]['missed']} periods without a sample" if parts[0].get("missed") else ""
    missed += ", up to Ctrl-C" if parts[0].get("interrupted") else ""
    say(f"host: {args.o}: {parts[0]['samples']} samples{missed}: see barecpc report{'' if args.o == DATA else f' -i {args.o}'}")


def finish_stat(args, arch, subject):
    """Add to the records which programs and libraries of this machine were there: another one explains another count."""
    ours = [profiles.describe(name, file) for name, file in sorted(subject.files.items()) if linux.is_program(file)]
    if ours and args.results and os.path.isfile(args.results) and os.path.getsize(args.results):
        profiles.add_files(args.results, arch, ours)


def absent(args, subject, said):
    """A line for a program that failed, if it may have missed files: those that its arguments or its messages name, or a shell."""
    words = args.program[args.program[:1] == ["--"]:][1:]
    def is_there(word):
        place = subject.root.real("/" + word).lstrip("/")
        return (any(f"{name}/".startswith(f"{place}/") for name in subject.files) or program.bytes_of(
            os.path.normpath("/" + word).lstrip("/"), [*args.payload, *([subject.payload] if subject.payload else [])]) is not None)
    kernels = re.compile("/(%s)/" % "|".join(linux.KERNELS))
    lost = [word for word in words if os.path.isfile(word) and not kernels.match(word) and not is_there(word)]
    data = subject.file.read_bytes() if subject.file else b""
    lost += ["/bin/sh"] if b"\0/bin/sh\0" in data and re.search(rb"(system|popen)\0", data) and not is_there("/bin/sh") else []
    # A folder such as /usr/lib is no answer.
    for path in sorted(set(re.findall(r"(?<![\w./])(?:/[\w+@.-]*[\w+@-])+", said))):
        here = subject.root.top + subject.root.real(path)
        if (len(lost) < MOST_OFFERED and path.removeprefix("/usr").count("/") > 1 and not kernels.match(path)
                and not any(f"{path}/".startswith(f"{one}/") for one in lost)
                and (os.path.isfile(here) or any(os.path.isfile(f"{top}/{name}") for top, _, names in os.walk(here) for name in names)) and not is_there(path)):
            lost.append(path)
    what = "a file of this machine that the guest does not have: if the program needs it" if len(lost) == 1 and os.path.isfile(lost[0]) else \
        "files of this machine that the guest does not have: if the program needs them"
    return [f"host: {', '.join(lost)}: {what}, give {' '.join('--with ' + shlex.quote(one) for one in lost)}"] if lost else []


def _payload_file(args, path):
    """The file of this machine that --payload put at a path of the guest, or None.  A guest may name any path."""
    for payload in map(pathlib.Path, args.payload):
        packed = qemu.files_of(payload)
        if path in packed:
            return packed[path]
    return None
