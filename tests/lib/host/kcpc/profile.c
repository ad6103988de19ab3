/* A profile on the fake kernel, for host tests. */

#include "tests/lib/host/kcpc/profile.h"

struct file profile_file;
struct cpc_profile_stat profile_st;
struct trapframe profile_frame;

static void
post(struct lwp *l)
{
}

void
profile_open(void)
{
	kcpc_set_notify(post);
	profile_file = (struct file){ .f_kind = FILE_PROFILE,
		.f_profile = kcpc_profile_new() };
	fake_file = &profile_file;
	profile_frame = (struct trapframe){ .tf_pc = 0x1000, .tf_fp = 0 };
	fake_enter(&profile_frame);
}

int
profile_up(void **state)
{
	if (fixture_up(state) != 0)
		return -1;
	profile_open();
	return 0;
}

/* Close the file first.  Its contexts end with their LWPs. */
int
profile_down(void **state)
{
	if (profile_file.f_profile != NULL)
		kcpc_profile_release(profile_file.f_profile);
	fake_file = NULL;
	fake_backend = NULL;
	return fixture_down(state);
}

int
profile_attach(uintptr_t fd, uintptr_t depth)
{
	return (int)-cpc_syscall(CPC_OP_PROFILE, fd, depth, 0, 0);
}

void
profile_begin(cpc_set_t *set, unsigned depth)
{
	assert_int_equal(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT), 0);
	fake_user(PERIOD);
	assert_int_equal(profile_attach(FAKE_FD, depth), 0);
}

cpc_set_t *
profile_set(uint_t flags)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_int_equal(cpc_set_add_request(cpc, set, "instructions",
			     -(uint64_t)PERIOD, flags, 0, NULL),
	    0);
	return set;
}

void
profile_look(void)
{
	assert_int_equal(cpc_syscall(CPC_OP_PROFILE_STAT, FAKE_FD,
			     (uintptr_t)&profile_st, 0, 0),
	    0);
}

intptr_t
profile_take(void *buf, size_t len)
{
	return kcpc_profile_read(profile_file.f_profile, (uintptr_t)buf, len);
}

void
profile_pass(uintptr_t pc)
{
	fake_user(PERIOD);
	profile_frame.tf_pc = pc;
	assert_false(fake_return());
}
