/* Every member of an archive is inside it, and each step advances. */
#include "tests/fuzz/fuzz.h"

#include "kern/file/cpio.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *copy = fuzz_copy(data, n);
	struct cpio c = cpio_open(copy, n);
	const char *why;
	struct cpio_file f;

	for (size_t was = 0; cpio_next(&c, &f, &why) > 0; was = c.c_at) {
		CHECK(c.c_at > was && c.c_at <= n);
		CHECK(strlen(f.f_name) <= CPIO_NAME_MAX);
		CHECK(f.f_data >= copy && f.f_bytes <= n);
		CHECK((size_t)(f.f_data - copy) <= n - f.f_bytes);
	}
	free(copy);
	return 0;
}
