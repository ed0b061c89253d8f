#!/bin/sh
# A fuzzing campaign: every target for SECONDS (default 60) over a scratch copy of its corpus.
# Build with CC=clang --enable-fuzzing --enable-sanitizers=address,undefined first.
# usage: srcdir=DIR builddir=DIR run.sh [SECONDS [TARGET ...]]
#
# As many run at a time as there are processors, and none is kept from running by one that fails.
# What that said, and its input if that is small, are printed at the end: the tail of a long log is
# what is kept of it.
set -u
: "${srcdir:?}" "${builddir:?}"
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- $(cd "$builddir" && ls tests/fuzz/fuzz_* | grep -v '\.')

# What was freed stays for a while to be watched, 256 MB by default: more than what an input may
# cost, and counted in -rss_limit_mb.
ASAN_OPTIONS=quarantine_size_mb=64${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS

fuzz() {
	cd "$1" && exec "$builddir/$2" -max_total_time="$seconds" -rss_limit_mb=512 -timeout=25 \
		-print_final_stats=1 "$1" "$srcdir/tests/fuzz/corpus/$3"
}

# Some at a time: each is one process that never waits.
jobs=$(nproc 2>/dev/null || echo 1)
running=0
for target do
	name=${target##*/fuzz_}
	scratch=$builddir/tests/fuzz/campaign/$name
	mkdir -p "$scratch"
	rm -f "$scratch.good"
	(fuzz "$scratch" "$target" "$name") >"$scratch.log" 2>&1 && : >"$scratch.good" &
	running=$((running + 1))
	[ "$running" -lt "$jobs" ] && continue
	wait
	running=0
done
wait

failed=''
for target do
	name=${target##*/fuzz_}
	scratch=$builddir/tests/fuzz/campaign/$name
	echo "== $name: ${seconds}s"
	grep '^stat::' "$scratch.log"
	[ -e "$scratch.good" ] && continue
	echo "FAIL: $name"
	failed="$failed $name"
done

for name in $failed; do
	scratch=$builddir/tests/fuzz/campaign/$name
	echo "== $name failed:"
	tail -n 40 "$scratch.log"
	# What libFuzzer writes when it stops, in base64 to be saved from here.
	for input in "$scratch"/crash-* "$scratch"/leak-* "$scratch"/oom-* "$scratch"/timeout-*; do
		[ -f "$input" ] || continue
		echo "-- $input"
		head -c 3000 "$input" | base64
	done
done
[ -z "$failed" ] || {
	echo "FAIL:$failed"
	exit 1
}
