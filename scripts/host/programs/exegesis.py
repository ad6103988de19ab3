"""Reads llvm-exegesis' snippet files, and writes its YAML, which `llvm-exegesis -mode=analysis` reads.

LLVM, "llvm-exegesis - LLVM Machine Instruction Benchmark": LLVM-EXEGESIS-LIVEIN, LLVM-EXEGESIS-DEFREG.
"""

import functools
import pathlib
import re
import subprocess

from host.emulator.qemu import HostError
from host.results import records

TRIPLE = {"x86_64": "x86_64-unknown-linux-gnu", "arm64": "aarch64-unknown-linux-gnu"}
RETURN = {"x86_64": "C3", "arm64": "C0035FD6"}
COMMENT = re.compile(r"^\s*(?:#|//)\s*LLVM-EXEGESIS-(\w+)\s*(.*)$")
VECTOR = re.compile(r"(?:XMM|[VDSQ])(\d+)\Z", re.I)
# The general register that a name means, and in its last group a number if it has one.
GENERAL = {"x86_64": re.compile(r"(?:R|E)([ABCD]X|[SD]I|[BS]P)|R(8|9|1[0-5])D?", re.I), "arm64": re.compile(r"(?:X|W)([12]?\d|30)|(SP|FP|LR)", re.I)}


def read_snippet(path, arch):
    """The code of a snippet file, the code that sets its registers, and these registers."""
    try:
        text = pathlib.Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise HostError(f"-exegesis {path}: {getattr(error, 'strerror', None) or 'not a text'}") from None
    code, values = [], {}
    for number, line in enumerate(text.splitlines(), 1):
        match = COMMENT.match(line)
        if not match:
            code.append(re.sub(r"(?:^|\s)#.*" if arch == "x86_64" else r"//.*", "", line))
            continue
        words = match[2].split()
        if match[1] == "DEFREG" and len(words) == 2 and re.fullmatch(r"(0x)?[0-9a-f]{1,16}", words[1], re.I):
            values[words[0].upper()] = int(words[1], 16)
            if not VECTOR.match(words[0]) and not GENERAL[arch].fullmatch(words[0]):
                raise HostError(f"{path}:{number}: {words[0]}: no register of {arch} that code can set: name a general register, or a vector by "
                                f"{'XMM0 to XMM15' if arch == 'x86_64' else 'D0 to D31'}")
        elif match[1] != "LIVEIN" or len(words) != 1:
            raise HostError(f"{path}:{number}: {line.strip()}: not LLVM-EXEGESIS-LIVEIN REGISTER or -DEFREG REGISTER HEX")
    code = [line.strip() for line in code if line.strip()]
    if not code:
        raise HostError(f"-exegesis {path}: it has no instruction")
    return "; ".join(code), settings(values, arch), values


def general(name, arch):
    """The whole register of 64 bits: rax of EAX, r8 of R8D, x1 of W1."""
    part, other = GENERAL[arch].fullmatch(name).groups()
    if arch == "x86_64":
        return f"r{part or other}".lower()
    return {"SP": "sp", "FP": "x29", "LR": "x30"}[other.upper()] if other else f"x{part}"


def settings(values, arch):
    """The code that sets registers: vectors first, because that needs a general register."""
    code = []
    for name, value in sorted(values.items(), key=lambda item: VECTOR.match(item[0]) is None):
        vector = VECTOR.match(name)
        if arch == "x86_64":
            code.append(f"movabs ${value:#x}, %{'rax' if vector else general(name, arch)}")
            code += [f"movq %rax, %{name.lower()}"] if vector else []
        else:
            own = "" if vector else general(name, arch)
            target = "x16" if own in ("", "sp") else own
            code += [f"{'movk' if shift else 'movz'} {target}, {value >> shift & 0xffff:#x}, lsl {shift}" for shift in (0, 16, 32, 48)]
            code += [f"fmov d{vector[1]}, x16"] if vector else ["mov sp, x16"] if own == "sp" else []
    return "; ".join(code) or None


def _llvm_mc(source, arch):
    """The instructions of assembly, each a list of its name and its operands: pairs of a kind and a value."""
    words = ["llvm-mc", "-triple=" + TRIPLE[arch], "-show-inst", "-mattr=+avx2,+avx512f" if arch == "x86_64" else "-mattr=+v8.6a"]
    try:
        done = subprocess.run(words, input=source, capture_output=True, text=True)
    except FileNotFoundError:
        raise HostError("-yaml: llvm-mc: not found: it names the instructions: install the package llvm") from None
    if done.returncode != 0:
        raise HostError(f"-yaml: llvm-mc: {(done.stderr.splitlines() or ['failed'])[0]}")
    found = []
    for match in re.finditer(r"<MCInst #\d+ (\w+)|<MCOperand (\w+):([^>\s]+)", done.stdout):
        if match[1]:
            found.append([match[1]])
        else:
            found[-1].append((match[2], match[3]))
    return found


@functools.cache
def _register_names(arch):
    """LLVM's names of registers by their numbers.  Each probe has its register as its first operand."""
    if arch == "arm64":
        probes = [(form.format(n), {"X29": "FP", "X30": "LR"}.get(f"{kind}{n}", f"{kind}{n}")) for n in range(31)
                  for kind, form in (("X", "br x{}"), ("W", "movz w{}, 1"), ("D", "ldr d{}, [x0]"), ("S", "ldr s{}, [x0]"),
                                     ("Q", "ldr q{}, [x0]"))]
        probes += [("ldr q31, [x0]", "Q31"), ("mov sp, x0", "SP"), ("add xzr, x0, x1", "XZR"), ("add wzr, w0, w1", "WZR")]
    else:
        named = ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp"]
        probes = [(f"{op} %{name}", name.upper()) for n in named for op, name in (("push", "r" + n), ("bswap", "e" + n), ("push", n))]
        probes += [(f"sete %{n}l", n.upper() + "L") for n in ("a", "b", "c", "d", "si", "di", "bp", "sp")]
        probes += [(f"{op} %r{n}{end}", f"R{n}{end.upper()}") for n in range(8, 16)
                   for op, end in (("push", ""), ("bswap", "d"), ("push", "w"), ("sete", "b"))]
        probes += [(f"{op} %{kind}0, %{kind}{n}", f"{kind.upper()}{n}") for n in range(16)
                   for op, kind in (("movaps", "xmm"), ("vmovaps", "ymm"))]
    found = _llvm_mc("\n".join(probe for probe, _ in probes) + "\n", arch)
    return {inst[1][1]: name for inst, (_, name) in zip(found, probes, strict=True)} | {"0": "%noreg"}


def keys(code, arch, att):
    """The instructions as YAML has them: LLVM's opcode, and its operands."""
    head = "" if arch == "arm64" or att else ".intel_syntax noprefix\n"
    names = _register_names(arch)
    lines = []
    for opcode, *operands in _llvm_mc(head + code.replace(";", "\n") + "\n", arch):
        words = [opcode]
        for kind, value in operands:
            if kind == "Reg" and value in names:
                words.append(names[value])
            elif kind == "Imm":
                words.append(f"i_{int(value) & (1 << 64) - 1:#x}")
            else:  # the analysis needs the opcode only
                words = [opcode]
                break
        lines.append(" ".join(words))
    return lines


def document(key, values, mode, cycles, instructions, copies, machine_code, arch, cpu):
    """One benchmark in YAML."""
    lines = ["---", f"mode:            {mode}", "key:", "  instructions:"]
    lines += [f"    - '{line}'" for line in key]
    lines += ["  config:          ''", "  register_initial_values:" + ("" if values else " []")]
    lines += [f"    - '{name}={value:#x}'" for name, value in values.items()]
    lines += [f"cpu_name:        {cpu}", f"llvm_triple:     {TRIPLE[arch]}", f"num_repetitions: {copies}", "measurements:",
              f"  - {{ key: {mode}, value: {cycles / instructions:.4f}, per_snippet_value: {cycles:.4f} }}",
              "error:           ''", "info:            ''", f"assembled_snippet: {machine_code.hex().upper()}{RETURN[arch]}", "..."]
    return "\n".join(lines) + "\n"


def write_yaml(args):
    """Write the documents, with the core cycles of the records."""
    cycles = [r for r in records.load(args.results)[0] if r["payload"] == "nb" and r["event"] == "Core cycles"]
    if len(cycles) != len(args.made) or any(r["count"] is None for r in cycles):
        raise HostError("-yaml: not every measurement counted core cycles: leave -config out, or add -fixed_counters")
    cpu = args.llvm_cpu or {"x86_64": "x86-64", "arm64": "generic"}[args.arch]
    text = ""
    for one, (key, values, mode), record in zip(args.made, args.documents, cycles):
        copies = one.unroll_count or 1000
        each = record["count"]["net"] / (copies * (one.loop_count or 1))
        text += document(key, values, mode, each, len(key), copies, one.machine_code, args.arch, cpu)
    pathlib.Path(args.yaml).write_text(text)
