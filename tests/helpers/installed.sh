#!/bin/sh
# Against what `make install` put in place: each public header compiles alone, and a program that
# knows only pkg-config builds, runs, and says how many fragments the sample has.
# Wants CC, PKG_CONFIG, libdir, sysroot (or empty) and srcdir in the environment.
set -eu
: "${CC:?}" "${PKG_CONFIG:?}" "${libdir:?}" "${srcdir:?}"
export PKG_CONFIG_PATH="$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="${sysroot:-}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags=$($PKG_CONFIG --cflags lancet)
includedir=$($PKG_CONFIG --variable=includedir lancet)
case $includedir in
"${sysroot:-}"*) ;; # some pkg-configs put it in front themselves
*) includedir=$sysroot$includedir ;;
esac
count=0
for header in "$includedir"/lancet/*.h; do
	count=$((count + 1))
	echo "#include <lancet/${header##*/}>" >"$work/header.c"
	$CC -std=c11 -Wall -Wextra -Werror $flags -fsyntax-only "$work/header.c"
done
[ "$count" -ge 10 ] || { echo "only $count public headers in $includedir" >&2; exit 1; }

cat >"$work/user.c" <<'END'
#include <inttypes.h>
#include <stdio.h>

#include <lancet/dataset.h>
#include <lancet/version.h>

int
main(int argc, char **argv)
{
	struct lancet_error err = { 0 };
	lancet_dataset *dataset = NULL;
	lancet_version *version = NULL;
	int rc = lancet_dataset_open(argv[argc - 1], NULL, &dataset, &err);

	if (rc == LANCET_OK)
		rc = lancet_version_open(dataset, 6, &version, &err);
	if (rc == LANCET_OK)
		printf("%" PRIu64 "\n", lancet_version_info(version)->fragment_count);
	else
		fprintf(stderr, "%s\n", err.text);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	return rc != LANCET_OK;
}
END
$CC -std=c11 -Wall -Wextra -Werror $flags -o "$work/user" "$work/user.c" $($PKG_CONFIG --libs lancet)
said=$(LD_LIBRARY_PATH="$libdir" "$work/user" "$srcdir/tests/data/sample.lance")
[ "$said" = 4 ] || { echo "4 fragments are in the sample, not $said" >&2; exit 1; }
echo "PASS: installed headers ($count) and library"
