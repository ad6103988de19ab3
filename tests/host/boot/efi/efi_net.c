/* Files of the TFTP server that the last DHCP packet names, whole or not. */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/host/fake_pxe.h"

#define OPTIONS 240 /* offset in a packet */

static EFI_PXE_BASE_CODE_MODE *const mode = &fake_pxe_mode;

static void *taken[4];
static unsigned ntaken;

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	assert_true(ntaken < 4);
	return taken[ntaken++] = malloc(bytes);
}

void
efi_fail(const char *fmt, ...)
{
	abort();
}

static void
serve_file(const char *name, const char *content)
{
	fake_tftp.file = name;
	fake_tftp.content = content;
	fake_tftp.bytes = strlen(content);
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
	fake_pxe_start();
	mode->DhcpAckReceived = TRUE;
	make_packet(&mode->DhcpAck, "\12\11\10\1", "BOOTX64.EFI");
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
	bool right = got != NULL && bytes == fake_tftp.bytes &&
	             memcmp(got, fake_tftp.content, bytes) == 0;

	release();
	return right;
}

TEST(folder_of_the_boot_file)
{
	static const unsigned char option[] = { 0, 1, 2, 255, 255, 67, 5, 'a',
		'/', 'b', '/', 'c', 255 };

	start();
	serve_file("barecpc.cfg", "text");
	assert_true(is_fetched("barecpc.cfg"));
	make_packet(&mode->DhcpAck, "\12\11\10\1", "boot/x64/BOOTX64.EFI");
	assert_true(is_fetched("barecpc.cfg")); /* the server's root */
	fake_tftp.file = "boot/x64/barecpc.cfg";
	assert_true(is_fetched("barecpc.cfg"));
	/* An option overrides the field. */
	memcpy(mode->DhcpAck.Raw + OPTIONS, option, sizeof option);
	assert_false(is_fetched("barecpc.cfg"));
	fake_tftp.file = "a/b/barecpc.cfg";
	assert_true(is_fetched("barecpc.cfg"));
}

TEST(server_of_the_packets)
{
	static const unsigned char option[] = { 54, 4, 10, 0, 0, 7, 255 };

	start();
	serve_file("x", "x");
	make_packet(&mode->ProxyOffer, "\12\0\0\5", NULL);
	assert_true(is_fetched("x"));
	assert_memory_equal(fake_tftp.asked, "\12\11\10\1", 4);
	mode->ProxyOfferReceived = TRUE;
	assert_true(is_fetched("x"));
	assert_memory_equal(fake_tftp.asked, "\12\0\0\5", 4);
	make_packet(&mode->PxeReply, NULL, NULL);
	mode->PxeReplyReceived = TRUE; /* it names no server */
	assert_true(is_fetched("x"));
	assert_memory_equal(fake_tftp.asked, "\12\0\0\5", 4);
	memcpy(mode->PxeReply.Raw + OPTIONS, option, sizeof option);
	assert_true(is_fetched("x"));
	assert_memory_equal(fake_tftp.asked, "\12\0\0\7", 4);
	mode->UsingIpv6 = TRUE;
	assert_false(is_fetched("x"));
	mode->UsingIpv6 = mode->Started = FALSE;
	assert_false(is_fetched("x"));
}
