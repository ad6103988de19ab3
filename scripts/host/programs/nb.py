"""Prepares `barecpc nb`: assembles code, and packs it for the program nb of the image, which measures it.

The options are nanoBench's, with one dash or two.
"""

import argparse
import copy
import pathlib
import re
import shlex
import subprocess
import tempfile

from host import cpio
from host.emulator import qemu
from host.emulator.qemu import HostError
from host.programs import chains, exegesis, linked, program
from host.programs.objfile import BadObject, ObjectFile

HELP = """
Options are written with one dash or two, and may be abbreviated.  docs/nb.md explains them.

code:
  ; or a newline separates instructions.  |N is a NOP of N bytes, N*|CODE| is CODE N times.
  The code may change every register, except the loop counter with -loop_count.

                          x86-64              arm64
  areas of 1 MiB          R14 RDI RSI RSP RBP X14 X0 X1 SP X29
  loop counter            R15                 X15
  never to be changed     -                   X28
  also with -no_mem       R8 to R11           X19 to X26
"""

FOLDER = "nb.in"  # in the archive
MAX_NAME = 150
MAX_CODE_BYTES = 16 << 20  # as text, and as machine code
ASSEMBLER_SECONDS = 60
# The assembler's directives that code may use.  Others read files of this machine (.include, .incbin) or make text that
# does (.macro, .mri).  Code may come from the text of a pull request.
DIRECTIVES = {"byte", "2byte", "4byte", "8byte", "short", "hword", "word", "value", "long", "int", "quad", "octa", "ascii", "asciz",
              "string", "align", "balign", "p2align", "skip", "space", "zero", "fill", "nops", "inst", "set", "equ", "arch", "cpu",
              "arch_extension", "att_syntax", "intel_syntax"}
PAUSES = (0xF0B513B1C2813F04, 0xE0B513B1C2813F04)
PARTS = ("", "_init", "_late_init", "_one_time_init")
ASSEMBLERS = {"x86_64": ["x86_64-linux-gnu-as", "--64"], "arm64": ["aarch64-linux-gnu-as", "-march=armv8.6-a+sve2+crypto"]}
COUNTS = (("n_measurements", "measured runs (10)"), ("unroll_count", "copies of the code (1000)"),
          ("loop_count", "run the copies N times (0: once, without a loop)"),
          ("warm_up_count", "runs before the measured ones (5)"), ("initial_warm_up_count", "runs before all others (0)"),
          ("alignment_offset", "place the code N bytes above a multiple of 64 (0)"), ("cpu", "run on CPU N of the machine"),
          ("usr", "1: count at user privilege (1)"), ("os", "1: count at system privilege (0; with -privilege system 1)"))
FLAGS = (("avg", "aggregate of the runs: the mean without a fifth at each end (default)"), ("median", "the median"),
         ("min", "the minimum"), ("max", "the maximum"), ("range", "also print minimum and maximum"),
         ("fixed_counters", "count instructions, core and reference cycles (default without -config)"),
         ("basic_mode", "subtract 0 copies, instead of N from 2 N"), ("end_to_end", "N copies, with all overhead"),
         ("no_mem", "read the counters without access to memory"), ("no_normalization", "do not divide by the number of copies"),
         ("remove_empty_events", "leave out events that did not occur"),
         ("df", "drain the front end before and after the code"), ("verbose", "print all readings"), ("csv", "print CSV"),
         ("cycle_by_cycle", "print the counts after each cycle of the code, one copy (-unroll_count 1), -df and -median"))
PASSED_ON = ("accel", "outer", "smp", "mem", "machine", "planted", "boot", "image", "qemu", "timeout", "silence", "results")


def count(text):
    if not re.fullmatch(r"[0-9]+", text):
        raise argparse.ArgumentTypeError(f"{text}: not a number")
    return int(text)


def add_arguments(parser):
    """The options.  `parser` also parses the lines of -snippets."""
    def add(name, *short, **kinds):
        parser.add_argument("-" + name, "--" + name, *short, **kinds)

    for part, when in zip(PARTS, ("to measure", "to run before each measured run", "to run after the first read of the counters",
                                  "to run once, at first")):
        add("asm" + part, metavar="CODE", help=f"code {when}")
        add("code" + part, metavar="FILE", help="the same as machine code in a file")
    add("config", metavar="FILE", help="events, in nanoBench's format or as names")
    add("msr_config", metavar="FILE", help="x86-64: registers that count, in nanoBench's format, with -privilege system")
    add("debug", action="store_true", help=argparse.SUPPRESS)  # refused with a reason
    for name, text in COUNTS:
        short = ["-l"] if name == "loop_count" else []  # nanoBench's README has it
        add(name, *short, type=count, metavar="N", help=text)
    for name, text in FLAGS:
        add(name, action="store_true", help=text)
    add("latency", metavar="INSTRUCTION", help="measure a chain of copies, each of which needs the result of the one before")
    add("throughput", metavar="INSTRUCTION", help="measure copies that do not wait for each other")
    add("kernel", metavar="FILE", help="measure a call of a function of this object file")
    add("symbol", metavar="NAME", help="the function")
    add("arg", action="append", default=[], metavar="VALUE", help="its next argument: a number, or mem for an area of 1 MiB")
    add("exegesis", metavar="FILE", help="measure llvm-exegesis' snippet file (x86-64: in AT&T syntax)")
    add("yaml", metavar="FILE", help="write the core cycles as llvm-exegesis does, for its -mode=analysis")
    add("llvm_cpu", metavar="NAME", help="the CPU's name in that file (x86-64, generic)")
    add("allow_directives", action="store_true", help="allow all directives of the assembler: .include and .incbin read files of this machine")
    add("att", action="store_true", help="x86-64: AT&T syntax, not Intel's")
    add("privilege", choices=["user", "system"], default="user", help="the privilege that the code runs at (user)")
    add("name", metavar="TEXT", help="a name for the results (the code)")
    add("snippets", metavar="FILE", help="one measurement for each line of FILE: its options, in addition to these")
    program.add_arch(parser)
    parser.add_argument("--model", metavar="MODEL", help="the machine's CPU: QEMU's -cpu (max)")
    for name in PASSED_ON:
        parser.add_argument("--" + name, metavar="X", help="as for run")
    parser.add_argument("--append", action="append", default=[], metavar="WORDS", help="as for run")
    for name in ("--no-icount", "--quiet"):
        parser.add_argument(name, action="store_true", help="as for run")
    parser.set_defaults(nb_parser=parser)


#
# Code
#

def copies(match, option):
    """CODE, N times, for a match of N*|CODE|."""
    if len(match[1]) > 9 or int(match[1]) * (len(match[2]) + 1) > MAX_CODE_BYTES:
        raise HostError(f"{option}: {match[1]}*|{match[2]}|: more than {MAX_CODE_BYTES >> 20} MiB of code: use -unroll_count or -loop_count")
    return ";".join([match[2]] * int(match[1]))


def refuse_directives(text, option):
    """Refuse directives that are not in DIRECTIVES.  A label may begin with .L, and a dot follows a name in v0.4s and b.eq."""
    for name in re.findall(r"(?<![\w.])\.([A-Za-z_]\w*)", re.sub(r'"(?:\\.|[^"\\])*"', '""', text)):
        if name.lower() not in DIRECTIVES and not name.startswith("L"):
            raise HostError(f"{option}: .{name}: a directive that may read files of this machine: give -allow_directives if you trust the code")


def statements(text, arch, option):
    """The lines for the assembler.  nanoBench's |N and N*|CODE| are replaced."""
    text = re.sub(r"([0-9]+)\s*\*\s*\|([^|]*)\|", lambda match: copies(match, option), text)
    lines = []
    for line in re.findall(r'(?:"(?:\\.|[^"\\])*"|[^;\n"]|")+', text):
        line = line.strip()
        if line.startswith("|"):
            lines += nops(line, arch, option)
        elif line:
            lines.append((line, line))
    return lines


def nops(statement, arch, option):
    """NOPs of N bytes in all: on x86 a single one."""
    length = statement[1:].strip()
    unit, most = (1, 15) if arch == "x86_64" else (4, 60)
    if not length.isdigit() or not unit <= int(length) <= most or int(length) % unit:
        raise HostError(f"{option}: {statement}: not a NOP of {unit} to {most} bytes: "
                        f"{'write |1 to |15' if unit == 1 else 'an instruction has 4 bytes: write |4, |8 and so on'}")
    if arch == "arm64":
        return [("nop", statement)] * (int(length) // 4)
    return [(".byte " + ", ".join(str(byte) for byte in x86_nop(int(length))), statement)]


def x86_nop(n):
    """A NOP of 1 to 15 bytes: Intel SDM vol. 2B, "NOP", with prefixes 66H before it."""
    table = ["90", "6690", "0f1f00", "0f1f4000", "0f1f440000", "660f1f440000", "0f1f8000000000", "0f1f840000000000",
             "660f1f840000000000"]
    return b"\x66" * max(0, n - 9) + bytes.fromhex(table[min(n, 9) - 1])


def assemble(parts, arch, att, trusted, hint=""):
    """The machine code of each part: a dictionary from an option to its bytes.  `hint` ends the message of an error."""
    source = [] if arch == "arm64" else [".att_syntax prefix" if att else ".intel_syntax noprefix"]
    origin = {}
    for number, (option, text) in enumerate(parts.items()):
        if not trusted:
            refuse_directives(text, option)
        source.append(f'.section .nb{number},"ax"')
        for line, shown in statements(text, arch, option):
            source.append(line)
            origin[len(source)] = option, shown
    tool = ASSEMBLERS[arch]
    with tempfile.TemporaryDirectory(prefix="barecpc.") as folder:
        out = pathlib.Path(folder) / "code.o"
        try:
            done = subprocess.run([*tool, "-o", out, "-"], input="\n".join(source).encode(errors="replace") + b"\n", capture_output=True,
                                  timeout=ASSEMBLER_SECONDS, preexec_fn=_limit_output)
        except FileNotFoundError:
            raise qemu.missing(tool[0]) from None
        except subprocess.TimeoutExpired:
            raise HostError(f"{tool[0]}: no end after {ASSEMBLER_SECONDS} s: give less code") from None
        if done.returncode != 0:
            raise HostError(assembler_error(done.stderr.decode(errors="replace"), origin) + hint)
        data = out.read_bytes()
    try:
        return {option: code_of(ObjectFile(data), f".nb{number}", option) for number, option in enumerate(parts)}
    except BadObject as error:
        raise HostError(f"{tool[0]}: {error}") from None


def _limit_output():
    """In the assembler's process: .skip makes files of any size."""
    import resource  # the Python of a small guest, in which `probe` runs, lacks it

    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MAX_CODE_BYTES, 4 * MAX_CODE_BYTES))


def assembler_error(text, origin):
    """The assembler's first error, with the option and the instruction instead of a line's number."""
    for line in text.splitlines():
        match = re.match(r"[^:]*:(\d+): Error: (.*)", line)
        if match:
            option, shown = origin.get(int(match[1]), ("-asm", ""))
            return f"{option}: {shown}: {match[2]}" if shown not in match[2] else f"{option}: {match[2]}"
    return f"the assembler failed: {text.strip()}"


def code_of(obj, section, option):
    symbol = obj.relocated(section)
    if symbol is not None:
        raise HostError(f"{option}: {symbol or 'a section'}: the code is copied, so it can name no address outside of it: "
                        "use local labels, or constants")
    if obj.has_data(section):
        raise HostError(f"{option}: the assembler put data into the code: load the constant by MOV and MOVK")
    return obj.contents(section)


X86 = re.compile(r"\b(?:[re]?(?:[abcd]x|[sd]i|[sb]p)|r(?:[89]|1[0-5])[dwb]?|[abcd][lh]|[xyz]mm[0-9]+)\b", re.I)
ARM64 = re.compile(r"\b(?:[xwvdsq](?:[0-9]|[12][0-9]|3[01])|[xw]zr|#-?[0-9])\b|#[0-9]", re.I)


def arch_by_code(args):
    """The architecture whose registers the code names, or "" if it names none, or those of both."""
    text = "; ".join(filter(None, [args.asm, args.asm_init, args.asm_late_init, args.latency, args.throughput]))
    found = [arch for arch, names in (("x86_64", X86), ("arm64", ARM64)) if names.search(text)]
    return found[0] if len(found) == 1 else ""


def read_code(name, option):
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_CODE_BYTES + 1)
    except OSError as error:
        raise HostError(f"{option}: {name}: {error.strerror}") from None
    if len(data) > MAX_CODE_BYTES:
        raise HostError(f"{option}: {name}: more than {MAX_CODE_BYTES >> 20} MiB: name a smaller file")
    return data


#
# Measurements
#

def measurements(args):
    """The options of each measurement."""
    if args.snippets is None:
        return [args]
    found = []
    try:
        lines = pathlib.Path(args.snippets).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise HostError(f"-snippets {args.snippets}: {getattr(error, 'strerror', None) or 'not a text'}") from None
    for number, line in enumerate(lines, 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise HostError(f"{args.snippets}:{number}: {error}") from None
        if words:
            one = args.nb_parser.parse_args(words, copy.copy(args))
            changed = [name for name in ("snippets", "yaml", "llvm_cpu", "privilege", "arch", "model", "append", *PASSED_ON)
                       if getattr(one, name) != getattr(args, name)]
            if changed:
                raise HostError(f"{args.snippets}:{number}: -{changed[0]} is for all lines: give it on the command line")
            found.append(one)
    if not found:
        raise HostError(f"-snippets {args.snippets}: no line has a measurement")
    return found


def name_of(one):
    text = one.name or one.asm or (pathlib.Path(one.code).name if one.code else "no code")
    return " ".join(text.split())[:MAX_NAME]


def chained(one):
    """Replace -latency and -throughput by the code that they stand for.  Returns how many instructions a copy has."""
    option = "-latency" if one.latency is not None else "-throughput"
    prepare, code = chains.latency(one.latency, one.arch) if one.latency is not None else ([], chains.throughput(one.throughput, one.arch))
    one.name = one.name or f"{option[1:]} of {one.latency or one.throughput}"
    one.asm = "; ".join(code)
    one.asm_init = "; ".join([*([one.asm_init] if one.asm_init else []), *prepare]) or None
    return len(code)


def called(one, number, files):
    """Replace -kernel by code that calls the function.  Returns the words that map it."""
    if one.no_mem or one.loop_count:
        raise HostError("-kernel: functions may change the registers of -no_mem and -loop_count: leave these out")
    code = linked.link(one.kernel, one.symbol, one.arch)
    calls = linked.call(code.function, one.arg, one.arch)
    one.asm, one.att = "; ".join(calls), False
    one.name = one.name or f"{one.symbol}({', '.join(one.arg)}) with the {len(calls)} instructions of the call"
    one.unroll_count = one.unroll_count or 1
    files[f"{FOLDER}/{number}.linked"] = code.image
    return ["-linked", f"{FOLDER}/{number}.linked", "-linked_at", hex(linked.BASE)]


def refuse_pauses(code, arch):
    """nanoBench replaces these bytes by code that stops the counters, and that starts them again."""
    if arch == "x86_64" and any(magic.to_bytes(8, "little") in code for magic in PAUSES):
        raise HostError("the code has nanoBench's bytes that pause the counters: barecpc counts without a pause: "
                        "measure the code with the part between them and without it")


def words_of(one, number, files):
    """The words that run one measurement.  Adds its files to the archive."""
    if one.debug:
        raise HostError("-debug: the image has no debugger: store registers to memory by code, or see each reading by -verbose")
    sources = [name for name in ("asm", "code", "latency", "throughput", "kernel", "exegesis") if getattr(one, name) is not None]
    if not sources:
        raise HostError("no code to measure: give -asm, -code, -exegesis, -kernel, -latency or -throughput")
    if len(sources) > 1:
        raise HostError(f"-{sources[1]}: give it or -{sources[0]}, not both")
    if (one.symbol is None) != (one.kernel is None) or one.arg and one.kernel is None:
        raise HostError("-kernel, -symbol, -arg: give the object file and the function together")
    more = []
    if one.latency is not None or one.throughput is not None:
        more = ["-divisor", str(chained(one))]
    if one.exegesis is not None:
        one.asm, init, one.registers = exegesis.read_snippet(one.exegesis, one.arch)
        one.asm_init, one.att = init or one.asm_init, True
        one.name = one.name or pathlib.Path(one.exegesis).name
    if one.cycle_by_cycle and one.loop_count:
        raise HostError("-cycle_by_cycle: the code runs once: leave -loop_count out")
    if one.cycle_by_cycle:
        one.df, one.unroll_count = True, one.unroll_count or 1
        one.median = not (one.avg or one.min or one.max)
    if one.kernel is not None:
        more = called(one, number, files)
    given = {f"-asm{part}": getattr(one, "asm" + part) for part in PARTS if getattr(one, "asm" + part) is not None}
    hint = f" (assembled for {one.arch}: --arch chooses another)" if getattr(one, "arch_chosen", False) else ""
    code = assemble(given, one.arch, one.att, one.allow_directives, hint) if given else {}
    one.name, one.machine_code = name_of(one), code.get("-asm")
    words = ["nb", "-name", one.name]
    for part in PARTS:
        raw = getattr(one, "code" + part)
        if raw is not None and f"-asm{part}" in code:
            raise HostError(f"-code{part}: give it or -asm{part}, not both")
        data = code.get(f"-asm{part}") if raw is None else read_code(raw, f"-code{part}")
        if data is not None:
            refuse_pauses(data, one.arch)
            files[f"{FOLDER}/{number}{part}"] = data
            words += [f"-code{part}", f"{FOLDER}/{number}{part}"]
    for name in ("config", "msr_config"):
        file = getattr(one, name)
        if file is not None:
            place = f"{FOLDER}/{number}.d/{name}/{pathlib.Path(file).name}"
            files[place] = read_code(file, f"-{name}")
            words += [f"-{name}", place]
    words += [word for name, _ in COUNTS if getattr(one, name) is not None for word in (f"-{name}", str(getattr(one, name)))]
    return words + more + [f"-{name}" for name, _ in FLAGS if getattr(one, name)]


def prepare(args, folder):
    """The words of `barecpc run` for these measurements.  Their archive is written to the folder."""
    files = {}
    args.made = [copy.copy(one) for one in measurements(args)]
    lines = [words_of(one, number, files) for number, one in enumerate(args.made)]
    words = ["run", "--arch", args.arch]
    if args.yaml is not None:
        args.results = args.results or str(folder / "results.jsonl")
        args.documents = [plan(one) for one in args.made]
        if len({mode for _, _, mode in args.documents}) > 1:
            raise HostError("-yaml: one file has one mode: measure -throughput in a run of its own")
    for name in PASSED_ON:
        if getattr(args, name) is not None:
            words += ["--" + name, getattr(args, name)]
    most = max([one.cpu or 0 for one in args.made])
    if args.smp is None and most > 0:
        words += ["--smp", str(most + 1)]
    words += ["--cpu", args.model] if args.model else []
    words += ["--no-icount"] if args.no_icount else []
    words += ["--quiet"] if args.quiet else []
    for more in args.append:
        words += ["--append", more]
    if args.privilege == "system":
        words += ["--append", "priv=system"]
    archive = folder / "nb.cpio"
    words += ["--payload", str(archive)]
    if args.snippets is None:
        words += ["--", *lines[0]]
    else:
        files["suite"] = "".join(" ".join(qemu.quote(word) for word in line) + "\n" for line in lines).encode()
    archive.write_bytes(cpio.pack(files))
    return words


#
# llvm-exegesis
#

def plan(one):
    """The parts of a measurement's document that are known before it runs."""
    if one.asm is None or one.kernel is not None:
        raise HostError("-yaml: only instructions have a document: give -asm, -exegesis, -latency or -throughput")
    source = "\n".join("nop" if shown.startswith("|") else line for line, shown in statements(one.asm, one.arch, "-asm"))
    key = exegesis.keys(source, one.arch, one.att)
    mode = "inverse_throughput" if one.throughput is not None else "latency"
    return key, getattr(one, "registers", {}), mode
