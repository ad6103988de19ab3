/* A controlled process: its events and its end, as documented. */
#include "tests/image/pctx/pctx_test.h"

#include <payload.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/processor.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64);

#define MS 1000000LL

/* Handlers that note their calls.  One fails if `failing` is its letter. */

static char failing;
static pid_t seen_pid;
static int ticks;

static int
verdict(char who)
{
	return failing == who ? 1 : 0;
}

static int
on_init(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	seen_pid = pid;
	event_note("init%d ", (int)id);
	return verdict('i');
}

static int
on_fini(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	event_note("fini%d ", (int)id);
	return verdict('f');
}

static int
on_lwp_create(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	event_note("create%d ", (int)id);
	return verdict('c');
}

static int
on_lwp_exit(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	event_note("lwpexit%d ", (int)id);
	return verdict('l');
}

static int
on_exec(pctx_t *px, pid_t pid, id_t id, char *command, void *arg)
{
	event_note("exec%d(%s) ", (int)id, command);
	return verdict('e');
}

static void
on_exit_status(pctx_t *px, pid_t pid, id_t id, int status, void *arg)
{
	event_note("exit%d(%d) ", (int)id, status);
}

static int
on_tick(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	ticks++;
	return verdict('t');
}

static pctx_t *
noted(const char *what, const char *more, const char *most)
{
	pctx_t *px = target(what, more, most);

	ticks = 0;
	if (px != NULL)
		pctx_set_events(px, PCTX_INIT_LWP_EVENT, on_init,
		    PCTX_FINI_LWP_EVENT, on_fini, PCTX_SYSC_LWP_CREATE_EVENT,
		    on_lwp_create, PCTX_SYSC_LWP_EXIT_EVENT, on_lwp_exit,
		    PCTX_SYSC_EXEC_EVENT, on_exec, PCTX_SYSC_EXIT_EVENT,
		    on_exit_status, PCTX_NULL_EVENT);
	return px;
}

static int
run_noted(const char *what, const char *more, const char *most)
{
	pctx_t *px = noted(what, more, most);

	if (!EXPECT(px != NULL))
		return -2;
	int r = pctx_run(px, 0, 0, on_tick);
	pctx_release(px);
	return r;
}

/* PCTX-04, PCTX-05 */
TEST(a_program_of_one_lwp)
{
	EXPECT_EQ(run_noted("spin", "1000", NULL), 0);
	EXPECT_LOG("init1 fini1 exit1(7) ");
	EXPECT_EQ(ticks, 0);
}

/* PCTX-08: LWP ids start at 1 and stay small. */
TEST(lwps_are_created_and_end)
{
	EXPECT_EQ(run_noted("lwp", "1000", NULL), 0);
	EXPECT_LOG("init1 init2 create2 fini2 lwpexit2 fini1 exit1(3) ");
}

/* PCTX-09 */
TEST(exec_begins_a_new_program)
{
	EXPECT_EQ(run_noted("exec", "spin", "10"), 0);
	EXPECT_LOG("init1 fini1 exec1(pctx_target spin 10) init1 fini1 "
		   "exit1(7) ");
}

TEST(exec_by_another_lwp)
{
	EXPECT_EQ(run_noted("exec2", "10", NULL), 0);
	EXPECT_LOG("init1 init2 create2 fini1 fini2 "
		   "exec1(pctx_target spin 10) init1 fini1 exit1(7) ");
}

/* pctx_set_events(3CPC), "System Calls and pctx Handlers". */
TEST(an_exec_that_fails_begins_the_lwps_again)
{
	EXPECT_EQ(run_noted("noexec", NULL, NULL), 0);
	EXPECT_LOG("init1 fini1 init1 fini1 exit1(5) ");
}

/* PCTX-09: with no exec handler the run ends, and can go on. */
TEST(exec_ends_a_run_without_its_handler)
{
	pctx_t *px = noted("exec", "spin", "10");

	REQUIRE(px != NULL);
	EXPECT_EQ(
	    pctx_set_events(px, PCTX_SYSC_EXEC_EVENT, NULL, PCTX_NULL_EVENT),
	    0);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	EXPECT_LOG("init1 fini1 ");
	EXPECT_EQ(kill(seen_pid, 0), 0);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	EXPECT_LOG("fini1 exit1(7) ");
	pctx_release(px);
}

/* Without handlers for LWPs and exec, exec does not end the run. */
TEST(exec_is_not_watched_without_handlers)
{
	pctx_t *px = target("exec", "spin", "10");

	REQUIRE(px != NULL);
	pctx_set_events(
	    px, PCTX_SYSC_EXIT_EVENT, on_exit_status, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	EXPECT_LOG("exit1(7) ");
	pctx_release(px);
}

/* PCTX-03 */
TEST(an_unknown_event_is_refused)
{
	pctx_t *px = target("spin", "10", NULL);

	REQUIRE(px != NULL);
	EXPECT_EQ(pctx_set_events(px, PCTX_INIT_LWP_EVENT, on_init, 42, on_fini,
		      PCTX_FINI_LWP_EVENT, on_fini, PCTX_NULL_EVENT),
	    -1);
	EXPECT(
	    strcmp(pctx_message, "set_events: unknown event type 2a\n") == 0);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	EXPECT_LOG("init1 ");
	pctx_release(px);
}

/* Nothing but events remains, and a message if pctx_create() was asked more. */
TEST(a_process_that_a_signal_kills)
{
	char *argv[] = { "pctx_target", "kill", NULL };
	char message[64];

	pctx_message[0] = '\0';
	EXPECT_EQ(run_noted("kill", NULL, NULL), -1);
	EXPECT_LOG("init1 ");
	EXPECT(pctx_message[0] == '\0');
	pctx_t *px = pctx_create("pctx_target", argv, NULL, 1, pctx_record);
	REQUIRE(px != NULL);
	pctx_set_events(px, PCTX_INIT_LWP_EVENT, on_init, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), -1);
	EXPECT_LOG("init1 ");
	snprintf(
	    message, sizeof message, "run: pid %d was killed\n", (int)seen_pid);
	EXPECT(strcmp(pctx_message, message) == 0);
	pctx_release(px);
}

/* The second of two exits at once is no event. */
TEST(two_lwps_exit_at_once)
{
	EXPECT_EQ(run_noted("race", NULL, NULL), 0);
	EXPECT(strstr(event_log, "exit") != NULL);
	EXPECT(strstr(event_log, "(9) ") + 4 == event_log + strlen(event_log));
	event_log[0] = '\0';
}

/* Handlers that fail: which end the run with -1, and which are ignored. */
TEST(failing_handlers_end_the_run)
{
	static const struct {
		char who;
		int result;
		const char *what, *log;
	} cases[] = {
		{ 'i', -1, "spin", "init1 " },
		{ 'c', -1, "lwp", "init1 init2 create2 " },
		{ 'l', 0, "lwp",
		    "init1 init2 create2 fini2 lwpexit2 fini1 exit1(3) " },
		{ 'f', -1, "lwp",
		    "init1 init2 create2 fini2 lwpexit2 fini1 exit1(3) " },
		{ 'f', -1, "spin", "init1 fini1 exit1(7) " },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		failing = cases[i].who;
		EXPECT_EQ(
		    run_noted(cases[i].what, "10", NULL), cases[i].result);
		EXPECT_LOG(cases[i].log);
	}
	failing = 'e';
	EXPECT_EQ(run_noted("exec", "spin", "10"), -1);
	EXPECT_LOG("init1 fini1 exec1(pctx_target spin 10) ");
	failing = 0;
}

/* PCTX-01 */
TEST(a_program_that_does_not_exist)
{
	char *argv[] = { "nonesuch", NULL };

	EXPECT(pctx_create("nonesuch", argv, NULL, 0, pctx_record) == NULL);
	EXPECT(strcmp(pctx_message,
		   "create: cannot find program 'nonesuch'\n") == 0);
	/* It exists, but is no program. */
	EXPECT(pctx_create("suite", argv, NULL, 0, pctx_record) == NULL);
	EXPECT(strcmp(pctx_message,
		   "create: cannot execute program 'suite'\n") == 0);
	EXPECT_ERRNO(waitpid(-1, NULL, 0), ECHILD);
}

/*
 * Ticks
 */

static bool
one_cpu(void)
{
	struct barecpc_stat st = { .bs_cpus = 0 };

	payload_stat(&st);
	return st.bs_cpus == 1;
}

/* PCTX-06: the target lives until it is released, and then it is killed. */
TEST(a_number_of_ticks)
{
	pctx_t *px = noted("loop", NULL, NULL);

	REQUIRE(px != NULL);
	EXPECT_EQ(pctx_run(px, 5, 3, on_tick), 0);
	/* A late tick is skipped; with one CPU of an emulator none is late. */
	if (one_cpu() && emulated())
		EXPECT_EQ(ticks, 3);
	EXPECT(ticks >= 1 && ticks <= 3);
	EXPECT_EQ(kill(seen_pid, 0), 0);
	pctx_release(px);
	EXPECT_ERRNO(kill(seen_pid, 0), ESRCH); /* PCTX-12 */
	EXPECT_LOG("init1 ");
}

/* PCTX-07 */
TEST(a_failing_tick_ends_the_run)
{
	pctx_t *px = noted("loop", NULL, NULL);

	REQUIRE(px != NULL);
	failing = 't';
	EXPECT_EQ(pctx_run(px, 5, 0, on_tick), -1);
	failing = 0;
	EXPECT_EQ(ticks, 1);
	pctx_release(px);
	EXPECT_LOG("init1 ");
}

static struct timespec tick_time;
static hrtime_t tick_began[2];

static int
slow_tick(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	if (ticks < 2)
		tick_began[ticks] = gethrtime();
	nanosleep(&tick_time, NULL);
	ticks++;
	return 0;
}

/*
 * Ticks at 5, 10, ... ms.  After the first, at 17 ms, those at 10 and 15 are
 * past: they count as ticks, and the next is the last, at 20.
 */
TEST(late_ticks_are_skipped_but_counted)
{
	pctx_t *px = noted("sleep", NULL, NULL);

	REQUIRE(px != NULL);
	tick_time.tv_nsec = 12 * MS;
	EXPECT_EQ(pctx_run(px, 5, 4, slow_tick), 0);
	EXPECT(ticks == 2 || (ticks == 1 && !(one_cpu() && emulated())));
	pctx_release(px);
	EXPECT_LOG("init1 ");
}

/* The first tick ends at 27 ms.  The last is due at 30 ms, and not before. */
TEST(the_last_tick_waits_for_its_time)
{
	pctx_t *px = noted("sleep", NULL, NULL);

	REQUIRE(px != NULL);
	tick_time.tv_nsec = 22 * MS;
	EXPECT_EQ(pctx_run(px, 5, 4, slow_tick), 0);
	EXPECT(ticks == 2 || (ticks == 1 && !(one_cpu() && emulated())));
	if (one_cpu() && emulated())
		EXPECT(tick_began[1] - tick_began[0] > 24 * MS);
	pctx_release(px);
	EXPECT_LOG("init1 ");
}

/* An LWP that sleeps in a system call is stopped, too, and sleeps on. */
TEST(a_sleeping_target_has_ticks)
{
	pctx_t *px = noted("sleep", NULL, NULL);

	REQUIRE(px != NULL);
	EXPECT_EQ(pctx_run(px, 2, 5, on_tick), 0);
	if (one_cpu() && emulated())
		EXPECT_EQ(ticks, 5);
	EXPECT(ticks >= 1 && ticks <= 5);
	pctx_release(px);
	EXPECT_LOG("init1 ");
}

/* The child sleeps 100 ms in vfork(2): these 50 ticks do not come. */
TEST(no_ticks_during_vfork)
{
	pctx_t *px = noted("vfork", NULL, NULL);

	REQUIRE(px != NULL);
	EXPECT_EQ(pctx_run(px, 2, 0, on_tick), 0);
	EXPECT(ticks < 25);
	pctx_release(px);
	EXPECT_LOG("init1 fini1 exit1(2) ");
}

/*
 * Ending a run from a signal handler
 */

static pctx_t *running;

static void
terminate_run(int sig)
{
	pctx_terminate(running);
}

static void
alarm_in_ms(long ms, void (*handler)(int))
{
	struct itimerval it = { .it_value = { 0, ms * 1000 } };

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &it, NULL);
}

/* PCTX-10 */
TEST(a_signal_handler_terminates_the_run)
{
	REQUIRE((running = noted("loop", NULL, NULL)) != NULL);
	alarm_in_ms(10, terminate_run);
	EXPECT_EQ(pctx_run(running, 0, 0, NULL), 0);
	EXPECT_EQ(kill(seen_pid, 0), 0);
	pctx_release(running);
	EXPECT_LOG("init1 ");
}

TEST(other_signals_do_not_end_the_run)
{
	pctx_t *px = noted("spin", "300000", NULL);

	REQUIRE(px != NULL);
	alarm_in_ms(1, test_note_signal);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	EXPECT_LOG("init1 fini1 exit1(7) ");
	pctx_release(px);
}

static int
terminate_at_init(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	pctx_terminate(px);
	return on_init(px, pid, id, arg);
}

TEST(a_handler_terminates_the_run)
{
	pctx_t *px = noted("spin", "10", NULL);

	REQUIRE(px != NULL);
	pctx_set_events(
	    px, PCTX_INIT_LWP_EVENT, terminate_at_init, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	EXPECT_LOG("init1 ");
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	EXPECT_LOG("fini1 exit1(7) ");
	pctx_release(px);
}

/*
 * fork(2)
 */

static FILE *follow; /* the copy of the controller reports through it */

static void
on_fork(pctx_t *px, pid_t parent, id_t child, pid_t lwp, void *arg)
{
	event_log[0] = '\0';
	event_note("%s%d ", parent == seen_pid ? "of" : "not of", (int)lwp);
	seen_pid = (pid_t)child;
	pctx_set_events(px, PCTX_INIT_LWP_EVENT, on_init, PCTX_FINI_LWP_EVENT,
	    on_fini, PCTX_SYSC_EXIT_EVENT, on_exit_status, PCTX_NULL_EVENT);
	event_note("run(%d) ", pctx_run(px, 0, 0, NULL));
	fputs(event_log, follow);
}

/* PCTX-11: and what it printed is not lost at its end. */
TEST(a_copy_of_the_controller_follows_a_fork)
{
	pctx_t *px = noted("fork", "10", NULL);
	char report[256] = "";
	int ends[2];

	REQUIRE(px != NULL && pipe(ends) == 0);
	REQUIRE((follow = fdopen(ends[1], "w")) != NULL);
	pctx_set_events(px, PCTX_SYSC_FORK_EVENT, on_fork, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	EXPECT_LOG("init1 fini1 exit1(2) ");
	fclose(follow);
	EXPECT(read(ends[0], report, sizeof report - 1) > 0);
	memcpy(event_log, report, sizeof report);
	EXPECT_LOG("of1 init1 fini1 exit1(2) run(0) ");
	pctx_release(px);
	close(ends[0]);
	EXPECT(waitpid(-1, NULL, 0) > 0); /* the copy */
}

TEST(without_its_handler_a_child_runs_free)
{
	EXPECT_EQ(run_noted("fork", "10", NULL), 0);
	EXPECT_LOG("init1 fini1 exit1(2) ");
}

/*
 * Capture
 */

static pid_t
spawn(const char *what)
{
	char *argv[] = { "pctx_target", (char *)what, "10000000", NULL };
	pid_t pid = fork();

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(99);
	}
	return pid;
}

/* PCTX-12: released, a captured process runs on. */
TEST(a_captured_process_runs_on)
{
	pid_t pid = spawn("spin");
	pctx_t *px = pctx_capture(pid, NULL, 0, pctx_record);
	int status = -1;

	REQUIRE(px != NULL);
	pctx_release(px);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(WEXITSTATUS(status), 7);
}

/* A process uses several contexts, and releases them in any order. */
TEST(the_first_of_three_is_released_first)
{
	pctx_t *px[3];
	pid_t pid[3];
	int status = -1;

	for (int i = 0; i < 3; i++) {
		pid[i] = spawn("spin");
		px[i] = pctx_capture(pid[i], NULL, 0, pctx_record);
		REQUIRE(px[i] != NULL);
	}
	for (int i = 0; i < 3; i++) {
		pctx_release(px[i]);
		EXPECT_EQ(waitpid(pid[i], &status, 0), pid[i]);
		EXPECT_EQ(WEXITSTATUS(status), 7);
	}
}

TEST(a_captured_process_is_controlled)
{
	pid_t pid = spawn("loop");
	struct timespec ms3 = { 0, 3000000 };
	pctx_t *px;

	nanosleep(&ms3, NULL); /* it is running now */
	REQUIRE((px = pctx_capture(pid, NULL, 0, pctx_record)) != NULL);
	pctx_set_events(px, PCTX_INIT_LWP_EVENT, on_init, PCTX_NULL_EVENT);
	ticks = 0;
	EXPECT_EQ(pctx_run(px, 2, 2, on_tick), 0);
	EXPECT(ticks >= 1 && ticks <= 2);
	EXPECT_LOG("init1 ");
	/* It can be killed while it is stopped. */
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_EQ(pctx_run(px, 2, 2, on_tick), -1);
	pctx_release(px);
}

/* PCTX-02, and the other reasons. */
TEST(what_cannot_be_captured)
{
	pid_t pid;
	pctx_t *px;
	siginfo_t si;

	EXPECT(pctx_capture(getpid(), NULL, 0, pctx_record) == NULL);
	EXPECT(strcmp(pctx_message, "capture: cannot capture self!\n") == 0);
	EXPECT(pctx_capture(12345678, NULL, 0, pctx_record) == NULL);
	EXPECT(
	    strcmp(pctx_message, "capture: pid 12345678 doesn't exist\n") == 0);
	EXPECT(pctx_capture(0, NULL, 0, pctx_record) == NULL);
	EXPECT(
	    strcmp(pctx_message, "capture: pid 0 is a system process\n") == 0);

	pid = spawn("sleep");
	REQUIRE((px = pctx_capture(pid, NULL, 0, pctx_record)) != NULL);
	EXPECT(pctx_capture(pid, NULL, 0, pctx_record) == NULL);
	EXPECT(strstr(pctx_message, "is already being traced\n") != NULL);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT);
	EXPECT(pctx_capture(pid, NULL, 0, pctx_record) == NULL);
	EXPECT(strstr(pctx_message, "is a zombie\n") != NULL);
	pctx_release(px);
	waitpid(pid, NULL, 0);
}

/*
 * The controller ends: a created target is killed, a captured one runs on.  All
 * are on one CPU.  Stock QEMU 7.2 for arm64 gives a CPU whose LWP sleeps no
 * turn while another CPU spins.
 */
TEST(the_end_of_the_controller)
{
	int ids[2], status = -1;
	struct timespec ms = { 0, 1000000 };
	pid_t captured, pid, created = 0;

	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 0, NULL), 0);
	captured = spawn("loop");
	REQUIRE(pipe(ids) == 0);
	if ((pid = fork()) == 0) {
		pctx_t *px = pctx_capture(captured, NULL, 0, NULL);

		if (px == NULL || (px = noted("loop", NULL, NULL)) == NULL)
			_exit(1);
		pctx_run(px, 1, 1, on_tick);
		write(ids[1], &seen_pid, sizeof seen_pid);
		_exit(0);
	}
	close(ids[1]);
	EXPECT_EQ(read(ids[0], &created, sizeof created), sizeof created);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_EQ(kill(captured, 0), 0);
	pctx_t *again = pctx_capture(captured, NULL, 0, pctx_record);
	EXPECT(again != NULL);
	pctx_release(again);
	kill(captured, SIGKILL);
	EXPECT_EQ(waitpid(captured, &status, 0), captured);
	/* It ends on its way to user code, and nothing waits for it. */
	for (int i = 0; i < 100 && kill(created, 0) == 0; i++)
		nanosleep(&ms, NULL);
	EXPECT_ERRNO(kill(created, 0), ESRCH);
	close(ids[0]);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
}
