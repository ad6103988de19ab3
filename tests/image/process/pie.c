/* A static position-independent program relocates itself. */
#include "tests/lib/image/test.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

extern const char __ehdr_start[];

static int
forty_two(void)
{
	return 42;
}

/* Initialised with addresses, so each needs a relocation. */
static int (*const volatile function)(void) = forty_two;
static const char *const volatile words[] = { "relocated", "strings" };

TEST(it_is_position_independent)
{
	const Elf64_Ehdr *eh = (const void *)__ehdr_start;

	EXPECT_EQ(eh->e_type, ET_DYN);
	EXPECT((uintptr_t)eh >= 0x10000);
	EXPECT_EQ((uintptr_t)eh % 4096, 0);
}

TEST(the_auxiliary_vector_has_its_address)
{
	const Elf64_Ehdr *eh = (const void *)__ehdr_start;

	EXPECT_EQ(getauxval(AT_PHDR), __ehdr_start + eh->e_phoff);
	EXPECT_EQ(getauxval(AT_ENTRY), __ehdr_start + eh->e_entry);
}

TEST(addresses_in_data_are_relocated)
{
	EXPECT(function == forty_two);
	EXPECT_EQ(function(), 42);
	EXPECT(strcmp(words[0], "relocated") == 0);
	EXPECT(strcmp(words[1], "strings") == 0);
}
