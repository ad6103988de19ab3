"""Runs a guest to its end, whatever it does, and judges how it ended."""

import ctypes
import dataclasses
import os
import selectors
import signal
import subprocess
import time

STATUS_NOTHING_COUNTED = 77
STATUS_TIMEOUT = 124
STATUS_FAILED = 125

QEMU_PASS, QEMU_FAIL = 33, 35  # what arch_halt(HALT_PASS) and (HALT_FAIL) make of QEMU's status
LINGER_SECONDS = 10  # from the closing line to QEMU's end
PR_SET_PDEATHSIG = 1


@dataclasses.dataclass
class Ending:
    """How QEMU ended: its status, or None and the reason it was stopped."""

    code: int | None
    stopped: str = ""  # "", "timeout", "silent", "lingers", "kvm", "flood"
    complaint: str = ""  # QEMU's own last line, of those it puts its name before if there are any


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(command, console, complain, timeout, silence):
    """Run QEMU, feed its output to console and its complaints, a line each, to complain().

    Ends it after `timeout` seconds, after `silence` seconds without a first byte, and as soon as
    KVM gives up (which otherwise leaves QEMU paused for ever) or the log has no end.
    Neither limit holds when it is None.
    """
    ending = Ending(None)
    qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, preexec_fn=_die_with_parent)
    try:
        ending.stopped = _listen(qemu, console, ending, complain, timeout, silence)
        if not ending.stopped:
            ending.code = qemu.wait(timeout=LINGER_SECONDS)
    finally:
        if qemu.poll() is None:
            qemu.kill()
            qemu.wait()
        qemu.stdout.close()
        qemu.stderr.close()
    console.close()
    return ending


def _listen(qemu, console, ending, complain, timeout, silence):
    """Until both pipes are closed, or there is a reason to stop: that reason."""
    start = time.monotonic()
    end = start + timeout if timeout else None
    first = start + silence if silence else None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(qemu.stdout, selectors.EVENT_READ)
        selector.register(qemu.stderr, selectors.EVENT_READ)
        while selector.get_map():
            now = time.monotonic()
            for limit, why in ((first, "silent"), (end, "timeout")):
                if limit is not None and now >= limit:
                    return "lingers" if console.exit is not None else why
            nearest = min((t for t in (end, first) if t is not None), default=None)
            for key, _ in selector.select(None if nearest is None else nearest - now):
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is qemu.stdout:
                    first = None
                    before = console.exit
                    console.feed(data)
                    if before is None and console.exit is not None:
                        linger = time.monotonic() + LINGER_SECONDS
                        end = linger if end is None else min(end, linger)
                else:
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        said = line.decode(errors="replace").strip()
                        complain(said)
                        gave_up = "KVM internal error" in said
                        if said and (gave_up or said.startswith("qemu") or not ending.complaint.startswith("qemu")):
                            ending.complaint = said
                        if gave_up:
                            return "kvm"
            if console.flooded:
                return "flood"
    return ""


def judge(ending, console, timeout, silence):
    """The status of the run, and the line that explains it where one is needed."""
    last = f"; the last line was: {console.last_line}" if console.last_line else ""
    if ending.stopped == "timeout":
        return STATUS_TIMEOUT, f"timed out after {timeout:g} s{last}"
    if ending.stopped == "silent":
        return STATUS_FAILED, f"the guest is silent: nothing on the console for {silence:g} s"
    if ending.stopped == "kvm":
        return STATUS_FAILED, f"KVM cannot run this guest ({ending.complaint}); try --accel tcg"
    if console.fault:
        return STATUS_FAILED, f"the console is not to be trusted: {console.fault}"
    if ending.stopped == "lingers":
        return STATUS_FAILED, f"the guest closed with exit {console.exit} but does not power off"
    if ending.code < 0:
        return STATUS_FAILED, f"QEMU was killed by {signal.Signals(-ending.code).name}{last}"
    if console.exit is None:
        if ending.code == 0:
            return STATUS_FAILED, f"the guest was reset or powered off before its closing line{last}"
        if ending.code in (QEMU_PASS, QEMU_FAIL):
            return STATUS_FAILED, f"the guest stopped (QEMU status {ending.code}) before its closing line{last}"
        return STATUS_FAILED, f"QEMU failed (status {ending.code}): {ending.complaint or 'it said nothing'}"
    if ending.code != (QEMU_PASS if console.exit == 0 else QEMU_FAIL):
        return STATUS_FAILED, f"the guest closed with exit {console.exit}, but QEMU's status is {ending.code}"
    if not 0 <= console.exit <= 255:
        return STATUS_FAILED, f"the guest closed with exit {console.exit}"
    if console.exit == STATUS_NOTHING_COUNTED:
        return STATUS_NOTHING_COUNTED, "ran, but counted nothing (status 77)"
    return console.exit, ""
