/*
 * Kept results are used only if nothing of them changed.  Every byte of the
 * head and of the text is under a checksum.  The records are those that a
 * reader of the serial line gets, whatever bytes they have.
 */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/console.h"
#include "kern/platform/firmware/efirt.h"
#include "kern/platform/ksym.h"
#include "kern/platform/results/keep.h"
#include "kern/platform/results/kept.h"
#include "kern/platform/run_end.h"

#define AT ((uint64_t)(uintptr_t)memory)

char *const arch_direct = NULL; /* physical memory is the host's memory */

static char *memory;
static size_t room;
static struct kept_head *head;
static char line[1 << 20]; /* what the serial line got */
static size_t sent;
static unsigned restarts;

void
arch_putc(int c)
{
	assert_true(sent < sizeof line);
	line[sent++] = (char)c;
}

void
arch_clean(const void *va, size_t len)
{
	assert_ptr_equal(va, head);
	assert_int_equal(len, sizeof *head + head->kh_bytes);
}

void
arch_relax(void)
{
}

void
efi_restart(void)
{
	restarts++;
}

static unsigned variables_taken, nvariables;
static bool first_variable;
static bool faulty; /* SetVariable() faults, which ends the run by a panic */
static jmp_buf halted;

static void log_text(const char *s);

uint64_t
efi_set_variable(
    const uint16_t *name, const void *vendor, const void *data, size_t bytes)
{
	bool first = name[KEPT_NAME - 2] == '0' && name[KEPT_NAME - 1] == '0';

	assert_non_null(vendor);
	if (faulty) {
		faulty = false;
		log_text("panic\n");
		keep_variables();
		keep_end();
		longjmp(halted, 1);
	}
	if (bytes == 0) {
		nvariables -= nvariables > 0;
		first_variable = first_variable && !first;
		return 0;
	}
	assert_non_null(data);
	if (nvariables == variables_taken)
		return 9; /* EFI_OUT_OF_RESOURCES */
	nvariables++;
	first_variable = first;
	return 0;
}

arch_intr_t
arch_intr_disable(void)
{
	return 0;
}

void
ksym_backtrace(uintptr_t frame)
{
}

void
run_end(int status)
{
	abort();
}

void
run_halt(bool passed)
{
	abort();
}

static void
begin_run(size_t bytes)
{
	struct bootinfo bi = { .bi_keep_bytes =
				   bytes == KEPT_PLACE ? KEPT_BYTES : bytes,
		.bi_keep_home = 1,
		.bi_keep_variables = KEPT_VARIABLES_BYTES };

	free(memory);
	memory = malloc(bytes);
	memset(memory, 0xa5, bytes);
	room = bytes;
	head = (struct kept_head *)memory;
	bi.bi_keep = AT;
	sent = 0;
	cons_set_framed(true);
	keep_start(&bi);
}

static void
log_text(const char *s)
{
	cons_write(STREAM_LOG, s, strlen(s));
}

static void
record(const char *s)
{
	cons_write(STREAM_JSON, s, strlen(s));
}

static void
finish_run(void)
{
	cons_write(STREAM_EXIT, "0", 1);
	log_text("barecpc: exit 0\n");
	keep_end();
}

/* The records as a string, or NULL. */
static char *
records(void)
{
	static char *to;
	const char *why;

	free(to);
	to = malloc(head->kh_bytes + 1);
	long n = kept_records(head, to, &why);
	if (n < 0)
		return NULL;
	to[n] = '\0';
	return to;
}

TEST(a_run_is_kept_as_sent)
{
	begin_run(4096);
	log_text("log\n");
	record(" {\"a\":\n1}\n");
	cons_write(STREAM_STDOUT, "out", 3);
	record("{\"b\":2}");
	assert_int_equal(kept_state(head, AT, room), KEPT_RUNNING);
	finish_run();
	assert_int_equal(kept_state(head, AT, room), KEPT_ENDED);
	assert_int_equal(head->kh_bytes, sent);
	assert_memory_equal(kept_text(head), line, sent);
	assert_string_equal(records(), "{\"a\": 1}\n{\"b\":2}\n");
	restarts = 0;
	assert_true(keep_restart());
	assert_int_equal(restarts, 1);
}

/* Marks are hidden in frames: records get their own bytes back. */
TEST(marks_in_records)
{
	static const char *const text[] = { "BARECPC-END", "BARECPC>-",
		"BARECPC>>-x", "BARECPC>x", "BBARECPC-", "BARECPBARECPC-",
		"BARECPC-BEGIN json 1 1 00000000", "BARECPC", "BARECPC>",
		"BARECPC>BARECPC-" };

	for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
		char want[64];

		begin_run(4096);
		record(text[i]);
		finish_run();
		snprintf(want, sizeof want, "%s\n", text[i]);
		assert_non_null(records());
		assert_string_equal(records(), want);
	}
}

TEST(every_change_is_noticed)
{
	begin_run(2048);
	record("{\"a\":1}");
	finish_run();
	for (size_t i = 0; i < sizeof *head + head->kh_bytes; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memory[i] ^= (char)(1 << bit);
			assert_int_not_equal(
			    kept_state(head, AT, room), KEPT_ENDED);
			memory[i] ^= (char)(1 << bit);
		}
	}
	assert_int_equal(kept_state(head, AT, room), KEPT_ENDED);
	/* Another address or size. */
	assert_int_equal(kept_state(head, AT + 4096, room), KEPT_ABSENT);
	assert_int_equal(kept_state(head, AT, room - 1), KEPT_DAMAGED);
}

/* Frames that are wrong, although the text's checksum holds. */
TEST(damaged_frames)
{
	for (unsigned way = 0; way < 4; way++) {
		begin_run(2048);
		record("{\"a\":1}");
		if (way == 3)
			keep_end(); /* a panic sends no status */
		else
			finish_run();
		char *s = strstr(kept_text(head), "json ");
		if (way == 0)
			s[strlen("json ")] ^= 1;
		else if (way == 1)
			memcpy(strstr(s, "-END"), "-eND", 4);
		else if (way == 2)
			head->kh_frames++;
		kept_end(head);
		assert_int_equal(kept_state(head, AT, room), KEPT_ENDED);
		assert_null(records());
	}
}

/* Any text at all, with a right checksum: no access outside of it. */
TEST(any_text)
{
	static const char *const part[] = { "BARECPC-", "BEGIN ", "json ", "1 ",
		"4294967295 ", "exit ", "00000000\n", "\nBARECPC-END\n", "x",
		"BARECPC-BEGIN json 1 1 " };

	srand(1);
	for (unsigned run = 0; run < 5000; run++) {
		char text[256] = "";
		const char *why;

		for (unsigned i = 0; i < (unsigned)rand() % 10; i++)
			strcat(text, part[(unsigned)rand() % 10]);
		begin_run(sizeof *head + strlen(text));
		head->kh_bytes = (uint32_t)strlen(text);
		memcpy(kept_text(head), text, strlen(text));
		kept_end(head);
		void *to = malloc(strlen(text) + 1);
		kept_records(head, to, &why);
		free(to);
	}
}

/* No digit follows: white space at the end of the text is not skipped. */
TEST(a_number_is_missing)
{
	static const char text[] = "BARECPC-BEGIN json 2 9 \n";
	const char *why;
	char to[64];

	begin_run(sizeof *head + strlen(text));
	head->kh_bytes = (uint32_t)strlen(text);
	memcpy(kept_text(head), text, strlen(text));
	kept_end(head);
	assert_int_equal(kept_records(head, to, &why), -1);
	assert_string_equal(why, "a frame is damaged");
}

/* The log never takes the room of records; a lost record is no result. */
TEST(too_much_text)
{
	begin_run(4096);
	for (unsigned i = 0; i < 500; i++)
		log_text("a line of the log\n");
	assert_true(head->kh_bytes <= 2048);
	assert_true(head->kh_log_lost > 0);
	cons_write(STREAM_STDOUT, line, 1000);
	record("{\"a\":1}");
	finish_run();
	assert_string_equal(records(), "{\"a\":1}\n");

	begin_run(4096);
	for (unsigned i = 0; i < 100; i++)
		record("{\"a\":\"0123456789012345678901234567890123456789\"}");
	finish_run();
	assert_true(head->kh_lost > 0);
	assert_int_equal(kept_state(head, AT, room), KEPT_ENDED);
	assert_null(records());
}

/* UEFI variables get the records alone, in as much room as there is. */
TEST(records_for_variables)
{
	struct kept_head *to = malloc(KEPT_VARIABLES_BYTES);
	char got[256];
	const char *why;
	size_t n;

	begin_run(4096);
	log_text("log\n");
	record("{\"a\":\"BARECPC-END\"}");
	cons_write(STREAM_STDOUT, "out", 3);
	assert_int_equal(kept_copy(head, to, KEPT_VARIABLES_BYTES), 0);
	finish_run();
	n = kept_copy(head, to, KEPT_VARIABLES_BYTES);
	assert_int_equal(n, sizeof *to + to->kh_bytes);
	assert_int_equal(kept_state(to, 0, KEPT_VARIABLES_BYTES), KEPT_ENDED);
	assert_null(strstr(kept_text(to), "out"));
	got[kept_records(to, got, &why)] = '\0';
	assert_string_equal(got, "{\"a\":\"BARECPC-END\"}\n");
	assert_int_equal(kept_copy(head, to, n), n);
	assert_int_equal(kept_copy(head, to, n - 1), 0);
	assert_true(n < KEPT_VARIABLES_BYTES);
	free(to);
}

TEST(names_of_variables)
{
	static const char want[] = "BarecpcKept31";
	uint16_t name[KEPT_NAME + 1];

	kept_variable_name(KEPT_VARIABLES - 1, name);
	for (size_t i = 0; i < sizeof want; i++)
		assert_int_equal(name[i], want[i]);
}

/* Firmware takes some variables: these are removed, and the first is absent. */
static void
make_variables(void)
{
	begin_run(KEPT_PLACE);
	for (unsigned i = 0; i < 60; i++)
		record("{\"a\":\"0123456789012345678901234567890123456789\"}");
	cons_write(STREAM_EXIT, "0", 1);
	nvariables = 0;
	keep_variables();
}

TEST(variables_are_refused)
{
	for (variables_taken = 0; variables_taken < 4; variables_taken++) {
		make_variables();
		assert_int_equal(nvariables, 0);
		assert_false(first_variable);
	}
	variables_taken = 100;
	make_variables();
	assert_true(nvariables > 4 && first_variable);
}

/* The panic must not write variables again.  Memory has the records. */
TEST(firmware_faults)
{
	faulty = true;
	variables_taken = 100;
	if (setjmp(halted) == 0)
		make_variables();
	assert_int_equal(nvariables, 0);
	assert_int_equal(kept_state(head, AT, KEPT_BYTES), KEPT_ENDED);
	assert_non_null(records());
	assert_true(keep_restart());
}

/* Another CPU prints while the machine ends. */
TEST(text_after_the_end)
{
	begin_run(4096);
	record("{\"a\":1}");
	finish_run();
	log_text("another CPU\n");
	record("{\"b\":2}");
	assert_int_equal(kept_state(head, AT, room), KEPT_ENDED);
	assert_string_equal(records(), "{\"a\":1}\n");
}

TEST(nothing_is_kept)
{
	static const struct bootinfo none;

	begin_run(1024);
	head->kh_magic[0] = 0;
	assert_int_equal(kept_state(head, AT, room), KEPT_ABSENT);
	head = NULL;
	keep_start(&none); /* memory stays in use, if it was */
}
