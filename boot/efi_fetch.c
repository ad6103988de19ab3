/*
 * Reads files from the TFTP server that the UEFI application came from.
 *
 * UEFI, "PXE Base Code Protocol" (Mode, Mtftp); RFC 951 (siaddr, file).
 */
#include "boot/efi.h"

#include "lib/string.h"

static EFI_PXE_BASE_CODE_PROTOCOL *
started_pxe(void)
{
	static EFI_GUID guid = EFI_PXE_BASE_CODE_PROTOCOL_GUID;
	EFI_PXE_BASE_CODE_PROTOCOL *pxe;

	if (efi_self->DeviceHandle == NULL ||
	    EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &guid, (void **)&pxe)) ||
	    pxe->Mode == NULL || !pxe->Mode->Started || pxe->Mode->UsingIpv6)
		return NULL;
	return pxe;
}

/* The packet that named the boot file. */
static const EFI_PXE_BASE_CODE_DHCPV4_PACKET *
boot_packet(const EFI_PXE_BASE_CODE_MODE *mode)
{
	if (mode->PxeReplyReceived)
		return &mode->PxeReply.Dhcpv4;
	if (mode->ProxyOfferReceived)
		return &mode->ProxyOffer.Dhcpv4;
	return mode->DhcpAckReceived ? &mode->DhcpAck.Dhcpv4 : NULL;
}

/* Put the folder of the boot file, and the name, into path. */
static void
name_in_folder(
    char *path, const EFI_PXE_BASE_CODE_DHCPV4_PACKET *packet, const char *name)
{
	size_t n = strnlen(
	    (const char *)packet->BootpBootFile, sizeof packet->BootpBootFile);

	if (n >= EFI_PATH_MAX)
		n = 0;
	memcpy(path, packet->BootpBootFile, n);
	while (n > 0 && path[n - 1] != '/' && path[n - 1] != '\\')
		n--;
	strlcpy(path + n, name, EFI_PATH_MAX - n);
}

static void *
fetch(EFI_PXE_BASE_CODE_PROTOCOL *pxe, EFI_IP_ADDRESS *server, char *path,
    size_t *bytes)
{
	UINT64 size = 0;
	EFI_STATUS err;
	void *buf;

	if (EFI_ERROR(
		pxe->Mtftp(pxe, EFI_PXE_BASE_CODE_TFTP_GET_FILE_SIZE, NULL,
		    FALSE, &size, NULL, server, (UINT8 *)path, NULL, FALSE)) ||
	    size == 0)
		return NULL;
	buf = efi_alloc(EfiLoaderData, size, EFI_PAGE, path);
	err = pxe->Mtftp(pxe, EFI_PXE_BASE_CODE_TFTP_READ_FILE, buf, FALSE,
	    &size, NULL, server, (UINT8 *)path, NULL, FALSE);
	if (EFI_ERROR(err))
		efi_fail("cannot fetch %s by TFTP (EFI_STATUS %#llx)", path,
		    (unsigned long long)err);
	*bytes = size;
	return buf;
}

void *
efi_fetch_file(const char *name, size_t *bytes)
{
	static char path[EFI_PATH_MAX];
	EFI_PXE_BASE_CODE_PROTOCOL *pxe = started_pxe();
	const EFI_PXE_BASE_CODE_DHCPV4_PACKET *packet;
	EFI_IP_ADDRESS server;
	void *buf;

	if (pxe == NULL || (packet = boot_packet(pxe->Mode)) == NULL)
		return NULL;
	memset(&server, 0, sizeof server);
	memcpy(&server, packet->BootpSiAddr, sizeof packet->BootpSiAddr);
	name_in_folder(path, packet, name);
	buf = fetch(pxe, &server, path, bytes);
	if (buf == NULL && strcmp(path, name) != 0) {
		strlcpy(path, name, sizeof path);
		buf = fetch(pxe, &server, path, bytes);
	}
	return buf;
}
