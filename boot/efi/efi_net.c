/*
 * Reads files of the TFTP server that the UEFI application came from.
 *
 * UEFI, "PXE Base Code Protocol" (Mode, Mtftp); RFC 951 (siaddr, file).
 */
#include "boot/efi/efi.h"

#include "lib/string.h"

static EFI_PXE_BASE_CODE_PROTOCOL *pxe;
static EFI_IP_ADDRESS server;

#define OPTION_PAD    0
#define OPTION_SERVER 54 /* server identifier */
#define OPTION_FILE   67 /* bootfile name */
#define OPTION_END    255

/*
 * The value of an option of a DHCP packet, *n bytes; NULL if it is absent.
 * RFC 2132, "BOOTP Extension/DHCP Option Field Format".
 */
static const UINT8 *
find_option(const EFI_PXE_BASE_CODE_PACKET *p, UINT8 option, size_t *n)
{
	size_t at = (size_t)(p->Dhcpv4.DhcpOptions - p->Raw);

	while (at + 1 < sizeof p->Raw && p->Raw[at] != OPTION_END) {
		const UINT8 *o = p->Raw + at;

		if (o[0] == OPTION_PAD) {
			at++;
			continue;
		}
		at += 2 + o[1];
		if (at > sizeof p->Raw)
			return NULL;
		if (o[0] == option) {
			*n = o[1];
			return o + 2;
		}
	}
	return NULL;
}

/*
 * The server's address in a DHCP packet: siaddr, or else option 54 (server
 * identifier).  RFC 2131, "Protocol Summary"; RFC 2132, "Server Identifier".
 */
static bool
take_server(const EFI_PXE_BASE_CODE_PACKET *p)
{
	size_t n;

	memcpy(&server, p->Dhcpv4.BootpSiAddr, 4);
	if (server.Addr[0] != 0)
		return true;
	const UINT8 *id = find_option(p, OPTION_SERVER, &n);
	if (id == NULL || n != 4)
		return false;
	memcpy(&server, id, 4);
	return true;
}

static UINT8 *
file_name(const char *name)
{
	return (UINT8 *)(uintptr_t)name;
}

/* Get the size of a file.  Returns false if the server does not have it. */
static bool
get_size(const char *name, UINT64 *size)
{
	return !EFI_ERROR(pxe->Mtftp(pxe, EFI_PXE_BASE_CODE_TFTP_GET_FILE_SIZE,
	    NULL, FALSE, size, NULL, &server, file_name(name), NULL, FALSE));
}

/* Get a file that has `size` bytes.  Returns them, or 0. */
static size_t
get_file(const char *name, void *to, UINT64 size)
{
	if (EFI_ERROR(pxe->Mtftp(pxe, EFI_PXE_BASE_CODE_TFTP_READ_FILE, to,
		FALSE, &size, NULL, &server, file_name(name), NULL, FALSE)))
		return 0;
	return size;
}

/*
 * Find the server.  Returns the packet that named it, or NULL.  PXE, "Boot
 * Server Discovery": the last reply names it.
 */
static const EFI_PXE_BASE_CODE_PACKET *
find_server(void)
{
	static EFI_GUID guid = EFI_PXE_BASE_CODE_PROTOCOL_GUID;

	if (efi_self->DeviceHandle == NULL ||
	    EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &guid, (void **)&pxe)) ||
	    pxe->Mode == NULL || !pxe->Mode->Started || pxe->Mode->UsingIpv6)
		return NULL;
	const EFI_PXE_BASE_CODE_MODE *m = pxe->Mode;
	if (m->PxeReplyReceived && take_server(&m->PxeReply))
		return &m->PxeReply;
	if (m->ProxyOfferReceived && take_server(&m->ProxyOffer))
		return &m->ProxyOffer;
	if (m->DhcpAckReceived && take_server(&m->DhcpAck))
		return &m->DhcpAck;
	return NULL;
}

/*
 * Put the folder of the boot file, and the name, into path.  A server gives the
 * boot file in the packet's field or in an option.
 */
static void
name_in_folder(
    char *path, const EFI_PXE_BASE_CODE_PACKET *packet, const char *name)
{
	size_t room, n;
	const UINT8 *file = find_option(packet, OPTION_FILE, &room);

	if (file == NULL) {
		file = packet->Dhcpv4.BootpBootFile;
		room = sizeof packet->Dhcpv4.BootpBootFile;
	}
	n = strnlen((const char *)file, room);
	while (n > 0 && file[n - 1] != '/' && file[n - 1] != '\\')
		n--;
	memcpy(path, file, n);
	strlcpy(path + n, name, EFI_PATH_MAX - n);
}

static void *
fetch(const char *path, size_t *bytes)
{
	UINT64 size = 0;

	if (!get_size(path, &size) || size == 0)
		return NULL;
	void *buf = efi_alloc(EfiLoaderData, size, EFI_PAGE, path);
	*bytes = get_file(path, buf, size);
	if (*bytes == 0)
		efi_fail("cannot fetch %s by TFTP: the server has it, and does "
			 "not send it",
		    path);
	return buf;
}

void *
efi_fetch_file(const char *name, size_t *bytes)
{
	static char path[EFI_PATH_MAX];
	const EFI_PXE_BASE_CODE_PACKET *packet = find_server();

	if (packet == NULL)
		return NULL;
	name_in_folder(path, packet, name);
	void *buf = fetch(path, bytes);
	if (buf == NULL && strcmp(path, name) != 0)
		buf = fetch(name, bytes);
	return buf;
}
