"""Parses the console of a run.

The kernel sends everything through one serial line.  Records, the status of the run, and under output=framed the
output of payloads arrive in frames,

    BARECPC-BEGIN <stream> <number> <length> <crc>
    <length bytes>
    BARECPC-END

The stream is stdout, stderr, json, file or exit.  The number counts the frames from 1.  The CRC-32, in hexadecimal, is that
of the text "<stream> <number> <length>" and the bytes.  In the bytes BARECPC- is sent as BARECPC>-, so every BARECPC- on
the line belongs to the kernel.  Everything else is the log of firmware and kernel.

The exit frame has the status.  The closing line `barecpc: exit N`, for people, comes after it.

The line may be a real one that loses and changes bytes.  A frame that does not agree with its CRC is lost, and so is
one whose number is missing.  All others are delivered.
"""

import re
import zlib

MARK = b"BARECPC-"
BEGIN = re.compile(rb"BARECPC-BEGIN ((stdout|stderr|json|file|exit) (\d{1,10}) (\d{1,9})) ([0-9a-f]{8})\r*\n\Z")
END = MARK + b"END"
HIDDEN = re.compile(rb"BARECPC>(>*)-")
CLOSING = re.compile(r"barecpc: exit (\d{1,4})\Z")
# Firmware positions the cursor and sets colours.
CONTROL = re.compile(r"\x1b\[[0-9;=?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")

FAILED = 125  # needs no proof: it is the status of every run without one, and a panic sends no frame
MAX_FRAME_BYTES = 16 << 20
MAX_BEGIN_BYTES = 128
MAX_LINE_BYTES = 64 << 10
MAX_LOG_BYTES = 16 << 20
MAX_QUOTED = 200  # characters of the last line, in a message: it may be a part of a record
MAX_RANGES = 8  # of lost frames in one message


class Frame:
    """The first line of a frame."""

    def __init__(self, match):
        self.text = match[1]
        self.stream = match[2].decode()
        self.number, self.length, self.crc = int(match[3]), int(match[4]), int(match[5], 16)

    def __str__(self):
        return f"frame {self.number} ({self.stream}, {self.length} bytes)"

    def data(self, body):
        """The frame's bytes, from the text before its end mark, or None if they do not agree with the CRC.

        A terminal program may have made CR LF of each newline.  The CRC says whether undoing that is right.
        """
        for end in (b"\n", b"\r\n", b"\r\r\n", b""):
            if body.endswith(end):
                plain = body[:len(body) - len(end)]
                for text in (plain, plain.replace(b"\r\n", b"\n")):
                    data = HIDDEN.sub(rb"BARECPC\1-", text)
                    if len(data) == self.length and zlib.crc32(data, zlib.crc32(self.text)) == self.crc:
                        return data
        return None


def ranges(numbers):
    """A list of pairs of a first and a last number, as text."""
    words = [f"{first}" if first == last else f"{first} to {last}" for first, last in numbers[:MAX_RANGES]]
    return ", ".join(words + (["..."] if len(numbers) > MAX_RANGES else []))


class Console:
    """Feed it bytes.  It calls stream(name, data) for each frame, log(line) for every other line, and damage(line) for
    each place where the text is damaged.

    With `stop_at_end` the text after the closing line is not read.  `exit` becomes the status in the exit frame,
    `closing` that of the closing line, which proves nothing.  If `flooded` is set, end the guest at once.
    """

    def __init__(self, stream, log, damage=lambda line: None):
        self._stream = stream
        self._log = log
        self._damage = damage
        self._bytes = bytearray()
        self._searched = 0  # how many of these contain no mark
        self._frame = None  # the frame being received
        self._log_bytes = 0
        self._seen = {}  # the CRC of each frame that arrived, by its number
        self._last = 0  # number of the last frame that arrived
        self._lost = []  # first and last numbers of frames that did not arrive
        self._total = 0  # frames of the run, when the last one has arrived
        self._fault = None
        self.stop_at_end = False
        self.exit = None
        self.closing = None
        self.flooded = False
        self.last_line = ""

    def feed(self, data):
        self._bytes += data
        while not (self.stop_at_end and self.ended) and (self._take_frame() if self._frame else self._take_line()):
            pass

    def close(self):
        """End of the text: log the bytes that are left as they are."""
        if self.stop_at_end and self.ended:
            self._bytes.clear()
        if self._frame:
            self._fail(f"the console ended inside {self._frame}")
            self._drop_frame(len(self._bytes))
        for line in bytes(self._bytes).split(b"\n"):
            self._log_line(line)
        self._bytes.clear()

    @property
    def fault(self):
        """The first error in the text, and the frames that are lost; None if there are none."""
        words = [self._fault] if self._fault else []
        if self._lost:
            count = sum(last - first + 1 for first, last in self._lost)
            total = f" of {self._total}" if self._total else ""
            words.append(f"lost frames: {count}{total} ({ranges(self._lost)})")
        return "; ".join(words) or None

    def begins_late(self):
        """The first frame's number, if the text begins after frame 1, or 0.  The frames before it no longer count as lost."""
        if self._lost and self._lost[0][0] == 1:
            return self._lost.pop(0)[1] + 1
        return 0

    @property
    def ended(self):
        """Whether the last line of the run has arrived."""
        return self.exit is not None and self.closing is not None

    def _fail(self, why):
        self._fault = self._fault or why

    def _take(self, length):
        data = bytes(self._bytes[:length])
        del self._bytes[:length]
        self._searched = 0
        return data

    def _take_line(self):
        """Take a line of the log, or the first line of a frame, which another line may precede without a newline."""
        end = self._bytes.find(b"\n") + 1
        mark = self._bytes.find(MARK, 0, end or len(self._bytes))
        if mark == 0:
            end = end or (MAX_BEGIN_BYTES if len(self._bytes) >= MAX_BEGIN_BYTES else 0)
            second = self._bytes.find(MARK, len(MARK), end or len(self._bytes))
            end = second if second > 0 else end
            if end == 0:
                return False
            self._begin(self._take(end))
        elif mark > 0:
            self._log_line(self._take(mark))
        elif end > 0 or len(self._bytes) >= MAX_LINE_BYTES:
            self._log_line(self._take(end or MAX_LINE_BYTES - len(MARK) + 1))
        else:
            return False
        return True

    def _begin(self, line):
        match = BEGIN.match(line)
        if match and int(match[4]) <= MAX_FRAME_BYTES:
            self._frame = Frame(match)
            return
        # The rest of a frame whose first line is lost, or a first line that is damaged.
        self._damage("a frame is damaged at: " + CONTROL.sub("", line[:80].decode(errors="replace")).rstrip())
        self._log_line(line, ours=False)

    def _take_frame(self):
        """Take a frame, when the next mark has arrived or its bytes are too many."""
        mark = self._bytes.find(MARK, max(0, self._searched - len(MARK)))
        if mark < 0:
            self._searched = len(self._bytes)
            # A > for eight bytes at most, and the newline.  The line after them may be a panic's.
            most = self._frame.length * 9 // 8 + MAX_BEGIN_BYTES
            mark = self._bytes.find(b"\n", most) + 1
            if mark == 0 and len(self._bytes) < most + MAX_LINE_BYTES:
                return False
            mark = mark or most
        elif len(self._bytes) < mark + len(END):
            return False
        frame = self._frame
        ends = self._bytes[mark:mark + len(END)] == END
        data = frame.data(bytes(self._bytes[:mark])) if ends else None
        if data is None:
            self._damage(f"{frame} arrived damaged" if ends else f"{frame} has no end")
            self._drop_frame(mark)
            if ends:
                self._take(len(END))
        else:
            self._take(mark + len(END))
            self._frame = None
            self._arrived(frame, data)
        return True

    def _drop_frame(self, length):
        """Read the bytes of a damaged frame as lines: there may be a panic among them."""
        self._frame = None
        for line in self._take(length).split(b"\n"):
            self._log_line(line, ours=False)

    def _arrived(self, frame, data):
        if self._seen.get(frame.number) == frame.crc:
            self._damage(f"{frame} came twice")
            return
        if self.exit is not None:
            self._fail(f"{frame} came after the end of the run")
            return
        if frame.number <= self._last and any(first <= frame.number <= last for first, last in self._lost):
            self._damage(f"{frame} came late, and is left out")  # bytes that came twice have its only whole copy
            return
        if frame.number <= self._last:
            self._fail(f"frame {frame.number} came after frame {self._last}: the machine started again")
            self._seen.clear()
            self._last = 0
        if frame.number > self._last + 1:
            self._lost.append((self._last + 1, frame.number - 1))
            self._damage(f"lost frames: {ranges(self._lost[-1:])}, before {frame}")
        self._seen[frame.number], self._last = frame.crc, frame.number
        if frame.stream != "exit":
            self._stream(frame.stream, data)
        elif re.fullmatch(rb"\d{1,4}", data):
            self.exit, self._total = int(data), frame.number
        else:
            self._fail(f"{frame} has no status")

    def _log_line(self, line, ours=True):
        """Log a line.  Only a line that is ours can be the closing line."""
        self._log_bytes += len(line)
        if self._log_bytes > MAX_LOG_BYTES:
            if not self.flooded:
                self._fail(f"the guest is looping: {MAX_LOG_BYTES >> 20} MiB of log")
            self.flooded = True
            return
        text = CONTROL.sub("", line.decode(errors="replace")).rstrip()
        match = CLOSING.match(text)
        if match and ours:
            self.closing = int(match[1])
            if self.closing == FAILED and self.exit is None:
                self.exit = FAILED
        if text:
            self.last_line = text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."
            self._log(text)
