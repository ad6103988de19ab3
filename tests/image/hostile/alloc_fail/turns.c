/* Makes each call again and again, as another allocation fails each time. */
#include "tests/image/hostile/alloc_fail/turns.h"

#include <errno.h>
#include <payload.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/image/test.h"

#define MOST 400 /* allocations of a call, at most */

char turn_buffer[TURN_BUFFER] __attribute__((aligned(4096)));

static const char *const names[BT_N] = {
	[BT_FREE_PAGES] = "free pages",
	[BT_HEAP_BLOCKS] = "heap blocks",
	[BT_REGIONS] = "regions",
	[BT_MAPPED] = "bytes mapped",
	[BT_MAP_HASH] = "mappings",
	[BT_PAGES] = "pages of the process",
	[BT_BRK] = "brk",
	[BT_FILES] = "open files",
	[BT_CLOEXEC] = "FD_CLOEXEC",
	[BT_SIGNALS] = "queued signals",
	[BT_LWPS] = "LWPs",
	[BT_PROCESSES] = "processes",
	[BT_CONTEXTS] = "contexts",
	[BT_PICS] = "PICs",
	[BT_BOUND] = "bound LWPs",
};

static struct turn {
	const struct turn_call *call;
	uintptr_t first; /* the allocation that fails */
	bool all;        /* all after it fail, too */
} turn;

long
turn_raw(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
    uintptr_t e)
{
	long r = syscall(number, a, b, c, d, e, 0L);

	return r == -1 ? -errno : r;
}

uintptr_t
turn_new_place(void)
{
	static uintptr_t place = 1UL << 40;

	return place += 1UL << 30;
}

static struct barecpc_test_state
read_state(void)
{
	struct barecpc_test_state st;

	memset(&st, 0, sizeof st);
	EXPECT_EQ(syscall(BARECPC_SYS_TEST, BARECPC_TEST_STATE, &st), 0);
	return st;
}

/* EXPECT only what differs, because each turn compares 30 values. */
static void
expect_same(const struct barecpc_test_state *was, const char *when)
{
	struct barecpc_test_state is = read_state();

	for (int i = 0; i < BT_N; i++) {
		if (is.bt[i] == was->bt[i])
			continue;
		EXPECT(!"the same");
		test_note("%s, allocation %u%s, %s: %s: %#llx before, %#llx",
		    turn.call->tc_name, (unsigned)turn.first,
		    turn.all ? " and all after it" : "", when, names[i],
		    (unsigned long long)was->bt[i],
		    (unsigned long long)is.bt[i]);
	}
}

void
turn_arm(void)
{
	syscall(
	    BARECPC_SYS_TEST, BARECPC_TEST_FAIL, turn.first, (long)turn.all);
}

static uintptr_t
end_failing(void)
{
	return (uintptr_t)syscall(BARECPC_SYS_TEST, BARECPC_TEST_FAIL_END);
}

static long
make_call(void)
{
	const struct turn_call *c = turn.call;
	const uintptr_t *a = c->tc_args;

	if (c->tc_make != NULL)
		return c->tc_make();
	return turn_raw(c->tc_number, a[0], a[1], a[2], a[3], a[4]);
}

/* Make the prepared call.  Returns its result, and its allocations. */
static long
make_once(uintptr_t *made)
{
	struct barecpc_test_state before = read_state();

	turn_arm();
	long r = make_call();
	*made = end_failing();
	if (r < 0 && (int)-r != turn.call->tc_errno) {
		if (!EXPECT(
			*made >= turn.first && (r == -ENOMEM || r == -EAGAIN)))
			test_note("%s, allocation %u: %s", turn.call->tc_name,
			    (unsigned)turn.first, strerror((int)-r));
		if (!turn.call->tc_loses)
			expect_same(&before, "failed");
	}
	return r;
}

/* Take one turn in this process, which must be unchanged after tc_undo. */
static uintptr_t
turn_here(void)
{
	struct barecpc_test_state before = read_state();
	const struct turn_call *c = turn.call;
	uintptr_t made;

	if (c->tc_prepare != NULL)
		c->tc_prepare();
	long r = make_once(&made);
	if (c->tc_undo != NULL)
		c->tc_undo(r);
	expect_same(&before, "undone");
	return made;
}

static uintptr_t
turn_in_child(void)
{
	struct barecpc_test_state before = read_state();
	const struct turn_call *c = turn.call;
	uintptr_t made;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (c->tc_prepare != NULL)
			c->tc_prepare();
		make_once(&made);
		_exit(test_was_good() ? 0 : 2);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	if (!EXPECT(status == 0 || status == c->tc_exit << 8))
		test_note("%s, allocation %u%s: status %#x", c->tc_name,
		    (unsigned)turn.first, turn.all ? " and all after it" : "",
		    (unsigned)status);
	made = end_failing();
	expect_same(&before, "its process ended");
	return made;
}

static void
turns_of_call(const struct turn_call *c, bool all)
{
	uintptr_t made = 0;

	turn = (struct turn){ .call = c, .all = all };
	do {
		turn.first++;
		made = c->tc_child ? turn_in_child() : turn_here();
	} while (made >= turn.first && turn.first < MOST);
	if (!EXPECT(made < turn.first && made >= c->tc_least))
		test_note("%s: %u allocations", c->tc_name, (unsigned)made);
}

void
turns_of(const struct turn_call *calls)
{
	if (syscall(BARECPC_SYS_TEST, BARECPC_TEST_FAIL_END) == -1)
		SKIP("the kernel has no test hooks: boot with test_hooks=yes");
	for (; calls->tc_name != NULL; calls++) {
		turns_of_call(calls, false);
		turns_of_call(calls, true);
	}
}

bool
turn_listed(long number)
{
	static const struct turn_call *const lists[] = { turn_files,
		turn_machine, turn_memory, turn_processes, turn_signals,
		turn_counters, turn_old };

	for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
		for (const struct turn_call *c = lists[i]; c->tc_name; c++) {
			if (c->tc_number == number)
				return true;
		}
	}
	return false;
}
