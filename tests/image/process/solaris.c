/* Functions of Solaris around libcpc, by sections 2, 3C and 3KSTAT. */
#define _GNU_SOURCE
#include "tests/lib/image/crowd.h"
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <kstat.h>
#include <poll.h>
#include <procfs.h>
#include <stdlib.h>
#include <string.h>
#include <synch.h>
#include <sys/fxpriocntl.h>
#include <sys/mman.h>
#include <sys/priocntl.h>
#include <sys/procset.h>
#include <sys/pset.h>
#include <sys/regset.h>
#include <sys/resource.h>
#include <sys/siginfo.h>
#include <sys/syscall.h>
#include <sys/systeminfo.h>
#include <sys/time.h>
#include <thread.h>
#include <unistd.h>

TEST_KEEPS(64);

TEST(getsubopt_points_to_an_unknown_token)
{
	char text[] = "known=3,strange=4,bare,", *next = text, *value = NULL;
	char known[] = "known", bare[] = "bare", *tokens[] = { bare, known, 0 };

	EXPECT_EQ(getsubopt(&next, tokens, &value), 1);
	EXPECT(strcmp(value, "3") == 0);
	EXPECT_EQ(getsubopt(&next, tokens, &value), -1);
	REQUIRE(value != NULL);
	EXPECT(strcmp(value, "strange=4") == 0);
	EXPECT_EQ(getsubopt(&next, tokens, &value), 0);
	EXPECT(value == NULL);
	EXPECT_EQ(*next, '\0');
}

TEST(sysconf_counts_cpus_whatever_the_binding)
{
	long n = crowd_ncpu();

	crowd_bind_self(0);
	errno = 0;
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_CONF), n);
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_ONLN), n);
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_MAX), n);
	EXPECT_EQ(sysconf(_SC_CPUID_MAX), n - 1);
	EXPECT_EQ(sysconf(_SC_PAGESIZE), 4096);
	EXPECT_EQ(errno, 0);
	if (n > 1 && p_online((processorid_t)n - 1, P_OFFLINE) == P_ONLINE) {
		EXPECT_EQ(sysconf(_SC_NPROCESSORS_CONF), n);
		EXPECT_EQ(sysconf(_SC_NPROCESSORS_ONLN), n - 1);
		p_online((processorid_t)n - 1, P_ONLINE);
	}
	crowd_bind_self(PBIND_NONE);
}

TEST(gethrvtime_is_the_time_on_a_cpu)
{
	hrtime_t v0 = gethrvtime(), t0 = gethrtime(), v1, v2, t1;

	crowd_sleep_us(20000);
	v1 = gethrvtime();
	EXPECT(v1 - v0 < 10000000);
	while ((t1 = gethrtime()) - t0 < 40000000)
		;
	v2 = gethrvtime();
	/* It ran for the 20 ms after its sleep, but for what others took. */
	EXPECT(v2 > v1);
	EXPECT(v2 - v0 <= t1 - t0 + 1000000);
}

TEST(processor_info_and_getcpuid)
{
	processor_info_t info;

	REQUIRE(processor_info(0, &info) == 0);
	EXPECT_EQ(info.pi_state, P_ONLINE);
	EXPECT(info.pi_processor_type[0] != '\0');
	EXPECT(info.pi_clock > 0);
	EXPECT_ERRNO(processor_info(1000, &info), EINVAL);
	EXPECT_ERRNO(processor_info(0, NULL), EFAULT);
	crowd_bind_self(0);
	EXPECT_EQ(getcpuid(), 0);
	crowd_bind_self(PBIND_NONE);
}

TEST(processor_sets_are_none)
{
	psetid_t old = 5;

	EXPECT_EQ(pset_bind(PS_QUERY, P_LWPID, P_MYID, &old), 0);
	EXPECT_EQ(old, PS_NONE);
	old = 5;
	EXPECT_EQ(pset_assign(PS_QUERY, 0, &old), 0);
	EXPECT_EQ(old, PS_NONE);
	EXPECT_ERRNO(pset_bind(1, P_LWPID, P_MYID, NULL), EINVAL);
	EXPECT_ERRNO(pset_assign(PS_QUERY, 1000, NULL), EINVAL);
}

TEST(sysinfo_copies_what_fits)
{
	char buf[64];
	int n = sysinfo(SI_MACHINE, buf, sizeof buf);

	EXPECT_EQ(n, (int)strlen(buf) + 1);
	EXPECT_EQ(sysinfo(SI_MACHINE, buf, 3), n);
	EXPECT_EQ(strlen(buf), 2);
	EXPECT_ERRNO(sysinfo(9999, buf, sizeof buf), EINVAL);
}

TEST(kstat_describes_each_cpu)
{
	kstat_ctl_t *kc = kstat_open();
	kstat_named_t *kn;
	kstat_t *ks;

	REQUIRE(kc != NULL);
	for (unsigned i = 0; i < crowd_ncpu(); i++) {
		ks = kstat_lookup(kc, "cpu_info", (int)i, NULL);
		REQUIRE(ks != NULL && kstat_read(kc, ks, NULL) != -1);
		kn = kstat_data_lookup(ks, "state");
		REQUIRE(kn != NULL);
		EXPECT(strcmp(kn->value.c, "on-line") == 0);
		kn = kstat_data_lookup(ks, "clock_MHz");
		REQUIRE(kn != NULL);
		EXPECT(kn->value.i32 > 0);
		EXPECT(kstat_data_lookup(ks, "absent") == NULL);
	}
	EXPECT(kstat_lookup(kc, "cpu_info", 1000, NULL) == NULL);
	EXPECT(kstat_lookup(kc, "none", -1, NULL) == NULL);
	EXPECT_EQ(kstat_close(kc), 0);
}

TEST(limits_in_force_can_be_set)
{
	struct rlimit lim;

	REQUIRE(getrlimit(RLIMIT_NOFILE, &lim) == 0);
	lim.rlim_cur = lim.rlim_max;
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lim), 0);
	lim.rlim_cur = lim.rlim_max = lim.rlim_max + 1;
	EXPECT_ERRNO(setrlimit(RLIMIT_NOFILE, &lim), EPERM);
	lim.rlim_max = 1;
	EXPECT_ERRNO(setrlimit(RLIMIT_NOFILE, &lim), EINVAL);
	lim.rlim_cur = lim.rlim_max = RLIM_INFINITY; /* Solaris' cpustat */
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lim), 0);
}

static int
limit_to(int which, rlim_t soft)
{
	struct rlimit lim;

	EXPECT_EQ(getrlimit(which, &lim), 0);
	lim.rlim_cur = soft < lim.rlim_max ? soft : lim.rlim_max;
	return setrlimit(which, &lim);
}

/* The program executes itself: it ends with 3 if its stack is 1 MiB. */
static __attribute__((constructor)) void
executed(void)
{
	char here;

	if (getenv("STACK") != NULL)
		_exit(access((char *)((uintptr_t)&here - (2 << 20)), 0) < 0 &&
			      errno == EFAULT
			  ? 3
			  : 1);
}

TEST(lower_limits_are_obeyed)
{
	char *argv[] = { test_argv[0], NULL }, *envv[] = { "STACK=", NULL };
	struct pollfd fds[5] = { { .fd = -1 } };
	int fd = open("/dev/null", O_RDONLY), pid;
	long end = syscall(SYS_brk, 0);
	struct rlimit was;
	void *at;

	EXPECT_EQ(limit_to(RLIMIT_NOFILE, (rlim_t)fd + 1), 0);
	EXPECT_ERRNO(dup(fd), EMFILE);
	EXPECT_ERRNO(dup2(fd, fd + 1), EBADF);
	EXPECT_ERRNO(fcntl(fd, F_DUPFD, fd + 1), EINVAL);
	EXPECT_ERRNO(poll(fds, (nfds_t)fd + 2, 0), EINVAL);
	EXPECT_EQ(limit_to(RLIMIT_NOFILE, RLIM_INFINITY), 0);
	EXPECT_EQ(dup2(fd, fd + 1), fd + 1);
	EXPECT_EQ(close(fd + 1), 0);
	EXPECT_EQ(close(fd), 0);

	EXPECT_EQ(limit_to(RLIMIT_DATA, 1), 0);
	EXPECT(mmap(0, 1, 3, MAP_PRIVATE | MAP_ANON, -1, 0) == MAP_FAILED);
	/* Without asking, musl's sbrk() refuses. */
	EXPECT_EQ(syscall(SYS_brk, end + (1 << 20)), end);
	at = mmap(0, 1, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0);
	EXPECT(at != MAP_FAILED);
	EXPECT_ERRNO(mprotect(at, 1, PROT_READ | PROT_WRITE), ENOMEM);
	EXPECT_EQ(limit_to(RLIMIT_DATA, RLIM_INFINITY), 0);
	EXPECT(mmap(at, 1, 3, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) == at);
	EXPECT_EQ(munmap(at, 1), 0);

	if ((pid = fork()) == 0) {
		if (limit_to(RLIMIT_STACK, 1 << 20) == 0)
			execve(test_argv[0], argv, envv);
		_exit(1);
	}
	EXPECT_EQ(test_wait_status(pid) >> 8, 3);
	EXPECT_ERRNO(limit_to(RLIMIT_FSIZE, 1), EPERM);
	EXPECT_EQ(limit_to(RLIMIT_CORE, 1), 0);
	EXPECT_EQ(
	    prlimit(0, RLIMIT_DATA, &(struct rlimit){ 5, RLIM_INFINITY }, &was),
	    0);
	EXPECT_EQ(was.rlim_cur, RLIM_INFINITY);
	EXPECT_EQ(limit_to(RLIMIT_DATA, RLIM_INFINITY), 0);
}

static volatile bool end;

static void *
return_argument(void *arg)
{
	return arg;
}

TEST(thr_join_of_any_thread)
{
	thread_t ids[4], departed;
	void *status;
	long sum = 0;

	for (long i = 0; i < 4; i++)
		REQUIRE(thr_create(NULL, 0, return_argument, (void *)(i + 1), 0,
			    &ids[i]) == 0);
	for (int i = 0; i < 4; i++) {
		REQUIRE(thr_join(0, &departed, &status) == 0);
		sum += (long)status;
		for (int j = 0; j < 4; j++) {
			if (pthread_equal(ids[j], departed))
				EXPECT_EQ((long)status, j + 1);
		}
	}
	EXPECT_EQ(sum, 1 + 2 + 3 + 4);
	EXPECT_EQ(thr_join(0, NULL, NULL), ESRCH);
}

static void *
wait_for_end(void *arg)
{
	while (!end)
		crowd_sleep_us(1000);
	return arg;
}

static void *
join_other(void *arg)
{
	long err = thr_join(*(thread_t *)arg, NULL, NULL);

	EXPECT(end);
	return (void *)err;
}

/* Two LWPs wait for a thread.  One gets it, and neither returns before. */
TEST(thr_join_keeps_a_thread_until_it_ends)
{
	thread_t runs;
	pthread_t joins[2];
	long sum = 0;

	end = false;
	REQUIRE(thr_create(NULL, 0, wait_for_end, NULL, 0, &runs) == 0);
	for (int i = 0; i < 2; i++)
		REQUIRE(
		    pthread_create(&joins[i], NULL, join_other, &runs) == 0);
	crowd_sleep_us(20000);
	end = true;
	for (int i = 0; i < 2; i++) {
		void *err;

		REQUIRE(pthread_join(joins[i], &err) == 0);
		sum += (long)err;
	}
	EXPECT_EQ(sum, ESRCH);
}

static mutex_t mutex = DEFAULTMUTEX;
static cond_t cond = DEFAULTCV;
static rwlock_t rwlock = DEFAULTRWLOCK;
static sema_t sema;
static int ready;

static void *
use_all(void *arg)
{
	mutex_lock(&mutex);
	ready++;
	cond_signal(&cond);
	mutex_unlock(&mutex);
	EXPECT_EQ(rw_trywrlock(&rwlock), EBUSY);
	sema_wait(&sema);
	return arg;
}

TEST(synch_objects)
{
	timestruc_t short_time = { 0, 1000000 }, with_carry = { 0, 999999999 };
	mutex_t recursive;
	thread_t id;

	ready = 0;
	EXPECT_EQ(sema_init(&sema, 0, USYNC_THREAD, NULL), 0);
	EXPECT_EQ(sema_trywait(&sema), EBUSY);
	EXPECT_EQ(rw_rdlock(&rwlock), 0);
	mutex_lock(&mutex);
	EXPECT_EQ(cond_reltimedwait(&cond, &mutex, &short_time), ETIME);
	EXPECT_EQ(cond_reltimedwait(&cond, &mutex, &with_carry), ETIME);
	REQUIRE(thr_create(NULL, 0, use_all, NULL, THR_BOUND, &id) == 0);
	while (ready == 0)
		EXPECT_EQ(cond_wait(&cond, &mutex), 0);
	mutex_unlock(&mutex);
	EXPECT_EQ(sema_post(&sema), 0);
	EXPECT_EQ(thr_join(id, NULL, NULL), 0);
	EXPECT_EQ(rw_unlock(&rwlock), 0);
	EXPECT_EQ(mutex_init(&recursive, LOCK_RECURSIVE, NULL), 0);
	EXPECT_EQ(mutex_lock(&recursive), 0);
	EXPECT_EQ(mutex_trylock(&recursive), 0);
	EXPECT_EQ(mutex_init(&recursive, 1000, NULL), EINVAL);
}

TEST(classes)
{
	pcinfo_t info = { .pc_clname = "FX" };
	pcparms_t parms;

	EXPECT(priocntl(P_PID, P_MYID, PC_GETCID, (void *)&info) > 0);
	memset(&parms, 0, sizeof parms);
	parms.pc_cid = info.pc_cid;
	EXPECT_EQ(priocntl(P_LWPID, P_MYID, PC_SETPARMS, (void *)&parms), 0);
	memset(&parms, 0, sizeof parms);
	EXPECT_EQ(priocntl(P_LWPID, P_MYID, PC_GETPARMS, (void *)&parms), 0);
	EXPECT_EQ(parms.pc_cid, info.pc_cid);
	strcpy(info.pc_clname, "");
	EXPECT(priocntl(P_PID, P_MYID, PC_GETCLINFO, (void *)&info) > 0);
	EXPECT(strcmp(info.pc_clname, "FX") == 0);
	strcpy(info.pc_clname, "TS");
	EXPECT(priocntl(P_PID, P_MYID, PC_GETCID, (void *)&info) > 0);
	parms.pc_cid = info.pc_cid;
	EXPECT_EQ(priocntl(P_PID, P_MYID, PC_SETPARMS, (void *)&parms), 0);
	strcpy(info.pc_clname, "RT");
	EXPECT_ERRNO(priocntl(P_PID, P_MYID, PC_GETCID, (void *)&info), EINVAL);
}
