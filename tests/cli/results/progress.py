#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""At a terminal, a run has one progress line on standard error.  A time-out names the program and its place.

The line and colours never reach a pipe.  A real guest proves that the host finds the kernel's state, and in a campaign one of
each architecture.  A fake emulator plays guests that hang.
"""
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import tempfile

from host.console import progress
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]

ERASE, RED, PLAIN = "\r\x1b[K", "\x1b[31m", "\x1b[0m"
LINE = "\r\x1b[K{}: {} of {} runs, {:.3f} s in the guest, "


def at_terminal(words, **variables):
    """The status of a command, and all that it writes to a terminal."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ.update({"TERM": "xterm", **variables})
        os.execv(words[0], [str(word) for word in words])
    text = b""
    while True:
        try:
            data = os.read(master, 1 << 16)
        except OSError:  # EIO: the other side is closed
            break
        if not data:
            break
        text += data
    os.close(master)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode(errors="replace").replace("\r\n", "\n")


def memory(name, started, now, done, total):
    """The monitor's answer that shows this state."""
    words = [progress.MAGIC, started, now, done, total]
    words += struct.unpack(f"<{progress.NAME_BYTES // 8}Q", name.encode().ljust(progress.NAME_BYTES, b"\0"))
    return "".join(f"0000000040201000: 0x{word:016x}\r\n" for word in words)


def fake(scene, *options, **variables):
    """The command of a run with the fake emulator, and its variables."""
    return ([ROOT / "scripts" / "barecpc", "run", "--arch", "arm64", "--accel", "tcg", "--image", folder / "image", "--qemu",
             ROOT / "tests" / "cli" / "lib" / "fake-qemu", *options],
            {"FAKE": scene, "FAKE_MEMORY": memory("triad", 10**9, 3 * 10**9, 7, 40), **variables})


def in_pipe(words, **variables):
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def the_line():
    follow = progress.Progress(lambda: 0, False, 1, "loops")
    follow.take(memory("stat", 1, 2, 3, 4))
    equal("a program is named in place of its tool", follow.state.name, "loops")
    words, variables = fake("seen")
    _, text = at_terminal(words, **variables)
    shown = LINE.format("triad", 7, 40, 2)
    check("the line has the program, the runs and the guest's time", [] if shown in text else [repr(text)])
    check("it does not cut a program's line in two", [] if "half a line, the rest\n" in text else [repr(text)])
    check("it is gone at the end", [] if text.endswith(f"{ERASE}barecpc: exit 0\n") else [repr(text[-200:])])
    for name, extra in (("--quiet", ["--quiet"]), ("TERM=dumb", [])):
        words, variables = fake("seen", *extra, **({} if extra else {"TERM": "dumb"}))
        _, text = at_terminal(words, **variables)
        check(f"{name}: no line and no control characters", [repr(text)] if "\r" in text or "\x1b" in text else [])
    _, out, err = in_pipe(*fake("seen")[:1], **fake("seen")[1])
    equal("in a pipe: no line", (out, err.split("\n", 1)[1]), ("half a line, the rest\n", "barecpc: fake\nbarecpc: exit 0\n"))


def colours():
    words, variables = fake("off")
    _, text = at_terminal(words, **variables)
    wrong = "host: the guest was powered off before its closing line; the last line was: barecpc: fake"
    check("what is wrong is red", [] if text.endswith(f"{RED}{wrong}{PLAIN}\n") and text.count(RED) == 1 else [repr(text)])
    for variable, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        _, text = at_terminal(words, **variables, **{variable: value})
        check(f"{variable}={value}: no colour", [] if text.endswith(f"{wrong}\n") and RED not in text else [repr(text)])
    _, text = at_terminal(words, **variables, NO_COLOR="")
    check("an empty NO_COLOR means nothing", [] if RED in text else [repr(text)])
    _, out, err = in_pipe(words, **variables)
    check("in a pipe: no colour", [repr(err)] if "\x1b" in out + err else [])


def time_outs():
    image = progress.symbols.read(ROOT / "build" / "arm64" / "kernel.elf")
    pc = image.global_symbol("gethrtime") + 4
    words, variables = fake("hung", "--timeout", "4", FAKE_PC=hex(pc))
    status, _, err = in_pipe(words, **variables)
    check("a time-out names the program, its time, its runs and the kernel's function", [] if status == 124 and re.search(
        rf"^host: timed out after 4 s: triad, at least [234] s after its start, 7 of 40 runs; PC {pc:#x} \(gethrtime\+0x4\); ", err, re.M)
        else [err])
    prog = folder / "triad"
    # Hand-assembled by the compiler's driver: two functions of known addresses.
    source = folder / "a.s"
    source.write_text(".globl _start\n.type _start, %function\n_start: nop\n nop\n.globl waits\n.type waits, %function\nwaits: nop\n b waits\n")
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-nostdlib", "-Wl,-Ttext=0x400000", "-o", prog, source], check=True)
    words, variables = fake("hung", "--timeout", "2", "--payload", str(prog), FAKE_PC="0x40000c")
    _, _, err = in_pipe(words, **variables)
    check("and the program's function", [] if "; PC 0x40000c (waits+0x4); " in err else [err])
    words, variables = fake("hung", "--timeout", "2", FAKE_MEMORY=memory("triad", 0, 0, 0, 0).replace("7373", "0000"))
    _, _, err = in_pipe(words, **variables)
    check("memory that is not the kernel's state is not believed", [] if "timed out after 2 s; PC 0x80; " in err else [err])


def real_guests():
    for arch in ("arm64", "x86_64")[:2 if os.environ.get("BARECPC_CAMPAIGN") == "yes" else 1]:
        status, text = at_terminal([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--accel", "tcg", "--timeout", "0", "--",
                                    "triad", "-r", "10", "1m"])
        shown = [(int(done), int(total)) for done, total in re.findall(r"\r\x1b\[Ktriad: (\d+) of (\d+) runs, \d\.\d{3} s in the guest", text)]
        # Two events, each with empty runs and runs of the work, and one more to warm up.
        check(f"{arch}: the line shows the runs of triad", [] if status == 0 and shown and shown == sorted(shown) and
              {total for _, total in shown} == {2 * 2 * 11} else [f"status {status}", repr(text[-600:])])


with tempfile.TemporaryDirectory() as at:
    folder = pathlib.Path(at)
    (folder / "image").write_bytes(b"MZ")
    shutil.copy(ROOT / "build" / "arm64" / "kernel.elf", folder / "kernel.elf")
    for part in (the_line, colours, time_outs, real_guests):
        part()
end()
