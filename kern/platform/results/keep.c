/*
 * Keeps the console's text and records in memory that a warm reset leaves
 * alone.  boot/efi/efi_kept.c writes them to files in the next boot.
 */
#include "kern/platform/results/keep.h"

#include <stdint.h>

#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/firmware/efirt.h"
#include "kern/platform/results/kept.h"
#include "lib/printf.h"
#include "lib/string.h"

#define FRAME_LINES 160 /* bytes of a frame's first and last line, at most */

static struct {
	struct kept_head *head; /* NULL: nothing is kept */
	char *text;
	bool home;        /* something is kept for files of the next boot */
	size_t variables; /* bytes that they may take */
	uint32_t limit;   /* bytes of text that the present stream may fill */
} keep;

void
keep_start(const struct bootinfo *bi)
{
	if (bi->bi_keep == 0)
		return;
	keep.head = pa_to_va(bi->bi_keep);
	kept_start(keep.head, bi->bi_keep, bi->bi_keep_bytes);
	keep.text = kept_text(keep.head);
	keep.variables = bi->bi_keep_variables;
	keep.home = bi->bi_keep_home != 0;
	keep_log(false);
}

bool
keep_active(void)
{
	return keep.head != NULL;
}

void
keep_putc(int c)
{
	struct kept_head *h = keep.head;

	if (h == NULL)
		return;
	if (h->kh_bytes < keep.limit)
		keep.text[h->kh_bytes++] = (char)c;
	else
		h->kh_log_lost++;
}

void
keep_log(bool all)
{
	if (keep.head != NULL)
		keep.limit = keep.head->kh_room / (all ? 1 : 2);
}

void
keep_frame(bool record, size_t n)
{
	struct kept_head *h = keep.head;

	if (h == NULL)
		return;
	keep_log(record);
	/* Eight bytes may become nine. */
	if (h->kh_bytes > keep.limit ||
	    n / 8 * 9 + FRAME_LINES > keep.limit - h->kh_bytes) {
		keep.limit = 0;
		h->kh_lost += record;
	} else {
		h->kh_frames += record;
	}
}

/* Write or, with n bytes of 0, remove a variable.  Returns its EFI_STATUS. */
static uint64_t
set_variable(unsigned i, const void *data, size_t n)
{
	static const struct {
		uint32_t a;
		uint16_t b, c;
		uint8_t d[8];
	} vendor = KEPT_VENDOR;
	uint16_t name[KEPT_NAME + 1];

	kept_variable_name(i, name);
	return efi_set_variable(name, &vendor, data, n);
}

/* The first variable, which has the head, comes last: it makes them valid. */
void
keep_variables(void)
{
	struct kept_head *to = (void *)((char *)keep.head + KEPT_BYTES);
	size_t bytes, room = keep.variables;
	unsigned n;

	if (keep.head == NULL || room == 0)
		return;
	/* Only once: a fault in firmware ends the run again. */
	keep.variables = 0;
	bytes = kept_copy(keep.head, to, room);
	if (bytes == 0) {
		printf("keep: no UEFI variables: the run has no status, or its "
		       "records exceed %zu bytes: memory alone keeps them\n",
		    room);
		return;
	}
	n = (unsigned)((bytes + KEPT_VARIABLE - 1) / KEPT_VARIABLE);
	for (unsigned i = n; i-- > 0;) {
		const char *data = (char *)to + i * KEPT_VARIABLE;
		uint64_t status = set_variable(i, data,
		    i == n - 1 ? bytes - i * KEPT_VARIABLE : KEPT_VARIABLE);

		if (status == 0)
			continue;
		for (unsigned j = i; j < n; j++)
			set_variable(j, NULL, 0);
		printf("keep: firmware refuses a UEFI variable (EFI_STATUS "
		       "%#lx): memory alone keeps the records\n",
		    (unsigned long)status);
		return;
	}
	printf("keep: the records are in %u UEFI variables, too\n", n);
}

size_t
keep_text(size_t from, char *to, size_t n)
{
	size_t bytes = keep.head != NULL ? keep.head->kh_bytes : 0;

	if (from >= bytes)
		return 0;
	if (n > bytes - from)
		n = bytes - from;
	memcpy(to, keep.text + from, n);
	return n;
}

bool
keep_has_records(void)
{
	return keep.head != NULL && keep.head->kh_frames > 0;
}

void
keep_end(void)
{
	struct kept_head *h = keep.head;

	if (h == NULL || !keep.home)
		return;
	/* Text that another CPU still prints would change the checksum. */
	keep.head = NULL;
	kept_end(h);
	/* A reset drops what is only in caches. */
	arch_clean(h, sizeof *h + h->kh_bytes);
}

bool
keep_restart(void)
{
	if (!keep.home)
		return false;
	efi_restart();
	return true;
}
