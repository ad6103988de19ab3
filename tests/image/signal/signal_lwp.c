/*
 * Signals between LWPs.  A signal to an LWP reaches it, asleep or not.  A
 * signal to the process reaches an LWP that does not block it, and stays
 * pending while all LWPs block it.  A signal interrupts a sleep, which ends or
 * restarts as sigaction(2) says.
 */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The C library keeps stacks of threads.  Their page tables stay, too. */
TEST_KEEPS(64);

static volatile pthread_t handled_by;
static volatile int calls;

static void
record_handler(int sig)
{
	handled_by = pthread_self();
	calls++;
}

static void
install_handler(int flags)
{
	struct sigaction sa = { .sa_handler = record_handler,
		.sa_flags = flags };

	sigaction(SIGUSR1, &sa, NULL);
	calls = 0;
	handled_by = 0;
}

static void
pause_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) != 0)
		;
}

static void
change_mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(how, &set, NULL);
}

static volatile int result, result_errno, fds[2];
static struct timespec left;
static sem_t sem;

static void *
sleep_long(void *arg)
{
	struct timespec ts = { 100, 0 };

	result = nanosleep(&ts, &left);
	result_errno = errno;
	return NULL;
}

static void *
read_byte(void *arg)
{
	char c = 0;

	result = (int)read(fds[0], &c, 1);
	result_errno = errno;
	return arg;
}

static void *
wait_for_semaphore(void *arg)
{
	result = sem_wait(&sem);
	result_errno = errno;
	return arg;
}

static pthread_t
start_and_pause(void *(*fn)(void *))
{
	pthread_t t;

	result = result_errno = 0;
	EXPECT_EQ(pthread_create(&t, NULL, fn, NULL), 0);
	pause_ms(2); /* it is asleep after this */
	return t;
}

TEST(a_sleep_is_interrupted)
{
	install_handler(0);
	pthread_t t = start_and_pause(sleep_long);
	EXPECT_EQ(pthread_kill(t, SIGUSR1), 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(calls, 1);
	EXPECT(handled_by == t);
	EXPECT_EQ(result, -1);
	EXPECT_EQ(result_errno, EINTR);
	EXPECT(left.tv_sec >= 99 && left.tv_sec < 100);
}

TEST(a_read_is_interrupted_or_restarted)
{
	int p[2];

	REQUIRE(pipe(p) == 0);
	fds[0] = p[0];
	install_handler(0);
	pthread_t t = start_and_pause(read_byte);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, NULL);
	EXPECT_EQ(result, -1);
	EXPECT_EQ(result_errno, EINTR);

	install_handler(SA_RESTART);
	t = start_and_pause(read_byte);
	pthread_kill(t, SIGUSR1);
	pause_ms(2);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(write(p[1], "x", 1), 1);
	pthread_join(t, NULL);
	EXPECT_EQ(result, 1);
	close(p[0]);
	close(p[1]);
}

TEST(a_wait_for_a_semaphore_restarts)
{
	sem_init(&sem, 0, 0);
	install_handler(SA_RESTART);
	pthread_t t = start_and_pause(wait_for_semaphore);
	pthread_kill(t, SIGUSR1);
	pause_ms(2);
	EXPECT_EQ(calls, 1);
	sem_post(&sem);
	pthread_join(t, NULL);
	EXPECT_EQ(result, 0);
}

TEST(a_signal_to_the_process_goes_to_an_lwp_that_takes_it)
{
	install_handler(0);
	pthread_t t = start_and_pause(sleep_long);
	change_mask(SIG_BLOCK);
	EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
	pthread_join(t, NULL);
	EXPECT_EQ(calls, 1);
	EXPECT(handled_by == t);
	change_mask(SIG_UNBLOCK);
	EXPECT_EQ(calls, 1);
}

/* Call vfork(2) directly, because some C libraries make it a fork(2). */
static void *
call_vfork(void *arg)
{
	pid_t pid = syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		write(fds[1], "x", 1);
		pause_ms(50);
		_exit(0);
	}
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	return arg;
}

/* Start an LWP in vfork(2), and return when its child runs. */
static pthread_t
start_vfork(void)
{
	pthread_t t = start_and_pause(call_vfork);
	char c;

	EXPECT_EQ(read(fds[0], &c, 1), 1);
	return t;
}

/* An LWP that waits in vfork(2) takes no signal until its child has ended. */
TEST(an_lwp_in_vfork_gets_a_signal_last)
{
	pthread_t t[2];
	int p[2];

	REQUIRE(pipe(p) == 0);
	fds[0] = p[0];
	fds[1] = p[1];
	install_handler(SA_RESTART);
	t[0] = start_and_pause(sleep_long);
	t[1] = start_vfork();
	change_mask(SIG_BLOCK);
	EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
	pthread_join(t[0], NULL);
	EXPECT(handled_by == t[0]);
	pthread_join(t[1], NULL);
	EXPECT_EQ(calls, 1);
	/* If no other LWP can, the LWP in vfork(2) takes it later. */
	change_mask(SIG_UNBLOCK);
	t[1] = start_vfork();
	change_mask(SIG_BLOCK);
	EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
	pthread_join(t[1], NULL);
	EXPECT_EQ(calls, 2);
	EXPECT(handled_by == t[1]);
	change_mask(SIG_UNBLOCK);
	close(p[0]);
	close(p[1]);
}

TEST(a_signal_that_all_block_stays_pending)
{
	pthread_t t;

	install_handler(0);
	change_mask(SIG_BLOCK);
	t = start_and_pause(sleep_long); /* it inherits this LWP's mask */
	kill(getpid(), SIGUSR1);
	pause_ms(2);
	EXPECT_EQ(calls, 0);
	change_mask(SIG_UNBLOCK);
	EXPECT_EQ(calls, 1);
	EXPECT(handled_by == pthread_self());
	pthread_cancel(t);
	pthread_join(t, NULL);
}

static void *
wait_for_signal(void *arg)
{
	sigset_t set;
	int sig = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	result = sigwait(&set, &sig) == 0 ? sig : -1;
	return arg;
}

TEST(sigwait_takes_it_from_the_process)
{
	install_handler(0);
	change_mask(SIG_BLOCK);
	pthread_t t = start_and_pause(wait_for_signal);
	kill(getpid(), SIGUSR1);
	pthread_join(t, NULL);
	EXPECT_EQ(result, SIGUSR1);
	EXPECT_EQ(calls, 0);
	change_mask(SIG_UNBLOCK);
	EXPECT_EQ(calls, 0);
}

static void
cancel_thread(void *(*fn)(void *))
{
	void *value = NULL;
	pthread_t t = start_and_pause(fn);

	EXPECT_EQ(pthread_cancel(t), 0);
	EXPECT_EQ(pthread_join(t, &value), 0);
	EXPECT(value == PTHREAD_CANCELED);
}

/* The C library's handler changes the interrupted pc and mask. */
TEST(threads_are_cancelled_while_they_sleep)
{
	int p[2];

	REQUIRE(pipe(p) == 0);
	fds[0] = p[0];
	cancel_thread(sleep_long);
	cancel_thread(read_byte);
	cancel_thread(wait_for_semaphore);
	cancel_thread(wait_for_signal);
	close(p[0]);
	close(p[1]);
}

static void *
spin_cancellable(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		__asm__ volatile("");
	return arg;
}

TEST(threads_are_cancelled_while_they_run)
{
	cancel_thread(spin_cancellable);
}

static void *
send_signals(void *arg)
{
	pthread_t other = *(pthread_t *)arg;

	for (int i = 0; i < 1000; i++)
		pthread_kill(other, SIGRTMIN);
	return arg;
}

TEST(real_time_signals_of_another_all_arrive)
{
	struct sigaction sa = { .sa_handler = test_note_signal,
		.sa_flags = SA_RESTART };
	pthread_t self = pthread_self(), t;

	test_nsignal = 0;
	sigaction(SIGRTMIN, &sa, NULL);
	EXPECT_EQ(pthread_create(&t, NULL, send_signals, &self), 0);
	while (test_nsignal < 1000)
		;
	pthread_join(t, NULL);
	EXPECT_EQ(test_nsignal, 1000);
}

TEST(a_child_can_be_killed)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause_ms(1000);
	REQUIRE(pid > 0);
	EXPECT_EQ(kill(pid, SIGTERM), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

static void *
spin_for_ever(void *arg)
{
	for (;;)
		__asm__ volatile("");
	return arg;
}

static void *
sleep_for_ever(void *arg)
{
	for (;;)
		pause_ms(1000);
	return arg;
}

/* The time in us that a process of eight LWPs, all in act(), takes to end. */
static int64_t
end_of_eight(void *(*act)(void *), int sig)
{
	int status = 0;
	int64_t killed;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t t;

		for (int i = 0; i < 7; i++)
			pthread_create(&t, NULL, act, NULL);
		act(NULL);
	}
	pause_ms(50);
	killed = test_now_ns(); /* kill(2) may return after they have ended */
	EXPECT_EQ(kill(pid, sig), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	killed = (test_now_ns() - killed) / 1000;
	EXPECT_EQ(WTERMSIG(status), sig);
	return killed;
}

/*
 * Eight LWPs spin on the killer's CPU.  The first that runs again takes the
 * signal, and the others never run again.  So their end takes less than a slice
 * (4 ms) longer than the end of eight that sleep.
 */
static bool
eight_end_at_first_turn(int sig)
{
	int64_t asleep = end_of_eight(sleep_for_ever, sig);
	int64_t spinning = end_of_eight(spin_for_ever, sig);

	test_note("%ld and %ld us", (long)asleep, (long)spinning);
	return spinning < asleep + 4000;
}

static bool
killed_at_first_turn(void)
{
	return eight_end_at_first_turn(SIGKILL);
}

static bool
terminated_at_first_turn(void)
{
	return eight_end_at_first_turn(SIGTERM);
}

TEST(a_process_ends_at_its_first_turn)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
	EXPECT(test_holds_once(killed_at_first_turn));
	EXPECT(test_holds_once(terminated_at_first_turn));
	EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}
