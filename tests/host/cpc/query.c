/* Queries about the PMU: PICs, capabilities, names. */
#include "tests/lib/host/kcpc/host.h"

#include <string.h>

#include "kern/cpc/kcpc.h"

/* The names that a walk showed. */
struct names {
	unsigned n;
	const void *arg; /* the walk's argument */
	uint_t picno;
	char name[64][40];
};

static void
record_name(void *arg, const char *name)
{
	struct names *names = arg;

	names->arg = arg;
	assert_true(names->n < 64);
	strncpy(names->name[names->n++], name, 39);
}

static void
record_name_of_pic(void *arg, uint_t picno, const char *name)
{
	struct names *names = arg;

	if (names->n > 0)
		assert_int_equal(picno, names->picno);
	names->picno = picno;
	record_name(arg, name);
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

static void
reboot_asymmetric(void)
{
	fake_shape.asymmetric = true;
	reboot();
}

/* CPC-QRY-01 */
CPC_TEST(npic_is_constant)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);

	assert_int_equal(cpc_npic(cpc), 4);
	assert_int_equal(cpc_npic(other), 4);
	cpc_close(other);
	assert_int_equal(cpc_npic(cpc), 4);
}

static void
no_signal(struct lwp *l)
{
}

/* CPC-QRY-02 */
CPC_TEST(caps_are_the_backends_once_the_kernel_can_signal)
{
	assert_int_equal(cpc_caps(cpc), 0);
	kcpc_set_notify(no_signal);
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	assert_int_equal(cpc_caps(other),
	    CPC_CAP_OVERFLOW_INTERRUPT | CPC_CAP_OVERFLOW_PRECISE);
	cpc_close(other);
}

/* CPC-QRY-03 */
CPC_TEST(cciname_and_cpuref_are_stable)
{
	const char *name = cpc_cciname(cpc), *ref = cpc_cpuref(cpc);

	assert_string_equal(name, "Fake PMU");
	assert_string_equal(ref, "See tests/lib/host/kcpc/fake_pcbe.h");
	assert_ptr_equal(cpc_cciname(cpc), name);
	assert_ptr_equal(cpc_cpuref(cpc), ref);
}

/* CPC-QRY-04 */
CPC_TEST(walk_all_gives_each_name_once)
{
	struct names all = { 0 };
	unsigned i, j;

	cpc_walk_events_all(cpc, &all, record_name);
	assert_int_equal(all.n, 3);
	for (i = 0; i < all.n; i++) {
		for (j = 0; j < i; j++)
			assert_string_not_equal(all.name[i], all.name[j]);
	}
}

/* Every name of walk_all is on some PIC, and the other way round. */
static void
expect_union(void (*walk_all)(cpc_t *, void *, void (*)(void *, const char *)),
    void (*walk_pic)(
	cpc_t *, uint_t, void *, void (*)(void *, uint_t, const char *)))
{
	struct names all = { 0 }, pics = { 0 };

	walk_all(cpc, &all, record_name);
	for (unsigned i = 0; i < cpc_npic(cpc); i++) {
		pics.picno = i;
		struct names one = { 0 };
		walk_pic(cpc, i, &one, record_name_of_pic);
		for (unsigned k = 0; k < one.n; k++)
			record_name(&pics, one.name[k]);
	}
	for (unsigned i = 0; i < all.n; i++)
		assert_true(has_name(&pics, all.name[i]));
	for (unsigned i = 0; i < pics.n; i++)
		assert_true(has_name(&all, pics.name[i]));
}

/* CPC-QRY-05 */
CPC_TEST(walk_all_is_the_union_of_pics)
{
	reboot_asymmetric();
	expect_union(cpc_walk_events_all, cpc_walk_events_pic);
}

/* CPC-QRY-11 */
CPC_TEST(generic_walk_all_is_the_union_of_pics)
{
	reboot_asymmetric();
	expect_union(cpc_walk_generic_events_all, cpc_walk_generic_events_pic);
}

/* CPC-QRY-06 */
CPC_TEST(generic_names_have_their_own_walk)
{
	struct names platform = { 0 }, generic = { 0 };

	cpc_walk_events_all(cpc, &platform, record_name);
	cpc_walk_generic_events_all(cpc, &generic, record_name);
	for (unsigned i = 0; i < platform.n; i++)
		assert_int_not_equal(strncmp(platform.name[i], "PAPI", 4), 0);
	assert_true(generic.n > 0);
	for (unsigned i = 0; i < generic.n; i++)
		assert_int_equal(strncmp(generic.name[i], "PAPI_", 5), 0);
}

/* CPC-QRY-07 */
CPC_TEST(walk_of_no_pic_is_einval)
{
	struct names names = { 0 };

	errno = 0;
	cpc_walk_events_pic(cpc, cpc_npic(cpc), &names, record_name_of_pic);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	cpc_walk_generic_events_pic(
	    cpc, cpc_npic(cpc), &names, record_name_of_pic);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(names.n, 0);
}

/* CPC-QRY-08: record_name_of_pic() compares the PIC; others are omitted. */
CPC_TEST(walk_pic_passes_the_pic)
{
	struct names names = { 0 };

	reboot_asymmetric();
	cpc_walk_events_pic(cpc, 1, &names, record_name_of_pic);
	assert_int_equal(names.picno, 1);
	assert_int_equal(names.n, 2);
	assert_false(has_name(&names, "branches"));
}

/* CPC-QRY-09 */
CPC_TEST(arg_reaches_every_action)
{
	struct names names;
	unsigned i;

	for (i = 0; i < 5; i++) {
		memset(&names, 0, sizeof names);
		switch (i) {
		case 0:
			cpc_walk_events_all(cpc, &names, record_name);
			break;
		case 1:
			cpc_walk_events_pic(cpc, 0, &names, record_name_of_pic);
			break;
		case 2:
			cpc_walk_generic_events_all(cpc, &names, record_name);
			break;
		case 3:
			cpc_walk_generic_events_pic(
			    cpc, 0, &names, record_name_of_pic);
			break;
		default:
			cpc_walk_attrs(cpc, &names, record_name);
		}
		assert_ptr_equal(names.arg, &names);
	}
}

/* CPC-QRY-10 */
CPC_TEST(picnum_is_the_last_attribute)
{
	struct names names = { 0 };
	unsigned i, found = 0;

	cpc_walk_attrs(cpc, &names, record_name);
	for (i = 0; i < names.n; i++)
		found += strcmp(names.name[i], "picnum") == 0;
	assert_int_equal(found, 1);
	assert_string_equal(names.name[names.n - 1], "picnum");
	assert_true(has_name(&names, "umask"));
}

/* CPC-QRY-12 on the fake PMU; the image's tests check real backends. */
CPC_TEST(two_generic_events_always_exist)
{
	struct names names = { 0 };

	cpc_walk_generic_events_all(cpc, &names, record_name);
	assert_true(has_name(&names, "PAPI_tot_cyc"));
	assert_true(has_name(&names, "PAPI_tot_ins"));
}

static void
add_event(void *arg, const char *name)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_non_null(set);
	assert_int_equal(
	    cpc_set_add_request(cpc, set, name, 0, CPC_COUNT_USER, 0, NULL), 0);
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
}

/* CPC-QRY-13, CPC-QRY-14 */
CPC_TEST(every_name_can_be_added_from_the_callback)
{
	cpc_walk_events_all(cpc, NULL, add_event);
	cpc_walk_generic_events_all(cpc, NULL, add_event);
}
