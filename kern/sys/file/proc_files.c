/*
 * The files of /proc and /sys that benchmarks read.  proc(5); Linux,
 * Documentation/admin-guide/cputopology.rst.
 */
#include "kern/arch.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/text.h"

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

static void
uptime(struct text *t, unsigned)
{
	unsigned long cs = (unsigned long)(gethrtime() / (NS_PER_S / 100));

	text_add(t, "%lu.%02lu 0.00\n", cs / 100, cs % 100);
}

static void
version(struct text *t, unsigned)
{
	text_add(t, "Linux version 6.1.0-barecpc (barecpc)\n");
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
	{ "proc/self/maps", self_maps, 0 },
	{ "proc/uptime", uptime, 0 },
	{ "proc/version", version, 0 },
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
