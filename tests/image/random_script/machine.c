/* Learns what a mix must know of the machine; installs handlers. */
#include <payload.h>
#include <signal.h>
#include <string.h>
#include <sys/barecpc.h>
#include <unistd.h>

#include "events/machine.h"
#include "tests/image/random_script/mix.h"

#define EVENT "PAPI_tot_ins"

/*
 * A handler blocks all signals, so no other handler interrupts it.  Without
 * SA_RESTART an interrupted call is not made again, which would count it twice.
 */
static bool
install_handler(int sig, void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler };

	sigfillset(&sa.sa_mask);
	return sigaction(sig, &sa, NULL) == 0;
}

bool
mix_machine_learn(struct mix_machine *mm)
{
	struct barecpc_witness bw = { 0 };
	struct barecpc_stat st;

	memset(mm, 0, sizeof *mm);
	if (payload_stat(&st) != 0)
		return false;
	mm->mxm_ncpu = st.bs_cpus;
	mm->mxm_own = payload_privilege() == PAYLOAD_SYSTEM ? CPC_COUNT_SYSTEM
	                                                    : CPC_COUNT_USER;
	mm->mxm_overflows = mm->mxm_own == CPC_COUNT_USER &&
	                    (cpc_syscall(CPC_OP_CAPS, 0, 0, 0, 0) &
				CPC_CAP_OVERFLOW_INTERRUPT) != 0;
	/* The witness serves at system privilege only if they do. */
	if (syscall(BARECPC_SYS_WITNESS, &bw) == 0)
		mm->mxm_together = (bw.bw_flags & CPC_COUNT_SYSTEM) != 0;
	return install_handler(SIGEMT, script_restarting) &&
	       install_handler(SIGUSR1, script_returning) &&
	       machine_here() != NULL &&
	       machine_name(machine_here(), EVENT, &mm->mxm_ins);
}
