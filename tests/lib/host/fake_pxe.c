/* Firmware's network boot, and a TFTP server. */
#include "tests/lib/host/fake_pxe.h"

#include <string.h>

struct fake_tftp fake_tftp;
EFI_PXE_BASE_CODE_MODE fake_pxe_mode;
static EFI_PXE_BASE_CODE_PROTOCOL protocol;
static EFI_LOADED_IMAGE_PROTOCOL self;
static EFI_BOOT_SERVICES services;
EFI_LOADED_IMAGE_PROTOCOL *efi_self = &self;
EFI_BOOT_SERVICES *efi_bs = &services;

static EFI_STATUS EFIAPI
handle_protocol(EFI_HANDLE handle, EFI_GUID *guid, void **to)
{
	(void)guid;
	*to = &protocol;
	return handle == &self ? EFI_SUCCESS : EFI_UNSUPPORTED;
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
	(void)info;
	(void)without;
	memcpy(fake_tftp.asked, server, sizeof fake_tftp.asked);
	fake_tftp.name_bytes = strlen((char *)name);
	if (fake_tftp.content == NULL ||
	    (fake_tftp.file != NULL &&
		strcmp((char *)name, fake_tftp.file) != 0))
		return EFI_TFTP_ERROR;
	*bytes = fake_tftp.bytes;
	if (op == EFI_PXE_BASE_CODE_TFTP_GET_FILE_SIZE)
		return EFI_SUCCESS;
	if (op != EFI_PXE_BASE_CODE_TFTP_READ_FILE || room < *bytes)
		return EFI_BUFFER_TOO_SMALL;
	memcpy(to, fake_tftp.content, *bytes);
	return EFI_SUCCESS;
}

void
fake_pxe_start(void)
{
	memset(&fake_pxe_mode, 0, sizeof fake_pxe_mode);
	fake_pxe_mode.Started = TRUE;
	protocol.Mode = &fake_pxe_mode;
	protocol.Mtftp = mtftp;
	services.HandleProtocol = handle_protocol;
	self.DeviceHandle = &self;
}
