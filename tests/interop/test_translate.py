"""`lancet translate` and lancet_translate: where rows went, of every address that a history knows.

Due is what the Rust reference followed itself, and pylance's remapping; where these only say that
an address leads nowhere, the model of reuse.py tells whether the row was deleted.
"""
import errno
import random
import subprocess
import sys

import pytest

import archives
import liblancet
import programs
import reuse
from archives import dataset

WITH_HISTORY = [i for i in archives.dataset_ids()
                if not dataset(i).refused() and any(
                    reuse.has_history(dataset(i).facts(n)) for n in dataset(i).numbers())]
RUST = [i for i in WITH_HISTORY if dataset(i).expected.get("translations")]
MOST_MODELLED = 3000  # addresses of a version: the model takes them one by one
PYLANCE = [i for i in WITH_HISTORY if dataset(i).expected.get("remap_row_addrs_at_latest")]


def run(path, *words, text=None):
    done = subprocess.run([programs.program("lancet"), "translate", path, *words], timeout=60,
                          input=text, capture_output=True, check=False,
                          **({} if text is not None else {"stdin": subprocess.DEVNULL}))
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    return done


def lines(path, *words, text=None):
    done = run(path, *words, text=text)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode(errors="replace")
    assert done.stdout == b"" or done.stdout.endswith(b"\n")
    return done.stdout.decode().split("\n")[:-1]


def refused(path, *words, text=None):
    """What was printed, the errno and the one line of a failure."""
    done = run(path, *words, text=text)
    message = done.stderr.decode(errors="replace")
    assert done.returncode == 1 and message.count("\n") == 1 and message.startswith("lancet: ")
    return done.stdout.decode(), getattr(errno, message.split(": ")[1]), message


def written(address):
    return f"{address >> 32}:{address & 0xFFFFFFFF}"


def translated(path, number, addresses):
    """{address: fate} as reuse.History.translate has it, through a file on standard input."""
    text = "".join(f"{written(a)}\n" for a in addresses).encode()
    out = {}
    for address, line in zip(addresses, lines(path, "file=-", f"version={number}", text=text),
                             strict=True):
        if ":" in line:
            fragment, offset = line.split(":")
            out[address] = "current", int(fragment) << 32 | int(offset)
        else:
            out[address] = line, None
    return out


def known(facts):
    """Every address of a fragment that the version or its history names, and some beyond."""
    fragments = reuse.of(facts).fragments() if reuse.has_history(facts) else \
        {f.id: f.rows for f in facts.fragments}
    most = max(fragments, default=0)
    out = [ident << 32 | offset for ident, rows in fragments.items() for offset in range(rows + 1)]
    return out + [(most + 1) << 32, 0xFFFFFFFF << 32, (1 << 64) - 1]


def expand(runs):
    out = []
    for first, count in runs:
        out += [None] * count if first is None else range(first, first + count)
    return out


@pytest.mark.parametrize("ident", RUST)
def test_reference_followed_the_same_way(ident):
    """"tagged" is the reader of both kinds of history; "legacy" knows the first kind alone."""
    data = dataset(ident)
    accounts = data.expected["translations"]
    assert accounts
    for number, fragments in accounts.items():
        due = {}
        for fragment, account in fragments.items():
            currents = expand(account["tagged"])
            assert len(currents) == account["rows"]
            due |= {int(fragment) << 32 | i: current for i, current in enumerate(currents)}
        got = translated(data.path, number, list(due))
        assert {old: current for old, (_, current) in got.items()} == due, number


@pytest.mark.parametrize("ident", PYLANCE)
def test_pylance_remapped_the_same_way(ident):
    data = dataset(ident)
    pairs = data.expected["remap_row_addrs_at_latest"]
    got = translated(data.path, data.latest, [old for old, _ in pairs])
    assert [[old, got[old][1]] for old, _ in pairs] == pairs


@pytest.mark.parametrize("ident", WITH_HISTORY)
def test_every_address_of_every_version(ident):
    """Deleted and unknown are told apart as the model has it; also in any order, and twice."""
    data = dataset(ident)
    for number in data.numbers():
        facts = data.facts(number)
        if not reuse.has_history(facts):
            continue
        model, addresses, chance = reuse.of(facts), known(facts), random.Random(number)
        if len(addresses) > MOST_MODELLED:
            addresses = sorted(chance.sample(addresses, MOST_MODELLED))
        due = {a: model.translate(a) for a in addresses}
        assert translated(data.path, number, addresses) == due, number
        mixed = [chance.choice(addresses) for _ in range(2 * len(addresses))]
        with liblancet.Version(data.path, number) as version:
            assert version.translate(mixed) == [due[a] for a in mixed]
            for address in chance.sample(addresses, min(20, len(addresses))):
                assert version.translate([address]) == [due[address]]


def test_without_a_history_only_live_addresses_are_known():
    data = dataset("fixtures/deletions")
    facts = data.facts(data.latest)
    rows = {f.id: f.rows for f in facts.fragments}
    for address, fate in translated(data.path, data.latest, known(facts)).items():
        live = address & 0xFFFFFFFF < rows.get(address >> 32, 0)
        assert fate == (("current", address) if live else ("unknown", None))


def test_answers_have_the_form_of_the_question():
    """An address is answered in the form it was given in, whatever the form of its neighbours."""
    data = dataset("fixtures/fri_legacy")
    pairs = data.expected["remap_row_addrs_at_latest"]
    old, new = [pair for pair in pairs if pair[1] is not None][-1]
    gone = next(pair[0] for pair in pairs if pair[1] is None)
    asked = f"addrs={written(old)},{old},{written(gone)},{gone},0:999999,18446744073709551615"
    assert lines(data.path, asked) == [written(new), str(new), "deleted", "deleted", "unknown",
                                       "unknown"]
    text = f"\n  {written(old)}\t\r\n\n{old}\n \t\n{gone}".encode()
    assert lines(data.path, "file=-", text=text) == [written(new), str(new), "deleted"]
    assert lines(data.path, "file=-", text=b"") == []
    assert lines(data.path, "file=-", text=b"\n \n") == []


def test_versions_are_chosen_as_elsewhere(scratch):
    """By number, tag or branch; a file has a name, too; words come in any order."""
    data = dataset("fixtures/fri_legacy")
    first = data.facts(1)
    address = first.fragments[0].id << 32
    asked = scratch / "asked"
    asked.write_text(f"{address}\n")
    assert lines(data.path, "version=1", f"file={asked}") == [str(address)]
    assert lines(data.path, f"file={asked}", "version=1") == [str(address)]
    assert lines(data.path, f"file={asked}") != [str(address)]
    assert refused(data.path, f"file={asked}", "version=9999")[1] == errno.ENOENT
    assert refused(data.path, f"file={asked}", "tag=none")[1] == errno.ENOENT


MALFORMED = ["", "x", "1:", ":1", "1:2:3", "-1", "1:-1", "+1", "01", "1:02", " 1", "1 2", "0x10",
             "4294967296:0", "0:4294967296", "18446744073709551616", "1;2", "1:2-3"]


@pytest.mark.parametrize("word", MALFORMED)
def test_malformed_words_are_named(word):
    """In a list nothing is printed before; in a file the lines before it are."""
    path = dataset("fixtures/fri_legacy").path
    printed, code, message = refused(path, f"addrs=18:0,{word},18:1")
    assert (printed, code) == ("", errno.EINVAL) and f'"{word}"' in message
    if word.strip() != word or word == "":
        return
    printed, code, message = refused(path, "file=-", text=f"18:0\n\n{word}\n18:1\n".encode())
    assert code == errno.EINVAL and f'"{word}"' in message and "line 3" in message
    assert printed == lines_of(path, "18:0")


def lines_of(path, word):
    return run(path, f"addrs={word}").stdout.decode()


@pytest.mark.parametrize("words", [[], ["addrs=1:1", "file=-"], ["addrs=1", "addrs=2"],
                                   ["adrs=1:1"], ["1:1"], ["file=-", "file=-"]])
def test_misuse_is_refused(words):
    assert refused(dataset("fixtures/fri_legacy").path, *words)[:2] == ("", errno.EINVAL)


def test_files_that_cannot_be_read(scratch):
    path = dataset("fixtures/fri_legacy").path
    assert refused(path, f"file={scratch / 'none'}")[1] == errno.ENOENT
    assert refused(path, f"file={scratch}")[1] == errno.EISDIR
    printed, code, message = refused(path, "file=-", text=b"1" * 300_000)
    assert (printed, code) == ("", errno.EINVAL) and "line 1" in message
    printed, code, _ = refused(path, "file=-", text=b"18:0\n\xff\n")
    assert printed == lines_of(path, "18:0") and code == errno.EINVAL


def test_long_files_take_little_memory(scratch):
    """More addresses than a batch has room for, in an order that is none."""
    data = dataset("fixtures/fri_legacy")
    pairs = data.expected["remap_row_addrs_at_latest"]
    words = {old: "deleted" if new is None else written(new) for old, new in pairs}
    chance = random.Random(5)
    asked = [chance.choice(pairs)[0] for _ in range(1_300_000)]
    file = scratch / "asked"
    file.write_text("".join(f"{written(a)}\n" for a in asked))
    done = subprocess.run([sys.executable, "-c", MEASURE, programs.program("lancet"),
                           "translate", data.path, f"file={file}"], capture_output=True,
                          timeout=120, check=True)
    peak, out = int(done.stderr), done.stdout.decode().split("\n")[:-1]
    assert out == [words[a] for a in asked]
    if not programs.under_sanitizer("lancet"):
        assert peak < 100 << 20, f"{peak >> 20} MiB"


MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
sys.stdout.flush()
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(code)
"""

