/*
 * Checks ELF programs and looks up their symbols.  A file may have any content:
 * every offset and size is checked before use.
 */
#include "kern/proc/elf.h"

#include "lib/printf.h"
#include "lib/string.h"

/* System V ABI, "ELF Header". */
struct ehdr {
	unsigned char e_ident[16];
	uint16_t e_type, e_machine;
	uint32_t e_version;
	uint64_t e_entry, e_phoff, e_shoff;
	uint32_t e_flags;
	uint16_t e_ehsize, e_phentsize, e_phnum;
	uint16_t e_shentsize, e_shnum, e_shstrndx;
};
#define ELFCLASS64  2 /* e_ident[4] */
#define ELFDATA2LSB 1 /* e_ident[5] */
#define ET_EXEC     2
#define ET_DYN      3

/* System V ABI, "Program Header". */
struct phdr {
	uint32_t p_type, p_flags;
	uint64_t p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align;
};
#define PT_LOAD      1
#define PT_INTERP    3
#define PT_GNU_STACK 0x6474e551

/* System V ABI, "Sections" and "Symbol Table". */
struct shdr {
	uint32_t sh_name, sh_type;
	uint64_t sh_flags, sh_addr, sh_offset, sh_size;
	uint32_t sh_link, sh_info;
	uint64_t sh_addralign, sh_entsize;
};
#define SHT_SYMTAB 2

struct sym {
	uint32_t st_name;
	unsigned char st_info, st_other;
	uint16_t st_shndx;
	uint64_t st_value, st_size;
};
#define STT_NOTYPE 0
#define STT_FUNC   2

#define PAGE_MASK  4095ULL
#define INTERP_MAX 256

/* Are n items of this size at offset inside a file of so many bytes? */
static bool
is_inside(size_t bytes, uint64_t offset, uint64_t n, uint64_t size)
{
	uint64_t len;

	return !__builtin_mul_overflow(n, size, &len) && offset <= bytes &&
	       len <= bytes - offset;
}

static const char *
check_header(const struct elf *e, struct ehdr *h, uint16_t machine)
{
	if (e->e_bytes < sizeof *h || memcmp(e->e_data, "\177ELF", 4) != 0)
		return "not an ELF file";
	memcpy(h, e->e_data, sizeof *h);
	if (h->e_ident[4] != ELFCLASS64 || h->e_ident[5] != ELFDATA2LSB)
		return "not a 64-bit little-endian ELF file";
	if (h->e_machine != machine)
		return "ELF file for another machine";
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return "ELF file, but not an executable";
	if (h->e_phnum == 0 || h->e_phentsize != sizeof(struct phdr))
		return "no program headers of the right size";
	if (!is_inside(e->e_bytes, h->e_phoff, h->e_phnum, sizeof(struct phdr)))
		return "program headers outside the file";
	return NULL;
}

/* Check a PT_LOAD segment without regard to the others. */
static const char *
check_segment(const struct elf *e, const struct phdr *ph, unsigned i,
    const struct elf_limits *lim, char *buf, size_t len)
{
	const char *why = NULL;
	uint64_t from, end;

	if (!is_inside(e->e_bytes, ph->p_offset, ph->p_filesz, 1))
		why = "lies outside the file";
	else if (ph->p_filesz > ph->p_memsz)
		why = "is larger in the file than in memory";
	else if ((ph->p_flags & (ELF_W | ELF_X)) == (ELF_W | ELF_X))
		why = "is both writable and executable";
	else if (__builtin_add_overflow(ph->p_vaddr, e->e_bias, &from) ||
		 __builtin_add_overflow(from, ph->p_memsz, &end) ||
		 from < lim->el_base || end > lim->el_top)
		why = "lies outside the user address space";
	if (why == NULL)
		return NULL;
	snprintf(buf, len, "segment %u %s", i, why);
	return buf;
}

static const char *
add_segment(
    struct elf *e, const struct phdr *ph, unsigned i, char *buf, size_t len)
{
	struct elf_segment *s = &e->e_seg[e->e_nseg];

	if (e->e_nseg == ELF_MAXSEG)
		return "more segments than the kernel takes (16)";
	if (e->e_nseg > 0) {
		const char *why = NULL;

		if (ph->p_vaddr < s[-1].seg_vaddr)
			why = "lies below";
		else if (ph->p_vaddr < s[-1].seg_vaddr + s[-1].seg_memsz)
			why = "overlaps";
		else if ((ph->p_vaddr & ~PAGE_MASK) <
			 s[-1].seg_vaddr + s[-1].seg_memsz)
			why = "shares a page with";
		if (why != NULL) {
			snprintf(buf, len, "segment %u %s the one before it", i,
			    why);
			return buf;
		}
	}
	*s = (struct elf_segment){ ph->p_vaddr, ph->p_memsz, ph->p_offset,
		ph->p_filesz, ph->p_flags & (ELF_R | ELF_W | ELF_X) };
	e->e_nseg++;
	e->e_end = ph->p_vaddr + ph->p_memsz + e->e_bias;
	return NULL;
}

/* gABI, "Program Interpreter": a path with a NUL at its end. */
static const char *
take_interp(struct elf *e, const struct phdr *ph)
{
	if (!is_inside(e->e_bytes, ph->p_offset, ph->p_filesz, 1) ||
	    ph->p_filesz < 2 || ph->p_filesz > INTERP_MAX ||
	    e->e_data[ph->p_offset + ph->p_filesz - 1] != '\0')
		return "no path of a loader where its headers say";
	e->e_interp = e->e_data + ph->p_offset;
	return NULL;
}

static bool
entry_ok(const struct elf *e)
{
	for (unsigned i = 0; i < e->e_nseg; i++) {
		const struct elf_segment *s = &e->e_seg[i];

		if ((s->seg_prot & ELF_X) &&
		    e->e_entry - e->e_bias - s->seg_vaddr < s->seg_memsz)
			return true;
	}
	return false;
}

/* Set e_phdr, for AT_PHDR: the segment that loads the headers has them. */
static void
locate_phdr(struct elf *e, const struct ehdr *h)
{
	uint64_t size = h->e_phnum * sizeof(struct phdr);

	for (unsigned i = 0; i < e->e_nseg; i++) {
		const struct elf_segment *s = &e->e_seg[i];

		if (h->e_phoff >= s->seg_offset &&
		    is_inside(
			s->seg_filesz, h->e_phoff - s->seg_offset, size, 1)) {
			e->e_phdr = s->seg_vaddr + h->e_phoff - s->seg_offset +
			            e->e_bias;
			return;
		}
	}
}

const char *
elf_check(const void *data, size_t bytes, const struct elf_limits *lim,
    struct elf *e, char *buf, size_t buflen)
{
	struct ehdr h;
	const char *why;

	*e = (struct elf){ .e_data = data, .e_bytes = bytes };
	if ((why = check_header(e, &h, lim->el_machine)) != NULL)
		return why;
	if (h.e_type == ET_DYN)
		e->e_bias = lim->el_pie_base;
	e->e_phnum = h.e_phnum;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		struct phdr ph;

		/* Headers in a file may be unaligned. */
		memcpy(&ph, e->e_data + h.e_phoff + i * sizeof ph, sizeof ph);
		if (ph.p_type == PT_INTERP &&
		    (why = take_interp(e, &ph)) != NULL)
			return why;
		if (ph.p_type == PT_GNU_STACK)
			e->e_stack = ph.p_memsz;
		if (ph.p_type != PT_LOAD || ph.p_memsz == 0)
			continue;
		if ((why = check_segment(e, &ph, i, lim, buf, buflen)) != NULL)
			return why;
		if ((why = add_segment(e, &ph, i, buf, buflen)) != NULL)
			return why;
	}
	if (e->e_nseg == 0)
		return "nothing to load";
	e->e_entry = h.e_entry + e->e_bias;
	if (!entry_ok(e))
		return "entry point outside every executable segment";
	locate_phdr(e, &h);
	return NULL;
}

/* Get section header i.  Returns false if it or its bytes are not there. */
static bool
get_section(
    const struct elf *e, const struct ehdr *h, unsigned i, struct shdr *sh)
{
	if (i >= h->e_shnum || h->e_shentsize != sizeof *sh ||
	    !is_inside(e->e_bytes, h->e_shoff, h->e_shnum, sizeof *sh))
		return false;
	memcpy(sh, e->e_data + h->e_shoff + i * sizeof *sh, sizeof *sh);
	return is_inside(e->e_bytes, sh->sh_offset, sh->sh_size, 1);
}

static bool
find_symtab(const struct elf *e, struct shdr *symtab, struct shdr *strtab)
{
	struct ehdr h;

	memcpy(&h, e->e_data, sizeof h);
	for (unsigned i = 0; i < h.e_shnum; i++) {
		if (get_section(e, &h, i, symtab) &&
		    symtab->sh_type == SHT_SYMTAB)
			return get_section(e, &h, symtab->sh_link, strtab);
	}
	return false;
}

/* Names may be this long, with the NUL: C++ has long ones. */
#define NAME_MAX 256

/*
 * Returns NULL for a name with control characters: in the log a line break
 * could fake a line.
 */
static const char *
symbol_name(const struct elf *e, const struct shdr *strtab, uint32_t at)
{
	const char *s = e->e_data + strtab->sh_offset + at;

	for (size_t i = 0; i < NAME_MAX && i < strtab->sh_size - at; i++) {
		if (s[i] == '\0')
			return s;
		if ((unsigned char)s[i] < ' ' || s[i] == '\x7f')
			return NULL;
	}
	return NULL;
}

/* Is s a code symbol?  "$x" and the like only mark code or data. */
static bool
is_code_symbol(
    const struct elf *e, const struct shdr *strtab, const struct sym *s)
{
	unsigned type = s->st_info & 15;
	char first;

	if (s->st_shndx == 0 || (type != STT_FUNC && type != STT_NOTYPE) ||
	    s->st_name >= strtab->sh_size)
		return false;
	first = e->e_data[strtab->sh_offset + s->st_name];
	return first != '\0' && first != '$';
}

/*
 * One pass over the symbols, which reads only the first byte of each name: a
 * damaged file must not delay the kernel.
 */
const char *
elf_symbol(const struct elf *e, uint64_t addr, uint64_t *offset)
{
	struct shdr symtab, strtab;
	struct sym best = { .st_value = 0 };
	bool found = false;

	if (addr - e->e_bias >= e->e_end - e->e_bias ||
	    !find_symtab(e, &symtab, &strtab))
		return NULL;
	addr -= e->e_bias;
	for (uint64_t i = 0; i < symtab.sh_size / sizeof(struct sym); i++) {
		struct sym s;

		memcpy(
		    &s, e->e_data + symtab.sh_offset + i * sizeof s, sizeof s);
		if (s.st_value > addr || s.st_value < best.st_value ||
		    (s.st_size > 0 && addr - s.st_value >= s.st_size) ||
		    !is_code_symbol(e, &strtab, &s))
			continue;
		best = s;
		found = true;
	}
	*offset = addr - best.st_value;
	return found ? symbol_name(e, &strtab, best.st_name) : NULL;
}
