"""mount.lancefs, and mount(8) with the types lancefs and fuse.lancefs, from command line and fstab.

The helpers are put where mount(8) looks for them inside a mount name space of the test's own.
"""
import os
import subprocess

from mountlib import (ROOT, SCRATCH, Mount, Skip, case, check, current_version, equal, installed,
                      main, mount_of, place, run, sample, succeed)

# $1: directory of the programs; the rest is run with them in /usr/sbin.
PRIVATE = r"""
set -e
bin=$1; shift
mount --make-rprivate /
mkdir -p "$bin/../sbin-before"
mount --bind /usr/sbin "$bin/../sbin-before"
mount -t tmpfs none /usr/sbin
ln -s "$bin/../sbin-before"/* /usr/sbin/
cp "$bin/lancefs" "$bin/mount.lancefs" /usr/sbin/
exec sh -euc "$1" sh
"""


def privately(script, **variables):
    """Runs sh with mount(8) finding our helpers; everything mounted goes with the name space."""
    if not ROOT:
        raise Skip("needs root for a mount name space")
    installed("mount.lancefs")
    done = run(["unshare", "--mount", "sh", "-c", PRIVATE, "sh", SCRATCH / "bin", script],
               env={**os.environ, **{k: str(v) for k, v in variables.items()}})
    equal(done.returncode, 0, f"{script}: {done.stdout}{done.stderr}")
    return done.stdout


def spaced():
    """A dataset and a mount point with blanks in their names."""
    dataset = sample()
    odd = dataset.parent / "price list.lance"
    os.rename(dataset, odd)
    point = dataset.parent / "mount point"
    point.mkdir()
    return odd, point


@case()
def by_hand():
    dataset, point = spaced()
    helper = installed("mount.lancefs")
    for source, target in ((dataset, point),
                           (str(dataset).replace(" ", r"\040"), str(point).replace(" ", r"\040"))):
        succeed([helper, source, target, "-n", "-o", "ro,noauto,user,x-systemd.automount"])
        equal(mount_of(point)[2], str(dataset), "source")
        check("ro" in mount_of(point)[3], "ro")
        succeed(["fusermount3", "-u", point])
    done = run([helper, dataset, point, "-o", "frobnicate"])
    check(done.returncode == 1 and "frobnicate" in done.stderr, repr(done))
    done = run([helper, dataset, point, "-s", "-o", "frobnicate"])
    check(done.returncode == 0 and "frobnicate" in done.stderr, repr(done))
    succeed(["fusermount3", "-u", point])
    done = run([helper, dataset.parent / "gone", point])
    check(done.returncode == 32 and done.stderr.startswith("lancefs: "), repr(done))
    equal(run([helper, "-f", dataset, point]).returncode, 0, "-f")
    check(mount_of(point) is None, "-f mounts nothing")


@case()
def clears_a_stale_mount():
    dataset = sample()
    helper = installed("mount.lancefs")
    with Mount(dataset) as mount:
        mount.daemon.kill()
        mount.daemon.wait()
        mount.ended_well = False
        succeed([helper, dataset, mount.point, "-o", "rw"])
        equal(current_version(mount.point), 6, "mounted again")
        succeed(["fusermount3", "-u", mount.point])


@case()
def mount_by_type():
    dataset, point = spaced()
    for kind in ("lancefs", "fuse.lancefs"):
        for options in ("version=2", "version=2,ro,noexec,nofail,_netdev"):
            out = privately(f"mount -t {kind} -o {options} \"$SOURCE\" \"$POINT\";"
                            "cat \"$POINT/current/summary\"; findmnt -no FSTYPE,OPTIONS \"$POINT\";"
                            "umount \"$POINT\"; ! findmnt \"$POINT\"", SOURCE=dataset, POINT=point)
            check("version: 2\n" in out and "fuse.lancefs" in out, f"{kind}: {out}")
            check("noexec" not in options or "noexec" in out, f"{kind}: {out}")


@case()
def mount_by_fstab():
    dataset, point = spaced()
    table = place("etc") / "fstab"
    for kind, options in (("lancefs", "defaults,tag=opening,noauto,nofail,_netdev,comment=x,"
                           "x-systemd.automount,x-systemd.idle-timeout=1min"),
                          ("fuse.lancefs", "ro,tag=opening,noauto,user")):
        line = [str(dataset).replace(" ", r"\040"), str(point).replace(" ", r"\040"), kind,
                options, "0", "0"]
        table.write_text("\t".join(line) + "\n")
        out = privately("mount -T \"$TABLE\" \"$POINT\"; cat \"$POINT/current/summary\";"
                        "umount \"$POINT\"", TABLE=table, POINT=point)
        check("version: 1\n" in out, f"{kind}: {out}")


@case()
def mount_reports_failure():
    dataset, point = spaced()
    out = privately("mount -t lancefs -o version=99 \"$SOURCE\" \"$POINT\" && exit 99; echo $?",
                    SOURCE=dataset, POINT=point)
    equal(out.strip().splitlines()[-1], "32", "exit status of mount(8)")


@case()
def an_automount_is_no_mount():
    """A trigger at the mount point is mounted over."""
    if not ROOT:
        raise Skip("needs root to mount autofs")
    dataset, point = sample(), place("auto")
    reading, writing = os.pipe()
    done = run(["mount", "-t", "autofs", "-o",
                f"fd={writing},pgrp={os.getpgrp()},minproto=5,maxproto=5,direct", "trigger", point],
               pass_fds=(writing,))
    try:
        if done.returncode != 0:
            raise Skip(f"no autofs in this kernel: {done.stderr.strip()}")
        helper = installed("mount.lancefs")
        # In a session of its own, for which touching the trigger would mean to wait for ever.
        subprocess.run([helper, dataset, point], check=True, timeout=20, start_new_session=True)
        equal(current_version(point), 6, "mounted over the trigger")
        succeed(["umount", point])
    finally:
        os.close(writing)
        os.close(reading)
        run(["umount", "-l", point])


main()
