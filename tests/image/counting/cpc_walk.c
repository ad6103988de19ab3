/*
 * Disturb a sample by the counter page at each of its instructions in turn.
 * The disturbance is a switch, a migration to another CPU, a freeze, an
 * invalidation, or an overflow with or without notification.  Every sample is
 * exact and of one moment.
 *
 * Two requests count the same event.  The number of instructions between their
 * two reads is constant.  So the difference of their counts shows whether one
 * pass of the read sequence read both.
 *
 * At user privilege only the program's own instructions count.  There each
 * sample has one of two counts: the read was disturbed and repeated, or not.
 * The kernel's next sample is always the same number of instructions later.
 *
 * Only in an emulator with virtual time does the timer strike at a chosen
 * instruction.  Elsewhere it strikes somewhere near.  Each sample must be exact
 * and of one moment there, too, but not every instruction need be struck.
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

/* More than from a disturbance's system call to the end of a sample. */
#define WALK 2500
/* More instructions than from a restart to the end of a sample. */
#define OVERFLOWS 600
#define FAR       1000000000
/* An interrupt at these, around the loads of cg_seq, causes no second pass. */
#ifdef __x86_64__
#define NO_REPEAT 2
#else
#define NO_REPEAT 7
#endif

struct pair {
	uint64_t v[2];
	uint64_t tick;
	hrtime_t time;
};

static cpc_set_t *walk_set;
static cpc_buf_t *walk_buf;
static bool only_user_counts, emulated_here;

/* The counts of an undisturbed step; gaps are these less request 1's. */
static struct {
	uint64_t plain;        /* from the first sample to the second */
	uint64_t gap;          /* by the page */
	uint64_t kernel_gap;   /* by the kernel */
	uint64_t kernel_later; /* from the page's sample */
	uint64_t repeat;       /* of a second pass; 0: not seen yet */
} base_step;

/*
 * Clock ticks of an instruction.  An emulator with -icount takes one
 * nanosecond for each, or a power of two, and a tick is a nanosecond there.
 */
static uint64_t insn_ticks;

static void
learn_insn_ticks(void)
{
	hrtime_t start = gethrtime();

	spin_loop(10000);
	insn_ticks = (uint64_t)(gethrtime() - start) / (10000 * SPIN_INSNS);
	if (insn_ticks == 0)
		insn_ticks = 1;
}

static bool
make_set(cpc_t *cpc, uint_t flags)
{
	only_user_counts = own_privilege() == CPC_COUNT_USER;
	emulated_here = emulated();
	/*
	 * Let other CPUs finish their waits for the kernel's lock and go idle.
	 * QEMU would run such a CPU during a step, which uses up ticks of the
	 * delay.
	 */
	for (int i = 0; i < 10; i++)
		sched_yield();
	learn_insn_ticks();
	walk_set = cpc_set_create(cpc);
	add_flags(cpc, walk_set, INS_EVENT, own_privilege() | flags);
	add(cpc, walk_set, INS_EVENT);
	walk_buf = cpc_buf_create(cpc, walk_set);
	if (cpc_bind_curlwp(cpc, walk_set, 0) == -1)
		return false;
	return true;
}

static struct pair
by_page(cpc_t *cpc)
{
	struct pair p = { .tick = 0 };

	EXPECT_EQ(cpc_set_sample(cpc, walk_set, walk_buf), 0);
	EXPECT_EQ(cpc_buf_get(cpc, walk_buf, 0, &p.v[0]), 0);
	EXPECT_EQ(cpc_buf_get(cpc, walk_buf, 1, &p.v[1]), 0);
	p.tick = cpc_buf_tick(cpc, walk_buf);
	p.time = cpc_buf_hrtime(cpc, walk_buf);
	return p;
}

static struct pair
by_call(void)
{
	struct {
		struct cpc_sample head;
		uint64_t value[2];
	} s = { 0 };

	EXPECT_EQ(cpc_syscall(CPC_OP_SAMPLE, (uintptr_t)walk_set >> 24,
		      (uintptr_t)&s, 2, 0),
	    0);
	return (struct pair){ { s.value[0], s.value[1] }, s.head.cs_tick,
		s.head.cs_hrtime };
}

/* A sample, a disturbance d instructions later, a second, the kernel's. */
struct step {
	uint64_t start; /* preset of request 0; request 1 has 0 */
	struct pair first, second, kernel;
};

static struct step
disturbed_step(cpc_t *cpc, uint64_t d, enum cpc_disturb how)
{
	struct step s = { .start = 0 };

	s.first = by_page(cpc);
	EXPECT_EQ(
	    cpc_syscall(CPC_OP_TEST_DISTURB, d * insn_ticks, how, 0, 0), 0);
	s.second = by_page(cpc);
	s.kernel = by_call();
	return s;
}

/* As disturbed_step(), by an overflow n events after the restart. */
static struct step
overflow_step(cpc_t *cpc, uint64_t n)
{
	struct step s = { .start = 0 - n, .first = { .v = { 0 - n, 0 } } };

	EXPECT_EQ(cpc_request_preset(cpc, 0, 0 - n), 0);
	EXPECT_EQ(cpc_set_restart(cpc, walk_set), 0);
	s.second = by_page(cpc);
	s.kernel = by_call();
	return s;
}

/* Request 0's count less request 1's. */
static uint64_t
count_gap(const struct step *s, struct pair p)
{
	return p.v[0] - s->start - p.v[1];
}

static void
learn_base(struct step s)
{
	base_step.plain = s.second.v[0] - s.first.v[0];
	base_step.gap = count_gap(&s, s.second);
	base_step.kernel_gap = count_gap(&s, s.kernel);
	base_step.kernel_later = s.kernel.v[0] - s.second.v[0];
	base_step.repeat = 0;
}

/*
 * True if one or two passes of the read explain the second sample's count.
 * Without an emulator's virtual time the timer may interrupt a read, too.  Then
 * there are more passes, each with the same number of instructions.
 */
static bool
is_read(const struct step *s)
{
	uint64_t counted = s->second.v[0] - s->first.v[0], more;

	if (counted == base_step.plain)
		return true;
	if (!only_user_counts)
		return true; /* the kernel counts, too */
	more = counted - base_step.plain;
	if (base_step.repeat == 0)
		base_step.repeat = more;
	if (emulated_here)
		return more == base_step.repeat;
	if (more != 0 && base_step.repeat % more == 0)
		base_step.repeat = more; /* the first had several passes more */
	return more % base_step.repeat == 0;
}

/* One pass of a read made both counts, or the set had been stopped. */
static bool
is_of_one_moment(const struct step *s)
{
	uint64_t by = count_gap(s, s->second);

	return by == base_step.gap || by == base_step.kernel_gap || by == 0;
}

/* The kernel's sample is as far after the page's as in an undisturbed step. */
static bool
kernel_follows(const struct step *s)
{
	uint64_t by = s->kernel.v[0] - s->second.v[0];

	return only_user_counts ? by == base_step.kernel_later : by > 0;
}

/* Clocks advance from sample to sample, plausibly.  The set must run. */
static bool
clocks_advance(const struct step *s)
{
	return s->first.tick < s->second.tick &&
	       s->second.tick < s->kernel.tick &&
	       s->first.time < s->second.time &&
	       s->second.time < s->kernel.time &&
	       (!emulated_here ||
		   s->kernel.tick - s->first.tick <= 10000 * insn_ticks);
}

/* Report the step if `right` is false. */
static void
check_step(const struct step *s, uint64_t at, bool right)
{
	if (!EXPECT(right))
		test_note("step %llu: request 0 counts %lld, then %lld; "
			  "request 1 %lld",
		    (unsigned long long)at,
		    (long long)(s->second.v[0] - s->first.v[0]),
		    (long long)(s->kernel.v[0] - s->second.v[0]),
		    (long long)(s->second.v[1] - s->first.v[1]));
}

/* Take the PICs away and give them back, on this CPU or on another. */
static void
walk_instructions(cpc_t *cpc, enum cpc_disturb how)
{
	uint64_t d, again = 0;

	disturbed_step(cpc, FAR, how);
	/* The base's step must begin as later ones do: skip one. */
	learn_base(disturbed_step(cpc, FAR, how));
	for (d = 1; d < WALK; d++) {
		struct step s = disturbed_step(cpc, d, how);

		check_step(&s, d,
		    is_read(&s) && kernel_follows(&s) && clocks_advance(&s) &&
			count_gap(&s, s.second) == base_step.gap);
		again += s.second.v[0] - s.first.v[0] != base_step.plain;
	}
	printf("# %llu of %d reads were repeated, each with %llu instructions "
	       "more\n",
	    (unsigned long long)again, WALK,
	    (unsigned long long)base_step.repeat);
	/* Only in an emulator does the timer strike at a chosen instruction. */
	EXPECT(again > 0 || !emulated_here);
	/* Each instruction of a pass but NO_REPEAT repeats it. */
	if (only_user_counts && emulated_here)
		EXPECT_EQ(again, base_step.repeat - NO_REPEAT);
}

CPC_TEST(a_switch_at_any_instruction_loses_nothing)
{
	NEEDS_DIRECT_READS();
	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("this PMU has no two PICs for " INS_EVENT);
	walk_instructions(cpc, CPC_DISTURB_SWITCH);
}

/* CPC-CTX-02: the other CPU's PICs still hold old values. */
CPC_TEST(a_migration_at_any_instruction_loses_nothing)
{
	NEEDS_DIRECT_READS();
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		SKIP("this test needs two CPUs");
	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("this PMU has no two PICs for " INS_EVENT);
	walk_instructions(cpc, CPC_DISTURB_MIGRATE);
	printf("# the LWP ends on CPU %d\n", sched_getcpu());
	EXPECT_EQ(processor_bind(P_PID, P_MYID, PBIND_NONE, NULL), 0);
}

CPC_TEST(a_freeze_at_any_instruction_is_a_frozen_sample)
{
	uint64_t d, frozen = 0, last = 0;

	NEEDS_DIRECT_READS();
	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("this PMU has no two PICs for " INS_EVENT);
	disturbed_step(cpc, FAR, CPC_DISTURB_SWITCH);
	learn_base(disturbed_step(cpc, FAR, CPC_DISTURB_SWITCH));
	for (d = 1; d < WALK; d++) {
		struct step s = disturbed_step(cpc, d, CPC_DISTURB_FREEZE);
		uint64_t until = s.kernel.v[0] - s.first.v[0];
		bool stopped = s.second.v[0] == s.kernel.v[0];

		/* The sample is frozen, or was complete before. */
		check_step(&s, d,
		    is_of_one_moment(&s) &&
			(stopped ||
			    (is_read(&s) && s.second.v[0] < s.kernel.v[0])));
		if (only_user_counts) {
			/* A tick more retires an instruction at most. */
			check_step(&s, d, last == 0 || until - last <= 1);
			last = until;
		}
		frozen += stopped;
		/* cpc_disable() also cancels a freeze that is still to come. */
		cpc_disable(cpc);
		EXPECT_EQ(cpc_enable(cpc), 0);
	}
	printf("# %llu of %d samples were frozen\n", (unsigned long long)frozen,
	    WALK);
	EXPECT(frozen > 0);
}

/* Bind, sample, an invalidation d instructions later, a second sample. */
static __attribute__((noinline)) int
invalidated_step(cpc_t *cpc, uint64_t d, struct step *s)
{
	cpc_unbind(cpc, walk_set);
	EXPECT_EQ(cpc_bind_curlwp(cpc, walk_set, 0), 0);
	s->start = 0;
	s->first = by_page(cpc);
	EXPECT_EQ(cpc_syscall(CPC_OP_TEST_DISTURB, d * insn_ticks,
		      CPC_DISTURB_INVALIDATE, 0, 0),
	    0);
	int r = cpc_set_sample(cpc, walk_set, walk_buf);
	cpc_buf_get(cpc, walk_buf, 0, &s->second.v[0]);
	cpc_buf_get(cpc, walk_buf, 1, &s->second.v[1]);
	s->kernel = s->second;
	return r;
}

/* CPC-INV-01, CPC-INV-05 */
CPC_TEST(an_invalidation_at_any_instruction_is_eagain)
{
	uint64_t d, invalid = 0;
	struct step s;

	NEEDS_DIRECT_READS();
	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("this PMU has no two PICs for " INS_EVENT);
	invalidated_step(cpc, FAR, &s);
	EXPECT_EQ(invalidated_step(cpc, FAR, &s), 0);
	learn_base(s);
	for (d = 1; d < WALK; d++) {
		if (invalidated_step(cpc, d, &s) == -1) {
			EXPECT_EQ(errno, EAGAIN);
			invalid++;
			continue;
		}
		/* The sample was complete before the invalidation. */
		check_step(&s, d,
		    count_gap(&s, s.second) == base_step.gap &&
			(!only_user_counts ||
			    s.second.v[0] - s.first.v[0] == base_step.plain));
	}
	printf("# %llu of %d samples were invalid\n",
	    (unsigned long long)invalid, WALK - 1);
	EXPECT((invalid > 0 && invalid < WALK - 1) || !emulated_here);
}

CPC_TEST(an_overflow_at_any_instruction_is_counted)
{
	NEEDS_DIRECT_READS();
	if (cpc_npic(cpc) < 2 || !make_set(cpc, 0))
		SKIP("this PMU has no two PICs for " INS_EVENT);
	overflow_step(cpc, FAR);
	learn_base(overflow_step(cpc, FAR));
	for (uint64_t n = 1; n < OVERFLOWS; n++) {
		struct step s = overflow_step(cpc, n);

		check_step(&s, n,
		    is_read(&s) && kernel_follows(&s) && is_of_one_moment(&s));
	}
}

static volatile sig_atomic_t signals;

static void
count_signal(int sig)
{
	signals++;
}

CPC_TEST(a_notified_overflow_at_any_instruction_is_a_frozen_sample)
{
	const struct sigaction act = { .sa_handler = count_signal };
	struct sigaction old;
	uint64_t n, told = 0;

	NEEDS_DIRECT_READS();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	if (cpc_npic(cpc) < 2 || !make_set(cpc, CPC_OVF_NOTIFY_EMT))
		SKIP("this PMU has no two PICs for " INS_EVENT);
	EXPECT_EQ(sigaction(SIGEMT, &act, &old), 0);
	overflow_step(cpc, FAR);
	learn_base(overflow_step(cpc, FAR));
	for (n = 1; n < OVERFLOWS; n++) {
		signals = 0;
		struct step s = overflow_step(cpc, n);
		check_step(&s, n,
		    is_of_one_moment(&s) &&
			(s.second.v[0] == s.kernel.v[0] ? signals == 1
							: is_read(&s)));
		told += (uint64_t)signals;
	}
	printf("# %llu of %d overflows sent a signal\n",
	    (unsigned long long)told, OVERFLOWS - 1);
	EXPECT(told > 0);
	EXPECT_EQ(sigaction(SIGEMT, &old, NULL), 0);
}

/*
 * libcpc remembers recent buffers by the low bits of their names.  A handler
 * samples a buffer with the same low bits, at each instruction of a sample in
 * turn.  Each sample must still reach its own buffer.
 */
static cpc_t *handlers_cpc;
static cpc_buf_t *other;

static void
sample_other(int sig)
{
	signals++;
	EXPECT_EQ(cpc_set_sample(handlers_cpc, walk_set, other), 0);
}

static void
sample_both(cpc_t *cpc, uint64_t n, cpc_buf_t *first)
{
	EXPECT_EQ(cpc_set_sample(cpc, walk_set, first), 0);
	signals = 0;
	cpc_buf_zero(cpc, walk_buf);
	cpc_buf_zero(cpc, other);
	EXPECT_EQ(cpc_request_preset(cpc, 0, 0 - n), 0);
	EXPECT_EQ(cpc_set_restart(cpc, walk_set), 0);
	EXPECT_EQ(cpc_set_sample(cpc, walk_set, walk_buf), 0);
	cpc_disable(cpc); /* no overflow from here on */
	if (!EXPECT(cpc_buf_hrtime(cpc, walk_buf) != 0) ||
	    !EXPECT((cpc_buf_hrtime(cpc, other) != 0) == (signals > 0)))
		test_note("at instruction %llu", (unsigned long long)n);
}

CPC_TEST(a_handler_may_sample_another_buffer_at_any_instruction)
{
	const struct sigaction act = { .sa_handler = sample_other };
	cpc_buf_t *between[4];
	struct sigaction old;
	uint64_t n, sent = 0;

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	NEEDS_INSTRUCTIONS();
	if (cpc_npic(cpc) < 2 || !make_set(cpc, CPC_OVF_NOTIFY_EMT))
		SKIP("this PMU has no two PICs for " INS_EVENT);
	for (unsigned i = 0; i < 4; i++)
		between[i] = cpc_buf_create(cpc, walk_set);
	other = between[3];
	EXPECT_EQ(((uintptr_t)other ^ (uintptr_t)walk_buf) % 4, 0);
	handlers_cpc = cpc;
	EXPECT_EQ(sigaction(SIGEMT, &act, &old), 0);
	for (n = 1; n < OVERFLOWS; n++) {
		sample_both(cpc, n, walk_buf); /* the library remembers it */
		sample_both(cpc, n, other);    /* it has to look walk_buf up */
		sent += (uint64_t)signals;
	}
	EXPECT(sent > 0);
	EXPECT_EQ(sigaction(SIGEMT, &old, NULL), 0);
}
