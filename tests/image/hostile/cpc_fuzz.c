/*
 * No action in an overflow handler, and no place of an overflow, makes anything
 * hang, leak or count wrong.
 *
 * Four LWPs run random sequences.  The program works and calls libcpc and the
 * kernel.  The handler samples, presets, restarts, freezes, unbinds, binds,
 * destroys its set, jumps out, faults, or does nothing.  Two requests of a set
 * count the same, so they always differ by their presets alone.  If the machine
 * has core types, sets are of a type, and LWPs leave its CPUs.
 *
 * Then a controller binds its own sets to these LWPs.
 */
#include "tests/lib/image/cpc_test.h"

#include <libpctx.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/processor.h>
#include <unistd.h>

#define NLWP      4
#define SEQUENCES 400 /* the command line may name another number */
#define TICKS     100 /* of the controller */
#define CALLS_MAX 20  /* handler calls in a sequence that may restart */

/* The C library's heap keeps pages, the threads' stacks page tables. */
TEST_KEEPS(64);

static cpc_t *the_cpc;
static unsigned ntype, ncpu;
static bool exact; /* both requests start and stop at the same instruction */
static long calls, compared;
static unsigned nsequence = SEQUENCES;

/* The state of one LWP. */
static _Thread_local struct fuzz {
	uint64_t random;
	unsigned seed;
	cpc_set_t *set;
	cpc_buf_t *buf;
	uint64_t library[2], kernel[2]; /* presets */
	uint64_t begun[2];              /* the counts' last start values */
	volatile bool known;            /* begun[] is right */
	volatile bool busy;             /* the program is in busy_step() */
	volatile bool plain; /* the program may be left here for ever */
	volatile int calls;
	sigjmp_buf out;
} fz;

/* SplitMix64: all states are equally good. */
static uint64_t
random_below(uint64_t below)
{
	uint64_t z = fz.random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % below;
}

static uint64_t
random_preset(void)
{
	return -(1 + random_below(random_below(2) == 0 ? 50 : 3000));
}

static void
record_begin(const uint64_t from[2])
{
	fz.begun[0] = from[0];
	fz.begun[1] = from[1];
	fz.known = !fz.busy;
}

/* Freeze first: a running set's requests are read one after the other. */
static void
check_difference(void)
{
	bool froze = cpc_disable(the_cpc) == 0;
	uint64_t v[2];

	if (cpc_set_sample(the_cpc, fz.set, fz.buf) == 0 && fz.known && exact) {
		cpc_buf_get(the_cpc, fz.buf, 0, &v[0]);
		cpc_buf_get(the_cpc, fz.buf, 1, &v[1]);
		__atomic_add_fetch(&compared, 1, __ATOMIC_RELAXED);
		if (!EXPECT_EQ(v[0] - fz.begun[0], v[1] - fz.begun[1]))
			test_note("failed: sequence %u", fz.seed);
	}
	if (froze)
		cpc_enable(the_cpc);
}

/* The event, of a core type or of all. */
static void
random_event(char *name, size_t size)
{
	unsigned type = (unsigned)random_below(ntype + 1);

	if (type == ntype)
		snprintf(name, size, INS_EVENT);
	else
		snprintf(name, size, "%s/" INS_EVENT "/",
		    cpc_core_type(the_cpc, type));
}

static void
make_set(void)
{
	char event[64];

	fz.set = cpc_set_create(the_cpc);
	random_event(event, sizeof event);
	for (int i = 0; i < 2; i++) {
		fz.library[i] =
		    i == 0 ? random_preset() : random_below(UINT64_MAX);
		EXPECT_EQ(
		    cpc_set_add_request(the_cpc, fz.set, event, fz.library[i],
			own_privilege() | (i == 0 ? CPC_OVF_NOTIFY_EMT : 0), 0,
			NULL),
		    i);
	}
	fz.buf = cpc_buf_create(the_cpc, fz.set);
	fz.known = false;
}

static void
drop_set(void)
{
	cpc_buf_destroy(the_cpc, fz.buf);
	cpc_set_destroy(the_cpc, fz.set);
}

static void
bind_set(void)
{
	fz.known = false;
	if (cpc_bind_curlwp(the_cpc, fz.set, 0) != 0)
		return;
	for (int i = 0; i < 2; i++)
		fz.kernel[i] = fz.library[i];
	record_begin(fz.library);
}

static void
restart_set(void)
{
	if (cpc_set_restart(the_cpc, random_below(2) == 0 ? fz.set : NULL) == 0)
		record_begin(fz.kernel);
}

static void
preset_request(int i)
{
	uint64_t v = i == 0 ? random_preset() : random_below(UINT64_MAX);

	if (cpc_request_preset(the_cpc, i, v) == 0)
		fz.kernel[i] = v;
}

static void
fault_at_null(void)
{
	static int *volatile nowhere;

	*nowhere = 0;
}

/* One random action of a handler. */
static void
handler_step(void)
{
	bool may_begin = fz.calls < CALLS_MAX;

	switch (random_below(14)) {
	case 0:
	case 1:
	case 2:
		if (may_begin)
			restart_set();
		break;
	case 3:
		preset_request(0);
		break;
	case 4:
		preset_request(1);
		break;
	case 5:
		if (may_begin)
			cpc_enable(the_cpc);
		break;
	case 6:
		cpc_disable(the_cpc);
		break;
	case 7:
		cpc_unbind(the_cpc, fz.set);
		fz.known = false;
		break;
	case 8:
		if (may_begin)
			bind_set();
		break;
	case 9:
		if (fz.plain) {
			drop_set();
			make_set();
		}
		break;
	case 10:
		if (fz.plain)
			siglongjmp(fz.out, 1);
		break;
	case 11:
		if (fz.plain)
			fault_at_null();
		break;
	default:
		check_difference();
		break;
	}
}

static void
handle_overflow(int sig, siginfo_t *si, void *context)
{
	fz.calls++;
	if (fz.busy)
		fz.known = false;
	for (uint64_t n = random_below(5); n > 0; n--)
		handler_step();
}

static void
handle_fault(int sig, siginfo_t *si, void *context)
{
	siglongjmp(fz.out, 1);
}

/* A call that starts, stops or unbinds the set, with SIGEMT unblocked. */
static void
busy_step(void)
{
	fz.busy = true;
	fz.known = false;
	switch (random_below(4)) {
	case 0:
		cpc_set_restart(the_cpc, NULL);
		break;
	case 1:
		cpc_disable(the_cpc);
		break;
	case 2:
		cpc_enable(the_cpc);
		break;
	default:
		cpc_unbind(the_cpc, fz.set);
		break;
	}
	fz.busy = false;
	fz.known = false;
}

/* Run fn with SIGEMT blocked, so that the start values are known. */
static void
run_quietly(void (*fn)(void))
{
	sigset_t emt, was;

	sigemptyset(&emt);
	sigaddset(&emt, SIGEMT);
	pthread_sigmask(SIG_BLOCK, &emt, &was);
	fn();
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

static void
quiet_step(void)
{
	switch (random_below(4)) {
	case 0:
		bind_set();
		break;
	case 1:
		preset_request(random_below(2) == 0);
		break;
	default:
		restart_set();
		break;
	}
	check_difference();
}

/* Go to a CPU, or be free to run on each. */
static void
move_step(void)
{
	processorid_t cpu = (processorid_t)random_below(ncpu + 1);

	processor_bind(P_LWPID, P_MYID,
	    cpu == (processorid_t)ncpu ? PBIND_NONE : cpu, NULL);
}

static void
program_step(void)
{
	if (ntype != 0 && random_below(8) == 0)
		move_step();
	switch (random_below(8)) {
	case 0:
		busy_step();
		break;
	case 1:
	case 2:
		run_quietly(quiet_step);
		break;
	case 3:
		cpc_set_sample(the_cpc, fz.set, fz.buf);
		cpc_buf_sub(the_cpc, fz.buf, fz.buf, fz.buf);
		break;
	case 4:
		fz.plain = true;
		getppid();
		sched_yield();
		break;
	default:
		fz.plain = true;
		spin_loop(1 + random_below(800));
		break;
	}
	fz.plain = false;
}

static void
run_sequence(unsigned seed)
{
	volatile uint64_t left;

	fz.seed = seed;
	fz.random = seed;
	fz.calls = 0;
	left = 1 + random_below(8);
	make_set();
	run_quietly(bind_set);
	sigsetjmp(fz.out, 1);
	fz.plain = false;
	while (left-- > 0)
		program_step();
	/* An overflow from now on finds no set. */
	cpc_unbind(the_cpc, fz.set);
	drop_set();
	__atomic_add_fetch(&calls, fz.calls, __ATOMIC_RELAXED);
}

static void *
run_sequences(void *arg)
{
	unsigned first = (unsigned)(uintptr_t)arg;

	for (unsigned i = first; i < nsequence; i += NLWP)
		run_sequence(i);
	return NULL;
}

/* Does the machine suit?  Prepare for the sequences. */
static bool
prepare(cpc_t *cpc)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0 ||
	    !have_event(cpc, INS_EVENT))
		return false;
	the_cpc = cpc;
	for (ntype = 0; cpc_core_type(cpc, ntype) != NULL; ntype++)
		;
	ncpu = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	exact = own_privilege() == CPC_COUNT_USER;
	sa.sa_sigaction = handle_overflow;
	sigaction(SIGEMT, &sa, NULL);
	sa.sa_sigaction = handle_fault;
	sigaction(SIGSEGV, &sa, NULL);
	return true;
}

static void
run_lwps(void)
{
	pthread_t t[NLWP];

	calls = compared = 0;
	for (uintptr_t i = 0; i < NLWP; i++)
		REQUIRE(
		    pthread_create(&t[i], NULL, run_sequences, (void *)i) == 0);
	for (int i = 0; i < NLWP; i++)
		pthread_join(t[i], NULL);
}

#define NEEDS_OVERFLOWS(cpc)                                                   \
	do {                                                                   \
		if (!prepare(cpc))                                             \
			SKIP("overflows do not interrupt here, or this PMU "   \
			     "does not count " INS_EVENT);                     \
	} while (0)

/*
 * CPC-OVF-19, CPC-OVF-20, CPC-OVF-09, CPC-OVF-10, CPC-PRE-01, CPC-PRE-02,
 * CPC-RST-01, CPC-RST-03, CPC-RST-05
 */
CPC_TEST(random_handlers_do_no_harm)
{
	NEEDS_OVERFLOWS(cpc);
	if (test_argc > 1)
		nsequence = (unsigned)atoi(test_argv[1]);
	run_lwps();
	EXPECT(calls > nsequence / (ntype == 0 ? 2 : 8));
	EXPECT(!exact || compared > nsequence / (ntype == 0 ? 2 : 8));
	test_note("%ld overflows and %ld comparisons in %u sequences", calls,
	    compared, nsequence);
}

/* The controller: its set, bound to one LWP at a time. */
static cpc_set_t *controllers_set;
static unsigned nstep, nbound;

static int
controller_step(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	char event[64];

	nstep++;
	if (controllers_set != NULL && random_below(2) == 0) {
		cpc_unbind(the_cpc, controllers_set);
		cpc_set_destroy(the_cpc, controllers_set);
		controllers_set = NULL;
	}
	if (controllers_set == NULL) {
		random_event(event, sizeof event);
		controllers_set = set_of(the_cpc, event);
	}
	/* The LWP may have ended, or may not go to the type's CPUs. */
	if (random_below(2) == 0 &&
	    cpc_bind_pctx(the_cpc, px, id, controllers_set, 0) == 0)
		nbound++;
	return 0;
}

/* The process waits for the controller before it ends. */
static void
be_controlled(int fd)
{
	char byte;

	nsequence /= 4;
	run_lwps();
	if (read(fd, &byte, 1) != 0)
		_exit(2);
	_exit(test_was_good() ? 0 : 1);
}

CPC_TEST(random_controllers_do_no_harm)
{
	int end[2];
	pid_t child;
	pctx_t *px;

	NEEDS_OVERFLOWS(cpc);
	REQUIRE(pipe(end) == 0);
	fz.random = nsequence;
	if ((child = fork()) == 0) {
		close(end[1]);
		be_controlled(end[0]);
	}
	REQUIRE((px = pctx_capture(child, NULL, 0, NULL)) != NULL);
	nstep = nbound = 0;
	EXPECT_EQ(pctx_run(px, 1, TICKS, controller_step), 0);
	/*
	 * A step tries to bind half of the times.  Ticks that are overdue are
	 * skipped.  With --boot uefi an instruction takes 64 ns: most are.
	 */
	EXPECT(nstep > 0 && nbound > nstep / 4);
	test_note("%u binds in %u steps", nbound, nstep);
	if (controllers_set != NULL)
		cpc_set_destroy(cpc, controllers_set);
	controllers_set = NULL;
	pctx_release(px);
	close(end[0]);
	close(end[1]);
	EXPECT_EQ(test_wait_status(child), 0);
}
