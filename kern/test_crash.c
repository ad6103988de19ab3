/*
 * Test hooks: errors that the kernel makes on purpose after boot, chosen by
 * words of checks=.  tests/cli/defences.sh expects that each one is caught.
 */
#include "kern/test_crash.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/cmdline.h"
#include "lib/printf.h"
#include "lib/string.h"

/* Volatile, so that the compiler cannot see the errors and remove them. */
static volatile int32_t largest = INT32_MAX;
static void *volatile pointer;
static volatile size_t length;

static void
overflow_int(void)
{
	largest = largest + 1;
}

static __attribute__((noinline)) void
smash_stack(void)
{
	char array[24];

	pointer = array;
	length = sizeof array + 16;
	memset(pointer, 0x5a, length);
}

static void
write_freed_page(void)
{
	pointer = page_alloc(0);
	page_free(pointer, 0);
	((volatile uint8_t *)pointer)[2000] = 1;
	pointer = page_alloc(0);
}

/* Fill the blocks of pages that were taken before poisoning began. */
static void
leave_old_pages(size_t bytes)
{
	for (unsigned n = 0; n < 100; n++)
		pointer = kmalloc(bytes);
}

/* `other` keeps the slab in use, so that kfree() does not free its page. */
static void
write_freed_block(void)
{
	void *other;

	leave_old_pages(100);
	/* The block before or the block after keeps their page in use. */
	pointer = kmalloc(100);
	other = kmalloc(100);
	kfree(pointer);
	((volatile uint8_t *)pointer)[50] = 1;
	/* Until the block is handed out again; other pages may come first. */
	for (unsigned n = 0; n < 1000; n++)
		other = kmalloc(100);
	pointer = other;
}

static void
write_past(size_t bytes)
{
	length = bytes;
	leave_old_pages(bytes);
	pointer = kmalloc(bytes);
	((volatile uint8_t *)pointer)[length] = 1;
	kfree(pointer);
}

void
test_crash(uint32_t flags)
{
	if (flags & DEBUG_UNDEFINED)
		overflow_int();
	if (flags & DEBUG_SMASH)
		smash_stack();
	if (flags & DEBUG_FREED_PAGE)
		write_freed_page();
	if (flags & DEBUG_FREED_BLOCK)
		write_freed_block();
	if (flags & DEBUG_PAST_BLOCK)
		write_past(100);
	if (flags & DEBUG_PAST_LARGE)
		write_past(5000);
}
