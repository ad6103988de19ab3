/*
 * Small objects.  A run of pages starts with a header that says what it
 * holds: equal objects of one size class, or a single large object.  A page
 * whose last object is freed goes back at once, so that the number of free
 * pages tells whether anything was left behind.
 */
#include <stdint.h>

#include "kern/arch.h"
#include "kern/lock.h"
#include "kern/page.h"
#include "lib/printf.h"
#include "lib/string.h"

#define CLASS_MIN 32UL
#define NCLASS    6 /* 32, 64 ... 1024 bytes */
#define LARGE     0xffu

struct object {
	struct object *o_next;
};

struct slab {
	struct slab *s_next; /* in its class's list of slabs with room */
	struct slab **s_link;
	struct object *s_free;
	uint16_t s_used;
	uint8_t s_class; /* or LARGE */
	uint8_t s_order; /* of a large one */
	uint8_t s_pad[36];
};
_Static_assert(sizeof(struct slab) == 64, "objects start cache-aligned");

static struct {
	struct spinlock lock;
	struct slab *room[NCLASS];
	size_t nblocks; /* large ones included */
} heap;

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
	for (size_t at = sizeof *s; at + size <= PAGE_SIZE; at += size) {
		struct object *o = (struct object *)((char *)s + at);

		o->o_next = s->s_free;
		s->s_free = o;
	}
	room_add(s);
	return s;
}

static void *
large_alloc(size_t bytes)
{
	unsigned order = 0;
	struct slab *s;

	while (order <= PAGE_MAXORDER && PAGE_SIZE << order < bytes)
		order++;
	if (order > PAGE_MAXORDER || (s = page_alloc(order)) == NULL)
		return NULL;
	memset(s, 0, bytes);
	s->s_class = LARGE;
	s->s_order = (uint8_t)order;
	lock_acquire(&heap.lock);
	heap.nblocks++;
	lock_release(&heap.lock);
	return s + 1;
}

void *
kmalloc(size_t bytes)
{
	struct object *o = NULL;
	struct slab *s;
	unsigned class = 0;

	if (page_alloc_fails != NULL && page_alloc_fails())
		return NULL;
	while (class < NCLASS && CLASS_MIN << class < bytes)
		class ++;
	if (class == NCLASS) {
		size_t all;

		if (__builtin_add_overflow(bytes, sizeof *s, &all))
			return NULL;
		return large_alloc(all);
	}
	lock_acquire(&heap.lock);
	s = heap.room[class];
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
		lock_acquire(&heap.lock);
		heap.nblocks--;
		lock_release(&heap.lock);
		page_free(s, s->s_order);
		return;
	}
	ASSERT(s->s_class < NCLASS && s->s_used > 0);
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

size_t
kmalloc_nblocks(void)
{
	return heap.nblocks;
}
