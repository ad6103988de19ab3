/*
 * Rounds of the soak with overflow signals.  From the bind to a sample a set
 * counts the loop, the code around it, and the end of each handler.  That end
 * begins after the handler's restart.  The sum is over all periods.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/cpc.h>

#include "tests/image/random_script/soak.h"
#include "tests/lib/image/cpc_test.h"

/* Longer than the end of a handler: an overflow there would not be notified. */
#define PERIOD 4000

/* One round, which ends with a sample by system call. */
static _Thread_local struct ovf {
	cpc_t *ov_cpc;
	cpc_set_t *ov_set;
	cpc_buf_t *ov_buf;
	uint64_t ov_preset[2];
	uint64_t ov_counted[2]; /* up to and including the last overflow */
	uint64_t ov_calls;
	int ov_err; /* errno of a failure in the handler */
	struct mix_sample ov_last;
} ovf;

/* Sample and restart the frozen set, but after the last sample. */
static void
handle_overflow(int sig, siginfo_t *si, void *context)
{
	uint64_t value = 0;

	if (ovf.ov_last.ms_head.cs_hrtime != 0)
		return;
	if (cpc_set_sample(ovf.ov_cpc, ovf.ov_set, ovf.ov_buf) != 0) {
		ovf.ov_err = errno;
		return;
	}
	for (int i = 0; i < 2; i++) {
		cpc_buf_get(ovf.ov_cpc, ovf.ov_buf, i, &value);
		ovf.ov_counted[i] += value - ovf.ov_preset[i];
	}
	ovf.ov_calls++;
	if (cpc_set_restart(ovf.ov_cpc, ovf.ov_set) != 0)
		ovf.ov_err = errno;
}

void
soak_ovf_install(void)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	sa.sa_sigaction = handle_overflow;
	EXPECT_EQ(sigaction(SIGEMT, &sa, NULL), 0);
}

/* No branch from bind to sample: each run has the same instructions. */
static __attribute__((noinline)) int
bind_spin_sample(uint64_t turns)
{
	if (cpc_bind_curlwp(ovf.ov_cpc, ovf.ov_set, 0) != 0)
		return -1;
	spin_loop(turns);
	errno = (int)-cpc_syscall(
	    CPC_OP_SAMPLE, soak_id(ovf.ov_set), (uintptr_t)&ovf.ov_last, 2, 0);
	return errno == 0 ? 0 : -1;
}

/* Count with two requests, of which the first notifies of its overflows. */
static int
run_period(cpc_t *cpc, uint64_t period, uint64_t preset, uint64_t turns)
{
	memset(&ovf, 0, sizeof ovf);
	ovf.ov_cpc = cpc;
	ovf.ov_set = cpc_set_create(cpc);
	ovf.ov_preset[0] = -period;
	ovf.ov_preset[1] = preset;
	EXPECT_EQ(cpc_set_add_request(cpc, ovf.ov_set, INS_EVENT, -period,
		      CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL),
	    0);
	EXPECT_EQ(cpc_set_add_request(cpc, ovf.ov_set, INS_EVENT, preset,
		      CPC_COUNT_USER, 0, NULL),
	    1);
	ovf.ov_buf = cpc_buf_create(cpc, ovf.ov_set);
	int result = bind_spin_sample(turns);
	int err = ovf.ov_err != 0 ? ovf.ov_err : errno;
	cpc_set_destroy(cpc, ovf.ov_set);
	cpc_buf_destroy(cpc, ovf.ov_buf);
	errno = err;
	return ovf.ov_err != 0 ? -1 : result;
}

static uint64_t
total_count(unsigned i)
{
	return ovf.ov_counted[i] + ovf.ov_last.ms_value[i] - ovf.ov_preset[i];
}

void
soak_ovf_round(struct soak_lwp *sl)
{
	uint64_t period = PERIOD + soak_below(&sl->sol_random, 20000);
	uint64_t turns = 1 + soak_below(&sl->sol_random, 20 * period);
	const struct soak_known *sk = &soak.so_known;
	uint64_t want;

	if (soak_failed(run_period(sl->sol_cpc, period,
			    soak_below(&sl->sol_random, 1000), turns),
		"a run with overflows"))
		return;
	want = sk->sok_bind + SPIN_INSNS * turns + sk->sok_tail * ovf.ov_calls;
	if (!EXPECT_EQ(total_count(0), want) ||
	    !EXPECT_EQ(total_count(1), want))
		test_note("failed: %u overflows, one every %u instructions",
		    (unsigned)ovf.ov_calls, (unsigned)period);
	SOAK_ADD(sos_exact, 2);
	SOAK_ADD(sos_ovf, ovf.ov_calls);
}

void
soak_learn_ovf(void)
{
	struct soak_known *sk = &soak.so_known;
	cpc_t *cpc = test_cpc_open();
	uint64_t turns = 20 * PERIOD;

	soak_ovf_install();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) != 0 &&
	    run_period(cpc, 1ULL << 30, 0, turns) == 0) {
		sk->sok_bind = total_count(0) - SPIN_INSNS * turns;
		EXPECT_EQ(ovf.ov_calls, 0);
		EXPECT_EQ(run_period(cpc, PERIOD, 0, turns), 0);
		EXPECT(ovf.ov_calls >= 20);
		sk->sok_tail =
		    (total_count(0) - sk->sok_bind - SPIN_INSNS * turns) /
		    ovf.ov_calls;
		sk->sok_ovf = true;
	}
	cpc_close(cpc);
}
