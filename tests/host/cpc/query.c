/* What a handle knows of its PMU: PICs, capabilities, names. */
#include "tests/lib/host/host.h"

#include <string.h>

#include "kern/cpc/kcpc.h"

/* Names as a walk gave them. */
struct names {
	unsigned n;
	const void *arg; /* where the walk was told to put them */
	uint_t picno;
	char name[64][40];
};

static void
note(void *arg, const char *name)
{
	struct names *names = arg;

	names->arg = arg;
	assert_true(names->n < 64);
	strncpy(names->name[names->n++], name, 39);
}

static void
note_pic(void *arg, uint_t picno, const char *name)
{
	struct names *names = arg;

	if (names->n > 0)
		assert_int_equal(picno, names->picno);
	names->picno = picno;
	note(arg, name);
}

static bool
has(const struct names *names, const char *name)
{
	unsigned i;

	for (i = 0; i < names->n; i++) {
		if (strcmp(names->name[i], name) == 0)
			return true;
	}
	return false;
}

static void
asymmetric(void)
{
	fake_shape.asymmetric = true;
	reboot();
}

/* CPC-QRY-01 */
static void
npic_is_constant(void **state)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);

	(void)state;
	assert_int_equal(cpc_npic(cpc), 4);
	assert_int_equal(cpc_npic(other), 4);
	cpc_close(other);
	assert_int_equal(cpc_npic(cpc), 4);
}

static void
post(struct lwp *l)
{
	(void)l;
}

/* CPC-QRY-02 */
static void
caps_are_the_backends_once_the_kernel_can_signal(void **state)
{
	cpc_t *other;

	(void)state;
	assert_int_equal(cpc_caps(cpc), 0);
	kcpc_set_notify(post);
	other = cpc_open(CPC_VER_CURRENT);
	assert_int_equal(cpc_caps(other),
	    CPC_CAP_OVERFLOW_INTERRUPT | CPC_CAP_OVERFLOW_PRECISE);
	cpc_close(other);
}

/* CPC-QRY-03 */
static void
cciname_and_cpuref_are_stable(void **state)
{
	const char *name = cpc_cciname(cpc), *ref = cpc_cpuref(cpc);

	(void)state;
	assert_string_equal(name, "Fake PMU");
	assert_string_equal(ref, "See tests/lib/host/fake_pcbe.h");
	assert_ptr_equal(cpc_cciname(cpc), name);
	assert_ptr_equal(cpc_cpuref(cpc), ref);
}

/* CPC-QRY-04 */
static void
walk_all_gives_each_name_once(void **state)
{
	struct names all = { 0 };
	unsigned i, j;

	(void)state;
	cpc_walk_events_all(cpc, &all, note);
	assert_int_equal(all.n, 3);
	for (i = 0; i < all.n; i++) {
		for (j = 0; j < i; j++)
			assert_string_not_equal(all.name[i], all.name[j]);
	}
}

/* Every name of `all` is on some PIC, and the reverse. */
static void
is_union(void (*walk_all)(cpc_t *, void *, void (*)(void *, const char *)),
    void (*walk_pic)(
	cpc_t *, uint_t, void *, void (*)(void *, uint_t, const char *)))
{
	struct names all = { 0 }, pics = { 0 };
	unsigned i;

	walk_all(cpc, &all, note);
	for (i = 0; i < cpc_npic(cpc); i++) {
		pics.picno = i;
		struct names one = { 0 };
		walk_pic(cpc, i, &one, note_pic);
		for (unsigned k = 0; k < one.n; k++)
			note(&pics, one.name[k]);
	}
	for (i = 0; i < all.n; i++)
		assert_true(has(&pics, all.name[i]));
	for (i = 0; i < pics.n; i++)
		assert_true(has(&all, pics.name[i]));
}

/* CPC-QRY-05 */
static void
walk_all_is_the_union_of_pics(void **state)
{
	(void)state;
	asymmetric();
	is_union(cpc_walk_events_all, cpc_walk_events_pic);
}

/* CPC-QRY-11 */
static void
generic_walk_all_is_the_union_of_pics(void **state)
{
	(void)state;
	asymmetric();
	is_union(cpc_walk_generic_events_all, cpc_walk_generic_events_pic);
}

/* CPC-QRY-06 */
static void
generic_names_are_kept_apart(void **state)
{
	struct names platform = { 0 }, generic = { 0 };
	unsigned i;

	(void)state;
	cpc_walk_events_all(cpc, &platform, note);
	cpc_walk_generic_events_all(cpc, &generic, note);
	for (i = 0; i < platform.n; i++)
		assert_int_not_equal(strncmp(platform.name[i], "PAPI", 4), 0);
	assert_true(generic.n > 0);
	for (i = 0; i < generic.n; i++)
		assert_int_equal(strncmp(generic.name[i], "PAPI_", 5), 0);
}

/* CPC-QRY-07 */
static void
walk_of_no_pic_is_einval(void **state)
{
	struct names names = { 0 };

	(void)state;
	errno = 0;
	cpc_walk_events_pic(cpc, cpc_npic(cpc), &names, note_pic);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	cpc_walk_generic_events_pic(cpc, cpc_npic(cpc), &names, note_pic);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(names.n, 0);
}

/* CPC-QRY-08: note_pic() compares; what a PIC cannot count is not there. */
static void
walk_pic_tells_the_pic(void **state)
{
	struct names names = { 0 };

	(void)state;
	asymmetric();
	cpc_walk_events_pic(cpc, 1, &names, note_pic);
	assert_int_equal(names.picno, 1);
	assert_int_equal(names.n, 2);
	assert_false(has(&names, "branches"));
}

/* CPC-QRY-09 */
static void
arg_reaches_every_action(void **state)
{
	struct names names;
	unsigned i;

	(void)state;
	for (i = 0; i < 5; i++) {
		memset(&names, 0, sizeof names);
		switch (i) {
		case 0:
			cpc_walk_events_all(cpc, &names, note);
			break;
		case 1:
			cpc_walk_events_pic(cpc, 0, &names, note_pic);
			break;
		case 2:
			cpc_walk_generic_events_all(cpc, &names, note);
			break;
		case 3:
			cpc_walk_generic_events_pic(cpc, 0, &names, note_pic);
			break;
		default:
			cpc_walk_attrs(cpc, &names, note);
		}
		assert_ptr_equal(names.arg, &names);
	}
}

/* CPC-QRY-10 */
static void
picnum_is_the_last_attribute(void **state)
{
	struct names names = { 0 };
	unsigned i, found = 0;

	(void)state;
	cpc_walk_attrs(cpc, &names, note);
	for (i = 0; i < names.n; i++)
		found += strcmp(names.name[i], "picnum") == 0;
	assert_int_equal(found, 1);
	assert_string_equal(names.name[names.n - 1], "picnum");
	assert_true(has(&names, "umask"));
}

/* CPC-QRY-12 on the fake; the image's tests ask real backends. */
static void
two_generic_events_are_always_there(void **state)
{
	struct names names = { 0 };

	(void)state;
	cpc_walk_generic_events_all(cpc, &names, note);
	assert_true(has(&names, "PAPI_tot_cyc"));
	assert_true(has(&names, "PAPI_tot_ins"));
}

static void
add_it(void *arg, const char *name)
{
	cpc_set_t *set = cpc_set_create(cpc);

	(void)arg;
	assert_non_null(set);
	assert_int_equal(
	    cpc_set_add_request(cpc, set, name, 0, CPC_COUNT_USER, 0, NULL), 0);
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
}

/* CPC-QRY-13, CPC-QRY-14 */
static void
every_name_can_be_added_from_the_callback(void **state)
{
	(void)state;
	cpc_walk_events_all(cpc, NULL, add_it);
	cpc_walk_generic_events_all(cpc, NULL, add_it);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(npic_is_constant),
		T(caps_are_the_backends_once_the_kernel_can_signal),
		T(cciname_and_cpuref_are_stable),
		T(walk_all_gives_each_name_once),
		T(walk_all_is_the_union_of_pics),
		T(generic_walk_all_is_the_union_of_pics),
		T(generic_names_are_kept_apart),
		T(walk_of_no_pic_is_einval),
		T(walk_pic_tells_the_pic),
		T(arg_reaches_every_action),
		T(picnum_is_the_last_attribute),
		T(two_generic_events_are_always_there),
		T(every_name_can_be_added_from_the_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
