/* The main program of every test that boots: runs the TESTs and prints TAP. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <inttypes.h>
#include <payload.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The values for a program without TEST_KEEPS() and TEST_TWICE(). */
unsigned __attribute__((weak)) test_keeps;
bool __attribute__((weak)) test_twice;

int test_argc;
char **test_argv;
volatile int test_nsignal, test_last_signal;

static struct test *tests, **tests_tail = &tests;
static unsigned ntest;

/* The results of the test that runs. */
static bool failed;
static unsigned checked; /* expectations that it evaluated */
static char skipped[128];
static char notes[32768]; /* printed after the verdict */
static size_t notes_len;

void
test_register(struct test *t)
{
	*tests_tail = t;
	tests_tail = &t->t_next;
	ntest++;
}

void
test_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skipped, sizeof skipped, fmt, ap);
	va_end(ap);
}

void
test_note(const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	size_t len = strlen(line) + sizeof "# \n" - 1;
	if (notes_len + len < sizeof notes)
		notes_len += (size_t)sprintf(notes + notes_len, "# %s\n", line);
}

bool
test_holds_once(bool (*claim)(void))
{
	for (unsigned try = 0; try < 10; try++)
		if (claim())
			return true;
	return false;
}

bool
test_was_good(void)
{
	if (failed)
		fputs(notes, stderr);
	return !failed;
}

void
test_note_signal(int sig)
{
	test_last_signal = sig;
	test_nsignal++;
}

int64_t
test_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

void
test_run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

void *
test_map(size_t bytes, int prot)
{
	void *p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int
test_wait_status(pid_t child)
{
	int status = -1;

	EXPECT_EQ(waitpid(child, &status, 0), child);
	return status;
}

int
test_exit_code(pid_t child)
{
	int status = test_wait_status(child);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

pid_t
test_vfork(int (*fn)(void *arg), void *arg)
{
	static char stack[4][16384] __attribute__((aligned(16)));
	static unsigned n; /* a child may make another */

	return clone(fn, stack[n++ % 4] + sizeof *stack,
	    CLONE_VM | CLONE_VFORK | SIGCHLD, arg);
}

bool
test_expect(bool holds, const char *file, int line, const char *text)
{
	checked++;
	if (!holds) {
		test_note("%s:%d: false: %s", file, line, text);
		failed = true;
	}
	return holds;
}

bool
test_expect_eq(int64_t got, int64_t want, const char *file, int line,
    const char *got_text, const char *want_text)
{
	checked++;
	if (got == want)
		return true;
	test_note("%s:%d: %s is %" PRId64 " (%#" PRIx64 "), not %s, %" PRId64
		  " (%#" PRIx64 ")",
	    file, line, got_text, got, (uint64_t)got, want_text, want,
	    (uint64_t)want);
	failed = true;
	return false;
}

bool
test_expect_errno(
    int64_t got, int want, const char *file, int line, const char *text)
{
	int e = errno;

	checked++;
	if (got < 0 && e == want)
		return true;
	test_note("%s:%d: %s is %" PRId64 " (%s), not -1 (%s)", file, line,
	    text, got, got < 0 ? strerror(e) : "success", strerror(want));
	failed = true;
	return false;
}

static bool
run_one(unsigned n, const char *name, void (*fn)(void))
{
	failed = false;
	checked = 0;
	skipped[0] = '\0';
	notes_len = 0;
	notes[0] = '\0';
	fn();
	if (checked == 0 && skipped[0] == '\0')
		test_expect(false, name, 0, "something was checked");
	printf("%s %u - %s", failed ? "not ok" : "ok", n, name);
	if (skipped[0] != '\0' && !failed)
		printf(" # SKIP %s", skipped);
	printf("\n%s", notes);
	fflush(stdout);
	return !failed;
}

uint64_t
test_free_pages(void)
{
	struct barecpc_stat st = { 0 };

	return payload_stat(&st) == 0 ? st.bs_free_pages : 0;
}

static struct barecpc_stat at_start;
static bool have_stat;

/* With test_hooks=yes page tables do not count, without them they do. */
static bool
read_stat(struct barecpc_stat *st)
{
	struct barecpc_test_state ts;

	if (payload_stat(st) != 0)
		return false;
	if (syscall(BARECPC_SYS_TEST, BARECPC_TEST_STATE, &ts) == 0)
		st->bs_free_pages = ts.bt[BT_FREE_PAGES];
	return true;
}

static void
nothing_leaked(void)
{
	struct barecpc_stat now;

	if (!have_stat) {
		test_skip("this is not barecpc");
		return;
	}
	if (!EXPECT(read_stat(&now)))
		return;
	EXPECT_EQ(now.bs_contexts, at_start.bs_contexts);
	EXPECT_EQ(now.bs_pics, at_start.bs_pics);
	EXPECT_EQ(now.bs_lwps, at_start.bs_lwps);
	/* More free pages are wrong: not the program's own was freed. */
	EXPECT(now.bs_free_pages <= at_start.bs_free_pages);
	if (!EXPECT(now.bs_free_pages + test_keeps >= at_start.bs_free_pages))
		test_note("%ld pages are missing",
		    (long)(at_start.bs_free_pages - now.bs_free_pages));
}

int
main(int argc, char **argv)
{
	static char buffer[4096];
	const char *name = argc > 0 ? argv[0] : "?";
	bool good = true;
	unsigned n = 0;

	test_argc = argc;
	test_argv = argv;
	/* stdio's own buffer would change the page count. */
	setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
	printf("TAP version 13\n# %s, at %s privilege\n1..%u\n", name,
	    payload_privilege() == PAYLOAD_SYSTEM ? "system" : "user",
	    ntest + 1);
	for (struct test *t = tests; t != NULL && test_twice; t = t->t_next)
		t->t_fn();
	have_stat = read_stat(&at_start);
	for (struct test *t = tests; t != NULL; t = t->t_next)
		good = run_one(++n, t->t_name, t->t_fn) && good;
	good = run_one(++n, "nothing_leaked", nothing_leaked) && good;
	return good ? 0 : 1;
}
