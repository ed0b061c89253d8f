/* System calls that fail when a test wants it: definitions here win over those of libc.
 *
 * Only what the library calls from this program is caught. Tests run in processes of their own, so
 * nothing has to be put back.
 */
#ifndef TESTS_SYSCALLS_H
#define TESTS_SYSCALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* How a call behaves: os_errno 0 is as usual, else it fails, `late` after it was done. */
struct syscall_fault {
	int os_errno;
	bool late;
	int times; /* it fails so often; 0: always */
	int calls; /* that were made */
};

static struct {
	struct syscall_fault link, rename_new, rename, unlink, make_dir, sync, write, close;
	size_t write_max;   /* bytes written by one call, at most; 0: no limit */
	bool link_replaces; /* as no file system should */
} faults;

/* What a call that gave `rc` gives instead. */
static inline long
syscall_end(struct syscall_fault *fault, long rc)
{
	bool fails = fault->os_errno != 0 && (fault->times == 0 || fault->calls <= fault->times);

	if (!fails || (fault->late && rc < 0))
		return rc;
	errno = fault->os_errno;
	return -1;
}

static inline bool
syscall_begin(struct syscall_fault *fault)
{
	fault->calls++;
	return fault->os_errno == 0 || fault->late ||
	       (fault->times != 0 && fault->calls > fault->times);
}

#define SYSCALL_FAULTY(fault, call)                                                                \
	syscall_end(&(fault), syscall_begin(&(fault)) ? (long)(call) : 0)

int
linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (faults.link_replaces)
		(void)syscall(SYS_unlinkat, to_dir, to, 0);
	return (int)SYSCALL_FAULTY(
		faults.link, syscall(SYS_linkat, from_dir, from, to_dir, to, flags));
}

int
renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	return (int)SYSCALL_FAULTY(
		faults.rename_new, syscall(SYS_renameat2, from_dir, from, to_dir, to, flags));
}

int
renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return (int)SYSCALL_FAULTY(
		faults.rename, syscall(SYS_renameat2, from_dir, from, to_dir, to, 0));
}

int
unlinkat(int dir, const char *name, int flags)
{
	return (int)SYSCALL_FAULTY(faults.unlink, syscall(SYS_unlinkat, dir, name, flags));
}

int
mkdirat(int dir, const char *name, mode_t mode)
{
	return (int)SYSCALL_FAULTY(faults.make_dir, syscall(SYS_mkdirat, dir, name, mode));
}

int
fsync(int fd)
{
	return (int)SYSCALL_FAULTY(faults.sync, syscall(SYS_fsync, fd));
}

/* Cuts vectors in the middle, as a full disk or a signal does. */
ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	struct iovec first = parts[0];

	if (faults.write_max == 0)
		return SYSCALL_FAULTY(faults.write, syscall(SYS_writev, fd, parts, count));
	if (first.iov_len > faults.write_max)
		first.iov_len = faults.write_max;
	return SYSCALL_FAULTY(faults.write, syscall(SYS_writev, fd, &first, 1));
}

int
close(int fd)
{
	return (int)SYSCALL_FAULTY(faults.close, syscall(SYS_close, fd));
}

#endif
