"""Runs a guest until it ends or must be stopped, and judges how it ended."""

import ctypes
import os
import selectors
import signal
import subprocess
import time

from host import terminal
from host.emulator.monitor import Monitor

STATUS_NOTHING_COUNTED = 77
STATUS_TIMEOUT = 124
STATUS_FAILED = 125

# How arch_halt() ends a run: QEMU's status and the reason of its SHUTDOWN event.  With isa-debug-exit, old QEMUs end
# without the event, and in new ones the reset that arch_halt() asks for next may come before the end.
PASSED = {(33, ""), (33, "guest-shutdown"), (0, "guest-shutdown")}
FAILED = {(35, ""), (35, "guest-shutdown"), (35, "guest-reset"), (0, "guest-reset")}
POWERED_OFF = FAILED - {(0, "guest-reset")} | {(0, "guest-shutdown")}
HOW = {(0, "guest-shutdown"): "was powered off", (0, "guest-reset"): "was reset"}
LINGER_SECONDS = 10  # how long a guest may stand still between its closing line and QEMU's end
GATHER_SECONDS = 0.005  # QEMU writes each character by itself: to wake up for each costs more than QEMU
# QEMU's threads share a heap that grows in large steps: 5 to 10 % of a short run.  glibc manual, "Memory Allocation Tunables".
HEAP = {"GLIBC_TUNABLES": f"glibc.malloc.arena_max=1:glibc.malloc.top_pad={8 << 20}:glibc.malloc.trim_threshold={256 << 20}"}
ANSWER_SECONDS = 5  # how long to wait for the PCs of a stopped guest
PR_SET_PDEATHSIG = 1
CTRL_C = b"\x03"
PASSED_ON = b"\nhost: interrupted: ends with the counts so far; Ctrl-C again: ends now, and loses all counts\n"
# QEMU may print this for a CPU that PSCI has switched off, before it ends.
OFF_WARNING = "warning: icount sleep disabled and no active timers"


class Ending:
    """How QEMU ended: by itself, with code and reason, or stopped by us."""

    def __init__(self, code=None, reason=""):
        self.code, self.reason = code, reason  # of QEMU's SHUTDOWN event
        self.stopped = ""  # "", "timeout", "silent", "lingers", "kvm", "flood"
        self.where = []  # the PCs of a guest that was stopped
        self.interrupted = False  # Ctrl-C was passed on to the guest
        self.complaint = ""  # QEMU's last message; one that begins with QEMU's name is preferred


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _interrupt_for(qemu, ending, second):
    """The handler of Ctrl-C: the guest's console gets it, and the tool ends with its counts.  `second` handles the next."""
    def take(number, _):
        signal.signal(number, second)
        ending.interrupted = True
        try:
            os.write(2, PASSED_ON)  # the signal may have come within a print()
            os.write(qemu.stdin.fileno(), CTRL_C)
        except OSError:
            pass  # QEMU has ended
    return take


def _block_interrupt():
    """A terminal sends Ctrl-C to QEMU, too."""
    _die_with_parent()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])


def run(command, console, complain, timeout, silence, progress, hold=False, passes_interrupt=False):
    """Run QEMU.  Feed its output to console, and each line of its messages to complain().

    QEMU is stopped in four cases: after `timeout` seconds; if KVM gives up, because QEMU would stay paused for ever; if
    the log is too long; if the guest stands still for `silence` seconds before its first byte.  None means no limit.
    `progress` follows what runs.  With `hold` a debugger starts the guest.  With `passes_interrupt` the guest gets Ctrl-C.
    """
    ending = Ending(None)
    monitor = Monitor(hold)
    qemu = subprocess.Popen(command + monitor.options(), stdin=subprocess.PIPE if passes_interrupt else subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[monitor.qemu_fd()], env=HEAP | os.environ,
                            preexec_fn=_block_interrupt if passes_interrupt else _die_with_parent)
    before = signal.getsignal(signal.SIGINT)
    if passes_interrupt and before != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt_for(qemu, ending, before))
    try:
        monitor.started()
        ending.stopped = _listen(qemu, monitor, console, ending, complain, timeout, silence, progress)
        if ending.stopped in ("timeout", "silent", "lingers"):
            ending.where = monitor.where(ANSWER_SECONDS)
            progress.look(monitor, ANSWER_SECONDS)
        elif not ending.stopped:
            ending.code, ending.reason = qemu.wait(timeout=LINGER_SECONDS), monitor.shutdown
    except subprocess.TimeoutExpired:
        ending.stopped = "lingers"
    finally:
        terminal.erase()
        if qemu.poll() is None:
            qemu.kill()
            qemu.wait()
        if passes_interrupt:
            signal.signal(signal.SIGINT, before)
            qemu.stdin.close()
        qemu.stdout.close()
        qemu.stderr.close()
        monitor.close()
    console.close()
    return ending


class Watch:
    """Finds out whether a guest that prints nothing advances.

    The guest's registers are compared every half of `seconds`, from one answer of QEMU to the next.  On a busy host
    QEMU answers late, so a guest that gets no CPU time is not taken for one that stands still.
    """

    def __init__(self, monitor, seconds):
        self._monitor = monitor
        self._pause = seconds / 2
        self._before = None
        self.due = time.monotonic() + self._pause  # when to ask next, or None while waiting for an answer

    def ask(self):
        self._monitor.ask_registers()
        self.due = None

    def stands_still(self):
        """Whether an answer has arrived and equals the one before."""
        answer = self._monitor.registers
        if self.due is not None or answer is None:
            return False
        same = answer == self._before
        self._before, self.due = answer, time.monotonic() + self._pause
        return same


def _listen(qemu, monitor, console, ending, complain, timeout, silence, progress):
    """Read QEMU's output until it ends.  Returns the reason to stop QEMU, or "" if it closed its pipes."""
    end = time.monotonic() + timeout if timeout else None
    watch = Watch(monitor, silence) if silence else None
    rest = b""
    with selectors.DefaultSelector() as selector:
        for source in (qemu.stdout, qemu.stderr, monitor):
            selector.register(source, selectors.EVENT_READ)
        while selector.get_map():
            now = time.monotonic()
            if end is not None and now >= end:
                return "lingers" if console.exit is not None else "timeout"
            if watch and watch.due is not None and now >= watch.due:
                watch.ask()
            if progress.due is not None and now >= progress.due:
                progress.ask(monitor)
            nearest = min((t for t in (end, watch.due if watch else None, progress.due) if t is not None), default=None)
            ready = selector.select(None if nearest is None else max(0, nearest - now))
            # The console first: the closing line comes before QEMU's messages about the end.
            for key, _ in sorted(ready, key=lambda event: event[0].fileobj is not qemu.stdout):
                if key.fileobj is monitor:
                    if not monitor.receive():
                        selector.unregister(monitor)
                    if monitor.memory is not None:
                        progress.take(monitor.memory)
                        monitor.memory = None
                    continue
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is qemu.stdout:
                    before = console.exit
                    console.feed(data)
                    if console.exit is not None:
                        progress.due = None
                    if console.exit is None:
                        watch = None
                        time.sleep(GATHER_SECONDS)
                    elif before is None:
                        watch = Watch(monitor, LINGER_SECONDS)
                else:
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        said = line.decode(errors="replace").strip()
                        if console.exit is not None and OFF_WARNING in said:
                            continue
                        complain(said)
                        gave_up = "KVM internal error" in said
                        if said and (gave_up or said.startswith("qemu") or not ending.complaint.startswith("qemu")):
                            ending.complaint = said
                        if gave_up:
                            return "kvm"
            if console.flooded:
                return "flood"
            if watch and watch.stands_still():
                return "lingers" if console.exit is not None else "silent"
    return ""


def judge_exit(status):
    """The status of a run that ended with this status, and the line that explains it, or ""."""
    if not 0 <= status <= 255:
        return STATUS_FAILED, f"the guest closed with exit {status}"
    if status == STATUS_NOTHING_COUNTED:
        return STATUS_NOTHING_COUNTED, "ran, but counted nothing (status 77)"
    return status, ""


def judge(ending, console, timeout, silence, progress, named, powers_off):
    """The status of the run, and the line that explains it, or "".  named() gives the text of a PC.

    With `powers_off` a run that failed is not reset.
    """
    last = f"; the last line was: {console.last_line}" if console.last_line else ""
    where = f"; PC {', '.join(map(named, ending.where))}" if ending.where else ""
    if ending.stopped == "timeout":
        return STATUS_TIMEOUT, f"timed out after {timeout:g} s{progress.where()}{where}{last or '; nothing on the console'}"
    if ending.stopped == "silent":
        return STATUS_FAILED, f"the guest is silent: it stands still for {silence:g} s, nothing on the console{where}"
    if ending.stopped == "kvm":
        return STATUS_FAILED, f"KVM cannot run this guest ({ending.complaint}); try --accel tcg"
    if console.fault:
        return STATUS_FAILED, f"the console's text is damaged: {console.fault}"
    if ending.stopped == "lingers":
        return STATUS_FAILED, f"the guest closed with exit {console.exit} but does not power off{where}"
    if ending.code < 0:
        return STATUS_FAILED, f"QEMU was killed by {signal.Signals(-ending.code).name}{last}"
    end = ending.code, ending.reason
    how = HOW.get(end, f"stopped (QEMU status {ending.code})")
    if console.exit is None:
        if end in PASSED | FAILED:
            return STATUS_FAILED, f"the guest {how} before its closing line{last}"
        return STATUS_FAILED, f"QEMU failed (status {ending.code}): {ending.complaint or 'it printed no message'}"
    if end not in (PASSED if console.exit == 0 else POWERED_OFF if powers_off else FAILED):
        return STATUS_FAILED, f"the guest closed with exit {console.exit}, but {how}"
    return judge_exit(console.exit)
