"""Makes code that shows the latency or the throughput of one instruction: chains of dependent or independent copies.

Latency: each copy needs the result of the copy before.  Throughput: the copies write different registers.
"""

import re

from host.emulator.qemu import HostError

# Registers by class.  They may replace each other; nb uses the others.
X86_GPR = ["AX", "BX", "CX", "DX", "8", "9", "10", "11", "12", "13"]
X86_NAMED = re.compile(r"\b(?:(R|E)?(AX|BX|CX|DX|SI|DI|BP|SP)|(R)(\d+)(D|W|B)?|(XMM|YMM|ZMM)(\d+)|([ABCD])L)\b", re.I)
ARM_NAMED = re.compile(r"\b(?:([xwvqdshb])(\d+)|(sp|xzr|wzr))\b", re.I)
ARM_GPR = [str(n) for n in range(2, 14)]
VECTORS = [str(n) for n in range(16)]
# Instructions whose first operand is only read.
READ_ONLY = {"x86_64": {"CMP", "TEST", "BT", "PUSH", "COMISS", "COMISD", "UCOMISS", "UCOMISD", "PTEST", "JMP", "CALL", "PREFETCHT0"},
             "arm64": {"CMP", "CMN", "TST", "CCMP", "FCMP", "STR", "STRB", "STRH", "STP", "STUR", "PRFM", "CBZ", "CBNZ", "BR", "BLR"}}
# Instructions that write their first operand and do not read it.
MOVES = {"MOV", "MOVABS", "LEA", "MOVZ", "MOVN", "ADR", "FMOV", "MRS", "RDRAND", "SETZ", "POP"}
INDEPENDENT = 8  # copies that write different registers, if so many are free


class Register:
    """One register in the text of an operand."""

    def __init__(self, match, arch):
        self.text = match[0]
        self.arch = arch
        if arch == "arm64":
            self.kind, self.number, width = ("gpr" if match[1] and match[1].lower() in "xw" else "vector"), match[2], match[1]
        elif match[6]:
            self.kind, self.number, width = "vector", match[7], match[6]
        elif match[8]:
            self.kind, self.number, width = "gpr", match[8].upper() + "X", "L"
        elif match[3]:
            self.kind, self.number, width = "gpr", match[4], match[5] or ""
        else:
            self.kind, self.number, width = "gpr", match[2].upper(), match[1] or ""
        self.width = width

    def same(self, other):
        return (self.kind, self.number) == (other.kind, other.number)

    def called(self, number):
        """The name of another register of the same class and width."""
        if self.arch == "arm64" or self.kind == "vector":
            return f"{self.width}{number}"
        size = {"R": "", "E": "D", "L": "B", "D": "D", "B": "B"}.get(self.width.upper(), "W" if self.width or not self.number.isdigit() else "")
        if number.isdigit():
            return f"R{number}{size}"
        return number[0] + "L" if size == "B" else {"": "R", "D": "E", "W": ""}[size] + number



def registers(text, arch):
    named = ARM_NAMED if arch == "arm64" else X86_NAMED
    return [Register(m, arch) for m in named.finditer(text) if arch != "arm64" or m[2]]


def replaced(text, old, number, arch):
    """The text with each use of a register, in any width, replaced by another register of its class."""
    named = ARM_NAMED if arch == "arm64" else X86_NAMED

    def one(match):
        if arch == "arm64" and not match[2]:
            return match[0]
        found = Register(match, arch)
        return found.called(number) if found.same(old) else match[0]
    return named.sub(one, text)


def divided(instruction):
    """The mnemonic, and the operands."""
    mnemonic, _, rest = instruction.strip().partition(" ")
    return mnemonic, [part.strip() for part in re.findall(r"(?:\[[^\]]*\]!?|\{[^}]*\}|[^,\[{])+", rest)]


def result_of(option, instruction, arch):
    """The register that the instruction writes, or None.  Also its operands."""
    if ";" in instruction or "\n" in instruction or "|" in instruction:
        raise HostError(f"{option}: {instruction}: give one instruction")
    mnemonic, operands = divided(instruction)
    first = registers(operands[0], arch) if operands else []
    if not first or "[" in operands[0] or mnemonic.upper() in READ_ONLY[arch]:
        return None, operands
    return first[0], operands


def throughput(instruction, arch):
    """Copies of an instruction that do not wait for each other."""
    result, operands = result_of("-throughput", instruction, arch)
    if result is None:
        return [instruction]
    used = [r for operand in operands[1:] for r in registers(operand, arch)]
    pool = VECTORS if result.kind == "vector" else ARM_GPR if arch == "arm64" else X86_GPR
    mnemonic = divided(instruction)[0]
    free = [n for n in pool if not any(r.kind == result.kind and r.number == n for r in used)]
    return [f"{mnemonic} " + ", ".join([replaced(operands[0], result, number, arch), *operands[1:]]) for number in free[:INDEPENDENT]]


def latency(instruction, arch):
    """A chain of an instruction: the code that prepares it, and its copies."""
    result, operands = result_of("-latency", instruction, arch)
    if result is None:
        raise HostError(f"-latency: {instruction}: it writes no register, so no chain is possible: use -throughput")
    mnemonic = instruction.strip().partition(" ")[0]
    sources = [r for operand in operands[1:] for r in registers(operand, arch)]
    if any("[" in operand for operand in operands[1:]):
        return chase(instruction, result, operands, arch)
    if mnemonic.upper() in MOVES and not sources:
        raise HostError(f"-latency: {instruction}: it reads no register, so no chain is possible: use -throughput")
    if not sources or any(r.same(result) for r in sources):
        return [], [instruction]
    source = next((r for r in sources if r.kind == result.kind), None)
    if source is None:
        raise HostError(f"-latency: {instruction}: the operands are of different kinds: give the chain by -asm, with an "
                        "instruction that takes the result back")
    back = " ".join([mnemonic, ", ".join([replaced(operands[0], result, source.number, arch),
                                          *(replaced(operand, source, result.number, arch) for operand in operands[1:])])])
    return [], [instruction, back]


def chase(instruction, result, operands, arch):
    """A load of its own address."""
    base = re.fullmatch(r"(?:QWORD PTR )?\[\s*(\w+)\s*\]", operands[1], re.I) if len(operands) == 2 else None
    wide = result.text.upper().startswith(("X", "R")) and not result.text.upper().endswith(("D", "W", "B"))
    if base is None or result.kind != "gpr" or not wide:
        raise HostError(f"-latency: {instruction}: only loads of 64 bits from [REGISTER] make a chain: give others by -asm")
    mnemonic = instruction.strip().partition(" ")[0]
    name = result.text
    prepare = ["mov x2, x0", "str x2, [x0]", f"mov {name}, x0"] if arch == "arm64" else ["MOV [R14], R14", f"MOV {name}, R14"]
    return prepare, [f"{mnemonic} {name}, [{name}]"]
