/* Queries of the machine's own backend: its shape, events and attributes. */
#include "tests/generic.h"
#include "tests/lib/image/cpc_test.h"

#include <string.h>

TEST_KEEPS(32);

/* More than any CPU's table has. */
#define NAMES 2048

/* The names that a walk passed to its callback. */
struct names {
	unsigned n;
	uint_t picno;
	const char *last;
	char name[NAMES][80];
};
static struct names all_names, pic_names;

static void
note_name(void *arg, const char *name)
{
	struct names *names = arg;

	if (EXPECT(names->n < NAMES))
		strncpy(names->name[names->n++], name, 79);
}

static bool
has_name(const struct names *names, const char *name)
{
	for (unsigned i = 0; i < names->n; i++) {
		if (strcmp(names->name[i], name) == 0)
			return true;
	}
	return false;
}

/* Add a name of one PIC to the union of all PICs. */
static void
note_name_of_pic(void *arg, uint_t picno, const char *name)
{
	struct names *names = arg;

	EXPECT_EQ(picno, names->picno);
	if (!has_name(names, name))
		note_name(names, name);
}

/* CPC-QRY-01, CPC-QRY-02, CPC-QRY-03 */
CPC_TEST(the_backend_has_a_shape_and_a_name)
{
	const char *name = cpc_cciname(cpc), *ref = cpc_cpuref(cpc);

	EXPECT(cpc_npic(cpc) >= 1);
	EXPECT_EQ(cpc_caps(cpc) & ~0x7U, 0);
	EXPECT(cpc_caps(cpc) != CPC_CAP_OVERFLOW_PRECISE);
	REQUIRE(name != NULL && ref != NULL);
	EXPECT(*name != '\0');
	EXPECT(cpc_cciname(cpc) == name && cpc_cpuref(cpc) == ref);
	test_note("%s: %u PICs; %s", name, cpc_npic(cpc), ref);
}

static void
expect_union(cpc_t *cpc, bool generic)
{
	unsigned i, j;

	memset(&all_names, 0, sizeof all_names);
	memset(&pic_names, 0, sizeof pic_names);
	if (generic)
		cpc_walk_generic_events_all(cpc, &all_names, note_name);
	else
		cpc_walk_events_all(cpc, &all_names, note_name);
	for (i = 0; i < cpc_npic(cpc); i++) {
		pic_names.picno = i;
		if (generic)
			cpc_walk_generic_events_pic(
			    cpc, i, &pic_names, note_name_of_pic);
		else
			cpc_walk_events_pic(
			    cpc, i, &pic_names, note_name_of_pic);
	}
	EXPECT_EQ(all_names.n, pic_names.n);
	for (i = 0; i < all_names.n; i++) {
		EXPECT(has_name(&pic_names, all_names.name[i]));
		EXPECT_EQ(strncmp(all_names.name[i], "PAPI", 4) == 0, generic);
		for (j = 0; j < i; j++)
			EXPECT(
			    strcmp(all_names.name[i], all_names.name[j]) != 0);
	}
}

/* CPC-QRY-04, CPC-QRY-05, CPC-QRY-06, CPC-QRY-08 */
CPC_TEST(platform_events_are_the_union_of_pics)
{
	expect_union(cpc, false);
	EXPECT(all_names.n > 0);
}

/* CPC-QRY-06, CPC-QRY-11, CPC-QRY-12 */
CPC_TEST(generic_events_are_the_union_of_pics)
{
	expect_union(cpc, true);
	EXPECT(has_name(&all_names, "PAPI_tot_cyc"));
	/* QEMU on arm64 counts instructions under -icount only. */
	EXPECT_EQ(has_name(&all_names, INS_EVENT), have_event(cpc, INS_EVENT));
}

/* CPC-QRY-07 */
CPC_TEST(walk_of_no_pic_is_einval)
{
	memset(&pic_names, 0, sizeof pic_names);
	errno = 0;
	cpc_walk_events_pic(cpc, cpc_npic(cpc), &pic_names, note_name_of_pic);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(pic_names.n, 0);
}

static void
expect_on_the_list(void *arg, const char *name)
{
	if (!EXPECT(is_generic(name + strlen("PAPI_"))))
		test_note("event: %s", name);
}

/* CPC-EVT-01 */
CPC_TEST(generic_names_are_on_the_closed_list)
{
	cpc_walk_generic_events_all(cpc, NULL, expect_on_the_list);
}

static void
note_last(void *arg, const char *name)
{
	struct names *names = arg;

	names->n += strcmp(name, "picnum") == 0;
	names->last = name;
}

/* CPC-QRY-10 */
CPC_TEST(picnum_is_the_last_attribute)
{
	struct names *names = &pic_names;

	memset(names, 0, sizeof *names);
	cpc_walk_attrs(cpc, names, note_last);
	EXPECT_EQ(names->n, 1);
	REQUIRE(names->last != NULL);
	EXPECT(strcmp(names->last, "picnum") == 0);
}

static void
bind_event(void *arg, const char *name)
{
	cpc_t *cpc = arg;
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT_EQ(
	    cpc_set_add_request(cpc, set, name, 0, CPC_COUNT_USER, 0, NULL), 0);
	if (!EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0))
		test_note("event: %s", name);
	EXPECT_EQ(cpc_set_destroy(cpc, set), 0);
}

/* CPC-QRY-09, CPC-QRY-13, CPC-QRY-14: each name is added and bound. */
CPC_TEST(every_name_can_be_counted)
{
	cpc_walk_events_all(cpc, cpc, bind_event);
	cpc_walk_generic_events_all(cpc, cpc, bind_event);
}
