#!/bin/sh
# A fuzzing campaign: every target for SECONDS (default 60) over a scratch copy of its corpus.
# Build with CC=clang --enable-fuzzing --enable-sanitizers=address,undefined first.
# usage: srcdir=DIR builddir=DIR run.sh [SECONDS [TARGET ...]]
set -eu
: "${srcdir:?}" "${builddir:?}"
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- $(cd "$builddir" && ls tests/fuzz/fuzz_* | grep -v '\.')
for target do
	name=${target##*/fuzz_}
	scratch=$builddir/tests/fuzz/campaign/$name
	mkdir -p "$scratch"
	echo "== $name: ${seconds}s"
	(cd "$scratch" && "$builddir/$target" -max_total_time="$seconds" -rss_limit_mb=512 -timeout=10 \
		-print_final_stats=1 "$scratch" "$srcdir/tests/fuzz/corpus/$name")
done
