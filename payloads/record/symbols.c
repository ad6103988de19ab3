/* Reads a program's ELF symbols, and finds the function of an address. */
#include "payloads/record/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbol {
	uint64_t addr, bytes;
	const char *name;
	unsigned rank; /* the lowest wins at one address */
};

struct symbols {
	struct symbol *sy_all; /* by address */
	size_t sy_n;
	char *sy_file;
	size_t sy_bytes;
};

/* Read the whole file.  Returns NULL with errno on error. */
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
	data[*bytes] = '\0'; /* ends the file's last string */
out:
	close(fd);
	return data;
}

/* Functions rank before labels, global symbols before weak and local ones. */
static unsigned
symbol_rank(const Elf64_Sym *s)
{
	static const unsigned of_bind[] = {
		[STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1
	};
	unsigned bind = ELF64_ST_BIND(s->st_info);

	return 4 * (ELF64_ST_TYPE(s->st_info) != STT_FUNC) +
	       (bind < sizeof of_bind / sizeof of_bind[0] ? of_bind[bind] : 3);
}

static int
compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Does the symbol name code?  Arm's "$x" and "$d" only mark code and data. */
static bool
is_code(const Elf64_Sym *s, const char *name, const Elf64_Shdr *sh, size_t nsh)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_NOTYPE) && s->st_shndx < nsh &&
	       (sh[s->st_shndx].sh_flags & SHF_EXECINSTR) != 0 &&
	       name[0] != '$' && name[0] != '\0';
}

static const char *
read_table(struct symbols *sy, const Elf64_Shdr *sh, size_t nsh,
    const Elf64_Shdr *table)
{
	const char *data = sy->sy_file;
	size_t bytes = sy->sy_bytes;
	const Elf64_Shdr *strings = &sh[table->sh_link];
	size_t i, n = table->sh_size / sizeof(Elf64_Sym);

	if (table->sh_link >= nsh || table->sh_offset > bytes ||
	    table->sh_size > bytes - table->sh_offset ||
	    table->sh_offset % _Alignof(Elf64_Sym) != 0 ||
	    strings->sh_offset > bytes)
		return "its symbol table is damaged";
	if ((sy->sy_all = calloc(n + 1, sizeof *sy->sy_all)) == NULL)
		return strerror(errno);
	const Elf64_Sym *s = (const Elf64_Sym *)(data + table->sh_offset);
	for (i = 0; i < n; i++, s++) {
		const char *name = data + strings->sh_offset + s->st_name;

		if (s->st_name >= bytes - strings->sh_offset ||
		    !is_code(s, name, sh, nsh))
			continue;
		/* A label without a size ends with its section. */
		sy->sy_all[sy->sy_n++] = (struct symbol){ s->st_value,
			s->st_size != 0
			    ? s->st_size
			    : sh[s->st_shndx].sh_addr +
				  sh[s->st_shndx].sh_size - s->st_value,
			name, symbol_rank(s) };
	}
	qsort(sy->sy_all, sy->sy_n, sizeof *sy->sy_all, compare_symbols);
	return NULL;
}

static const char *
read_symbols(struct symbols *sy, const char *path)
{
	size_t bytes;
	char *data = read_all(path, &bytes);

	if (data == NULL)
		return strerror(errno);
	sy->sy_file = data;
	sy->sy_bytes = bytes;
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)data;
	if (bytes < sizeof *eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64)
		return "not an ELF program";
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(data + eh->e_shoff);
	if (eh->e_phoff > bytes || eh->e_phoff % _Alignof(Elf64_Phdr) != 0 ||
	    eh->e_phnum > (bytes - eh->e_phoff) / sizeof(Elf64_Phdr) ||
	    eh->e_shoff > bytes || eh->e_shoff % _Alignof(Elf64_Shdr) != 0 ||
	    eh->e_shnum > (bytes - eh->e_shoff) / sizeof *sh)
		return "its sections are damaged";
	/* A library without symbols still has those that it exports. */
	for (unsigned i = 0; i < 2u * eh->e_shnum; i++) {
		const Elf64_Shdr *at = &sh[i % eh->e_shnum];

		if (at->sh_type == (i < eh->e_shnum ? SHT_SYMTAB : SHT_DYNSYM))
			return read_table(sy, sh, eh->e_shnum, at);
	}
	return NULL;
}

struct symbols *
symbols_load(const char *path, const char **wrong)
{
	struct symbols *sy = calloc(1, sizeof *sy);

	*wrong = sy != NULL ? read_symbols(sy, path) : strerror(errno);
	if (*wrong == NULL)
		return sy;
	symbols_free(sy);
	return NULL;
}

/*
 * Linux, tools/perf/Documentation/jit-interface.txt: lines of START SIZE NAME,
 * both numbers in hex.  Code may be replaced: the last line of an address wins.
 */
static void
read_map(struct symbols *sy)
{
	char *at = sy->sy_file, *end;

	for (; *at != '\0'; at = end) {
		struct symbol *s = &sy->sy_all[sy->sy_n];

		end = at + strcspn(at, "\n");
		if (*end != '\0')
			*end++ = '\0';
		s->addr = strtoull(at, &at, 16);
		s->bytes = strtoull(at, &at, 16);
		s->name = at + strspn(at, " ");
		s->rank = ~(unsigned)sy->sy_n;
		sy->sy_n += s->bytes != 0 && *s->name != '\0';
	}
	qsort(sy->sy_all, sy->sy_n, sizeof *sy->sy_all, compare_symbols);
}

struct symbols *
symbols_load_map(const char *path)
{
	struct symbols *sy = calloc(1, sizeof *sy);
	size_t lines = 1;

	if (sy == NULL || (sy->sy_file = read_all(path, &sy->sy_bytes)) == NULL)
		goto fail;
	for (const char *s = sy->sy_file; (s = strchr(s, '\n')) != NULL; s++)
		lines++;
	if ((sy->sy_all = calloc(lines, sizeof *sy->sy_all)) == NULL)
		goto fail;
	read_map(sy);
	return sy;
fail:
	symbols_free(sy);
	return NULL;
}

void
symbols_free(struct symbols *sy)
{
	if (sy == NULL)
		return;
	free(sy->sy_file);
	free(sy->sy_all);
	free(sy);
}

const char *
symbols_find(const struct symbols *sy, uint64_t addr)
{
	size_t lo = 0, hi;

	if (sy == NULL)
		return NULL;
	const struct symbol *symbols = sy->sy_all;
	hi = sy->sy_n;

	/* Find the first symbol after the address. */
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (symbols[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return NULL;
	/* Take the first symbol of the address before it. */
	for (lo--; lo > 0 && symbols[lo - 1].addr == symbols[lo].addr; lo--)
		;
	return addr - symbols[lo].addr < symbols[lo].bytes ? symbols[lo].name
	                                                   : NULL;
}

#define PAGE_BYTES 4096

uint64_t
symbols_address(const struct symbols *sy, uint64_t offset)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)sy->sy_file;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(sy->sy_file + eh->e_phoff);

	for (unsigned i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) != 0 &&
		    offset - (ph[i].p_offset & -PAGE_BYTES) <
			ph[i].p_filesz + PAGE_BYTES)
			return ph[i].p_vaddr + offset - ph[i].p_offset;
	}
	return offset;
}

const unsigned char *
symbols_code_before(const struct symbols *sy, uint64_t addr, size_t n)
{
	if (sy == NULL)
		return NULL;
	const char *file = sy->sy_file;
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)file;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(file + eh->e_phoff);
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		uint64_t at = addr - n - ph[i].p_vaddr;

		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) != 0 &&
		    at <= ph[i].p_filesz && n <= ph[i].p_filesz - at &&
		    ph[i].p_offset + at + n <= sy->sy_bytes)
			return (const unsigned char *)file + ph[i].p_offset +
			       at;
	}
	return NULL;
}
