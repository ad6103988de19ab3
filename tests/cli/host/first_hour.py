#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Each mistake that a new user types gets one line that says what happened, to what, and what to do.

All mistakes of the table are answered by the host, without a boot.  Standard error has exactly this line.  Then one boot
runs what must not print a zero: programs that count themselves under stat and record, and events that cannot be counted."""

import contextlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import types

import made_records
import tap
from host import main as command
from host.emulator import qemu
from host.programs import tools

ROOT = pathlib.Path(__file__).resolve().parents[3]

BARECPC = ROOT / "scripts" / "barecpc"
NAMES = ("encode", "list", "fits")  # other programs print these answers
HELP = r"; see barecpc[ a-z]* --help$"
# The words, as a shell would split them, and the line.
MISTAKES = [
    # The command line.
    ([], "host: the following arguments are required: command" + HELP),
    (["frobnicate"], "host: argument command: invalid choice: 'frobnicate' \\(choose from 'arch', .*" + HELP),
    (["run", "spin"], "host: unrecognized arguments: spin; the program follows --" + HELP),
    (["run", "--nonsense"], "host: unrecognized arguments: --nonsense" + HELP),
    (["run", "--cpu"], "host: argument --cpu: expected one argument" + HELP),
    (["arch", "--", "spin"], "host: only run and disk take a program after --" + HELP),
    (["run", "--arch", "vax"], "host: argument --arch: vax: no such architecture: give arm64 or x86_64" + HELP),
    (["run", "--accel", "hvf"], "host: argument --accel: invalid choice: 'hvf' \\(choose from .*" + HELP),
    (["run", "--boot", "grub"], "host: argument --boot: invalid choice: 'grub' \\(choose from .*" + HELP),
    (["run", "--mem", "1x"], "host: --mem 1x: not a size such as 256M" + HELP),
    (["run", "--mem", "0"], "host: --mem 0: not a size such as 256M" + HELP),
    (["run", "--smp", "0"], "host: --smp 0: not a number of CPUs such as 2, or 4,cores=2,threads=2" + HELP),
    (["run", "--smp", "many"], "host: --smp many: not a number of CPUs such as 2, .*" + HELP),
    (["run", "--env", "X"], "host: --env X: not NAME=VALUE" + HELP),
    (["run", "--env", "1=2"], "host: --env 1=2: not NAME=VALUE" + HELP),
    (["run", "--out", "x"], "host: argument --out: x: not of the form NAME=FILE or /tmp/NAME" + HELP),
    (["run", "--results", ""], "host: argument --results: give a file's name, not an empty word" + HELP),
    (["run", "--timeout", "-1"], "host: --timeout -1: not a time" + HELP),
    (["run", "--timeout", "soon"], "host: argument --timeout: invalid float value: 'soon'" + HELP),
    (["run", "--silence", "nan"], "host: --silence nan: not a time" + HELP),
    (["run", "--machine", "raspi4b", "--arch", "x86_64"], "host: --arch x86_64: raspi4b has only arm64" + HELP),
    (["run", "--machine", "raspi4b", "--boot", "uefi"], "host: --boot uefi: raspi4b has only direct" + HELP),
    # Payloads.
    (["run", "--payload", "nosuch"], "host: --payload nosuch: No such file or directory: name a program, a file, a folder or an archive$"),
    (["run", "--payload", "/dev/zero"], "host: --payload /dev/zero: neither a file nor a folder: name a program, .*$"),
    (["run", "--payload", "large", "--mem", "64M"], "host: --payload large: 80 MiB in all, and the machine has 64M: give more by --mem$"),
    (["run", "--payload", "huge", "--mem", "8G"], "host: --payload huge: 4294967296 bytes: a cpio \\(newc\\) archive holds files below 4 GiB$"),
    (["stat", "--payload", "large", "--mem", "64M", "spin"], "host: --payload large: 80 MiB in all, and the machine has 64M: .*$"),
    (["stat", "--with", "large", "--mem", "64M", "cat"], "host: file large: [0-9]+ MiB in all, and the machine has 64M: .*$"),
    (["stat", "--sysroot", "", "cat"], "host: argument --sysroot: give a file's name, not an empty word" + HELP),
    (["stat", "--stdin", "large", "--mem", "64M", "spin"], "host: --stdin large: the machine has 64M: give more by --mem$"),
    (["run", "--payload", "arm64", "--payload", "x86_64"], "host: --payload arm64 is for arm64, x86_64 is for x86_64: give --arch$"),
    # stat and record.
    (["stat"], "host: no program: give it after the options: barecpc stat ./prog$"),
    (["record"], "host: no program: give it after the options: barecpc record ./prog$"),
    (["stat", "./nosuch"], "host: ./nosuch: No such file or directory.*$"),
    (["stat", "text"], "host: text: no program of the image: for the file of this folder give ./text$"),
    (["stat", "./text"], "host: ./text: not an ELF program for x86-64 or arm64: compile it by scripts/barecpc-cc, or with -static$"),
    (["stat", "./object"], "host: ./object: an object file: link it to a program by scripts/barecpc-cc, or with -static$"),
    (["stat", "./dynamic"], "host: /dynamic: its loader /lib/ld-none.so.1 is not in this system: give --sysroot DIR that has it, or link with -static$"),
    (["record", "--sysroot", "folder", "./dynamic"], "host: /dynamic: its loader /lib/ld-none.so.1 is not in .*/folder: give .*$"),
    (["stat", "--sysroot", "nosuch", "ls"], "host: --sysroot nosuch: no such folder$"),
    (["stat", "--arch", "arm64", "--with", "nosuch", "spin"], "host: --with nosuch: no such file, folder or command$"),
    (["stat", "./folder"], "host: ./folder: Is a directory.*$"),
    (["stat", "--arch", "x86_64", "./arm64"], "host: arm64: for arm64, and --arch is x86_64: leave --arch out$"),
    (["stat", "-r", "0", "spin"], "host: argument -r: 0: not a number from 1 to 1000" + HELP),
    (["stat", "-r", "1k", "spin"], "host: argument -r: 1k: not a number from 1 to 1000" + HELP),
    (["stat", "-r", "spin"], "host: argument -r: spin: not a number from 1 to 1000" + HELP),
    (["stat", "-I", "10", "spin"], "host: argument -I: 10: not a number from 1000 to 2147483647" + HELP),
    (["stat", "--timeout", "1s", "spin"], "host: argument --timeout: 1s: not a number from 10 to 1000000000" + HELP),
    (["stat", "-e"], "host: argument -e: expected one argument" + HELP),
    (["record", "-c", "0", "spin"], "host: argument -c: 0: not a number from 1 to 2147483647" + HELP),
    (["record", "-c", "1e6", "spin"], "host: argument -c: 1e6: not a number from 1 to 2147483647" + HELP),
    (["record", "-e", "a", "-e", "b", "spin"], "host: -e a -e b: record samples one event: give one, and run record again for another$"),
    # Results of runs.
    (["report"], "host: barecpc.data: No such file or directory: name a file that `barecpc record` wrote$"),
    (["report", "-i", "text"], "host: text: line 1 is not JSON: name a file that `barecpc record` wrote$"),
    (["annotate", "-i", "empty"], "host: empty: it is empty: .*$"),
    (["compare", "a.jsonl"], "host: the following arguments are required: B.jsonl" + HELP),
    (["compare", "a.jsonl", "nosuch"], "host: nosuch: No such file or directory: name a file that `barecpc run --results` wrote$"),
    (["compare", "a.jsonl", "text"], "host: text: line 1 is not JSON: name a file that `barecpc run --results` wrote$"),
    (["compare", "a.jsonl", "cut"], "host: cut: line 1 is cut off: the run did not end: run again, or delete the line$"),
    (["compare", "a.jsonl", "newer"], "host: newer: line 1 has schema 2, not 1: use the barecpc that wrote it$"),
    (["compare", "a.jsonl", "b.jsonl"], "host: a.jsonl, b.jsonl: no row is in both: prog.old in the first, prog.new in the second: pair two programs by --pair OLD=NEW$"),
    (["compare", "--pair", "x", "a.jsonl", "b.jsonl"], "host: argument --pair: x: not of the form OLD=NEW" + HELP),
    (["compare", "--fail-above", "1", "a.jsonl", "a.jsonl"], "host: argument --fail-above: 1: not a limit such as 1% or PAPI_tot_ins=0.5%" + HELP),
    (["compare", "--fail-above", "cycles=1%", "a.jsonl", "a.jsonl"], "host: --fail-above cycles: neither file has this event: give its name as the table has it$"),
    (["export", "a.jsonl"], "host: the following arguments are required: --to" + HELP),
    (["export", "--to", "excel", "a.jsonl"], "host: argument --to: invalid choice: 'excel' \\(choose from .*" + HELP),
    (["export", "--to", "pprof", "a.jsonl"], "host: a.jsonl: .*$"),
    (["collect", "folder"], "host: folder: no folder of barecpc sweep: its sweep.json is missing or damaged$"),
    (["sweep", "nosuch"], "host: nosuch: No such file or directory$"),
    (["sweep", "text"], "host: text:1: not of the form NAME = VALUE VALUE...$"),
    (["read"], "host: give a log, a serial line, tcp:HOST:PORT or -" + HELP),
    (["read", "nosuch"], "host: nosuch: No such file or directory$"),
    (["read", "--baud", "7", "text"], "host: --baud 7: not a rate of serial lines, such as 115200" + HELP),
    (["read", "tcp:localhost"], "host: tcp:localhost: not of the form tcp:HOST:PORT$"),
    (["read", "tcp:localhost:1"], "host: tcp:localhost:1: Connection refused$"),
    # A few instructions.
    (["nb"], "host: no code to measure: give -asm, -code, -exegesis, -kernel, -latency or -throughput$"),
    (["nb", "-asm", "nop", "-code", "text"], "host: -code: give it or -asm, not both$"),
    (["nb", "-asm", "movz x0, rax"], "host: -asm: movz x0, rax: undefined symbol rax .* \\(assembled for arm64: --arch chooses another\\)$"),
    (["nb", "-asm", "nop", "-unroll_count", "-1"], "host: argument -unroll_count/--unroll_count: (expected one argument|-1: not a number)" + HELP),
    (["nb", "--arch", "arm64", "-code", "folder"], "host: -code: folder: Is a directory$"),
    (["nb", "-asm", "add x0, x0, x1", "-asm_init", ".include \"x\""], "host: -asm_init: .include: a directive that may read files .*: give -allow_directives .*$"),
    (["nb", "-debug", "-asm", "add x0, x0, x1"], "host: -debug: the image has no debugger: .*$"),
    (["nb", "-kernel", "nosuch", "-symbol", "f"], "host: .*nosuch: .*[Nn]o such file.*$"),
    (["nb", "-kernel", "object", "-symbol", "f"], "host: -kernel object: needs memcpy, which the file does not have: add the code by ld -r, .*$"),
    (["nb", "-kernel", "thread.o", "-symbol", "f"], "host: -kernel thread.o: it has variables of threads \\(__thread\\), .*: make them static$"),
    (["nb", "--arch", "arm64", "-exegesis", "snippet"], "host: snippet:1: NZCV: no register of arm64 that code can set: name a general register, .*$"),
    # Names of events.
    (["encode", "--cpu", "skl", "nosuch"], "encode: nosuch: no such event; 'list --cpu skl' prints all names$"),
    (["encode", "--cpu", "skl", "cycles:W"], "encode: cycles:W: only the levels :u and :k may follow an event$"),
    (["encode", "--cpu", "skl", "perf::CYCLES"], "encode: perf::CYCLES: .*: give perf's own name, as cycles$"),
    (["encode", "--cpu", "skl", "cpu/event=0xc0,name=x/"], "encode: .*: leave name= out: the event is printed as it is written$"),
    (["encode", "--cpu", "skl", "cpu/event=0xc0,period=9/"], "encode: .*: give the period by -c of record, not in the event$"),
    (["list", "--cpu", "pentium"], "list: pentium: no such CPU; known are: .*$"),
    (["fits", "--cpu", "skl", "nosuch,cycles"], "fits: nosuch: no such event; 'list --cpu skl' prints all names$"),
]


def files(folder):
    """Make the files that the mistakes name."""
    (folder / "text").write_text("hello\n")
    (folder / "empty").write_text("")
    (folder / "folder").mkdir()
    (folder / "snippet").write_text("// LLVM-EXEGESIS-DEFREG NZCV 1\nnop\n")
    for name, size in (("large", 80 << 20), ("huge", 4 << 30)):
        with open(folder / name, "wb") as file:
            file.truncate(size)
    good = made_records.record("prog.old", [3])
    (folder / "a.jsonl").write_text(json.dumps(good) + "\n")
    (folder / "b.jsonl").write_text(json.dumps(made_records.record("prog.new", [3])) + "\n")
    (folder / "cut").write_text(json.dumps(good)[:100])
    (folder / "newer").write_text(json.dumps(good | {"schema": 2}) + "\n")
    (folder / "f.c").write_text("void *memcpy(void *, const void *, unsigned long);\nvoid f(void *a, void *b, long n) { memcpy(a, b, n); }\n")
    (folder / "t.c").write_text("static __thread int v;\nint f(void) { return ++v; }\n")
    (folder / "m.c").write_text("int main(void) { return 0; }\n")
    compiler = "aarch64-linux-gnu-gcc"
    for words in (["-c", "-o", "object", "f.c"], ["-c", "-o", "thread.o", "t.c"], ["-o", "dynamic", "-nostdlib", "-Wl,-e,main,-I,/lib/ld-none.so.1", "-pie", "m.c"], ["-o", "arm64", "-nostdlib", "-static", "-Wl,-e,main", "m.c"]):
        subprocess.run([compiler, "-O2", *words], cwd=folder, check=True)
    subprocess.run(["x86_64-linux-gnu-gcc", "-o", "x86_64", "-nostdlib", "-static", "-Wl,-e,main", "m.c"], cwd=folder, check=True)


def typed(words):
    """Status, standard output and standard error of these words.  The start of scripts/barecpc would take longer than its answer."""
    if words and words[0] in NAMES:
        done = subprocess.run([BARECPC, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        return done.returncode, done.stdout, done.stderr
    out, err, sys.argv = io.StringIO(), io.StringIO(), [str(BARECPC), *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = command.main()
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), err.getvalue()


def wrong_with(words, line, status, out, err):
    said = err.splitlines()
    if status != (125 if not words or words[0] not in NAMES else 2 if words[0] == "list" else 1):
        return [f"status {status}", *said[-4:]]
    return [] if len(said) == 1 and re.match(line, said[0]) and not out else [*said[-4:], f"not one line: {line}"]


HELD = "nothing was counted: the counters are in use, by stat or record or a set that is bound to a CPU"
GROUP = ",".join(["instructions"] * 8)
# A line of a suite, its status, and its last line on standard error.
BOOTED = [
    ("stat matmul -r 1", 77, f"matmul: {HELD}"),
    ("record spin -r 1", 77, f"spin: {HELD}"),
    ("stat example1", 77, f"example1: {HELD}"),
    ("stat example2", 77, f"example2: {HELD}"),
    ("stat opcost", 77, f"opcost: {HELD}"),
    ("stat -e r3ff spin -n -r 1", 77, "stat: spin: nothing was counted: r3ff: Hardware resource unavailable: request 0: this emulator does not model event 0x3ff"),
    (f"stat -e {{{GROUP}}} spin -n -r 1", 77, "stat: spin: nothing was counted: a group of 8, which this machine does not count at once"),
    (f"stat -e {{{GROUP}}}:W record -n", 2, "usage: record .*"),
    ("stat -e instructions,r3ff encode nosuch", 2, "encode: no table of this CPU's events: choose one with --cpu NAME; known are: .*"),
    ("stat -e cycles:W spin", 2, "stat: cycles:W: only the levels :u and :k may follow an event"),
    ("stat -e cpu/event=0x8,name=x/ spin", 2, "stat: cpu/event=0x8,name=x/: leave name= out: the event is printed as it is written"),
    ("stat -e perf::CYCLES spin", 2, "stat: perf::CYCLES: perf:: is libpfm4's list of Linux's events: give perf's own name, as cycles"),
    ("nb -code folder", 2, "nb: folder: not a file"),
    ("nb -code code -unroll_count 4294967296 -loop_count 4294967296", 2, "nb: -unroll_count, -loop_count: their product is above 2\\^63: lower one"),
    ("cputrack -c pic4294967296=PAPI_tot_ins spin", 2, "cputrack: bad token 'pic4294967296=PAPI_tot_ins'"),
]


LONG = "x" * 1500
MEASURED = """nb -code in/code -basic_mode -loop_count 10 -unroll_count 10
nb -code in/code -range -csv -config in/config
"""


def booted(folder):
    (folder / "in" / "folder").mkdir(parents=True)
    (folder / "in" / "folder" / "x").write_text("x")
    (folder / "in" / "code").write_bytes(b"\x1f\x20\x03\xd5")
    (folder / "in" / "config").write_text(f"\ufeff0x8 {LONG}\nno_such name\n", encoding="utf-8")
    suite = "".join(line.replace(" folder", " in/folder").replace(" code ", " in/code ") + "\n" for line, *_ in BOOTED) + MEASURED
    (folder / "suite").write_text(suite)
    done = subprocess.run([BARECPC, "run", "--arch", "arm64", "--accel", "tcg", "--payload", "suite", "--payload", "in"], cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace")
    said = done.stderr.splitlines()
    for line, status, last in BOOTED:
        wrong = [f"no line {last}"] if not any(re.fullmatch(last.replace(": folder:", ": in/folder:"), text) for text in said) else []
        tap.check(f"{line}: its reason", wrong and [*wrong, *said[-40:]])
    ends = [(name, int(status)) for name, status in re.findall(r"^barecpc: (\w+): exit (\d+)$", done.stderr, re.M)]
    # The loop of 10 turns has SUB and CBZ, and a B but for the last: 29 instructions, of 100 copies.
    tap.check("nb: basic mode leaves the loop in, as nanoBench does", [] if "Instructions retired: 1.29\n" in done.stdout else [done.stdout[-600:]])
    tap.check("nb: a byte order mark, long lines and rows without a count in CSV", [line for line in (f"{LONG},1.00,1.00,1.00\n", "name,<not supported>,,\n")
                                                                                if line not in done.stdout])
    tap.equal("their statuses", ends, [(line.split()[0], status) for line, status, _ in BOOTED])


def last_lines(folder):
    """The last line of stat names the program that it ran."""
    (folder / "ends.c").write_text('#include <stdlib.h>\nint main(int c, char **v) { if (c > 1 && *v[1] < 64) return atoi(v[1]); for (;;) continue; }\n')
    subprocess.run([ROOT / "scripts" / "barecpc-cc", "--arch", "arm64", "-O1", "-o", "ends", "ends.c"], cwd=folder, check=True)
    done = subprocess.run([BARECPC, "stat", "--host-timeout", "4", "./ends", "ends.c"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1:]
    tap.check("a time-out of stat names the program and its function, and is the last line",
              [] if done.returncode == 124 and re.match(r"host: timed out after 4 s: ends, .*0 of 1 runs; PC 0x[0-9a-f]+ \(main\+", last[0]) else [str(last)])
    done = subprocess.run([BARECPC, "stat", "./ends", "77"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    tap.check("a program that ends with 77 has counted", [] if done.returncode == 77 and "instructions" not in done.stderr and
              re.search(r"[1-9][0-9]* +PAPI_tot_ins:u", done.stderr) and "counted nothing" not in done.stderr else done.stderr.splitlines())


def pieces(folder):
    """Mistakes that need another machine or another folder."""
    tap.equal("QEMU's words for a disk in a folder with a comma", [word for word in qemu.command(
        qemu.Machine("arm64", boot="uefi"), "image", "", None, pathlib.Path("/a,b/disk.img")) if word.startswith("format=")],
        ["format=raw,file=/a,,b/disk.img,if=virtio,readonly=on"])
    try:
        qemu.command(qemu.Machine("arm64"), "image", "\u00e4" * 70000)
        said = ""
    except qemu.HostError as error:
        said = str(error)
    tap.equal("a command line is measured in bytes", said, "a command line of 140000 bytes: QEMU takes 131071: use --boot uefi")
    root, qemu.ROOT = qemu.ROOT, folder
    tap.equal("an installed copy names packages", [str(qemu.missing(tool)) for tool in ("qemu-system-aarch64", "x86_64-linux-gnu-ld", "/x/OVMF.fd")],
              ["qemu-system-aarch64: not found; install the package qemu-system-arm",
               "x86_64-linux-gnu-ld: not found; install the package binutils-x86-64-linux-gnu", "/x/OVMF.fd: not found; install the package ovmf"])
    qemu.ROOT = root
    made = tools.prepare(types.SimpleNamespace(**dict.fromkeys(tools.PASSED_ON), payload=[], payload_with=[], sysroot=None, stdin=None, env=["-x=1"], append=["-v"], model=None, no_icount=False, quiet=False,
                                               host_timeout=None, arch=None, command="stat", program=["-prog"], e=[], d=0, o="-out", r=None, x=None, I=None,
                                               timeout=None, j=False, per_thread=False, aggregates=False, undisturbed=False), folder)[0]
    tap.equal("values that begin with a dash stay values", made,
              ["run", "--env=-x=1", "--append=-v", "--out=stat.out=-out", "--", "stat", "-o", "stat.out", "--", "-prog"])
    (folder / "usr").write_bytes((folder / "ends").read_bytes())
    tap.equal("a static program has the same name on a machine that has a folder of that name", tools.Subject(
        str(folder / "usr"), folder, types.SimpleNamespace(sysroot=None, arch=None, image=None, payload=[], payload_with=[], env=[])).name, "usr")
    for words, line in ((["sh", "-c", f"'{BARECPC}' arch >&-"], "host: standard output: closed: give >/dev/null if you do not want it\n"),
                        (["sh", "-c", f"'{BARECPC}' read - <&-"], "host: standard input: closed: name a file or a device\n"),
                        (["env", "-u", "HOME", "-u", "XDG_CACHE_HOME", "-u", "BARECPC_CACHE", ROOT / "scripts" / "setup", "--cache"],
                         "setup: HOME: not set: set it, or name a folder for what is downloaded and built in BARECPC_CACHE\n")):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        tap.equal(line.split(":")[1].strip() + ": one line", done.stderr, line)
    interrupted = subprocess.Popen([BARECPC, "run", "--arch", "arm64", "--accel", "tcg", "--", "chase", "-r", "1000"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while "barecpc: arm64" not in interrupted.stderr.readline():
        continue
    interrupted.send_signal(signal.SIGINT)
    said = interrupted.stderr.read().splitlines()
    tap.check("Ctrl-C ends by SIGINT, and says what is lost", [] if interrupted.wait() == -signal.SIGINT and said[-1].startswith("host: interrupted: ") else said[-5:])
    odd = os.fsdecode(b"odd\xff")
    (folder / odd).write_bytes((folder / "ends").read_bytes())
    done = subprocess.run([BARECPC, "stat", f"./{odd}", "3"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    tap.equal("a name that is no UTF-8 runs", done.returncode, 3)


def main():
    for name in [name for name in os.environ if name.startswith("BARECPC_")]:
        del os.environ[name]
    os.environ["BARECPC_BUILD"] = "no"
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        os.chdir(name)
        files(pathlib.Path(name))
        for words, line in MISTAKES:
            tap.check(f"barecpc {' '.join(words)}", wrong_with(words, line, *typed(words)))
        os.chdir(ROOT)
        booted(pathlib.Path(name))
        last_lines(pathlib.Path(name))
        pieces(pathlib.Path(name))
    tap.check("eighty mistakes", [] if len(MISTAKES) >= 80 else [str(len(MISTAKES))])
    tap.end()


if __name__ == "__main__":
    main()
