/* Handles: opening, closing, and the constants of the header. */
#include "tests/lib/host/kcpc/host.h"

#include <signal.h>
#include <ucontext.h>

#include "kern/cpc/kcpc.h"

/* CPC-OPEN-01 */
CPC_TEST(open_gives_a_handle)
{
	assert_non_null(cpc);
}

/* CPC-OPEN-02 */
CPC_TEST(open_refuses_other_versions)
{
	assert_null_errno(cpc_open(CPC_VER_NONE), EINVAL);
	assert_null_errno(cpc_open(CPC_VER_1), EINVAL);
	assert_null_errno(cpc_open(3), EINVAL);
	assert_null_errno(cpc_open(-1), EINVAL);
}

/* CPC-OPEN-03, CPC-PCBE-07 */
CPC_TEST(open_without_pmu_is_enosys)
{
	fake_shape.npic = 0;
	reboot();
	assert_null_errno(cpc_open(CPC_VER_CURRENT), ENOSYS);
}

/* CPC-OPEN-04 */
CPC_TEST(open_checks_the_version_first)
{
	unsigned entered;

	fake_shape.npic = 0;
	reboot();
	entered = fake_syscalls;
	assert_null_errno(cpc_open(CPC_VER_1), EINVAL);
	assert_int_equal(fake_syscalls, entered);
}

/* CPC-OPEN-05 */
CPC_TEST(open_twice_gives_independent_handles)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of("instructions");

	assert_non_null(other);
	assert_ptr_not_equal(other, cpc);
	bind_curlwp(set);
	assert_int_equal(cpc_close(other), 0);
	fake_user(10);
	assert_int_equal(sampled(set, 0), 10);
}

/* The kernel knows whether a program has asked for counters. */
CPC_TEST(open_is_counted_with_its_result)
{
	struct kcpc_stat before, after;

	fake_shape.npic = 0;
	reboot();
	kcpc_stat(&before);
	cpc_open(CPC_VER_CURRENT);
	kcpc_stat(&after);
	assert_int_equal(after.ks_asked - before.ks_asked, 1);
	assert_int_equal(after.ks_refused - before.ks_refused, 1);
}

/* CPC-CLOSE-01: a fresh handle, and one with a bound set and a buffer. */
CPC_TEST(close_always_returns_0)
{
	cpc_t *fresh = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of("instructions");

	assert_int_equal(cpc_close(fresh), 0);
	buf_of(set);
	bind_curlwp(set);
	assert_int_equal(cpc_close(cpc), 0);
	cpc = NULL;
}

/* CPC-CLOSE-02 */
CPC_TEST(close_leaves_no_context)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);

	bind_curlwp(set_of("instructions"));
	cpc_close(cpc);
	cpc = other;
	assert_errno(cpc_enable(cpc), EINVAL);
	assert_int_equal(fake_pmu_running(), 0);
}

/* CPC-CLOSE-03 */
CPC_TEST(close_releases_other_lwps)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of("instructions");

	fake_switch(0, 2);
	bind_curlwp(set);
	fake_switch(0, 1);
	cpc_close(cpc);
	cpc = other;
	fake_switch(0, 2);
	assert_errno(cpc_disable(cpc), EINVAL);
}

/* CPC-CLOSE-05 */
CPC_TEST(close_of_null_is_0)
{
	assert_int_equal(cpc_close(NULL), 0);
}

/* Ground rule 5: a success does not change errno. */
CPC_TEST(success_leaves_errno_alone)
{
	errno = EBADMSG;
	cpc_set_t *set = set_of("0x3c");
	cpc_buf_t *buf = buf_of(set);
	bind_curlwp(set);
	cpc_set_sample(cpc, set, buf);
	cpc_unbind(cpc, set);
	cpc_buf_destroy(cpc, buf);
	cpc_set_destroy(cpc, set);
	assert_int_equal(cpc_close(cpc_open(CPC_VER_CURRENT)), 0);
	assert_int_equal(errno, EBADMSG);
}

static void
walk_nothing(void *arg, const char *name)
{
	fail_msg("called for %s", name);
}

static void
walk_no_pic(void *arg, uint_t pic, const char *name)
{
	walk_nothing(arg, name);
}

static void
walk_no_request(void *arg, int index, const char *event, uint64_t preset,
    uint_t flags, int nattrs, const cpc_attr_t *attrs)
{
	walk_nothing(arg, event);
}

#define assert_einval(call)                                                    \
	do {                                                                   \
		errno = 0;                                                     \
		call;                                                          \
		assert_int_equal(errno, EINVAL);                               \
	} while (0)

/* Ground rule 4: a NULL handle fails, and does not change a bound set. */
CPC_TEST(null_handle_is_einval)
{
	cpc_set_t *set = set_of("instructions");
	cpc_reqinfo_t info;
	uint64_t value;

	bind_curlwp(set);
	fake_user(3);
	assert_null_errno(cpc_set_create(NULL), EINVAL);
	assert_null_errno(cpc_buf_create(NULL, NULL), EINVAL);
	assert_errno(cpc_set_destroy(NULL, NULL), EINVAL);
	assert_errno(cpc_buf_destroy(NULL, NULL), EINVAL);
	assert_errno(
	    cpc_set_add_request(NULL, NULL, "x", 0, 0, 0, NULL), EINVAL);
	assert_errno(cpc_bind_curlwp(NULL, NULL, 0), EINVAL);
	assert_errno(cpc_unbind(NULL, NULL), EINVAL);
	assert_errno(cpc_set_sample(NULL, NULL, NULL), EINVAL);
	assert_errno(cpc_set_restart(NULL, NULL), EINVAL);
	assert_errno(cpc_request_preset(NULL, 0, 0), EINVAL);
	assert_errno(cpc_set_request_preset(NULL, NULL, 0, 0), EINVAL);
	assert_errno(cpc_request_info(NULL, NULL, 0, &info), EINVAL);
	assert_errno(cpc_request_info(cpc, set, 0, NULL), EINVAL);
	assert_errno(cpc_disable(NULL), EINVAL);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 4);
	assert_int_equal(cpc_disable(cpc), 0);
	assert_errno(cpc_enable(NULL), EINVAL);
	assert_errno(cpc_set_restart(NULL, NULL), EINVAL);
	fake_user(1);
	assert_int_equal(sampled(set, 0), 4);
	assert_errno(cpc_buf_sample(NULL, NULL, NULL), EINVAL);
	assert_errno(cpc_buf_get(NULL, NULL, 0, &value), EINVAL);
	assert_errno(cpc_buf_set(NULL, NULL, 0, 0), EINVAL);
	cpc_buf_sub(NULL, NULL, NULL, NULL);
	cpc_buf_add(NULL, NULL, NULL, NULL);
	cpc_buf_copy(NULL, NULL, NULL);
	cpc_buf_zero(NULL, NULL);
	assert_int_equal(cpc_buf_hrtime(NULL, NULL), 0);
	assert_int_equal(cpc_buf_tick(NULL, NULL), 0);
	assert_int_equal(cpc_npic(NULL), 0);
	assert_int_equal(cpc_caps(NULL), 0);
	assert_null_errno(cpc_cciname(NULL), EINVAL);
	assert_null_errno(cpc_cpuref(NULL), EINVAL);
	assert_einval(cpc_walk_events_all(NULL, NULL, walk_nothing));
	assert_einval(cpc_walk_generic_events_all(NULL, NULL, walk_nothing));
	assert_einval(cpc_walk_events_pic(NULL, 0, NULL, walk_no_pic));
	assert_einval(cpc_walk_generic_events_pic(NULL, 0, NULL, walk_no_pic));
	assert_einval(cpc_walk_attrs(NULL, NULL, walk_nothing));
	assert_einval(cpc_walk_requests(NULL, NULL, NULL, walk_no_request));
}

/* Ground rule 4: a walk without a callback fails. */
CPC_TEST(null_action_is_einval)
{
	cpc_set_t *set = set_of("instructions");

	assert_einval(cpc_walk_events_all(cpc, NULL, NULL));
	assert_einval(cpc_walk_generic_events_all(cpc, NULL, NULL));
	assert_einval(cpc_walk_events_pic(cpc, 0, NULL, NULL));
	assert_einval(cpc_walk_generic_events_pic(cpc, 0, NULL, NULL));
	assert_einval(cpc_walk_attrs(cpc, NULL, NULL));
	assert_einval(cpc_walk_requests(cpc, set, NULL, NULL));
}

/* CPC-CONST-01 */
CPC_TEST(constants_have_their_values)
{
	assert_int_equal(CPC_OVF_NOTIFY_EMT, 0x1);
	assert_int_equal(CPC_COUNT_USER, 0x2);
	assert_int_equal(CPC_COUNT_SYSTEM, 0x4);
	assert_int_equal(CPC_COUNT_HV, 0x8);
	assert_int_equal(CPC_COUNT_SAMPLE_MODE, 0x10);
	assert_int_equal(CPC_BIND_LWP_INHERIT, 0x1);
	assert_int_equal(CPC_BIND_EMT_OVF, 0x2);
	assert_int_equal(CPC_CAP_OVERFLOW_INTERRUPT, 0x1);
	assert_int_equal(CPC_CAP_OVERFLOW_PRECISE, 0x2);
	assert_int_equal(CPC_VER_CURRENT, 2);
}

/* CPC-CONST-02: no other name in <signal.h> has SIGEMT's number. */
CPC_TEST(only_sigemt_is_16)
{
	ucontext_t uc = { 0 };

	assert_int_equal(SIGEMT, 16);
	assert_int_equal(EMT_CPCOVF, 1);
#ifdef SIGSTKFLT
	fail_msg("SIGSTKFLT is still defined");
#endif
	assert_int_equal(uc.uc_mcontext.gregs[REG_PC], 0);
	assert_int_equal(uc.uc_mcontext.gregs[REG_SP], 0);
	assert_int_equal(REG_PC, PC);
	assert_int_equal(REG_SP, SP);
}

/* CPC-CONST-04 */
CPC_TEST(attr_has_its_layout)
{
	cpc_attr_t attr = { NULL, UINT64_MAX };

	assert_int_equal(offsetof(cpc_attr_t, ca_name), 0);
	assert_int_equal(sizeof attr.ca_val, 8);
	assert_true(attr.ca_val > 0);
}
