"""Writes the files that a user named, and says when files changed."""

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


def times(path):
    """Name, size and time of a file, or of all files of a folder, as lines."""
    if not path.is_dir():
        there = path.stat()
        return [f"{path} {there.st_size} {there.st_mtime_ns}"]
    lines, folders = [], [str(path)]
    while folders:
        with contextlib.suppress(FileNotFoundError), os.scandir(folders.pop()) as entries:  # gone by now: make is called
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.name.endswith(".pyc"):
                    there = entry.stat(follow_symlinks=False)  # an editor's link may lead nowhere
                    lines.append(f"{entry.path} {there.st_size} {there.st_mtime_ns}")
    return sorted(lines)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
