"""fri/, the history of rewritten fragments: as a shell user meets it, and when its parts are gone.

What is due comes from the Rust reference's own account of its datasets (NAME.expected.json): labels,
surviving rows, the order of transitions.
"""
import errno
import json
import os
import shutil
import struct
import tarfile

from mountlib import (Mount, broken, case, check, equal, main, place, read, refused, run, sample,
                      succeed, unpack)

NO_LABEL = 0xFFFF
LINE = 70  # bytes of a line of mapping.tsv


def history(name):
    """A dataset with a history, and what the reference says of its newest version."""
    home = unpack("fixtures-rust", f"{name}.lance", f"{name}.expected.json")
    versions = json.loads((home / f"{name}.expected.json").read_text())["versions"]
    newest = max(versions, key=int)
    return home / f"{name}.lance", newest, versions[newest]["frag_reuse"]


def values(sequence):
    """{"ranges": [[start, count], ...]} or {"runs": [[value, count], ...]} as a list."""
    if "ranges" in sequence:
        return [start + i for start, count in sequence["ranges"] for i in range(count)]
    return [NO_LABEL if value is None else value for value, count in sequence["runs"]
            for _ in range(count)]


def records(account):
    """{(source ids): the reference's record}, legacy groups and transitions alike."""
    groups = [group for version in account["legacy_versions"] for group in version["groups"]]
    found = [(g["old"], g["new"], g["surviving"], None) for g in groups]
    for transition in account["transitions"]:
        mapping = transition["mapping"]
        found.append((transition["sources"], transition["destinations"],
                      mapping.get("surviving"), mapping.get("map")))
    return {tuple(source["id"] for source in record[0]): record for record in found}


def went(record):
    """(fragment, offset, where it went) of each source row; None: nowhere."""
    sources, destinations, surviving, row_map = record
    rows = [(s["id"], offset) for s in sources for offset in range(s["physical_rows"])]
    filled = [(d["id"], offset) for d in destinations for offset in range(d["physical_rows"])]
    if surviving is not None:
        kept = set(values(surviving["addresses"]))
        order = iter(filled)
        return [(*row, next(order) if row[0] << 32 | row[1] in kept else None) for row in rows]
    used, out = [0] * len(destinations), []
    for row, label in zip(rows, values(row_map["labels"])):
        out.append((*row, None if label == NO_LABEL else (destinations[label]["id"], used[label])))
        if label != NO_LABEL:
            used[label] += 1
    return out


def mapping_line(row):
    fragment, offset, new = row
    cells = [str(fragment), str(offset), *(map(str, new) if new else "--")]
    return "\t".join(f"{c:>{w}}" for c, w in zip(cells, (15, 13, 20, 18))).encode() + b"\n"


def due(account):
    """In the order of the numbers below transitions/: (record of lineage_order, record)."""
    found = records(account)
    return [(order, found[tuple(s["id"] for s in order["sources"])])
            for order in account["lineage_order"]]


@case(120)
def ordinary_tools_read_them():
    """cat, tail -c, dd at any offset: the reference's mapping, with the size that stat said."""
    for name in ("fri_mixed", "legacy_fri"):
        dataset, version, account = history(name)
        with Mount(dataset) as mount:
            top = mount.point / f"versions/{version}/fri/transitions"
            equal(sorted(map(int, os.listdir(top))), list(range(len(account["lineage_order"]))),
                  f"{name}: numbers")
            for number, (order, record) in enumerate(due(account)):
                here = top / str(number)
                legacy = " legacy" if order["legacy_dataset_version"] is not None else ""
                equal(succeed(["cat", here / "kind"]), f"{order['kind']}{legacy}\n", "kind")
                lines = [mapping_line(row) for row in went(record)]
                path, label = here / "mapping.tsv", f"{name}: transition {number}"
                equal(path.stat().st_size, LINE * (len(lines) + 1), f"{label}: size")
                raw = succeed(["cat", path]).encode()
                equal(raw[LINE:], b"".join(lines), f"{label}: rows")
                equal(raw[:LINE].split(), [b"source_fragment", b"source_offset",
                                           b"destination_fragment", b"destination_offset"],
                      f"{label}: header")
                equal(succeed(["tail", "-c", str(LINE), path]).encode(), lines[-1], "tail -c")
                for row in {0, 1, len(lines) // 2, len(lines) - 1}:
                    equal(succeed(["dd", f"if={path}", f"bs={LINE}", f"skip={row + 1}", "count=1",
                                   "status=none"]).encode(), lines[row], f"{label}: row {row}")
                odd = succeed(["dd", f"if={path}", "bs=1", "skip=101", "count=777",
                               "status=none"]).encode()
                equal(odd, raw[101:878], f"{label}: at an odd offset")


@case()
def each_mapping_shows_what_it_is_made_from():
    dataset, version, account = history("fri_mixed")
    with Mount(dataset) as mount:
        for number, (order, record) in enumerate(due(account)):
            here = mount.point / f"versions/{version}/fri/transitions/{number}"
            sources, destinations, surviving, row_map = record
            for name, digests in (("sources", sources), ("destinations", destinations)):
                text = read(here / f"{name}.tsv").decode()
                equal([line.split() for line in text.splitlines()[1:]],
                      [[str(d["id"]), str(d["physical_rows"]), str(d["num_deleted_rows"])]
                       for d in digests], f"{number}: {name}.tsv")
                equal({len(line) for line in text.splitlines()}, {37}, f"{name}.tsv: one width")
            there = set(os.listdir(here))
            if surviving is not None:
                equal(read(here / "surviving_rows"), b"".join(
                    b"%20d\n" % address for address in values(surviving["addresses"])), "survivors")
                check(not there & {"labels.u16", "counts.tsv", "row_map_file"}, f"{there}")
                continue
            check("surviving_rows" not in there, f"{there}")
            labels = values(row_map["labels"])
            equal(read(here / "labels.u16"), struct.pack(f"<{len(labels)}H", *labels), "labels")
            octal = succeed(["od", "-An", "-v", "-td2", "-w2", here / "labels.u16"])
            equal([int(word) for word in octal.split()], labels, "labels by od")
            counts_are(here / "counts.tsv", row_map)
            stored = dataset / row_map["path"]
            equal(read(here / "row_map_file"), stored.read_bytes(), "row_map_file")
            equal((here / "row_map_file").stat().st_mtime_ns, stored.stat().st_mtime_ns, "its time")


def counts_are(path, row_map):
    """Computed: no size, read to its end all the same. Counts are those at the end of a block."""
    ends = row_map["counters_at_block"][1:] + [row_map["totals"]]
    wanted = [["block"] + [f"destination_{i}" for i in range(len(row_map["totals"]))]]
    wanted += [[str(i), *map(str, counts)] for i, counts in enumerate(ends)]
    equal([line.split() for line in succeed(["cat", path]).splitlines()], wanted, "counts.tsv")
    equal(path.stat().st_size, 0, "counts.tsv: size")
    equal(succeed(["tail", "-n", "1", path]).split(), wanted[-1], "counts.tsv: last line")
    with open(path, "rb", buffering=0) as file:
        equal(os.pread(file.fileno(), 30, 5), read(path)[5:35], "counts.tsv: at an offset")


@case()
def archives_hold_what_is_read():
    """tar stores every file of fri/ whole but the computed one."""
    dataset, version, _ = history("fri_mixed")
    with Mount(dataset) as mount:
        archive, home = place("tar") / "fri.tar", mount.point / f"versions/{version}"
        succeed(["tar", "-C", home, "-cf", archive, "fri"])
        with tarfile.open(archive) as tar:
            names = [member.name for member in tar if member.isfile()]
            check(len(names) > 20, f"{names}")
            for name in names:
                stored, raw = tar.extractfile(name).read(), read(home / name)
                equal(stored, b"" if name.endswith("counts.tsv") else raw, name)


@case()
def documents_and_graph_parse():
    dataset, version, account = history("fri_external")
    with Mount(dataset) as mount:
        fri = mount.point / f"versions/{version}/fri"
        said = json.loads(succeed(["jq", "-c", "[.index_version, .transitions, .details.location, "
                                   ".details.path, .details.bytes, .interpretable]",
                                   fri / "info.json"]))
        check(said[3].startswith("_indices/") and (dataset / said[3]).is_file(), f"{said}")
        equal(said, [account["index_version"], len(account["lineage_order"]), "external", said[3],
                     (dataset / said[3]).stat().st_size, True], "info.json")
        graph = read(fri / "graph.dot").decode()
        for number, (order, _) in enumerate(due(account)):
            info = json.loads(read(fri / f"transitions/{number}/info.json"))
            equal([info["transition"], info["kind"], info["fault"]],
                  [number, order["kind"], None], "info.json of a transition")
            for source in order["sources"]:
                check(f"\tf{source['id']} -> t{number}\n" in graph, f"edge to {number}")
            for destination in order["destinations"]:
                check(f"\tt{number} -> f{destination['id']}\n" in graph, f"edge from {number}")
        live = [int(line.split()[0]) for line in
                read(fri.parent / "fragments.tsv").decode().splitlines()[1:]]
        for fragment in live:
            marked = f'\tf{fragment} [label="{fragment}\\n' in graph
            check(marked == any(fragment in [d["id"] for d in o["destinations"]]
                                for o, _ in due(account)), f"fragment {fragment} of the graph")
        if shutil.which("dot"):
            check("<svg" in succeed(["dot", "-Tsvg", fri / "graph.dot"]), "dot")


@case()
def versions_without_a_history_have_none():
    dataset, version, _ = history("fri_mixed")
    with Mount(dataset) as mount:
        check("fri" not in os.listdir(mount.point / "versions/1"), "version 1")
        refused({errno.ENOENT}, lambda: os.stat(mount.point / "versions/1/fri"), "version 1")
        check("fri" in os.listdir(mount.point / f"versions/{version}"), "the newest")
    with Mount(sample()) as mount:
        check("fri" not in os.listdir(mount.point / "current"), "the sample")


@case()
def looking_opens_no_row_map():
    """Sizes and listings are had without it; reading says that it is lost, until it is back."""
    dataset, version, account = history("fri_mixed")
    shutil.move(dataset / "_fri", dataset / "aside")
    number = [o["kind"] for o in account["lineage_order"]].index("stable_partition")
    rows = len(went(due(account)[number][1]))
    with Mount(dataset) as mount:
        here = mount.point / f"versions/{version}/fri/transitions/{number}"
        listed = succeed(["ls", "-lR", here.parent.parent])
        check("row_map_file" in listed, "listed")
        equal((here / "mapping.tsv").stat().st_size, LINE * (rows + 1), "mapping.tsv: size")
        equal((here / "labels.u16").stat().st_size, 2 * rows, "labels.u16: size")
        for name in ("mapping.tsv", "labels.u16", "counts.tsv", "row_map_file"):
            refused({errno.EIO}, lambda n=name: read(here / n), name)
        for name in ("kind", "info.json", "sources.tsv", "destinations.tsv"):
            check(read(here / name), name)
        for other in sorted(set(os.listdir(here.parent)) - {str(number)}):
            check(read(here.parent / other / "mapping.tsv"), f"transition {other}")
        shutil.move(dataset / "aside", dataset / "_fri")
        equal(len(read(here / "mapping.tsv")), LINE * (rows + 1), "once it is back")


@case()
def a_lost_history_says_so_until_it_is_back():
    dataset, version, account = history("fri_external")
    aside = place("aside") / "indices"
    shutil.move(dataset / "_indices", aside)
    with Mount(dataset) as mount:
        fri = mount.point / f"versions/{version}/fri"
        equal(sorted(os.listdir(fri)), ["error", "graph.dot", "info.json", "transitions"], "fri/")
        text = read(fri / "error").decode()
        check("details.binpb" in text and "backup" in text, text)
        for name in ("info.json", "graph.dot", "transitions/0/kind"):
            refused({errno.EIO}, lambda n=name: read(fri / n), name)
        refused({errno.EIO}, lambda: os.listdir(fri / "transitions"), "transitions/")
        check("details.binpb" in mount.log(), mount.log())
        check(read(fri.parent / "summary"), "its neighbour")
        shutil.move(aside, dataset / "_indices")
        equal(sorted(os.listdir(fri)), ["graph.dot", "info.json", "transitions"], "once it is back")
        equal(len(os.listdir(fri / "transitions")), len(account["lineage_order"]), "transitions/")
        equal(json.loads(read(fri / "info.json"))["transitions"], len(account["lineage_order"]),
              "info.json")


@case(120)
def faults_stay_where_they_are():
    """What contradicts fails by itself and is named; what is sound beside it is read."""
    for name, code in (("fri_cycle", errno.EUCLEAN), ("fri_counts_disagree", errno.EUCLEAN),
                       ("fri_unknown_mapping", errno.EOPNOTSUPP)):
        dataset = broken(name)
        with Mount(dataset) as mount:
            fri = mount.point / "latest/fri"
            text, faulty = read(fri / "error").decode(), 0
            for here in sorted((fri / "transitions").iterdir(), key=lambda p: int(p.name)):
                for always in ("kind", "info.json", "sources.tsv", "destinations.tsv"):
                    check(read(here / always), f"{name}: {here}: {always}")
                fault = json.loads(read(here / "info.json"))["fault"]
                equal((here / "error").exists(), fault is not None, f"{name}: {here}: error")
                if fault is None:
                    check(read(here / "mapping.tsv"), f"{name}: {here}: sound")
                    continue
                faulty += 1
                check(f"transitions/{here.name}: {fault}\n" in text, f"{name}: {text}")
                check(fault in read(here / "error").decode(), f"{name}: {fault}")
                mapped = sorted(set(os.listdir(here)) & {"mapping.tsv", "surviving_rows"})
                equal(mapped, [] if code == errno.EOPNOTSUPP else ["mapping.tsv", "surviving_rows"],
                      f"{name}: {here}")
                for path in mapped:
                    equal((here / path).stat().st_size, 0, f"{name}: {path}: size")
                    refused({code}, lambda p=here / path: read(p), f"{name}: {path}")
                check(f"tooltip=\"{fault}\"" in read(fri / "graph.dot").decode(), f"{name}: graph")
            check(faulty > 0, f"{name}: no fault")
            if code == errno.EOPNOTSUPP:
                equal(json.loads(read(fri / "info.json"))["interpretable"], False, "info.json")
                check("newer lancefs" in text, text)
            else:
                refused({code}, lambda: read(fri / "info.json"), f"{name}: info.json")
            done = run(["cat", fri / "info.json"])
            equal(done.returncode, int(code == errno.EUCLEAN), f"cat: {done.stderr}")


main()
