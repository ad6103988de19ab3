/* Sets: creation, destruction, and handles that are no longer valid. */
#include "tests/lib/host/kcpc/host.h"

static void
fail_if_called(void *arg, int index, const char *event, uint64_t preset,
    uint_t flags, int nattrs, const cpc_attr_t *attrs)
{
	fail_msg("called for request %d", index);
}

/* CPC-SET-01 */
CPC_TEST(create_gives_distinct_empty_sets)
{
	cpc_set_t *a = cpc_set_create(cpc), *b = cpc_set_create(cpc);

	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
	cpc_walk_requests(cpc, a, NULL, fail_if_called);
}

/* CPC-SET-02 */
CPC_TEST(destroy_twice_is_einval)
{
	cpc_set_t *set = set_of("instructions");

	assert_int_equal(cpc_set_destroy(cpc, set), 0);
	assert_errno(cpc_set_destroy(cpc, set), EINVAL);
}

/* A new set may reuse the memory of a destroyed one, but is another set. */
CPC_TEST(stale_set_is_not_its_successor)
{
	cpc_set_t *old = set_of("instructions"), *new;

	cpc_set_destroy(cpc, old);
	new = set_of("instructions");
	assert_ptr_not_equal(old, new);
	assert_errno(cpc_set_destroy(cpc, old), EINVAL);
	assert_errno(cpc_bind_curlwp(cpc, old, 0), EINVAL);
	assert_null_errno(cpc_buf_create(cpc, old), EINVAL);
	bind_curlwp(new);
}

/* CPC-SET-03 */
CPC_TEST(destroy_of_a_foreign_set_is_einval)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of("instructions");

	assert_errno(cpc_set_destroy(other, set), EINVAL);
	cpc_close(other);
	bind_curlwp(set);
}

/* CPC-SET-04 */
CPC_TEST(destroy_of_a_bound_set_unbinds)
{
	cpc_set_t *set = set_of("instructions");

	bind_curlwp(set);
	assert_int_equal(cpc_set_destroy(cpc, set), 0);
	assert_int_equal(fake_pmu_running(), 0);
	assert_errno(cpc_disable(cpc), EINVAL);
}

/* CPC-SET-05 */
CPC_TEST(buffers_outlive_their_set)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_curlwp(set);
	fake_user(7);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	cpc_set_destroy(cpc, set);
	assert_int_equal(got(buf, 0), 7);
	assert_errno(cpc_set_sample(cpc, set, buf), EINVAL);
	assert_int_equal(cpc_buf_destroy(cpc, buf), 0);
}

/* Pointers that never were sets, and a pointer to a buffer. */
CPC_TEST(a_wild_pointer_is_einval)
{
	cpc_set_t *set = set_of("instructions");
	const uintptr_t wild[] = { 0, 1, 0xffffff, 0x1000000, UINTPTR_MAX,
		/* the last place of a table, and the one after it */
		0x1ffffbf, 0x1ffffc0, (uintptr_t)&state, (uintptr_t)set + 1,
		(uintptr_t)set - 1, (uintptr_t)set ^ 1ULL << 63,
		(uintptr_t)buf_of(set) };

	for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++)
		assert_errno(
		    cpc_set_destroy(cpc, (cpc_set_t *)wild[i]), EINVAL);
}

/* The table of sets grows by chunks; every handle stays valid. */
CPC_TEST(thousands_of_sets_keep_their_handles)
{
	static cpc_set_t *sets[3000];

	for (int i = 0; i < 3000; i++) {
		sets[i] = cpc_set_create(cpc);
		assert_non_null(sets[i]);
	}
	for (int i = 0; i < 3000; i += 2)
		assert_int_equal(cpc_set_destroy(cpc, sets[i]), 0);
	for (int i = 1; i < 3000; i += 2)
		assert_int_equal(add(sets[i], "cycles"), 0);
	for (int i = 0; i < 3000; i += 2)
		assert_errno(cpc_set_destroy(cpc, sets[i]), EINVAL);
}
