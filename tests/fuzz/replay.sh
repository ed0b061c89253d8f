#!/bin/sh
# Runs every fuzz target over its corpus: tests/fuzz/corpus/NAME for tests/fuzz/fuzz_NAME.
# Arguments: the targets (default: all that are built). Output is TAP.
set -u
: "${srcdir:?}" "${builddir:?}"
[ $# -gt 0 ] || set -- $(cd "$builddir" && ls tests/fuzz/fuzz_* | grep -v '\.')
echo "1..$#"
number=0
status=0
for target do
	number=$((number + 1))
	name=${target##*/fuzz_}
	corpus=$srcdir/tests/fuzz/corpus/$name
	if [ ! -d "$corpus" ]; then
		echo "not ok $number - $name has no corpus"
		status=1
	elif timeout 300 "$builddir/$target" -runs=0 "$corpus" >"$builddir/tests/fuzz/$name.log" 2>&1; then
		echo "ok $number - $name replays its corpus"
	else
		sed 's/^/# /' "$builddir/tests/fuzz/$name.log" | tail -20
		echo "not ok $number - $name fails on its corpus"
		status=1
	fi
done
exit $status
