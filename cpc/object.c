/* The tables that give sets and buffers their names. */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CHUNK (1u << CPCI_CHUNK_BITS)
#define MAX_SLOTS   ((1u << CPCI_INDEX_BITS) - FIRST_CHUNK)

/* The last identity given out, by any handle.  2^40 of them are enough. */
static uint64_t last_id;

/*
 * Returns the chunk of slot i, and the slot's index in it.  Chunk k holds
 * FIRST_CHUNK << k slots.
 */
static struct cpci_slot **
chunk_of(struct cpci_table *t, uint32_t i, size_t *within)
{
	uint32_t n = i + FIRST_CHUNK;
	unsigned top = 31 ^ (unsigned)__builtin_clz(n);

	*within = n & ~(1u << top);
	return &t->t_chunk[top - CPCI_CHUNK_BITS];
}

static struct cpci_slot *
slot_of(struct cpci_table *t, uint32_t i)
{
	struct cpci_slot *chunk;
	size_t within;

	chunk = __atomic_load_n(chunk_of(t, i, &within), __ATOMIC_ACQUIRE);
	return chunk != NULL ? &chunk[within] : NULL;
}

static struct cpci_slot *
slot_new(struct cpci_table *t, uint32_t *index)
{
	struct cpci_slot *chunk, **link;
	size_t within;

	if (t->t_free != 0) {
		*index = t->t_free - 1;
		t->t_free = slot_of(t, *index)->sl_next;
		return slot_of(t, *index);
	}
	if (t->t_used == MAX_SLOTS) {
		errno = ENOMEM;
		return NULL;
	}
	link = chunk_of(t, t->t_used, &within);
	if (within == 0 && *link == NULL) {
		chunk = calloc(t->t_used + FIRST_CHUNK, sizeof *chunk);
		if (chunk == NULL)
			return NULL;
		__atomic_store_n(link, chunk, __ATOMIC_RELEASE);
	}
	*index = t->t_used++;
	return &(*link)[within];
}

void *
cpci_table_add(struct cpci_table *t, void *obj)
{
	struct cpci_slot *slot;
	uint32_t index;

	if ((slot = slot_new(t, &index)) == NULL)
		return NULL;
	uint64_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->sl_obj, obj, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->sl_id, id, __ATOMIC_RELEASE);
	return (void *)(uintptr_t)(id << CPCI_INDEX_BITS | index);
}

static struct cpci_slot *
slot_find(struct cpci_table *t, const void *name)
{
	uint32_t index = (uintptr_t)name & ((1u << CPCI_INDEX_BITS) - 1);
	struct cpci_slot *slot;

	if (index >= MAX_SLOTS || cpci_id(name) == 0 ||
	    (slot = slot_of(t, index)) == NULL)
		return NULL;
	return __atomic_load_n(&slot->sl_id, __ATOMIC_ACQUIRE) == cpci_id(name)
	           ? slot
	           : NULL;
}

bool
cpci_table_has(struct cpci_table *t, const void *name)
{
	return slot_find(t, name) != NULL;
}

void *
cpci_table_find(struct cpci_table *t, const void *name)
{
	struct cpci_slot *slot = slot_find(t, name);

	return slot != NULL ? __atomic_load_n(&slot->sl_obj, __ATOMIC_RELAXED)
	                    : NULL;
}

void *
cpci_table_remove(struct cpci_table *t, const void *name)
{
	uint32_t index = (uintptr_t)name & ((1u << CPCI_INDEX_BITS) - 1);
	struct cpci_slot *slot;

	if ((slot = slot_find(t, name)) == NULL)
		return NULL;
	__atomic_store_n(&slot->sl_id, 0, __ATOMIC_RELAXED);
	slot->sl_next = t->t_free;
	t->t_free = index + 1;
	return slot->sl_obj;
}

void *
cpci_table_drain(struct cpci_table *t)
{
	struct cpci_slot *slot;

	while (t->t_used > 0) {
		slot = slot_of(t, --t->t_used);
		if (slot->sl_id != 0) {
			slot->sl_id = 0;
			return slot->sl_obj;
		}
	}
	return NULL;
}

void
cpci_table_free(struct cpci_table *t)
{
	for (unsigned k = 0; k < CPCI_NCHUNK; k++)
		free(t->t_chunk[k]);
}
