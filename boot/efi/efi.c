/*
 * Entry from UEFI: BOOTX64.EFI and BOOTAA64.EFI, each a file that contains the
 * kernel and its archive.  While the firmware still works, this code collects
 * what the kernel needs.  Then it places the image, exits boot services, and
 * enters the kernel.  docs/boot.md describes what is handed over.
 */
#include "boot/efi/efi.h"

#include "kern/platform/results/kept.h"
#include "lib/printf.h"
#include "lib/string.h"

#define IMAGE_ALIGN  (2ULL << 20)
#define READ_TIME_US 5000000

EFI_SYSTEM_TABLE *efi_st;
EFI_BOOT_SERVICES *efi_bs;
EFI_LOADED_IMAGE_PROTOCOL *efi_self;

EFI_STATUS EFIAPI efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *st);

static void
print_text(const char *s)
{
	CHAR16 wide[2] = { 0, 0 };

	if (efi_st->ConOut == NULL)
		return;
	for (; *s != '\0'; s++) {
		wide[0] = (CHAR16)*s;
		efi_st->ConOut->OutputString(efi_st->ConOut, wide);
	}
}

static void
print_line(const char *fmt, va_list ap)
{
	char line[160], shown[160];

	vsnprintf(line, sizeof line, fmt, ap);
	strlcpy_shown(shown, line, sizeof shown);
	print_text("barecpc: ");
	print_text(shown);
	print_text("\r\n");
}

void
efi_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(fmt, ap);
	va_end(ap);
}

void
efi_stop(EFI_RESET_TYPE how)
{
	efi_bs->Stall(READ_TIME_US);
	efi_st->RuntimeServices->ResetSystem(how, EFI_SUCCESS, 0, NULL);
	for (;;)
		;
}

void
efi_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(fmt, ap);
	va_end(ap);
	efi_stop(EfiResetShutdown);
}

/* Free the pages of an allocation that only its alignment needed. */
static uint64_t
free_excess(uint64_t base, uint64_t got, uint64_t bytes, uint64_t align)
{
	uint64_t at = (base + align - 1) & -align;

	if (at > base)
		efi_bs->FreePages(base, (at - base) / EFI_PAGE);
	if (base + got > at + bytes)
		efi_bs->FreePages(
		    at + bytes, (base + got - at - bytes) / EFI_PAGE);
	return at;
}

void *
efi_alloc(EFI_MEMORY_TYPE type, size_t bytes, size_t align, const char *what)
{
	EFI_PHYSICAL_ADDRESS at = 0xffffffff;
	uint64_t len = (bytes + EFI_PAGE - 1) & -EFI_PAGE;
	uint64_t pages = (len + align - EFI_PAGE) / EFI_PAGE;

	if (bytes > (1ULL << 40) ||
	    (EFI_ERROR(
		 efi_bs->AllocatePages(AllocateMaxAddress, type, pages, &at)) &&
		EFI_ERROR(
		    efi_bs->AllocatePages(AllocateAnyPages, type, pages, &at))))
		efi_fail("no memory for %s (%zu bytes)", what, bytes);
	return (void *)free_excess(at, pages * EFI_PAGE, len, align);
}

/*
 * Firmware may map new pages without execution: ask it to allow that.  Older
 * firmware has no such protocol, and maps pages for code with it.
 * UEFI Specification 2.10, "EFI_MEMORY_ATTRIBUTE_PROTOCOL".
 */
static void
allow_execution(uint64_t at, uint64_t bytes)
{
	static EFI_GUID guid = { 0xf4560cf6, 0x40ec, 0x4b4a,
		{ 0xa1, 0x92, 0xbf, 0x1d, 0x57, 0xd0, 0xb1, 0x89 } };
	typedef EFI_STATUS(EFIAPI change_fn)(
	    void *, uint64_t base, uint64_t bytes, uint64_t attributes);
	struct {
		void *get;
		change_fn *set, *clear;
	} * ma;

	if (!EFI_ERROR(efi_bs->LocateProtocol(&guid, NULL, (void **)&ma)))
		ma->clear(
		    ma, at, (bytes + EFI_PAGE - 1) & -EFI_PAGE, EFI_MEMORY_XP);
}

/* Copy the image to its final place.  Returns the address of its entry. */
static uint64_t
place_kernel(struct bootinfo *bi)
{
	const char *from = efi_kernel();
	size_t bytes = efi_self->ImageSize -
	               (size_t)(from - (const char *)efi_self->ImageBase);
	struct efi_kernel ek;
	char *at;

	efi_kernel_header(&ek);
	if (ek.efk_bytes < bytes)
		efi_fail("the kernel in this file has a damaged header: copy "
			 "the file again");
	/* Not data pages: firmware may map those without execution. */
	at = efi_alloc(EfiLoaderCode, ek.efk_offset + ek.efk_bytes, IMAGE_ALIGN,
	    "the kernel");
	at += ek.efk_offset;
	allow_execution((uintptr_t)at, ek.efk_bytes);
	/* This application follows the kernel: the kernel clears that part. */
	memcpy(at, from, bytes);
	bi->bi_kern = (uintptr_t)at;
	bi->bi_kern_bytes = ek.efk_bytes;
	return bi->bi_kern + ek.efk_entry;
}

/* In the firmware's map our data is loader memory, thus FREE: reserve it. */
static void
keep_memory(struct bootinfo *bi)
{
	bootinfo_add(bi, bi->bi_kern, bi->bi_kern_bytes, BOOTMEM_KEEP);
	bootinfo_add(bi, (uintptr_t)bi, sizeof *bi, BOOTMEM_KEEP);
	bootinfo_add(bi, bi->bi_cmdline, bi->bi_cmdline_bytes, BOOTMEM_KEEP);
	if (bi->bi_keep != 0)
		bootinfo_add(bi, bi->bi_keep, KEPT_PLACE, BOOTMEM_KEEP);
}

EFI_STATUS EFIAPI
efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *st)
{
	static EFI_GUID loaded_image = LOADED_IMAGE_PROTOCOL;
	struct bootinfo *bi;

	efi_st = st;
	efi_bs = st->BootServices;
	/*
	 * Firmware resets the machine five minutes after it has started a boot
	 * option.  A large archive may take longer.  UEFI Specification,
	 * "EFI_BOOT_SERVICES.SetWatchdogTimer()": 0 turns it off.
	 */
	efi_bs->SetWatchdogTimer(0, 0, 0, NULL);
	if (EFI_ERROR(efi_bs->HandleProtocol(
		image, &loaded_image, (void **)&efi_self)))
		efi_fail("firmware does not say where this file came from: "
			 "update it");

	bi = efi_alloc(EfiLoaderData, sizeof *bi, EFI_PAGE, "the boot map");
	memset(bi, 0, sizeof *bi);
	bi->bi_magic = BOOTINFO_MAGIC;
	bi->bi_via = BOOT_UEFI;
	bi->bi_efi_systab = (uintptr_t)st;
	efi_find_cmdline(bi);
	efi_find_framebuffers(bi);
	efi_kept(bi);
	efi_find_archive(bi);
	efi_find_tables(bi);
	uint64_t entry = place_kernel(bi);

	efi_exit(image, bi);
	keep_memory(bi);
	bootinfo_sort(bi);
	efi_enter(bi, entry);
}
