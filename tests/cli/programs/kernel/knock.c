/*
 * Tries a way from an arm64 guest to the host, at system privilege.  Used by
 * tests/cli/kernel/doors.sh.
 *
 *      knock open FILE | system COMMAND | exit     semihosting
 *      knock off | reset                           PSCI
 *
 * Arm, "Semihosting for AArch32 and AArch64"; Arm PSCI (DEN 0022).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SYS_OPEN          0x01
#define SYS_SYSTEM        0x12
#define SYS_EXIT          0x18
#define OPEN_WRITE        4
#define APPLICATION_EXIT  0x20026
#define PSCI_SYSTEM_OFF   0x84000008
#define PSCI_SYSTEM_RESET 0x84000009

static uint64_t
semihost(uint64_t operation, const uint64_t *block)
{
	register uint64_t x0 __asm__("x0") = operation;
	register const uint64_t *x1 __asm__("x1") = block;

	__asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
	return x0;
}

static void
psci(uint64_t function)
{
	register uint64_t x0 __asm__("x0") = function;

	__asm__ volatile("hvc #0" : "+r"(x0) : : "x1", "x2", "x3", "memory");
}

int
main(int argc, char **argv)
{
	const char *door = argc > 1 ? argv[1] : "";
	const char *text = argc > 2 ? argv[2] : "";
	uint64_t block[3] = { (uintptr_t)text, OPEN_WRITE, strlen(text) };
	uint64_t answer = 0;

	if (strcmp(door, "open") == 0) {
		answer = semihost(SYS_OPEN, block);
	} else if (strcmp(door, "system") == 0) {
		block[1] = strlen(text);
		answer = semihost(SYS_SYSTEM, block);
	} else if (strcmp(door, "exit") == 0) {
		block[0] = APPLICATION_EXIT;
		block[1] = 0;
		answer = semihost(SYS_EXIT, block);
	} else if (strcmp(door, "off") == 0) {
		psci(PSCI_SYSTEM_OFF);
	} else if (strcmp(door, "reset") == 0) {
		psci(PSCI_SYSTEM_RESET);
	}
	printf("%s: answered %llu\n", door, (unsigned long long)answer);
	return 1;
}
