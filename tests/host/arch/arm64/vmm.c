/*
 * Each hypervisor has the name of its UID, and an unknown UID is "unknown".
 * Without a UID the name is what the host says.  The words are those of SMCCC:
 * byte 0 of the UUID is the lowest of x0.
 */
#include "tests/lib/host/support.h"

#include "arch/arm64/arm64.h"

#define NO_UID 0xffffffff

/* The first word of a UUID, from its first four bytes as printed. */
static uint32_t
first_word(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	return a | (uint32_t)b << 8 | (uint32_t)c << 16 | (uint32_t)d << 24;
}

TEST(uids_have_names)
{
	assert_string_equal(
	    arm64_vmm_name(first_word(0x28, 0xb4, 0x6f, 0xb6), true, "tcg"),
	    "kvm");
	assert_string_equal(
	    arm64_vmm_name(first_word(0x58, 0xba, 0x32, 0x4d), true, NULL),
	    "hyperv");
	assert_string_equal(
	    arm64_vmm_name(first_word(0xc1, 0xd5, 0x8f, 0xcd), false, NULL),
	    "gunyah");
	assert_string_equal(
	    arm64_vmm_name(first_word(0xa7, 0x18, 0x12, 0xdc), true, NULL),
	    "xen");
}

TEST(other_answers)
{
	assert_string_equal(arm64_vmm_name(0x12345678, true, "tcg"), "unknown");
}

/* Without a UID only the host can tell an emulator from a hypervisor. */
TEST(the_host_names_what_does_not_answer)
{
	assert_string_equal(arm64_vmm_name(NO_UID, true, "tcg"), "tcg");
	assert_string_equal(arm64_vmm_name(NO_UID, true, "kvm"), "kvm");
	assert_string_equal(arm64_vmm_name(NO_UID, true, NULL), "unknown");
	assert_string_equal(arm64_vmm_name(NO_UID, true, "tc"), "unknown");
	assert_string_equal(arm64_vmm_name(NO_UID, true, ""), "unknown");
	assert_string_equal(arm64_vmm_name(NO_UID, false, NULL), "none");
	/* An emulated board has the board's own tables. */
	assert_string_equal(arm64_vmm_name(NO_UID, false, "tcg"), "tcg");
}
