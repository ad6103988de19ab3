/*
 * The command line of the UEFI application lies in memory from firmware.  The
 * first byte of the input selects load options or barecpc.cfg for the rest.
 */
#include "tests/fuzz/fuzz.h"

#include "boot/efi/efi.h"

static EFI_LOADED_IMAGE_PROTOCOL self;
EFI_LOADED_IMAGE_PROTOCOL *efi_self = &self;
static struct piece {
	char *at;
	size_t bytes;
} file, text;

void
efi_say(const char *fmt, ...)
{
	char line[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
}

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	text = (struct piece){ malloc(bytes), bytes };
	return text.at;
}

void *
efi_read_file(const char *name, size_t *bytes)
{
	*bytes = file.bytes;
	return file.at;
}

static bool
is_in(const char *p, size_t n, const struct piece *in)
{
	return in->at != NULL && p >= in->at && n <= in->bytes &&
	       (size_t)(p - in->at) <= in->bytes - n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bootinfo *bi = calloc(1, sizeof *bi);

	text = file = (struct piece){ NULL, 0 };
	efi_initrd[0] = '\0';
	self.LoadOptions = NULL;
	self.LoadOptionsSize = 0;
	if (n > 1 && data[0] % 2 == 0) {
		self.LoadOptions = fuzz_copy(data + 1, n - 1);
		self.LoadOptionsSize = (UINT32)(n - 1);
	} else if (n > 1) {
		file = (struct piece){ fuzz_copy(data + 1, n - 1), n - 1 };
	}
	efi_find_cmdline(bi);
	const char *p = (const char *)(uintptr_t)bi->bi_cmdline;
	if (bi->bi_cmdline_bytes > 0)
		CHECK(is_in(p, bi->bi_cmdline_bytes, &text) ||
		      is_in(p, bi->bi_cmdline_bytes, &file));
	CHECK(memchr(efi_initrd, '\0', sizeof efi_initrd) != NULL);
	free(self.LoadOptions);
	free(file.at);
	free(text.at);
	free(bi);
	return 0;
}
