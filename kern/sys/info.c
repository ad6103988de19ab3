/* System calls that describe the system, and getrandom(2). */
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"
#include "lib/string.h"

#define UTS_LEN 65

/* The release is Linux's: C libraries need a minimum. */
intptr_t
sys_uname(const uintptr_t *a)
{
	struct {
		char sysname[UTS_LEN], nodename[UTS_LEN], release[UTS_LEN];
		char version[UTS_LEN], machine[UTS_LEN], domain[UTS_LEN];
	} u;

	memset(&u, 0, sizeof u);
	strlcpy(u.sysname, "Linux", UTS_LEN);
	strlcpy(u.nodename, "barecpc", UTS_LEN);
	strlcpy(u.release, "6.1.0-barecpc", UTS_LEN);
	strlcpy(u.version, "barecpc", UTS_LEN);
	strlcpy(u.machine, arch_uname, UTS_LEN);
	return -copyout(a[0], &u, sizeof u);
}

intptr_t
sys_sysinfo(const uintptr_t *a)
{
	struct {
		int64_t uptime;
		uint64_t loads[3], totalram, freeram, sharedram, bufferram;
		uint64_t totalswap, freeswap;
		uint16_t procs, pad;
		uint32_t pad2;
		uint64_t totalhigh, freehigh;
		uint32_t mem_unit, pad3;
	} info = {
		.uptime = gethrtime() / 1000000000,
		.totalram = page_ntotal() * PAGE_SIZE,
		.freeram = page_nfree() * PAGE_SIZE,
		.procs = 1,
		.mem_unit = 1,
	};

	_Static_assert(sizeof info == 112, "Linux's struct sysinfo");
	return -copyout(a[0], &info, sizeof info);
}

/*
 * Repeatable on purpose: every run gives the same numbers.
 * SplitMix64: a counter through a mixing function (Steele, Lea, Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014).
 */
static uint64_t
random64(struct proc *p)
{
	uint64_t z = p->p_random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

#define GRND_ANY  7u /* NONBLOCK, RANDOM, INSECURE */
#define GRND_BOTH 6u /* RANDOM and INSECURE */

intptr_t
sys_getrandom(const uintptr_t *a)
{
	size_t len = a[1] < 0x1ffffff ? a[1] : 0x1ffffff, done = 0;
	struct proc *p = proc_self();
	uint64_t r[128];

	if ((a[2] & ~(uintptr_t)GRND_ANY) != 0 ||
	    (a[2] & GRND_BOTH) == GRND_BOTH)
		return -EINVAL;
	while (done < len) {
		size_t n = len - done < sizeof r ? len - done : sizeof r;

		for (size_t i = 0; i * sizeof r[0] < n; i++)
			r[i] = random64(p);
		if (copyout(a[0] + done, r, n) != 0)
			return -EFAULT;
		done += n;
		entry_budget_add(2);
	}
	return (intptr_t)done;
}

#define RLIM_INFINITY UINT64_MAX

intptr_t
sys_getrlimit(const uintptr_t *a)
{
	if (a[0] >= LIMITS)
		return -EINVAL;
	return -copyout(
	    a[1], &proc_self()->p_limit[a[0]], sizeof(struct limit));
}

/*
 * A limit that is not obeyed can be set to what is in force only.  A program
 * that asks for no limit, as Solaris' cpustat does, gets the hard one.
 */
static intptr_t
set_rlimit(uintptr_t which, uintptr_t uva)
{
	struct limit li, *now = &proc_self()->p_limit[which];

	if (copyin(&li, uva, sizeof li) != 0)
		return -EFAULT;
	if (li.li_soft > li.li_hard)
		return -EINVAL;
	if (li.li_hard == RLIM_INFINITY)
		li.li_hard = now->li_hard;
	if (li.li_soft == RLIM_INFINITY)
		li.li_soft = now->li_hard;
	if (li.li_hard > now->li_hard || li.li_soft > li.li_hard ||
	    (li.li_soft != now->li_soft && (LIMITS_OBEYED >> which & 1) == 0))
		return -EPERM;
	*now = li;
	return 0;
}

intptr_t
sys_prlimit64(const uintptr_t *a)
{
	intptr_t err;

	if (a[0] != 0 && (int)a[0] != proc_self()->p_pid)
		return -ESRCH;
	if (a[1] >= LIMITS)
		return -EINVAL;
	struct limit old = proc_self()->p_limit[a[1]];
	if (a[2] != 0 && (err = set_rlimit(a[1], a[2])) != 0)
		return err;
	return a[3] == 0 ? 0 : -copyout(a[3], &old, sizeof old);
}
