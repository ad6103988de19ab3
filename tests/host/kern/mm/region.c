/* The tree of regions equals an array of them, balanced, with each gap. */
#include "tests/lib/host/support.h"

#include <stdlib.h>

#include "kern/mm/region.h"

#define PAGE   4096UL
#define NSLOT  400 /* at most one region begins in each slot, and ends there */
#define SLOT   16  /* pages per slot */
#define OFFSET 7   /* pages before the first slot */

static struct region_tree tree;
static struct region *slots[NSLOT];
static unsigned used;

static size_t
height(const struct region *r)
{
	if (r == NULL)
		return 0;
	size_t a = height(r->r_left);
	size_t b = height(r->r_right);
	assert_true(a <= b + 1 && b <= a + 1);
	return 1 + (a > b ? a : b);
}

/* Free bytes before the region of a slot. */
static size_t
gap_before(unsigned i)
{
	size_t end = 0;

	for (unsigned k = 0; k < i; k++) {
		if (slots[k] != NULL)
			end = slots[k]->r_end;
	}
	return slots[i]->r_start - end;
}

static void
check_order(void)
{
	struct region *prev = NULL, *r = tree.rt_first;

	for (unsigned i = 0; i < NSLOT; i++) {
		if (slots[i] == NULL)
			continue;
		assert_ptr_equal(r, slots[i]);
		assert_ptr_equal(r->r_prev, prev);
		prev = r;
		r = r->r_next;
	}
	assert_null(r);
	assert_ptr_equal(tree.rt_last, prev);
	height(tree.rt_root);
}

static void
check_ending_after(uintptr_t va)
{
	struct region *want = NULL;

	for (unsigned i = NSLOT; i-- > 0;) {
		if (slots[i] != NULL && slots[i]->r_end > va)
			want = slots[i];
	}
	assert_ptr_equal(region_ending_after(&tree, va), want);
}

/* Check the regions after a gap of this size, from the last to the first. */
static void
check_gaps(size_t bytes)
{
	struct region *r = region_with_gap(&tree, NULL, bytes);

	for (unsigned i = NSLOT; i-- > 0;) {
		if (slots[i] == NULL || gap_before(i) < bytes)
			continue;
		assert_ptr_equal(r, slots[i]);
		r = region_with_gap(&tree, r, bytes);
	}
	assert_null(r);
}

static uintptr_t
slot_start(unsigned i)
{
	return (OFFSET + (uintptr_t)i * SLOT) * PAGE;
}

static void
insert_random(unsigned i)
{
	struct region *r = calloc(1, sizeof *r);
	unsigned first = (unsigned)rand() % SLOT;
	unsigned pages = 1 + (unsigned)rand() % (SLOT - first);

	assert_non_null(r);
	r->r_start = slot_start(i) + first * PAGE;
	r->r_end = r->r_start + pages * PAGE;
	slots[i] = r;
	region_insert(&tree, r);
	used++;
}

static void
remove_slot(unsigned i)
{
	region_remove(&tree, slots[i]);
	free(slots[i]);
	slots[i] = NULL;
	used--;
}

/* Merge the slot's region with the next one, and perhaps split it again. */
static void
absorb_next(unsigned i)
{
	struct region *r = slots[i], *gone = r->r_next;
	unsigned k = i + 1;

	if (gone == NULL)
		return;
	while (slots[k] == NULL)
		k++;
	assert_ptr_equal(region_absorb(&tree, r), gone);
	slots[k] = NULL;
	check_order();
	gone->r_end = r->r_end;
	if (rand() % 2 == 0) {
		/* The second region begins there, without a gap. */
		r->r_end = gone->r_start;
		slots[k] = gone;
		region_insert(&tree, gone);
	} else {
		free(gone);
		used--;
	}
}

static void
random_step(unsigned fill)
{
	unsigned i = (unsigned)rand() % NSLOT;

	if (slots[i] != NULL && rand() % 8 == 0) {
		absorb_next(i);
		return;
	}
	/* A region cannot begin if the one before it reaches into the slot. */
	if (slots[i] != NULL)
		remove_slot(i);
	else if ((unsigned)rand() % 100 < fill &&
		 (tree.rt_root == NULL ||
		     region_ending_after(&tree, slot_start(i)) == NULL ||
		     region_ending_after(&tree, slot_start(i))->r_start >=
			 slot_start(i + 1)))
		insert_random(i);
}

TEST(any_order)
{
	srand(4);
	for (unsigned n = 0; n < 40000; n++) {
		/* The tree fills, then empties. */
		random_step(n / 4000 % 2 == 0 ? 90 : 5);
		check_order();
		check_ending_after(slot_start((unsigned)rand() % NSLOT) +
				   (uintptr_t)(rand() % SLOT) * PAGE);
		if (n % 16 == 0)
			check_gaps((1 + (size_t)rand() % (3 * SLOT)) * PAGE);
	}
	for (unsigned i = 0; i < NSLOT; i++) {
		if (slots[i] != NULL)
			remove_slot(i);
	}
	assert_int_equal(used, 0);
	assert_null(tree.rt_root);
	assert_null(tree.rt_first);
	assert_null(tree.rt_last);
}

/* Like the stacks of many LWPs, each below the one before. */
TEST(sorted)
{
	for (unsigned i = NSLOT; i-- > 0;)
		insert_random(i);
	check_order();
	assert_true(height(tree.rt_root) <= 12); /* 1.44 log2(400) */
	for (unsigned i = 0; i < NSLOT; i++) {
		remove_slot(i);
		check_order();
	}
}
