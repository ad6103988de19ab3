"""Writes the files that a user named."""

import contextlib
import os
import tempfile


@contextlib.contextmanager
def named(path):
    """An OSError inside names this file: that of write(2) names none."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def replace(path, data):
    """Write a file as a whole: if that fails, the old one remains.  A device or pipe is written in place."""
    with named(path):
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".barecpc.", dir=path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(data)
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
