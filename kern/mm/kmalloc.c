/*
 * Allocates small objects.  A run of pages starts with a header, struct slab,
 * and holds either objects of one size class or a single large object.  When
 * the last object of a page is freed, the page is freed at once, so that the
 * number of free pages shows every leak.
 */
#include <stdbool.h>
#include <stdint.h>

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/lock.h"
#include "lib/printf.h"
#include "lib/string.h"

#define CLASS_MIN 32UL
#define NCLASS    6 /* 32, 64 ... 1024 bytes */
#define LARGE     0xffu

struct object {
	struct object *o_next;
};

struct slab {
	struct slab *s_next; /* list of slabs of its class with free objects */
	struct slab **s_link;
	struct object *s_free;
	uint16_t s_used;
	uint8_t s_class; /* or LARGE */
	uint8_t s_order; /* LARGE: of its pages */
	bool s_guarded;  /* allocated after page_poison_start() */
	size_t s_bytes;  /* LARGE: the size asked for */
	uint8_t s_pad[24];
};
_Static_assert(sizeof(struct slab) == 64, "objects start cache-aligned");

static struct {
	struct spinlock lock;
	struct slab *room[NCLASS];
	size_t nblocks; /* in use, large ones included */
} heap;

/*
 * Guarded objects, under checks=poison.  A free object is filled with poison,
 * except its link.  An object in use ends with a red zone of at least eight
 * bytes and a word that encodes its length.
 */
#define GUARD 16
#define ZONE  0xa5

static size_t
class_bytes(const struct slab *s)
{
	return CLASS_MIN << s->s_class;
}

static uint64_t *
length_word(void *o, size_t slot)
{
	return (uint64_t *)((char *)o + slot) - 1;
}

static uint64_t
length_mark(const void *o, size_t bytes)
{
	return ~(uint64_t)(uintptr_t)o ^ (uint64_t)bytes << 48;
}

static void
poison_object(void *o, size_t slot)
{
	page_poison((uint64_t *)o + 1, slot / 8 - 1);
}

static void
check_zone(const void *p, size_t bytes, size_t end)
{
	const uint8_t *b = p;

	for (size_t i = bytes; i < end; i++) {
		if (b[i] != ZONE)
			panic("mem: block %p of %zu bytes was written past its "
			      "end: at +%#zx is %#x",
			    p, bytes, i, b[i]);
	}
}

/* Check that a free object was not written to; then guard it. */
static void
guard_taken(void *o, size_t slot, size_t bytes)
{
	const uint64_t *at =
	    page_poison_damage((uint64_t *)o + 1, slot / 8 - 1);

	if (at != NULL)
		panic("mem: block %p of up to %zu bytes was written after it "
		      "was freed: at +%#lx is %#lx",
		    o, slot - GUARD,
		    (unsigned long)((uintptr_t)at - (uintptr_t)o),
		    (unsigned long)*at);
	memset((char *)o + bytes, ZONE, slot - 8 - bytes);
	*length_word(o, slot) = length_mark(o, bytes);
}

/* Check that an object is in use and its red zone intact; then poison it. */
static void
guard_freed(void *o, size_t slot)
{
	size_t bytes = (*length_word(o, slot) ^ ~(uint64_t)(uintptr_t)o) >> 48;

	if (bytes > slot - GUARD ||
	    *length_word(o, slot) != length_mark(o, bytes))
		panic("mem: block %p is freed, but is not in use or was "
		      "written past its end",
		    o);
	check_zone(o, bytes, slot - 8);
	poison_object(o, slot);
}

static void
room_add(struct slab *s)
{
	struct slab **head = &heap.room[s->s_class];

	s->s_next = *head;
	s->s_link = head;
	if (s->s_next != NULL)
		s->s_next->s_link = &s->s_next;
	*head = s;
}

static void
room_remove(struct slab *s)
{
	*s->s_link = s->s_next;
	if (s->s_next != NULL)
		s->s_next->s_link = s->s_link;
}

static struct slab *
slab_new(unsigned class)
{
	size_t size = CLASS_MIN << class;
	struct slab *s = page_alloc(0);

	if (s == NULL)
		return NULL;
	memset(s, 0, sizeof *s);
	s->s_class = (uint8_t) class;
	s->s_guarded = page_poisons;
	for (size_t at = sizeof *s; at + size <= PAGE_SIZE; at += size) {
		struct object *o = (struct object *)((char *)s + at);

		if (s->s_guarded)
			poison_object(o, size);
		o->o_next = s->s_free;
		s->s_free = o;
	}
	room_add(s);
	return s;
}

static void *
large_alloc(size_t bytes)
{
	size_t zone = page_poisons ? GUARD : 0;
	unsigned order = 0;
	struct slab *s;

	if (__builtin_add_overflow(bytes, sizeof *s, &bytes))
		return NULL;

	while (order <= PAGE_MAXORDER && PAGE_SIZE << order < bytes + zone)
		order++;
	if (order > PAGE_MAXORDER || (s = page_alloc(order)) == NULL)
		return NULL;
	memset(s, 0, bytes);
	s->s_class = LARGE;
	s->s_order = (uint8_t)order;
	s->s_guarded = page_poisons;
	s->s_bytes = bytes - sizeof *s;
	memset((char *)s + bytes, ZONE, zone);
	lock_acquire(&heap.lock);
	heap.nblocks++;
	lock_release(&heap.lock);
	return s + 1;
}

void *
kmalloc(size_t bytes)
{
	struct object *o = NULL;
	unsigned class = 0;

	if (page_alloc_fails != NULL && page_alloc_fails())
		return NULL;
	while (class < NCLASS && CLASS_MIN << class < bytes)
		class ++;
	if (page_poisons && class < NCLASS &&
	    (CLASS_MIN << class) - bytes < GUARD)
		class ++;
	if (class == NCLASS)
		return large_alloc(bytes);
	lock_acquire(&heap.lock);
	struct slab *s = heap.room[class];
	if (s == NULL)
		s = slab_new(class);
	if (s != NULL) {
		o = s->s_free;
		s->s_free = o->o_next;
		s->s_used++;
		heap.nblocks++;
		if (s->s_free == NULL)
			room_remove(s);
	}
	lock_release(&heap.lock);
	if (o != NULL && s->s_guarded)
		guard_taken(o, class_bytes(s), bytes);
	if (o != NULL)
		memset(o, 0, bytes);
	return o;
}

void
kfree(void *p)
{
	struct slab *s = (struct slab *)((uintptr_t)p & -PAGE_SIZE);
	struct object *o = p;

	if (p == NULL)
		return;
	if (s->s_class == LARGE) {
		if (s->s_guarded)
			check_zone(p, s->s_bytes, s->s_bytes + GUARD);
		lock_acquire(&heap.lock);
		heap.nblocks--;
		lock_release(&heap.lock);
		page_free(s, s->s_order);
		return;
	}
	ASSERT(s->s_class < NCLASS && s->s_used > 0);
	if (s->s_guarded)
		guard_freed(o, class_bytes(s));
	lock_acquire(&heap.lock);
	heap.nblocks--;
	if (s->s_free == NULL)
		room_add(s);
	o->o_next = s->s_free;
	s->s_free = o;
	if (--s->s_used == 0) {
		room_remove(s);
		page_free(s, 0);
	}
	lock_release(&heap.lock);
}

char *
kmalloc_string(const char *s)
{
	size_t size = strlen(s) + 1;
	char *copy = kmalloc(size);

	if (copy != NULL)
		memcpy(copy, s, size);
	return copy;
}

size_t
kmalloc_nblocks(void)
{
	return heap.nblocks;
}
