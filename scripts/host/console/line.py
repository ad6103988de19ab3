"""Reads the console of a run that something else started: from a serial line, a TCP connection or a file."""

import contextlib
import errno
import fcntl
import os
import re
import select
import socket
import stat
import sys
import time

try:
    import termios
except ImportError:  # Debian's python3-minimal has none: `barecpc probe` runs there (tests/kvm/probe)
    termios = None

from host.console import clouds
from host.emulator import guest
from host.emulator.qemu import HostError
from host.terminal import say

CONNECT_SECONDS = 10
CLOSING_SECONDS = 2  # how long to wait for the closing line after the exit frame, and for bytes after the closing line
RATE_BYTES = 400  # enough to see that a line has a wrong rate
STRANGE = re.compile("[\ufffd\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")  # in no text and no escape sequence
TCP = re.compile(r"tcp:(?:\[([^]]+)\]|([^:]*)):(\d{1,5})\Z")


@contextlib.contextmanager
def opened(source, baud):
    """A file descriptor of the source: -, tcp:HOST:PORT, or a file's name.  A terminal gets this baud rate for a while."""
    tcp = TCP.match(source)
    if source == "-":
        if sys.stdin is None:
            raise HostError("standard input: closed: name a file or a device")
        yield sys.stdin.fileno()
    elif tcp:
        host = tcp[1] or tcp[2] or "localhost"
        try:
            connection = socket.create_connection((host, int(tcp[3])), CONNECT_SECONDS)
        except (OSError, OverflowError) as error:
            raise HostError(f"{source}: {getattr(error, 'strerror', None) or error}") from None
        with connection:
            connection.setblocking(False)
            yield connection.fileno()
    elif source.startswith("tcp:"):
        raise HostError(f"{source}: not of the form tcp:HOST:PORT")
    else:
        mode = os.stat(source).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), source)
        # Without O_NONBLOCK the open of a serial line waits for the modem's signal.  A FIFO must wait for its writer.
        fd = os.open(source, os.O_RDONLY | os.O_NOCTTY | (0 if stat.S_ISFIFO(mode) else os.O_NONBLOCK))
        try:
            if os.isatty(fd):
                with _raw(fd, source, baud):
                    yield fd
            else:
                yield fd
        finally:
            os.close(fd)


@contextlib.contextmanager
def _raw(fd, name, baud):
    """The terminal sends 8 bits without parity, changes no byte, and is restored at the end."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise HostError(f"{name}: another program reads this line: end it first") from None
    try:
        before = termios.tcgetattr(fd)
    except termios.error as error:
        raise HostError(f"{name}: {error.args[-1]}") from None
    speed = getattr(termios, f"B{baud}")
    flags = termios.CS8 | termios.CREAD | termios.CLOCAL
    characters = list(before[6])
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    try:
        # tcsetattr(3): input, output, control and local modes, then the two rates.
        try:
            termios.tcsetattr(fd, termios.TCSANOW, [0, 0, flags, 0, speed, speed, characters])
        except termios.error as error:
            raise HostError(f"{name}: --baud {baud}: {error.args[-1]}") from None
        yield
    finally:
        with contextlib.suppress(termios.error):  # the adapter is unplugged
            termios.tcsetattr(fd, termios.TCSANOW, before)


def is_rate(baud):
    """Whether terminals have this rate."""
    return baud > 0 and hasattr(termios, f"B{baud}")


def is_text(data):
    """Whether most of these bytes are text, as at the right rate of a line."""
    text = data.decode(errors="replace")
    return 2 * len(STRANGE.findall(text)) <= len(text)


def listen(fd, console, timeout, silence):
    """Feed the console until the run ends.

    Returns why it ended: "closed" at the closing line of a live run, "cut" at the end of the text, "flood", "timeout" after `timeout`
    seconds, or "silent" if nothing came for `silence` seconds.  0 means no limit.
    """
    # A file is read whole, so that a second run in it is found.  After a live run the next one may start.
    mode = os.fstat(fd).st_mode
    console.stop_at_end = not stat.S_ISREG(mode)
    wrapped = clouds.Wrapped() if stat.S_ISREG(mode) or stat.S_ISFIFO(mode) else None
    start = heard = time.monotonic()
    first = b"" if os.isatty(fd) else None  # bytes that show the rate, until they are enough
    why = ""
    while not why:
        closing = console.stop_at_end and (console.exit is not None or console.closing is not None)
        ends = {"timeout": start + timeout if timeout else None, "silent": heard + silence if silence else None,
                "closed": heard + CLOSING_SECONDS if closing else None}
        name, end = min(((n, t) for n, t in ends.items() if t is not None), key=lambda pair: pair[1], default=("", None))
        now = time.monotonic()
        if end is not None and now >= end:
            why = name
        elif select.select([fd], [], [], None if end is None else end - now)[0]:
            data = _read(fd)
            if data is None:
                continue
            console.feed(wrapped.take(data) if wrapped else data)
            if first is not None:
                first += data
                if len(first) >= RATE_BYTES:
                    if not is_text(first):
                        say("host: what comes is not text: end this, and give the board's rate by --baud")
                    first = None
            heard = time.monotonic()
            if not data:
                why = "cut"
            elif console.flooded:
                why = "flood"
            elif console.ended and console.stop_at_end:
                why = "closed"
    if wrapped:
        console.feed(wrapped.take(b""))  # what it holds back
    console.close()
    return why


def _read(fd):
    """Bytes; b"" at the end; None if there are none yet."""
    try:
        return os.read(fd, 1 << 16)
    except BlockingIOError:
        return None
    except OSError as error:
        # The adapter is unplugged, the other side of a pseudo-terminal is closed, or the connection is broken.
        if error.errno in (errno.EIO, errno.ENXIO, errno.ENODEV, errno.ECONNRESET, errno.ETIMEDOUT):
            return b""
        raise


def judge(why, console, source, timeout, silence):
    """The status of the run, and the line that explains it, or ""."""
    last = f"; the last line was: {console.last_line}" if console.last_line else "; nothing came"
    if why == "timeout":
        return guest.STATUS_TIMEOUT, f"timed out after {timeout:g} s{last}"
    if why == "silent":
        return guest.STATUS_FAILED, f"{source}: nothing came for {silence:g} s{last}"
    damage = f": the console's text is damaged: {console.fault}" if console.fault else ""
    if console.exit is None:
        if console.closing is not None:
            return guest.STATUS_FAILED, (f"{source}: the frame with the status is lost: the closing line says exit "
                                         f"{console.closing}, without proof{damage}")
        return guest.STATUS_FAILED, f"{source}: the text ends before the closing line{damage}{last}"
    if damage:
        return guest.STATUS_FAILED, f"{source}{damage}"
    return guest.judge_exit(console.exit)
