/* perf_event_open(2) counts what libcpc counts, to the unit, by its PICs. */
#define _GNU_SOURCE /* syscall() */
#include "tests/lib/image/perf.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/cpc.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

TEST_KEEPS(512);

#define SHORT  1000
#define LONG   3000
#define WANT   (SPIN_INSNS * (LONG - SHORT))
#define FDS    64
#define EVENTS 50
#define HALF   40
#define LWPS   100

static uint64_t
perf_count(int fd)
{
	uint64_t count = 0;

	EXPECT_EQ(read(fd, &count, sizeof count), sizeof count);
	return count;
}

/* The count of n iterations, and of two calls. */
ONE_COPY static uint64_t
perf_spin(int fd, uint64_t n)
{
	for (int round = 0; round < 2; round++) {
		ioctl(fd, IOC_RESET, 1);
		ioctl(fd, IOC_ENABLE, 1);
		spin(n);
		ioctl(fd, IOC_DISABLE, 1);
	}
	return perf_count(fd);
}

static void
expect_same(cpc_t *cpc, uint32_t type, uint64_t config, const char *name)
{
	cpc_set_t *set = set_of(cpc, name);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t want;
	int fd;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	spin_sampled(cpc, set, buf, LONG);
	want = spin_sampled(cpc, set, buf, LONG) -
	       spin_sampled(cpc, set, buf, SHORT);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	cpc_set_destroy(cpc, set);
	EXPECT(want >= LONG - SHORT);
	fd = perf_open(attr_of(type, config, 0), -1);
	REQUIRE(fd >= 0);
	EXPECT_EQ(perf_spin(fd, LONG) - perf_spin(fd, SHORT), want);
	close(fd);
}

CPC_TEST(counts_are_those_of_libcpc)
{
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	cpc_reqinfo_t info;

	NEEDS_USER_INSTRUCTIONS();
	expect_same(cpc, HARDWARE, INSTRUCTIONS, INS_EVENT);
	if (can_bind(cpc, "PAPI_br_ins"))
		expect_same(cpc, HARDWARE, BRANCHES, "PAPI_br_ins");
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	if (!software_pmu)
		expect_same(cpc, RAW, general_code(info.ri_code), INS_EVENT);
}

/* nr, times, and a value and id of each event: of the whole group at once. */
CPC_TEST(a_group_counts_together)
{
	uint64_t format = ENABLED_TIME | RUNNING_TIME | WITH_ID | OF_GROUP;
	struct attr attr = attr_of(HARDWARE, INSTRUCTIONS, format);
	uint64_t v[9], id = 0;
	int fd[3];

	NEEDS_USER_INSTRUCTIONS();
	fd[0] = perf_open(attr, -1);
	attr.flags &= ~(uint64_t)DISABLED;
	fd[1] = perf_open(attr, fd[0]);
	attr.type = SOFTWARE;
	attr.config = TASK_CLOCK;
	fd[2] = perf_open(attr, fd[0]);
	REQUIRE(fd[0] >= 0 && fd[1] >= 0 && fd[2] >= 0);
	EXPECT_EQ(read(fd[0], v, sizeof v), sizeof v);
	EXPECT_EQ(v[0], 3);
	EXPECT(v[1] == 0 && v[2] == 0 && v[3] == 0 && v[5] == 0 && v[7] == 0);
	ioctl(fd[0], IOC_ENABLE, 0);
	spin(LONG);
	ioctl(fd[0], IOC_DISABLE, 0);
	EXPECT_EQ(read(fd[1], v, sizeof v), sizeof v);
	EXPECT(v[1] > 0 && v[1] == v[2] && v[1] == v[7]);
	EXPECT(v[3] > SPIN_INSNS * LONG && v[3] == v[5]);
	EXPECT_EQ(ioctl(fd[1], IOC_ID, &id), 0);
	EXPECT(id == v[6] && id != v[4]);
	EXPECT_ERRNO(read(fd[0], v, sizeof v - 1), ENOSPC);
	EXPECT_ERRNO(perf_open(attr, fd[1]), EINVAL);
	/* Without its leader each is a group. */
	close(fd[0]);
	EXPECT_EQ(read(fd[1], v, sizeof v), 5 * sizeof v[0]);
	EXPECT(v[0] == 1 && v[3] > SPIN_INSNS * LONG);
	close(fd[1]);
	close(fd[2]);
}

/* A member waits for its leader, with its time, too. */
CPC_TEST(a_member_waits_for_its_leader)
{
	struct attr attr =
	    attr_of(SOFTWARE, TASK_CLOCK, ENABLED_TIME | RUNNING_TIME);
	int leader = perf_open(attr, -1), fd;
	uint64_t v[3];

	attr.flags &= ~(uint64_t)DISABLED;
	fd = perf_open(attr, leader);
	spin(LONG);
	EXPECT_EQ(read(fd, v, sizeof v), sizeof v);
	EXPECT(v[0] == 0 && v[1] == 0 && v[2] == 0);
	ioctl(leader, IOC_ENABLE, 0);
	spin(LONG);
	EXPECT_EQ(read(fd, v, sizeof v), sizeof v);
	EXPECT(v[1] > 0 && v[1] == v[2]);
	close(leader);
	close(fd);
}

/* A child holds members that are closed here: their number has a limit. */
CPC_TEST(a_group_has_a_limit)
{
	struct attr attr = attr_of(SOFTWARE, DUMMY, OF_GROUP);
	int leader = perf_open(attr, -1), fd[FDS], n;
	pid_t child = 0;

	for (unsigned round = 0; round < 2; round++) {
		for (n = 0; n < HALF; n++)
			if ((fd[n] = perf_open(attr, leader)) < 0)
				break;
		EXPECT_EQ(n, round == 0 ? HALF : FDS - 1 - HALF);
		if (round == 0 && (child = fork()) == 0)
			pause();
		EXPECT_ERRNO(
		    syscall(BARECPC_SYS_CPC, CPC_OP_REVOKE, 0, 0, 0, 0),
		    EINVAL);
		while (n > 0)
			close(fd[--n]);
	}
	EXPECT_EQ(kill(child, SIGKILL), 0);
	test_wait_status(child);
	close(leader);
}

static void *
spin_as_lwp(void *n)
{
	spin(*(uint64_t *)n);
	return NULL;
}

/* The count with a thread and a process of n iterations each. */
static uint64_t
count_children(uint64_t flags, uint64_t n)
{
	struct attr attr = attr_of(HARDWARE, INSTRUCTIONS, 0);
	uint64_t v;
	pid_t child;
	int fd;

	attr.flags |= flags;
	fd = perf_open(attr, -1);
	EXPECT_EQ(ioctl(fd, IOC_ENABLE, 0), 0);
	as_another_lwp(spin_as_lwp, &n);
	if ((child = fork()) == 0) {
		spin(n);
		_exit(0);
	}
	EXPECT_EQ(test_wait_status(child), 0);
	ioctl(fd, IOC_DISABLE, 0);
	v = perf_count(fd);
	close(fd);
	return v;
}

CPC_TEST(children_are_counted_if_they_inherit)
{
	NEEDS_USER_INSTRUCTIONS();
	count_children(INHERIT, SHORT);
	EXPECT_EQ(
	    count_children(INHERIT, LONG) - count_children(INHERIT, SHORT),
	    2 * WANT);
	EXPECT_EQ(count_children(0, LONG) - count_children(0, SHORT), 0);
}

/* Events that find no PIC stand still, and the rest count right. */
CPC_TEST(nothing_is_multiplexed)
{
	struct attr attr =
	    attr_of(HARDWARE, INSTRUCTIONS, ENABLED_TIME | RUNNING_TIME);
	unsigned n = 0, run = 0, zero = 0;
	uint64_t v[3];
	int fd[FDS];

	NEEDS_USER_INSTRUCTIONS();
	attr.flags &= ~(uint64_t)DISABLED;
	while (n < cpc_npic(cpc) + 2 && (fd[n] = perf_open(attr, -1)) >= 0)
		n++;
	EXPECT_EQ(n, cpc_npic(cpc) + 2);
	spin(LONG);
	for (unsigned i = 0; i < n; i++) {
		EXPECT_EQ(read(fd[i], v, sizeof v), sizeof v);
		EXPECT(v[1] > 0 && (v[2] == 0) == (v[0] == 0));
		run += v[2] != 0 && v[0] > SPIN_INSNS * LONG;
		zero += v[2] == 0;
	}
	EXPECT(run > 0 && zero >= 2 && run + zero == n);
	while (n > 0)
		close(fd[--n]);
	/* A group that can never fit is refused. */
	attr.flags |= DISABLED | PINNED;
	for (n = 0; n < FDS - 4; n++) {
		fd[n] = perf_open(attr, n == 0 ? -1 : fd[0]);
		if (fd[n] < 0)
			break;
		attr.flags &= ~(uint64_t)PINNED;
	}
	EXPECT_ERRNO(fd[n], EINVAL);
	EXPECT_EQ(n, run);
	while (n > 0)
		close(fd[--n]);
}

/* Does the event run?  -1: it is pinned, and found no PIC. */
static int
runs(int fd)
{
	uint64_t before[3], v[3];

	if (read(fd, before, sizeof before) == 0)
		return -1;
	spin(LONG);
	EXPECT_EQ(read(fd, v, sizeof v), sizeof v);
	return v[0] - before[0] > SPIN_INSNS * LONG;
}

/* Pinned groups come first.  One that does not fit stops its own kind alone. */
CPC_TEST(pinned_and_exclusive_groups)
{
	static const struct {
		uint64_t flags;
		int runs;
	} rows[] = { { 0, 1 }, { EXCLUSIVE, 0 }, { 0, 0 }, { PINNED, 1 },
		{ PINNED | EXCLUSIVE, -1 }, { PINNED, 1 } };
	struct attr clock = attr_of(SOFTWARE, TASK_CLOCK, 0);
	int fd[sizeof rows / sizeof rows[0]], no_pic;

	NEEDS_USER_INSTRUCTIONS();
	clock.flags = EXCLUSIVE;
	no_pic = perf_open(clock, -1); /* excludes none */
	for (unsigned i = 0; i < sizeof fd / sizeof fd[0]; i++) {
		struct attr attr = attr_of(
		    HARDWARE, INSTRUCTIONS, ENABLED_TIME | RUNNING_TIME);

		attr.flags = (attr.flags & ~(uint64_t)DISABLED) | rows[i].flags;
		fd[i] = perf_open(attr, -1);
		EXPECT_EQ(runs(fd[i]), rows[i].runs);
	}
	EXPECT_EQ(runs(fd[0]), 1);
	close(fd[1]);
	EXPECT_EQ(runs(fd[2]), 1);
	for (unsigned i = 0; i < sizeof fd / sizeof fd[0]; i++)
		close(fd[i]);
	close(no_pic);
}

/* libcpc's sets and these events exclude each other. */
CPC_TEST(a_bound_set_excludes_events)
{
	struct attr attr = attr_of(HARDWARE, CYCLES, 0);
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int fd = perf_open(attr, -1);

	REQUIRE(fd >= 0);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, 0), EAGAIN);
	close(fd);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_ERRNO(perf_open(attr, -1), EBUSY);
}

/* A CPU ends at most ten turns in 1 ns, and what else ran took less. */
CPC_TEST(a_set_on_a_cpu_leaves_inherited_clocks)
{
	struct attr attr = attr_of(SOFTWARE, TASK_CLOCK, 0);
	uint64_t n = 10000000;
	int fd;

	attr.flags = INHERIT;
	fd = perf_open(attr, -1);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set_of(cpc, ANY_EVENT), 0), 0);
	as_another_lwp(spin_as_lwp, &n);
	EXPECT(perf_count(fd) > n / 10);
	close(fd);
}

/* PAPI and libpfm4 look for the file before they try. */
CPC_TEST(software_events)
{
	struct attr attr = attr_of(SOFTWARE, SWITCHES, 0);
	uint64_t n = 1;
	int fd[2];

	EXPECT_EQ(access("/proc/sys/kernel/perf_event_paranoid", R_OK), 0);
	attr.flags = 0;
	fd[0] = perf_open(attr, -1);
	attr.config = DUMMY;
	fd[1] = perf_open(attr, fd[0]);
	REQUIRE(fd[0] >= 0 && fd[1] >= 0);
	as_another_lwp(spin_as_lwp, &n);
	EXPECT(perf_count(fd[0]) > 0);
	EXPECT_EQ(perf_count(fd[1]), 0);
	close(fd[0]);
	close(fd[1]);
}

#define ATTR(member, value) offsetof(struct attr, member), value

/* One wrong member or argument, and the error that Linux returns. */
static const struct {
	size_t member;
	uint64_t value;
	int pid, cpu, group;
	unsigned long flags;
	int err;
} wrong[] = {
	{ ATTR(type, 99), 0, -1, -1, 0, ENOENT },
	{ ATTR(config, 10), 0, -1, -1, 0, EINVAL },
	{ ATTR(config, 1ULL << 32), 0, -1, -1, 0, EINVAL },
	{ ATTR(period, 1ULL << 63), 0, -1, -1, 0, EINVAL },
	{ ATTR(sample_type, 1ULL << 40), 0, -1, -1, 0, EINVAL },
	{ ATTR(read_format, 64), 0, -1, -1, 0, EINVAL },
	{ ATTR(flags, 3ULL << 15), 0, -1, -1, 0, EOPNOTSUPP },
	{ ATTR(flags, 1ULL << 10), 0, -1, -1, 0, EOPNOTSUPP },
	{ ATTR(flags, 1ULL << 63), 0, -1, -1, 0, EINVAL },
	{ ATTR(flags, 1ULL << 36), 0, -1, -1, 0, EINVAL },
	{ ATTR(more[7], 1ULL << 63), 0, -1, -1, 0, EINVAL },
	{ ATTR(flags, 0), 0, -1, -1, 16, EINVAL },
	{ ATTR(flags, 0), 0, -1, -1, 4, EINVAL },
	{ ATTR(flags, 0), 0, -1, 1, 0, EBADF },
	{ ATTR(flags, 0), 0, -1, FDS, 0, EBADF },
	{ ATTR(flags, 0), 0, 0, -1, 0, EINVAL },
	{ ATTR(flags, 0), -1, 0, -1, 0, EACCES },
	{ ATTR(flags, 0), -1, -1, -1, 0, EINVAL },
	{ ATTR(flags, 0), 1 << 30, -1, -1, 0, ESRCH },
};

CPC_TEST(errors_are_those_of_linux)
{
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct attr attr = attr_of(HARDWARE, CYCLES, 0);
		size_t bytes =
		    wrong[i].member == offsetof(struct attr, type) ? 4 : 8;

		if (wrong[i].value != 0)
			memcpy((char *)&attr + wrong[i].member, &wrong[i].value,
			    bytes);
		if (!EXPECT_ERRNO(
			syscall(SYS_perf_event_open, &attr, wrong[i].pid,
			    wrong[i].cpu, wrong[i].group, wrong[i].flags),
			wrong[i].err))
			test_note("row %u", i);
	}
}

/* A struct of another version: shorter, or longer with zeros. */
CPC_TEST(other_sizes_of_the_struct)
{
	static const struct {
		uint32_t size;
		uint8_t newer;
		int err;
	} rows[] = { { 0, 0, 0 }, { 64, 1, 0 }, { 136, 0, 0 },
		{ 136, 1, E2BIG }, { 63, 0, E2BIG }, { 4097, 0, E2BIG } };
	struct {
		struct attr attr;
		uint8_t newer[8];
	} a;

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int fd;

		a.attr = attr_of(HARDWARE, CYCLES, 0);
		a.attr.size = rows[i].size;
		memset(a.newer, rows[i].newer, sizeof a.newer);
		fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
		if (rows[i].err == 0) {
			EXPECT_EQ(close(fd), 0);
			continue;
		}
		EXPECT_ERRNO(fd, rows[i].err);
		EXPECT_EQ(a.attr.size, sizeof a.attr);
	}
}

/* The new program reads descriptor 9, and its own execve(2) enables nothing. */
static void __attribute__((constructor)) counted_after_exec(void)
{
	const char *turn = getenv("AFTER_EXEC");
	char *const env[] = { "AFTER_EXEC=2", NULL };
	uint64_t v[3];

	if (turn == NULL)
		return;
	if (read(9, v, sizeof v) != sizeof v || v[1] != v[2] ||
	    (v[0] > 0) != (*turn == '1'))
		_exit(*turn);
	ioctl(9, IOC_DISABLE, 0);
	ioctl(9, IOC_RESET, 0);
	if (*turn == '1')
		execve("/proc/self/exe", env, env);
	_exit(0);
}

CPC_TEST(events_begin_at_exec)
{
	struct attr attr =
	    attr_of(HARDWARE, INSTRUCTIONS, ENABLED_TIME | RUNNING_TIME);
	char *const env[] = { "AFTER_EXEC=1", NULL };
	pid_t child;

	NEEDS_USER_INSTRUCTIONS();
	attr.flags |= AT_EXEC;
	if ((child = fork()) == 0) {
		dup2(perf_open(attr, -1), 9);
		execve("/proc/self/exe", test_argv, env);
		_exit(9);
	}
	EXPECT_EQ(test_wait_status(child), 0);
}

static int ends[2]; /* of a pipe */

static void *
wait_for_end(void *arg)
{
	char c;

	EXPECT_EQ(read(ends[0], &c, 1), 0);
	return arg;
}

/* One call acts on all LWPs that inherited: kernel_limit= sees how long. */
CPC_TEST(many_lwps_inherit_many_events)
{
	struct attr attr = attr_of(HARDWARE, CYCLES, 0);
	static pthread_t lwp[LWPS];
	int fd[EVENTS], n;

	EXPECT_EQ(pipe(ends), 0);
	attr.flags = (attr.flags | INHERIT) & ~(uint64_t)DISABLED;
	for (n = 0; n < EVENTS; n++)
		fd[n] = perf_open(attr, -1);
	for (n = 0; n < LWPS; n++)
		REQUIRE(pthread_create(&lwp[n], NULL, wait_for_end, NULL) == 0);
	EXPECT_EQ(ioctl(fd[0], IOC_DISABLE, 0), 0);
	close(ends[1]);
	while (n > 0)
		pthread_join(lwp[--n], NULL);
	close(ends[0]);
	for (n = 0; n < EVENTS; n++)
		EXPECT_EQ(close(fd[n]), 0);
}
