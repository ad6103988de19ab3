"""Tells which architecture a program is for, and names architectures as users do."""

import argparse
import contextlib
import pathlib

from host import cpio
from host.emulator.qemu import ARCHS, ROOT, HostError, build_file, members_of

ELF = b"\x7fELF"
# System V ABI, "ELF Header": e_machine, and the numbers of AMD64 and AArch64.
MACHINE_AT = 18
MACHINES = {62: "x86_64", 183: "arm64"}
TYPE_AT, ET_EXEC, ET_DYN = 16, 2, 3
KINDS = {1: "an object file", 4: "a core dump"}
COMPILER = "scripts/barecpc-cc" if (ROOT / "Makefile").exists() else "barecpc-cc"
ALIASES = {"x86_64": "x86_64", "x86-64": "x86_64", "amd64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}


def arch_name(text):
    """The architecture of a word on the command line."""
    if text.lower() not in ALIASES:
        raise argparse.ArgumentTypeError(f"{text}: no such architecture: give {' or '.join(sorted(ARCHS))}")
    return ALIASES[text.lower()]


def add_arch(parser):
    parser.add_argument("--arch", type=arch_name, metavar="ARCH", help="arm64 or x86_64, also aarch64, x86-64 and amd64; default: "
                        "the architecture of the programs, else BARECPC_ARCH, else one that can count here")


def arch_of(data):
    """The architecture of the bytes of a file, or "" if they are no program that runs here."""
    if not data.startswith(ELF + b"\x02\x01"):
        return ""
    return MACHINES.get(int.from_bytes(data[MACHINE_AT:MACHINE_AT + 2], "little"), "")


def check(name, data):
    """Raise HostError unless the bytes of a file are a program that can run: its ELF header tells."""
    if not arch_of(data):
        raise HostError(f"{name}: not an ELF program for x86-64 or arm64: compile it by {COMPILER}, or with -static")
    kind = int.from_bytes(data[TYPE_AT:TYPE_AT + 2], "little")
    if kind not in (ET_EXEC, ET_DYN):
        raise HostError(f"{name}: {KINDS.get(kind, 'no program')}: link it to a program by {COMPILER}, or with -static")


def is_known(name, payloads):
    """Whether a program of this name is in the image, as far as its folder or an installation's list is here, or among the payloads."""
    folders = [folder for folder in (build_file(arch, "bin") for arch in ARCHS) if folder.is_dir()]
    lists = [file.read_text().split() for file in (build_file(arch, "names") for arch in ARCHS) if file.is_file()]
    return (not folders and not lists or any((folder / name).exists() for folder in folders) or any(name in names for names in lists)
            or bool(bytes_of(name, payloads)))


def arch_of_payloads(payloads):
    """The architecture of the programs among the payloads, or "" without programs.  Raises HostError if they differ."""
    found = {}
    for path in map(pathlib.Path, payloads):
        try:
            members = members_of(path)
        except cpio.ArchiveError:
            continue  # the kernel prints what is wrong with it
        for arch in {arch_of(data) for data in members.values()} - {""}:
            found.setdefault(arch, path)
    if len(found) > 1:
        raise HostError(f"--payload {', '.join(f'{path} is for {arch}' for arch, path in sorted(found.items()))}: give --arch")
    return next(iter(found), "")


def bytes_of(name, payloads):
    """The bytes of the payloads' file with this name, or None."""
    for path in map(pathlib.Path, payloads):
        with contextlib.suppress(OSError, cpio.ArchiveError):
            members = members_of(path)
            if name in members:
                return members[name]
    return None
