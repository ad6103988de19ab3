#include "payloads/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbol {
	uint64_t addr, bytes;
	const char *name;
	unsigned rank; /* of those at one address the lowest is taken */
};

static struct symbol *symbols;
static size_t nsymbol;
static const char *file;
static size_t file_bytes;

/* The whole file, for as long as names are asked for; NULL with errno. */
static char *
read_all(const char *path, size_t *bytes)
{
	struct stat st;
	char *data = NULL;
	ssize_t n;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return NULL;
	if (fstat(fd, &st) == -1 ||
	    (data = malloc((size_t)st.st_size + 1)) == NULL)
		goto out;
	for (*bytes = 0; *bytes < (size_t)st.st_size; *bytes += (size_t)n) {
		n = read(fd, data + *bytes, (size_t)st.st_size - *bytes);
		if (n <= 0)
			break;
	}
	data[*bytes] = '\0'; /* ends whatever string comes last */
out:
	close(fd);
	return data;
}

/* Functions before labels, those seen everywhere before the others. */
static unsigned
rank(const Elf64_Sym *s)
{
	static const unsigned of_bind[] = {
		[STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1
	};
	unsigned bind = ELF64_ST_BIND(s->st_info);

	return 4 * (ELF64_ST_TYPE(s->st_info) != STT_FUNC) +
	       (bind < sizeof of_bind / sizeof of_bind[0] ? of_bind[bind] : 3);
}

static int
compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Code has a name; "$x" and the like only tell data from it. */
static bool
is_code(const Elf64_Sym *s, const char *name, const Elf64_Shdr *sh, size_t nsh)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_NOTYPE) && s->st_shndx < nsh &&
	       (sh[s->st_shndx].sh_flags & SHF_EXECINSTR) != 0 &&
	       name[0] != '$' && name[0] != '\0';
}

static const char *
take(const char *data, size_t bytes, const Elf64_Shdr *sh, size_t nsh,
    const Elf64_Shdr *table)
{
	const Elf64_Shdr *strings = &sh[table->sh_link];
	size_t i, n = table->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *s;

	if (table->sh_link >= nsh || table->sh_offset > bytes ||
	    table->sh_size > bytes - table->sh_offset ||
	    table->sh_offset % _Alignof(Elf64_Sym) != 0 ||
	    strings->sh_offset > bytes)
		return "its symbol table is damaged";
	if ((symbols = calloc(n + 1, sizeof *symbols)) == NULL)
		return strerror(errno);
	s = (const Elf64_Sym *)(data + table->sh_offset);
	for (i = 0; i < n; i++, s++) {
		const char *name = data + strings->sh_offset + s->st_name;

		if (s->st_name >= bytes - strings->sh_offset ||
		    !is_code(s, name, sh, nsh))
			continue;
		symbols[nsymbol++] =
		    (struct symbol){ s->st_value, s->st_size, name, rank(s) };
	}
	qsort(symbols, nsymbol, sizeof *symbols, compare);
	return NULL;
}

const char *
symbols_load(const char *path)
{
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	size_t bytes;
	char *data = read_all(path, &bytes);

	if (data == NULL)
		return strerror(errno);
	file = data;
	file_bytes = bytes;
	eh = (const Elf64_Ehdr *)data;
	if (bytes < sizeof *eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64)
		return "not an ELF program";
	sh = (const Elf64_Shdr *)(data + eh->e_shoff);
	if (eh->e_phoff > bytes || eh->e_phoff % _Alignof(Elf64_Phdr) != 0 ||
	    eh->e_phnum > (bytes - eh->e_phoff) / sizeof(Elf64_Phdr) ||
	    eh->e_shoff > bytes || eh->e_shoff % _Alignof(Elf64_Shdr) != 0 ||
	    eh->e_shnum > (bytes - eh->e_shoff) / sizeof *sh)
		return "its sections are damaged";
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		if (sh[i].sh_type == SHT_SYMTAB)
			return take(data, bytes, sh, eh->e_shnum, &sh[i]);
	}
	return NULL;
}

const char *
symbols_find(uint64_t addr)
{
	size_t lo = 0, hi = nsymbol;

	/* The first that lies behind. */
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (symbols[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return "[unknown]";
	/* Of those at the address before, the first. */
	for (lo--; lo > 0 && symbols[lo - 1].addr == symbols[lo].addr; lo--)
		;
	if (symbols[lo].bytes != 0 &&
	    addr - symbols[lo].addr >= symbols[lo].bytes)
		return "[unknown]";
	return symbols[lo].name;
}

/* The n bytes before an address, as the file has them; NULL: it has not. */
static const unsigned char *
code_before(uint64_t addr, size_t n)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)file;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(file + eh->e_phoff);

	for (unsigned i = 0; i < eh->e_phnum; i++) {
		uint64_t at = addr - n - ph[i].p_vaddr;

		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) != 0 &&
		    at <= ph[i].p_filesz && n <= ph[i].p_filesz - at &&
		    ph[i].p_offset + at + n <= file_bytes)
			return (const unsigned char *)file + ph[i].p_offset +
			       at;
	}
	return NULL;
}

#ifdef __aarch64__
/* Arm ARM (DDI 0487), "BL", "BLR", and "BLRAA" and its like. */
bool
symbols_behind_call(uint64_t addr)
{
	const unsigned char *p = code_before(addr, 4);
	uint32_t insn;

	if (p == NULL)
		return false;
	memcpy(&insn, p, sizeof insn);
	return (insn & 0xfc000000) == 0x94000000 ||
	       (insn & 0xfefff000) == 0xd63f0000;
}
#else
/*
 * Intel SDM vol. 2A, "CALL": E8 and 32 bits; or FF /2, whose length depends
 * on its operand.
 */
bool
symbols_behind_call(uint64_t addr)
{
	const unsigned char *p = code_before(addr, 5);
	size_t n;

	if (p != NULL && p[0] == 0xe8)
		return true;
	for (n = 2; n <= 7; n++) {
		p = code_before(addr, n);
		if (p != NULL && p[0] == 0xff && (p[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}
#endif
