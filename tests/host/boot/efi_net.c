/*
 * Files of a TFTP server.  The server is the one that the last DHCP packet
 * names, in a field or in an option.  Firmware gets files as a whole, or not at
 * all.
 */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "boot/efi.h"

#define OPTIONS 240 /* offset in a packet */

static EFI_PXE_BASE_CODE_MODE mode;
static EFI_PXE_BASE_CODE_PROTOCOL protocol;
static EFI_LOADED_IMAGE_PROTOCOL self;
static EFI_BOOT_SERVICES services;
EFI_LOADED_IMAGE_PROTOCOL *efi_self = &self;
EFI_BOOT_SERVICES *efi_bs = &services;

/* The server's file. */
static const char *served, *content;
static unsigned char asked[4]; /* the server's address */

static void *taken[4];
static unsigned ntaken;

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	(void)type;
	(void)align;
	(void)what;
	assert_true(ntaken < 4);
	return taken[ntaken++] = malloc(bytes);
}

void
efi_fail(const char *fmt, ...)
{
	(void)fmt;
	abort();
}

static EFI_STATUS EFIAPI
handle_protocol(EFI_HANDLE handle, EFI_GUID *guid, void **to)
{
	(void)guid;
	assert_ptr_equal(handle, &self);
	*to = &protocol;
	return EFI_SUCCESS;
}

/* As EDK II: nothing is copied to a buffer that is too small. */
static EFI_STATUS EFIAPI
mtftp(EFI_PXE_BASE_CODE_PROTOCOL *pxe, EFI_PXE_BASE_CODE_TFTP_OPCODE op,
    void *to, BOOLEAN overwrite, UINT64 *bytes, UINTN *block,
    EFI_IP_ADDRESS *server, UINT8 *name, EFI_PXE_BASE_CODE_MTFTP_INFO *info,
    BOOLEAN without)
{
	UINT64 room = *bytes;

	(void)overwrite;
	(void)block;
	(void)info;
	(void)without;
	assert_ptr_equal(pxe, &protocol);
	memcpy(asked, server, sizeof asked);
	if (strcmp((char *)name, served) != 0)
		return EFI_TFTP_ERROR;
	*bytes = strlen(content);
	if (op == EFI_PXE_BASE_CODE_TFTP_GET_FILE_SIZE)
		return EFI_SUCCESS;
	assert_int_equal(op, EFI_PXE_BASE_CODE_TFTP_READ_FILE);
	if (room < *bytes)
		return EFI_BUFFER_TOO_SMALL;
	memcpy(to, content, *bytes);
	return EFI_SUCCESS;
}

/* A packet with the server's address in the field, or in an option. */
static void
make_packet(EFI_PXE_BASE_CODE_PACKET *p, const char *server, const char *file)
{
	memset(p, 0, sizeof *p);
	if (server != NULL)
		memcpy(p->Dhcpv4.BootpSiAddr, server, 4);
	if (file != NULL)
		strcpy((char *)p->Dhcpv4.BootpBootFile, file);
	p->Raw[OPTIONS] = 255;
}

static void
start(void)
{
	memset(&mode, 0, sizeof mode);
	mode.Started = mode.DhcpAckReceived = TRUE;
	make_packet(&mode.DhcpAck, "\12\11\10\1", "BOOTX64.EFI");
	memcpy(mode.DhcpAck.Dhcpv4.BootpHwAddr, "\x52\x54\0\x12\x34\x56", 6);
	protocol.Mode = &mode;
	protocol.Mtftp = mtftp;
	services.HandleProtocol = handle_protocol;
	self.DeviceHandle = &self;
}

static void
release(void)
{
	while (ntaken > 0)
		free(taken[--ntaken]);
}

/* The bytes of the file, by the name that the application looks for. */
static bool
is_fetched(const char *name)
{
	size_t bytes;
	char *got = efi_fetch_file(name, &bytes);
	bool right = got != NULL && bytes == strlen(content) &&
	             memcmp(got, content, bytes) == 0;

	release();
	return right;
}

static void
part_of_a_file(void **state)
{
	const struct efi_home *home;
	char got[4] = "---";

	(void)state;
	start();
	home = efi_net_home();
	assert_non_null(home);
	assert_string_equal(home->eh_tag, "-525400123456");
	served = "barecpc.run";
	content = "2 runs";
	assert_true(home->eh_has("barecpc.run"));
	assert_int_equal(home->eh_read("barecpc.run", got, 1), 1);
	assert_string_equal(got, "2--");
	content = "2";
	assert_int_equal(home->eh_read("barecpc.run", got, 3), 1);
	assert_int_equal(home->eh_read("barecpc.cfg", got, 3), 0);
	release();
}

static void
folder_of_the_boot_file(void **state)
{
	static const unsigned char option[] = { 0, 1, 2, 255, 255, 67, 5, 'a',
		'/', 'b', '/', 'c', 255 };

	(void)state;
	start();
	content = "text";
	served = "barecpc.cfg";
	assert_true(is_fetched("barecpc.cfg"));
	make_packet(&mode.DhcpAck, "\12\11\10\1", "boot/x64/BOOTX64.EFI");
	assert_true(is_fetched("barecpc.cfg")); /* the server's root */
	served = "boot/x64/barecpc.cfg";
	assert_true(is_fetched("barecpc.cfg"));
	/* An option overrides the field. */
	memcpy(mode.DhcpAck.Raw + OPTIONS, option, sizeof option);
	assert_false(is_fetched("barecpc.cfg"));
	served = "a/b/barecpc.cfg";
	assert_true(is_fetched("barecpc.cfg"));
}

static void
server_of_the_packets(void **state)
{
	static const unsigned char option[] = { 54, 4, 10, 0, 0, 7, 255 };

	(void)state;
	start();
	served = content = "x";
	make_packet(&mode.ProxyOffer, "\12\0\0\5", NULL);
	assert_true(is_fetched("x"));
	assert_memory_equal(asked, "\12\11\10\1", 4);
	mode.ProxyOfferReceived = TRUE;
	assert_true(is_fetched("x"));
	assert_memory_equal(asked, "\12\0\0\5", 4);
	make_packet(&mode.PxeReply, NULL, NULL);
	mode.PxeReplyReceived = TRUE; /* it names no server */
	assert_true(is_fetched("x"));
	assert_memory_equal(asked, "\12\0\0\5", 4);
	memcpy(mode.PxeReply.Raw + OPTIONS, option, sizeof option);
	assert_true(is_fetched("x"));
	assert_memory_equal(asked, "\12\0\0\7", 4);
	mode.UsingIpv6 = TRUE;
	assert_false(is_fetched("x"));
	mode.UsingIpv6 = mode.Started = FALSE;
	assert_false(is_fetched("x"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(part_of_a_file),
		cmocka_unit_test(folder_of_the_boot_file),
		cmocka_unit_test(server_of_the_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
