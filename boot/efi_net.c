/*
 * Writes files to the TFTP server that the UEFI application came from.
 *
 * UEFI, "PXE Base Code Protocol".
 */
#include "boot/efi.h"

#include "lib/printf.h"
#include "lib/string.h"

static EFI_PXE_BASE_CODE_PROTOCOL *pxe;
static EFI_IP_ADDRESS server;
static char tag[] = "-000000000000"; /* with the network card's address */

/*
 * The server's address in a DHCP packet: siaddr, or else option 54 (server
 * identifier).  RFC 2131, "Protocol Summary"; RFC 2132, "Server Identifier".
 */
static bool
take_server(const EFI_PXE_BASE_CODE_PACKET *p)
{
	const UINT8 *o = p->Dhcpv4.DhcpOptions, *end = p->Raw + sizeof p->Raw;

	memcpy(&server, p->Dhcpv4.BootpSiAddr, 4);
	if (server.Addr[0] != 0)
		return true;
	while (o + 1 < end && *o != 255) {
		if (*o == 54 && o + 6 <= end && o[1] == 4) {
			memcpy(&server, o + 2, 4);
			return true;
		}
		o += *o == 0 ? 1 : 2 + o[1];
	}
	return false;
}

static UINT8 *
file_name(const char *name)
{
	return (UINT8 *)(uintptr_t)name;
}

static bool
has_file(const char *name)
{
	UINT64 size = 0;

	return !EFI_ERROR(pxe->Mtftp(pxe, EFI_PXE_BASE_CODE_TFTP_GET_FILE_SIZE,
	    NULL, FALSE, &size, NULL, &server, file_name(name), NULL, FALSE));
}

static size_t
read_file(const char *name, char *to, size_t room)
{
	UINT64 size = room;

	if (EFI_ERROR(pxe->Mtftp(pxe, EFI_PXE_BASE_CODE_TFTP_READ_FILE, to,
		FALSE, &size, NULL, &server, file_name(name), NULL, FALSE)))
		return 0;
	return size;
}

static const char *
write_file(const char *name, const void *data, size_t bytes)
{
	UINT64 size = bytes;

	if (EFI_ERROR(pxe->Mtftp(pxe, EFI_PXE_BASE_CODE_TFTP_WRITE_FILE,
		(void *)(uintptr_t)data, TRUE, &size, NULL, &server,
		file_name(name), NULL, FALSE)))
		return "the TFTP server refuses it or does not answer: let it "
		       "create files";
	return NULL;
}

/* PXE, "Boot Server Discovery": the last reply names the server. */
const struct efi_home *
efi_net_home(void)
{
	static const struct efi_home home = { tag, has_file, read_file,
		write_file };
	static EFI_GUID guid = EFI_PXE_BASE_CODE_PROTOCOL_GUID;
	const EFI_PXE_BASE_CODE_MODE *m;
	bool found = false;

	if (efi_self->DeviceHandle == NULL ||
	    EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &guid, (void **)&pxe)) ||
	    pxe->Mode == NULL || !pxe->Mode->Started || pxe->Mode->UsingIpv6)
		return NULL;
	m = pxe->Mode;
	if (m->PxeReplyReceived)
		found = take_server(&m->PxeReply);
	if (!found && m->ProxyOfferReceived)
		found = take_server(&m->ProxyOffer);
	if (!found && m->DhcpAckReceived)
		found = take_server(&m->DhcpAck);
	for (unsigned i = 0; i < 6; i++)
		snprintf(tag + 1 + 2 * i, 3, "%02x",
		    m->DhcpAck.Dhcpv4.BootpHwAddr[i]);
	return found ? &home : NULL;
}
