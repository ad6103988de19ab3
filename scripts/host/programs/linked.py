"""Links an object file for nb, and writes the code that calls one of its functions."""

import dataclasses
import pathlib
import re
import subprocess
import tempfile

from host.emulator import qemu
from host.emulator.qemu import HostError
from host.programs.objfile import BadObject, ObjectFile

BASE = 0x60000000  # no part of the program nb is there
PREFIX = {"x86_64": "x86_64-linux-gnu-", "arm64": "aarch64-linux-gnu-"}
ARGUMENTS = {"x86_64": ["RDI", "RSI", "RDX", "RCX", "R8", "R9"], "arm64": [f"x{n}" for n in range(8)]}
AREA = {"x86_64": "R14", "arm64": "x29"}  # a function preserves these pointers


@dataclasses.dataclass
class Linked:
    image: bytes  # of all sections, from BASE on
    function: int  # its address


def _run(words, file):
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    except FileNotFoundError:
        raise qemu.missing(words[0]) from None
    if done.returncode != 0:
        absent = sorted(set(re.findall(r"undefined reference to [`']([^']+)'", done.stderr)))
        if absent:
            raise HostError(f"-kernel {file}: needs {', '.join(absent[:5])}, which the file does not have: add the code by ld -r, or compile without it "
                            "(-ffreestanding, on arm64 -mno-outline-atomics)")
        lines = [line for line in done.stderr.splitlines() if "warning:" not in line and not line.endswith(":") and "In function" not in line]
        why = re.sub(r"^\S*(ld|objcopy): ", "", (lines or [f"status {done.returncode}"])[0])
        raise HostError(f"-kernel {file}: {why}")


def link(file, symbol, arch):
    """Link the file at BASE."""
    if not pathlib.Path(file).is_file():
        raise HostError(f"-kernel {file}: no such file")
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        elf, flat = pathlib.Path(name) / "elf", pathlib.Path(name) / "flat"
        _run([PREFIX[arch] + "ld", "-N", "-static", "--build-id=none", "-z", "noexecstack", "-Ttext", hex(BASE), "-e", symbol, "-o", elf,
              file], file)
        _run([PREFIX[arch] + "objcopy", "-O", "binary", "--set-section-flags", ".bss=alloc,load,contents", elf, flat], file)
        try:
            linked = ObjectFile(elf.read_bytes())
            if linked.has_section(".tdata") or linked.has_section(".tbss"):
                raise HostError(f"-kernel {file}: it has variables of threads (__thread), which need a C library: make them static")
            function = linked.global_symbol(symbol)
        except BadObject as error:
            raise HostError(f"-kernel {file}: {error}") from None
        if function is None:
            raise HostError(f"-symbol {symbol}: {file} has no such global symbol")
        return Linked(flat.read_bytes(), function)


def call(function, arguments, arch):
    """The instructions that call a function."""
    registers = ARGUMENTS[arch]
    if len(arguments) > len(registers):
        raise HostError(f"-arg: more than {len(registers)} arguments")
    code = []
    for register, text in zip(registers, arguments):
        if text == "mem":
            code.append(f"mov {register}, {AREA[arch]}")
            continue
        try:
            value = int(text, 0) & (1 << 64) - 1
        except ValueError:
            raise HostError(f"-arg {text}: not a number, and not mem") from None
        code += constant(register, value, arch)
    if arch == "arm64":
        return code + constant("x16", function, arch) + ["blr x16"]
    return code + constant("RAX", function, arch) + ["CALL RAX"]


def constant(register, value, arch):
    """The instructions that load a number."""
    if arch == "x86_64":
        return [f"MOV {register}, {value:#x}"]
    parts = [(value >> shift & 0xffff, shift) for shift in (0, 16, 32, 48)]
    used = [part for part in parts if part[0]] or parts[:1]
    return [f"{'movk' if n else 'movz'} {register}, {part}, lsl {shift}" for n, (part, shift) in enumerate(used)]
