/* Which binds to the current LWP are refused, and what stays bound then. */
#include "tests/lib/host/kcpc/host.h"

static char umask_name[] = "umask";

#define assert_bind_fails(set, e, code)                                        \
	assert_reported(                                                       \
	    cpc_bind_curlwp(cpc, set, 0), e, "cpc_bind_curlwp", code)

static void
add_attr(cpc_set_t *set, const char *event, char *name, uint64_t value)
{
	cpc_attr_t attr = { name, value };

	assert_int_not_equal(
	    cpc_set_add_request(cpc, set, event, 0, CPC_COUNT_USER, 1, &attr),
	    -1);
}

/* CPC-BIND-02 */
CPC_TEST(unknown_flags_leave_a_binding_alone)
{
	cpc_set_t *set = set_of("instructions"), *other = set_of("cycles");

	bind_curlwp(set);
	fake_user(1);
	assert_silent(cpc_bind_curlwp(cpc, other, CPC_BIND_EMT_OVF), EINVAL);
	assert_silent(cpc_bind_curlwp(cpc, other, 0x4), EINVAL);
	assert_silent(cpc_bind_curlwp(cpc, set, ~0U), EINVAL);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 2);
}

/* CPC-BIND-03 */
CPC_TEST(empty_set_leaves_a_binding_alone)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	assert_silent(cpc_bind_curlwp(cpc, cpc_set_create(cpc), 0), EINVAL);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 1);
}

/* CPC-BIND-04 */
CPC_TEST(foreign_set_is_einval)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of("instructions");

	assert_silent(cpc_bind_curlwp(other, set, 0), EINVAL);
	cpc_close(other);
}

/* CPC-BIND-05: 101 requests and an oversized pack are refused alike. */
CPC_TEST(more_requests_than_pics_is_silent)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_attr_t attrs[50];

	for (int i = 0; i < 5; i++)
		add(set, "instructions");
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	for (int i = 5; i < 101; i++)
		add(set, "instructions");
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);

	set = cpc_set_create(cpc);
	for (int i = 0; i < 50; i++)
		attrs[i] = (cpc_attr_t){ umask_name, 1 };
	for (int i = 0; i < 300; i++)
		assert_int_equal(cpc_set_add_request(cpc, set, "cycles", 0,
				     CPC_COUNT_USER, 50, attrs),
		    i);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
}

/* CPC-BIND-06 */
CPC_TEST(one_picnum_twice_is_silent)
{
	static const unsigned pics[][3] = { { 2, 2, 0 }, { 2, 0, 2 },
		{ 0, 2, 2 } };
	cpc_set_t *set;
	unsigned i, j;

	for (i = 0; i < 3; i++) {
		set = cpc_set_create(cpc);
		for (j = 0; j < 3; j++)
			add_pic(set, "cycles", pics[i][j]);
		assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	}
}

/* CPC-BIND-07.  The report names the requests and the PICs in conflict. */
CPC_TEST(no_assignment_is_resource_unavail)
{
	fake_shape.asymmetric = true;
	reboot();
	cpc_set_t *set = set_of("branches");
	add(set, "branches");
	assert_bind_fails(set, EINVAL, CPC_RESOURCE_UNAVAIL);
	assert_string_equal(detail.text,
	    "Hardware resource unavailable: requests 0-1 can be on PIC 0 "
	    "alone\n");
	set = set_of("instructions");
	add(set, "cycles");
	add(set, "cycles");
	add(set, "branches");
	assert_bind_fails(set, EINVAL, CPC_RESOURCE_UNAVAIL);
	assert_string_equal(detail.text,
	    "Hardware resource unavailable: requests 1-3 can be on PICs 0-1 "
	    "alone\n");
	/* This bind fails otherwise, with the subcode's text alone. */
	set = set_of("0x100");
	assert_bind_fails(set, EINVAL, CPC_INVALID_EVENT);
	assert_string_equal(detail.text, "Unknown event\n");
}

/* CPC-BIND-09 */
CPC_TEST(late_failure_leaves_nothing_bound)
{
	cpc_set_t *a = set_of("instructions"), *b = set_of("0x100");
	cpc_buf_t *buf = buf_of(a);

	bind_curlwp(a);
	assert_bind_fails(b, EINVAL, CPC_INVALID_EVENT);
	assert_errno(cpc_set_sample(cpc, a, buf), EINVAL);
	assert_errno(cpc_enable(cpc), EINVAL);
	assert_int_equal(fake_pmu_running(), 0);
}

/* CPC-BIND-14 */
CPC_TEST(notify_without_interrupts_is_enotsup)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_flags(set, "instructions", CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), ENOTSUP);
}

/* CPC-BIND-15 */
CPC_TEST(generic_event_takes_no_attribute)
{
	cpc_set_t *set = cpc_set_create(cpc), *pinned = cpc_set_create(cpc);

	add_attr(set, "PAPI_tot_ins", umask_name, 0);
	assert_bind_fails(set, EINVAL, CPC_ATTRIBUTE_OUT_OF_RANGE);
	add_pic(pinned, "PAPI_tot_ins", 1);
	bind_curlwp(pinned);
}

/* docs/design.md, "Counting": the report names the request and the reason. */
CPC_TEST(a_refusal_names_the_request)
{
	cpc_set_t *set = set_of("cycles");

	add_attr(set, "cycles", umask_name, 0x100);
	add_attr(set, "cycles", umask_name, 0x200);
	assert_bind_fails(set, EINVAL, CPC_ATTRIBUTE_OUT_OF_RANGE);
	assert_string_equal(detail.text,
	    "Attribute out of range: request 1: umask is at most 0xff\n");
}

/* CPC-BIND-16.  The value does not matter. */
CPC_TEST(privileged_attribute_without_privilege)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char anythr[] = "anythr";

	add_attr(set, "cycles", anythr, 0);
	fake_privilege(0, false);
	assert_bind_fails(set, EACCES, CPC_ATTR_REQUIRES_PRIVILEGE);
	fake_privilege(0, true);
	bind_curlwp(set);
}

/* CPC-BIND-17: one filter for all PICs, as on UltraSPARC. */
CPC_TEST(incompatible_settings_conflict)
{
	fake_shape.one_filter = true;
	reboot();
	cpc_set_t *set = set_of("instructions");
	add_flags(set, "cycles", CPC_COUNT_SYSTEM);
	assert_bind_fails(set, EINVAL, CPC_CONFLICTING_REQS);
}

/* CPC-BIND-18 */
CPC_TEST(hypervisor_mode_may_be_refused)
{
	fake_shape.no_hv = true;
	reboot();
	cpc_set_t *set = cpc_set_create(cpc);
	add_flags(set, "instructions", CPC_COUNT_USER | CPC_COUNT_HV);
	assert_bind_fails(set, EACCES, CPC_HV_NO_ACCESS);
}

/* docs/design.md, `cpc_cpu=`: the process lacks the privilege. */
CPC_TEST(hypervisor_mode_needs_the_privilege)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_flags(set, "instructions", CPC_COUNT_USER | CPC_COUNT_HV);
	fake_privilege(0, false);
	assert_bind_fails(set, EACCES, CPC_HV_NO_ACCESS);
	fake_privilege(0, true);
	bind_curlwp(set);
}

/* CPC-BIND-19 */
CPC_TEST(raw_code_on_a_pmu_without_raw_codes)
{
	fake_shape.no_raw = true;
	reboot();
	assert_bind_fails(set_of("0x3c"), EINVAL, CPC_INVALID_EVENT);
}

/* CPC-EVT-02 on the fake PMU, whose codes are 0 to 255. */
CPC_TEST(raw_code_out_of_range)
{
	assert_bind_fails(set_of("0x100"), EINVAL, CPC_INVALID_EVENT);
	assert_bind_fails(set_of("-1"), EINVAL, CPC_INVALID_EVENT);
	bind_curlwp(set_of("0xff"));
}

/* include/libcpc.h: no memory.  The old context is gone. */
CPC_TEST(bind_without_memory_is_enomem)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set); /* the first bind finds room for its context */
	fake_switch(0, 2);
	fake_kmalloc_fails = 1;
	assert_silent(cpc_bind_curlwp(cpc, set, 0), ENOMEM);
	bind_curlwp(set);
}
