"""Many writers at once, and commands that are killed: short forms of tests/interop/soak.py."""
import sys

from mountlib import Skip, case, main

try:
    import lance
except ImportError:
    lance = None
else:
    import soak
    import soakkill

SEED = 20


def need_pylance():
    if lance is None:
        raise Skip(f"no pylance in {sys.executable}")


@case(120)
def writers_with_stable_row_ids():
    need_pylance()
    print(f"# {soak.soak(15, SEED, True)}")


@case(120)
def writers_without():
    need_pylance()
    print(f"# {soak.soak(8, SEED + 1, False)}")


@case(120)
def tokens_outlast_kills():
    need_pylance()
    print(f"# {soakkill.kills(40, SEED + 2, True, 10)}")


if __name__ == "__main__":
    main()
