/*
 * Conservation of CPUs: sets bound to all CPUs together count exactly what all
 * LWPs ran, wherever they ran.  All LWPs run scripts of known length
 * (tests/image/random_script/script.h).
 *
 * One LWP on each CPU binds a set there, waits, and samples it.  The first of
 * these LWPs runs the test.  The worker LWPs start when all sets are bound, and
 * end before the first sample.
 */
#include <payload.h>
#include <stdlib.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/image/random_script/mix.h"
#include "tests/lib/image/test.h"

#define SEEDS   20
#define NWORKER 6
#define MAXCPU  8
#define OPS     64

struct script {
	struct op ops[OPS];
	long results[OPS];
	unsigned n;
	uint64_t ran;   /* instructions to the end of the last op */
	uint64_t since; /* of these, up to and including the bind */
	uint64_t until; /* up to and including the sample or exit */
	int alive;
	long bound, go; /* set when it has bound; when it may sample */
	uint64_t cpus;
	struct mix_set set;
	struct mix_sample sample;
	char stack[64] __attribute__((aligned(16))); /* not used */
};

static struct mix_machine machine;
static struct script counters[MAXCPU], workers[NWORKER];
static const struct timespec nap = { 0, 20000 };

/* Add an op.  Its loop is one spin long, and s->ran does not include it yet. */
static struct op *
add_op(struct script *s, long sysno, const long *arg)
{
	struct op *op = &s->ops[s->n];

	op->op_sysno = sysno;
	memcpy(op->op_arg, arg, sizeof op->op_arg);
	op->op_result = &s->results[s->n++];
	op->op_spins = 1;
	op->op_zero = op + 1;
	s->ran += script_before;
	return op;
}

#define ADD_OP(s, sysno, ...) add_op(s, sysno, (const long[6]){ __VA_ARGS__ })

/* Set the op's loop and count the rest; all but the last need this. */
static void
set_loop(struct script *s, struct op *op, unsigned long spins)
{
	op->op_spins = spins;
	s->ran += script_after + SCRIPT_SPIN * spins;
}

/* Start another script in a new LWP, which begins after the same clone(2). */
static void
start_script(struct script *s, struct script *child)
{
	struct op *op = ADD_OP(s, SYS_clone, 0);

	script_lwp(
	    op, child->ops, child->stack + sizeof child->stack, &child->alive);
	set_loop(s, op, 1);
}

static void
wait_while(struct script *s, const void *word, long value)
{
	set_loop(s,
	    ADD_OP(s, SYS_futex, (long)word, SCRIPT_FUTEX_WAIT, value, 0), 1);
}

/* Store a nonzero word, the result of getpid(2), and wake its waiter. */
static void
set_and_wake(struct script *s, long *word)
{
	struct op *op = ADD_OP(s, SYS_getpid, 0);

	op->op_result = word;
	set_loop(s, op, 1);
	set_loop(s, ADD_OP(s, SYS_futex, (long)word, SCRIPT_FUTEX_WAKE, 1), 1);
}

static void
bind_processor(struct script *s, long cpu)
{
	set_loop(s,
	    ADD_OP(s, BARECPC_SYS_SCHED, BARECPC_SCHED_BIND, P_LWPID, P_MYID,
		cpu, 0),
	    1);
}

static void
bind_cpu(struct script *s, unsigned cpu)
{
	static cpc_setid_t id = MIX_SET_IDS;

	mix_set_name(&s->set, ++id, 1);
	s->set.mxs_reqs[0].cr_event = machine.mxm_ins;
	s->set.mxs_reqs[0].cr_flags = CPC_COUNT_USER;
	s->set.mxs_reqs[0].cr_picnum = -1;
	set_loop(s,
	    ADD_OP(s, BARECPC_SYS_CPC, CPC_OP_BIND, (long)&s->set,
		(long)s->set.mxs_pack.cp_set, (long)CPC_TARGET_CPU(cpu), 0),
	    1);
	s->since = s->ran - script_after - SCRIPT_SPIN;
}

static void
sample_and_unbind(struct script *s)
{
	s->until = s->ran + script_before;
	set_loop(s,
	    ADD_OP(s, BARECPC_SYS_CPC, CPC_OP_SAMPLE,
		(long)s->set.mxs_pack.cp_set, (long)&s->sample, 1),
	    1);
	set_loop(s,
	    ADD_OP(
		s, BARECPC_SYS_CPC, CPC_OP_RELE, (long)s->set.mxs_pack.cp_set),
	    1);
}

static void
make_counter(struct script *s, unsigned cpu)
{
	bind_cpu(s, cpu);
	set_and_wake(s, &s->bound);
	wait_while(s, &s->go, 0);
	sample_and_unbind(s);
	ADD_OP(s, SYS_exit, 0);
}

static void
make_worker(struct script *s, unsigned *seed)
{
	unsigned all = (1U << machine.mxm_ncpu) - 1;

	s->ran = script_after + SCRIPT_SPIN; /* from the clone(2) on */
	s->cpus = 1 + (unsigned)rand_r(seed) % all;
	bind_processor(s, PBIND_NONE); /* it inherited the binding to CPU 0 */
	for (unsigned n = 10 + (unsigned)rand_r(seed) % 30; n > 0; n--) {
		unsigned long spins = 1 + (unsigned long)rand_r(seed) % 3000;

		switch (rand_r(seed) % 4) {
		case 0:
			set_loop(s, ADD_OP(s, SYS_sched_yield, 0), spins);
			break;
		case 1:
			set_loop(
			    s, ADD_OP(s, SYS_nanosleep, (long)&nap, 0), spins);
			break;
		case 2:
			set_loop(s,
			    ADD_OP(s, SYS_sched_setaffinity, 0, sizeof s->cpus,
				(long)&s->cpus),
			    spins);
			break;
		default:
			set_loop(s, ADD_OP(s, SYS_getpid, 0), spins * 10);
			break;
		}
	}
	ADD_OP(s, SYS_exit, 0);
	s->until = s->ran;
}

/* The script on CPU 0, which starts the others and lets them go on. */
static void
make_first(struct script *s)
{
	/* Move to CPU 0 before other sets count what runs on their CPUs. */
	bind_processor(s, 0);
	for (unsigned i = 1; i < machine.mxm_ncpu; i++) {
		start_script(s, &counters[i]);
		wait_while(s, &counters[i].bound, 0);
	}
	bind_cpu(s, 0);
	for (unsigned i = 0; i < NWORKER; i++)
		start_script(s, &workers[i]);
	for (unsigned i = 0; i < NWORKER; i++)
		wait_while(s, &workers[i].alive, 1);
	sample_and_unbind(s);
	for (unsigned i = 1; i < machine.mxm_ncpu; i++)
		set_and_wake(s, &counters[i].go);
	for (unsigned i = 1; i < machine.mxm_ncpu; i++)
		wait_while(s, &counters[i].alive, 1);
	bind_processor(s, PBIND_NONE);
	s->ops[s->n].op_sysno = -1;
}

/* Expect that all operations on counters succeeded. */
static void
check_calls(const struct script *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (s->ops[i].op_sysno == BARECPC_SYS_CPC &&
		    !EXPECT_EQ(s->results[i], 0))
			test_note("failed: op %u, %ld", i, s->ops[i].op_arg[0]);
	}
}

static void
run_seed(unsigned seed)
{
	uint64_t counted = 0, ran = 0;

	memset(counters, 0, sizeof counters);
	memset(workers, 0, sizeof workers);
	for (unsigned i = 0; i < NWORKER; i++)
		make_worker(&workers[i], &seed);
	for (unsigned i = 1; i < machine.mxm_ncpu; i++)
		make_counter(&counters[i], i);
	make_first(&counters[0]);
	script_run(counters[0].ops);
	for (unsigned i = 0; i < machine.mxm_ncpu; i++) {
		check_calls(&counters[i]);
		counted += counters[i].sample.ms_value[0];
		ran += counters[i].until - counters[i].since;
	}
	for (unsigned i = 0; i < NWORKER; i++) {
		EXPECT_EQ(workers[i].alive, 0);
		ran += workers[i].until;
	}
	EXPECT_EQ(counted, ran);
}

/* CPC-CPU-09, CPC-CPU-10 */
TEST(cpus_count_what_all_lwps_ran)
{
	if (!mix_machine_learn(&machine))
		SKIP("this machine does not count instructions");
	if (payload_privilege() == PAYLOAD_SYSTEM)
		SKIP("scripts count at user privilege");
	EXPECT(machine.mxm_ncpu <= MAXCPU);
	for (unsigned seed = 1; seed <= SEEDS; seed++)
		run_seed(seed);
}
