/*
 * Results of the last run are found in memory, whatever earlier runs left
 * there.  A board whose memory does not survive a reset stops after some runs.
 * Results that cannot be written stay: the machine waits for a key.
 */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "boot/efi/efi.h"
#include "kern/platform/results/kept.h"
#include "tests/lib/host/fake_efi.h"

#define PLACES 3
#define FIRST  (64UL << 20)
#define BYTES  (FIRST + PLACES * KEPT_STEP)

static SIMPLE_INPUT_INTERFACE keyboard;
static EFI_SYSTEM_TABLE system_table = { .ConIn = &keyboard };
EFI_SYSTEM_TABLE *efi_st = &system_table;

static char *memory; /* the machine's, at a multiple of KEPT_STEP */
static jmp_buf stopped;
static EFI_RESET_TYPE ending; /* how the machine stopped */
static const char *then_word; /* of the command line, or NULL */
static const char *refusal;   /* why files are not written, or NULL */
static const char *refused;   /* only this file, or NULL: all */
static const char *read_only; /* why no file can be written, or NULL */
static unsigned waits;        /* for a key */
static bool key_down;

/* Results in UEFI variables. */
static _Alignas(struct kept_head) char variables[KEPT_VARIABLES_BYTES];
static bool has_variables;

/* Files of the volume. */
static struct file {
	char name[48], data[256];
	size_t bytes;
} files[4];

static struct file *
find_file(const char *name)
{
	for (unsigned i = 0; i < 4; i++)
		if (strcmp(files[i].name, name) == 0)
			return &files[i];
	return NULL;
}

static bool
has_file(const char *name)
{
	return find_file(name) != NULL;
}

static size_t
read_file(const char *name, char *to, size_t room)
{
	const struct file *f = find_file(name);

	assert_non_null(f);
	memcpy(to, f->data, room < f->bytes ? room : f->bytes);
	return room < f->bytes ? room : f->bytes;
}

static const char *
write_file(const char *name, const void *data, size_t n)
{
	struct file *f = find_file(name);

	if (refusal != NULL && (refused == NULL || strcmp(name, refused) == 0))
		return refusal;
	if (f == NULL)
		f = find_file("");
	assert_non_null(f);
	assert_true(n <= sizeof f->data);
	strcpy(f->name, name);
	memcpy(f->data, data, n);
	f->bytes = n;
	return NULL;
}

const struct efi_home *
efi_volume_home(const char **why)
{
	static const struct efi_home home = { has_file, read_file, write_file };

	*why = read_only;
	return read_only == NULL ? &home : NULL;
}

void
efi_say(const char *fmt, ...)
{
}

void
efi_stop(EFI_RESET_TYPE how)
{
	ending = how;
	longjmp(stopped, 1);
}

void
efi_word_value(
    const struct bootinfo *bi, const char *name, char *value, size_t size)
{
	if (strcmp(name, "then") == 0 && then_word != NULL)
		snprintf(value, size, "%s", then_word);
}

bool
efi_read_variables(struct kept_head *to)
{
	if (has_variables)
		memcpy(to, variables, sizeof variables);
	return has_variables;
}

void
efi_drop_variables(void)
{
	has_variables = false;
}

size_t
efi_variable_room(void)
{
	return 0;
}

static EFI_STATUS EFIAPI
allocate_pages(EFI_ALLOCATE_TYPE how, EFI_MEMORY_TYPE type, UINTN pages,
    EFI_PHYSICAL_ADDRESS *at)
{
	assert_int_equal(how, AllocateAddress);
	assert_int_equal(pages, KEPT_PLACE / EFI_PAGE);
	return EFI_SUCCESS;
}

/* A key that was pressed before the wait does not end it. */
static EFI_STATUS EFIAPI
read_key(SIMPLE_INPUT_INTERFACE *this, EFI_INPUT_KEY *key)
{
	if (!key_down)
		return EFI_NOT_READY;
	key_down = false;
	return EFI_SUCCESS;
}

/* Firmware may also signal the event without a key. */
static EFI_STATUS EFIAPI
wait_for_event(UINTN n, EFI_EVENT *events, UINTN *index)
{
	assert_int_equal(n, 1);
	assert_ptr_equal(events[0], keyboard.WaitForKey);
	*index = 0;
	key_down = ++waits == 2;
	return EFI_SUCCESS;
}

static struct kept_head *
head_at(unsigned place)
{
	return (struct kept_head *)(memory + FIRST + place * KEPT_STEP);
}

/* A run with one record and its status.  Each frame has its CRC-32. */
static void
make_run(struct kept_head *h, uint64_t at, size_t bytes, bool ended)
{
	static const char text[] =
	    "BARECPC-BEGIN json 1 2 c06c210c\n{}\nBARECPC-END\n"
	    "BARECPC-BEGIN exit 2 1 42ff7251\n0\nBARECPC-END\n";

	kept_start(h, at, bytes);
	h->kh_bytes = sizeof text - 1;
	h->kh_frames = 2;
	memcpy(kept_text(h), text, sizeof text);
	if (ended)
		kept_end(h);
}

/* A run that was kept at this place. */
static void
keep_run(unsigned place, bool ended)
{
	struct kept_head *h = head_at(place);

	make_run(h, (uintptr_t)h, KEPT_BYTES, ended);
}

/* Boot.  Returns false if the application stops instead of running. */
static bool
boot_machine(struct bootinfo *bi)
{
	volatile bool runs = true; /* also after longjmp() */

	memset(bi, 0, sizeof *bi);
	fake_services.AllocatePages = allocate_pages;
	fake_services.WaitForEvent = wait_for_event;
	keyboard.ReadKeyStroke = read_key;
	keyboard.WaitForKey = &keyboard;
	waits = 0;
	key_down = true;
	if (setjmp(stopped) == 0)
		efi_kept(bi);
	else
		runs = false;
	fake_efi_free();
	return runs;
}

static int
clear_machine(void **state)
{
	static EFI_MEMORY_DESCRIPTOR map;
	static char *all;
	const size_t bytes = BYTES + KEPT_STEP;

	if (all != NULL)
		munmap(all, bytes);
	all = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(all != MAP_FAILED);
	memory = all + (-(uintptr_t)all & (KEPT_STEP - 1));
	map = (EFI_MEMORY_DESCRIPTOR){ .Type = EfiConventionalMemory,
		.PhysicalStart = (uintptr_t)memory,
		.NumberOfPages = BYTES / EFI_PAGE };
	fake_efi_map(&map, 1);
	memset(files, 0, sizeof files);
	then_word = refusal = refused = read_only = NULL;
	has_variables = false;
	return 0;
}

#define MACHINE_TEST(name) TEST_WITH(name, clear_machine, NULL)

MACHINE_TEST(an_older_run_does_not_hide_results)
{
	struct bootinfo bi;

	keep_run(0, false);
	keep_run(1, true);
	assert_false(boot_machine(&bi));
	assert_int_equal(ending, EfiResetShutdown);
	assert_true(has_file("barecpc.log"));
	assert_int_not_equal(head_at(1)->kh_magic[0], KEPT_MAGIC[0]);
	/* Only what did not end is left, and the next boot runs. */
	assert_true(boot_machine(&bi));
	assert_ptr_equal((void *)bi.bi_keep, head_at(0));
	assert_false(has_file("barecpc-2.log"));
}

MACHINE_TEST(lost_runs_end)
{
	struct bootinfo bi;

	for (unsigned run = 0; run < 2; run++) {
		assert_true(boot_machine(&bi));
		assert_int_equal(bi.bi_keep_home, 1);
	}
	assert_true(boot_machine(&bi));
	assert_int_equal(bi.bi_keep_home, 0);
}

/* The machine waits for a key, and makes a warm reset. */
static void
expect_wait(void)
{
	struct bootinfo bi;

	assert_false(boot_machine(&bi));
	assert_int_equal(waits, 2);
	assert_int_equal(ending, EfiResetWarm);
}

MACHINE_TEST(results_wait_for_room)
{
	static const char *const words[] = { "off", "reboot", "run" };
	struct bootinfo bi;

	for (unsigned i = 0; i < 3; i++) {
		clear_machine(state);
		then_word = words[i];
		keep_run(1, true);
		refusal = "the volume is full";
		expect_wait();
		assert_false(has_file("barecpc.log"));
		refusal = NULL;
		read_only = "the volume is read-only";
		expect_wait();
		read_only = NULL;
		assert_int_equal(boot_machine(&bi), i == 2);
		assert_int_equal(waits, 0);
		assert_true(has_file("barecpc.log"));
	}
}

/* The next attempt writes only the log again. */
MACHINE_TEST(a_log_waits_for_room)
{
	struct bootinfo bi;

	keep_run(0, true);
	refusal = "the volume is full";
	refused = "barecpc.log";
	expect_wait();
	assert_true(has_file("barecpc-results.jsonl"));
	refusal = NULL;
	assert_false(boot_machine(&bi));
	assert_true(has_file("barecpc.log"));
	assert_false(has_file("barecpc-results-2.jsonl"));
	/* The results of another run do not replace them. */
	find_file("barecpc.log")->name[0] = '\0';
	find_file("barecpc-results.jsonl")->data[0] = '[';
	keep_run(0, true);
	assert_false(boot_machine(&bi));
	assert_true(has_file("barecpc-results-2.jsonl"));
}

/* Variables keep their results until they are in a file, too. */
MACHINE_TEST(variables_wait_for_room)
{
	struct bootinfo bi;

	make_run((void *)variables, 0, sizeof variables, true);
	has_variables = true;
	then_word = "run";
	refusal = "the volume is full";
	expect_wait();
	assert_true(has_variables);
	refusal = NULL;
	assert_true(boot_machine(&bi));
	assert_false(has_variables);
}
