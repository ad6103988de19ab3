/*
 * System calls with arguments of the types that they expect.  They work in an
 * arena that all LWPs of the process share.  One LWP maps, moves, protects and
 * unmaps ranges of it while other LWPs use them.  Calls also pack sets in it,
 * and a signal handler changes the frame by which it returns.
 */
#define _GNU_SOURCE /* mremap(), siginfo's ucontext */
#include "tests/image/hostile/chaos/chaos.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/cpc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

long syscall(long, ...);

#define PAGE      ((uintptr_t)4096)
#define RW        (PROT_READ | PROT_WRITE)
#define NDESC     12
#define FORGED    SIGUSR2
#define FORK_ENDS 4 /* calls that a copy makes */

static char *arena;
static uintptr_t arena_pages;

static uintptr_t
random_page(void)
{
	return (uintptr_t)arena + chaos_below(arena_pages) * PAGE;
}

/* A random size that ends within the arena. */
static uintptr_t
random_bytes(uintptr_t from)
{
	uintptr_t end = (uintptr_t)arena + arena_pages * PAGE;

	return (1 + chaos_below((end - from) / PAGE)) * PAGE;
}

static uintptr_t
random_word(void)
{
	return random_page() + chaos_below(PAGE / 8) * 8;
}

static uintptr_t
random_descriptor(void)
{
	return chaos_below(NDESC);
}

/*
 * Memory
 */

static void
call_mmap(void)
{
	static const int flags[] = { MAP_FIXED, MAP_FIXED, MAP_FIXED, 0x100000,
		MAP_FIXED | MAP_CONTIG };
	uintptr_t at = random_page();

	syscall(SYS_mmap, at, random_bytes(at), chaos_below(8),
	    MAP_PRIVATE | MAP_ANONYMOUS | flags[chaos_below(5)], -1L, 0L);
}

static void
call_mmap_file(void)
{
	uintptr_t at = random_page();

	syscall(SYS_mmap, at, random_bytes(at), chaos_below(2) * PROT_READ,
	    MAP_FIXED | (chaos_one_in(2) ? MAP_SHARED : MAP_PRIVATE),
	    random_descriptor(), chaos_below(4) * PAGE);
}

static void
call_munmap(void)
{
	uintptr_t at = random_page();

	syscall(SYS_munmap, at, random_bytes(at));
}

static void
call_mprotect(void)
{
	uintptr_t at = random_page();

	syscall(SYS_mprotect, at, random_bytes(at),
	    chaos_one_in(2) ? (uintptr_t)RW : chaos_below(8));
}

static void
call_mremap(void)
{
	uintptr_t at = random_page();

	syscall(SYS_mremap, at, random_bytes(at), (1 + chaos_below(32)) * PAGE,
	    chaos_below(2) * MREMAP_MAYMOVE);
}

static void
call_madvise(void)
{
	uintptr_t at = random_page();

	syscall(SYS_madvise, at, random_bytes(at), MADV_DONTNEED);
}

/* Counters.  The kernel must check everything in a packed set. */

#define NREQ  4
#define NATTR 2

struct packed {
	struct cpc_pack head;
	struct cpc_packreq req[NREQ];
	struct cpc_packattr attr[NREQ * NATTR];
};

static void
pack_set(struct packed *p)
{
	memset(p, 0, sizeof *p);
	p->head.cp_set = 1 + chaos_below(3);
	p->head.cp_nreqs = 1 + (uint32_t)chaos_below(NREQ);
	p->head.cp_nattrs = p->head.cp_nreqs * NATTR;
	for (unsigned i = 0; i < p->head.cp_nreqs; i++) {
		struct cpc_packreq *r = &p->req[i];

		r->cr_event.ce_pics = (uint32_t)-chaos_below(3);
		r->cr_event.ce_flags = CPC_EVENT_RAW;
		r->cr_event.ce_code = chaos_one_in(2) ? 0xc0 : chaos_below(256);
		r->cr_event.ce_extra = chaos_one_in(8) ? chaos_below(64) : 0;
		r->cr_preset = -chaos_below(5000);
		r->cr_flags = (uint32_t)chaos_below(16);
		r->cr_picnum = chaos_one_in(4) ? (int32_t)chaos_below(9) : -1;
		r->cr_nattrs = NATTR;
		r->cr_attr = i * NATTR;
	}
	for (unsigned n = 0; n < p->head.cp_nattrs; n++)
		CPC_PACK_ATTRS(&p->head)[n].cpa_id = (uint32_t)chaos_below(6);
	if (chaos_one_in(8))
		((uint32_t *)p)[chaos_below(sizeof *p / 4)] =
		    (uint32_t)chaos_below(UINT32_MAX);
}

/* The last child of the process. */
static volatile pid_t last_child;

/* A process to control, but not the test, which ends all others. */
static pid_t
random_process(void)
{
	static const pid_t wrong[] = { 0, -1, INT_MAX };
	pid_t pid = last_child;

	if (chaos_one_in(8))
		pid = wrong[chaos_below(3)];
	else if (chaos_one_in(4))
		pid = chaos_one_in(2) ? getppid() : getpid();
	return pid != chaos.ch_root ? pid : 0;
}

static uint64_t
random_target(void)
{
	return CPC_TARGET(random_process(), chaos_below(3));
}

/* Another LWP may write to the set during the bind. */
static void
call_bind(void)
{
	uintptr_t at = random_word();
	struct packed p;

	pack_set(&p);
	chaos_write(at, &p, sizeof p);
	if (chaos_one_in(4))
		cpc_syscall(CPC_OP_BIND, at, p.head.cp_set, random_target(),
		    random_word());
	else if (chaos_one_in(4))
		cpc_syscall(CPC_OP_BIND, at, p.head.cp_set,
		    CPC_TARGET_CPU(chaos_below((unsigned)chaos.ch_cpus + 1)),
		    random_word());
	else
		cpc_syscall(CPC_OP_BIND, at, p.head.cp_set, chaos_below(2),
		    random_word());
}

static void
call_counters(void)
{
	static const enum cpc_op ops[] = { CPC_OP_SAMPLE, CPC_OP_RELE,
		CPC_OP_ENABLE, CPC_OP_DISABLE, CPC_OP_PRESET, CPC_OP_RESTART,
		CPC_OP_WHERE, CPC_OP_LIVE, CPC_OP_REVOKE, CPC_OP_PAGE,
		CPC_OP_TEST_DISTURB, CPC_OP_PROFILE, CPC_OP_PROFILE_STAT,
		CPC_OP_INVALIDATE };

	cpc_syscall(ops[chaos_below(sizeof ops / sizeof *ops)], chaos_below(4),
	    random_word(), chaos_below(5),
	    chaos_one_in(2) ? random_target() : CPC_TARGET_SELF);
}

static void
control_process(pid_t pid)
{
	uint64_t op = chaos_below(8);
	uintptr_t a = chaos_below(128);

	if (op == BARECPC_CONTROL_ME && !chaos_one_in(8))
		op = BARECPC_CONTROL_WAIT;
	if (op == BARECPC_CONTROL_WAIT)
		a = (uintptr_t)gethrtime() + chaos_below(1000000);
	if (op == BARECPC_CONTROL_GIVE)
		a = (uintptr_t)last_child;
	syscall(BARECPC_SYS_CONTROL, op, (long)pid, a, random_word());
}

/*
 * Control another process.  Its LWPs stop until the caller's process lets them
 * go on, or ends.  After `me` the caller's process stops for the test, and is
 * killed: so that is rare.
 */
static void
call_control(void)
{
	pid_t pid = random_process();

	if (chaos_one_in(2))
		syscall(BARECPC_SYS_CONTROL, (long)BARECPC_CONTROL_CAPTURE,
		    (long)pid, 0L, 0L);
	for (uint64_t n = chaos_below(5); n > 0; n--)
		control_process(pid);
}

/*
 * Signals
 */

/* Change the frame by which the handler returns. */
static void
change_frame(int sig, siginfo_t *si, void *ctx)
{
	ucontext_t *uc = ctx;
	uint64_t *words = ctx;

	(void)sig;
	(void)si;
	if (chaos_one_in(2))
		memset(&uc->uc_sigmask, (int)chaos_below(256), 8);
	if (chaos_one_in(2))
		uc->uc_stack.ss_flags = (int)chaos_below(8);
	if (chaos_one_in(4))
		words[chaos_below(sizeof *uc / 8)] ^= 1ULL << chaos_below(64);
	if (chaos_one_in(8))
		words[chaos_below(sizeof *uc / 8)] = chaos_below(UINT64_MAX);
}

static void
call_forged(void)
{
	syscall(SYS_tkill, syscall(SYS_gettid), FORGED);
}

static void
call_itimer(void)
{
	struct itimerval it = { { 0, 200 + (long)chaos_below(3000) },
		{ 0, 100 + (long)chaos_below(1000) } };

	setitimer(ITIMER_REAL, &it, NULL);
}

static void
call_sigqueue(void)
{
	siginfo_t si = { .si_code = SI_QUEUE };

	syscall(SYS_rt_sigqueueinfo, (long)chaos.ch_pid, FORGED, &si);
}

/* Other calls */

static void
call_futex(void)
{
	struct timespec ts = { 0, (long)chaos_below(100000) };

	/* FUTEX_WAIT, WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAIT_BITSET */
	syscall(SYS_futex, random_word() & -4, chaos_below(10), chaos_below(2),
	    &ts, random_word(), chaos_below(3));
}

static void
call_pipe(void)
{
	uintptr_t at = random_word();

	switch (chaos_below(5)) {
	case 0:
		syscall(SYS_pipe2, at, O_NONBLOCK);
		break;
	case 1:
		syscall(
		    SYS_write, random_descriptor(), at, chaos_below(2 * PAGE));
		break;
	case 2:
		syscall(
		    SYS_read, random_descriptor(), at, chaos_below(2 * PAGE));
		break;
	case 3:
		syscall(SYS_dup, random_descriptor());
		break;
	default:
		syscall(SYS_close, 3 + random_descriptor());
		break;
	}
}

static void
call_open(void)
{
	static const char *const paths[] = { "/", "chaos", "/dev/zero",
		"/dev/profile", "/dev/machine", "nonesuch/x" };

	syscall(SYS_openat, -100L, paths[chaos_below(6)], chaos_below(3));
}

static void
call_poll(void)
{
	struct timespec ts = { 0, (long)chaos_below(50000) };
	struct pollfd fds[3];

	for (unsigned i = 0; i < 3; i++)
		fds[i] = (struct pollfd){ (int)random_descriptor(),
			(short)chaos_below(64), 0 };
	syscall(SYS_ppoll, fds, chaos_below(4), &ts, 0L, 8L);
}

static void
call_fork(void)
{
	long pid = syscall(SYS_clone,
	    SIGCHLD | (chaos_one_in(4) ? CLONE_VFORK : 0), 0L, 0L, 0L, 0L);

	if (pid == 0) {
		chaos.ch_pid = getpid();
		for (unsigned i = 0; i < FORK_ENDS; i++)
			chaos_typed_call();
		_exit(0);
	}
	if (pid > 0)
		last_child = (pid_t)pid;
	if (pid > 0 && !chaos_one_in(8))
		syscall(SYS_wait4, pid, 0L, chaos_below(2), 0L);
}

/* Execute a program that needs arguments, or none; rare, as it ends LWPs. */
static void
call_exec(void)
{
	char *argv[] = { "x", NULL };

	if (chaos_one_in(16))
		syscall(SYS_execve, chaos_one_in(2) ? "mix_exec" : "nonesuch",
		    argv, NULL);
}

static void
call_cpus(void)
{
	syscall(BARECPC_SYS_SCHED, chaos_below(2), chaos_one_in(2) ? 8L : 0L,
	    -1L, (long)chaos_below((unsigned)chaos.ch_cpus + 1) - 1, 0L);
}

static const struct {
	void (*fn)(void);
	unsigned weight;
} calls[] = {
	{ call_mmap, 8 },
	{ call_mmap_file, 2 },
	{ call_munmap, 4 },
	{ call_mprotect, 8 },
	{ call_mremap, 6 },
	{ call_madvise, 4 },
	{ call_bind, 6 },
	{ call_counters, 8 },
	{ call_forged, 4 },
	{ call_itimer, 1 },
	{ call_sigqueue, 1 },
	{ call_futex, 6 },
	{ call_pipe, 8 },
	{ call_open, 2 },
	{ call_poll, 2 },
	{ call_fork, 2 },
	{ call_control, 3 },
	{ call_exec, 1 },
	{ call_cpus, 2 },
};

void
chaos_typed_call(void)
{
	unsigned all = 0, n;

	for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
		all += calls[i].weight;
	n = (unsigned)chaos_below(all);
	for (unsigned i = 0;; n -= calls[i++].weight) {
		if (n < calls[i].weight) {
			calls[i].fn();
			return;
		}
	}
}

void
chaos_typed_begin(char *at, size_t pages)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	arena = at;
	arena_pages = pages;
	sa.sa_sigaction = change_frame;
	sigaction(FORGED, &sa, NULL);
}
