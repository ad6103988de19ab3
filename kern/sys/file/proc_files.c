/*
 * The files of /proc and /sys that benchmarks read.  proc(5); Linux,
 * Documentation/admin-guide/cputopology.rst.
 */
#include "kern/arch.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/text.h"

#define CENTI_NS   (NS_PER_S / 100)
#define KIB(pages) ((unsigned long)((pages)*PAGE_SIZE >> 10))

static void
cpuinfo(struct text *t, unsigned)
{
	for (unsigned i = 0; i < cpu_nonline(); i++)
		arch_cpuinfo(t, i);
}

static void
loadavg(struct text *t, unsigned)
{
	text_add(t, "0.00 0.00 0.00 1/%u %d\n", nlwp, proc_self()->p_pid);
}

/* All memory in use is the programs': there is no cache. */
static void
meminfo(struct text *t, unsigned)
{
	text_add(t,
	    "MemTotal:       %8lu kB\nMemFree:        %8lu kB\n"
	    "MemAvailable:   %8lu kB\nBuffers:        %8u kB\n"
	    "Cached:         %8u kB\nSwapTotal:      %8u kB\n"
	    "SwapFree:       %8u kB\nHugepagesize:   %8lu kB\n",
	    KIB(page_ntotal()), KIB(page_nfree()), KIB(page_nfree()), 0, 0, 0,
	    0, LARGE_SIZE >> 10);
}

/* One line for each region.  C libraries look for the stack's. */
static void
self_maps(struct text *t, unsigned)
{
	const struct region *r = proc_self()->p_as->as_regions.rt_first;

	for (; r != NULL; r = r->r_next)
		text_add(t, "%012lx-%012lx %c%c%c%c 00000000 00:00 0\n",
		    (unsigned long)r->r_start, (unsigned long)r->r_end,
		    r->r_prot & PROT_READ ? 'r' : '-',
		    r->r_prot & PROT_WRITE ? 'w' : '-',
		    r->r_prot & PROT_EXEC ? 'x' : '-',
		    r->r_memory != NULL ? 's' : 'p');
}

/* All else is 0, or as in a process without a terminal. */
static void
self_stat(struct text *t, unsigned)
{
	const struct proc *p = proc_self(), *parent = p->p_parent;

	proc_account();
	text_add(t,
	    "%d (%s) R %d %d %d 0 -1 0 0 0 0 0 %lu 0 %lu 0 20 0 %u 0 0 "
	    "%lu %lu 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 %u "
	    "0 0 0 0 0 0 0 %lu 0 0 0 0 0\n",
	    p->p_pid, lwp_self()->l_name, parent ? parent->p_pid : 0, p->p_pgid,
	    p->p_sid, (unsigned long)(tick_to_ns(proc_ran(p)) / CENTI_NS),
	    (unsigned long)(tick_to_ns(p->p_children_ran) / CENTI_NS),
	    p->p_nlwp, KIB(p->p_as->as_npages) << 10,
	    (unsigned long)p->p_as->as_npages, arch_curcpu()->c_id,
	    (unsigned long)p->p_as->as_brk_base);
}

static void
self_status(struct text *t, unsigned)
{
	const struct proc *p = proc_self(), *parent = p->p_parent;
	const struct region *r = p->p_as->as_regions.rt_first;
	unsigned long kib = KIB(p->p_as->as_npages), locked = 0;

	for (; r != NULL; r = r->r_next)
		locked += r->r_locked ? (r->r_end - r->r_start) >> 10 : 0;
	text_add(t,
	    "Name:\t%s\nState:\tR (running)\nTgid:\t%d\nPid:\t%d\n"
	    "PPid:\t%d\nTracerPid:\t0\nUid:\t0\t0\t0\t0\n"
	    "Gid:\t0\t0\t0\t0\nVmSize:\t%8lu kB\nVmLck:\t%8lu kB\n"
	    "VmRSS:\t%8lu kB\n"
	    "Threads:\t%u\nSigBlk:\t%016lx\n",
	    lwp_self()->l_name, p->p_pid, lwp_self()->l_tid,
	    parent ? parent->p_pid : 0, kib, locked, kib, p->p_nlwp,
	    (unsigned long)lwp_self()->l_kept.sk_mask);
}

static void
uptime(struct text *t, unsigned)
{
	unsigned long cs = (unsigned long)(gethrtime() / CENTI_NS);

	text_add(t, "%lu.%02lu 0.00\n", cs / 100, cs % 100);
}

/* perf_event_open(2): a program may count itself and the kernel. */
enum { PERF_PARANOID, MOUNTS, VERSION };

static void
constant(struct text *t, unsigned which)
{
	static const char *const texts[] = { "1\n",
		"tmpfs / tmpfs ro 0 0\ntmpfs /tmp tmpfs rw 0 0\n"
		"tmpfs /dev/shm tmpfs rw 0 0\n",
		"Linux version 6.1.0-barecpc (barecpc)\n" };

	text_add(t, "%s", texts[which]);
}

static void
cpu_range(struct text *t, unsigned)
{
	if (cpu_nonline() == 1)
		text_add(t, "0\n");
	else
		text_add(t, "0-%u\n", cpu_nonline() - 1);
}

static void
cpu_is_online(struct text *t, unsigned cpu)
{
	text_add(t, "%u\n", cpus[cpu].c_online);
}

/* Files of one directory follow each other. */
static const struct text_file files[] = {
	{ "proc/cpuinfo", cpuinfo, 0 },
	{ "proc/loadavg", loadavg, 0 },
	{ "proc/meminfo", meminfo, 0 },
	{ "proc/mounts", constant, MOUNTS },
	{ "proc/self/maps", self_maps, 0 },
	{ "proc/self/mounts", constant, MOUNTS },
	{ "proc/self/stat", self_stat, 0 },
	{ "proc/self/status", self_status, 0 },
	{ "proc/sys/kernel/perf_event_paranoid", constant, PERF_PARANOID },
	{ "proc/uptime", uptime, 0 },
	{ "proc/version", constant, VERSION },
	{ "sys/devices/system/cpu/online", cpu_range, 0 },
	{ "sys/devices/system/cpu/possible", cpu_range, 0 },
	{ "sys/devices/system/cpu/present", cpu_range, 0 },
};
#define NFILE     (sizeof files / sizeof *files)
#define PATH_ROOM 40

void
proc_files_init(void)
{
	struct text_file *all = kmalloc((NFILE + ncpu) * sizeof *all);
	char(*path)[PATH_ROOM] = kmalloc(ncpu * sizeof *path);

	if (all == NULL || path == NULL)
		panic("no memory for the files of /proc and /sys");
	memcpy(all, files, sizeof files);
	for (unsigned i = 0; i < ncpu; i++) {
		snprintf(path[i], PATH_ROOM,
		    "sys/devices/system/cpu/cpu%u/online", i);
		all[NFILE + i] =
		    (struct text_file){ path[i], cpu_is_online, i };
	}
	file_register_texts(all, NFILE + ncpu);
}
