/* Acts on memory: zero at first, kept, private, and faults as protected. */
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE   ((size_t)4096)
#define NPAGES 16
#define STEPS  20

struct page {
	int prot; /* -1: not mapped */
	uint64_t value;
};

static uint64_t *
map_pages(void *at, size_t pages, int prot, int flags)
{
	void *p = mmap(
	    at, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED) {
		CHAOS_EXPECT(errno == ENOMEM);
		return NULL;
	}
	return p;
}

/* Write the first and the last word.  The value contains the process's id. */
static void
fill_page(uint64_t *p, struct page *pg)
{
	pg->value = (uint64_t)getpid() << 32 | chaos_below(1ULL << 32);
	p[0] = pg->value;
	p[PAGE / 8 - 1] = ~pg->value;
}

static bool
page_holds(const uint64_t *p, uint64_t value)
{
	uint64_t last = value != 0 ? ~value : 0;

	return p[0] == value && p[PAGE / 8 - 1] == last;
}

/* Does an access fault?  The handler of SIGSEGV jumps back here. */
static bool
access_faults(volatile uint64_t *p, bool writes)
{
	if (sigsetjmp(chaos_self.chl_poke, 1) != 0)
		return true;
	chaos_self.chl_poking = true;
	if (writes)
		*p = *p;
	else
		(void)*p;
	chaos_self.chl_poking = false;
	return false;
}

static void
check_page(uint64_t *p, const struct page *pg)
{
	if (pg->prot > 0)
		CHAOS_EXPECT(page_holds(p, pg->value));
	CHAOS_EXPECT(access_faults(p, false) == (pg->prot <= 0));
	CHAOS_EXPECT(access_faults(p, true) ==
		     (pg->prot <= 0 || (pg->prot & PROT_WRITE) == 0));
}

/* One random operation on n pages.  False: memory was short. */
static bool
random_step(uint64_t *at, struct page *pg, size_t n)
{
	static const int prots[] = { PROT_NONE, PROT_READ,
		PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC };
	int prot = prots[chaos_below(4)], err = 0;
	uint64_t what = chaos_below(4);
	bool hole = false;

	for (size_t i = 0; i < n; i++)
		hole |= pg[i].prot < 0;
	if (hole && what > 1)
		return true;
	/* Another LWP's mapping could be placed in the hole. */
	if (what == 0 && !chaos_self.chl_alone)
		return true;
	if (what == 0)
		err = munmap(at, n * PAGE);
	else if (what == 1 && map_pages(at, n, prot, MAP_FIXED) == NULL)
		return false;
	else if (what == 2)
		err = mprotect(at, n * PAGE, prot);
	else if (what == 3)
		err = madvise(at, (n = 1) * PAGE, MADV_DONTNEED);
	if (err != 0) {
		CHAOS_EXPECT(errno == ENOMEM);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (what == 0)
			pg[i].prot = -1;
		else if (what < 3)
			pg[i].prot = prot;
		if (what != 2)
			pg[i].value = 0;
	}
	return true;
}

/* Move or resize a mapping, which keeps its content. */
static void
move_mapping(void)
{
	size_t bytes = (1 + chaos_below(16)) * PAGE;
	uint64_t *p = map_pages(NULL, 4, PROT_READ | PROT_WRITE, 0), *q;
	struct page pg;

	if (p == NULL)
		return;
	fill_page(p, &pg);
	q = mremap(p, 4 * PAGE, bytes, MREMAP_MAYMOVE);
	if (q == MAP_FAILED) {
		CHAOS_EXPECT(errno == ENOMEM);
		munmap(p, 4 * PAGE);
		return;
	}
	CHAOS_EXPECT(page_holds(q, pg.value));
	if (bytes > 4 * PAGE)
		CHAOS_EXPECT(page_holds(q + (bytes - PAGE) / 8, 0));
	munmap(q, bytes);
}

void
chaos_act_memory(void)
{
	struct page pages[NPAGES] = { { .value = 0 } };
	/* Reserve more at each end: no other mapping is next to the pages. */
	uint64_t *all = map_pages(NULL, NPAGES + 32, PROT_NONE, 0), *p;

	if (all == NULL)
		return;
	p = all + 16 * PAGE / 8;
	for (unsigned i = 0; i < STEPS; i++) {
		size_t at = chaos_below(NPAGES), n;

		n = 1 + chaos_below(NPAGES - at);
		if (!random_step(p + at * PAGE / 8, pages + at, n))
			goto out;
		at = chaos_below(NPAGES);
		if (pages[at].prot > 0 && (pages[at].prot & PROT_WRITE))
			fill_page(p + at * PAGE / 8, &pages[at]);
		if (chaos_one_in(8))
			move_mapping();
	}
	for (size_t i = 0; i < NPAGES; i++)
		check_page(p + i * PAGE / 8, &pages[i]);
out:
	munmap(all, (NPAGES + 32) * PAGE);
}

/* Replace what another LWP uses: it reads zeros or its own, never faults. */

struct race {
	volatile uint64_t *word;
	volatile bool stop;
	uint64_t value;
};

static void *
use_mapping(void *arg)
{
	struct race *r = arg;

	chaos_self.chl_doing = "using a mapping that another LWP replaces";
	while (!r->stop) {
		for (int i = 0; i < 64; i++) {
			uint64_t v = *r->word;

			if (!CHAOS_EXPECT(v == 0 || v == r->value))
				return NULL;
			*r->word = r->value;
		}
	}
	return NULL;
}

void
chaos_act_race(void)
{
	struct race r = { map_pages(NULL, 1, PROT_READ | PROT_WRITE, 0), false,
		0 };
	pthread_t t;

	if (r.word == NULL)
		return;
	r.value = (uint64_t)getpid() << 32 | 1;
	if (pthread_create(&t, NULL, use_mapping, &r) == 0) {
		for (uint64_t n = chaos_below(50); n > 0; n--) {
			void *p = (void *)(uintptr_t)r.word;

			if (chaos_one_in(3))
				mprotect(p, PAGE, PROT_READ | PROT_WRITE);
			else if (chaos_one_in(2))
				CHAOS_EXPECT(
				    madvise(p, PAGE, MADV_DONTNEED) == 0);
			else
				CHAOS_EXPECT(
				    map_pages(p, 1, PROT_READ | PROT_WRITE,
					MAP_FIXED) != NULL);
		}
		r.stop = true;
		CHAOS_EXPECT(pthread_join(t, NULL) == 0);
	}
	munmap((void *)(uintptr_t)r.word, PAGE);
}

/* brk(2) only in a copy: there the C library's heap is not in use. */
void
chaos_act_heap(void)
{
	uintptr_t old = (uintptr_t)syscall(SYS_brk, 0), from, end;

	from = (old + PAGE - 1) & -PAGE;
	for (unsigned i = 0; i < 4; i++) {
		end = from + (1 + chaos_below(16)) * PAGE;
		if ((uintptr_t)syscall(SYS_brk, end) != end)
			break;
		CHAOS_EXPECT(*(uint64_t *)(end - PAGE) == 0);
		memset((void *)from, 0xa5, end - from);
		CHAOS_EXPECT((uintptr_t)syscall(SYS_brk, old) == old);
	}
}

/* Take all free memory for a moment.  All other LWPs find none. */
void
chaos_act_hunger(void)
{
	void *chain = NULL, *next;
	size_t pages = 1 << 14;
	void **p;

	for (; pages > 0; pages /= 2) {
		while ((p = (void **)map_pages(
			    NULL, pages, PROT_READ | PROT_WRITE, 0)) != NULL) {
			p[0] = chain;
			p[1] = (void *)(pages * PAGE);
			chain = p;
		}
	}
	if (chaos_one_in(2))
		chaos_act_fork();
	if (!chaos_self.chl_alone && chaos_one_in(2))
		chaos_act_team();
	for (; chain != NULL; chain = next) {
		next = ((void **)chain)[0];
		munmap(chain, (size_t)((void **)chain)[1]);
	}
}
