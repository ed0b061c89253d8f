dnl Own macros of lancefs.

AC_DEFUN([LANCET_PROG_PROTOC_C], [
	AC_PATH_PROG([PROTOC_C], [protoc-c])
	AS_IF([test "x$PROTOC_C" = x],
		[AC_MSG_ERROR([protoc-c not found (Debian: protobuf-c-compiler)])])
])

dnl CRoaring has no .pc file in Debian 12.
AC_DEFUN([LANCET_LIB_ROARING], [
	AC_CHECK_HEADER([roaring/roaring.h], [],
		[AC_MSG_ERROR([roaring/roaring.h not found (Debian: libroaring-dev)])])
	lancet_saved_LIBS=$LIBS
	AC_CHECK_LIB([roaring], [roaring_bitmap_portable_deserialize_size], [],
		[AC_MSG_ERROR([libroaring not found])])
	LIBS=$lancet_saved_LIBS
	AC_SUBST([ROARING_LIBS], [-lroaring])
])

dnl --enable-werror, --enable-sanitizers, --enable-fuzzing, --enable-coverage
AC_DEFUN([LANCET_SWITCHES], [
	AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors])])
	AC_ARG_ENABLE([sanitizers],
		[AS_HELP_STRING([--enable-sanitizers=LIST], [address,undefined or thread])])
	AC_ARG_ENABLE([fuzzing],
		[AS_HELP_STRING([--enable-fuzzing], [libFuzzer targets; needs CC=clang])])
	AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [gcov instrumentation])])

	AS_CASE([$enable_sanitizers],
		[yes], [enable_sanitizers=address,undefined],
		[''], [enable_sanitizers=no])
	SANITIZER_FLAGS=
	AS_IF([test "x$enable_sanitizers" != xno],
		[SANITIZER_FLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer -g"])
	AS_IF([test "x$enable_fuzzing" = xyes],
		[SANITIZER_FLAGS="$SANITIZER_FLAGS -fsanitize=fuzzer-no-link"
		 FUZZER_LDFLAGS="-fsanitize=fuzzer"])
	AS_IF([test "x$enable_coverage" = xyes],
		[SANITIZER_FLAGS="$SANITIZER_FLAGS --coverage -O0"])
	AC_SUBST([SANITIZER_FLAGS])
	AC_SUBST([FUZZER_LDFLAGS])
	AM_CONDITIONAL([SANITIZED], [test "x$enable_sanitizers" != xno])
	AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" = xyes])
])

dnl Warnings are probed one by one, so that another compiler only loses what it does not know.
AC_DEFUN([LANCET_WARNINGS], [
	WARNING_FLAGS=
	lancet_saved_CFLAGS=$CFLAGS
	for flag in -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
		-Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-format-nonliteral -Wno-missing-field-initializers
	do
		CFLAGS="$lancet_saved_CFLAGS -Werror $flag"
		AC_MSG_CHECKING([whether $CC accepts $flag])
		AC_COMPILE_IFELSE([AC_LANG_SOURCE([int main(void) { return 0; }])],
			[AC_MSG_RESULT([yes]); WARNING_FLAGS="$WARNING_FLAGS $flag"],
			[AC_MSG_RESULT([no])])
	done
	CFLAGS=$lancet_saved_CFLAGS
	AS_IF([test "x$enable_werror" = xyes], [WARNING_FLAGS="$WARNING_FLAGS -Werror"])
	AC_SUBST([WARNING_FLAGS])
])
