/* Profiles: which sets can become one, which LWPs it counts. */
#include "tests/lib/host/kcpc/profile.h"

PROFILE_TEST(sets_that_can_be_profiled)
{
	cpc_set_t *plain = set_of("instructions"), *two = profile_set(NOTIFY);
	cpc_set_t *one = profile_set(NOTIFY);
	struct file other = { .f_kind = FILE_NULL };

	assert_int_equal(
	    profile_attach(FAKE_FD, 1), EINVAL); /* nothing is bound */
	bind_curlwp(one);
	assert_int_equal(
	    profile_attach(FAKE_FD, 1), EINVAL); /* not inherited */

	assert_int_equal(cpc_bind_curlwp(cpc, plain, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(
	    profile_attach(FAKE_FD, 1), EINVAL); /* does not notify */
	assert_int_equal(profile_attach(FAKE_FD + 1, 0), EBADF);
	assert_int_equal(profile_attach(FAKE_FD | 1ULL << 32, 0), EBADF);
	fake_file = &other;
	assert_int_equal(profile_attach(FAKE_FD, 0), EBADF);
	fake_file = &profile_file;
	fake_user(4);
	assert_int_equal(sampled(plain, 0), 4);

	add(two, "cycles");
	assert_int_equal(cpc_bind_curlwp(cpc, two, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(
	    profile_attach(FAKE_FD, 1), EINVAL); /* two requests notify */
	assert_int_equal(
	    /* a profile of sums takes no request that notifies */
	    profile_attach(FAKE_FD, 0), EINVAL);

	assert_int_equal(cpc_bind_curlwp(cpc, one, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(
	    profile_attach(FAKE_FD, CPC_PROFILE_DEPTH + 1), EINVAL);
	assert_int_equal(profile_attach(FAKE_FD, CPC_PROFILE_DEPTH), 0);
	fake_switch(0, 2);
	assert_int_equal(cpc_bind_curlwp(cpc, one, CPC_BIND_LWP_INHERIT), 0);
	assert_int_equal(
	    profile_attach(FAKE_FD, 1), EINVAL); /* each file takes one set */
	fake_invalidate();
	assert_int_equal(profile_attach(FAKE_FD, 1), EAGAIN);
}

PROFILE_TEST(a_profile_without_memory)
{
	fake_kmalloc_fails = 1;
	assert_null(kcpc_profile_new());
}

/* The operations on a profile refuse other files. */
PROFILE_TEST(other_files_are_refused)
{
	struct cpc_profile_image im;

	assert_int_equal(
	    cpc_syscall(CPC_OP_PROFILE_STAT, FAKE_FD, BAD, 0, 0), -EFAULT);
	assert_int_equal(cpc_syscall(CPC_OP_PROFILE_STAT, FAKE_FD + 1,
			     (uintptr_t)&profile_st, 0, 0),
	    -EBADF);
	assert_int_equal(
	    cpc_syscall(CPC_OP_PROFILE_IMAGE, FAKE_FD, 0, (uintptr_t)&im, 0),
	    -ENOENT);
	assert_int_equal(cpc_syscall(CPC_OP_PROFILE_IMAGE, FAKE_FD + 1, 0,
			     (uintptr_t)&im, 0),
	    -EBADF);
	assert_int_equal(profile_take(&profile_st, sizeof profile_st), 0);
}

/* CPC-EXEC-01: without a profile a set ends with its program, or CPU's. */
PROFILE_TEST(a_set_ends_with_its_program)
{
	cpc_set_t *set = set_of("instructions");
	struct kcpc_stat ks;

	bind_curlwp(set);
	fake_exec();
	assert_false(fake_pmu_any());
	assert_null(fake_ctx(0, 1));
	fake_exec();
	profile_begin(set, 0);
	assert_int_equal(cpc_bind_cpu(cpc, 1, set, 0), 0);
	fake_exec();
	assert_false(fake_pmu_any());
	kcpc_stat(&ks);
	assert_int_equal(ks.ks_contexts, 1); /* the profile's */
}

/* A thread that is created before execve(2) does not count for the profile. */
PROFILE_TEST(a_thread_before_the_program_is_not_counted)
{
	cpc_set_t *set = set_of("instructions");
	uint64_t sum = 0;

	profile_begin(set, 0);
	assert_int_equal(fake_clone(2), 0);
	fake_switch(0, 2);
	fake_user(100);
	fake_exit(0, 2);
	fake_switch(0, 1);
	fake_exec();
	fake_user(20);
	fake_exit(0, 1);
	assert_int_equal(profile_take(&sum, sizeof sum), sizeof sum);
	assert_int_equal(sum, 20);
	profile_look();
	assert_int_equal(profile_st.ct_lwps, 1);
}

/* The library loses the set, which counts the next program from presets. */
PROFILE_TEST(the_next_program_is_counted)
{
	cpc_set_t *set = cpc_set_create(cpc);
	uint64_t sums[3] = { 0 };

	add_preset(set, "instructions", 100);
	add_preset(set, "cycles", 7);
	cpc_buf_t *buf = buf_of(set);
	profile_begin(set, 0);
	assert_false(fake_pmu_any());
	fake_user(1000);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
	assert_errno(cpc_set_restart(cpc, NULL), EINVAL);
	assert_errno(cpc_unbind(cpc, set), EINVAL);
	assert_int_equal(add(set, "cycles"), 2);
	profile_look();
	assert_int_equal(profile_st.ct_lwps, 0);
	assert_int_equal(profile_st.ct_left, 1);
	assert_int_equal(profile_st.ct_kernel, 0);

	fake_exec();
	assert_int_equal(fake_pmu_readable(), 0);
	fake_user(7);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EAGAIN);
	assert_errno(cpc_set_restart(cpc, NULL), EINVAL);
	fake_exec(); /* the profile continues */
	fake_user(3);
	profile_look();
	assert_int_equal(profile_st.ct_lwps, 1);
	/* known when the LWP exits */
	assert_int_equal(profile_st.ct_events, 0);
	fake_exit(0, 1);
	profile_look();
	assert_int_equal(profile_st.ct_left, 0);
	assert_int_equal(profile_st.ct_events, 10);
	assert_int_equal(profile_st.ct_revoked, 0);

	assert_int_equal(profile_take(sums, 7), 0);
	assert_int_equal(profile_take(sums, 15), 8);
	assert_int_equal(sums[0], 10);
	assert_int_equal(sums[1], 0);
	assert_int_equal(profile_take(sums, sizeof sums), 16);
	assert_int_equal(sums[1], 30);
	assert_int_equal(profile_take((void *)BAD, 8), -EFAULT);
}

/* New LWPs and processes count from the presets, and are added. */
PROFILE_TEST(forked_processes_are_counted)
{
	struct kcpc_stat ks;

	assert_int_equal(fake_fork(1, 1), 0); /* without a profile: nothing */
	assert_null(fake_ctx(1, 1));
	profile_begin(set_of("instructions"), 0);
	assert_int_equal(fake_fork(1, 1), 0); /* the program has not begun */
	assert_null(fake_ctx(1, 1));
	fake_exec();
	fake_user(1000);
	assert_int_equal(fake_clone(2), 0);
	assert_int_equal(fake_fork(1, 1), 0);
	fake_switch(0, 2);
	fake_user(20);
	fake_switch(1, 1);
	fake_user(300);
	fake_exec();
	profile_look();
	assert_int_equal(profile_st.ct_lwps, 3);
	assert_int_equal(profile_st.ct_left, 3);
	fake_exit(0, 2);
	fake_exit(1, 1);
	profile_look();
	assert_int_equal(profile_st.ct_events, 320);
	assert_int_equal(profile_st.ct_left, 1);
	fake_exit(0, 1);
	profile_look();
	assert_int_equal(profile_st.ct_events, 1320);
	kcpc_stat(&ks);
	assert_int_equal(ks.ks_contexts, 0);
}

/* A process that cannot be counted is not created. */
PROFILE_TEST(no_memory_no_fork)
{
	profile_begin(set_of("instructions"), 0);
	fake_exec();
	fake_kmalloc_fails = 1;
	assert_int_equal(fake_fork(1, 1), EAGAIN);
	assert_null(fake_ctx(1, 1));
	profile_look();
	assert_int_equal(profile_st.ct_lwps, 1);
	assert_int_equal(profile_st.ct_left, 1);
}

/* A set that is bound to a CPU invalidates the contexts of the profile. */
PROFILE_TEST(an_invalid_context_stops_counting)
{
	profile_begin(set_of("instructions"), 0);
	fake_exec();
	fake_user(5);
	assert_int_equal(fake_clone(3), 0);
	fake_invalidate();
	fake_user(100);
	assert_int_equal(fake_clone(2), 0);
	assert_null(fake_ctx(0, 2));
	fake_exec();
	fake_user(100);
	fake_exit(0, 1);
	fake_switch(0, 3);
	fake_user(2);
	fake_invalidate();
	fake_exit(0, 3);
	profile_look();
	assert_int_equal(profile_st.ct_events, 7);
	assert_int_equal(profile_st.ct_lwps, 2);
	assert_int_equal(profile_st.ct_revoked, 2);
}

/* Contexts become invalid before the program begins, or it never begins. */
PROFILE_TEST(a_profile_that_never_begins)
{
	profile_begin(set_of("instructions"), 0);
	fake_invalidate();
	fake_exec();
	assert_false(fake_pmu_any());
	fake_user(100);
	fake_exit(0, 1);
	profile_look();
	assert_int_equal(profile_st.ct_lwps, 1);
	assert_int_equal(profile_st.ct_events, 0);
	assert_int_equal(profile_st.ct_revoked, 1);

	kcpc_profile_release(profile_file.f_profile);
	profile_file.f_profile = kcpc_profile_new();
	fake_switch(0, 2);
	profile_begin(set_of("instructions"), 0);
	fake_invalidate();
	fake_exit(0, 2);
	profile_look();
	assert_int_equal(profile_st.ct_lwps, 0);
	assert_int_equal(profile_st.ct_revoked, 0);
}
