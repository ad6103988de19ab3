/*
 * Rounds of the soak that use sets through libcpc.  An LWP binds a set, samples
 * it both ways, restarts it, freezes it, sleeps and moves.  It also creates
 * LWPs and processes, and takes CPUs.  A window between two samples by system
 * call always counts the same instructions plus its loop.
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/image/random_script/soak.h"
#include "tests/lib/image/cpc_test.h"

#define TURNS 1000

/* One round of an LWP, on one set. */
struct round {
	struct soak_lwp *rd_lwp;
	cpc_t *rd_cpc;
	cpc_set_t *rd_set;
	cpc_buf_t *rd_buf;
	unsigned rd_n; /* number of requests */
	bool rd_shared, rd_inherit;
	bool rd_lost; /* the counters were taken away, and the round ends */
};

cpc_setid_t
soak_id(const cpc_set_t *set)
{
	return (uintptr_t)set >> 24;
}

static intptr_t
sample_by_call(cpc_setid_t id, unsigned n, struct mix_sample *s)
{
	return cpc_syscall(CPC_OP_SAMPLE, id, (uintptr_t)s, n, 0);
}

/* No branch until the second sample: windows run the same instructions. */
int __attribute__((noinline))
soak_window(cpc_setid_t id, unsigned n, uint64_t turns, struct soak_window *sw)
{
	intptr_t r = sample_by_call(id, n, &sw->sw_before);

	spin_loop(turns);
	r |= sample_by_call(id, n, &sw->sw_after); /* both fail alike */
	errno = (int)-r;
	return r < 0 ? -1 : 0;
}

static uint64_t
window_count(const struct soak_window *sw)
{
	return sw->sw_after.ms_value[0] - sw->sw_before.ms_value[0];
}

bool
soak_failed(int result, const char *what)
{
	if (result == 0)
		return false;
	if (!EXPECT_EQ(errno, EAGAIN))
		test_note("failed: %s", what);
	SOAK_ADD(sos_lost, 1);
	soak_doze(1000); /* the CPU is probably still taken */
	return true;
}

static bool
round_lost(struct round *rd, int result, const char *what)
{
	rd->rd_lost = soak_failed(result, what) || rd->rd_lost;
	return rd->rd_lost;
}

static void
expect_window(const struct soak_window *sw, uint64_t turns)
{
	EXPECT_EQ(
	    window_count(sw), soak.so_known.sok_window + SPIN_INSNS * turns);
	SOAK_ADD(sos_exact, 1);
}

/* Most loops are short; some reach the end of a slice. */
static uint64_t
draw_turns(struct round *rd)
{
	uint64_t *random = &rd->rd_lwp->sol_random;

	return 1 +
	       soak_below(random, soak_below(random, 50) == 0 ? 1000000 : 2000);
}

static void
do_window(struct round *rd)
{
	uint64_t turns = draw_turns(rd);
	struct soak_window sw;

	if (!round_lost(rd,
		soak_window(soak_id(rd->rd_set), rd->rd_n, turns, &sw),
		"a window"))
		expect_window(&sw, turns);
}

/* A direct read between two samples by system call. */
static void
do_direct(struct round *rd)
{
	cpc_setid_t id = soak_id(rd->rd_set);
	struct soak_window sw;
	uint64_t direct = 0;

	intptr_t r = sample_by_call(id, rd->rd_n, &sw.sw_before);
	if (r == 0 && cpc_set_sample(rd->rd_cpc, rd->rd_set, rd->rd_buf) != 0)
		r = -errno;
	if (r == 0)
		r = sample_by_call(id, rd->rd_n, &sw.sw_after);
	errno = (int)-r;
	if (round_lost(rd, r == 0 ? 0 : -1, "a sample"))
		return;
	cpc_buf_get(rd->rd_cpc, rd->rd_buf, 0, &direct);
	direct -= sw.sw_before.ms_value[0];
	EXPECT(direct > 0 && direct < window_count(&sw));
}

static void
do_restart(struct round *rd)
{
	round_lost(rd, cpc_set_restart(rd->rd_cpc, rd->rd_set), "a restart");
}

/* A frozen set counts nothing, however it is sampled. */
static void
do_freeze(struct round *rd)
{
	struct soak_window sw;
	uint64_t direct = 0;

	if (round_lost(rd, cpc_disable(rd->rd_cpc), "cpc_disable()") ||
	    round_lost(rd,
		soak_window(soak_id(rd->rd_set), rd->rd_n, TURNS, &sw),
		"a frozen window"))
		return;
	if (round_lost(rd, cpc_set_sample(rd->rd_cpc, rd->rd_set, rd->rd_buf),
		"a frozen sample"))
		return;
	cpc_buf_get(rd->rd_cpc, rd->rd_buf, 0, &direct);
	EXPECT_EQ(window_count(&sw), 0);
	EXPECT_EQ(direct, sw.sw_after.ms_value[0]);
	round_lost(rd, cpc_enable(rd->rd_cpc), "cpc_enable()");
}

static void
do_yield(struct round *rd)
{
	syscall(SYS_sched_yield);
}

static void
do_sleep(struct round *rd)
{
	soak_doze((unsigned long)soak_below(&rd->rd_lwp->sol_random, 300));
}

/* Move to another CPU.  EINVAL: it is offline. */
static void
do_move(struct round *rd)
{
	int cpu =
	    (int)soak_below(&rd->rd_lwp->sol_random, soak.so_machine.mxm_ncpu);

	if (processor_bind(P_LWPID, P_MYID, cpu, NULL) != 0)
		EXPECT_EQ(errno, EINVAL);
	do_window(rd);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
}

/* An LWP that inherits the set, if the set was bound so. */
struct heir {
	cpc_setid_t id;
	unsigned n;
	uint64_t turns;
	struct soak_window sw;
	int err;
};

static void *
count_as_heir(void *arg)
{
	struct heir *h = arg;

	h->err = soak_window(h->id, h->n, h->turns, &h->sw) == 0 ? 0 : errno;
	return NULL;
}

static void
do_create(struct round *rd)
{
	struct heir h = { soak_id(rd->rd_set), rd->rd_n, draw_turns(rd),
		{ .sw_before = { .ms_value = { 0 } } }, 0 };
	pthread_t t;

	if (!EXPECT_EQ(pthread_create(&t, NULL, count_as_heir, &h), 0))
		return;
	EXPECT_EQ(pthread_join(t, NULL), 0);
	SOAK_ADD(sos_lwps, 1);
	if (h.err == 0)
		expect_window(&h.sw, h.turns);
	/* It fails if it inherits nothing, or counters were taken. */
	do_window(rd);
	if (h.err != 0 && (rd->rd_inherit || h.err != EINVAL))
		EXPECT(rd->rd_lost);
}

/* Count in a copy, by system calls: the library's state is unknown. */
static bool
counts_in_copy(uint64_t turns)
{
	struct mix_set set;
	struct soak_window sw;
	intptr_t r;

	memset(&set, 0, sizeof set);
	mix_set_name(&set, MIX_SET_IDS, 1);
	set.mxs_reqs[0].cr_event = soak.so_machine.mxm_ins;
	set.mxs_reqs[0].cr_flags = CPC_COUNT_USER;
	set.mxs_reqs[0].cr_picnum = -1;
	r = cpc_syscall(CPC_OP_BIND, (uintptr_t)&set, MIX_SET_IDS, 0, 0);
	if (r != 0)
		return r == -EAGAIN;
	if (soak_window(MIX_SET_IDS, 1, turns, &sw) != 0)
		return errno == EAGAIN;
	return window_count(&sw) ==
	       soak.so_known.sok_window + SPIN_INSNS * turns;
}

static void
expect_status_0(pid_t pid, const char *what)
{
	int status = -1;

	if (!EXPECT_EQ(waitpid(pid, &status, 0), pid) || !EXPECT_EQ(status, 0))
		test_note("failed: %s", what);
}

/* The copy has no set; the LWP's own counts go on. */
static void
do_fork(struct round *rd)
{
	uint64_t turns = draw_turns(rd);
	struct mix_sample s;
	pid_t pid = fork();

	if (pid == 0)
		_exit(sample_by_call(soak_id(rd->rd_set), rd->rd_n, &s) ==
				  -EINVAL &&
			      counts_in_copy(turns)
			  ? 0
			  : 1);
	if (!EXPECT(pid > 0))
		return;
	do_window(rd);
	expect_status_0(pid, "a copy");
	SOAK_ADD(sos_forks, 1);
}

/* Execute a program in another process. */
static void
do_spawn(struct round *rd)
{
	struct soak_exec ex;
	pid_t pid;

	soak_describe(&ex, SOAK_BRIEF, rd->rd_lwp->sol_random);
	if (!EXPECT_EQ(posix_spawn(&pid, SOAK_PROGRAM, NULL, NULL, ex.ex_argv,
			   ex.ex_env),
		0))
		return;
	do_window(rd);
	expect_status_0(pid, "a program");
	SOAK_ADD(sos_spawned, 1);
}

/* Bind a set to a CPU, which takes every LWP's counters, also here. */
static void
do_take(struct round *rd)
{
	cpc_t *cpc = rd->rd_lwp->sol_cpc;
	struct mix_sample first, last;
	int cpu =
	    (int)soak_below(&rd->rd_lwp->sol_random, soak.so_machine.mxm_ncpu);

	if (!soak_storm())
		return;
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	rd->rd_lost = true;
	/* EAGAIN: another LWP has taken that CPU.  ENOSYS: it is offline. */
	if (cpc_bind_cpu(cpc, cpu, set, 0) != 0) {
		EXPECT(errno == EAGAIN || errno == ENOSYS);
	} else {
		EXPECT_EQ(sample_by_call(soak_id(set), 1, &first), 0);
		spin_loop(TURNS);
		soak_doze(200);
		EXPECT_EQ(sample_by_call(soak_id(set), 1, &last), 0);
		/* Other LWPs that ran there are counted too. */
		EXPECT(
		    last.ms_value[0] - first.ms_value[0] >= SPIN_INSNS * TURNS);
		EXPECT_EQ(cpc_unbind(cpc, set), 0);
		SOAK_ADD(sos_taken, 1);
	}
	EXPECT_EQ(cpc_set_destroy(cpc, set), 0);
}

/* In a hundred ops.  A CPU is taken in storms: a soak of 400 ms has 6 to 21. */
static const struct {
	void (*fn)(struct round *rd);
	unsigned weight;
} kinds[] = {
	{ do_window, 24 },
	{ do_direct, 15 },
	{ do_restart, 10 },
	{ do_freeze, 8 },
	{ do_yield, 8 },
	{ do_sleep, 8 },
	{ do_move, 5 },
	{ do_create, 6 },
	{ do_fork, 1 },
	{ do_spawn, 1 },
	{ do_take, 14 },
};

static void
do_one(struct round *rd)
{
	uint64_t n = soak_below(&rd->rd_lwp->sol_random, 100);
	unsigned kind = 0;

	for (; n >= kinds[kind].weight; kind++)
		n -= kinds[kind].weight;
	kinds[kind].fn(rd);
}

/* Add a request for instructions.  Windows look at the first request only. */
static void
add_more(struct round *rd, uint64_t *random)
{
	static const uint_t flags[] = { CPC_COUNT_USER, CPC_COUNT_SYSTEM,
		CPC_COUNT_USER | CPC_COUNT_SYSTEM };

	EXPECT(cpc_set_add_request(rd->rd_cpc, rd->rd_set, INS_EVENT,
		   soak_below(random, 1000), flags[soak_below(random, 3)], 0,
		   NULL) >= 0);
	rd->rd_n++;
}

static void
choose_set(struct round *rd, struct soak_lwp *sl)
{
	unsigned npic =
	    (unsigned)__builtin_popcountll(soak.so_machine.mxm_ins.ce_pics);

	rd->rd_n = 1;
	rd->rd_shared = soak_below(&sl->sol_random, 3) == 0;
	if (rd->rd_shared) {
		rd->rd_cpc = soak.so_cpc;
		rd->rd_set = soak.so_set;
	} else {
		rd->rd_cpc = sl->sol_cpc;
		rd->rd_set = set_of(rd->rd_cpc, INS_EVENT);
		while (rd->rd_n < npic && rd->rd_n < MIX_REQS &&
		       soak_below(&sl->sol_random, 2) == 0)
			add_more(rd, &sl->sol_random);
	}
	rd->rd_buf = cpc_buf_create(rd->rd_cpc, rd->rd_set);
}

/* Unbind and destroy the set, destroy it while bound, or leave it bound. */
static void
leave_set(struct round *rd)
{
	uint64_t how = soak_below(&rd->rd_lwp->sol_random, 3);

	cpc_buf_destroy(rd->rd_cpc, rd->rd_buf);
	if (how == 0 && cpc_unbind(rd->rd_cpc, rd->rd_set) != 0)
		EXPECT(errno == EINVAL && rd->rd_lost);
	if (how != 2 && !rd->rd_shared)
		EXPECT_EQ(cpc_set_destroy(rd->rd_cpc, rd->rd_set), 0);
}

void
soak_count_round(struct soak_lwp *sl)
{
	struct round rd = { .rd_lwp = sl };
	uint64_t ops = 3 + soak_below(&sl->sol_random, 12);

	choose_set(&rd, sl);
	rd.rd_inherit = soak_below(&sl->sol_random, 2) == 0;
	if (!round_lost(&rd,
		cpc_bind_curlwp(rd.rd_cpc, rd.rd_set,
		    rd.rd_inherit ? CPC_BIND_LWP_INHERIT : 0),
		"a bind")) {
		while (ops-- > 0 && !rd.rd_lost)
			do_one(&rd);
	}
	leave_set(&rd);
}

int
soak_brief(void)
{
	cpc_t *cpc = test_cpc_open();
	struct soak_window sw;
	uint64_t turns = 1 + soak_below(&soak.so_seed, 3000);

	if (cpc == NULL)
		return 1;
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	if (!soak_failed(cpc_bind_curlwp(cpc, set, 0), "a program's bind") &&
	    !soak_failed(
		soak_window(soak_id(set), 1, turns, &sw), "a program's window"))
		expect_window(&sw, turns);
	/* The process ends with its handle open and its set bound. */
	return test_was_good() ? 0 : 1;
}

bool
soak_learn_window(void)
{
	cpc_t *cpc = test_cpc_open();
	struct soak_window sw, again;

	if (cpc == NULL)
		return false;
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	bool same =
	    cpc_bind_curlwp(cpc, set, 0) == 0 &&
	    soak_window(soak_id(set), 1, TURNS, &sw) == 0 &&
	    soak_window(soak_id(set), 1, 2 * TURNS, &again) == 0 &&
	    window_count(&again) - window_count(&sw) == SPIN_INSNS * TURNS;
	soak.so_known.sok_window = window_count(&sw) - SPIN_INSNS * TURNS;
	cpc_close(cpc);
	return same;
}
