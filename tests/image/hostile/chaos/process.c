/* A process of the chaos test: random acts, until it ends in some way. */
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENV      "CHAOS"
#define NLWP     4
#define NACTS    12 /* of one LWP, at most */
#define CLOEXEC  58 /* a descriptor that no executed program sees */
#define COPYACTS 3

struct chaos chaos;
_Thread_local struct chaos_lwp chaos_self;

/* The LWPs of the process that do acts, for the handler of SIGQUIT. */
static struct chaos_lwp *volatile lwps[NLWP];

/* SplitMix64. */
static uint64_t
next_random(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint64_t
chaos_below(uint64_t n)
{
	return next_random(&chaos_self.chl_random) % n;
}

bool
chaos_over(void)
{
	return gethrtime() >= chaos.ch_until;
}

/* Not stdio: another LWP may hold its locks, even when killed. */
void
chaos_wrong(const char *fmt, ...)
{
	struct chaos_report r = { .chr_pid = getpid() };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r.chr_text, sizeof r.chr_text, fmt, ap);
	va_end(ap);
	write(chaos.ch_report, &r, sizeof r);
}

/* The acts */

static const struct act {
	const char *a_name;
	void (*a_fn)(void);
	unsigned a_weight;
	bool a_copy; /* a copy may do it */
} acts[] = {
	{ "memory", chaos_act_memory, 4, true },
	{ "race", chaos_act_race, 2, false },
	{ "heap", chaos_act_heap, 0, true },
	{ "hunger", chaos_act_hunger, 1, true },
	{ "masks", chaos_act_masks, 4, true },
	{ "suspend", chaos_act_suspend, 4, true },
	{ "wait_signal", chaos_act_wait_signal, 3, true },
	{ "jump", chaos_act_jump, 4, true },
	{ "kill", chaos_act_kill, 6, true },
	{ "timer", chaos_act_timer, 2, true },
	{ "team", chaos_act_team, 4, false },
	{ "futex", chaos_act_futex, 4, true },
	{ "cancel", chaos_act_cancel, 3, false },
	{ "clock", chaos_act_clock, 2, true },
	{ "cpus", chaos_act_cpus, 4, true },
	{ "registers", chaos_act_registers, 4, true },
	{ "pipe", chaos_act_pipe, 4, true },
	{ "descriptors", chaos_act_descriptors, 4, true },
	{ "poll", chaos_act_poll, 4, true },
	{ "fork", chaos_act_fork, 4, true },
	{ "control", chaos_act_control, 3, true },
	{ "count", chaos_act_count, 4, false },
	{ "spawn", chaos_act_spawn, 2, true },
	{ "wait_any", chaos_act_wait_any, 3, true },
	{ "hostile", chaos_act_hostile, 3, true },
};
#define NACT (sizeof acts / sizeof *acts)

static unsigned
act_weight(const struct act *a)
{
	if (chaos_self.chl_alone)
		return a->a_copy ? a->a_weight + 1 : 0;
	return a->a_weight;
}

static void
do_random_act(void)
{
	unsigned total = 0, i;

	for (i = 0; i < NACT; i++)
		total += act_weight(&acts[i]);
	uint64_t at = chaos_below(total);
	for (i = 0; at >= act_weight(&acts[i]); i++)
		at -= act_weight(&acts[i]);
	chaos_self.chl_doing = acts[i].a_name;
	acts[i].a_fn();
	chaos_self.chl_doing = "nothing";
}

void
chaos_copy(void)
{
	chaos.ch_pid = getpid();
	chaos_self.chl_alone = true;
	chaos_self.chl_suspended = chaos_self.chl_may_jump = false;
	chaos_self.chl_random += (uint64_t)chaos.ch_pid << 32;
	memset((void *)lwps, 0, sizeof lwps);
	lwps[0] = &chaos_self;
	for (uint64_t n = chaos_below(COPYACTS); n > 0 && !chaos_over(); n--)
		do_random_act();
}

/* Do acts as this LWP: random numbers from the seed and its number. */
static void
do_acts(unsigned place)
{
	chaos_self.chl_random = chaos.ch_seed + place * 1000003;
	lwps[place] = &chaos_self;
	for (uint64_t n = 1 + chaos_below(NACTS); n > 0 && !chaos_over(); n--)
		do_random_act();
	lwps[place] = NULL;
}

/* Handler of SIGQUIT, for a process that hangs: report the act of each LWP. */
static void
report_doing(int sig)
{
	(void)sig;
	for (unsigned i = 0; i < NLWP; i++) {
		struct chaos_lwp *cl = lwps[i];

		if (cl != NULL && cl->chl_doing != NULL)
			chaos_wrong(
			    "LWP %u hangs, or waits: %s", i, cl->chl_doing);
	}
}

/* The end of a process */

bool
chaos_end_allowed(int status)
{
	int sig = WTERMSIG(status);

	if (WIFEXITED(status))
		return WEXITSTATUS(status) == 0;
	return sig == SIGKILL || sig == SIGTERM || sig == SIGUSR1 ||
	       sig == SIGUSR2 || sig == SIGALRM || sig == SIGEMT ||
	       sig >= SIGRTMIN;
}

void
chaos_describe(struct chaos_exec *ce, uint64_t seed)
{
	static char program[] = CHAOS_PROGRAM;

	*ce = (struct chaos_exec){ .chx_argv = { program, NULL } };
	ce->chx_env[0] = ce->chx_text;
	snprintf(ce->chx_text, sizeof ce->chx_text,
	    ENV "=%d %" PRIu64 " %" PRIu64 " %d %u %d", (int)chaos.ch_root,
	    seed, (uint64_t)chaos.ch_until, chaos.ch_report, chaos.ch_depth + 1,
	    chaos.ch_cpus);
}

static void
parse_description(const char *text)
{
	uint64_t until;
	int root;

	if (sscanf(text, "%d %" SCNu64 " %" SCNu64 " %d %u %d", &root,
		&chaos.ch_seed, &until, &chaos.ch_report, &chaos.ch_depth,
		&chaos.ch_cpus) != 6)
		abort();
	chaos.ch_root = root;
	chaos.ch_until = (hrtime_t)until;
}

static void
execute_program(void)
{
	struct chaos_exec ce;

	if (chaos.ch_depth > 2)
		return;
	fcntl(chaos.ch_report, F_DUPFD_CLOEXEC, CLOEXEC);
	chaos_describe(&ce, chaos_below(UINT64_MAX));
	execve(CHAOS_PROGRAM, ce.chx_argv, ce.chx_env);
	CHAOS_EXPECT(errno == ENOMEM);
}

/* Most LWPs just end; some end the process, or execute a program. */
static void *
run_lwp(void *arg)
{
	do_acts((unsigned)(uintptr_t)arg);
	switch (chaos_below(16)) {
	case 0:
		_exit(0);
	case 1:
		execute_program();
		break;
	case 2:
		kill(getpid(), SIGKILL);
		break;
	case 3:
		kill(getpid(), SIGTERM);
		break;
	default:
		break;
	}
	return NULL;
}

static void
end_process(pthread_t *t, unsigned n)
{
	uint64_t how = chaos_below(8);

	if (how == 0)
		_exit(0);
	/*
	 * The process ends with its last LWP.  Not after fork(3): musl's
	 * pthread_exit(3) takes a lock that the kernel releases when the LWP
	 * ends.  In a forked process the kernel does not know that lock.
	 */
	if (how == 1 && chaos.ch_depth > 0)
		pthread_exit(NULL);
	if (how == 2) {
		/* No release of a lock of the C library at the LWP's end. */
		syscall(SYS_set_tid_address, NULL);
		syscall(SYS_exit, 0);
	}
	if (how == 3)
		execute_program();
	for (unsigned i = 1; i < n; i++)
		CHAOS_EXPECT(pthread_join(t[i], NULL) == 0);
	_exit(0);
}

void
chaos_process(uint64_t seed)
{
	unsigned n, wanted;
	pthread_t t[NLWP];
	pthread_attr_t attr;

	chaos.ch_pid = getpid();
	chaos.ch_seed = seed;
	chaos_self.chl_random = seed;
	signal(SIGQUIT, report_doing);
	signal(SIGPIPE, SIG_IGN);
	chaos_handlers();
	wanted = 1 + (unsigned)chaos_below(NLWP);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, CHAOS_STACK);
	for (n = 1; n < wanted; n++) {
		int err =
		    pthread_create(&t[n], &attr, run_lwp, (void *)(uintptr_t)n);

		/* The C library turns mmap(2)'s ENOMEM into EAGAIN. */
		if (err != 0 && CHAOS_EXPECT(err == EAGAIN))
			break;
	}
	do_acts(0);
	end_process(t, n);
	_exit(0);
}

void
chaos_become(void)
{
	const char *text = getenv(ENV);

	if (text == NULL)
		return;
	parse_description(text);
	CHAOS_EXPECT(fcntl(CLOEXEC, F_GETFD) == -1);
	/* Close the pipes that were open when this program was executed. */
	for (int fd = 3; fd < CLOEXEC; fd++)
		close(fd);
	chaos_process(chaos.ch_seed);
}
