"""Tables of results for a text."""


def write(file, head, rows):
    """The head is a line of the table; a row has as many cells."""
    file.write(head + "\n" + "|---" * (head.count("|") - 1) + "|\n")
    for row in rows:
        file.write("| " + " | ".join(map(str, row)) + " |\n")


def verdict(ratio, aim):
    """Of a ratio that should be no smaller; without an aim there is none."""
    return "" if aim is None else "met" if ratio >= aim else "**missed**"
