/*
 * Prints what a machine tells a program of itself: the auxiliary vector without
 * addresses, and the registers that the kernel sets or emulates.  It runs as
 * the only process of a Linux, and as a payload of barecpc: the lines are the
 * same (tests/cli/count/identity.py).
 */
#include <elf.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static sigjmp_buf out;

static void
leave(int sig)
{
	siglongjmp(out, sig);
}

static void
auxiliary_vector(void)
{
	static const struct {
		unsigned long type;
		const char *name;
	} values[] = {
		{ AT_HWCAP, "HWCAP" },
		{ AT_HWCAP2, "HWCAP2" },
		{ AT_PAGESZ, "PAGESZ" },
		{ AT_CLKTCK, "CLKTCK" },
		{ AT_PHENT, "PHENT" },
		{ AT_BASE, "BASE" },
		{ AT_FLAGS, "FLAGS" },
		{ AT_UID, "UID" },
		{ AT_EUID, "EUID" },
		{ AT_GID, "GID" },
		{ AT_EGID, "EGID" },
		{ AT_SECURE, "SECURE" },
		{ AT_MINSIGSTKSZ, "MINSIGSTKSZ" },
	};
	static const unsigned long there[] = { AT_PHDR, AT_PHNUM, AT_ENTRY,
		AT_RANDOM, AT_EXECFN, AT_SYSINFO_EHDR };

	for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
		printf("= AT_%s %#lx\n", values[i].name,
		    getauxval(values[i].type));
	for (unsigned i = 0; i < sizeof there / sizeof *there; i++)
		printf("= AT %lu %s\n", there[i],
		    getauxval(there[i]) != 0 ? "there" : "missing");
	printf("= AT_PLATFORM %s\n", (const char *)getauxval(AT_PLATFORM));
}

#ifdef __aarch64__
static unsigned long pstate;

static void
keep_pstate(int sig, siginfo_t *info, void *context)
{
	(void)info;
	pstate = ((ucontext_t *)context)->uc_mcontext.pstate;
	siglongjmp(out, sig);
}

/* A jump to a read that is emulated, and the flags of the jump after it. */
static void
jump_to_read(void)
{
	struct sigaction sa = { .sa_sigaction = keep_pstate,
		.sa_flags = SA_SIGINFO };
	struct sigaction before;

	sigaction(SIGILL, &sa, &before);
	if (sigsetjmp(out, 1) == 0)
		__asm__ volatile("adr x16, 1f\n\t"
				 "br x16\n"
				 "1:\tmrs x0, S3_0_C0_C4_0\n\t"
				 ".inst 0" /* UDF */
				 :
				 :
				 : "x0", "x16");
	sigaction(SIGILL, &before, NULL);
	printf("= BTYPE after a read %#lx\n", pstate & 0xc00);
}

/* Run MRS X0 of a register of S3_0_C0, by code made here. */
static void
read_id(unsigned crm, unsigned op2)
{
	uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t (*volatile fn)(void) = (uint64_t(*)(void))code;

	if (code == MAP_FAILED)
		return;
	code[0] =
	    0xd5380000u | crm << 8 | op2 << 5; /* MRS X0, S3_0_C0_Cm_op2 */
	code[1] = 0xd65f03c0u;                 /* RET */
	__builtin___clear_cache((char *)code, (char *)(code + 2));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
		return;
	if (sigsetjmp(out, 1) == 0)
		printf("= S3_0_C0_C%u_%u %#lx\n", crm, op2, fn());
	else
		printf("= S3_0_C0_C%u_%u undefined\n", crm, op2);
	munmap(code, 4096);
}

#define READ(reg)                                                              \
	do {                                                                   \
		uint64_t v_;                                                   \
		__asm__ volatile("mrs %0, " #reg : "=r"(v_));                  \
		printf("= " #reg " %#lx\n", v_);                               \
	} while (0)

static void
registers(void)
{
	for (unsigned crm = 0; crm < 8; crm++) {
		for (unsigned op2 = 0; op2 < 8; op2++)
			read_id(crm, op2);
	}
	jump_to_read();
	READ(ctr_el0);
	READ(dczid_el0);
	READ(cntfrq_el0);
	READ(tpidrro_el0);
	READ(fpcr);
}
#else
static void
registers(void)
{
	uint32_t lo, hi, aux, mxcsr, limit = 0;
	uint16_t cw, ds, es, fs, gs;
	uint64_t flags, pid = 0;

	if (sigsetjmp(out, 1) == 0) {
		__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(aux));
		printf("= TSC_AUX %#x\n", aux);
	} else {
		printf("= RDTSCP undefined\n");
	}
	if (sigsetjmp(out, 1) == 0) {
		/* RDPID RAX */
		__asm__ volatile(".byte 0xf3, 0x0f, 0xc7, 0xf8" : "=a"(pid));
		printf("= RDPID %#lx\n", pid);
	} else {
		printf("= RDPID undefined\n");
	}
	__asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(0x7b) : "cc");
	printf("= limit of selector 0x7b %#x\n", limit);
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	printf("= XCR0 0x%x%08x\n", hi, lo);
	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(cw));
	printf("= MXCSR %#x, control word %#x\n", mxcsr, cw);
	__asm__ volatile("mov %%ds, %0" : "=r"(ds));
	__asm__ volatile("mov %%es, %0" : "=r"(es));
	__asm__ volatile("mov %%fs, %0" : "=r"(fs));
	__asm__ volatile("mov %%gs, %0" : "=r"(gs));
	printf("= DS %#x ES %#x FS %#x GS %#x\n", ds, es, fs, gs);
	__asm__ volatile("pushfq; popq %0" : "=r"(flags));
	printf("= IF and IOPL %#lx\n", flags & 0x3200);
}
#endif

/* The registers of each CPU, from the last to the first. */
int
main(void)
{
	struct sigaction sa = { .sa_handler = leave };
	cpu_set_t set;

	sigaction(SIGILL, &sa, NULL);
	putchar('\n'); /* firmware's last line has no end */
	auxiliary_vector();
	sched_getaffinity(0, sizeof set, &set);
	int ncpu = CPU_COUNT(&set);
	while (ncpu-- > 0) {
		CPU_ZERO(&set);
		CPU_SET((unsigned)ncpu, &set);
		if (sched_setaffinity(0, sizeof set, &set) != 0)
			printf("= no CPU %d\n", ncpu);
		printf("= CPU %d\n", ncpu);
		registers();
	}
	fflush(stdout);
	if (getpid() == 1)
		reboot(RB_POWER_OFF);
	return 0;
}
