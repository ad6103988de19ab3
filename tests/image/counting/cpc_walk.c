/*
 * Interrupt the sample by the counter page at each of its instructions in
 * turn: by a switch, a migration to another CPU, a freeze, an invalidation, an
 * overflow nobody waits for, and one that somebody does.  What comes out is a
 * sample of one moment, exactly.
 *
 * Two requests count the same.  Between their two reads lie always as many
 * instructions, so that their difference tells whether both are of one pass
 * of the read sequence.  At user privilege nothing but the program's own
 * instructions counts: there each sample is one of two numbers, of a read
 * that was interrupted or was not, and how far the kernel's next sample lies
 * behind it is always the same.
 */
#define _GNU_SOURCE /* sched_getcpu() */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/cpc.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(16);

/* More instructions than lie between a stir's system call and a sample's end.
 */
#define WALK 2500
/* More instructions than lie between a restart and a sample's end. */
#define OVERFLOWS 600
#define FAR       1000000000
/* Instructions of the read sequence behind its look at cg_seq, and it. */
#ifdef __x86_64__
#define BEHIND 2
#else
#define BEHIND 7
#endif

struct pair {
	uint64_t v[2];
	uint64_t tick;
	hrtime_t time;
};

static cpc_set_t *set;
static cpc_buf_t *buf;
static bool user; /* only the program's own instructions count */

/* What an undisturbed run of step() gives. */
static struct {
	uint64_t plain;  /* first request, from one sample to the next */
	uint64_t apart;  /* first less second request, by the page */
	uint64_t called; /* the same, by the kernel */
	uint64_t behind; /* the kernel's sample, behind the page's */
	uint64_t again;  /* what a second pass of the read adds, once seen */
} base;

/*
 * Clock ticks of an instruction: an emulator with -icount says 1, or a power
 * of two, and ticks are nanoseconds there.
 */
static uint64_t tick;

static void
learn_tick(void)
{
	hrtime_t start = gethrtime();

	spin_loop(10000);
	tick = (uint64_t)(gethrtime() - start) / (10000 * SPIN_INSNS);
	if (tick == 0)
		tick = 1;
}

static bool
make_set(cpc_t *cpc, uint_t flags)
{
	user = own_privilege() == CPC_COUNT_USER;
	/*
	 * CPUs that wait for the kernel's lock, to be idle after that, have
	 * their turn: while one waits QEMU lets it run in between, for some
	 * of the ticks until the stir.
	 */
	for (int i = 0; i < 10; i++)
		sched_yield();
	learn_tick();
	set = cpc_set_create(cpc);
	add_flags(cpc, set, INS_EVENT, own_privilege() | flags);
	add(cpc, set, INS_EVENT);
	buf = cpc_buf_create(cpc, set);
	if (cpc_bind_curlwp(cpc, set, 0) == -1)
		return false;
	return true;
}

static struct pair
by_page(cpc_t *cpc)
{
	struct pair p = { .tick = 0 };

	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	EXPECT_EQ(cpc_buf_get(cpc, buf, 0, &p.v[0]), 0);
	EXPECT_EQ(cpc_buf_get(cpc, buf, 1, &p.v[1]), 0);
	p.tick = cpc_buf_tick(cpc, buf);
	p.time = cpc_buf_hrtime(cpc, buf);
	return p;
}

static struct pair
by_call(void)
{
	struct {
		struct cpc_sample head;
		uint64_t value[2];
	} s = { 0 };

	EXPECT_EQ(cpc_syscall(
		      CPC_OP_SAMPLE, (uintptr_t)set >> 24, (uintptr_t)&s, 2, 0),
	    0);
	return (struct pair){ { s.value[0], s.value[1] }, s.head.cs_tick,
		s.head.cs_hrtime };
}

/* A sample, a stir d instructions later, a sample, the kernel's sample. */
struct step {
	uint64_t start; /* of the first request; the second's is 0 */
	struct pair first, second, kernel;
};

static struct step
stirred(cpc_t *cpc, uint64_t d, enum cpc_disturb how)
{
	struct step s = { .start = 0 };

	s.first = by_page(cpc);
	EXPECT_EQ(cpc_syscall(CPC_OP_TEST_DISTURB, d * tick, how, 0, 0), 0);
	s.second = by_page(cpc);
	s.kernel = by_call();
	return s;
}

/* The same, but that the first begins anew from -n. */
static struct step
overflowing(cpc_t *cpc, uint64_t n)
{
	struct step s = { .start = 0 - n, .first = { .v = { 0 - n, 0 } } };

	EXPECT_EQ(cpc_request_preset(cpc, 0, 0 - n), 0);
	EXPECT_EQ(cpc_set_restart(cpc, set), 0);
	s.second = by_page(cpc);
	s.kernel = by_call();
	return s;
}

/* How far the two requests' counts lie apart. */
static uint64_t
apart(const struct step *s, struct pair p)
{
	return p.v[0] - s->start - p.v[1];
}

static void
learn(struct step s)
{
	base.plain = s.second.v[0] - s.first.v[0];
	base.apart = apart(&s, s.second);
	base.called = apart(&s, s.kernel);
	base.behind = s.kernel.v[0] - s.second.v[0];
	base.again = 0;
}

/* Is the second sample that of a read, undisturbed or made twice? */
static bool
is_read(const struct step *s)
{
	uint64_t counted = s->second.v[0] - s->first.v[0];

	if (counted == base.plain)
		return true;
	if (!user)
		return true; /* the kernel's way to it counts, and varies */
	if (base.again == 0 && counted > base.plain)
		base.again = counted - base.plain;
	return counted == base.plain + base.again;
}

/*
 * Both requests from one pass, of the page or the kernel, or both where they
 * were stopped together.
 */
static bool
is_of_one_moment(const struct step *s)
{
	uint64_t by = apart(s, s->second);

	return by == base.apart || by == base.called || by == 0;
}

/* The kernel's sample comes when it always does. */
static bool
is_behind(const struct step *s)
{
	uint64_t by = s->kernel.v[0] - s->second.v[0];

	return user ? by == base.behind : by > 0;
}

/* No clock of the three samples, whose set ran on, goes back or is torn. */
static bool
clocks_go_on(const struct step *s)
{
	return s->first.tick < s->second.tick &&
	       s->second.tick < s->kernel.tick &&
	       s->first.time < s->second.time &&
	       s->second.time < s->kernel.time &&
	       s->kernel.tick - s->first.tick <= 10000 * tick;
}

/* The step of this number, if something is wrong with it. */
static void
check(const struct step *s, uint64_t at, bool right)
{
	if (!EXPECT(right))
		test_note("at %llu: %lld, then %lld; the other %lld",
		    (unsigned long long)at,
		    (long long)(s->second.v[0] - s->first.v[0]),
		    (long long)(s->kernel.v[0] - s->second.v[0]),
		    (long long)(s->second.v[1] - s->first.v[1]));
}

/* The PICs are taken away and given back, here or on another CPU. */
static void
walk(cpc_t *cpc, enum cpc_disturb how)
{
	uint64_t d, again = 0;

	stirred(cpc, FAR, how);
	/* The first of these has to be the same as those that follow. */
	learn(stirred(cpc, FAR, how));
	for (d = 1; d < WALK; d++) {
		struct step s = stirred(cpc, d, how);

		check(&s, d,
		    is_read(&s) && is_behind(&s) && clocks_go_on(&s) &&
			apart(&s, s.second) == base.apart);
		again += s.second.v[0] - s.first.v[0] != base.plain;
	}
	printf("# %llu of %d steps were not plain, %llu more\n",
	    (unsigned long long)again, WALK, (unsigned long long)base.again);
	EXPECT(again > 0);
	/* Each of a pass but those behind its last look at cg_seq. */
	if (user && emulated())
		EXPECT_EQ(again, base.again - BEHIND);
}

CPC_TEST(a_switch_at_any_instruction_loses_nothing)
{
	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("no two PICs here count " INS_EVENT);
	walk(cpc, CPC_DISTURB_SWITCH);
}

/* CPC-CTX-02: where another CPU's PICs hold what was left in them. */
CPC_TEST(a_migration_at_any_instruction_loses_nothing)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		SKIP("one CPU");
	if (counts_all_cpus(cpc))
		SKIP("QEMU's counters count what all of its CPUs retire");
	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("no two PICs here count " INS_EVENT);
	walk(cpc, CPC_DISTURB_MIGRATE);
	printf("# it ends on CPU %d\n", sched_getcpu());
	EXPECT_EQ(processor_bind(P_PID, P_MYID, PBIND_NONE, NULL), 0);
}

CPC_TEST(a_freeze_at_any_instruction_is_a_frozen_sample)
{
	uint64_t d, frozen = 0, last = 0;

	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("no two PICs here count " INS_EVENT);
	stirred(cpc, FAR, CPC_DISTURB_SWITCH);
	learn(stirred(cpc, FAR, CPC_DISTURB_SWITCH));
	for (d = 1; d < WALK; d++) {
		struct step s = stirred(cpc, d, CPC_DISTURB_FREEZE);
		uint64_t until = s.kernel.v[0] - s.first.v[0];
		bool stopped = s.second.v[0] == s.kernel.v[0];

		/* Frozen when it was taken: it is what it was frozen with. */
		check(&s, d,
		    is_of_one_moment(&s) &&
			(stopped ||
			    (is_read(&s) && s.second.v[0] < s.kernel.v[0])));
		if (user) {
			/* A tick later is an instruction more, or none. */
			check(&s, d, last == 0 || until - last <= 1);
			last = until;
		}
		frozen += stopped;
		/* One not yet due goes with the first. */
		cpc_disable(cpc);
		EXPECT_EQ(cpc_enable(cpc), 0);
	}
	printf("# %llu of %d were frozen\n", (unsigned long long)frozen, WALK);
	EXPECT(frozen > 0);
}

/* A newly bound set, a sample, an invalidation d instructions later. */
static __attribute__((noinline)) int
invalidated(cpc_t *cpc, uint64_t d, struct step *s)
{
	int r;

	cpc_unbind(cpc, set);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	s->start = 0;
	s->first = by_page(cpc);
	EXPECT_EQ(cpc_syscall(CPC_OP_TEST_DISTURB, d * tick,
		      CPC_DISTURB_INVALIDATE, 0, 0),
	    0);
	r = cpc_set_sample(cpc, set, buf);
	cpc_buf_get(cpc, buf, 0, &s->second.v[0]);
	cpc_buf_get(cpc, buf, 1, &s->second.v[1]);
	s->kernel = s->second;
	return r;
}

/* CPC-INV-01, CPC-INV-05 */
CPC_TEST(an_invalidation_at_any_instruction_is_eagain)
{
	uint64_t d, invalid = 0;
	struct step s;

	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("no two PICs here count " INS_EVENT);
	invalidated(cpc, FAR, &s);
	EXPECT_EQ(invalidated(cpc, FAR, &s), 0);
	learn(s);
	for (d = 1; d < WALK; d++) {
		if (invalidated(cpc, d, &s) == -1) {
			EXPECT_EQ(errno, EAGAIN);
			invalid++;
			continue;
		}
		/* It was over before, and is as if nothing had come. */
		check(&s, d,
		    apart(&s, s.second) == base.apart &&
			(!user || s.second.v[0] - s.first.v[0] == base.plain));
	}
	printf("# %llu of %d were invalid\n", (unsigned long long)invalid,
	    WALK - 1);
	EXPECT(invalid > 0 && invalid < WALK - 1);
}

CPC_TEST(an_overflow_at_any_instruction_is_counted)
{
	uint64_t n;

	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("no two PICs here count " INS_EVENT);
	overflowing(cpc, FAR);
	learn(overflowing(cpc, FAR));
	for (n = 1; n < OVERFLOWS; n++) {
		struct step s = overflowing(cpc, n);

		check(&s, n,
		    is_read(&s) && is_behind(&s) && is_of_one_moment(&s));
	}
}

static volatile sig_atomic_t signals;

static void
count_signal(int sig)
{
	(void)sig;
	signals++;
}

CPC_TEST(a_notified_overflow_at_any_instruction_is_a_frozen_sample)
{
	const struct sigaction act = { .sa_handler = count_signal };
	struct sigaction old;
	uint64_t n, told = 0;

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	if (cpc_npic(cpc) < 2 || !make_set(cpc, CPC_OVF_NOTIFY_EMT))
		SKIP("no two PICs here count " INS_EVENT);
	EXPECT_EQ(sigaction(SIGEMT, &act, &old), 0);
	overflowing(cpc, FAR);
	learn(overflowing(cpc, FAR));
	for (n = 1; n < OVERFLOWS; n++) {
		struct step s;

		signals = 0;
		s = overflowing(cpc, n);
		check(&s, n,
		    is_of_one_moment(&s) &&
			(s.second.v[0] == s.kernel.v[0] ? signals == 1
							: is_read(&s)));
		told += (uint64_t)signals;
	}
	printf("# %llu of %d were told\n", (unsigned long long)told,
	    OVERFLOWS - 1);
	EXPECT(told > 0);
	EXPECT_EQ(sigaction(SIGEMT, &old, NULL), 0);
}
