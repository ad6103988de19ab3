/* SIGSTOP, SIGCONT, the parent's waits, and the numbers of kill(2). */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(16); /* a thread's stack, page tables */

static void
catch_signal(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = test_note_signal,
		.sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

/* Another thread may run the handler, or the sender be slow. */
static void
expect_handled(int n)
{
	for (int i = 0; i < 1000 && test_nsignal < n; i++)
		usleep(1000);
	EXPECT_EQ(test_nsignal, n);
}

/* A child that sleeps in read(2). */
static pid_t
start_reader(int end[2])
{
	char c;
	int ready[2];
	pid_t pid;

	if (pipe(end) != 0 || pipe(ready) != 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		catch_signal(SIGCONT, SA_RESTART);
		close(ready[1]);
		_exit(read(end[0], &c, 1) == 1 ? c + test_nsignal : 99);
	}
	close(ready[1]);
	EXPECT_EQ(read(ready[0], &c, 1), 0);
	close(ready[0]);
	usleep(5000);
	return pid;
}

TEST(a_stopped_child_is_reported_and_continues)
{
	int end[2], status;
	pid_t pid = start_reader(end);

	REQUIRE(pid > 0);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	EXPECT_EQ(kill(pid, SIGSTOP), 0);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	/* A report is made once. */
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	/* Its byte comes, but it does not run. */
	EXPECT_EQ(write(end[1], "\1", 1), 1);
	usleep(20000);
	EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(waitpid(pid, &status, WCONTINUED), pid);
	EXPECT(WIFCONTINUED(status) || WIFEXITED(status));
	if (WIFCONTINUED(status))
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(WEXITSTATUS(status), 2);
	close(end[0]);
	close(end[1]);
}

TEST(waitid_describes_a_stopped_child)
{
	int end[2];
	siginfo_t si;
	pid_t pid = start_reader(end);

	REQUIRE(pid > 0);
	EXPECT_EQ(kill(pid, SIGTSTP), 0);
	memset(&si, 0, sizeof si);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &si, WSTOPPED | WNOWAIT), 0);
	EXPECT(si.si_code == CLD_STOPPED && si.si_status == SIGTSTP);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &si, WSTOPPED), 0);
	EXPECT(si.si_signo == SIGCHLD && si.si_pid == pid);
	memset(&si, 0, sizeof si);
	EXPECT_EQ(
	    waitid(P_PID, (id_t)pid, &si, WSTOPPED | WEXITED | WNOHANG), 0);
	EXPECT_EQ(si.si_pid, 0);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &si, WCONTINUED), 0);
	EXPECT(si.si_code == CLD_CONTINUED && si.si_status == SIGCONT);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &si, WEXITED), 0);
	EXPECT(si.si_code == CLD_KILLED && si.si_status == SIGKILL);
	EXPECT_ERRNO(waitid(P_ALL, 0, &si, 0), EINVAL);
	close(end[0]);
	close(end[1]);
}

TEST(sigkill_ends_a_stopped_process)
{
	int end[2], status;
	pid_t pid = start_reader(end);

	REQUIRE(pid > 0);
	EXPECT_EQ(kill(pid, SIGSTOP), 0);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT_EQ(kill(pid, SIGTERM), 0);
	usleep(10000);
	EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(WTERMSIG(status), SIGKILL);
	close(end[0]);
	close(end[1]);
}

static volatile unsigned turns;

static void *
spin(void *arg)
{
	for (;;)
		turns++;
	return arg;
}

/* All threads stop, also one that runs on another CPU. */
TEST(all_threads_stop)
{
	int status, end[2];
	pthread_t t;
	pid_t pid;

	REQUIRE(pipe(end) == 0);
	if ((pid = fork()) == 0) {
		unsigned seen;

		pthread_create(&t, NULL, spin, NULL);
		while (turns == 0)
			sched_yield();
		kill(getpid(), SIGSTOP);
		seen = turns;
		_exit(write(end[1], &seen, sizeof seen) != sizeof seen);
	}
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT(WIFSTOPPED(status));
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	close(end[0]);
	close(end[1]);
}

TEST(sigchld_comes_for_stops_unless_refused)
{
	int end[2], status;
	pid_t pid = start_reader(end);

	REQUIRE(pid > 0);
	test_nsignal = 0;
	catch_signal(SIGCHLD, SA_NOCLDSTOP | SA_RESTART);
	EXPECT_EQ(kill(pid, SIGSTOP), 0);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT_EQ(test_nsignal, 0);
	catch_signal(SIGCHLD, SA_RESTART);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(waitpid(pid, &status, WCONTINUED), pid);
	expect_handled(1);
	signal(SIGCHLD, SIG_DFL);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	close(end[0]);
	close(end[1]);
}

/* A pending stop and SIGCONT exclude each other, whichever comes first. */
TEST(a_blocked_stop_is_dropped_by_sigcont)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	EXPECT_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	EXPECT_EQ(raise(SIGTSTP), 0);
	EXPECT_EQ(raise(SIGCONT), 0);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT(
	    !sigismember(&pending, SIGTSTP) && sigismember(&pending, SIGCONT));
	EXPECT_EQ(raise(SIGTSTP), 0);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT(
	    sigismember(&pending, SIGTSTP) && !sigismember(&pending, SIGCONT));
	EXPECT_EQ(raise(SIGCONT), 0);
	EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
}

TEST(a_zombie_takes_signals)
{
	pid_t pid = fork();
	siginfo_t si;

	if (pid == 0)
		_exit(0);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(kill(pid, 0), 0);
	EXPECT_EQ(kill(pid, SIGTERM), 0);
	EXPECT_EQ(kill(pid, SIGRTMIN), 0);
	EXPECT_EQ(getpgid(pid), getpgid(0));
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_ERRNO(kill(pid, 0), ESRCH);
}

static volatile int thread_id;
static pthread_barrier_t meet;

static void *
wait_here(void *arg)
{
	thread_id = (int)syscall(SYS_gettid);
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet);
	return arg;
}

TEST(a_thread_s_number_names_its_process)
{
	siginfo_t si = { .si_code = SI_QUEUE };
	pthread_t t;

	catch_signal(SIGUSR1, SA_RESTART);
	test_nsignal = 0;
	pthread_barrier_init(&meet, NULL, 2);
	REQUIRE(pthread_create(&t, NULL, wait_here, NULL) == 0);
	pthread_barrier_wait(&meet);
	EXPECT_EQ(kill(thread_id, 0), 0);
	EXPECT_EQ(kill(thread_id, SIGUSR1), 0);
	expect_handled(1);
	EXPECT_EQ(syscall(SYS_rt_sigqueueinfo, thread_id, SIGUSR1, &si), 0);
	expect_handled(2);
	EXPECT_EQ(getpgid(thread_id), getpgid(0));
	EXPECT_EQ(getsid(thread_id), getsid(0));
	EXPECT_ERRNO(setpgid(thread_id, 0), EINVAL);
	pthread_barrier_wait(&meet);
	pthread_join(t, NULL);
	EXPECT_ERRNO(kill(thread_id, 0), ESRCH);
}

TEST(a_process_may_queue_any_code_to_itself)
{
	siginfo_t si = { .si_code = SI_USER };
	int self = (int)getpid();

	test_nsignal = 0;
	EXPECT_EQ(syscall(SYS_rt_sigqueueinfo, self, SIGUSR1, &si), 0);
	EXPECT_EQ(syscall(SYS_rt_tgsigqueueinfo, self, self, SIGUSR1, &si), 0);
	EXPECT_EQ(test_nsignal, 2);
	EXPECT_EQ(syscall(SYS_rt_sigqueueinfo, self, 0, &si), 0);
	EXPECT_ERRNO(syscall(SYS_rt_sigqueueinfo, getppid(), 0, &si), EPERM);
}

static void *
exit_with_5(void *arg)
{
	pthread_barrier_wait(&meet);
	usleep(1000);
	syscall(SYS_exit, 5);
	return arg;
}

/* Since Linux 5.19.  Before, it was the first LWP's. */
TEST(the_last_lwp_has_the_status)
{
	pthread_t t;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_barrier_init(&meet, NULL, 2);
		pthread_create(&t, NULL, exit_with_5, NULL);
		pthread_barrier_wait(&meet);
		syscall(SYS_exit, 3);
	}
	EXPECT_EQ(WEXITSTATUS(test_wait_status(pid)), 5);
}

#ifdef SYS_alarm
TEST(alarm_returns_rounded_seconds)
{
	struct itimerval it = { .it_value = { 10, 300000 } };

	EXPECT_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
	EXPECT_EQ(syscall(SYS_alarm, 10), 10);
	it.it_value.tv_usec = 800000;
	EXPECT_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
	EXPECT_EQ(syscall(SYS_alarm, 0), 11);
	it.it_value = (struct timeval){ 0, 300000 };
	EXPECT_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
	EXPECT_EQ(syscall(SYS_alarm, 0), 1);
}
#endif
