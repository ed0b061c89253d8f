#!/bin/sh
# Every lint, and the test of the lints themselves; all run even if the first fails.
# usage: srcdir=DIR builddir=DIR run.sh; the exports need a built library.
set -u
: "${srcdir:?}" "${builddir:?}"
python=${PYTHON:-python3}
LANCET_SO=${LANCET_SO:-$builddir/.libs/liblancet.so}
export srcdir LANCET_SO
failed=''
for lint in selftest layers budget names exports text proto manuals; do
	if ! "$python" "$srcdir/tests/lint/$lint"; then
		failed="$failed $lint"
	fi
done
if [ -n "$failed" ]; then
	echo "failed:$failed"
	exit 1
fi
