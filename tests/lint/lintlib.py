"""What the lints share: where the sources are, reading them, and saying what is wrong.

Each lint is a program of its own. It looks at the tree named by $srcdir (default: the tree that it
lies in), prints one line per violation as FILE:LINE: TEXT, and exits 1 if there was any.
"""
import os
import re
import sys

ROOT = os.path.realpath(os.environ.get("srcdir") or
                        os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))

# Directories of made things, at the top of the tree and anywhere.
TOP_PRUNED = {"build", "mnt", "m4", "build-aux", "autom4te.cache"}
PRUNED = {".git", ".libs", ".deps", "__pycache__", ".pytest_cache"}

_found = []


def complain(path, line, text):
    _found.append((path, line, text))


def finish():
    for path, line, text in _found:
        print(f"{path}:{line}: {text}" if line else f"{path}: {text}")
    sys.exit(1 if _found else 0)


def files(*tops, suffixes=None):
    """Paths below the directories (or files) `tops`, relative to the root, in a fixed order."""
    found = []
    for top in tops:
        base = os.path.join(ROOT, top)
        if os.path.isfile(base):
            found.append(top)
        for directory, names, plain in os.walk(base):
            rel = os.path.relpath(directory, ROOT)
            names[:] = sorted(n for n in names if n not in PRUNED
                              and os.path.normpath(os.path.join(rel, n)) not in TOP_PRUNED | {"src/gen"}
                              and not is_build_tree(os.path.join(directory, n)))
            found += [os.path.normpath(os.path.join(rel, n)) for n in sorted(plain)]
    if suffixes:
        found = [f for f in found if f.endswith(tuple(suffixes))]
    return found


def is_build_tree(directory):
    return os.path.exists(os.path.join(directory, "config.status"))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="surrogateescape",
              newline="") as f:
        return f.read()


_TOKEN = re.compile(r"""
      (?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)
    | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    """, re.S | re.X)


def without_comments(text, strings=True):
    """C text with comments, and if asked strings, blanked: every line and column stays in place."""
    def blank(match):
        if match.lastgroup == "string" and strings:
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())
    return _TOKEN.sub(blank, text)


_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)")


def without_directives(code):
    """C text without preprocessor lines, and with the first branch only of each #if."""
    kept, hidden, continued = [], [], False
    for line in code.split("\n"):
        match = None if continued else _DIRECTIVE.match(line)
        word = match.group(1) if match else ""
        if word.startswith("if"):
            hidden.append(False)
        elif word in ("else", "elif") and hidden:
            hidden[-1] = True
        elif word == "endif" and hidden:
            hidden.pop()
        directive = continued or match is not None
        kept.append("" if directive or any(hidden) else line)
        continued = directive and line.endswith("\\")
    return "\n".join(kept)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
