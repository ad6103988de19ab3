"""Parses the console of a run.

The kernel sends everything through one serial line.  Under output=framed
the output and the records of payloads arrive in frames,

    BARECPC-BEGIN <stream> <length> <crc>
    <length bytes>
    BARECPC-END

each starting a line; <stream> is stdout, stderr or json, <crc> the CRC-32 of
the bytes in hexadecimal.  Everything else is the log of firmware and kernel.  The
last line is `barecpc: exit N`.
"""

import re
import zlib

FRAME = re.compile(rb"BARECPC-BEGIN (stdout|stderr|json) (\d{1,9}) ([0-9a-f]{8})\r?\n\Z")
END = b"\nBARECPC-END\n"
CLOSING = re.compile(r"barecpc: exit (\d+)\Z")
# Firmware positions the cursor and sets colours.
CONTROL = re.compile(r"\x1b\[[0-9;=?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")

MAX_FRAME_BYTES = 16 << 20
MAX_LINE_BYTES = 64 << 10
MAX_LOG_BYTES = 16 << 20


class Console:
    """Feed it bytes.  It calls stream(name, data) for each frame, and log(line) for every other line.

    `exit` becomes the status of the closing line, `fault` the first error in the text.  If `flooded` is set, end the
    guest at once.
    """

    def __init__(self, stream, log):
        self._stream = stream
        self._log = log
        self._bytes = bytearray()
        self._frame = None  # (stream, length, crc) of the frame being received
        self._log_bytes = 0
        self.exit = None
        self.fault = None
        self.flooded = False
        self.last_line = ""

    def feed(self, data):
        self._bytes += data
        while self._take_frame() if self._frame else self._take_line():
            pass

    def close(self):
        """End of the text: log the bytes that are left as they are."""
        if self._frame:
            stream, length, _ = self._frame
            self._fail(f"the console ended inside a {stream} frame of {length} bytes")
            self._frame = None
        for line in bytes(self._bytes).split(b"\n"):
            if line:
                self._log_line(line)
        self._bytes.clear()

    def _fail(self, why):
        self.fault = self.fault or why

    def _take_line(self):
        end = self._bytes.find(b"\n") + 1
        if end == 0:
            if len(self._bytes) < MAX_LINE_BYTES:
                return False
            end = MAX_LINE_BYTES
        line = bytes(self._bytes[:end])
        del self._bytes[:end]
        match = FRAME.match(line)
        if match and int(match[2]) <= MAX_FRAME_BYTES and self.exit is None:
            self._frame = (match[1].decode(), int(match[2]), int(match[3], 16))
        else:
            if line.startswith(b"BARECPC-"):
                self._fail("a frame is out of place: " + line[:80].decode(errors="replace").rstrip())
            self._log_line(line)
        return True

    def _take_frame(self):
        stream, length, crc = self._frame
        if len(self._bytes) < length + len(END):
            return False
        data = bytes(self._bytes[:length])
        if self._bytes[length:length + len(END)] != END:
            self._fail(f"a {stream} frame of {length} bytes does not end where it should")
        elif zlib.crc32(data) != crc:
            self._fail(f"a {stream} frame of {length} bytes arrived damaged (CRC)")
        else:
            del self._bytes[:length + len(END)]
            self._stream(stream, data)
        # The bytes of a damaged frame stay, and are read as lines: there may be a panic among them.
        self._frame = None
        return True

    def _log_line(self, line):
        text = CONTROL.sub("", line.decode(errors="replace")).rstrip()
        self._log_bytes += len(line)
        if self._log_bytes > MAX_LOG_BYTES:
            self.flooded = True
            return self._fail(f"the guest is looping: {MAX_LOG_BYTES >> 20} MiB of log")
        match = CLOSING.match(text)
        if match:
            self.exit = int(match[1])
        if text:
            self.last_line = text
            self._log(text)
