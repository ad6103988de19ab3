/*
 * Registers the functions of kcpc that lower parts of the kernel call: the
 * table of kern/sched/counting.h, and the files /dev/profile and
 * /dev/cpc_shared.
 */
#include "kern/cpc/kcpc.h"
#include "kern/cpc/test/witness.h"
#include "kern/file/file.h"
#include "kern/platform/errno.h"
#include "kern/sched/counting.h"

static int
profile_open(struct file *f)
{
	f->f_profile = kcpc_profile_new();
	return f->f_profile != NULL ? 0 : ENOMEM;
}

static void
profile_release(struct file *f)
{
	kcpc_profile_release(f->f_profile);
}

void
kcpc_register(void)
{
	static const struct device_ops shared = {
		.open = kcpc_shared_open,
		.release = kcpc_shared_close,
	};
	static const struct device_ops profile = {
		.open = profile_open,
		.release = profile_release,
	};
	static const struct counting_ops ops = {
		.save = kcpc_save,
		.overflow = kcpc_overflow,
		.restore = kcpc_restore,
		.cpu_init = kcpc_cpu_init,
		.cpu_online = kcpc_cpu_online,
		.idle = witness_idle,
		.inherit = kcpc_inherit,
		.fork = kcpc_fork,
		.vforked = kcpc_vforked,
		.lwp_exit = kcpc_lwp_exit,
		.released = kcpc_released,
		.read_fault = kcpc_read_fault,
		.page_interrupted = kcpc_page_interrupted,
		.sigemt_take = kcpc_sigemt_take,
		.sigemt_due = kcpc_sigemt_due,
	};

	counting = &ops;
	file_register(FILE_PROFILE, &profile);
	file_register(FILE_CPC_SHARED, &shared);
}
