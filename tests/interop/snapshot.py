"""What a directory tree is, to the last attribute, to tell whether anything touched it."""
import hashlib
import os
import stat


def of(root):
    """{path: (kind, mode, owner, size, mtime, ctime, content digest or link target)}."""
    out = {}
    for directory, names, files in os.walk(root):
        for name in [".", *names, *files]:
            path = os.path.join(directory, name) if name != "." else directory
            info = os.lstat(path)
            content = None
            if stat.S_ISREG(info.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            elif stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            out[os.path.relpath(path, root)] = (info.st_mode, info.st_uid, info.st_gid,
                                                info.st_size, info.st_mtime_ns, info.st_ctime_ns,
                                                info.st_ino, content)
    return out


def changes(before, after):
    """The paths that appeared, went or changed."""
    return sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
