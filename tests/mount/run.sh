#!/bin/sh
# Runs the tests of real mounts, each file with a time limit; ends with a summary.
# Wants srcdir, abs_top_builddir and PYTHON in the environment.
set -u
limit=${LANCEFS_MOUNT_SECONDS:-240}
python=${PYTHON:-python3}

if [ "${LANCEFS_NO_FUSE:-}" = 1 ]; then
	echo 'ok - tests of real mounts # SKIP LANCEFS_NO_FUSE=1'
	exit 0
fi

passed=0
failed=''
for test in "$srcdir"/tests/mount/test_*.py; do
	name=$(basename "$test" .py)
	if timeout -k 10 "$limit" "$python" -B "$test"; then
		passed=$((passed + 1))
	else
		status=$?
		[ "$status" -ge 124 ] && echo "not ok - $name: ended with status $status"
		failed="$failed $name"
	fi
done

if [ -n "$failed" ]; then
	echo "FAIL: real mounts:$failed ($passed files passed)"
	exit 1
fi
echo "PASS: real mounts ($passed files)"
