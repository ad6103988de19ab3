"""Writes the files that a user named."""

import contextlib
import os
import pathlib
import tempfile


@contextlib.contextmanager
def named(path):
    """An OSError inside names this file: that of write(2) names none."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


class Replacement:
    """A new file for a path, whose old file remains until end().  A device or pipe is written in place.

    `file` has no buffer: use write_all().
    """

    def __init__(self, path):
        self._path = pathlib.Path(os.path.realpath(path))
        self._new = None
        with named(path):
            if pathlib.Path(path).exists() and not pathlib.Path(path).is_file():
                self.file = open(path, "wb", buffering=0)
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, self._new = tempfile.mkstemp(prefix=".barecpc.", dir=self._path.parent)
            self.file = open(handle, "wb", buffering=0)

    def end(self, complete):
        """Put the new file in the old one's place, if it is complete, or remove it."""
        self.file.close()
        if self._new and complete:
            os.chmod(self._new, 0o666 & ~_umask())
            os.replace(self._new, self._path)
        elif self._new:
            os.unlink(self._new)


def write_all(file, data):
    """Write all bytes to a file that has no buffer."""
    while data:
        data = data[file.write(data):]


def replace(path, data):
    """Write a file as a whole: if that fails, the old one remains."""
    new, complete = Replacement(path), False
    try:
        with named(path):
            write_all(new.file, data)
        complete = True
    finally:
        new.end(complete)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
