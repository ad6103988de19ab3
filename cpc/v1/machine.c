/* Version 1: the machine, its names, and reports. */
#include "cpc/v1/v1.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpc/cpci.h"

static const int16_t kind_ver[] = {
	[CPC_PMU_INTEL] = CPC_BARECPC_X86,
	[CPC_PMU_AMD] = CPC_BARECPC_X86,
	[CPC_PMU_ARM] = CPC_BARECPC_ARM,
	[CPC_PMU_SOFTWARE] = CPC_BARECPC_SOFT,
};

struct v1_cpu
cpci_v1_cpu_of(const struct cpc_pmu *pm)
{
	uint32_t pics = pm->pm_pics & pm->pm_general;
	struct v1_cpu cpu = { .vc_ver = -1 };

	if (__builtin_popcount(pics) >= 2) {
		cpu.vc_ver = kind_ver[pm->pm_kind];
		cpu.vc_kind = (uint8_t)pm->pm_kind;
		cpu.vc_pic[0] = (uint8_t)__builtin_ctz(pics);
		cpu.vc_pic[1] = (uint8_t)__builtin_ctz(pics & (pics - 1));
	}
	return cpu;
}

/* One word: a signal handler may come between a load and a store. */
union known_cpu {
	uint64_t word;
	struct v1_cpu cpu;
};

struct v1_cpu
cpci_v1_cpu(void)
{
	static uint64_t known; /* 0: not asked yet */
	union known_cpu now = { .word =
				    __atomic_load_n(&known, __ATOMIC_RELAXED) };
	struct cpc_pmu pm;

	if (now.word != 0)
		return now.cpu;
	now.cpu.vc_ver = -1;
	if (cpc_syscall(CPC_OP_PMU, (uintptr_t)&pm, 0, 0, 0) == 0)
		now.cpu = cpci_v1_cpu_of(&pm);
	__atomic_store_n(&known, now.word, __ATOMIC_RELAXED);
	return now.cpu;
}

/* Reports */

static cpc_errfn_t *error_function;

void
cpc_seterrfn(cpc_errfn_t *fn)
{
	__atomic_store_n(&error_function, fn, __ATOMIC_RELAXED);
}

static void
report_default(const char *fn, const char *fmt, va_list ap)
{
	fprintf(stderr, "libcpc: %s: ", fn);
	vfprintf(stderr, fmt, ap);
}

void
cpci_v1_report(const char *fn, const char *fmt, ...)
{
	cpc_errfn_t *errfn = __atomic_load_n(&error_function, __ATOMIC_RELAXED);
	va_list ap;

	va_start(ap, fmt);
	(errfn != NULL ? errfn : report_default)(fn, fmt, ap);
	va_end(ap);
}

/* Versions and names */

uint_t
cpc_version(uint_t v)
{
	switch (v) {
	case CPC_VER_NONE:
		return CPC_VER_CURRENT;
	case CPC_VER_1:
	case CPC_VER_CURRENT:
		return v;
	default:
		return CPC_VER_NONE;
	}
}

int
cpc_getcpuver(void)
{
	return cpci_v1_cpu().vc_ver;
}

int
cpc_access(void)
{
	intptr_t r = cpc_syscall(CPC_OP_ACCESS, 0, 0, 0, 0);

	if (r == 0)
		return 0;
	if (r == -EAGAIN)
		cpci_v1_report("access", "Another process may be sampling "
					 "system-wide CPU statistics\n");
	else
		cpci_v1_report("access",
		    "CPU performance counters are inaccessible "
		    "on this machine\n");
	errno = (int)-r;
	return -1;
}

#define SPEC    "pic0=<event0>,pic1=<event1> [,sys[0|1]] [,nouser[0|1]] "
#define SPEC_P5 SPEC "[,noedge[0|1]] [,pc[0|1]] "
#define SPEC_P6                                                                \
	SPEC "[,noedge[0|1]] [,pc[0|1]] [,int[0|1]] [,inv[0|1]] "              \
	     "[,cmask[0|1]=<maskspec>] [,umask[0|1]=<maskspec>] "
#define INTEL_ARCH "Intel Architecture Software Developer's Manual"

/* The fields of this machine's own entries are NULL: version 2 has them. */
static const struct cpuver {
	int cv_ver;
	const char *cv_name, *cv_ref, *cv_usage;
} cpuvers[] = {
	{ CPC_PENTIUM, "Pentium", INTEL_ARCH, SPEC_P5 },
	{ CPC_PENTIUM_MMX, "Pentium with MMX", INTEL_ARCH, SPEC_P5 },
	{ CPC_PENTIUM_PRO, "Pentium Pro, Pentium II", INTEL_ARCH, SPEC_P6 },
	{ CPC_PENTIUM_PRO_MMX, "Pentium Pro with MMX, Pentium II", INTEL_ARCH,
	    SPEC_P6 },
	{ CPC_BARECPC_X86, NULL, NULL, SPEC_P6 },
	{ CPC_BARECPC_ARM, NULL, NULL, SPEC },
	{ CPC_BARECPC_SOFT, NULL, NULL, SPEC },
};

static char own_name[CPC_MAX_IMPL_NAME], own_ref[CPC_MAX_CPUREF];

static void
fetch_own(void)
{
	cpci_text(CPC_OP_IMPL_NAME, own_name, sizeof own_name);
	cpci_text(CPC_OP_CPUREF, own_ref, sizeof own_ref);
}

/* This machine's text, or NULL. */
static const char *
own_text(const char *text)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch_own);
	return *text != '\0' ? text : NULL;
}

/* NULL if the cpuver is unknown.  One of the last three entries is known. */
static const struct cpuver *
find_cpuver(int cpuver)
{
	const struct cpuver *cv = cpuvers;
	const struct cpuver *end = cv + sizeof cpuvers / sizeof *cpuvers;

	while (cv < end && cv->cv_ver != cpuver)
		cv++;
	if (cv == end || (cv->cv_name == NULL && cpuver != cpc_getcpuver()))
		return NULL;
	return cv;
}

const char *
cpc_getcciname(int cpuver)
{
	const struct cpuver *cv = find_cpuver(cpuver);

	if (cv == NULL)
		return NULL;
	return cv->cv_name != NULL ? cv->cv_name : own_text(own_name);
}

const char *
cpc_getcpuref(int cpuver)
{
	const struct cpuver *cv = find_cpuver(cpuver);

	if (cv == NULL)
		return NULL;
	return cv->cv_ref != NULL ? cv->cv_ref : own_text(own_ref);
}

const char *
cpc_getusage(int cpuver)
{
	const struct cpuver *cv = find_cpuver(cpuver);

	return cv != NULL ? cv->cv_usage : NULL;
}

uint_t
cpc_getnpic(int cpuver)
{
	return find_cpuver(cpuver) != NULL ? 2 : 0;
}

void
cpc_walk_names(int cpuver, int regno, void *arg,
    void (*action)(void *arg, int regno, const char *name, uint8_t bits))
{
	struct v1_cpu cpu = cpci_v1_cpu();
	struct v1_walk vw = { 0 };

	if (cpu.vc_ver == -1 || cpuver != cpu.vc_ver || regno < 0 ||
	    regno > 1 || action == NULL)
		return;
	while (cpci_v1_next(machine_here(), cpu, regno, &vw))
		action(arg, regno, vw.vw_name, (uint8_t)vw.vw_word);
}
