/*
 * The command line of the UEFI application.  Load options override
 * barecpc.cfg.  Words of a shell or of firmware are dropped, lines are joined,
 * comments are left out.  Nothing is read beyond the end.
 */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/efi/efi.h"

static EFI_LOADED_IMAGE_PROTOCOL self;
EFI_LOADED_IMAGE_PROTOCOL *efi_self = &self;

static const char *cfg; /* barecpc.cfg, or NULL */
static size_t cfg_bytes;
static void *taken[2]; /* from efi_alloc() and efi_read_file() */

static char said[256];

void
efi_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof said, fmt, ap);
	va_end(ap);
}

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	return taken[0] = malloc(bytes);
}

void *
efi_read_file(const char *name, size_t *bytes)
{
	assert_string_equal(name, "barecpc.cfg");
	if (cfg == NULL)
		return NULL;
	*bytes = cfg_bytes;
	return taken[1] = exact_copy(cfg, cfg_bytes);
}

static void
expect_cmdline(const char *want)
{
	struct bootinfo bi = { 0 };

	efi_initrd[0] = said[0] = '\0';
	efi_find_cmdline(&bi);
	if (want != NULL) {
		assert_int_equal(bi.bi_cmdline_bytes, strlen(want));
		assert_memory_equal((const char *)(uintptr_t)bi.bi_cmdline,
		    want, bi.bi_cmdline_bytes);
	}
	free(taken[0]);
	free(taken[1]);
	taken[0] = taken[1] = NULL;
}

static void
expect_of_options(const CHAR16 *opt, size_t n, const char *want)
{
	self.LoadOptions = exact_copy(opt, n * sizeof *opt);
	self.LoadOptionsSize = (UINT32)(n * sizeof *opt);
	expect_cmdline(want);
	free(self.LoadOptions);
	self.LoadOptions = NULL;
	self.LoadOptionsSize = 0;
}

/* A wide character literal is not a CHAR16 on this machine. */
static void
expect_of(const char *opt, const char *want)
{
	size_t n = strlen(opt) + 1;
	CHAR16 *wide = malloc(n * sizeof *wide);

	for (size_t i = 0; i < n; i++)
		wide[i] = (unsigned char)opt[i];
	expect_of_options(wide, n, want);     /* with its NUL */
	expect_of_options(wide, n - 1, want); /* and without it */
	free(wide);
}

static void
set_cfg(const char *s)
{
	cfg = s;
	cfg_bytes = s != NULL ? strlen(s) : 0;
}

TEST(from_options)
{
	set_cfg("from=cfg");
	expect_of("priv=system -- spin 3", "priv=system -- spin 3");
	expect_of("  -- spin", "-- spin");
	expect_of("fs0:\\EFI\\BOOT\\BOOTX64.EFI -- spin", "-- spin");
	expect_of("bootaa64.efi\ttimeout=1", "timeout=1");
	expect_of("-- spin x.efi", "-- spin x.efi");
	expect_of("efi -- a", "efi -- a");
	expect_of("-- spin initrd=initrd", "-- spin");
	expect_of("output=text root=/dev/sdb3", "output=text root=/dev/sdb3");
	/* A possible misspelt option is kept: the kernel refuses it. */
	expect_of("timout=5", "timout=5");
	expect_of("console=framed", "console=framed");
}

TEST(from_cfg)
{
	static const CHAR16 guid[] = { 0xd5fb, 0x1234, 0x0001, 0xffff };

	set_cfg("from=cfg");
	expect_cmdline("from=cfg");
	expect_of("", "from=cfg");
	expect_of("BOOTX64.EFI", "from=cfg");
	expect_of("BOOTX64.EFI  ", "from=cfg");
	/* Binary data of a boot manager is not a command line. */
	expect_of_options(guid, 4, "from=cfg");
	set_cfg(NULL);
	expect_cmdline("");
}

/* Options for another system, such as U-Boot's bootargs. */
TEST(foreign_options)
{
	set_cfg("priv=system");
	expect_of("root=/dev/sdb3 console=ttyS2,1500000", "priv=system");
	assert_non_null(strstr(said, "root=/dev/sdb3 console=ttyS2,1500000"));
	expect_of("ro quiet initrd=\\initrd.img", "priv=system");
	set_cfg(NULL);
	expect_of("root=/dev/sdb3 ro", "root=/dev/sdb3 ro");
	set_cfg("");
	expect_of("", "");
}

static void
expect_initrd(const char *options, const char *want)
{
	expect_of(options, NULL);
	assert_string_equal(efi_initrd, want);
}

/* The path is the last word that the loader adds, or a word before `--`. */
TEST(initrd_path)
{
	set_cfg(NULL);
	expect_initrd("-- spin initrd=\\EFI\\more.cpio", "\\EFI\\more.cpio");
	expect_initrd("initrd=/more.cpio priv=user", "/more.cpio");
	expect_initrd("priv=user -- spin initrd=a b", "");
	expect_initrd("-- spin 1", "");
	expect_initrd("initrd=", "");
	expect_initrd("initrd=a priv=user -- spin initrd=b", "b");
	set_cfg("initrd=more.cpio\n-- spin");
	expect_initrd("", "more.cpio");
	expect_initrd("quiet initrd=x", "x");
	set_cfg(NULL);
}

TEST(wide_characters)
{
	static const CHAR16 opt[] = { 'a', 0xe9, 0x20ac, 0 };

	expect_of_options(opt, 4, "a\xc3\xa9\xe2\x82\xac");
}

TEST(lines)
{
	set_cfg("# how\npriv=system\r\n#timeout=1\ncpus=2 # no comment\n\n");
	expect_cmdline("priv=system   cpus=2 # no comment");
	set_cfg("\xef\xbb\xbf-- spin");
	expect_cmdline("-- spin");
	set_cfg("#");
	expect_cmdline("");
	set_cfg("\n\n");
	expect_cmdline("");
	set_cfg("#a\n#b");
	expect_cmdline("");
}
