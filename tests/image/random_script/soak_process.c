/* A process of the soak: its LWPs are replaced, until it ends in some way. */
#include "tests/image/random_script/soak.h"

#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/image/cpc_test.h"

#define ENV       "SOAK"
#define MS        1000000L
#define NMIX      8 /* LWPs that run mixes of up to MIX_LWPS LWPs each */
#define NCOUNT    44
#define MAXLWP    NCOUNT
#define STACK     65536
#define STORM_MS  5 /* CPUs are taken for STORM_MS of each PERIOD_MS */
#define PERIOD_MS 40

struct soak soak;

static struct soak_lwp lwps[MAXLWP];
static sem_t ended;
static bool stop; /* no LWP begins another round */
static void (*const rounds[])(struct soak_lwp *sl) = {
	[SOAK_MIXES] = soak_mix_round,
	[SOAK_COUNTS] = soak_count_round,
};
static enum soak_kind kind;

/* SplitMix64. */
uint64_t
soak_below(uint64_t *random, uint64_t n)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % n;
}

bool
soak_storm(void)
{
	return gethrtime() / MS % PERIOD_MS < STORM_MS;
}

void
soak_doze(unsigned long us)
{
	struct timespec ts = { 0, (long)us * 1000 };

	nanosleep(&ts, NULL);
}

void
soak_mix_round(struct soak_lwp *sl)
{
	SOAK_ADD(sos_exact,
	    mix_run(sl->sol_mix, sl->sol_random, &soak.so_machine, true));
	SOAK_ADD(sos_lwps, sl->sol_mix->mx_nlwp);
	soak_below(&sl->sol_random, 1);
}

static void *
run_rounds(void *arg)
{
	struct soak_lwp *sl = arg;
	uint64_t n = 1 + soak_below(&sl->sol_random, 6);

	while (n-- > 0 && !__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (kind == SOAK_COUNTS && soak.so_known.sok_ovf &&
		    soak_below(&sl->sol_random, 4) == 0)
			soak_ovf_round(sl);
		else
			rounds[kind](sl);
		SOAK_ADD(sos_rounds, 1);
	}
	__atomic_store_n(&sl->sol_done, true, __ATOMIC_RELEASE);
	sem_post(&ended);
	return NULL;
}

static void
start_lwp(struct soak_lwp *sl)
{
	pthread_attr_t attr;

	sl->sol_done = false;
	if (kind == SOAK_COUNTS && (sl->sol_cpc = test_cpc_open()) == NULL)
		abort();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (!EXPECT_EQ(
		pthread_create(&sl->sol_thread, &attr, run_rounds, sl), 0))
		abort();
	pthread_attr_destroy(&attr);
	SOAK_ADD(sos_lwps, 1);
}

static void
join_lwp(struct soak_lwp *sl)
{
	EXPECT_EQ(pthread_join(sl->sol_thread, NULL), 0);
	if (sl->sol_cpc != NULL)
		cpc_close(sl->sol_cpc);
	sl->sol_cpc = NULL;
}

/* Replace LWPs that have ended, until that time. */
static void
replace_until(unsigned n, hrtime_t time)
{
	/* sem_timedwait(3) takes a time of CLOCK_REALTIME. */
	struct timespec ts;

	while (gethrtime() < time) {
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += MS;
		ts.tv_sec += ts.tv_nsec / (1000 * MS);
		ts.tv_nsec %= 1000 * MS;
		if (sem_timedwait(&ended, &ts) != 0)
			continue;
		for (unsigned i = 0; i < n; i++) {
			if (!__atomic_load_n(
				&lwps[i].sol_done, __ATOMIC_ACQUIRE))
				continue;
			join_lwp(&lwps[i]);
			start_lwp(&lwps[i]);
		}
	}
}

/* LWPs may still add to the sums at the same time. */
static void
report_sums(void)
{
	SOAK_ADD(sos_processes, 1);
	EXPECT_EQ(write(soak.so_report, &soak.so_sums, sizeof soak.so_sums),
	    sizeof soak.so_sums);
}

static int
end_quietly(unsigned n)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < n; i++)
		join_lwp(&lwps[i]);
	cpc_close(soak.so_cpc);
	report_sums();
	return test_was_good() ? 0 : 1;
}

/*
 * End in one of three ways: after all LWPs have ended; while they run; or by
 * executing a program while they run.  After a failure only the first way
 * reports it.
 */
static int
end_process(unsigned n)
{
	uint64_t how = soak_below(&soak.so_seed, 3);
	struct soak_exec ex;

	if (how == 0 || gethrtime() >= soak.so_until || !test_was_good())
		return end_quietly(n);
	report_sums();
	if (how == 1)
		return 0;
	soak_describe(&ex, kind, soak.so_seed);
	execve(SOAK_PROGRAM, ex.ex_argv, ex.ex_env);
	return 1;
}

static int
run_process(unsigned n)
{
	hrtime_t time =
	    gethrtime() + (hrtime_t)(50 + soak_below(&soak.so_seed, 200)) * MS;

	if ((soak.so_cpc = test_cpc_open()) == NULL)
		return 1;
	soak.so_set = set_of(soak.so_cpc, INS_EVENT);
	if (kind == SOAK_COUNTS)
		soak_ovf_install();
	sem_init(&ended, 0, 0);
	for (unsigned i = 0; i < n; i++) {
		lwps[i].sol_random = soak.so_seed + i * 1000003;
		if (kind == SOAK_MIXES &&
		    (lwps[i].sol_mix = malloc(sizeof(struct mix))) == NULL)
			return 1;
		start_lwp(&lwps[i]);
	}
	replace_until(n, time < soak.so_until ? time : soak.so_until);
	return end_process(n);
}

void
soak_describe(struct soak_exec *ex, enum soak_kind which, uint64_t seed)
{
	static char program[] = SOAK_PROGRAM;
	const struct soak_known *sk = &soak.so_known;

	snprintf(ex->ex_text, sizeof ex->ex_text,
	    ENV "=%d %" PRIu64 " %" PRId64 " %d %" PRIu64 " %" PRIu64
		" %" PRIu64 " %d",
	    which, seed, (int64_t)soak.so_until, soak.so_report, sk->sok_window,
	    sk->sok_bind, sk->sok_tail, sk->sok_ovf);
	ex->ex_argv[0] = program;
	ex->ex_env[0] = ex->ex_text;
	ex->ex_argv[1] = ex->ex_env[1] = NULL;
}

/* Close pipes of mixes that ran when a program executed this one. */
static void
close_others(void)
{
	long n = sysconf(_SC_OPEN_MAX);

	for (int fd = STDERR_FILENO + 1; fd < n; fd++) {
		if (fd != soak.so_report)
			close(fd);
	}
}

void
soak_become(void)
{
	struct soak_known *sk = &soak.so_known;
	const char *text = getenv(ENV);
	int which, ovf, status = 1;
	int64_t until;

	if (text == NULL)
		return;
	if (sscanf(text,
		"%d %" SCNu64 " %" SCNd64 " %d %" SCNu64 " %" SCNu64 " %" SCNu64
		" %d",
		&which, &soak.so_seed, &until, &soak.so_report, &sk->sok_window,
		&sk->sok_bind, &sk->sok_tail, &ovf) == 8 &&
	    mix_machine_learn(&soak.so_machine)) {
		soak.so_until = until;
		close_others();
		sk->sok_ovf = ovf != 0;
		kind = (enum soak_kind)which;
		status = kind == SOAK_BRIEF   ? soak_brief()
		         : kind == SOAK_MIXES ? run_process(NMIX)
		                              : run_process(NCOUNT);
	}
	_exit(status);
}
