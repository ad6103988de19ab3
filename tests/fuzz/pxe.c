/* A DHCP packet after two bytes: the size of the file, and whether it comes. */
#include "tests/fuzz/fuzz.h"

#include <sanitizer/asan_interface.h>

#include "tests/lib/host/fake_pxe.h"

static void *taken;

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	free(taken);
	return taken = malloc(bytes);
}

/* Only if the server has a file and does not send it. */
void
efi_fail(const char *fmt, ...)
{
	abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char content[256];
	EFI_PXE_BASE_CODE_MODE *m = &fake_pxe_mode;
	size_t bytes;

	if (n < 2)
		return 0;
	fake_tftp.bytes = data[0];
	fake_tftp.content = data[1] % 2 != 0 ? content : NULL;
	if ((n -= 2) > sizeof m->PxeReply)
		n = sizeof m->PxeReply;
	fake_pxe_start();
	m->PxeReplyReceived = TRUE;
	memcpy(&m->PxeReply, data + 2, n);
	/* Nothing after the packet may be read. */
	ASAN_POISON_MEMORY_REGION(&m->PxeBisReply, sizeof m->PxeBisReply);
	if (efi_fetch_file("barecpc.cfg", &bytes) != NULL)
		CHECK(bytes == fake_tftp.bytes);
	CHECK(fake_tftp.name_bytes < EFI_PATH_MAX);
	ASAN_UNPOISON_MEMORY_REGION(&m->PxeBisReply, sizeof m->PxeBisReply);
	free(taken);
	taken = NULL;
	return 0;
}
