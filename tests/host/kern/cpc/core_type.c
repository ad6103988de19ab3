/*
 * CPUs with different PMUs.  A set without a core type counts on all CPUs, by
 * what they share.  A set of a core type uses all of that type, and its LWP
 * stays on its CPUs.  The software PMU panics if a CPU is to run a PIC that it
 * lacks.
 *
 * CPUs 0 and 1 are soft_core: six PICs, "instructions" and "cycles".  CPU 2 is
 * soft_atom: four PICs, "branches" too, "cycles" on PIC 0 only.
 */
#include "tests/lib/host/kcpc/host.h"

#include <string.h>

/* the kernel's function has this name in host tests */
#define sched_yield kern_sched_yield
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/sched/cpu.h"
#include "lib/text.h"

static void
two_types(void)
{
	fake_shape.npic = 6;
	fake_shape.npic2 = 4;
	reboot();
}

/* Bit n: the LWP may run on CPU n. */
static uint64_t
affinity(int lwp)
{
	return fake_affinity(0, lwp) & 7;
}

static unsigned
cpu_now(void)
{
	return arch_curcpu()->c_id;
}

static int
add_typed(cpc_set_t *set, const char *event, uint64_t type)
{
	cpc_attr_t at = { (char *)"core_type", type };

	return cpc_set_add_request(cpc, set, event, 0, CPC_COUNT_USER, 1, &at);
}

static char names[256];

static void
note_name(void *arg, const char *name)
{
	strcat(strcat(names, name), " ");
}

static const char *
events_of(cpc_t *c)
{
	names[0] = '\0';
	cpc_walk_events_all(c, NULL, note_name);
	return names;
}

CPC_TEST(no_types_if_cpus_are_alike)
{
	assert_null_errno(cpc_core_type(cpc, 0), EINVAL);
	assert_errno(cpc_core_type_of_cpu(cpc, 0), EINVAL);
	assert_null_errno(
	    cpc_open_core_type(CPC_VER_CURRENT, "soft_core"), EINVAL);
	names[0] = '\0';
	cpc_walk_attrs(cpc, NULL, note_name);
	assert_null(strstr(names, "core_type"));
}

CPC_TEST(types_have_names_and_cpus)
{
	two_types();
	assert_string_equal(cpc_core_type(cpc, 0), "soft_core");
	assert_string_equal(cpc_core_type(cpc, 1), "soft_atom");
	assert_null_errno(cpc_core_type(cpc, 2), EINVAL);
	assert_int_equal(cpc_core_type_of_cpu(cpc, 1), 0);
	assert_int_equal(cpc_core_type_of_cpu(cpc, 2), 1);
	assert_errno(cpc_core_type_of_cpu(cpc, 3), EINVAL);
	assert_errno(cpc_core_type_of_cpu(cpc, -1), EINVAL);
	names[0] = '\0';
	cpc_walk_attrs(cpc, NULL, note_name);
	assert_non_null(strstr(names, "core_type picnum "));
}

/* The least number of PICs, and the events of all types. */
CPC_TEST(ordinary_handle_has_what_all_share)
{
	two_types();
	assert_int_equal(cpc_npic(cpc), 4);
	assert_string_equal(events_of(cpc), "cycles instructions ");
}

CPC_TEST(handle_of_a_type_has_its_pmu)
{
	two_types();
	cpc_t *core = cpc_open_core_type(CPC_VER_CURRENT, "soft_core");
	cpc_t *atom = cpc_open_core_type(CPC_VER_CURRENT, "soft_atom");
	assert_int_equal(cpc_npic(core), 6);
	assert_int_equal(cpc_npic(atom), 4);
	assert_string_equal(events_of(core), "cycles instructions ");
	assert_string_equal(events_of(atom), "branches cycles instructions ");
	assert_null_errno(
	    cpc_open_core_type(CPC_VER_CURRENT, "cpu_core"), EINVAL);
	assert_null_errno(cpc_open_core_type(CPC_VER_CURRENT, NULL), EINVAL);
	assert_null_errno(cpc_open_core_type(1, "soft_core"), EINVAL);
	cpc_close(core);
	cpc_close(atom);
}

/* A set without a type runs on every CPU, and its counts add up. */
CPC_TEST(set_without_a_type_moves)
{
	cpc_set_t *set = NULL;

	two_types();
	set = set_of("instructions");
	bind_curlwp(set);
	fake_user(4);
	for (unsigned c = 0; c < FAKE_NCPU; c++) {
		fake_idle();
		fake_cpu(c);
		fake_switch(0, 1);
		fake_user(100);
	}
	assert_int_equal(sampled(set, 0), 304);
	assert_int_equal(affinity(1), 7);
}

/* Five requests: one more than the PICs that all CPUs have. */
CPC_TEST(set_without_a_type_has_the_least_pics)
{
	two_types();
	cpc_set_t *set = set_of("instructions");
	for (int i = 0; i < 4; i++)
		add(set, "instructions");
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
}

CPC_TEST(bind_moves_the_lwp)
{
	two_types();
	cpc_set_t *set = set_of("soft_atom/branches/");
	bind_curlwp(set);
	assert_int_equal(cpu_now(), 2);
	assert_int_equal(affinity(1), 1 << 2);
	fake_user(400);
	assert_int_equal(sampled(set, 0), 100);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(affinity(1), 7);
}

/* All six PICs of soft_core, by the attribute and by a number. */
CPC_TEST(attribute_asks_for_the_type)
{
	two_types();
	cpc_set_t *set = cpc_set_create(cpc);
	for (int i = 0; i < 5; i++)
		assert_int_equal(add_typed(set, "instructions", 0), i);
	assert_int_equal(add(set, "soft_core/7/"), 5);
	fake_idle();
	fake_cpu(2);
	fake_switch(0, 1);
	bind_curlwp(set);
	assert_int_equal(cpu_now(), 0);
	assert_int_equal(affinity(1), 3);
	fake_user(8);
	assert_int_equal(sampled(set, 4), 8);
	assert_int_equal(sampled(set, 5), 56);
}

CPC_TEST(handle_asks_for_its_type)
{
	cpc_t *ordinary = cpc;

	two_types();
	ordinary = cpc;
	cpc = cpc_open_core_type(CPC_VER_CURRENT, "soft_atom");
	cpc_set_t *set = set_of("branches");
	add(set, "soft_atom/instructions/u");
	bind_curlwp(set);
	fake_user(4);
	fake_system(4);
	assert_int_equal(cpu_now(), 2);
	assert_int_equal(sampled(set, 0), 1);
	assert_int_equal(sampled(set, 1), 4);
	assert_errno(add_typed(set, "cycles", 0), EINVAL);
	cpc_close(cpc);
	assert_int_equal(affinity(1), 7);
	cpc = ordinary;
}

/* The level in the name overrides the request's flags. */
CPC_TEST(name_has_a_level)
{
	two_types();
	cpc_set_t *set = set_of("soft_core/instructions/k");
	bind_curlwp(set);
	fake_user(10);
	fake_system(3);
	assert_int_equal(sampled(set, 0), 3);
}

#define assert_refused(call, code, why)                                        \
	do {                                                                   \
		assert_reported(call, EINVAL, "cpc_set_add_request", code);    \
		assert_non_null(strstr(detail.text, why));                     \
	} while (0)

static int
add_event(cpc_set_t *set, const char *event)
{
	return cpc_set_add_request(cpc, set, event, 0, CPC_COUNT_USER, 0, NULL);
}

CPC_TEST(names_that_are_refused)
{
	two_types();
	cpc_set_t *set = cpc_set_create(cpc);
	assert_refused(add_event(set, "branches"), CPC_INVALID_EVENT,
	    "not all of soft_core and soft_atom count it: write "
	    "soft_atom/branches/");
	assert_refused(add_event(set, "cpu_core/cycles/"), CPC_INVALID_EVENT,
	    "no core type cpu_core: there is soft_core and soft_atom");
	assert_refused(
	    add_event(set, "soft_core/branches/"), CPC_INVALID_EVENT, "");
	assert_refused(
	    add_event(set, "soft_core/cycles"), CPC_INVALID_EVENT, "");
	assert_refused(
	    add_event(set, "soft_core/cycles,umask=1/"), CPC_INVALID_EVENT, "");
	assert_refused(
	    add_event(set, "soft_core/cycles/x"), CPC_INVALID_EVENT, "");
	assert_refused(
	    add_typed(set, "cycles", 2), CPC_ATTRIBUTE_OUT_OF_RANGE, "");
}

CPC_TEST(set_counts_on_one_type)
{
	two_types();
	cpc_set_t *set = set_of("instructions");
	add(set, "soft_core/cycles/");
	assert_refused(add_event(set, "soft_atom/branches/"),
	    CPC_CONFLICTING_REQS, "a set counts on one core type");
	add(set, "cycles");
	bind_curlwp(set);
	fake_user(4);
	assert_int_equal(sampled(set, 0), 4);
	assert_int_equal(sampled(set, 1), 12);
	assert_int_equal(sampled(set, 2), 12);
	assert_int_equal(affinity(1), 3);
}

#define assert_bind_refused(set, why)                                          \
	do {                                                                   \
		assert_reported(cpc_bind_curlwp(cpc, set, 0), EINVAL,          \
		    "cpc_bind_curlwp", CPC_PBIND_FAILED);                      \
		assert_non_null(strstr(detail.text, why));                     \
	} while (0)

CPC_TEST(lwp_that_cannot_run_there_is_told)
{
	two_types();
	cpc_set_t *set = set_of("soft_atom/branches/");
	*fake_bound(0, 1) = 0;
	assert_bind_refused(
	    set, "the LWP is bound to CPU 0, which is soft_core: unbind it");
	*fake_bound(0, 1) = -1;
	fake_set_affinity(0, 1, 1);
	assert_bind_refused(set, "in the LWP's affinity is soft_atom");
	assert_int_equal(affinity(1), 1);
	fake_set_affinity(0, 1, ~0ULL);
	fake_online = 3;
	assert_bind_refused(set, "no CPU that is online");
	assert_int_equal(affinity(1), 7);
	fake_online = 7;
	bind_curlwp(set);
}

/* A bind that fails for another reason leaves the LWP free. */
CPC_TEST(failed_bind_restores_the_affinity)
{
	two_types();
	cpc_set_t *set = set_of("soft_atom/branches/");
	for (int i = 0; i < 4; i++)
		add(set, "instructions");
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	assert_int_equal(affinity(1), 7);
}

/* While the LWP moves, another one takes the counters for a CPU. */
static cpc_set_t *taker;

static void
take_cpu_1(void)
{
	fake_on_move = NULL;
	fake_cpu(1);
	fake_switch(1, 1);
	assert_int_equal(cpc_bind_cpu(cpc, 1, taker, 0), 0);
	fake_cpu(0);
}

CPC_TEST(counters_taken_during_the_move)
{
	two_types();
	cpc_set_t *set = set_of("soft_atom/branches/");
	taker = set_of("instructions");
	fake_on_syscall = NULL;
	fake_on_move = take_cpu_1;
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EAGAIN);
	assert_int_equal(affinity(1), 7);
}

/* LWP 2's refusal, while LWP 1 moves. */
static void
refuse_other(void)
{
	fake_on_move = NULL;
	fake_cpu(1);
	fake_switch(1, 1);
	*fake_bound(1, 1) = 1;
	assert_errno(cpc_bind_curlwp(cpc, taker, 0), EINVAL);
	assert_non_null(strstr(detail.text, "bound to CPU 1"));
	*fake_bound(1, 1) = -1;
	fake_idle();
	fake_cpu(0);
}

/* The software PMU refuses this event without a text. */
CPC_TEST(text_of_a_refusal_is_its_own)
{
	two_types();
	cpc_set_t *set = set_of("soft_atom/256/");
	taker = set_of("soft_atom/branches/");
	fake_on_syscall = NULL;
	fake_on_move = refuse_other;
	detail_listen(cpc);
	assert_errno(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	assert_int_equal(detail.calls, 2);
	assert_int_equal(detail.subcode, CPC_INVALID_EVENT);
	assert_null(strstr(detail.text, "bound to CPU"));
	assert_int_equal(affinity(1), 7);
}

/* While LWP 1 moves, LWP 2 destroys the set. */
static void
destroy_taker(void)
{
	fake_on_move = NULL;
	fake_cpu(1);
	fake_switch(0, 2);
	assert_int_equal(cpc_set_destroy(cpc, taker), 0);
	fake_idle();
	fake_cpu(0);
}

CPC_TEST(set_destroyed_during_the_move)
{
	struct kcpc_stat st;

	two_types();
	taker = set_of("soft_atom/branches/");
	fake_on_move = destroy_taker;
	assert_silent(cpc_bind_curlwp(cpc, taker, 0), EINVAL);
	kcpc_stat(&st);
	assert_int_equal(st.ks_contexts, 0);
	assert_int_equal(affinity(1), 7);
}

/* While LWP 1 moves, LWP 2 adds a request. */
static void
add_to_taker(void)
{
	fake_on_move = NULL;
	fake_cpu(1);
	fake_switch(0, 2);
	assert_int_equal(add(taker, "instructions"), 1);
	fake_idle();
	fake_cpu(0);
}

CPC_TEST(request_added_during_the_move)
{
	two_types();
	taker = set_of("soft_atom/branches/");
	fake_on_move = add_to_taker;
	bind_curlwp(taker);
	fake_user(7);
	assert_int_equal(sampled(taker, 1), 7);
}

CPC_TEST(set_of_a_cpu)
{
	two_types();
	cpc_set_t *atom = set_of("soft_atom/branches/");
	cpc_set_t *any = set_of("instructions");
	assert_reported(cpc_bind_cpu(cpc, 1, atom, 0), EINVAL, "cpc_bind_cpu",
	    CPC_PBIND_FAILED);
	assert_non_null(strstr(detail.text,
	    "CPU 1 is soft_core, and the set counts on soft_atom: bind it to "
	    "a CPU of that type"));
	assert_int_equal(cpc_bind_cpu(cpc, 2, atom, 0), 0);
	fake_user(8);
	assert_int_equal(sampled(atom, 0), 2);
	assert_int_equal(cpc_unbind(cpc, atom), 0);
	for (int c = 0; c < FAKE_NCPU; c++) {
		assert_int_equal(cpc_bind_cpu(cpc, c, any, 0), 0);
		fake_user(5);
		assert_int_equal(sampled(any, 0), 5);
		assert_int_equal(cpc_unbind(cpc, any), 0);
	}
}

/* processor_bind(2) to another type: the set is invalid, nothing runs. */
CPC_TEST(lwp_that_leaves_its_type_loses_the_set)
{
	two_types();
	cpc_set_t *set = set_of("soft_atom/branches/");
	cpc_buf_t *buf = buf_of(set);
	bind_curlwp(set);
	fake_idle();
	*fake_bound(0, 1) = 0;
	fake_cpu(0);
	fake_switch(0, 1);
	assert_false(fake_pmu_any());
	assert_silent(cpc_set_sample(cpc, set, buf), EAGAIN);
	assert_silent(cpc_set_restart(cpc, set), EAGAIN);
	*fake_bound(0, 1) = -1;
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(affinity(1), 7);
}

/* A frozen set, too: cpc_enable() must not run it there. */
CPC_TEST(frozen_set_is_lost_too)
{
	two_types();
	cpc_set_t *set = set_of("soft_atom/branches/");
	bind_curlwp(set);
	assert_int_equal(cpc_disable(cpc), 0);
	fake_idle();
	fake_cpu(0);
	fake_switch(0, 1);
	assert_silent(cpc_enable(cpc), EAGAIN);
}

CPC_TEST(other_set_displaces_it)
{
	two_types();
	cpc_set_t *atom = set_of("soft_atom/branches/");
	cpc_set_t *any = set_of("instructions");
	bind_curlwp(atom);
	bind_curlwp(any);
	assert_int_equal(affinity(1), 7);
	bind_curlwp(set_of("soft_core/cycles/"));
	assert_int_equal(affinity(1), 3);
	assert_int_equal(cpu_now(), 0);
}

CPC_TEST(new_lwp_inherits_the_type)
{
	two_types();
	cpc_set_t *set = set_of("soft_atom/branches/");
	assert_int_equal(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(fake_clone(2), 0);
	assert_int_equal(affinity(2), 1 << 2);
	fake_switch(0, 2);
	fake_user(4);
	assert_int_equal(sampled(set, 0), 1);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(affinity(2), 7);
	assert_int_equal(affinity(1), 1 << 2);
}

/* The interrupt of an overflow takes the slow path of such a set. */
CPC_TEST(overflow_is_folded)
{
	fake_shape.width = 16;
	two_types();
	cpc_set_t *set = set_of("soft_atom/instructions/");
	bind_curlwp(set);
	for (int i = 0; i < 10; i++)
		fake_user(1 << 15);
	assert_int_equal(sampled(set, 0), 10 << 15);
}

/* A PIC that one type lacks, or that fails its proof, is no PIC of all. */
CPC_TEST(proof_is_per_type)
{
	cpc_t *core;

	fake_shape.broken = 1 << 5;
	two_types();
	assert_non_null(strstr(fake_console,
	    "pcbe: core type soft_core: 5 of 6 PICs proved, from CPU 0 on\n"));
	assert_non_null(strstr(fake_console,
	    "pcbe: core type soft_atom: 4 of 4 PICs proved, from CPU 2 on\n"));
	core = cpc_open_core_type(CPC_VER_CURRENT, "soft_core");
	assert_int_equal(cpc_npic(core), 6);
	cpc_close(core);
}

CPC_TEST(types_are_described)
{
	char text[2048];
	struct text t = { text, sizeof text, 0 };

	two_types();
	kcpc_describe(&t);
	assert_non_null(strstr(text,
	    ",\"core_types\":["
	    "{\"name\":\"soft_core\",\"cpus\":\"0-1\",\"npic\":6,\"pics\":63},"
	    "{\"name\":\"soft_atom\",\"cpus\":\"2\",\"npic\":4,\"pics\":15}"
	    "]"));
}
