/*
 * A DHCP packet from a network, and a TFTP server that has a file of any size
 * up to 255 bytes.  The first byte is the size.  The second says whether the
 * server sends the file.
 */
#include "tests/fuzz/fuzz.h"

#include <sanitizer/asan_interface.h>

#include "boot/efi.h"

static EFI_PXE_BASE_CODE_MODE mode;
static EFI_PXE_BASE_CODE_PROTOCOL protocol = { .Mode = &mode };
static EFI_LOADED_IMAGE_PROTOCOL self;
static EFI_BOOT_SERVICES services;
EFI_LOADED_IMAGE_PROTOCOL *efi_self = &self;
EFI_BOOT_SERVICES *efi_bs = &services;
static uint8_t size, sends;
static void *taken;

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	(void)type;
	(void)align;
	(void)what;
	free(taken);
	return taken = malloc(bytes);
}

/* Only if the server has a file and does not send it. */
void
efi_fail(const char *fmt, ...)
{
	(void)fmt;
	abort();
}

static EFI_STATUS EFIAPI
handle_protocol(EFI_HANDLE handle, EFI_GUID *guid, void **to)
{
	(void)handle;
	(void)guid;
	*to = &protocol;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
mtftp(EFI_PXE_BASE_CODE_PROTOCOL *pxe, EFI_PXE_BASE_CODE_TFTP_OPCODE op,
    void *to, BOOLEAN overwrite, UINT64 *bytes, UINTN *block,
    EFI_IP_ADDRESS *server, UINT8 *name, EFI_PXE_BASE_CODE_MTFTP_INFO *info,
    BOOLEAN without)
{
	UINT64 room = *bytes;

	(void)pxe;
	(void)overwrite;
	(void)block;
	(void)server;
	(void)info;
	(void)without;
	CHECK(strlen((char *)name) < EFI_PATH_MAX);
	if (sends % 2 == 0)
		return EFI_TFTP_ERROR;
	*bytes = size;
	if (op == EFI_PXE_BASE_CODE_TFTP_GET_FILE_SIZE)
		return EFI_SUCCESS;
	if (room < size)
		return EFI_BUFFER_TOO_SMALL;
	memset(to, 'x', size);
	return EFI_SUCCESS;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct efi_home *home;
	char part[16];
	size_t bytes;

	if (n < 2)
		return 0;
	size = data[0];
	sends = data[1];
	if ((n -= 2) > sizeof mode.PxeReply)
		n = sizeof mode.PxeReply;
	memset(&mode, 0, sizeof mode);
	mode.Started = mode.PxeReplyReceived = TRUE;
	memcpy(&mode.PxeReply, data + 2, n);
	protocol.Mtftp = mtftp;
	services.HandleProtocol = handle_protocol;
	self.DeviceHandle = &self;
	/* Nothing after the packet may be read. */
	ASAN_POISON_MEMORY_REGION(&mode.PxeBisReply, sizeof mode.PxeBisReply);
	if (efi_fetch_file("barecpc.cfg", &bytes) != NULL)
		CHECK(bytes == size);
	if ((home = efi_net_home()) != NULL)
		CHECK(home->eh_read("barecpc.run", part, sizeof part) <=
		      sizeof part);
	ASAN_UNPOISON_MEMORY_REGION(&mode.PxeBisReply, sizeof mode.PxeBisReply);
	free(taken);
	taken = NULL;
	return 0;
}
