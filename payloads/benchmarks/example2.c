/*
 * example2: cpc_bind_curlwp(3CPC), "Example 2 Write a signal handler to catch
 * overflow signals", completed.  A counter is preset 1,000 counts before its
 * overflow.  At each overflow a handler prints where the program is.
 *
 * EVENT in the environment names the event.
 */
#include <errno.h>
#include <inttypes.h>
#include <libcpc.h>
#include <payload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/lwp.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/usage.h"

#define PRESET     (UINT64_MAX - 999ull)
#define ITERATIONS 20
#define TURNS      490

/* At system privilege the signal's delivery and the handler are counted. */
#define PRESET_SYSTEM (UINT64_MAX - 9999ull)

/* payloads/common/<arch>/spin.S: two instructions a turn. */
void spin_loop(uint64_t turns);

static cpc_t *cpc;
static cpc_set_t *set;
static cpc_buf_t *buf;
static int ind;
static uint64_t preset = PRESET;

/* The manual's name for this function. */
#define error(...) fail(1, __VA_ARGS__)

static void
emt_handler(int sig, siginfo_t *sip, void *arg)
{
	ucontext_t *uap = arg;
	uint64_t val;

	if (sig != SIGEMT || sip->si_code != EMT_CPCOVF) {
		psignal(sig, "example2");
		psiginfo(sip, "example2");
		return;
	}

	(void)printf("lwp%d - si_addr %p ucontext: %%pc %p %%sp %p\n",
	    _lwp_self(), (void *)sip->si_addr,
	    (void *)uap->uc_mcontext.gregs[PC],
	    (void *)uap->uc_mcontext.gregs[SP]);

	if (cpc_set_sample(cpc, set, buf) != 0) {
		/* The overflow came just before cpc_unbind(). */
		if (errno == EINVAL)
			return;
		error("cannot sample: %s", strerror(errno));
	}

	cpc_buf_get(cpc, buf, ind, &val);

	(void)printf("0x%" PRIx64 "\n", val);
	(void)fflush(stdout);

	/*
	 * A restart sets every request back to its preset.  Another period
	 * could be chosen here.
	 */
	if (cpc_request_preset(cpc, ind, preset) != 0)
		error("cannot set preset for request %d: %s", ind,
		    strerror(errno));
	if (cpc_set_restart(cpc, set) != 0)
		error("cannot restart lwp%d: %s", _lwp_self(), strerror(errno));
}

static void
open_counters(void)
{
	char why[160];

	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL) {
		if (errno != ENOSYS)
			error("perf counters unavailable: %s", strerror(errno));
		fail(77, "<not supported>: %s",
		    cpc_error_of_open(why, sizeof why));
	}
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		fail(77, "<not supported>: overflows do not interrupt here");
	if ((set = cpc_set_create(cpc)) == NULL)
		error("could not create set: %s", strerror(errno));
}

static void
catch_overflows(const char *event)
{
	uint_t flags = CPC_COUNT_USER;
	struct sigaction act;

	if (payload_privilege() == PAYLOAD_SYSTEM) {
		flags = CPC_COUNT_SYSTEM;
		preset = PRESET_SYSTEM;
	}
	act.sa_sigaction = emt_handler;
	bzero(&act.sa_mask, sizeof(act.sa_mask));
	act.sa_flags = SA_RESTART | SA_SIGINFO;
	if (sigaction(SIGEMT, &act, NULL) == -1)
		error("sigaction: %s", strerror(errno));

	ind = cpc_set_add_request(
	    cpc, set, event, preset, flags | CPC_OVF_NOTIFY_EMT, 0, NULL);
	if (ind == -1)
		error("cannot add request to set: %s", strerror(errno));

	if ((buf = cpc_buf_create(cpc, set)) == NULL)
		error("cannot create buffer: %s", strerror(errno));

	if (cpc_bind_curlwp(cpc, set, 0) == -1)
		cpc_error_of_bind();
}

int
main(int argc, char **argv)
{
	const char *event = getenv("EVENT");

	usage_is("", "EVENT in the environment names the event.\n");
	usage_option(argc, argv, ":", NULL);
	if (optind != argc)
		usage_mistake("%s: takes no argument", argv[optind]);
	open_counters();
	catch_overflows(event != NULL ? event : "PAPI_tot_ins");

	for (int iter = 1; iter <= ITERATIONS; iter++)
		spin_loop(TURNS);

	cpc_unbind(cpc, set); /* done */
	cpc_close(cpc);
	return 0;
}
