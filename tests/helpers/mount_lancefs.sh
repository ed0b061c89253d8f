#!/bin/sh
# mount.lancefs against a stand-in for the daemon that prints its arguments, one per line.
# Runs without /dev/fuse; $srcdir is the top of the sources.
set -u
srcdir=${srcdir:-$(dirname "$0")/../..}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failures=0

mkdir "$dir/beside" "$dir/bin" "$dir/path" "$dir/away" "$dir/work dir"
sed "s|@bindir@|$dir/bin|g" "$srcdir/mount-helpers/mount.lancefs.in" >"$dir/beside/mount.lancefs"
cp "$dir/beside/mount.lancefs" "$dir/away/mount.lancefs"
chmod +x "$dir/beside/mount.lancefs" "$dir/away/mount.lancefs"

# stand_in WHERE: a daemon that says where it was found, and ends with a status of its own.
stand_in() {
	printf '#!/bin/sh\necho %s\nprintf "%%s\\n" "$@"\nexit 32\n' "$1" >"$dir/$1/lancefs"
	chmod +x "$dir/$1/lancefs"
}

# expect NAME STATUS OUTPUT COMMAND...: OUTPUT is standard output with | for newlines.
expect() {
	name=$1 status=$2 output=$3
	shift 3
	got=$(cd "$dir/work dir" && "$@" 2>"$dir/stderr" | tr '\n' '|'; echo)
	(cd "$dir/work dir" && "$@" >"$dir/stdout" 2>"$dir/stderr")
	rc=$?
	if [ "$rc" -ne "$status" ] || [ "$got" != "$output" ]; then
		failures=$((failures + 1))
		printf 'FAIL: %s\n  status %s, wanted %s\n  got    %s\n  wanted %s\n' \
			"$name" "$rc" "$status" "$got" "$output"
		sed 's/^/  stderr: /' "$dir/stderr"
	fi
}

# says NAME TEXT: the standard error of the last command has TEXT in it.
says() {
	if ! grep -qF -- "$2" "$dir/stderr"; then
		failures=$((failures + 1))
		printf 'FAIL: %s\n  no "%s" in:\n' "$1" "$2"
		cat "$dir/stderr"
	fi
}

helper=$dir/beside/mount.lancefs
stand_in beside
ran='beside|-o'

expect 'as mount(8) calls it' 32 "$ran|clean_stale,ro|/a|/b|" "$helper" /a /b -o ro
expect 'no options' 32 "$ran|clean_stale|/a|/b|" "$helper" /a /b
expect 'flags together, type and namespace of mount(8)' 32 "$ran|clean_stale,tag=v1|/a|/b|" \
	"$helper" /a /b -sn -o tag=v1 -t lancefs
expect 'options first, more than once, attached' 32 "$ran|clean_stale,ro,cache=1M|/a|/b|" \
	"$helper" -oro -o cache=1M /a /b
expect 'words of fstab go' 32 "$ran|clean_stale,allow_other|/a|/b|" "$helper" /a /b \
	-o defaults,auto,noauto,user,nouser,users,nofail,_netdev,comment=x,x-systemd.automount,x-a=b,allow_other
expect 'options of umount helpers go' 32 "$ran|clean_stale|/a|/b|" "$helper" /a /b \
	-o helper=lancefs,uhelper=lancefs
expect 'a user and what is so anyway' 32 "$ran|clean_stale,nosuid|/a|/b|" "$helper" /a /b \
	-o user=eve,exec,nosuid,async,relatime,atime,diratime
expect 'clean_stale once' 32 "$ran|clean_stale,ro|/a|/b|" "$helper" /a /b -o clean_stale,ro
expect '-r and -w' 32 "$ran|clean_stale,ro,rw|/a|/b|" "$helper" -r /a /b -w
expect 'flags of the kernel pass' 32 "$ran|clean_stale,nosuid,nodev,noexec|/a|/b|" \
	"$helper" /a /b -o nosuid,nodev,noexec
expect 'empty words go' 32 "$ran|clean_stale,ro|/a|/b|" "$helper" /a /b -o ,ro,,
expect 'an escaped comma stays in its value' 32 "$ran|clean_stale,fsname=a\\,nofail,ro|/a|/b|" \
	"$helper" /a /b -o 'fsname=a\,nofail,ro'
expect 'no file patterns in options' 32 "$ran|clean_stale,fsname=*|/a|/b|" "$helper" /a /b -o 'fsname=*'
expect 'unknown options are for the daemon to refuse' 32 "$ran|clean_stale,fast|/a|/b|" \
	"$helper" /a /b -o fast
expect 'sloppy drops them' 32 "$ran|clean_stale,version=3|/a|/b|" \
	"$helper" /a /b -s -o fast,version=3,versio=4,x
says 'and says so' 'option fast is not known'

expect 'a blank in the paths' 32 "$ran|clean_stale|/a b|/c d|" "$helper" '/a b' '/c d'
expect 'a blank as fstab writes it' 32 "$ran|clean_stale|/a b|/c	d|" "$helper" '/a\040b' '/c\011d'
expect 'a backslash as fstab writes it' 32 "$ran|clean_stale|/a\\040b|/c|" "$helper" '/a\134040b' /c
mkdir "$dir/work dir/e\\040f"
expect 'unless there is a file of that name' 32 \
	"$ran|clean_stale|$dir/work dir/e\\040f|/c|" "$helper" 'e\040f' /c
expect 'relative paths become absolute' 32 "$ran|clean_stale|$dir/work dir/ds|$dir/work dir/m|" \
	"$helper" ds m
expect 'paths that look like options' 32 "$ran|clean_stale|$dir/work dir/-x|$dir/work dir/m|" \
	"$helper" -- -x m

expect 'fake runs nothing' 0 '' "$helper" -f -v /a /b -o ro
says 'verbose shows what would run' "$dir/beside/lancefs -o clean_stale,ro /a /b"
expect 'fake checks arguments' 1 '' "$helper" -f /a
says 'usage' usage:
expect 'no mount point' 1 '' "$helper" /a
expect 'an empty source' 1 '' "$helper" '' /b
expect 'too many' 1 '' "$helper" /a /b /c
expect 'unknown flag' 1 '' "$helper" -x /a /b
says 'it is named' '-x is no option'
expect 'a value is missing' 1 '' "$helper" /a /b -o
expect 'help' 0 'usage: mount.lancefs DATASET MOUNTPOINT [-sfnvrw] [-N NAMESPACE] [-t TYPE] [-o OPTIONS]|' \
	"$helper" --help
expect 'a namespace by process' 0 '' "$helper" -fv -N 12 /a /b
says 'is entered' 'nsenter --mount=/proc/12/ns/mnt --'
expect 'a namespace by path' 0 '' "$helper" -fv -N /run/ns /a /b
says 'is entered' 'nsenter --mount=/run/ns --'

# Where the daemon is found: beside, installed, PATH.
helper=$dir/away/mount.lancefs
expect 'no daemon anywhere' 2 '' env PATH=/usr/bin:/bin "$helper" /a /b
says 'says where it looked' "$dir/bin"
stand_in path
expect 'in PATH' 32 'path|-o|clean_stale|/a|/b|' env PATH="$dir/path:/usr/bin:/bin" "$helper" /a /b
stand_in bin
expect 'where it was installed' 32 'bin|-o|clean_stale|/a|/b|' \
	env PATH="$dir/path:/usr/bin:/bin" "$helper" /a /b

[ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }
