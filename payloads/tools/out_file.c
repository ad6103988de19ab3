/* Sends files to the host, as records of the kind "file" (docs/records.md). */
#include "payloads/tools/out_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"

#define PIECE 16384 /* of a file, in one record */

static const char *file_name;
static char *text;
static size_t length;

FILE *
out_open(const char *name)
{
	if (strncmp(name, "/dev/", 5) == 0)
		return fopen(name, "w");
	if (*name == '\0') {
		errno = ENOENT;
		return NULL;
	}
	file_name = name;
	return open_memstream(&text, &length);
}

static void
file_members(FILE *f, const void *piece)
{
	json_member(f, "file", file_name);
	json_member(f, "text", piece);
}

void
out_close(FILE *f, int argc, char *const *argv)
{
	char piece[PIECE + 1];

	close_or_fail(f);
	if (text == NULL)
		return;
	for (size_t at = 0, n; at == 0 || at < length; at += n) {
		n = length - at < PIECE ? length - at : PIECE;
		memcpy(piece, text + at, n);
		piece[n] = '\0';
		json_record(argc, argv, file_members, piece);
	}
	free(text);
	text = NULL;
	length = 0;
}
