/* The ELF check takes static programs and PIEs, and refuses malformed files. */
#include "tests/lib/host/support.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "kern/proc/elf.h"

#define MACHINE EM_AARCH64
#define BASE    0x10000UL
#define TOP     0x7ffffffff000UL
#define PIE     0x40000000UL

static const struct elf_limits limits = { MACHINE, BASE, TOP, PIE };

/* A program of two segments, with a symbol table. */
static struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[4];
	char text[64];
	char data[32];
	Elf64_Shdr sh[3];
	Elf64_Sym sym[4];
	char str[32];
} img;

static struct elf e;
static char buf[128];

static void
make_segments(void)
{
	img.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = 0x400000,
		.p_filesz = offsetof(struct image, data),
		.p_memsz = offsetof(struct image, data) };
	img.ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
		.p_flags = PF_R | PF_W,
		.p_offset = offsetof(struct image, data),
		.p_vaddr = 0x402000,
		.p_filesz = sizeof img.data,
		.p_memsz = 0x3000 };
	img.ph[2] = (Elf64_Phdr){ .p_type = PT_GNU_STACK, .p_memsz = 0x20000 };
}

static void
make_symbols(void)
{
	static const char str[] = "\0main\0$x\0helper\0odd";

	memcpy(img.str, str, sizeof str);
	img.sh[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct image, sym),
		.sh_size = sizeof img.sym,
		.sh_link = 2 };
	img.sh[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct image, str),
		.sh_size = sizeof img.str };
	img.sym[1] = (Elf64_Sym){ .st_name = 1,
		.st_info = STT_FUNC,
		.st_shndx = 1,
		.st_value = 0x400100,
		.st_size = 16 };
	img.sym[2] = (Elf64_Sym){ .st_name = 6,
		.st_info = STT_NOTYPE,
		.st_shndx = 1,
		.st_value = 0x400108 };
	img.sym[3] = (Elf64_Sym){ .st_name = 9,
		.st_info = STT_NOTYPE,
		.st_shndx = 1,
		.st_value = 0x400110 };
}

static void
make_image(void)
{
	memset(&img, 0, sizeof img);
	memcpy(img.eh.e_ident, ELFMAG, SELFMAG);
	img.eh.e_ident[EI_CLASS] = ELFCLASS64;
	img.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	img.eh.e_type = ET_EXEC;
	img.eh.e_machine = MACHINE;
	img.eh.e_entry = 0x400010;
	img.eh.e_phoff = offsetof(struct image, ph);
	img.eh.e_phentsize = sizeof *img.ph;
	img.eh.e_phnum = 3;
	img.eh.e_shoff = offsetof(struct image, sh);
	img.eh.e_shentsize = sizeof *img.sh;
	img.eh.e_shnum = 3;
	make_segments();
	make_symbols();
}

/* Check the first n bytes, in an allocation of that size. */
static const char *
check_bytes(size_t n)
{
	char *copy = exact_copy(&img, n);
	const char *why = elf_check(copy, n, &limits, &e, buf, sizeof buf);
	uint64_t offset;

	if (why == NULL)
		elf_symbol(&e, e.e_entry, &offset);
	free(copy);
	return why;
}

static void
expect_refusal(const char *want)
{
	const char *why = check_bytes(sizeof img);

	assert_non_null(why);
	assert_string_equal(why, want);
	make_image();
}

TEST(accepts)
{
	make_image();
	assert_null(check_bytes(sizeof img));
	assert_int_equal(e.e_stack, 0x20000);
	assert_int_equal(e.e_nseg, 2);
	assert_int_equal(e.e_entry, 0x400010);
	assert_int_equal(e.e_phdr, 0x400000 + offsetof(struct image, ph));
	assert_int_equal(e.e_end, 0x405000);
	assert_int_equal(e.e_bias, 0);
}

TEST(accepts_pie)
{
	make_image();
	img.eh.e_type = ET_DYN;
	img.eh.e_entry = 0x10;
	img.ph[0].p_vaddr = 0;
	img.ph[1].p_vaddr = 0x2000;
	assert_null(check_bytes(sizeof img));
	assert_int_equal(e.e_bias, PIE);
	assert_int_equal(e.e_entry, PIE + 0x10);
	assert_int_equal(e.e_end, PIE + 0x5000);
	assert_int_equal(e.e_phdr, PIE + offsetof(struct image, ph));
}

static void
set_loader(const char *path, size_t bytes)
{
	make_image();
	strncpy(img.data, path, sizeof img.data);
	img.ph[2] = (Elf64_Phdr){ .p_type = PT_INTERP,
		.p_offset = offsetof(struct image, data),
		.p_filesz = bytes };
}

TEST(finds_the_loader)
{
	set_loader("/loader", 8);
	assert_null(check_bytes(sizeof img));
	set_loader("/loader", 7);
	expect_refusal("no path of a loader where its headers say");
	set_loader("", 1);
	expect_refusal("no path of a loader where its headers say");
	set_loader("/loader", 300);
	expect_refusal("no path of a loader where its headers say");
	set_loader("/loader", 8);
	img.ph[2].p_offset = sizeof img - 7;
	expect_refusal("no path of a loader where its headers say");
}

TEST(refuses_headers)
{
	make_image();
	img.eh.e_ident[0] = '#';
	expect_refusal("not an ELF file");
	img.eh.e_ident[EI_CLASS] = ELFCLASS32;
	expect_refusal("not a 64-bit little-endian ELF file");
	img.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	expect_refusal("not a 64-bit little-endian ELF file");
	img.eh.e_machine = EM_X86_64;
	expect_refusal("ELF file for another machine");
	img.eh.e_type = ET_REL;
	expect_refusal("ELF file, but not an executable");
	img.eh.e_phnum = 0;
	expect_refusal("no program headers of the right size");
	img.eh.e_phentsize = 32;
	expect_refusal("no program headers of the right size");
	img.eh.e_phoff = sizeof img - 10;
	expect_refusal("program headers outside the file");
	img.eh.e_phoff = ~0UL;
	expect_refusal("program headers outside the file");
	img.eh.e_phnum = 0xffff;
	expect_refusal("program headers outside the file");
	img.ph[0].p_type = img.ph[1].p_type = PT_NULL;
	expect_refusal("nothing to load");
}

TEST(refuses_segments)
{
	make_image();
	img.ph[1].p_offset = sizeof img;
	expect_refusal("segment 1 lies outside the file");
	img.ph[1].p_offset = ~0UL - 8;
	expect_refusal("segment 1 lies outside the file");
	img.ph[1].p_filesz = img.ph[1].p_memsz = ~0UL;
	expect_refusal("segment 1 lies outside the file");
	img.ph[1].p_memsz = 1;
	expect_refusal("segment 1 is larger in the file than in memory");
	img.ph[0].p_flags |= PF_W;
	expect_refusal("segment 0 is both writable and executable");
	img.ph[1].p_memsz = ~0UL - 0x1000;
	expect_refusal("segment 1 lies outside the user address space");
	img.ph[1].p_vaddr = 0xffffffff80000000;
	expect_refusal("segment 1 lies outside the user address space");
	img.ph[1].p_vaddr = TOP - 0x1000;
	expect_refusal("segment 1 lies outside the user address space");
	img.ph[0].p_vaddr = 0;
	expect_refusal("segment 0 lies outside the user address space");
	img.ph[1].p_vaddr = 0x400010;
	expect_refusal("segment 1 overlaps the one before it");
	img.ph[1].p_vaddr = 0x400800;
	expect_refusal("segment 1 shares a page with the one before it");
	img.ph[1].p_vaddr = 0x300000;
	expect_refusal("segment 1 lies below the one before it");
}

TEST(refuses_entry)
{
	static const uint64_t entries[] = { 0, 0x3fffff, 0x402000,
		0x400000 + offsetof(struct image, data), ~0UL };

	make_image();
	for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++) {
		img.eh.e_entry = entries[i];
		expect_refusal("entry point outside every executable segment");
	}
}

TEST(names_symbols)
{
	uint64_t offset = 0;

	make_image();
	assert_null(elf_check(&img, sizeof img, &limits, &e, buf, sizeof buf));
	assert_string_equal(elf_symbol(&e, 0x40010c, &offset), "main");
	assert_int_equal(offset, 0xc);
	assert_string_equal(elf_symbol(&e, 0x400114, &offset), "helper");
	assert_int_equal(offset, 4);
	assert_null(elf_symbol(&e, 0x4000ff, &offset));
	assert_null(elf_symbol(&e, 0x500000, &offset));
	img.eh.e_shnum = 0;
	assert_null(elf_symbol(&e, 0x400114, &offset));
	make_image();
	img.sym[1].st_name = ~0u;
	assert_null(elf_symbol(&e, 0x400108, &offset));
}

/* Otherwise a payload could forge frames and the last line of the console. */
TEST(refuses_symbols_with_control_characters)
{
	uint64_t offset = 0;

	make_image();
	assert_null(elf_check(&img, sizeof img, &limits, &e, buf, sizeof buf));
	char *name = (char *)(uintptr_t)elf_symbol(&e, 0x40010c, &offset);
	assert_string_equal(name, "main");
	name[1] = '\n';
	assert_null(elf_symbol(&e, 0x40010c, &offset));
	name[1] = '\x1b';
	assert_null(elf_symbol(&e, 0x40010c, &offset));
}

/* Every length, and many random corruptions; the sanitizer checks. */
TEST(survives_anything)
{
	make_image();
	for (size_t n = 0; n < sizeof img; n++)
		check_bytes(n);
	srand(4);
	for (unsigned round = 0; round < 200000; round++) {
		make_image();
		for (int n = 1 + rand() % 4; n > 0; n--)
			((unsigned char *)&img)[(size_t)rand() %
						(rand() % 2
							? sizeof img
							: offsetof(struct image,
							      text))] =
			    (unsigned char)rand();
		check_bytes(sizeof img);
	}
}
