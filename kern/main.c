/*
 * Boot, from the boot protocol's entry to the first LWP: each part of the
 * kernel is initialized here, in the order of their dependencies.
 */
#include <stddef.h>
#include <stdint.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/soft/soft_pcbe.h"
#include "kern/cpc/test/witness.h"
#include "kern/debug/debug.h"
#include "kern/file/archive.h"
#include "kern/main.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/command/cmdline.h"
#include "kern/platform/console.h"
#include "kern/platform/firmware/efirt.h"
#include "kern/platform/results/fb_console.h"
#include "kern/platform/results/keep.h"
#include "kern/platform/run_end.h"
#include "kern/platform/stack_guard.h"
#include "kern/proc/lwp.h"
#include "kern/proc/signal.h"
#include "kern/proc/vdso/vdso.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"
#include "lib/printf.h"
#include "lib/string.h"

/* The parsed command line.  cmdline_error waits until the console works. */
static struct cmdline cmdline;
static char cmdline_error[256];
const char *host_accel;

static void
read_cmdline(const struct bootinfo *bi)
{
	size_t n = bi->bi_cmdline != 0 ? bi->bi_cmdline_bytes : 0;
	char *text;

	if (n > CMDLINE_MAX) {
		snprintf(cmdline_error, sizeof cmdline_error,
		    "command line: %zu bytes, more than the limit of %lu", n,
		    CMDLINE_MAX);
		return;
	}
	if (n > 0 && !bootinfo_is_ram(bi, bi->bi_cmdline, n)) {
		snprintf(cmdline_error, sizeof cmdline_error,
		    "command line: %zu bytes at %#lx are not in memory that "
		    "the kernel may use: have the boot loader put it elsewhere",
		    n, (unsigned long)bi->bi_cmdline);
		return;
	}
	if ((text = kmalloc(n + 1)) == NULL) {
		snprintf(cmdline_error, sizeof cmdline_error,
		    "command line: out of memory");
		return;
	}
	if (n > 0)
		memcpy(text, pa_to_va(bi->bi_cmdline), n);
	cmdline_parse(text, &cmdline, cmdline_error, sizeof cmdline_error);
	host_accel = cmdline_host(&cmdline, "accel");
	run_deadline_set(cmdline.cl_deadline);
	cons_set_framed(cmdline.cl_framed);
	cons_uart = cmdline.cl_uart;
	if (cmdline.cl_debug & DEBUG_POISON)
		page_poison_start();
	if (cmdline.cl_cpus != 0)
		cpu_limit = cmdline.cl_cpus;
	cpu_nmi_panics = cmdline.cl_nmi_panics;
	cpu_nmi_all = cmdline.cl_test_hooks;
	pcbe_announced_only = cmdline.cl_models_pmceid;
	pcbe_any_event = cmdline.cl_models_any;
	pcbe_models = cmdline.cl_models;
	pcbe_nmodels = cmdline.cl_nmodels;
}

static void
init_screen(const struct bootinfo *bi)
{
	size_t pages = (fbcons_bytes(bi) + PAGE_SIZE - 1) / PAGE_SIZE;

	if (pages == 0)
		return;
	char *cells = page_alloc_run(pages);
	if (!fbcons_init(bi, cells) && cells != NULL)
		page_free_run(cells, pages);
}

static void
launcher_main(void *)
{
	test_crash(cmdline.cl_debug);
	int status = launch(&cmdline);
	show_results(&cmdline);
	limit_print();
	quiet_end();
	if (cpu_stray_nmis() > 0)
		printf("cpu: %u stray NMI(s) in this run\n", cpu_stray_nmis());
	run_end(witness_end() ? status : EXIT_FAILED);
}

void
kern_cpu_main(struct cpu *cpu)
{
	if (run_deadline != 0 && !cpu->c_skewed)
		timer_start(
		    &cpu->c_deadline, run_deadline, run_deadline_check, NULL);
	__atomic_store_n(&cpu->c_online, true, __ATOMIC_RELEASE);
	sched_idle();
}

/* The launcher is the first LWP; this context becomes the idle LWP. */
static _Noreturn void
start_launcher(void)
{
	struct lwp *l = lwp_create(NULL, launcher_main, NULL);

	if (l == NULL)
		panic("no memory for the launcher");
	sched_ready(l);
	kern_cpu_main(arch_curcpu());
}

void
kern_main(struct bootinfo *bi)
{
	stack_guard_init();
	bootinfo_sort(bi);
	uint64_t far = bootinfo_cut(bi, arch_direct_bytes);
	/* A loader may name an address without RAM: archive_init() refuses. */
	if (bootinfo_is_ram(bi, bi->bi_archive, bi->bi_archive_bytes))
		bootinfo_reserve(bi, bi->bi_archive, bi->bi_archive_bytes);
	arch_init_early(bi);
	keep_start(bi);
	printf("barecpc: %s, version " VERSION "\n", arch_name);
	if (far != 0)
		printf("mem: %lu MiB beyond %#lx are left out: the kernel maps "
		       "no more\n",
		    (unsigned long)(far >> 20),
		    (unsigned long)arch_direct_bytes);
	page_init(bi);
	init_screen(bi);
	read_cmdline(bi);
	arch_init(bi);
	clock_init();
	run_deadline_set(cmdline.cl_deadline); /* x86: the rate is known now */
	vdso_init();
	efirt_init(bi);
	if (cmdline_error[0] != '\0') {
		printf("barecpc: %s\n", cmdline_error);
		run_end(EXIT_FAILED);
	}
	if (cmdline.cl_foreign[0] != '\0')
		printf("barecpc: command line: ignored words of another "
		       "system: %s: put programs after --\n",
		    cmdline.cl_foreign);
	kcpc_register();
	sched_init_cpu(arch_curcpu());
	cpu_start_all();
	kcpc_init(cmdline.cl_pmu != NULL
		      ? soft_pcbe(&cmdline.cl_soft, cmdline.cl_pmu)
		      : NULL);
	quiet_start(cmdline.cl_quiet, cmdline.cl_argc == 0);
	if (cmdline.cl_witness != 0 && !witness_init(cmdline.cl_witness))
		run_end(EXIT_FAILED);
	if (cmdline.cl_limit != 0 &&
	    !limit_init(cmdline.cl_limit, cmdline.cl_limit_page))
		run_end(EXIT_FAILED);
	kcpc_set_notify(sig_overflow);
	if (!archive_init(bi))
		run_end(EXIT_FAILED);
	machine_init(bi, &cmdline);
	firmware_init(bi);
	syscall_init();
	proc_files_init();
	perf_event_init();
	test_hooks_init(cmdline.cl_test_hooks);
	start_launcher();
}
