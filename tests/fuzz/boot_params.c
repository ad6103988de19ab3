/* Struct boot_params and what it points to, in memory that repeats. */
#include "tests/fuzz/fuzz.h"

#include "arch/x86/x86.h"
#include "kern/platform/bootinfo.h"

#define PARAMS       0x90000
#define PARAMS_BYTES 3280
#define MAPPED       (4ULL << 30)
#define COPIES       1024

static const uint8_t *params, *memory;
static size_t memory_bytes;
static void *copies[COPIES];
static unsigned ncopy;

/* A request of more bytes is for a text or BIOS's area. */
static const void *
large(size_t bytes)
{
	static uint8_t area[1 << 17];

	memcpy(area, memory, memory_bytes);
	return bytes <= sizeof area ? area : NULL;
}

/* A copy of exactly these bytes, so that an access outside is found. */
static const void *
map(uint64_t pa, uint64_t bytes)
{
	uint8_t *p;

	if (pa == PARAMS && bytes == PARAMS_BYTES)
		return params;
	if (pa == 0 || pa >= MAPPED || bytes > MAPPED - pa)
		return NULL;
	if (bytes > 8192)
		return large(bytes);
	if (ncopy == COPIES || memory_bytes == 0)
		return NULL;
	copies[ncopy++] = p = malloc(bytes);
	for (uint64_t i = 0; i < bytes; i++)
		p[i] = memory[(pa + i) % memory_bytes];
	return p;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	void *copy;

	if (n < PARAMS_BYTES)
		return 0;
	struct bootinfo *bi = calloc(1, sizeof *bi);
	params = copy = fuzz_copy(data, PARAMS_BYTES);
	memory = data + PARAMS_BYTES;
	memory_bytes = n - PARAMS_BYTES;
	linux_is_params(PARAMS, map);
	linux_bootinfo(bi, PARAMS, map);
	CHECK(bi->bi_nmem <= BOOTINFO_NMEM);
	CHECK(bi->bi_cmdline_bytes <= 65536);
	bootinfo_sort(bi);
	while (ncopy > 0)
		free(copies[--ncopy]);
	free(copy);
	free(bi);
	return 0;
}
