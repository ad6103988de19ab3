"""The options of the commands of scripts/barecpc."""

import argparse
import os
import pathlib
import re
import sys

from host import lazy
from host.terminal import say_wrong

boots = lazy("host.emulator.boots")
disk = lazy("host.disk")
guest = lazy("host.emulator.guest")
line = lazy("host.console.line")
nb = lazy("host.programs.nb")
nested = lazy("host.emulator.nested")
outputs = lazy("host.console.outputs")
probe = lazy("host.emulator.probe")
program = lazy("host.programs.program")
qemu = lazy("host.emulator.qemu")
version = lazy("host.version")

DEFAULT_TIMEOUT = 120
DEFAULT_BAUD = 115200
CLOUD_DEADLINE = 1800  # seconds, of a disk of `barecpc disk`
MAX_TIMEOUT = 1e6  # as for the kernel's timeout=; select() takes little more
# Seconds without progress before the first byte.
SILENCE = {"direct": 20, "bios": 20, "uefi": 60}

RUN_HELP = """
programs:
  A word '|' or '&' after -- joins programs that run at the same time:
  -- a args '|' b args    what a writes to stdout is the stdin of b
  -- a args '&' b args    two programs that share nothing
  Quote it once for the shell.  '\\|' and '\\&' are arguments.

status:
  the program's status, or 128 + the signal that ended it; without a program, the suite's status
  of a | b: b's status; of a & b: the first status that is not 0
  77   everything ran, but nothing could be counted
  124  timed out
  125  the host or the guest failed: the last line says how

environment:
  BARECPC_ACCEL=tcg|kvm   what --accel auto means
  BARECPC_ARCH=ARCH       the architecture if neither --arch nor a program says it
  NO_COLOR=1              no red for errors at a terminal
  BARECPC_BUILD=no        use what is in build/ as it is
"""

DISK_HELP = f"""
  --for raw  as it is: for AWS, Hetzner and others, and for dd
  --for gce  for Google: disk.raw of whole GiB in a .tar.gz
  --for vhd  for Azure: a fixed VHD of whole MiB

The results come by the serial console; `barecpc read` reads its log.  AWS
keeps the last 64 KB of it: give `-- pack PROGRAM`.  The kernel's words are
output=framed keep=no then=off deadline={CLOUD_DEADLINE}, and those of --append, of which
the last counts: deadline=7200.  The same input gives the same bytes.
"""

READ_HELP = """
Standard output is the output of the programs, if output=framed is on the
kernel's command line; all other text goes to standard error.  Reading ends at
the closing line `barecpc: exit N`.

status:
  as that of barecpc run, with these differences:
  124  --timeout is over
  125  the text ended before the closing line, frames are lost, or nothing came:
       the last line says how; the records that arrived are in --results

  --qr PICTURE... reads the QR codes that a board shows at the end of a run.
"""


class Version(argparse.Action):
    """Print the version and end."""

    def __init__(self, option_strings, dest):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="print the version, and end")

    def __call__(self, parser, *_):
        print(version.version())
        parser.exit()


class Debug(argparse.Action):
    """Print the traceback of an error that is ours."""

    wanted = False

    def __init__(self, option_strings, dest):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="print the traceback of an internal error, too")

    def __call__(self, *_):
        Debug.wanted = True


class Parser(argparse.ArgumentParser):
    """A usage error is a failure of the host: one line, and status 125.  Every command has --version and --debug."""

    def __init__(self, *args, **kinds):
        # nb's own -debug, which nanoBench has, replaces --debug.
        super().__init__(*args, conflict_handler="resolve", **kinds)
        self.add_argument("--version", action=Version)
        self.add_argument("--debug", action=Debug)

    def error(self, message):
        say_wrong(f"host: {message}; see {self.prog} --help")
        sys.exit(guest.STATUS_FAILED)


def out_file(text):
    name, equals, path = text.partition("=")
    if name.startswith(outputs.TMP) and not equals:
        path = name[len(outputs.TMP):]
    if not name or not path or "/" in name.removeprefix(outputs.TMP) and name.startswith(outputs.TMP):
        raise argparse.ArgumentTypeError(f"{text}: not of the form NAME=FILE or /tmp/NAME")
    return name, file(path)


def file(text):
    """A file's name on the command line."""
    if not text:
        raise argparse.ArgumentTypeError("give a file's name, not an empty word")
    return pathlib.Path(text)


def add_outputs(command):
    """The options for the files of a run."""
    command.add_argument("--results", type=file, metavar="FILE", help="write the records to FILE, each as a line of JSON")
    command.add_argument("--folded", type=file, metavar="FILE", help="write the stacks that `record` sampled to FILE, folded")
    command.add_argument("--flamegraph", type=file, metavar="FILE", help="draw those stacks in FILE (SVG)")
    command.add_argument("--out", action="append", default=[], type=out_file, metavar="NAME=FILE",
                         help="write what a program wrote to its file NAME, as cputrack -o does, to FILE; a program's /tmp/NAME of "
                         "at most 16 MiB, without FILE to NAME in this folder")


def add_job(command):
    """The options for what the image runs."""
    command.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="the programs' environment")
    command.add_argument("--payload", action="append", default=[], type=file, metavar="FILE",
                         help="a file or a folder to add to the image's own; of a cpio (newc) archive its files; without "
                         "`-- program` the only program runs, or what the file `suite` of the archive or folder lists")
    command.add_argument("--append", action="append", default=[], metavar="WORDS", help="more words of the kernel's command line")


def add_names(command):
    """The options of encode, list and fits."""
    command.usage = f"{command.prog} --cpu NAME " + {"encode": "EVENT...", "list": "[pattern]", "fits": "EVENT,EVENT..."}[command.prog.split()[-1]]
    command.add_argument("--cpu", metavar="NAME", help="libpfm4's name of the CPU, or its usual name: skl, neoverse_n1")
    command.add_argument("words", nargs="*")
    if command.prog.endswith("list"):
        command.add_argument("--cpus", action="store_true", help="print the CPUs that have a table, and its sources")


def add_run(run):
    run.usage, run.epilog = "barecpc run [options] [-- program [args...]]", RUN_HELP
    run.formatter_class = argparse.RawDescriptionHelpFormatter
    program.add_arch(run)
    run.add_argument("--accel", choices=["auto", "tcg", "kvm", probe.NESTED], default="auto",
                     help="emulation or KVM (auto: KVM if a test boot worked and counted); nested-kvm: the KVM of a Linux "
                     "in emulation (docs/vpmu.md)")
    run.add_argument("--outer", default="", metavar="7.3[,mediated]", help="nested-kvm: the Linux of the outer machine (Debian's own); "
                     "mediated: its KVM gives the guest the counters themselves")
    run.add_argument("--load", type=int, default=0, metavar="N", help="nested-kvm: N busy processes next to the guest (0)")
    run.add_argument("--smp", metavar="N[,threads=T...]", help="CPUs (1), and their topology in QEMU's words")
    run.add_argument("--mem", metavar="M", help="memory (256M)")
    run.add_argument("--cpu", metavar="MODEL", help="QEMU's -cpu (max)")
    run.add_argument("--machine", default="", metavar="NAME[,PROPERTY=VALUE...]",
                     help="QEMU's -M (q35; virt,gic-version=3): a machine, or properties of the default one; "
                     f"{', '.join(qemu.BOARDS)}: a board with its own CPUs, memory and device tree")
    run.add_argument("--dtb", type=file, metavar="FILE", help="arm64: boot with this device tree in place of QEMU's or the board's")
    run.add_argument("--planted", default="", metavar="FILE|seed=N[,trace=FILE]", help="emulate a machine with cycles, caches and ports that a file "
                     "describes, or that are drawn (qemu/planted/README.md)")
    run.add_argument("--boot", choices=["direct", "bios", "uefi"], default="direct",
                     help="boot by QEMU itself with the fastest firmware, by QEMU itself with its usual firmware "
                          "(x86-64: SeaBIOS), or by UEFI firmware (direct)")
    add_job(run)
    add_outputs(run)
    run.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="S",
                     help=f"end the run after S seconds of the host ({DEFAULT_TIMEOUT}); 0: never")
    run.add_argument("--silence", type=float, metavar="S",
                     help="end a guest that for S seconds prints nothing and does not advance, as QEMU's monitor "
                     f"shows ({SILENCE['direct']}, by UEFI {SILENCE['uefi']}); 0: never")
    run.add_argument("--image", type=file, metavar="FILE", help="boot FILE and build nothing")
    run.add_argument("--qemu", default="", metavar="stock|pmu|FILE",
                     help="stock: the distribution's QEMU; pmu: QEMU with barecpc's patches, which is built if it "
                     "is missing; default: pmu to emulate x86_64, or several CPUs, else stock")
    run.add_argument("--no-icount", action="store_true",
                     help="use the host's time: then counts are not exact, and arm64 counts no instructions")
    run.add_argument("--boots", type=int, default=1, metavar="N",
                     help="boot N times, and print only a table of the counts' medians and their spread over the boots")
    run.add_argument("--quiet", action="store_true", help="no progress line; without this, a terminal on standard error has one")
    run.add_argument("--gdb", action="store_true", help="stop at the first instruction, wait for a debugger")


def add_disk(command):
    command.usage, command.epilog = "barecpc disk --for raw|gce|vhd -o FILE [options] [-- program [args...]]", DISK_HELP
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("--for", dest="kind", required=True, choices=list(disk.FORMATS), help="which cloud imports it, below")
    command.add_argument("-o", required=True, type=file, metavar="FILE", help="the disk; an old FILE is replaced at the end")
    command.add_argument("--arch", type=program.arch_name, metavar="ARCH", help="arm64 or x86_64; default: the architecture of the "
                         "programs, else both")
    add_job(command)


def add_nb(command):
    command.usage, command.epilog = "barecpc nb -asm CODE [options]", nb.HELP
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    nb.add_arguments(command)


def add_read(reader):
    reader.usage, reader.epilog = "barecpc read [options] LOG | DEVICE | tcp:HOST:PORT | - | --follow FILE | --follow COMMAND", READ_HELP
    reader.formatter_class = argparse.RawDescriptionHelpFormatter
    reader.add_argument("source", nargs="?", metavar="SOURCE", help="a file; a serial line such as /dev/ttyUSB0; a raw TCP "
                        "connection, as of ser2net or QEMU's -serial; or standard input")
    reader.add_argument("--qr", nargs="+", default=[], type=file, metavar="PICTURE",
                        help="records from photographs of a board's screen, instead of a SOURCE; needs zbarimg")
    reader.add_argument("--follow", action="store_true", help="SOURCE is a file that grows, or a shell command that prints the "
                        "log so far, as those of clouds do: read until the closing line")
    add_outputs(reader)
    reader.add_argument("--timeout", type=float, default=0, metavar="S", help="end after S seconds (0: never)")
    reader.add_argument("--silence", type=float, default=0, metavar="S", help="end if nothing comes for S seconds (0: never)")
    reader.add_argument("--baud", type=int, default=DEFAULT_BAUD, metavar="N",
                        help=f"rate of a serial line, with 8 bits and no parity ({DEFAULT_BAUD})")


def add_report_machine(command):
    command.usage = "barecpc report-machine [options] LOG"
    command.add_argument("source", metavar="LOG", help="the log of a run of `board`, as `barecpc read` takes it")
    command.add_argument("-o", default="report.jsonl", metavar="FILE", help="write to FILE (report.jsonl)")
    command.add_argument("--baud", type=int, default=DEFAULT_BAUD, metavar="N", help=f"rate of a serial line ({DEFAULT_BAUD})")


def parse(words, about, table):
    """The options, and the words after `--`: a program and its arguments, unchanged."""
    after = []
    if "--" in words and words[0] not in ("stat", "record"):
        at = words.index("--")
        words, after = words[:at], words[at + 1:]
    chosen = next((word for word in words if not word.startswith("-")), "")
    parser = Parser(prog="barecpc", description=about)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    for name, (what, add, _) in table.items():
        if chosen in table and words[0] == chosen != name:
            continue  # nothing will print it: a parser takes a millisecond
        command = commands.add_parser(name, help=what)
        if name == chosen:
            add(command)
    args, unknown = parser.parse_known_args(words)
    if unknown:
        hint = "" if unknown[0].startswith("-") or args.command != "run" else "; the program follows --"
        commands.choices[args.command].error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    if after and args.command not in ("run", "disk"):
        parser.error("only run and disk take a program after --")
    if args.command in ("run", "disk"):
        args.program = after
        check_environment(commands.choices[args.command], args)
    if args.command == "run":
        check(commands.choices["run"], args)
    if args.command == "read":
        reader = commands.choices["read"]
        check_times(reader, args)
        if args.qr and args.source is not None:
            reader.error("give --qr or a source, not both")
        if args.source is None and not args.qr:
            reader.error("give a log, a serial line, tcp:HOST:PORT or -")
        if not line.is_rate(args.baud):
            reader.error(f"--baud {args.baud}: not a rate of serial lines, such as {DEFAULT_BAUD}")
    return args


def check_environment(parser, args):
    for pair in args.env:
        if not re.match(r"[A-Za-z_][A-Za-z0-9_]*=", pair):
            parser.error(f"--env {pair}: not NAME=VALUE")


def check(parser, args):
    if args.boots != 1 and (not 1 < args.boots <= boots.MOST or args.out or args.folded or args.flamegraph or args.gdb):
        parser.error(f"--boots {args.boots}: 1 to {boots.MOST}, without --out, --folded, --flamegraph and --gdb")
    if args.outer and (args.accel != probe.NESTED or args.outer not in nested.CHOICES):
        parser.error(f"--outer {args.outer}: known with --accel {probe.NESTED} are {' and '.join(nested.CHOICES)}")
    settle_machine(parser, args)
    check_planted(parser, args)
    if not re.fullmatch(r"[1-9][0-9]*[KMGkmg]?", args.mem):
        parser.error(f"--mem {args.mem}: not a size such as 256M")
    if not re.fullmatch(r"[1-9][0-9]*(,(sockets|dies|clusters|cores|threads)=[1-9][0-9]*)*", args.smp):
        parser.error(f"--smp {args.smp}: not a number of CPUs such as 2, or 4,cores=2,threads=2")
    if args.silence is None:
        args.silence = SILENCE[args.boot]
    check_times(parser, args)


def settle_machine(parser, args):
    """Set the options that depend on the machine.  A board has its own; what QEMU refuses to change stays an error of QEMU."""
    board = qemu.board_of(args.machine)
    if board:
        for option, value, possible in (("arch", args.arch, [None, board.arch]), ("accel", args.accel, ["auto", "tcg"]),
                                        ("boot", args.boot, ["direct"])):
            if value not in possible:
                parser.error(f"--{option} {value}: {args.machine} has only {possible[-1]}")
        args.arch, args.accel, args.qemu = board.arch, "tcg", args.qemu or qemu.PMU
    args.smp = args.smp or (board.smp if board else "1")
    args.mem = args.mem or (board.mem if board else "256M")
    args.cpu = args.cpu or (board.cpu if board else "max")


def check_planted(parser, args):
    if not args.planted:
        return
    if args.accel not in ("auto", "tcg") or args.no_icount or args.qemu == qemu.STOCK:
        parser.error("--planted: such a machine is emulated: leave out --accel, --no-icount and --qemu stock")
    if args.boot == "uefi":
        parser.error("--planted: UEFI firmware waits in time that is not planted: leave out --boot uefi")
    machine = args.planted.partition(",trace=")[0]
    if not re.fullmatch(r"seed=[0-9]{1,18}", machine) and not os.path.isfile(machine):
        parser.error(f"--planted {machine}: no such file, and not seed=N")
    args.accel, args.qemu = "tcg", args.qemu or qemu.PMU


def check_times(parser, args):
    for option, seconds in (("timeout", args.timeout), ("silence", args.silence)):
        if not 0 <= seconds <= MAX_TIMEOUT:
            parser.error(f"--{option} {seconds:g}: not a time")
