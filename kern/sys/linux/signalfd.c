/* signalfd4(2): a descriptor from which a process reads its blocked signals. */
#include "kern/file/epoll.h"
#include "kern/file/file.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/syscall.h"

#define SIGSET_BYTES 8

/* One read reports at most so many: finding one takes time if many wait. */
#define READ_MAX 16

/* Linux's struct signalfd_siginfo, the same on both machines. */
struct signal_report {
	uint32_t signo;
	int32_t error, code;
	uint32_t pid, uid, unused[5];
	int32_t status, int_value;
	uint64_t ptr_value;
	uint8_t pad[72];
};
_Static_assert(sizeof(struct signal_report) == 128, "Linux's size");

static struct signal_report
make_report(const struct siginfo *info)
{
	struct signal_report r = {
		.signo = (uint32_t)info->si_signo,
		.error = info->si_errno,
		.code = info->si_code,
		.pid = (uint32_t)info->si_pid,
		.uid = info->si_uid,
	};

	if (info->si_code < 0) {
		/* sigqueue(3)'s value */
		r.ptr_value = info->si_rest[1];
		r.int_value = (int32_t)info->si_rest[1];
	} else if (info->si_signo == SIGCHLD) {
		r.status = info->si_status;
	}
	return r;
}

intptr_t
signal_read(struct file *f, uintptr_t uva, size_t len)
{
	struct lwp *l = lwp_self();
	struct signal_report r;
	struct siginfo info;
	size_t done = 0;
	intptr_t err;

	if (len < sizeof r)
		return -EINVAL;
	if (len > READ_MAX * sizeof r)
		len = READ_MAX * sizeof r;
	while ((sig_pending(l) & f->f_signals) == 0) {
		if ((err = wait_change(f)) != 0)
			return err;
	}
	while (
	    done + sizeof r <= len && sig_take(l, f->f_signals, &info) != 0) {
		r = make_report(&info);
		if (copyout(uva + done, &r, sizeof r) != 0)
			return done > 0 ? (intptr_t)done : -EFAULT;
		done += sizeof r;
	}
	return (intptr_t)done;
}

/* A descriptor -1 asks for a new file. */
intptr_t
sys_signalfd4(const uintptr_t *a)
{
	unsigned flags = (unsigned)a[3];
	struct file *f;
	uint64_t set;

	if (a[2] != SIGSET_BYTES)
		return -EINVAL;
	if (copyin(&set, a[1], sizeof set) != 0)
		return -EFAULT;
	if ((flags & ~(unsigned)(O_NONBLOCK | O_CLOEXEC)) != 0)
		return -EINVAL;
	set &= ~UNBLOCKABLE;
	if ((int)a[0] != -1) {
		if ((f = file_get((int)a[0])) == NULL)
			return -EBADF;
		if (f->f_kind != FILE_SIGNAL)
			return -EINVAL;
		f->f_signals = set;
		signal_files_changed();
		return (int)a[0];
	}
	if ((f = file_new(FILE_SIGNAL, O_RDWR | (flags & O_NONBLOCK))) == NULL)
		return -ENOMEM;
	f->f_signals = set;
	nsignal_files++;
	return install_file(f, flags & O_CLOEXEC);
}
