/* A suggestion counts edits: letters changed, inserted, deleted, swapped. */
#include <string.h>

#include "events/nearer.h"
#include "tests/lib/host/test.h"

static unsigned
distance(const char *a, const char *b)
{
	assert_int_equal(
	    event_distance(a, strlen(a), b), event_distance(b, strlen(b), a));
	return event_distance(a, strlen(a), b);
}

TEST(each_edit_counts_one)
{
	assert_int_equal(distance("cycles", "cycles"), 0);
	assert_int_equal(distance("cycles", "CYCLES"), 0);
	assert_int_equal(distance("cycles", "cyclez"), 1);
	assert_int_equal(distance("cycles", "cycle"), 1);
	assert_int_equal(distance("cycles", "cylces"), 1);
	assert_int_equal(distance("cycles", "cycels"), 1);
	assert_int_equal(distance("ab", "ba"), 1);
	assert_int_equal(distance("", "abc"), 3);
	/* The letters of a swap are not edited again. */
	assert_int_equal(distance("ca", "abc"), 3);
	assert_int_equal(distance("abcd", "badc"), 2);
}

TEST(swapped_letters_are_near)
{
	unsigned best = ~0U;

	assert_false(events_is_nearer("cycels", "instructions", &best));
	assert_true(events_is_nearer("cycels", "cycles", &best));
	assert_int_equal(best, 1);
	assert_false(events_is_nearer("cycels", "cycle", &best));
}
