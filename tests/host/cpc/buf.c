/* Buffers: values, arithmetic, clocks. */
#include "cpc/cpci.h"
#include "tests/lib/host/kcpc/host.h"

/* Set the clocks of a buffer with two values; programs cannot set them. */
static void
set_clocks(cpc_buf_t *buf, hrtime_t hrtime, uint64_t tick)
{
	struct cpci_buf *cb = cpci_buf(cpc, buf);

	cb->cb_sample->cs_hrtime = hrtime;
	cb->cb_sample->cs_tick = tick;
}

static cpc_buf_t *
buf_with(
    cpc_set_t *set, uint64_t v0, uint64_t v1, hrtime_t hrtime, uint64_t tick)
{
	cpc_buf_t *buf = buf_of(set);

	assert_int_equal(cpc_buf_set(cpc, buf, 0, v0), 0);
	assert_int_equal(cpc_buf_set(cpc, buf, 1, v1), 0);
	set_clocks(buf, hrtime, tick);
	return buf;
}

static cpc_set_t *
set_of_two(void)
{
	cpc_set_t *set = set_of("instructions");

	add(set, "cycles");
	return set;
}

static void
expect_buf(
    cpc_buf_t *buf, uint64_t v0, uint64_t v1, hrtime_t hrtime, uint64_t tick)
{
	assert_true(got(buf, 0) == v0);
	assert_true(got(buf, 1) == v1);
	assert_true(cpc_buf_hrtime(cpc, buf) == hrtime);
	assert_true(cpc_buf_tick(cpc, buf) == tick);
}

/* CPC-BUF-01 */
CPC_TEST(new_buffer_is_zero)
{
	expect_buf(buf_of(set_of_two()), 0, 0, 0, 0);
}

/* CPC-BUF-02 */
CPC_TEST(buffer_of_a_foreign_set_is_einval)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of("cycles");

	assert_null_errno(cpc_buf_create(other, set), EINVAL);
	cpc_close(other);
}

/* include/libcpc.h: a buffer is for the requests of now, so for none, too. */
CPC_TEST(buffer_of_an_empty_set_is_legal)
{
	cpc_buf_t *buf = buf_of(cpc_set_create(cpc));
	uint64_t value;

	assert_errno(cpc_buf_get(cpc, buf, 0, &value), EINVAL);
	assert_int_equal(cpc_buf_destroy(cpc, buf), 0);
}

/* CPC-BUF-03 */
CPC_TEST(set_and_get_round_trip)
{
	const uint64_t values[] = { 0, 1, UINT64_MAX };
	cpc_buf_t *buf = buf_of(set_of_two());

	for (int i = 0; i < 3; i++) {
		assert_int_equal(cpc_buf_set(cpc, buf, 1, values[i]), 0);
		assert_true(got(buf, 1) == values[i]);
		assert_int_equal(got(buf, 0), 0);
	}
}

/* CPC-BUF-04 */
CPC_TEST(index_out_of_range_is_einval)
{
	cpc_buf_t *buf = buf_of(set_of_two());
	uint64_t value = 42;

	assert_errno(cpc_buf_get(cpc, buf, -1, &value), EINVAL);
	assert_errno(cpc_buf_get(cpc, buf, 2, &value), EINVAL);
	assert_errno(cpc_buf_set(cpc, buf, -1, 0), EINVAL);
	assert_errno(cpc_buf_set(cpc, buf, 2, 0), EINVAL);
	assert_errno(cpc_buf_get(cpc, buf, 0, NULL), EINVAL);
	assert_int_equal(value, 42);
}

/* CPC-BUF-05 */
CPC_TEST(set_takes_a_literal)
{
	assert_int_equal(cpc_buf_set(cpc, buf_of(set_of_two()), 0, 7), 0);
}

/* CPC-BUF-06 */
CPC_TEST(set_does_not_reach_the_counter)
{
	cpc_set_t *set = set_of("instructions");
	cpc_buf_t *buf = buf_of(set);

	bind_curlwp(set);
	fake_user(10);
	assert_int_equal(cpc_buf_set(cpc, buf, 0, 1000000), 0);
	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	assert_int_equal(got(buf, 0), 10);
}

/* CPC-BUF-07 */
CPC_TEST(sub_wraps)
{
	cpc_set_t *set = set_of_two();
	cpc_buf_t *ds = buf_of(set);

	cpc_buf_sub(
	    cpc, ds, buf_with(set, 0, 5, 1, 10), buf_with(set, 1, 3, 1, 4));
	expect_buf(ds, UINT64_MAX, 2, 1, 6);
	cpc_buf_sub(
	    cpc, ds, buf_with(set, 0, 0, 1, 4), buf_with(set, 0, 0, 1, 5));
	expect_buf(ds, 0, 0, 1, UINT64_MAX);
}

/* CPC-BUF-08 */
CPC_TEST(add_sums)
{
	cpc_set_t *set = set_of_two();
	cpc_buf_t *ds = buf_of(set);

	cpc_buf_add(cpc, ds, buf_with(set, UINT64_MAX, 5, 1, 10),
	    buf_with(set, 2, 3, 1, 4));
	expect_buf(ds, 1, 8, 1, 14);
}

/* CPC-BUF-09 */
CPC_TEST(hrtime_becomes_the_later)
{
	cpc_set_t *set = set_of_two();
	cpc_buf_t *ds = buf_of(set), *early = buf_with(set, 0, 0, 3, 0),
		  *late = buf_with(set, 0, 0, 8, 0);

	cpc_buf_sub(cpc, ds, early, late);
	assert_int_equal(cpc_buf_hrtime(cpc, ds), 8);
	cpc_buf_zero(cpc, ds);
	cpc_buf_sub(cpc, ds, late, early);
	assert_int_equal(cpc_buf_hrtime(cpc, ds), 8);
	cpc_buf_zero(cpc, ds);
	cpc_buf_add(cpc, ds, early, late);
	assert_int_equal(cpc_buf_hrtime(cpc, ds), 8);
	cpc_buf_zero(cpc, ds);
	cpc_buf_add(cpc, ds, late, early);
	assert_int_equal(cpc_buf_hrtime(cpc, ds), 8);
}

/* CPC-BUF-10 */
CPC_TEST(operands_may_alias)
{
	cpc_set_t *set = set_of_two();
	cpc_buf_t *a = buf_with(set, 5, 6, 1, 7),
		  *b = buf_with(set, 1, 2, 2, 3);

	cpc_buf_sub(cpc, a, a, b);
	expect_buf(a, 4, 4, 2, 4);
	cpc_buf_add(cpc, b, a, b);
	expect_buf(b, 5, 6, 2, 7);
	cpc_buf_add(cpc, b, b, b);
	expect_buf(b, 10, 12, 2, 14);
	cpc_buf_sub(cpc, b, b, b);
	expect_buf(b, 0, 0, 2, 0);
}

/* CPC-BUF-11 */
CPC_TEST(copy_takes_everything)
{
	cpc_set_t *set = set_of_two();
	cpc_buf_t *src = buf_with(set, 1, 2, 3, 4), *ds = buf_of(set);

	cpc_buf_copy(cpc, ds, src);
	expect_buf(ds, 1, 2, 3, 4);
	cpc_buf_copy(cpc, ds, ds);
	expect_buf(ds, 1, 2, 3, 4);
}

/* CPC-BUF-12 */
CPC_TEST(zero_clears_everything)
{
	cpc_buf_t *buf = buf_with(set_of_two(), 1, 2, 3, 4);

	cpc_buf_zero(cpc, buf);
	expect_buf(buf, 0, 0, 0, 0);
}

/* CPC-BUF-13 */
CPC_TEST(unequal_counts_change_nothing)
{
	cpc_set_t *two = set_of_two();
	cpc_buf_t *ds = buf_with(two, 1, 2, 3, 4),
		  *other = buf_of(set_of("cycles"));

	cpc_buf_sub(cpc, ds, ds, other);
	cpc_buf_sub(cpc, ds, other, ds);
	cpc_buf_add(cpc, ds, other, other);
	cpc_buf_copy(cpc, ds, other);
	expect_buf(ds, 1, 2, 3, 4);
	cpc_buf_copy(cpc, other, ds);
	assert_int_equal(got(other, 0), 0);
}

/* CPC-BUF-14 */
CPC_TEST(buffers_of_two_sets_combine)
{
	cpc_buf_t *a = buf_with(set_of_two(), 5, 6, 1, 7),
		  *b = buf_with(set_of_two(), 1, 2, 2, 3),
		  *ds = buf_of(set_of_two());

	cpc_buf_sub(cpc, ds, a, b);
	expect_buf(ds, 4, 4, 2, 4);
	cpc_buf_add(cpc, ds, a, b);
	expect_buf(ds, 6, 8, 2, 10);
	cpc_buf_copy(cpc, ds, a);
	expect_buf(ds, 5, 6, 1, 7);
}

/* CPC-BUF-15.  A new buffer is not confused with the destroyed one. */
CPC_TEST(destroy_twice_is_einval)
{
	cpc_set_t *set = set_of_two();
	cpc_buf_t *old = buf_of(set);
	uint64_t value;

	assert_int_equal(cpc_buf_destroy(cpc, old), 0);
	assert_errno(cpc_buf_destroy(cpc, old), EINVAL);
	buf_of(set);
	assert_errno(cpc_buf_destroy(cpc, old), EINVAL);
	assert_errno(cpc_buf_get(cpc, old, 0, &value), EINVAL);
	assert_int_equal(cpc_buf_hrtime(cpc, old), 0);
}

/* CPC_PAGE_SET() of 130 requests could be that of two of the next set. */
CPC_TEST(large_set_reads_no_other_page)
{
	cpc_set_t *large = cpc_set_create(cpc);
	struct cpc_page page;

	if (cpci_id(large) % 2 != 0)
		large = cpc_set_create(cpc);
	for (int i = 0; i < 130; i++)
		add(large, "instructions");
	page.cg_frozen = CPC_PAGE_SET(cpci_id(large) + 1, 2);
	assert_errno(
	    cpci_read_else(&page, cpci_buf(cpc, buf_of(large))), EINVAL);
}
