/* The witness agrees with right counts, and reports a wrong one. */
#include "tests/lib/host/kcpc/host.h"

#include <string.h>

#include "include/sys/barecpc.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/test/witness.h"

static struct barecpc_witness bw;

/* Boot a PMU that can keep PIC 3, with the current fake_shape. */
static void
boot(uint32_t flags)
{
	fake_shape.keeps = true;
	reboot();
	assert_true(witness_init(flags));
	/* The handle must be opened after the witness took its PIC. */
	cpc_close(cpc);
	cpc = cpc_open(CPC_VER_CURRENT);
}

/* The sums of the witness are consistent: `count` in all, `lwps` by LWPs. */
static void
assert_sums(uint64_t count, uint64_t lwps)
{
	assert_int_equal(witness_stat(&bw), 0);
	assert_int_equal(bw.bw_count, count);
	assert_int_equal(bw.bw_lwps, lwps);
	assert_int_equal(bw.bw_unowned + bw.bw_idle, count - lwps);
}

static void
no_signal(struct lwp *l)
{
}

CPC_TEST(no_set_gets_its_pic)
{
	boot(CPC_COUNT_USER);
	cpc_set_t *set = cpc_set_create(cpc);
	assert_reported(cpc_set_add_request(cpc, set, "cycles", 0,
			    CPC_COUNT_USER, 1, &(cpc_attr_t){ "picnum", 3 }),
	    EINVAL, "cpc_set_add_request", CPC_PIC_NOT_CAPABLE);
	add(set, "cycles");
	add(set, "cycles");
	add(set, "cycles");
	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 7);
	add(set = cpc_set_create(cpc), "cycles");
	add(set, "cycles");
	add(set, "cycles");
	add(set, "cycles");
	assert_reported(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
}

CPC_TEST(user_counts_of_lwps_agree)
{
	boot(CPC_COUNT_USER);
	cpc_set_t *set = set_of("instructions");
	fake_user(100); /* no set counts these */
	bind_curlwp(set);
	fake_user(1000);
	fake_system(50);
	fake_switch(0, 2); /* this LWP has no set */
	fake_user(200);
	fake_switch(0, 1);
	fake_user(1);
	assert_int_equal(cpc_disable(cpc), 0);
	fake_user(300);
	assert_int_equal(cpc_enable(cpc), 0);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_sums(1601, 1001);
	assert_int_equal(bw.bw_windows, 3);
	assert_int_equal(bw.bw_wrong, 0);
	assert_true(witness_end());
}

/* A set that counts something else is not compared. */
CPC_TEST(a_different_set_is_not_compared)
{
	boot(CPC_COUNT_USER);
	cpc_set_t *set = set_of("cycles");
	add_flags(set, "instructions", CPC_COUNT_USER | CPC_COUNT_SYSTEM);
	bind_curlwp(set);
	fake_user(1000);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_sums(1000, 0);
	assert_int_equal(bw.bw_windows, 0);
}

CPC_TEST(idle_counts_are_separate)
{
	boot(CPC_COUNT_SYSTEM);
	fake_system(10);
	witness_idle(true);
	fake_system(5);
	witness_idle(false);
	assert_sums(15, 0);
	assert_int_equal(bw.bw_idle, 5);
}

CPC_TEST(a_lost_count_is_found)
{
	fake_shape.forgets = true;
	boot(CPC_COUNT_USER);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	fake_user(1000);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	fake_console[0] = '\0';
	assert_false(witness_end());
	assert_non_null(strstr(fake_console,
	    "witness: differs in 1 of 1 windows, first on CPU 0, LWP 1: "
	    "counted 999, not 1000\n"));
}

/* 2^32 instructions and a few: kcpc adds the overflow that was reported. */
CPC_TEST(a_narrow_counter_is_compared_in_its_width)
{
	fake_shape.width = 32;
	boot(CPC_COUNT_USER);
	cpc_set_t *set = set_of("instructions");
	bind_curlwp(set);
	fake_user(1ULL << 31);
	fake_time(1000000000); /* the witness samples its PIC */
	fake_user((1ULL << 31) + 7);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_sums((1ULL << 32) + 7, (1ULL << 32) + 7);
	assert_true(witness_end());
}

/* With a witness of the kernel no overflow stops a set in the kernel. */
CPC_TEST(no_urgent_pics_with_a_witness)
{
	const uint32_t of[] = { CPC_COUNT_USER, CPC_COUNT_SYSTEM };
	cpc_set_t *set;

	for (unsigned i = 0; i < 2; i++) {
		boot(of[i]);
		kcpc_set_notify(no_signal);
		set = cpc_set_create(cpc);
		add_flags(set, "cycles", CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT);
		bind_curlwp(set);
		assert_int_equal(fake_ctx(0, 1)->kc_pcbe.ps_nmi_pics,
		    of[i] == CPC_COUNT_USER ? 1 : 0);
	}
}

CPC_TEST(system_counts_need_pics_that_start_together)
{
	fake_shape.keeps = true;
	fake_shape.staggered = true;
	reboot();
	assert_true(witness_init(CPC_COUNT_USER));
	reboot();
	assert_false(witness_init(CPC_COUNT_SYSTEM));
	assert_non_null(strstr(fake_console, "do not start and stop together"));
}

CPC_TEST(a_machine_without_spare_pic_says_so)
{
	assert_false(witness_init(CPC_COUNT_USER));
	assert_non_null(strstr(fake_console, "witness: this machine has no"));
	fake_shape.keeps = true;
	fake_shape.npic = 1;
	reboot();
	assert_false(witness_init(CPC_COUNT_USER));
	assert_non_null(strstr(fake_console, "witness: needs two PICs"));
}
