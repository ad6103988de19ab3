#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The planted machine's decoder knows each dependency that shows when instructions are executed.

forms_list makes an instruction for each opcode of libLLVM.  "execute" changes one register at a time before it, on this machine's CPU
for x86-64, in qemu-aarch64 for arm64.  The decoder must say that the instruction reads what changes a result.  It must say that it
writes what changes.  capstone is a second opinion, and may not see more.  Real code of three packages has no unknown instruction.

2,500 forms and more are drawn from the commit; BARECPC_SEED=N draws others, and a campaign takes all."""

import collections
import os
import pathlib
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile

from qmp_guest import Points

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = ROOT / "tests/cli/programs/decoder"
LLVM = "/usr/lib/llvm-19/bin/llvm-config"
# The part of the list that has 2,500 forms which can be executed; without AVX-512 all have 1,600
PART = {"x86_64": 0.37 if " avx512vl" in pathlib.Path("/proc/cpuinfo").read_text() else 1, "aarch64": 0.52}
# They touch more than this process, or change registers that the executor does not restore.
SKIPPED = {"x86_64": r"SYS|INT|HLT|WR|VMFUNC|VMCALL|VMMCALL|F?XRST|F?XSAVE|FLD|FRSTOR|V?LDMXCSR|U?MWAIT|TPAUSE|XBEGIN|XABORT|XEND|TESTUI|ENCL|CLUI|"
                     r"STUI|SENDUIPI|UIRET|IRET|L[FGS]S|POP(?!CNT)|PUSH|ENTER|LEAVE|MOV\d+(rs|sr|ms|sm)$|VZEROUPPER",
           "aarch64": r"SVC|HVC|SMC|BRK|HLT|MSR|WF|DCPS|ERET|SMST|UDF"}
# Real code: the files of three packages
FILES = {"x86_64": ["/bin/bash", "/usr/bin/dpkg", "/usr/bin/git"],
         "aarch64": ["/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/libstdc++.so.6", "/usr/aarch64-linux-gnu/lib/libgcc_s.so.1"]}
# Prints the registers that capstone knows of each line of bytes.
CAPSTONE = """
import sys, capstone as c
d = c.Cs(c.CS_ARCH_ARM64, c.CS_MODE_ARM) if sys.argv[1] == "aarch64" else c.Cs(c.CS_ARCH_X86, c.CS_MODE_64)
d.detail = True
for line in sys.stdin:
    i = next(d.disasm(bytes.fromhex(line), 0), None)
    try:
        print("!" if i is None else ",".join(map(i.reg_name, i.regs_access()[0])))
    except c.CsError:
        print("!")
"""

points = Points()


def output(*words, lines=()):
    return subprocess.run(words, input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout.splitlines()


def build(folder):
    """forms_list and the executors.  Those that cannot be built are absent."""
    objects = []
    for source in (ROOT / "qemu/planted/forms.cpp", ROOT / "qemu/planted/text.cpp", HERE / "forms_list.cpp"):
        objects.append(folder / f"{source.stem}.o")
        subprocess.run(["g++", "-std=c++17", "-O1", "-fno-exceptions", "-fno-rtti", "-I", ROOT, "-isystem", *output(LLVM, "--includedir"),
                        "-c", source, "-o", objects[-1]], check=True)
    libraries = " ".join(output(LLVM, "--link-static", "--ldflags", "--libs", *(f"{target}{part}" for target in ("x86", "aarch64")
                                                                              for part in ("disassembler", "desc", "info")))).split()
    subprocess.run(["g++", "-o", folder / "forms_list", *objects, *libraries, "-lz", "-lzstd", "-ltinfo", "-lm"], check=True)
    for arch, compiler in (("x86_64", "x86_64-linux-gnu-gcc"), ("aarch64", "aarch64-linux-gnu-gcc")):
        subprocess.run([compiler, "-O1", "-static", "-no-pie", "-fno-pie", "-o", folder / f"execute_{arch}", HERE / "execute.c",
                        HERE / f"execute_{arch}.c", HERE / f"enter_{arch}.S"], check=True)


def execute(command, codes):
    """The dependencies of each instruction: a set of (input, output), or None.  One that ends the executor is left out."""
    found = []
    while len(found) < len(codes):
        found += [None if line == "!" else {tuple(word.split(">")) for word in line.split()} for line in output(*command, lines=codes[len(found):])]
        found += [None] if len(found) < len(codes) else []
    return found


def facts(folder, arch, codes):
    """The decoder's facts of each: name, units read, units written, and if it is an idiom."""
    lines = output(folder / "forms_list", arch, "facts", lines=codes)
    found = [re.fullmatch(r"(\S+) reads=(\S*) writes=(\S*) (\S+)", line).groups() for line in lines]
    return [(name, set(reads.split(",")) - {""}, set(writes.split(",")) - {""}, idiom == "idiom") for name, reads, writes, idiom in found]


def units(folder, arch):
    """The decoder's units of each register of the executor: those that an instruction reads which reads this register only."""
    if arch == "aarch64":
        probes = {f"x{n}": 0xea00001f | n << 16 | n << 5 for n in range(31)}  # TST Xn, Xn
        probes.update({f"v{n}": 0x4ea01c1f | n << 16 | n << 5 for n in range(32)})  # MOV V31.16B, Vn.16B
        probes = {name: code.to_bytes(4, "little").hex() for name, code in (*probes.items(), ("flags", 0x9a9f07e0))}  # CSET X0, EQ
    else:
        names = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
        probes = {name: f"{0x48 | (n >> 3) * 5:02x}85{0xc0 | (n & 7) * 9:02x}" for n, name in enumerate(names)}  # TEST
        probes.update({f"v{n}": f"{0x40 | (n >> 3) * 5:02x}0f28{0xc0 | (n & 7) * 9:02x}" for n in range(16)})  # MOVAPS
        probes.update({f"k{n}": f"c4e1f890{0xc0 | n * 9:02x}" for n in range(1, 8)})  # KMOVQ
        probes.update({"o": "0f90c0", "c": "0f92c0", "flags": "0f94c0"})  # SETO, SETC, SETZ
    return dict(zip(probes, (found[1] for found in facts(folder, arch, probes.values()))))


def missed(known, shown, unit):
    """The registers that show, and that the decoder does not know."""
    _, reads, writes, idiom = known
    return {f"reads {i}" for i, _ in shown if i and not idiom and not unit[i] & reads} | \
        {f"writes {o}" for _, o in shown if o != "mem" and not unit[o] & writes}


def capstone_misses(arch, codes, shown):
    """How many reads of general registers capstone does not see, and how many instructions it does not know."""
    lines = output("/usr/bin/python3", "-c", CAPSTONE, arch, lines=codes)
    if len(lines) != len(codes):
        return None
    alias = {}
    for name in "rax rbx rcx rdx rsi rdi rbp".split():
        base = name[1:]
        alias.update(dict.fromkeys((name, "e" + base, base, base[0] + "l", base + "l", base[0] + "h"), name))
    unknown = sum(line == "!" for line in lines)
    misses = 0
    for line, deps in zip(lines, shown):
        words = set(line.split(","))
        seen = {alias.get(w, re.sub(r"^w(?=\d)", "x", re.sub(r"(?<=\d)[dwb]$", "", w))) for w in words}
        misses += line != "!" and any(i and re.match(r"[rx]", i) and i not in seen for i, _ in deps)
    return misses, unknown


def check_arch(folder, arch, chosen):
    forms = [line.split() for line in output(folder / "forms_list", arch, "list")]
    forms = [form for form in forms if not re.match(SKIPPED[arch], form[1])]
    if not os.environ.get("BARECPC_CAMPAIGN"):
        forms = random.Random(f"{chosen} {arch}").sample(forms, int(len(forms) * PART[arch]))
    codes = [code for code, _ in forms]
    command = [] if arch == platform.machine() else [f"qemu-{arch}", "-cpu", "max"]
    shown = execute([*command, folder / f"execute_{arch}"], codes)
    unit = units(folder, arch)
    known = facts(folder, arch, codes)
    ran = [(form, deps, fact) for form, deps, fact in zip(forms, shown, known) if deps is not None]
    wrong = [f"{code} {name}: {', '.join(sorted(m))}" for (code, name), deps, fact in ran if (m := missed(fact, deps, unit))]
    print(f"# {arch}: {len(ran)} of {len(forms)} forms can be executed here; the decoder misses a dependency of {len(wrong)}")
    points.check(len(ran) >= (2500 if PART[arch] < 1 else 1500), f"{arch}: 2,500 forms are executed, or 1,500 without AVX-512", len(ran))
    points.check(not wrong, f"{arch}: each dependency that shows is the decoder's", *wrong[:20])
    points.check(all(fact[0] == form[1] for form, _, fact in ran), f"{arch}: each form is the one that was made")
    both = sum(bool(deps) for _, deps, _ in ran)
    points.check(both > len(ran) / 2, f"{arch}: most forms show a dependency", both)
    theirs = capstone_misses(arch, [form[0] for form, _, _ in ran], [deps for _, deps, _ in ran])
    if theirs is None:
        points.skip(f"{arch}: capstone", "python3-capstone is not installed")
    else:
        print(f"# {arch}: capstone misses a general register that is read in {theirs[0]} forms, and does not know {theirs[1]}")
        points.check(len(wrong) <= theirs[0] and theirs[1] < len(ran), f"{arch}: capstone knows some, and does not see more")


def check_real_code(folder, arch):
    """Each instruction of three packages, as objdump divides the code."""
    for file in FILES[arch]:
        prefix = "" if arch == platform.machine() else f"{arch}-linux-gnu-"
        if not os.path.exists(file) or not shutil.which(prefix + "objdump"):
            points.skip(f"{arch}: {file}", "the file or objdump is not installed")
            continue
        codes = collections.Counter()
        for line in output(prefix + "objdump", "-d", "-w", "-z", "--insn-width=15", "-j", ".text", file):
            found = re.match(r" *[0-9a-f]+:\t((?:[0-9a-f]{2,8} )+) *\t(\S+)", line)
            if found and found[2] not in ("(bad)", "udf", ".inst", ".word"):
                code = found[1].replace(" ", "")
                codes[code if arch == "x86_64" else bytes.fromhex(code)[::-1].hex()] += 1
        wrong = [code for code, fact in zip(codes, facts(folder, arch, codes)) if fact[0] == "?"]
        print(f"# {arch}: {file}: {codes.total()} instructions, {len(codes)} different ones")
        points.check(codes.total() > 5000 and not wrong, f"{arch}: each instruction of {pathlib.Path(file).name} is known", *wrong[:10])


def main():
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    chosen = os.environ.get("BARECPC_SEED") or commit
    print(f"# seed {chosen}")
    if not os.path.exists(LLVM):
        points.skip("the decoder", "llvm-19-dev is not installed (scripts/setup --planted)")
        return points.end()
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        folder = pathlib.Path(name)
        build(folder)
        if shutil.which("qemu-x86_64"):
            shown = execute(["qemu-x86_64", "-cpu", "max", folder / "execute_x86_64"], ["48f7ee"])[0]
            points.check(shown and ("rsi", "rax") in shown and not any(o[0] == "k" for _, o in shown), "x86_64: a CPU without masks", shown)
        for arch in ("x86_64", "aarch64"):
            check_real_code(folder, arch)
            if arch != platform.machine() and not shutil.which(f"qemu-{arch}"):
                points.skip(f"{arch}: dependencies", "qemu-user is not installed")
                continue
            check_arch(folder, arch, chosen)
    return points.end()


sys.exit(main())
