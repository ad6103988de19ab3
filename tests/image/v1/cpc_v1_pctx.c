/* Version 1: events of LWPs of a process that libpctx controls. */
#include "tests/lib/image/v1_test.h"

#include <string.h>
#include <unistd.h>

TEST_KEEPS(64);

/* The handlers of a run work with these, and note what they find. */
static cpc_event_t the_event, at_init, at_fini;
static int fini_errno;
static bool invalidates;

static int
bind_here(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	cpc_event_t now;

	EXPECT_ERRNO(cpc_pctx_take_sample(px, id, &now), EINVAL);
	EXPECT_EQ(cpc_pctx_rele(px, id), 0);
	EXPECT_ERRNO(
	    cpc_pctx_bind_event(px, id, &the_event, CPC_BIND_LWP_INHERIT),
	    EINVAL);
	EXPECT_ERRNO(cpc_pctx_bind_event(px, id + 70, &the_event, 0), ESRCH);
	EXPECT_ERRNO(cpc_pctx_take_sample(px, id + 70, &now), ESRCH);
	EXPECT_ERRNO(cpc_pctx_rele(px, id + 70), ESRCH);
	EXPECT_EQ(cpc_pctx_bind_event(px, id, &the_event, 0), 0);
	EXPECT_EQ(cpc_pctx_take_sample(px, id, &at_init), 0);
	if (invalidates)
		EXPECT_EQ(cpc_pctx_invalidate(px, id), 0);
	return 0;
}

static int
sample_here(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	fini_errno = cpc_pctx_take_sample(px, id, &at_fini) == 0 ? 0 : errno;
	EXPECT_EQ(cpc_pctx_rele(px, id), 0);
	return 0;
}

/* Run a program of so many turns of a loop.  Returns counter 0's count. */
static uint64_t
run_counted(const char *turns)
{
	char *argv[] = { "pctx_target", "spin", (char *)(uintptr_t)turns,
		NULL };
	pctx_t *px = pctx_create("pctx_target", argv, NULL, 0, NULL);

	if (!EXPECT(px != NULL))
		return 0;
	pctx_set_events(px, PCTX_INIT_LWP_EVENT, bind_here, PCTX_FINI_LWP_EVENT,
	    sample_here, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	pctx_release(px);
	return at_fini.ce_pic[0] - at_init.ce_pic[0];
}

/*
 * Two targets differ in 2,000 turns of a loop alone, so their counts do by just
 * these.  But at system privilege the kernel's waits for other CPUs count, too.
 */
CPC_TEST(the_count_of_a_known_loop_is_exact)
{
	NEEDS_V1();
	NEEDS_INSTRUCTIONS();
	if (software_pmu)
		SKIP("needs a real PMU: the software PMU counts what programs "
		     "report");
	invalidates = false;
	the_event = v1_event(INS_EVENT, INS_EVENT);
	the_event.ce_pic[1] = 12345;
	uint64_t few = run_counted("1000");
	uint64_t many = run_counted("3000");
	EXPECT_EQ(fini_errno, 0);
	if (emulated() && (own_privilege() == CPC_COUNT_USER ||
			      sysconf(_SC_NPROCESSORS_ONLN) == 1))
		EXPECT_EQ(many - few, 2000 * SPIN_INSNS);
	else
		EXPECT(many - few >= 2000 * SPIN_INSNS);
	/* The target had not run: the values are the presets. */
	EXPECT_EQ(at_init.ce_pic[0], 0);
	EXPECT_EQ(at_init.ce_pic[1], 12345);
	EXPECT(at_init.ce_hrt > 0);
	EXPECT_EQ(at_init.ce_cpuver, the_event.ce_cpuver);
	EXPECT(memcmp(at_fini.ce_pes, the_event.ce_pes,
		   sizeof at_fini.ce_pes) == 0);
}

V1_TEST(an_invalid_event_is_eagain)
{
	invalidates = true;
	the_event = v1_event(INS_EVENT, INS_EVENT);
	run_counted("10");
	EXPECT_EQ(fini_errno, EAGAIN);
}

TEST(no_handle_is_einval)
{
	cpc_event_t event;

	EXPECT_ERRNO(cpc_pctx_bind_event(NULL, 1, &event, 0), EINVAL);
	EXPECT_ERRNO(cpc_pctx_take_sample(NULL, 1, &event), EINVAL);
	EXPECT_ERRNO(cpc_pctx_rele(NULL, 1), EINVAL);
	EXPECT_ERRNO(cpc_pctx_invalidate(NULL, 1), EINVAL);
}
