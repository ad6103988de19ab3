/*
 * Each allocation of a call fails in turn.  The call returns ENOMEM without a
 * report, changes nothing and leaks nothing; the leak sanitizer checks the
 * last.  Ground rule 5; Parts 4.1 to 4.4.
 */
#include "tests/lib/host/kcpc/host.h"

static unsigned maps;     /* calls of mmap(2) */
static unsigned fail_nth; /* the nth allocation from now on; 0: none */

void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_mmap(
    void *at, size_t bytes, int prot, int flags, int fd, off_t from);
void *__wrap_mmap(
    void *at, size_t bytes, int prot, int flags, int fd, off_t from);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);

static bool
is_out_of_memory(void)
{
	if (fail_nth == 0 || --fail_nth > 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *
__wrap_calloc(size_t n, size_t bytes)
{
	return is_out_of_memory() ? NULL : __real_calloc(n, bytes);
}

void *
__wrap_realloc(void *p, size_t bytes)
{
	return is_out_of_memory() ? NULL : __real_realloc(p, bytes);
}

void *
__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t from)
{
	maps++;
	return __real_mmap(at, bytes, prot, flags, fd, from);
}

/* Let the call's allocations fail in turn: there are at least `least`. */
static void
until_it_succeeds(bool (*call)(void), unsigned least)
{
	unsigned n = 0;
	bool done;

	detail_listen(cpc);
	do {
		fail_nth = ++n;
		errno = 0;
		done = call();
		if (!done)
			assert_int_equal(errno, ENOMEM);
	} while (!done);
	assert_int_not_equal(fail_nth, 0); /* the call made fewer allocations */
	fail_nth = 0;
	assert_true(n > least);
	assert_int_equal(detail.calls, 0);
}

static cpc_t *second;
static cpc_set_t *set;
static cpc_buf_t *buf;

static bool
open_second(void)
{
	return (second = cpc_open(CPC_VER_CURRENT)) != NULL;
}

static bool
create_set(void)
{
	return (set = cpc_set_create(cpc)) != NULL;
}

static bool
create_buf(void)
{
	return (buf = cpc_buf_create(cpc, set)) != NULL;
}

CPC_TEST(handles_sets_and_buffers)
{
	until_it_succeeds(open_second, 1);
	cpc_close(second);
	until_it_succeeds(create_set, 3);
	add(set, "instructions");
	until_it_succeeds(create_buf, 2);
	bind_curlwp(set);
	fake_user(4);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(got(buf, 0), 4);
}

/* A page has some 40 buffers, which calls that fail do not use up. */
CPC_TEST(failed_buffers_are_used_again)
{
	unsigned before;

	assert_true(create_set());
	assert_true(create_buf());
	before = maps;
	for (int i = 0; i < 100; i++) {
		fail_nth = 1;
		assert_false(create_buf());
		assert_int_equal(errno, ENOMEM);
	}
	fail_nth = 0;
	assert_true(before > 0);
	assert_int_equal(maps, before);
}

static void
count_request(void *n, int index, const char *event, uint64_t preset,
    uint_t flags, int nattrs, const cpc_attr_t *attrs)
{
	++*(int *)n;
}

static int added;

/* A request that was not added takes no index and is not bound. */
static bool
add_to_set(void)
{
	char name[] = "umask";
	cpc_attr_t attrs[] = { { name, 1 } };
	int n = 0, index = cpc_set_add_request(
		       cpc, set, "cycles", 0, CPC_COUNT_USER, 1, attrs);
	unsigned left = fail_nth;

	fail_nth = 0;
	added += index >= 0;
	assert_int_equal(index, index >= 0 ? added - 1 : -1);
	cpc_walk_requests(cpc, set, &n, count_request);
	assert_int_equal(n, added);
	if (added > 0)
		assert_int_equal(cpc_bind_curlwp(cpc, set, 0), 0);
	if (added > 0)
		assert_int_equal(cpc_unbind(cpc, set), 0);
	errno = index >= 0 ? 0 : ENOMEM;
	fail_nth = left;
	return index >= 0;
}

/* The pack of requests grows between these. */
CPC_TEST(requests)
{
	assert_true(create_set());
	for (added = 0; added < 4;)
		until_it_succeeds(add_to_set, 1);
}

static int names;

static void
count_name(void *arg, const char *name)
{
	names++;
}

static void
count_name_of_pic(void *arg, uint_t pic, const char *name)
{
	count_name(arg, name);
}

/* A walk allocates nothing, because it makes the names one by one. */
CPC_TEST(walks)
{
	fail_nth = 1;
	errno = 0;
	cpc_walk_events_all(cpc, NULL, count_name);
	assert_int_equal(names, 3);
	cpc_walk_generic_events_all(cpc, NULL, count_name);
	assert_int_equal(names, 5);
	cpc_walk_events_pic(cpc, 0, NULL, count_name_of_pic);
	assert_int_equal(names, 8);
	assert_int_equal(fail_nth, 1);
	assert_int_equal(errno, 0);
	fail_nth = 0;
}
