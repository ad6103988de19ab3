/*
 * Results of the last run are found in memory, whatever earlier runs left
 * there.  A board whose memory does not survive a reset stops after some runs.
 */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "boot/efi.h"
#include "kern/platform/kept.h"

#define PLACES 3
#define FIRST  (64UL << 20)
#define BYTES  (FIRST + PLACES * KEPT_STEP)

static EFI_BOOT_SERVICES services;
EFI_BOOT_SERVICES *efi_bs = &services;

static char *memory; /* the machine's, at a multiple of KEPT_STEP */
static void *taken[8];
static unsigned ntaken;
static jmp_buf stopped;

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
	static const struct efi_home home = { "", has_file, read_file,
		write_file };

	*why = NULL;
	return &home;
}

const struct efi_home *
efi_net_home(void)
{
	return NULL;
}

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	(void)type;
	(void)align;
	(void)what;
	assert_true(ntaken < 8);
	return taken[ntaken++] = malloc(bytes);
}

void
efi_say(const char *fmt, ...)
{
	(void)fmt;
}

void
efi_stop(EFI_RESET_TYPE how)
{
	assert_int_equal(how, EfiResetShutdown);
	longjmp(stopped, 1);
}

void
efi_word_value(
    const struct bootinfo *bi, const char *name, char *value, size_t size)
{
	(void)bi;
	(void)name;
	(void)value;
	(void)size;
}

bool
efi_read_variables(struct kept_head *to)
{
	(void)to;
	return false;
}

void
efi_drop_variables(void)
{
}

size_t
efi_variable_room(void)
{
	return 0;
}

static EFI_STATUS EFIAPI
get_memory_map(UINTN *bytes, EFI_MEMORY_DESCRIPTOR *to, UINTN *key, UINTN *step,
    UINT32 *version)
{
	UINTN room = *bytes;

	*bytes = *step = sizeof *to;
	*version = EFI_MEMORY_DESCRIPTOR_VERSION;
	*key = 1;
	if (room < *bytes)
		return EFI_BUFFER_TOO_SMALL;
	*to = (EFI_MEMORY_DESCRIPTOR){ .Type = EfiConventionalMemory,
		.PhysicalStart = (uintptr_t)memory,
		.NumberOfPages = BYTES / EFI_PAGE };
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
allocate_pages(EFI_ALLOCATE_TYPE how, EFI_MEMORY_TYPE type, UINTN pages,
    EFI_PHYSICAL_ADDRESS *at)
{
	(void)type;
	(void)at;
	assert_int_equal(how, AllocateAddress);
	assert_int_equal(pages, KEPT_PLACE / EFI_PAGE);
	return EFI_SUCCESS;
}

static struct kept_head *
head_at(unsigned place)
{
	return (struct kept_head *)(memory + FIRST + place * KEPT_STEP);
}

/* A run that was kept at this place. */
static void
keep_run(unsigned place, bool ended)
{
	static const char text[] = "BARECPC-BEGIN exit 1 1 0\nBARECPC-END\n";
	struct kept_head *h = head_at(place);

	kept_start(h, (uintptr_t)h, KEPT_BYTES);
	h->kh_bytes = sizeof text - 1;
	memcpy(kept_text(h), text, sizeof text);
	if (ended)
		kept_end(h);
}

/* Boot.  Returns false if the application stops instead of running. */
static bool
boot_machine(struct bootinfo *bi)
{
	bool runs = true;

	memset(bi, 0, sizeof *bi);
	services.GetMemoryMap = get_memory_map;
	services.AllocatePages = allocate_pages;
	if (setjmp(stopped) == 0)
		efi_kept(bi);
	else
		runs = false;
	while (ntaken > 0)
		free(taken[--ntaken]);
	return runs;
}

static int
clear_machine(void **state)
{
	static char *all;
	const size_t bytes = BYTES + KEPT_STEP;

	(void)state;
	if (all != NULL)
		munmap(all, bytes);
	all = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(all != MAP_FAILED);
	memory = all + (-(uintptr_t)all & (KEPT_STEP - 1));
	memset(files, 0, sizeof files);
	return 0;
}

static void
an_older_run_does_not_hide_results(void **state)
{
	struct bootinfo bi;

	(void)state;
	keep_run(0, false);
	keep_run(1, true);
	assert_false(boot_machine(&bi));
	assert_true(has_file("barecpc.log"));
	assert_int_not_equal(head_at(1)->kh_magic[0], KEPT_MAGIC[0]);
	/* Only what did not end is left, and the next boot runs. */
	assert_true(boot_machine(&bi));
	assert_ptr_equal((void *)bi.bi_keep, head_at(0));
	assert_false(has_file("barecpc-2.log"));
}

static void
lost_runs_end(void **state)
{
	struct bootinfo bi;

	(void)state;
	for (unsigned run = 0; run < 2; run++) {
		assert_true(boot_machine(&bi));
		assert_int_equal(bi.bi_keep_home, 1);
	}
	assert_true(boot_machine(&bi));
	assert_int_equal(bi.bi_keep_home, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
		    an_older_run_does_not_hide_results, clear_machine),
		cmocka_unit_test_setup(lost_runs_end, clear_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
