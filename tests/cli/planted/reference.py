#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Two machines that were made from the same rules give each instruction of random snippets the same cycle.

One is qemu/planted/core.c, the other tests/cli/lib/planted_reference.py.  The snippets are an image of their own: tests/qemu has its
start.  Machines and snippets are drawn from a seed, by default the commit's; BARECPC_SEED=N draws others.  With BARECPC_CAMPAIGN
there are 10,000 snippets on each of three machines."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import planted_image
import planted_reference
from qmp_guest import Points

ROOT = pathlib.Path(__file__).resolve().parents[3]
MACHINES, SNIPPETS = (3, 10000) if os.environ.get("BARECPC_CAMPAIGN") else (1, 1500)
GROUP = 20  # snippets, which run twice
AREA = 65536  # bytes of data
# {r}, {s}: registers; {v}, {w}: vectors; {d}: a place in the area; {p}: a multiple of 16 that LDP reaches.
CODE = {
    "x86_64": [
        "add {r}, {s}", "sub {r}, {s}", "adc {r}, {s}", "inc {r}", "rol {r}, cl", "setbe al", "minsd {v}, {w}", "movaps {v}, {w}", "imul {r}, {s}", "xor {r}, {s}", "xor {r}, {r}", "mov {r}, {s}", "shl {r}, 3",
        "lea {r}, [{r} + {s} * 2 + 5]", "cmovc {r}, {s}", "mov {r}, [r14 + {d}]", "mov [r14 + {d}], {r}", "mov {r}, [r14 + {d}]",
        "mov [r14 + {d}], {r}", "add [r14 + {d}], {r}", "add {r}, [r14 + {d}]", "movups {v}, [r14 + {d}]", "movups [r14 + {d}], {v}",
        "movzx {r}, byte ptr [r14 + {d}]", "xchg {r}, [r14 + {d}]", "lock add [r14 + {d}], {r}", "addsd {v}, {w}", "mulps {v}, {w}",
        "divsd {v}, {w}", "sqrtsd {v}, {w}", "paddd {v}, {w}", "pmuludq {v}, {w}", "pxor {v}, {v}", "cvtsi2sd {v}, {r}", "push {r}; pop {s}",
        "nop", "lfence", "mfence", "mov ecx, 0x1a4; xor edx, edx; mov eax, ebx; wrmsr", "rdtsc", "cpuid", "xor edx, edx; mov ecx, 7; div rcx", "fld1; fstp qword ptr [r14 + {d}]",
        "mov ecx, 3; lea rdi, [r14 + {d}]; rep stosq", "mov ecx, 2; lea rdi, [r14 + {d}]; lea rsi, [r14 + {d}]; rep movsb",
        "test {r}, {s}; jnz 1f; nop; 1:", "cmp {r}, {s}; jb 1f; add {r}, {s}; 1:", "bt {r}, 3; jc 1f; 1:", "call 1f; 1: pop {r}", "jmp 1f; 1:"],
    "arm64": [
        "add {r}, {s}, {r}", "adds {r}, {r}, {s}", "sub {r}, {s}, {r}", "mul {r}, {r}, {s}", "madd {r}, {s}, {r}, {s}", "sdiv {r}, {r}, {s}",
        "udiv {r}, {s}, {r}", "eor {r}, {r}, {r}", "mov {r}, {s}", "lsl {r}, {s}, #3", "csel {r}, {s}, {r}, ne", "ldr {r}, [x14, {d}]",
        "str {r}, [x14, {d}]", "ldr {r}, [x14, {d}]", "str {r}, [x14, {d}]", "ldp {r}, x13, [x14, {p}]", "stp {r}, {s}, [x14, {p}]",
        "ldr q3, [x14, {p}]", "str q3, [x14, {p}]", "ldrb w13, [x14, #5]", "strb w13, [x14, #9]", "mov x13, x14; ldr {r}, [x13], #16",
        "fadd {v}, {v}, {w}", "fmul {v}, {w}, {v}", "fdiv {v}, {v}, {w}", "fsqrt {v}, {w}", "fmadd {v}, {v}, {w}, {v}", "scvtf {v}, {r}",
        "add v3.4s, v3.4s, v4.4s", "mul v4.4s, v3.4s, v4.4s", "fadd v5.2d, v3.2d, v5.2d", "nop", "isb", "dsb sy", "dmb ish",
        "mrs {r}, cntvct_el0", "cbz {r}, 1f; nop; 1:", "cmp {r}, {s}; b.lt 1f; add {r}, {r}, {s}; 1:", "tbz {r}, #3, 1f; 1:", "bl 1f; 1:", "b 1f; 1:"]}
FORMS = ("imul r64, r64", "mov r64, m64", "add m64, r64", "addsd xmm, xmm", "jne i", "mul x, x, x", "ldr x, [x, #i]", "add v.4s, v.4s, v.4s", "csel x, x, x, cond")
REGISTERS = {"x86_64": ("rax rcx rdx rbx r8 r9 r10 r11 r12 r13".split(), [f"xmm{n}" for n in range(8)]),
             "arm64": ([f"x{n}" for n in range(2, 13)], [f"d{n}" for n in range(8)])}
# The functions that the start's other users have end the run, as a fault does.
AROUND = {
    "x86_64": (".intel_syntax noprefix\n.globl main, ap_main, fault_report, pmi_by_nmi, pmi_by_vector, timer_tick\nmain: mov rax, cr4\n"
               "or rax, 0x600\nmov cr4, rax\nlea r14, [rip + area]\n", "mov r15d, 2\n2:", "dec r15d\njnz 2b\n",
               "ap_main:\nfault_report:\npmi_by_nmi:\npmi_by_vector:\ntimer_tick: mov eax, {end}\nmov dx, 0xf4\nout dx, eax\n1: jmp 1b\n"),
    "arm64": (".globl main, ap_main, fault, irq\nmain: mov x0, #0x300000\nmsr cpacr_el1, x0\nisb\nadrp x14, area\n", "mov x15, #2\n2:",
              "sub x15, x15, #1\ncbnz x15, 2b\n", "ldr x0, =0x84000008\nhvc #0\nap_main:\nfault:\nirq: b irq\n")}

points = Points()


def draw_machine(seed):
    """A machine whose caches are so small that each of them misses.  The levels have four of the five policies."""
    r = random.Random(seed)
    ports = r.randint(2, 8)

    def work(least, most, busy=1):
        return {"latency": r.randint(least, most), "busy": r.randint(1, busy), "ports": sorted(r.sample(range(ports), r.randint(1, ports)))}

    def of_its_own():
        return {**work(1, 9, 3), "uops": r.randint(1, 4), **r.choice([{}, {}, {"ports": []}])}

    def cache(sets, latency, policy):
        ways, line = r.choice([2, 4, 8]), r.choice([32, 64, 128])
        return {"size": r.choice(sets) * ways * line, "ways": ways, "line": line, "latency": latency, "policy": policy}

    def tlb():
        ways = r.choice([1, 2, 4])
        return {"entries": ways * r.choice([1, 2, 4]), "ways": ways, "walk": r.randint(5, 30)}
    qlru = f"qlru_H{r.randint(0, 2)}{r.randint(0, 1)}_M{r.randint(0, 3)}_R{r.randint(0, 2)}_U{r.randint(0, 3)}"
    policy = r.sample(["lru", "fifo", "plru", "random", qlru], 4)
    return {
        "name": f"reference {seed}"[:60], "mhz": 1000, "width": r.randint(1, 6), "port_count": ports, "seed": r.randrange(2 ** 32),
        "classes": {"alu": work(1, 2), "mul": work(2, 6, 2), "div": work(12, 40, 9), "fp": work(2, 7, 2), "fpdiv": work(10, 20, 5),
                    "vector": work(1, 3), "branch": work(1, 2), "move": {"latency": 0, "ports": []}, "load": work(0, 3, 2), "store": work(1, 3, 2), "other": work(1, 9, 3)},
        "forms": {text: of_its_own() for text in FORMS},
        "l1d": cache([4, 8, 16], r.randint(2, 6), policy[0]), "l1i": cache([4, 8, 16], r.randint(2, 6), policy[1]),
        "l2": cache([16, 32], r.randint(8, 20), policy[2]), "llc": cache([32, 64], r.randint(25, 50), policy[3]),
        "prefetcher": r.choice(["none", "next-line", "next-line"]), "dtlb": tlb(), "itlb": tlb(), "memory": r.randint(60, 200), "predictor": {"entries": r.choice([16, 64, 1024]), "penalty": r.randint(3, 20)}}


def write_snippets(arch, r, count):
    """Assembly: groups of snippets, each of which runs twice."""
    general, vectors = REGISTERS[arch]
    step = 1 if arch == "x86_64" else 8
    reach = AREA - 64 if arch == "x86_64" else 32760
    hot = [r.randrange(0, reach, step) for _ in range(8)]  # where stores and loads meet
    before, begin, end, after = AROUND[arch]
    text = [before]
    for n in range(count):
        text += [begin] if n % GROUP == 0 else []
        for _ in range(planted_reference.SNIPPET):
            words = {"r": r.choice(general), "s": r.choice(general), "v": r.choice(vectors), "w": r.choice(vectors),
                     "d": r.choice(hot) if r.random() < 0.5 else r.randrange(0, reach, step), "p": r.randrange(0, 512, 16)}
            text.append(r.choice(CODE[arch]).format(**words))
        text += [end] if n % GROUP == GROUP - 1 else []
    return "\n".join(text).replace(";", "\n") + "\n" + after.format(end=16) + f".bss\n.balign 4096\narea: .zero {AREA}\n"


def check_trace(arch, what, folder, machine, least, count=None):
    with open(folder / "trace", encoding="ascii") as trace:
        done, wrong, shown, snippets = planted_reference.compare(machine, trace, count)
    print(f"# {arch}: {what}: {done} instructions, {snippets} distinct snippets", *shown, sep="\n# ")
    points.check(done >= least, f"{arch}: {what}: all instructions are in the trace")
    points.check(wrong == 0, f"{arch}: {what}: each instruction retires in the same cycle")


def check_boot(folder):
    """A boot of the kernel: pages, and changes of privilege.  All of it is compared in the campaign."""
    (folder / "end.s").write_text(".globl _start\n_start: mov x8, 93\nmov x0, 0\nsvc 0\n")
    subprocess.run([planted_image.TRIPLE["arm64"] + "gcc", "-nostdlib", "-static", folder / "end.s", "-o", folder / "end"], check=True)
    machine = {key: value for key, value in draw_machine("boot").items() if key != "seed"}  # It is 1 then.
    (folder / "m.json").write_text(json.dumps(machine))
    status = subprocess.run([ROOT / "scripts/barecpc", "run", "--arch", "arm64", "--payload", folder / "end", "--planted",
                             f"{folder}/m.json,trace={folder}/trace"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, check=False).returncode
    points.check(status == 0, "arm64: a boot with a trace", status)
    check_trace("arm64", "a boot", folder, machine, 100000, None if MACHINES > 1 else 100000)


def main():
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        check_boot(pathlib.Path(name))
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    chosen = os.environ.get("BARECPC_SEED") or commit
    for arch in ("arm64", "x86_64"):
        for n in range(MACHINES):
            seed = f"{chosen} {arch} {n}"
            print(f"# {arch}: seed {seed}")
            machine = draw_machine(seed)
            with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
                folder = pathlib.Path(name)
                planted_image.build(arch, folder, write_snippets(arch, random.Random(seed), SNIPPETS))
                status, _ = planted_image.run(arch, folder, machine)
                points.check(status == planted_image.ENDED[arch], f"{arch}: machine {n}: the image came to its end", status)
                check_trace(arch, f"machine {n}", folder, machine, 2 * SNIPPETS * planted_reference.SNIPPET)
    return points.end()


sys.exit(main())
