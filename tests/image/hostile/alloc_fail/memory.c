/* Calls on memory. */
#include "tests/image/hostile/alloc_fail/turns.h"

#include <errno.h>
#include <payload.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/lib/image/test.h"

#define PAGE  ((uintptr_t)4096)
#define NPAGE 8
#define LARGE ((uintptr_t)2 << 20)
#define RW    (PROT_READ | PROT_WRITE)
#define ANON  (MAP_PRIVATE | MAP_ANONYMOUS)
#define NO_FD ((uintptr_t)-1)

static uintptr_t place;

static long
map_at(uintptr_t at, size_t bytes, int prot, int flags)
{
	return turn_raw(SYS_mmap, at, bytes, (uintptr_t)prot,
	    (uintptr_t)(ANON | MAP_FIXED | flags), NO_FD);
}

static void
new_place(void)
{
	place = turn_new_place() & -LARGE;
}

/* Map pages with a word in each that identifies it. */
static void
prepare_pages(void)
{
	new_place();
	EXPECT_EQ(map_at(place, NPAGE * PAGE, RW, 0), place);
	for (uintptr_t i = 0; i < NPAGE; i++)
		*(volatile uintptr_t *)(place + i * PAGE) = i + 1;
}

static void
prepare_contig(void)
{
	new_place();
	EXPECT_EQ(map_at(place, 2 * LARGE, RW, MAP_CONTIG), place);
}

static void
prepare_reserved(void)
{
	new_place();
	EXPECT_EQ(map_at(place, NPAGE * PAGE, PROT_NONE, 0), place);
}

static void
prepare_hidden(void)
{
	prepare_pages();
	EXPECT_EQ(turn_raw(SYS_mprotect, place, NPAGE * PAGE, 0, 0, 0), 0);
}

static void
expect_content(uintptr_t at)
{
	for (uintptr_t i = 0; i < NPAGE; i++)
		EXPECT_EQ(*(volatile uintptr_t *)(at + i * PAGE), i + 1);
}

/* Unmap whatever is mapped at the place. */
static void
unmap_place(long r)
{
	EXPECT_EQ(turn_raw(SYS_munmap, place, 2 * LARGE, 0, 0, 0), 0);
}

/*
 * A failed mmap(2) with MAP_FIXED may have unmapped the range (POSIX, mmap()),
 * but nothing else.  Here it unmaps the whole range or nothing, so the test
 * checks the pages around it.
 */
static void
expect_around(long r)
{
	volatile uintptr_t *p = (volatile uintptr_t *)place;

	EXPECT_EQ(p[0], 1);
	EXPECT_EQ(p[3 * PAGE / sizeof *p], 4);
	unmap_place(0);
}

static void
unmap_unless_failed(long r)
{
	if (r < 0)
		expect_content(place);
	unmap_place(r);
}

static long
make_mmap(void)
{
	return map_at(place, 64 * PAGE, RW, 0);
}

static long
make_mmap_anywhere(void)
{
	return turn_raw(SYS_mmap, 0, 3 * PAGE, RW, ANON, NO_FD);
}

static void
undo_anywhere(long r)
{
	if (r > 0)
		turn_raw(SYS_munmap, (uintptr_t)r, 3 * PAGE, 0, 0, 0);
}

static long
make_mmap_shared(void)
{
	return turn_raw(SYS_mmap, place, NPAGE * PAGE, PROT_READ,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, NO_FD);
}

static void
prepare_shared(void)
{
	new_place();
	EXPECT_EQ(make_mmap_shared(), place);
}

static long
make_fork(void)
{
	return turn_forked(turn_raw(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static void
reap_and_unmap(long r)
{
	turn_reap(r);
	unmap_place(r);
}

static long
make_mmap_over(void)
{
	return map_at(place + PAGE, 2 * PAGE, PROT_READ, 0);
}

static long
make_mmap_contig(void)
{
	return map_at(place, 2 * LARGE, RW, MAP_CONTIG);
}

static long
make_munmap_middle(void)
{
	return turn_raw(SYS_munmap, place + 2 * PAGE, PAGE, 0, 0, 0);
}

static long
make_mprotect_middle(void)
{
	return turn_raw(SYS_mprotect, place + 2 * PAGE, PAGE, PROT_READ, 0, 0);
}

static long
make_mprotect_none(void)
{
	return turn_raw(SYS_mprotect, place + 2 * PAGE, PAGE, 0, 0, 0);
}

static long
make_mprotect_show(void)
{
	return turn_raw(SYS_mprotect, place + 2 * PAGE, PAGE, RW, 0, 0);
}

static long
make_mprotect_populate(void)
{
	return turn_raw(SYS_mprotect, place + 2 * PAGE, 4 * PAGE, RW, 0, 0);
}

/* Several regions, so that the first ones succeed before one fails. */
static void
prepare_reserved_parts(void)
{
	prepare_reserved();
	EXPECT_EQ(map_at(place + PAGE, PAGE, PROT_READ, 0), place + PAGE);
}

static long
make_mprotect_parts(void)
{
	return turn_raw(SYS_mprotect, place, NPAGE * PAGE, RW, 0, 0);
}

static long
make_mprotect_contig(void)
{
	return turn_raw(SYS_mprotect, place, LARGE, 0, 0, 0);
}

static long
make_mremap_grow(void)
{
	return turn_raw(
	    SYS_mremap, place, NPAGE * PAGE, 2 * NPAGE * PAGE, 0, 0);
}

static long
make_mremap_shrink(void)
{
	return turn_raw(SYS_mremap, place + PAGE, 3 * PAGE, PAGE, 0, 0);
}

static uintptr_t moved_to;

/* Move the middle of a region, which splits it at both ends. */
static long
make_mremap_move(void)
{
	long r = turn_raw(
	    SYS_mremap, place + PAGE, 2 * PAGE, 16 * PAGE, MREMAP_MAYMOVE, 0);

	moved_to = r > 0 ? (uintptr_t)r : 0;
	return r;
}

static void
undo_move(long r)
{
	if (r > 0) {
		EXPECT_EQ(*(volatile uintptr_t *)moved_to, 2);
		turn_raw(SYS_munmap, moved_to, 16 * PAGE, 0, 0, 0);
	} else {
		expect_content(place);
	}
	unmap_place(r);
}

static long
make_madvise(void)
{
	return turn_raw(
	    SYS_madvise, place + PAGE, 2 * PAGE, MADV_DONTNEED, 0, 0);
}

static uintptr_t brk_was;

static void
prepare_brk(void)
{
	brk_was = (uintptr_t)turn_raw(SYS_brk, 0, 0, 0, 0, 0);
}

static long
make_brk(void)
{
	uintptr_t want = brk_was + 40 * PAGE;

	return turn_raw(SYS_brk, want, 0, 0, 0, 0) == (long)want ? 0 : -ENOMEM;
}

static void
undo_brk(long r)
{
	EXPECT_EQ(turn_raw(SYS_brk, brk_was, 0, 0, 0, 0), brk_was);
}

const struct turn_call turn_memory[] = {
	TURN_MADE(
	    "mmap", SYS_mmap, new_place, make_mmap, unmap_place, .tc_least = 4),
	TURN_MADE("mmap anywhere", SYS_mmap, NULL, make_mmap_anywhere,
	    undo_anywhere, .tc_least = 2),
	TURN_MADE("mmap over the middle", SYS_mmap, prepare_pages,
	    make_mmap_over, expect_around, .tc_loses = true, .tc_least = 3),
	TURN_MADE("mmap MAP_CONTIG", SYS_mmap, new_place, make_mmap_contig,
	    unmap_place, .tc_least = 2),
	TURN_MADE("mmap MAP_SHARED", SYS_mmap, new_place, make_mmap_shared,
	    unmap_place, .tc_least = 6),
	TURN_MADE("fork with MAP_SHARED", SYS_clone, prepare_shared, make_fork,
	    reap_and_unmap, .tc_least = 30),
	TURN_MADE("munmap of the middle", SYS_munmap, prepare_pages,
	    make_munmap_middle, unmap_unless_failed, .tc_least = 2),
	TURN_MADE("mprotect of the middle", SYS_mprotect, prepare_pages,
	    make_mprotect_middle, unmap_unless_failed, .tc_least = 2),
	TURN_MADE("mprotect to PROT_NONE", SYS_mprotect, prepare_pages,
	    make_mprotect_none, NULL, .tc_child = true, .tc_least = 4),
	TURN_MADE("mprotect from PROT_NONE", SYS_mprotect, prepare_hidden,
	    make_mprotect_show, NULL, .tc_child = true, .tc_least = 2),
	TURN_MADE("mprotect of a reservation", SYS_mprotect, prepare_reserved,
	    make_mprotect_populate, unmap_place, .tc_least = 4),
	TURN_MADE("mprotect of three regions", SYS_mprotect,
	    prepare_reserved_parts, make_mprotect_parts, unmap_place,
	    .tc_least = 2),
	TURN_MADE("mprotect MAP_CONTIG", SYS_mprotect, prepare_contig,
	    make_mprotect_contig, NULL, .tc_child = true, .tc_least = 3),
	TURN_MADE("mremap grows", SYS_mremap, prepare_pages, make_mremap_grow,
	    unmap_unless_failed, .tc_least = 2),
	TURN_MADE("mremap shrinks", SYS_mremap, prepare_pages,
	    make_mremap_shrink, unmap_unless_failed, .tc_least = 2),
	TURN_MADE("mremap moves", SYS_mremap, prepare_pages, make_mremap_move,
	    undo_move, .tc_least = 5),
	TURN_MADE("madvise", SYS_madvise, prepare_pages, make_madvise,
	    unmap_unless_failed),
	TURN_MADE(
	    "brk", SYS_brk, prepare_brk, make_brk, undo_brk, .tc_least = 2),
	{ 0 },
};
