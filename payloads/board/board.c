/*
 * Writes a report on the machine to the file "board".  It has what firmware
 * told the kernel, and on x86 what CPUID returns.  Reports in tests/boards/ are
 * tests of the parsers: docs/machine.md, "Add a board".
 *
 * Each line is JSON.  The first has the machine's description.  Each other one
 * has a name, a physical address, a length, and the bytes: compressed by zlib,
 * then in Base64.  Names of this one machine are overwritten:
 * board_hide.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "include/sys/barecpc.h"
#include "payloads/board/board.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"
#include "payloads/tools/out_file.h"

#define READ_BYTES (1 << 20)

static unsigned char *
read_firmware(size_t *bytes)
{
	int fd = open("/dev/firmware", O_RDONLY | O_CLOEXEC);
	unsigned char *all = NULL;
	ssize_t n = 1;

	if (fd == -1)
		fail(1, "/dev/firmware: cannot be opened");
	for (*bytes = 0; n > 0; *bytes += (size_t)n) {
		all = fail_unless_room(realloc(all, *bytes + READ_BYTES));
		if ((n = read(fd, all + *bytes, READ_BYTES)) == -1)
			fail(1, "/dev/firmware: cannot be read");
	}
	close(fd);
	return all;
}

static void
write_piece(
    FILE *f, const struct barecpc_firmware *head, const unsigned char *bytes)
{
	uLongf n = compressBound(head->bf_bytes);
	unsigned char *small = fail_unless_room(calloc(1, n + 2));
	char name[sizeof head->bf_name + 1] = { 0 };

	if (compress2(small, &n, bytes, head->bf_bytes, 9) != Z_OK)
		fail(1, "no memory");
	memcpy(name, head->bf_name, sizeof head->bf_name);
	fputs("{\"name\":", f);
	json_string(f, name);
	fprintf(f, ",\"address\":\"%#lx\",\"bytes\":%lu,\"zlib\":\"",
	    (unsigned long)head->bf_pa, (unsigned long)head->bf_bytes);
	json_base64(f, small, n);
	fputs("\"}\n", f);
	free(small);
}

static void
write_pieces(FILE *f, unsigned char *all, size_t bytes)
{
	struct barecpc_firmware head;

	for (size_t at = 0; at + sizeof head <= bytes;) {
		memcpy(&head, all + at, sizeof head);
		at += sizeof head;
		board_hide(head.bf_name, all + at, head.bf_bytes);
		write_piece(f, &head, all + at);
		at += head.bf_bytes;
	}
	head = (struct barecpc_firmware){ .bf_name = "CPUI" };
	head.bf_bytes = board_cpu_leaves((struct board_leaf *)(void *)all,
			    READ_BYTES / sizeof(struct board_leaf)) *
	                sizeof(struct board_leaf);
	if (head.bf_bytes > 0)
		write_piece(f, &head, all);
}

int
main(int argc, char **argv)
{
	size_t bytes;
	FILE *f;

	usage_is("", "");
	usage_option(argc, argv, ":", NULL);
	if (optind < argc)
		usage_mistake("%s: takes no argument", argv[optind]);
	unsigned char *all = read_firmware(&bytes);
	if ((f = out_open("board")) == NULL)
		fail(1, "board: cannot be opened");
	fprintf(f, "{\"board\":1,\"machine\":{%s}}\n", json_machine());
	write_pieces(f, all, bytes);
	out_close(f, argc, argv);
	free(all);
	puts("board: the report is in the records: read it by "
	     "barecpc read --out board=FILE");
	return 0;
}
