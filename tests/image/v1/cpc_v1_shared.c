/* Version 1: a CPU's counters.  In quotes: cpc_shared_open(3CPC). */
#include "tests/lib/image/v1_test.h"

#include <string.h>
#include <sys/processor.h>
#include <unistd.h>

/* Pages of threads' stacks, which the C library keeps. */
TEST_KEEPS(32);

#define SHORT 1000
#define LONG  3000

/* Open the counters of a CPU, to which the LWP is then bound. */
static int
open_on(int cpu)
{
	go_to(cpu);
	int fd = cpc_shared_open();
	EXPECT(fd >= 0);
	return fd;
}

static void
close_all(int fd)
{
	cpc_shared_close(fd);
	go_to(PBIND_NONE);
}

static uint64_t
value_of(int fd)
{
	cpc_event_t now = { .ce_cpuver = 0 };

	EXPECT_EQ(cpc_shared_take_sample(fd, &now), 0);
	return now.ce_pic[0];
}

/* The CPU counts at least this LWP's loop, whatever else runs there. */
static void
expect_counting(int fd)
{
	uint64_t before = value_of(fd);

	spin(LONG);
	EXPECT(value_of(fd) - before >= SPIN_INSNS * LONG);
}

/*
 * CPC-V1-10: "The counters cannot be accessed on the current CPU because the
 * calling thread is not bound to that CPU using processor_bind(2)."
 */
V1_TEST(an_unbound_lwp_cannot_open)
{
	EXPECT_ERRNO(cpc_shared_open(), EINVAL);
}

/* CPC-V1-10: "Only one such open can be active at a time on any CPU." */
V1_TEST(a_cpu_is_opened_once)
{
	int fd = open_on(0);

	EXPECT_ERRNO(cpc_shared_open(), EAGAIN);
	cpc_shared_close(fd);
	fd = open_on(0);
	close_all(fd);
}

/* The two interfaces of a CPU exclude each other. */
CPC_TEST(a_set_of_the_cpu_excludes_an_open)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	NEEDS_V1();
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	EXPECT_ERRNO(cpc_shared_open(), EAGAIN);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	int fd = open_on(0);
	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, set, 0), EAGAIN);
	close_all(fd);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}

/*
 * CPC-V1-07, CPC-V1-11, CPC-V1-12: "will immediately invalidate all existing
 * performance counter context on the system", and no LWP can bind "until the
 * last caller invokes cpc_shared_close()."
 */
V1_TEST(an_open_invalidates_and_excludes_lwps)
{
	cpc_event_t event = v1_event(ANY_EVENT, ANY_EVENT), now;

	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	int fd = open_on(0);
	EXPECT_ERRNO(cpc_take_sample(&now), EAGAIN);
	EXPECT_ERRNO(cpc_bind_event(&event, 0), EAGAIN);
	EXPECT_ERRNO(cpc_count_usr_events(0), EAGAIN);
	v1_listen();
	EXPECT_ERRNO(cpc_access(), EAGAIN);
	EXPECT_EQ(v1_report.calls, 1);
	EXPECT(strcmp(v1_report.fn, "access") == 0);
	EXPECT(strcmp(v1_report.text, "Another process may be sampling "
				      "system-wide CPU statistics\n") == 0);
	close_all(fd);
	EXPECT_EQ(cpc_access(), 0);
	EXPECT_ERRNO(cpc_take_sample(&now), EAGAIN);
	EXPECT_EQ(cpc_rele(), 0);
	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT_EQ(cpc_rele(), 0);
}

/* The life of a descriptor; another event is bound with no release. */
V1_TEST(a_cpu_is_bound_sampled_and_released)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT), now;
	cpc_event_t other = v1_event(ANY_EVENT, INS_EVENT);
	int fd = open_on(0);

	EXPECT_ERRNO(cpc_shared_take_sample(fd, &now), EINVAL);
	EXPECT_ERRNO(
	    cpc_shared_bind_event(fd, &event, CPC_BIND_LWP_INHERIT), EINVAL);
	EXPECT_ERRNO(
	    cpc_shared_bind_event(fd, &event, CPC_BIND_EMT_OVF), EINVAL);
	EXPECT_EQ(cpc_shared_bind_event(fd, &event, 0), 0);
	expect_counting(fd);
	EXPECT_EQ(cpc_shared_take_sample(fd, &now), 0);
	EXPECT_EQ(now.ce_cpuver, event.ce_cpuver);
	EXPECT(memcmp(now.ce_pes, event.ce_pes, sizeof now.ce_pes) == 0);
	other.ce_pic[0] = 1ULL << 40;
	EXPECT_EQ(cpc_shared_bind_event(fd, &other, 0), 0);
	EXPECT_EQ(cpc_shared_take_sample(fd, &now), 0);
	EXPECT(now.ce_pic[0] >= 1ULL << 40);
	EXPECT(memcmp(now.ce_pes, other.ce_pes, sizeof now.ce_pes) == 0);
	EXPECT_EQ(cpc_shared_rele(fd), 0);
	EXPECT_ERRNO(cpc_shared_take_sample(fd, &now), EINVAL);
	EXPECT_EQ(cpc_shared_rele(fd), 0);
	EXPECT_EQ(cpc_shared_bind_event(fd, &event, 0), 0);
	expect_counting(fd);
	EXPECT_EQ(cpc_shared_bind_event(fd, NULL, 0), 0);
	EXPECT_ERRNO(cpc_shared_take_sample(fd, &now), EINVAL);
	close_all(fd);
}

/*
 * "the counters are not available because the thread has been unbound from
 * the processor it was bound to at open time."
 */
V1_TEST(an_lwp_that_left_the_cpu_gets_eagain)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT), now;
	int fd = open_on(0);

	EXPECT_EQ(cpc_shared_bind_event(fd, &event, 0), 0);
	go_to(PBIND_NONE);
	EXPECT_ERRNO(cpc_shared_take_sample(fd, &now), EAGAIN);
	EXPECT_ERRNO(cpc_shared_bind_event(fd, &event, 0), EAGAIN);
	EXPECT_ERRNO(cpc_shared_rele(fd), EAGAIN);
	go_to(0);
	expect_counting(fd);
	close_all(fd);
}

static void *
close_elsewhere(void *fd)
{
	go_to(last_cpu());
	cpc_shared_close((int)(intptr_t)fd);
	return NULL;
}

/* Another LWP closes it, on any CPU; this LWP stays where it is bound. */
V1_TEST(any_cpu_closes)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT);
	processorid_t bound = -1;
	int fd = open_on(0);

	EXPECT_EQ(cpc_shared_bind_event(fd, &event, 0), 0);
	as_another_lwp(close_elsewhere, (void *)(intptr_t)fd);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_QUERY, &bound), 0);
	EXPECT_EQ(bound, 0);
	EXPECT_EQ(cpc_access(), 0);
	fd = open_on(0);
	close_all(fd);
}

/* One LWP has several descriptors, and goes from CPU to CPU. */
V1_TEST(one_lwp_measures_every_cpu)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT);
	uint64_t before[2];
	int fd[2];

	NEEDS_TWO_CPUS();
	for (int i = 0; i < 2; i++) {
		fd[i] = open_on(i);
		EXPECT_EQ(cpc_shared_bind_event(fd[i], &event, 0), 0);
	}
	EXPECT(fd[0] != fd[1]);
	for (int i = 0; i < 2; i++) {
		go_to(i);
		before[i] = value_of(fd[i]);
		spin(LONG);
	}
	for (int i = 0; i < 2; i++) {
		go_to(i);
		EXPECT(value_of(fd[i]) - before[i] >= SPIN_INSNS * LONG);
	}
	cpc_shared_close(fd[0]); /* from CPU 1 */
	EXPECT_ERRNO(cpc_access(), EAGAIN);
	close_all(fd[1]);
	EXPECT_EQ(cpc_access(), 0);
}

/* The counters belong to the descriptor: the end of its opener ends nothing. */
static void *
open_and_end(void *fd)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT);

	*(int *)fd = open_on(0);
	EXPECT_EQ(cpc_shared_bind_event(*(int *)fd, &event, 0), 0);
	return NULL;
}

V1_TEST(the_openers_end_does_not_close)
{
	int fd = -1;

	as_another_lwp(open_and_end, &fd);
	go_to(0);
	expect_counting(fd);
	close_all(fd);
}

/* The end of the last process that has the descriptor releases the CPU. */
V1_TEST(the_process_end_closes)
{
	pid_t pid;

	REQUIRE((pid = fork()) >= 0);
	if (pid == 0) {
		go_to(0);
		_exit(cpc_shared_open() >= 0 ? 0 : 1);
	}
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_EQ(cpc_access(), 0);
}

/* Another descriptor is refused, and not closed. */
V1_TEST(other_descriptors_are_not_touched)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT), now;

	EXPECT_ERRNO(cpc_shared_take_sample(1, &now), EBADF);
	EXPECT_ERRNO(cpc_shared_bind_event(-1, &event, 0), EBADF);
	EXPECT_ERRNO(cpc_shared_rele(1000), EBADF);
	errno = 0;
	cpc_shared_close(1);
	cpc_shared_close(-1);
	EXPECT_EQ(errno, 0);
	EXPECT_EQ(write(1, "", 0), 0);
}
