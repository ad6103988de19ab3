/* Sets that are bound to CPUs, and what then happens to the sets of LWPs. */
#include "tests/lib/host/kcpc/host.h"

#include <string.h>

/* the kernel's function has this name in host tests */
#define sched_yield kern_sched_yield
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/sched/cpu.h"

static unsigned posts;

static void
count_post(struct lwp *l)
{
	posts++;
}

static void
bind_cpu(processorid_t cpu, cpc_set_t *set)
{
	assert_int_equal(cpc_bind_cpu(cpc, cpu, set, 0), 0);
}

#define assert_bind_cpu_fails(cpu, set, e, code)                               \
	assert_reported(cpc_bind_cpu(cpc, cpu, set, 0), e, "cpc_bind_cpu", code)

/* CPC-CPU-01, CPC-CPU-09: the set counts all that runs there, and only that. */
CPC_TEST(a_cpus_set_counts_its_cpu)
{
	cpc_set_t *set = set_of("instructions");

	add_flags(set, "instructions", CPC_COUNT_SYSTEM);
	bind_cpu(1, set);
	fake_user(10); /* the LWP that binds runs on that CPU */
	fake_switch(1, 2);
	fake_user(100);
	fake_system(7);
	fake_cpu(0);
	fake_switch(0, 2);
	fake_user(10000);
	fake_cpu(1);
	fake_switch(0, 1);
	assert_int_equal(sampled(set, 0), 110);
	assert_int_equal(sampled(set, 1), 7);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_false(fake_pmu_any());
}

/* docs/design.md, "Counting": no program can read such a set's PICs. */
CPC_TEST(no_program_reads_its_pics)
{
	cpc_set_t *set = set_of("instructions");

	bind_cpu(0, set);
	assert_int_equal(fake_pmu_readable(), 0);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* CPC-CPU-03, CPC-CPU-04, CPC-CPU-05 */
CPC_TEST(cpus_that_cannot_be_bound)
{
	cpc_set_t *set = set_of("instructions");

	assert_bind_cpu_fails(FAKE_NCPU, set, EINVAL, CPC_PBIND_FAILED);
	assert_bind_cpu_fails(-1, set, EINVAL, CPC_PBIND_FAILED);
	fake_online = 1;
	assert_bind_cpu_fails(1, set, ENOSYS, CPC_PBIND_FAILED);
	bind_cpu(0, set);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* CPC-CPU-06: first the CPU must exist; own LWPs need no privilege. */
CPC_TEST(the_privilege_is_needed)
{
	cpc_set_t *set = set_of("instructions");

	fake_privilege(0, false);
	assert_silent(cpc_bind_cpu(cpc, 0, set, 0), EACCES);
	assert_bind_cpu_fails(FAKE_NCPU, set, EINVAL, CPC_PBIND_FAILED);
	bind_curlwp(set);
}

/* CPC-CPU-07 */
CPC_TEST(early_failures_are_silent)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	assert_silent(cpc_bind_cpu(cpc, 0, set, 1), EINVAL);
	assert_silent(cpc_bind_cpu(cpc, 0, cpc_set_create(cpc), 0), EINVAL);
	assert_silent(cpc_bind_cpu(NULL, 0, set, 0), EINVAL);
	fake_user(3);
	assert_int_equal(sampled(set, 0), 3);
}

/* CPC-CPU-08: the set may be of another process. */
CPC_TEST(a_cpu_has_one_set)
{
	cpc_set_t *set = set_of("instructions"), *other = set_of("cycles");

	bind_cpu(0, set);
	assert_silent(cpc_bind_cpu(cpc, 0, other, 0), EAGAIN);
	fake_switch(1, 1);
	assert_silent(cpc_bind_cpu(cpc, 0, other, 0), EAGAIN);
	bind_cpu(1, other);
	assert_int_equal(cpc_unbind(cpc, other), 0);
	fake_cpu(0);
	fake_switch(0, 1);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 1);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* CPC-CPU-03: a bind that fails late leaves nothing that it made. */
CPC_TEST(late_failures_leave_nothing)
{
	cpc_set_t *good = set_of("instructions"), *bad = set_of("0x100");

	assert_bind_cpu_fails(1, bad, EINVAL, CPC_INVALID_EVENT);
	for (int i = 0; i < 5; i++)
		add(bad, "instructions");
	assert_silent(cpc_bind_cpu(cpc, 1, bad, 0), EINVAL);
	fake_switch(0, 2);
	/* the first bind finds room for its context */
	bind_curlwp(set_of("cycles"));
	fake_switch(0, 1);
	fake_kmalloc_fails = 1;
	assert_silent(cpc_bind_cpu(cpc, 1, good, 0), ENOMEM);
	bind_curlwp(good);
	fake_user(2);
	assert_int_equal(sampled(good, 0), 2);
}

/* CPC-INV-01, CPC-INV-02, CPC-INV-03, CPC-CPU-15 */
CPC_TEST(lwps_lose_their_counters)
{
	cpc_set_t *a = set_of("instructions"), *b = set_of("cycles");
	cpc_buf_t *buf = buf_of(a);

	bind_curlwp(a);
	fake_switch(0, 2);
	bind_cpu(1, b);
	fake_cpu(0);
	fake_switch(0, 1);
	assert_errno(cpc_set_sample(cpc, a, buf), EAGAIN);
	assert_silent(cpc_bind_curlwp(cpc, a, 0), EAGAIN);
	assert_errno(cpc_set_sample(cpc, a, buf), EAGAIN);
	assert_errno(cpc_set_restart(cpc, a), EAGAIN);
	assert_errno(cpc_enable(cpc), EAGAIN);
	fake_cpu(1);
	fake_switch(0, 2);
	assert_errno(cpc_set_restart(cpc, b), EINVAL);
	assert_errno(cpc_disable(cpc), EINVAL);
	assert_int_equal(cpc_unbind(cpc, b), 0);
	fake_switch(0, 1);
	assert_errno(cpc_set_sample(cpc, a, buf), EAGAIN);
	assert_int_equal(cpc_unbind(cpc, a), 0);
	bind_curlwp(a);
	assert_int_equal(sampled(a, 0), 0);
}

/* CPC-INV-05 */
CPC_TEST(lwps_that_run_elsewhere_are_stopped)
{
	cpc_set_t *a = set_of("instructions"), *b = set_of("cycles");

	fake_cpu(1);
	fake_switch(0, 2);
	bind_curlwp(a);
	assert_int_equal(fake_pmu_readable(), 1);
	fake_cpu(0);
	bind_cpu(0, b);
	fake_cpu(1);
	assert_int_equal(fake_pmu_running(), 0);
	assert_int_equal(fake_pmu_readable(), 0);
	fake_switch(0, 3); /* a switch works with a stopped context */
	fake_switch(0, 2);
	assert_int_equal(fake_pmu_running(), 0);
	fake_cpu(0);
	fake_user(1);
	assert_int_equal(sampled(b, 0), 3);
	assert_int_equal(cpc_unbind(cpc, b), 0);
}

/* CPC-SET-04, CPC-CLOSE-03 */
CPC_TEST(destroying_a_set_stops_it_on_other_cpus)
{
	cpc_set_t *a = set_of("instructions");

	bind_curlwp(a);
	fake_cpu(1);
	fake_switch(0, 2);
	bind_curlwp(a);
	assert_int_equal(cpc_set_destroy(cpc, a), 0);
	assert_false(fake_pmu_any());
}

/* CPC-BIND-28, in both directions */
CPC_TEST(one_kind_of_binding_at_a_time)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	fake_cpu(1);
	fake_switch(0, 2);
	bind_curlwp(set);
	fake_cpu(0);
	bind_curlwp(set);
	bind_cpu(0, set);
	fake_user(5);
	assert_int_equal(sampled(set, 0), 5);
	fake_switch(0, 2);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
	/* LWP 2 binds the set: LWP 1's binding to the CPU ends. */
	bind_curlwp(set);
	fake_user(2);
	assert_int_equal(sampled(set, 0), 2);
	fake_switch(0, 1);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
}

/* CPC-CPU-14 */
CPC_TEST(overflows_are_folded_silently)
{
	fake_shape.width = 32;
	reboot();
	posts = 0;
	kcpc_set_notify(count_post);
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_set_add_request(cpc, set, "instructions", UINT64_MAX,
	    CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL);
	add(set, "cycles");
	bind_cpu(1, set);
	for (int i = 0; i < 4; i++) {
		fake_switch(0, 1 + i % 2);
		fake_user(0x40000001);
	}
	fake_switch(0, 1);
	assert_true(sampled(set, 0) == 0x100000003);
	assert_true(sampled(set, 1) == 0x30000000c);
	assert_int_equal(posts, 0);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* If only a timer can fold narrow counters, it is a timer of their CPU. */
CPC_TEST(mute_counters_are_folded_in_time)
{
	fake_shape.width = 32;
	fake_shape.mute = true;
	reboot();
	cpc_set_t *set = set_of("instructions");
	bind_cpu(1, set);
	for (int i = 0; i < 20; i++) {
		fake_user(0xf0000000);
		fake_time(100 * 1000000);
	}
	assert_true(sampled(set, 0) == 20 * 0xf0000000ULL);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* CPC-CPU-16: the binding ends with the LWP, wherever it runs then. */
CPC_TEST(the_binders_exit_unbinds)
{
	cpc_set_t *set = set_of("instructions");

	bind_cpu(1, set);
	fake_cpu(0);
	fake_exit(0, 1);
	assert_false(fake_pmu_any());
	fake_switch(0, 2);
	bind_cpu(1, set);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* CPC-CPU-02: unbinding restores the LWP's binding, if its CPU takes LWPs. */
CPC_TEST(unbinding_restores_the_binding)
{
	cpc_set_t *set = set_of("instructions");

	bind_cpu(1, set);
	assert_int_equal(*fake_bound(0, 1), 1);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(*fake_bound(0, 1), -1);
	*fake_bound(0, 1) = 2;
	bind_cpu(1, set);
	bind_cpu(0, set);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(*fake_bound(0, 1), 2);
	bind_cpu(1, set);
	fake_online = 3;
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(*fake_bound(0, 1), -1);
}

/* docs/design.md, `cpc_cpu=`: one privilege for both. */
CPC_TEST(privileged_requests_are_bound)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char anythr[] = "anythr";

	assert_int_equal(
	    cpc_set_add_request(cpc, set, "cycles", 0,
		CPC_COUNT_USER | CPC_COUNT_HV, 1, &(cpc_attr_t){ anythr, 1 }),
	    0);
	bind_cpu(1, set);
	fake_user(2);
	assert_int_equal(sampled(set, 0), 6);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* CPC-BIND-26 */
CPC_TEST(siblings_forbid_sets_of_lwps)
{
	fake_shape.shared = true;
	reboot();
	cpc_set_t *set = set_of("instructions");
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EACCES);
	fake_online = 3;
	bind_curlwp(set);
	fake_user(4);
	assert_int_equal(sampled(set, 0), 4);
	/* CPC-BIND-26: a CPU without siblings comes online, then a sibling. */
	kcpc_cpu_online(&cpus[0]);
	assert_int_equal(sampled(set, 0), 4);
	fake_online = 7;
	kcpc_cpu_online(&cpus[2]);
	assert_errno(cpc_disable(cpc), EAGAIN);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EACCES);
}

/* include/libcpc.h: only one sibling may have a set; checked first. */
CPC_TEST(one_sibling_has_a_set)
{
	fake_shape.shared = true;
	reboot();
	cpc_set_t *set = set_of("instructions");
	cpc_set_t *other = set_of("0x100");
	bind_cpu(1, set);
	kcpc_cpu_online(&cpus[2]);
	fake_user(9);
	assert_int_equal(sampled(set, 0), 9);
	fake_switch(0, 2);
	assert_silent(cpc_bind_cpu(cpc, 2, other, 0), EACCES);
	assert_int_equal(*fake_bound(0, 2), -1);
	assert_bind_cpu_fails(0, other, EINVAL, CPC_INVALID_EVENT);
	fake_switch(0, 1);
	assert_int_equal(cpc_unbind(cpc, set), 0);
}

/* If PICs count what other CPUs retire, cpc_open() works, and no bind does. */
CPC_TEST(counts_of_all_cpus_are_refused)
{
	fake_shape.leaks = true;
	reboot();
	assert_non_null(strstr(fake_console, "count what all CPUs retire"));
	cpc_set_t *set = set_of("instructions");
	assert_reported(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
	assert_bind_cpu_fails(1, set, EINVAL, CPC_RESOURCE_UNAVAIL);
	fake_shape.leaks = false;
	reboot();
	assert_null(strstr(fake_console, "CPU"));
	set = set_of("instructions");
	bind_curlwp(set);
	fake_user(10);
	assert_int_equal(sampled(set, 0), 10);
}

/* A CPU may come online on a machine without a PMU. */
CPC_TEST(a_cpu_comes_online_without_a_pmu)
{
	fake_shape.npic = 0;
	reboot();
	kcpc_cpu_online(&cpus[1]);
	assert_null(cpc);
}

static unsigned asked;

static bool
has_requests(const struct pcbe_set *set, const void *n)
{
	asked++;
	return set->ps_n == *(const unsigned *)n;
}

/* A backend whose CPUs share an extra MSR asks for another set's value. */
CPC_TEST(a_backend_looks_at_each_bound_set)
{
	static const unsigned one = 1, two = 2;
	cpc_set_t *set = set_of("instructions");

	assert_false(pcbe_any_bound(has_requests, &one));
	bind_curlwp(set);
	assert_true(pcbe_any_bound(has_requests, &one));
	assert_false(pcbe_any_bound(has_requests, &two));
	assert_int_equal(cpc_unbind(cpc, set), 0);
	asked = 0;
	assert_false(pcbe_any_bound(has_requests, &one));
	assert_int_equal(asked, 0);
}
