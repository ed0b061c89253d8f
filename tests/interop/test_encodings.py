"""One data file for each encoding: readfile gives the values that the reference reads.

Every sample is read whole, in steps, by ranges and by single rows, with one reader that goes back
and forth; then its columns are described. The samples and their values are the shared test data.
"""
import json
import random
import subprocess
import zlib

import pytest

import archives
import programs

ROWS_SAMPLED = 40
RANGE_LISTS = 6


def home():
    return archives.unpacked("encodings")


def load(name):
    return json.loads((home() / name).read_text())


def samples():
    """The account of every data file of the archive, by its name."""
    index = load("index.json")
    listed = index["files"] + index["crafted"] + index["extra"]
    return {e["file"]: e for e in listed if e["file"].endswith(".lance")}


SAMPLES = samples()


def expected(sample):
    """{column: values}. Two files have a rule instead of a list."""
    if "expected" in sample:
        return load(sample["expected"])["columns"]
    assert sample["expected_rule"] == "row 0 = [0], row 69999 = [69999], every other row = []"
    rows = sample["num_rows"]
    return {None: [[0]] + [[]] * (rows - 2) + [[rows - 1]]}


def readfile(name, *words):
    """The lines of a run, decoded; nothing may be said besides."""
    done = subprocess.run([programs.program("readfile"), home() / name, *words],
                          capture_output=True, timeout=120, stdin=subprocess.DEVNULL, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode(errors="replace")
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(ours, want):
    """Equal, and of one kind: Python would take true for 1."""
    if isinstance(want, list):
        return isinstance(ours, list) and len(ours) == len(want) and all(map(same, ours, want))
    if isinstance(want, dict):
        return isinstance(ours, dict) and list(ours) == list(want) and \
            all(same(ours[key], want[key]) for key in want)
    if isinstance(want, bool) or isinstance(ours, bool):
        return ours is want
    return ours == want


def check_values(ours, want, what):
    assert len(ours) == len(want), what
    wrong = [(row, mine, value) for row, (mine, value) in enumerate(zip(ours, want))
             if not same(mine, value)]
    assert wrong == [], f"{what}: {len(wrong)} of {len(want)} differ, first {wrong[0]}"


def check_lines(lines, columns, asked):
    """One line for each column and list of ranges, in this order."""
    assert len(lines) == len(columns) * len(asked)
    at = iter(lines)
    for name, values in columns.items():
        for ranges in asked:
            line = next(at)
            assert name in (None, line["column"])
            want = [value for first, end in ranges for value in values[first:end]]
            check_values(line["values"], want, f"{line['column']}, rows {line['rows']}")


def range_lists(name, rows):
    """Everything, the ends, the middle, random ranges, random single rows."""
    rng = random.Random(zlib.crc32(name.encode()))
    asked = [[(0, rows)], [(rows - 1, rows)], [(0, 1)], [(rows // 3, rows // 2 + 1)]]
    for _ in range(RANGE_LISTS):
        ends = sorted(rng.sample(range(rows + 1), 2 * min(rng.randint(1, 12), (rows + 1) // 2)))
        asked.append(list(zip(ends[::2], ends[1::2])))
    some = sorted(rng.sample(range(rows), min(rows, ROWS_SAMPLED)))
    return asked + [[(row, row + 1) for row in some]]


def words_of(asked):
    def word(first, end):
        return str(first) if end == first + 1 else f"{first}-{end}"
    return ["rows=" + ",".join(word(*pair) for pair in ranges) for ranges in asked]


def test_none_is_missing():
    assert sorted(p.name for p in home().glob("*.lance")) == sorted(SAMPLES)
    assert len(SAMPLES) >= 75


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_whole_files(name, steps):
    sample = SAMPLES[name]
    step = max(1, sample["num_rows"] // steps)
    check_lines(readfile(name, f"step={step}"), expected(sample), [[(0, sample["num_rows"])]])


@pytest.mark.parametrize("name", SAMPLES)
def test_ranges_and_rows(name):
    sample = SAMPLES[name]
    asked = range_lists(name, sample["num_rows"])
    check_lines(readfile(name, *words_of(asked)), expected(sample), asked)


@pytest.mark.parametrize("name", SAMPLES)
def test_columns_are_described(name):
    lines = readfile(name, "describe")
    assert lines
    for line in lines:
        assert (line["encodings"] == "") == (line["pages"] == 0)
    if "pages" in SAMPLES[name]:
        pages = {}
        for page in SAMPLES[name]["pages"]:
            count, size = pages.get(page["column"], (0, 0))
            pages[page["column"]] = (count + 1, size + sum(page["buffers"]))
        assert {line["number"]: (line["pages"], line["bytes"]) for line in lines} == pages


@pytest.mark.parametrize("name", SAMPLES)
def test_null_counts_are_right(name):
    """Where a top-level column of one field is told to have nulls, or none, it is so."""
    described = {line["number"]: line for line in readfile(name, "describe")}
    fields = SAMPLES[name].get("fields", [])
    if any(field["parent_id"] != -1 or field["metadata"] for field in fields):
        return  # column numbers are not those of the top-level fields
    values = expected(SAMPLES[name])
    for number, field in enumerate(fields):
        if "nulls" in described[number]:
            assert described[number]["nulls"] == values[field["name"]].count(None), field["name"]


def test_rows_beyond_the_end_are_refused():
    name, sample = next(iter(SAMPLES.items()))
    rows = sample["num_rows"]
    for words in (f"rows={rows}", f"rows=0-{rows + 1}", "rows=5,4", "rows=3-3"):
        done = subprocess.run([programs.program("readfile"), home() / name, words],
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(b"readfile: invalid: ")
