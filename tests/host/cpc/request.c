/* Requests: what an add accepts, refuses and copies, and what a walk shows. */
#include "tests/lib/host/kcpc/host.h"

#include <string.h>

static char picnum[] = "picnum", umask_name[] = "umask";

/* Add a request with attributes; flags USER, preset 0. */
static int
add_attrs(cpc_set_t *set, const char *event, uint_t n, const cpc_attr_t *attrs)
{
	return cpc_set_add_request(
	    cpc, set, event, 0, CPC_COUNT_USER, n, attrs);
}

static int
add_name(cpc_set_t *set, const char *event)
{
	return add_attrs(set, event, 0, NULL);
}

#define assert_add_fails(call, code)                                           \
	assert_reported(call, EINVAL, "cpc_set_add_request", code)

/* CPC-REQ-01 */
CPC_TEST(indices_count_up_from_0)
{
	cpc_set_t *set = cpc_set_create(cpc);

	for (int i = 0; i < 20; i++)
		assert_int_equal(add(set, "cycles"), i);
}

/* The pack has 16 bits for the number of requests. */
CPC_TEST(more_requests_than_a_pack_has_are_refused)
{
	cpc_set_t *set = cpc_set_create(cpc);

	for (int i = 0; i < UINT16_MAX; i++)
		assert_int_equal(add(set, "cycles"), i);
	errno = 0;
	assert_int_equal(add_name(set, "cycles"), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
}

/* CPC-REQ-02 */
CPC_TEST(unknown_event_consumes_no_index)
{
	cpc_set_t *set = set_of("cycles");

	assert_add_fails(add_name(set, "no_such"), CPC_INVALID_EVENT);
	assert_int_equal(add(set, "cycles"), 1);
}

/* CPC-REQ-03 */
CPC_TEST(names_are_case_sensitive)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_add_fails(add_name(set, "papi_tot_cyc"), CPC_INVALID_EVENT);
	assert_add_fails(add_name(set, "Cycles"), CPC_INVALID_EVENT);
	assert_add_fails(add_name(set, "cycle"), CPC_INVALID_EVENT);
	assert_add_fails(add_name(set, "cyclesx"), CPC_INVALID_EVENT);
}

/* CPC-REQ-04 */
CPC_TEST(numbers_are_those_of_strtol)
{
	static const char *const good[] = { "0x3c", "60", "074", "-1",
		"0x7fffffffffffffff" };
	static const char *const bad[] = { "0x3cz", "", "0x", "6 0",
		"0x8000000000000000", "99999999999999999999" };
	cpc_set_t *set = cpc_set_create(cpc);

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_int_equal(add_name(set, good[i]), (int)i);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_add_fails(add_name(set, bad[i]), CPC_INVALID_EVENT);
}

/* A name of CPC_MAX_EVENT_LEN characters is unknown, and overruns nothing. */
CPC_TEST(overlong_name_is_unknown)
{
	char name[CPC_MAX_EVENT_LEN + 1];
	cpc_set_t *set = cpc_set_create(cpc);

	memset(name, '0', sizeof name);
	name[sizeof name - 1] = '\0';
	assert_add_fails(add_name(set, name), CPC_INVALID_EVENT);
	assert_add_fails(add_name(set, NULL), CPC_INVALID_EVENT);
}

/* CPC-REQ-05 */
CPC_TEST(unknown_attribute_is_refused)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char unknown[] = "umas", empty[] = "";
	cpc_attr_t attrs[] = { { umask_name, 1 }, { unknown, 1 } };

	assert_add_fails(
	    add_attrs(set, "cycles", 2, attrs), CPC_INVALID_ATTRIBUTE);
	attrs[1].ca_name = empty;
	assert_add_fails(
	    add_attrs(set, "cycles", 2, attrs), CPC_INVALID_ATTRIBUTE);
	attrs[1].ca_name = NULL;
	assert_add_fails(
	    add_attrs(set, "cycles", 2, attrs), CPC_INVALID_ATTRIBUTE);
}

/* CPC-REQ-06 */
CPC_TEST(picnum_beyond_the_pics_is_refused)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_attr_t attr = { picnum, 4 };

	assert_add_fails(
	    add_attrs(set, "cycles", 1, &attr), CPC_INVALID_PICNUM);
	attr.ca_val = UINT64_MAX;
	assert_add_fails(
	    add_attrs(set, "cycles", 1, &attr), CPC_INVALID_PICNUM);
}

/* CPC-REQ-07 */
CPC_TEST(picnum_must_list_a_named_event)
{
	cpc_attr_t attr = { picnum, 1 };

	fake_shape.asymmetric = true;
	reboot();
	cpc_set_t *set = cpc_set_create(cpc);
	assert_add_fails(
	    add_attrs(set, "branches", 1, &attr), CPC_PIC_NOT_CAPABLE);
	assert_int_equal(add_attrs(set, "0x3c", 1, &attr), 0);
}

/* CPC-REQ-08 */
CPC_TEST(unknown_flag_is_refused)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_add_fails(
	    cpc_set_add_request(cpc, set, "cycles", 0, 0x20, 0, NULL),
	    CPC_REQ_INVALID_FLAGS);
	assert_int_equal(
	    cpc_set_add_request(cpc, set, "cycles", 0, 0x1f, 0, NULL), 0);
}

/* CPC-REQ-09 */
CPC_TEST(no_privilege_counts_nothing)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_int_equal(
	    cpc_set_add_request(cpc, set, "cycles", 5, 0, 0, NULL), 0);
	bind_curlwp(set);
	fake_user(100);
	fake_system(100);
	assert_int_equal(sampled(set, 0), 5);
}

/* CPC-REQ-10 */
CPC_TEST(attrs_null_or_too_many_is_silent)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_attr_t attrs[51];

	assert_silent(add_attrs(set, "cycles", 1, NULL), EINVAL);
	for (int i = 0; i < 51; i++)
		attrs[i] = (cpc_attr_t){ umask_name, 1 };
	assert_silent(add_attrs(set, "cycles", 51, attrs), EINVAL);
	assert_int_equal(add_attrs(set, "cycles", 50, attrs), 0);
}

/* The checks have an order: the first mistake hides the later ones. */
CPC_TEST(checks_come_in_order)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char unknown[] = "unknown";
	cpc_attr_t attrs[] = { { picnum, 99 }, { unknown, 0 } };

	assert_add_fails(
	    cpc_set_add_request(cpc, set, "no_such", 0, 0x20, 2, attrs),
	    CPC_INVALID_EVENT);
	assert_add_fails(
	    cpc_set_add_request(cpc, set, "cycles", 0, 0x20, 1, NULL),
	    CPC_REQ_INVALID_FLAGS);
	assert_add_fails(
	    add_attrs(set, "cycles", 2, attrs), CPC_INVALID_ATTRIBUTE);
	assert_add_fails(
	    add_attrs(set, "cycles", 1, attrs), CPC_INVALID_PICNUM);
}

/* Requests as a walk showed them. */
struct seen {
	int n;
	struct {
		int index;
		char event[32];
		uint64_t preset;
		uint_t flags;
		int nattrs;
		bool attrs_null;
		char name[4][16];
		uint64_t val[4];
	} r[8];
};

static void
record_request(void *arg, int index, const char *event, uint64_t preset,
    uint_t flags, int nattrs, const cpc_attr_t *attrs)
{
	struct seen *seen = arg;

	seen->r[seen->n].index = index;
	strncpy(seen->r[seen->n].event, event, 31);
	seen->r[seen->n].preset = preset;
	seen->r[seen->n].flags = flags;
	seen->r[seen->n].nattrs = nattrs;
	seen->r[seen->n].attrs_null = attrs == NULL;
	for (int i = 0; i < nattrs; i++) {
		strncpy(seen->r[seen->n].name[i], attrs[i].ca_name, 15);
		seen->r[seen->n].val[i] = attrs[i].ca_val;
	}
	seen->n++;
}

static struct seen
walk_set(cpc_set_t *set)
{
	struct seen seen = { 0 };

	cpc_walk_requests(cpc, set, &seen, record_request);
	return seen;
}

/* CPC-REQ-11 */
CPC_TEST(everything_is_copied)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char event[] = "cycles", name[] = "umask";
	cpc_attr_t attr = { name, 7 };

	assert_int_equal(add_attrs(set, event, 1, &attr), 0);
	memset(event, 'x', strlen(event));
	memset(name, 'x', strlen(name));
	attr.ca_val = 8;
	struct seen seen = walk_set(set);
	assert_string_equal(seen.r[0].event, "cycles");
	assert_string_equal(seen.r[0].name[0], "umask");
	assert_int_equal(seen.r[0].val[0], 7);
}

/* CPC-REQ-12 */
CPC_TEST(the_last_of_equal_attributes_counts)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_attr_t attrs[] = { { picnum, 9 }, { umask_name, 1 }, { picnum, 2 },
		{ umask_name, 3 } };

	assert_int_equal(add_attrs(set, "cycles", 4, attrs), 0);
	struct seen seen = walk_set(set);
	assert_int_equal(seen.r[0].nattrs, 2);
	assert_int_equal(seen.r[0].val[0], 2);
	assert_int_equal(seen.r[0].val[1], 3);
	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 1 << 2);
}

/* CPC-REQ-13 */
CPC_TEST(a_bound_set_takes_no_request)
{
	cpc_set_t *set = set_of("cycles");

	bind_curlwp(set);
	assert_silent(add_name(set, "cycles"), EINVAL);
	assert_int_equal(cpc_unbind(cpc, set), 0);
	assert_int_equal(add_name(set, "cycles"), 1);
}

/* CPC-REQ-14 */
CPC_TEST(a_set_bound_on_another_lwp_takes_none)
{
	cpc_set_t *set = set_of("cycles");

	fake_switch(0, 2);
	bind_curlwp(set);
	fake_switch(0, 1);
	assert_silent(add_name(set, "cycles"), EINVAL);
	fake_exit(0, 2);
	assert_int_equal(add_name(set, "cycles"), 1);
}

/* CPC-REQ-15 */
CPC_TEST(more_requests_than_pics_fail_only_at_bind)
{
	cpc_set_t *set = cpc_set_create(cpc);

	for (int i = 0; i < 200; i++)
		assert_int_equal(add(set, "cycles"), i);
	assert_silent(cpc_bind_curlwp(cpc, set, 0), EINVAL);
}

/* CPC-REQ-16, CPC-PCBE-05 */
CPC_TEST(attribute_values_are_checked_at_bind)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_attr_t attr = { umask_name, 0x100 };

	assert_int_equal(add_attrs(set, "cycles", 1, &attr), 0);
	assert_reported(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
}

/* CPC-WALK-01 */
CPC_TEST(walk_shows_the_newest_first)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(set, "cycles", 1);
	add_preset(set, "instructions", 2);
	add_flags(set, "branches", CPC_COUNT_SYSTEM);
	struct seen seen = walk_set(set);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.r[0].index, 2);
	assert_int_equal(seen.r[0].flags, CPC_COUNT_SYSTEM);
	assert_int_equal(seen.r[1].index, 1);
	assert_int_equal(seen.r[1].preset, 2);
	assert_int_equal(seen.r[2].index, 0);
	assert_string_equal(seen.r[2].event, "cycles");
	assert_int_equal(seen.r[2].preset, 1);
}

/* CPC-WALK-02 */
CPC_TEST(walk_shows_attributes)
{
	cpc_set_t *set = set_of("cycles");
	cpc_attr_t attrs[] = { { umask_name, 1 }, { picnum, 3 } };

	assert_int_equal(add_attrs(set, "cycles", 2, attrs), 1);
	struct seen seen = walk_set(set);
	assert_int_equal(seen.r[0].nattrs, 2);
	assert_string_equal(seen.r[0].name[1], "picnum");
	assert_int_equal(seen.r[0].val[1], 3);
	assert_int_equal(seen.r[1].nattrs, 0);
	assert_true(seen.r[1].attrs_null);
}

/* CPC-WALK-03 */
CPC_TEST(walk_shows_library_presets)
{
	cpc_set_t *set = set_of("cycles");

	bind_curlwp(set);
	assert_int_equal(cpc_request_preset(cpc, 0, 77), 0);
	assert_int_equal(walk_set(set).r[0].preset, 0);
	assert_int_equal(cpc_set_request_preset(cpc, set, 0, 88), 0);
	assert_int_equal(walk_set(set).r[0].preset, 88);
}

/* CPC-WALK-04 */
CPC_TEST(walk_works_on_a_bound_set)
{
	cpc_set_t *set = set_of("cycles");

	bind_curlwp(set);
	assert_int_equal(walk_set(set).n, 1);
}

static void
destroy_walked_set(void *arg, int index, const char *event, uint64_t preset,
    uint_t flags, int nattrs, const cpc_attr_t *attrs)
{
	if (index == 2)
		assert_int_equal(cpc_set_destroy(cpc, arg), 0);
	assert_string_equal(event, "cycles");
}

/* include/libcpc.h: action may call any function except cpc_close(). */
CPC_TEST(walk_survives_a_callback_that_destroys)
{
	cpc_set_t *set = set_of("cycles");

	add(set, "cycles");
	add(set, "cycles");
	cpc_walk_requests(cpc, set, set, destroy_walked_set);
}

CPC_TEST(walk_of_a_bad_set_is_einval)
{
	struct seen seen = { 0 };

	errno = 0;
	cpc_walk_requests(cpc, NULL, &seen, record_request);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(seen.n, 0);
}
