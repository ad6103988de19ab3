/*
 * The memory map of struct bootinfo: sorting, merging, and taking memory from
 * it before the page allocator runs.
 */
#include "kern/platform/bootinfo.h"

#define PAGE 4096ULL

/*
 * If ranges overlap, the type with the higher rank wins.  The rank says how
 * much harm it does to use memory of this type as another type.
 */
static unsigned
type_rank(uint32_t type)
{
	switch (type) {
	case BOOTMEM_FREE:
		return 0;
	case BOOTMEM_KEEP:
		return 1;
	case BOOTMEM_ACPI:
		return 2;
	case BOOTMEM_RUNTIME:
		return 3;
	default:
		return 4;
	}
}

/* The end of a range may be 2^64, which does not fit; its last byte does. */
static uint64_t
last_of(const struct bootmem *m)
{
	return m->bm_base + (m->bm_len - 1);
}

static void
remove_at(struct bootinfo *bi, uint32_t i)
{
	bi->bi_nmem--;
	for (; i < bi->bi_nmem; i++)
		bi->bi_mem[i] = bi->bi_mem[i + 1];
}

/* Make room for a range, if need be by removing a FREE one.  False: no room. */
static bool
make_room(struct bootinfo *bi)
{
	if (bi->bi_nmem < BOOTINFO_NMEM)
		return true;
	for (uint32_t i = bi->bi_nmem; i-- > 0;) {
		if (bi->bi_mem[i].bm_type == BOOTMEM_FREE) {
			remove_at(bi, i);
			return true;
		}
	}
	return false;
}

void
bootinfo_add(
    struct bootinfo *bi, uint64_t base, uint64_t len, enum bootmem_type type)
{
	if (base + len < base)
		len = -base;
	if (len == 0)
		return;
	if (bi->bi_nmem == BOOTINFO_NMEM && type == BOOTMEM_FREE)
		return;
	if (make_room(bi))
		bi->bi_mem[bi->bi_nmem++] =
		    (struct bootmem){ base, len, type, 0 };
}

static void
sort_by_base(struct bootinfo *bi)
{
	/* Insertion sort: firmware's maps are nearly sorted. */
	for (uint32_t i = 1; i < bi->bi_nmem; i++) {
		struct bootmem m = bi->bi_mem[i];
		uint32_t j = i;

		for (; j > 0 && bi->bi_mem[j - 1].bm_base > m.bm_base; j--)
			bi->bi_mem[j] = bi->bi_mem[j - 1];
		bi->bi_mem[j] = m;
	}
}

/*
 * Make ranges i and i + 1 disjoint.  Range i starts first.  Returns true if
 * the map may now be out of order.
 */
static bool
make_disjoint(struct bootinfo *bi, uint32_t i)
{
	struct bootmem *a = &bi->bi_mem[i], *b = a + 1;
	uint64_t a_last = last_of(a), b_last = last_of(b);

	if (a_last < b->bm_base)
		return false;
	if (type_rank(a->bm_type) >= type_rank(b->bm_type)) {
		/* a keeps its range; b keeps the part after a. */
		if (b_last <= a_last) {
			remove_at(bi, i + 1);
			return true;
		}
		b->bm_base = a_last + 1;
		b->bm_len = b_last - a_last;
		return true;
	}
	/* b keeps its range; a keeps the parts before and after b. */
	enum bootmem_type type = (enum bootmem_type)a->bm_type;
	a->bm_len = b->bm_base - a->bm_base;
	if (a->bm_len == 0)
		remove_at(bi, i);
	if (a_last > b_last)
		bootinfo_add(bi, b_last + 1, a_last - b_last, type);
	return true;
}

static void
trim_to_pages(struct bootinfo *bi)
{
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		struct bootmem *m = &bi->bi_mem[i];
		uint64_t skip = -m->bm_base & (PAGE - 1);

		if (m->bm_type != BOOTMEM_FREE)
			continue;
		if (m->bm_len > skip && m->bm_len - skip >= PAGE) {
			m->bm_base += skip;
			m->bm_len = (m->bm_len - skip) & -PAGE;
		} else {
			remove_at(bi, i--);
		}
	}
}

static void
merge_ranges(struct bootinfo *bi)
{
	uint32_t n = 0; /* the last range kept */

	for (uint32_t i = 1; i < bi->bi_nmem; i++) {
		struct bootmem *last = &bi->bi_mem[n], *m = &bi->bi_mem[i];

		/* The length of a range of 2^64 bytes would wrap to 0. */
		if (m->bm_type == last->bm_type &&
		    m->bm_base == last_of(last) + 1 &&
		    last->bm_len + m->bm_len != 0)
			last->bm_len += m->bm_len;
		else
			bi->bi_mem[++n] = *m;
	}
	if (bi->bi_nmem > 0)
		bi->bi_nmem = n + 1;
}

void
bootinfo_sort(struct bootinfo *bi)
{
	uint32_t i = 0;

	sort_by_base(bi);
	while (i + 1 < bi->bi_nmem) {
		if (make_disjoint(bi, i)) {
			sort_by_base(bi);
			if (i > 0)
				i--;
		} else {
			i++;
		}
	}
	trim_to_pages(bi);
	merge_ranges(bi);
}

void
bootinfo_reserve(struct bootinfo *bi, uint64_t base, uint64_t len)
{
	/* bootinfo_sort() resolves the overlap with the present ranges. */
	bootinfo_add(bi, base, len, BOOTMEM_KEEP);
	bootinfo_sort(bi);
}

uint64_t
bootinfo_cut(struct bootinfo *bi, uint64_t top)
{
	uint64_t gone = 0;

	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		struct bootmem *m = &bi->bi_mem[i];
		uint64_t keep = m->bm_base < top ? top - m->bm_base : 0;

		if (m->bm_type == BOOTMEM_DEVICE ||
		    m->bm_type == BOOTMEM_RUNTIME_DEVICE || m->bm_len <= keep)
			continue;
		gone += m->bm_len - keep;
		m->bm_len = keep;
		if (keep == 0)
			remove_at(bi, i--);
	}
	return gone;
}

/* The RAM from base on, in the range that has it; 0: base is not RAM. */
static uint64_t
ram_at(const struct bootinfo *bi, uint64_t base)
{
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		if (m->bm_type != BOOTMEM_DEVICE &&
		    m->bm_type != BOOTMEM_RUNTIME_DEVICE &&
		    base - m->bm_base < m->bm_len)
			return m->bm_len - (base - m->bm_base);
	}
	return 0;
}

bool
bootinfo_is_ram(const struct bootinfo *bi, uint64_t base, uint64_t len)
{
	uint64_t here;

	while ((here = ram_at(bi, base)) != 0 && here < len) {
		base += here;
		len -= here;
	}
	return here != 0;
}

uint64_t
bootinfo_take(
    struct bootinfo *bi, uint64_t len, uint64_t align, uint64_t lo, uint64_t hi)
{
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];
		uint64_t from = m->bm_base > lo ? m->bm_base : lo;
		uint64_t last = last_of(m) < hi ? last_of(m) : hi - 1;

		/* Skip address 0: as a result it means failure. */
		if (from == 0)
			from = PAGE;
		from += -from & (align - 1);
		if (m->bm_type == BOOTMEM_FREE && from >= m->bm_base &&
		    from >= lo && from <= last && last - from >= len - 1) {
			bootinfo_reserve(bi, from, len);
			return from;
		}
	}
	return 0;
}
