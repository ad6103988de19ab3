/*
 * An LWP that binds a set of a core type first moves to a CPU of that type.
 * Its controller and other LWPs act while it moves: each at each move, in all
 * schedules of two operations.  After each, the state is consistent.
 *
 * CPUs 0 and 1 are soft_core, CPU 2 is soft_atom.  The LWP under test is LWP 1
 * of process 1, and begins on CPU 0.  Its controller is process 0 on CPU 1.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "tests/lib/host/kcpc/fake_kernel.h"
#include "tests/lib/host/kcpc/fake_pcbe.h"
#include "tests/lib/host/support.h"

#define CORE   1 /* types, as in a pack */
#define ATOM   2
#define TARGET CPC_TARGET(1, 1)

static struct {
	struct cpc_pack head;
	struct cpc_packreq req;
} packs[] = {
	[0] = { { .cp_set = 1 }, { { 0 }, 0 } }, /* of no type */
	[CORE] = { { .cp_set = 2, .cp_type = CORE }, { { 0 }, 0 } },
	[ATOM] = { { .cp_set = 3, .cp_type = ATOM }, { { 0 }, 0 } },
};

static struct cpc_refusal refusal;

static int
call(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const uintptr_t args[6] = { op, a, b, c, d };

	return (int)-kcpc_syscall(args);
}

static int
bind(unsigned pack, uintptr_t target)
{
	return call(CPC_OP_BIND, (uintptr_t)&packs[pack],
	    packs[pack].head.cp_set, target, (uintptr_t)&refusal);
}

static struct lwp *
target(void)
{
	return fake_lwp(1, 1);
}

/* Actions of others, each on CPU 1. */

static void
as_controller(enum cpc_op op, unsigned pack)
{
	fake_switch(0, 1);
	if (op == CPC_OP_BIND)
		bind(pack, TARGET);
	else
		call(op, packs[pack].head.cp_set, 0, 0, TARGET);
}

static void
controller_binds(void)
{
	as_controller(CPC_OP_BIND, 0);
}

static void
controller_binds_core(void)
{
	as_controller(CPC_OP_BIND, CORE);
}

static void
controller_binds_atom(void)
{
	as_controller(CPC_OP_BIND, ATOM);
}

static void
controller_unbinds(void)
{
	for (unsigned p = 0; p <= ATOM; p++)
		as_controller(CPC_OP_RELE, p);
}

static void
controller_invalidates(void)
{
	as_controller(CPC_OP_INVALIDATE, 0);
}

static void
other_revokes(void)
{
	fake_switch(1, 2);
	for (unsigned p = 0; p <= ATOM; p++)
		call(CPC_OP_REVOKE, packs[p].head.cp_set, 0, 0, 0);
}

static void
other_binds_here(void)
{
	fake_switch(1, 2);
	*fake_bound(1, 2) = 1;
	bind(0, CPC_TARGET_CPU(1));
}

static void
other_is_refused(void)
{
	fake_switch(1, 2);
	*fake_bound(1, 2) = 1;
	bind(ATOM, 0);
}

static void
bound_to_core(void)
{
	lwp_bind(target(), &cpus[0]);
}

static void
bound_to_atom(void)
{
	lwp_bind(target(), &cpus[2]);
}

/* Refused if the LWP is to run on soft_atom alone. */
static void
affinity_without_atom(void)
{
	const struct cpuset core = { { 3 } };

	if (target()->l_only == NULL || cpuset_meets(target()->l_only, &core))
		fake_set_affinity(1, 1, 3);
}

static void
atom_goes_offline(void)
{
	fake_online = 3;
}

static void (*const others[])(void) = { controller_binds, controller_binds_core,
	controller_binds_atom, controller_unbinds, controller_invalidates,
	other_revokes, other_binds_here, other_is_refused, bound_to_core,
	bound_to_atom, affinity_without_atom, atom_goes_offline };
#define NOTHER (sizeof others / sizeof others[0])

static void (*on_the_way)(void);
static bool moved;

static void
others_act(void)
{
	fake_on_move = NULL;
	moved = true;
	if (on_the_way == NULL)
		return;
	fake_cpu(1);
	on_the_way();
	fake_idle();
	fake_cpu(target()->l_cpu->c_id);
}

/* An operation of the LWP. */
static void
do_operation(unsigned op)
{
	if (op <= ATOM)
		bind(op, 0);
	else if (op <= 2 * ATOM)
		call(CPC_OP_RELE, packs[op - ATOM].head.cp_set, 0, 0, 0);
	else
		bind(0, CPC_TARGET_CPU(2));
}
#define NOPERATION (2 * ATOM + 2)

/* A context of a core type goes with the LWP's CPUs, and counts there. */
static void
check_target(void)
{
	struct lwp *l = target();
	struct kcpc_ctx *ctx = l->l_cpc;
	unsigned type;

	type = ctx != NULL ? ctx->kc_pcbe.ps_type : 0;
	assert_ptr_equal(
	    l->l_only, type != 0 ? &kcpc_types[type].kt_cpus : NULL);
	if (ctx == NULL || (ctx->kc_flags & KCPC_CTX_INVALID) != 0)
		return;
	assert_ptr_equal(ctx->kc_lwp, l);
	if (type != 0)
		assert_true(cpuset_has(l->l_only, l->l_cpu->c_id));
	uint64_t before = ctx->kc_pcbe.ps_page->cg_req[0].cq_data;
	fake_user(100);
	fake_idle();
	assert_int_equal(ctx->kc_pcbe.ps_page->cg_req[0].cq_data, before + 100);
	fake_switch(1, 1);
}

/* The LWP becomes current again, on a CPU that it may run on. */
static void
run_target(void)
{
	struct lwp *l = target();
	unsigned c = l->l_cpu->c_id;

	fake_cpu(c);
	if (lwp_self() == l)
		fake_idle();
	if (l->l_bound >= 0)
		c = (unsigned)l->l_bound;
	else if (!cpuset_has(&l->l_affinity, c) &&
		 cpuset_meets(&l->l_affinity, sched_cpus()))
		c = cpuset_next(&l->l_affinity, sched_cpus(), 0);
	fake_cpu(c);
	fake_switch(1, 1);
}

static void
begin(unsigned start)
{
	fake_boot();
	fake_controlled = 1 << 1;
	fake_idle();
	fake_cpu(1);
	if (start > 0)
		as_controller(CPC_OP_BIND, start - 1);
	fake_cpu(0);
	run_target();
	check_target();
}

/* One operation while at most one other acts.  False: the LWP did not move. */
static bool
step(unsigned op, unsigned other)
{
	moved = false;
	on_the_way = other > 0 ? others[other - 1] : NULL;
	fake_on_move = others_act;
	do_operation(op);
	fake_on_move = NULL;
	run_target();
	check_target();
	return moved;
}

static void
end(void)
{
	const char *left = fake_halt();

	if (left != NULL)
		fail_msg("still there at the end: %s", left);
}

static char schedule[80];

static unsigned
try_all(void)
{
	unsigned n = 0;

	for (unsigned s = 0; s <= ATOM + 1; s++) {
		for (unsigned i = 0; i < NOPERATION * (NOTHER + 1); i++) {
			unsigned op = i / (NOTHER + 1), by = i % (NOTHER + 1);
			bool first = true, second = true;

			for (unsigned k = 0; first && k < NOPERATION; k++) {
				second = true;
				for (unsigned h = 0; second && h <= NOTHER;
				     h++, n++) {
					snprintf(schedule, sizeof schedule,
					    "start %u, %u with %u, %u with %u",
					    s, op, by, k, h);
					begin(s);
					first = step(op, by) || by == 0;
					second = step(k, h);
					end();
				}
			}
		}
	}
	return n;
}

static void
others_act_on_the_way(void **state)
{
	unsigned n = try_all();
	schedule[0] = '\0';
	print_message("# %u schedules\n", n);
	assert_true(n > 1000);
}

static const char *self;

/* A controller that may act on an LWP on its way is found. */
static void
a_fault_is_found(void **state)
{
	char command[200];

	snprintf(command, sizeof command, "%s fault >/dev/null 2>&1", self);
	assert_int_not_equal(system(command), 0);
}

static int
print_failed(void **state)
{
	if (schedule[0] != '\0')
		print_error("# %s\n", schedule);
	return 0;
}

static int
two_types(void **state)
{
	fake_shape = fake_ordinary;
	fake_shape.npic = 6;
	fake_shape.npic2 = 4;
	fake_boot();
	for (unsigned p = 0; p <= ATOM; p++) {
		packs[p].head.cp_nreqs = 1;
		packs[p].req.cr_event =
		    (struct cpc_event){ .ce_pics = 0xf, .ce_code = 1 };
		packs[p].req.cr_flags = CPC_COUNT_USER;
		packs[p].req.cr_picnum = -1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest schedules[] = {
		cmocka_unit_test_teardown(others_act_on_the_way, print_failed),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(others_act_on_the_way, print_failed),
		cmocka_unit_test(a_fault_is_found),
	};

	self = argv[0];
	fake_ready_rests = argc > 1;
	return fake_ready_rests
	           ? cmocka_run_group_tests(schedules, two_types, NULL)
	           : cmocka_run_group_tests(tests, two_types, NULL);
}
