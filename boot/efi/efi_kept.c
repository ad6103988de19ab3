/*
 * Brings the results of a run home.  The kernel keeps the console's text in
 * memory and makes a warm reset.  Then firmware starts this application again,
 * which writes the results to files.
 *
 * The memory has no fixed address: firmware of the next boot does not know of
 * it, and may use any.  It lies at a multiple of KEPT_STEP, above the first
 * memory, which firmware uses early, and below the rest, which firmware fills
 * from the top.  The next boot looks at all multiples that are free then.
 */
#include "boot/efi/efi.h"

#include <stdbool.h>

#include "kern/platform/results/kept.h"
#include "lib/printf.h"
#include "lib/string.h"

#define FIRST_OFFSET (64ULL << 20) /* from the start of memory */
#define FILES_MAX    1000
#define RUN_FILE     "barecpc.run" /* counts runs without results */
/* This many runs in a row may bring nothing home before one is not kept. */
#define LOSSES_MAX 2
#define STALL_US   1000000

static const struct efi_home *home; /* NULL: files cannot be written */

/*
 * Call visit for each place that is free memory now, until it returns true.
 * UEFI, "EFI_BOOT_SERVICES.GetMemoryMap()".
 */
static bool
each_place(bool (*visit)(uint64_t at, void *arg), void *arg)
{
	UINTN bytes = 0, key, step = 0;
	uint64_t lowest = ~0ULL;
	UINT32 version;
	bool done = false;

	efi_bs->GetMemoryMap(&bytes, NULL, &key, &step, &version);
	bytes += 64 * step + EFI_PAGE;
	char *map = efi_alloc(EfiLoaderData, bytes, EFI_PAGE, "the memory map");
	if (EFI_ERROR(efi_bs->GetMemoryMap(
		&bytes, (void *)map, &key, &step, &version)))
		return false;
	for (UINTN i = 0; i + step <= bytes; i += step) {
		const EFI_MEMORY_DESCRIPTOR *d = (const void *)(map + i);

		if (d->Type == EfiConventionalMemory &&
		    d->PhysicalStart < lowest)
			lowest = d->PhysicalStart;
	}
	for (UINTN i = 0; i + step <= bytes && !done; i += step) {
		const EFI_MEMORY_DESCRIPTOR *d = (const void *)(map + i);
		uint64_t end = d->PhysicalStart + d->NumberOfPages * EFI_PAGE;
		uint64_t at = d->PhysicalStart;

		if (d->Type != EfiConventionalMemory)
			continue;
		if (at < lowest + FIRST_OFFSET)
			at = lowest + FIRST_OFFSET;
		at = (at + KEPT_STEP - 1) & -KEPT_STEP;
		for (; at + KEPT_PLACE <= end && !done; at += KEPT_STEP)
			done = visit(at, arg);
	}
	return done;
}

struct found {
	struct kept_head *head;
	enum kept_state state;
};

/*
 * Memory is not free at the same places in each boot, so an earlier run may
 * have left a head at another one.
 */
static bool
look_at(uint64_t at, void *arg)
{
	struct kept_head *head = (struct kept_head *)(uintptr_t)at;
	enum kept_state state = kept_state(head, at, KEPT_BYTES);
	struct found *f = arg;

	if (state > f->state)
		*f = (struct found){ head, state };
	return state == KEPT_ENDED;
}

static bool
take(uint64_t at, void *arg)
{
	struct bootinfo *bi = arg;
	EFI_PHYSICAL_ADDRESS got = at;

	if (EFI_ERROR(efi_bs->AllocatePages(
		AllocateAddress, EfiLoaderData, KEPT_PLACE / EFI_PAGE, &got)))
		return false;
	bi->bi_keep = at;
	bi->bi_keep_bytes = KEPT_BYTES;
	return true;
}

struct names {
	char results[48], log[48];
};

static bool
has_bytes(const char *name, const char *data, size_t bytes)
{
	char *got = efi_alloc(EfiLoaderData, bytes + 1, EFI_PAGE, name);

	return home->eh_read(name, got, bytes + 1) == bytes &&
	       memcmp(got, data, bytes) == 0;
}

/*
 * Names of files that do not exist: results of other runs stay.  These results
 * may be there without their log, which had no room.
 */
static bool
free_names(struct names *nm, const char *results, size_t bytes, bool log)
{
	for (unsigned i = 1; i < FILES_MAX; i++) {
		char number[8] = "";

		if (i > 1)
			snprintf(number, sizeof number, "-%u", i);
		snprintf(nm->results, sizeof nm->results,
		    "barecpc-results%s.jsonl", number);
		snprintf(nm->log, sizeof nm->log, "barecpc%s.log", number);
		if (!home->eh_has(nm->log) &&
		    (!home->eh_has(nm->results) ||
			(log && has_bytes(nm->results, results, bytes))))
			return true;
	}
	return false;
}

/* Write a file.  Returns false after a message. */
static bool
write_home(const char *name, const void *data, size_t bytes)
{
	const char *why = home->eh_write(name, data, bytes);

	if (why != NULL)
		efi_say("%s is not written: %s", name, why);
	return why == NULL;
}

/*
 * Write the results, and the log unless they come from variables.  Returns
 * false if they stay where they are.
 */
static bool
write_results(const struct kept_head *h, bool log)
{
	char *to =
	    efi_alloc(EfiLoaderData, h->kh_bytes + 1, EFI_PAGE, "the results");
	const char *why;
	long n = kept_records(h, to, &why);
	struct names nm;

	if (!free_names(&nm, to, n > 0 ? (size_t)n : 0, log)) {
		efi_say("results of the last run are not written: there are "
			"%u files: remove some",
		    FILES_MAX);
		return false;
	}
	if ((n > 0 && !write_home(nm.results, to, (size_t)n)) ||
	    (log && !write_home(nm.log, kept_text(h), h->kh_bytes)))
		return false;
	if (n > 0)
		efi_say("results of the last run are in %s, its log %s%s",
		    nm.results, log ? "in " : "is lost", log ? nm.log : "");
	else
		efi_say("the last run has no results: %s: its log is %s%s",
		    n == 0 ? "it made no records" : why, log ? "in " : "lost",
		    log ? nm.log : "");
	return true;
}

/* How many runs before this one brought nothing home. */
static unsigned
losses(void)
{
	char digit = '0';

	if (home->eh_has(RUN_FILE))
		home->eh_read(RUN_FILE, &digit, 1);
	return digit >= '0' && digit <= '9' ? (unsigned)(digit - '0') : 0;
}

static bool
set_losses(unsigned n)
{
	static const char rest[] =
	    " runs of barecpc without results (0: all is well)\n";
	char text[80];

	snprintf(text, sizeof text, "%u%s", n, rest);
	return write_home(RUN_FILE, text, strlen(text));
}

/* Results were kept: write them.  Returns false if they stay. */
static bool
finish(struct kept_head *h, bool log, const char *unwritable)
{
	if (home == NULL) {
		efi_say(
		    "results of the last run are not written: %s", unwritable);
		return false;
	}
	if (!write_results(h, log))
		return false;
	set_losses(0);
	return true;
}

/*
 * The results could not be written.  Power off and a cold reset clear memory,
 * and a new run uses it.  So wait for a key.  It makes a warm reset, because
 * then firmware finds a stick that was put in again, or another one.
 */
static _Noreturn void
wait_for_room(bool variables)
{
	SIMPLE_INPUT_INTERFACE *in = efi_st->ConIn;
	EFI_INPUT_KEY key;
	UINTN index;

	efi_say("the results stay in %s: let the volume take files, "
		"then press a key to try again",
	    variables ? "UEFI variables" : "memory: leave the power on");
	/* Without a console for input there is the reset button. */
	while (in == NULL)
		efi_bs->Stall(STALL_US);
	/* Keys that were pressed before do not count. */
	while (!EFI_ERROR(in->ReadKeyStroke(in, &key)))
		;
	while (EFI_ERROR(in->ReadKeyStroke(in, &key)))
		efi_bs->WaitForEvent(1, &in->WaitForKey, &index);
	efi_say("trying again");
	efi_stop(EfiResetWarm);
}

/* Results that UEFI variables have. */
static enum kept_state
look_in_variables(struct kept_head *to)
{
	if (!efi_read_variables(to))
		return KEPT_ABSENT;
	return kept_state(to, 0, KEPT_VARIABLES_BYTES) == KEPT_ENDED
	           ? KEPT_ENDED
	           : KEPT_DAMAGED;
}

/* Look in memory, then in UEFI variables.  Returns if no results are left. */
static enum kept_state
bring_home(const char *unwritable)
{
	struct found f = { NULL, KEPT_ABSENT };
	struct kept_head *v = efi_alloc(
	    EfiLoaderData, KEPT_VARIABLES_BYTES, EFI_PAGE, "UEFI variables");
	enum kept_state variables = look_in_variables(v);
	bool memory = each_place(look_at, &f);

	if (!memory && variables == KEPT_ABSENT)
		return f.state;
	if ((memory || variables == KEPT_ENDED) &&
	    !finish(memory ? f.head : v, memory, unwritable))
		wait_for_room(variables == KEPT_ENDED);
	if (memory)
		memset(f.head->kh_magic, 0, sizeof f.head->kh_magic);
	efi_drop_variables();
	return memory ? KEPT_ENDED : variables;
}

/* keep=nvram: find room in firmware's store of variables. */
static void
find_variables(struct bootinfo *bi)
{
	efi_drop_variables();
	bi->bi_keep_variables = efi_variable_room();
	if (bi->bi_keep_variables == 0)
		efi_say("keep=nvram: UEFI variables have no room: memory alone "
			"keeps the results");
}

/*
 * If memory does not survive a warm reset, each boot looks like the first.  So
 * a file counts the runs, and after some the run ends with power off.
 */
static void
begin(struct bootinfo *bi, enum kept_state last)
{
	unsigned lost = losses();

	if (last == KEPT_DAMAGED)
		efi_say("results of the last run are damaged in memory: they "
			"are not written: run again");
	else if (last == KEPT_RUNNING)
		efi_say("the last run was reset before its end: it has no "
			"results: run again");
	else if (lost > 0)
		efi_say("results of the last run are lost: power was cut, or "
			"firmware clears memory: run again");
	if (lost >= LOSSES_MAX) {
		efi_say("this run's results are not kept: memory does not "
			"survive a reset here: read the serial line");
		set_losses(0);
	} else if (set_losses(lost + 1) && !each_place(take, bi)) {
		efi_say("results are not kept: no %lu MiB of memory are free",
		    KEPT_BYTES >> 20);
	}
}

/* Bring the last run's results home, and prepare for those of this one. */
static void
keep_results(struct bootinfo *bi, const char *keep, const char *then)
{
	const char *why;

	home = efi_volume_home(&why);
	if (home == NULL && why == NULL)
		return;
	enum kept_state last = bring_home(why);
	if (last == KEPT_ENDED) {
		if (strcmp(then, "run") != 0)
			efi_stop(strcmp(then, "reboot") == 0
				     ? EfiResetCold
				     : EfiResetShutdown);
		last = KEPT_ABSENT;
	}
	if (home == NULL) {
		efi_say("results are not kept: %s", why);
		return;
	}
	begin(bi, last);
	bi->bi_keep_home = bi->bi_keep != 0;
	if (bi->bi_keep != 0 && strcmp(keep, "nvram") == 0)
		find_variables(bi);
}

void
efi_kept(struct bootinfo *bi)
{
	char keep[8] = "", then[8] = "off";

	efi_word_value(bi, "keep", keep, sizeof keep);
	efi_word_value(bi, "then", then, sizeof then);
	if (strcmp(keep, "no") != 0)
		keep_results(bi, keep, then);
	/* The pages on the screen are made from what is kept. */
	if (bi->bi_keep == 0 && bi->bi_fb[0].fb_base != 0)
		each_place(take, bi);
}
