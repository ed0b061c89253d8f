# Prints the C table of text fields: every bytes field whose line in a .proto file ends with the
# mark "// text", under the full name of its message. Sorted by message, then field, in byte order
# whatever the locale, so that the table can be searched and is the same on every machine.
# Types that protobuf-c cannot hold (see file.proto) are refused: they would lose data silently.

function fail(why)
{
	printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
	failed = 1
	exit 1
}

function current_message(    i, name)
{
	name = package
	for (i = 1; i <= depth; i++)
		if (block[i] != "")
			name = name "." block[i]
	return name
}

function before(one, other,    i, p, q)
{
	for (i = 1; i <= length(one) && i <= length(other); i++) {
		p = index(ORDER, substr(one, i, 1))
		q = index(ORDER, substr(other, i, 1))
		if (p != q)
			return p < q
	}
	return length(one) < length(other)
}

function add_row(message, field,    i, key)
{
	key = message " " field
	for (i = rows++; i > 0 && before(key, row[i - 1]); i--)
		row[i] = row[i - 1]
	row[i] = key
}

BEGIN {
	ORDER = " .0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
}

FNR == 1 {
	if (depth != 0)
		fail("the file before ends inside a block")
	package = ""
}

{
	text = $0 ~ /\/\/ text$/
	sub(/\/\/.*/, "")
	if ($0 ~ /^[ \t]*$/)
		next
}

$1 == "package" {
	package = $2
	sub(/;$/, "", package)
	next
}

$1 == "optional" || $1 == "string" || $2 == "string" || $0 ~ /map[ \t]*</ {
	fail("optional, string and map are not for protobuf-c")
}

/[{].*[}]/ {
	fail("a block on one line would be missed")
}

# Enum and oneof blocks do not take part in names.
$NF == "{" {
	block[++depth] = ($1 == "message") ? $2 : ""
	next
}

$1 == "}" {
	depth--
	next
}

text {
	if (depth == 0)
		fail("text outside a message")
	type = ($1 == "repeated") ? 2 : 1
	if ($type != "bytes")
		fail("only bytes fields hold text")
	add_row(current_message(), $(type + 1))
}

END {
	if (!failed && depth != 0)
		fail("a block is not closed")
	if (failed)
		exit 1
	print "/* Made by textfields.awk from the .proto files. */"
	print "#include \"pbtext.h\"\n"
	print "const struct pb_text_field pb_text_fields[] = {"
	for (i = 0; i < rows; i++) {
		split(row[i], name, " ")
		printf "\t{ \"%s\", \"%s\" },\n", name[1], name[2]
	}
	print "\t{ NULL, NULL },"
	print "};\n"
	printf "const size_t pb_text_field_count = %d;\n", rows
}
