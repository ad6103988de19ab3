/* main(), which libpayload.a has for programs that have none. */
#include <bench.h>

#include "payloads/common/results/json.h"

const char bench_says[] __attribute__((used)) = JSON_SAYS;

int
main(int argc, char **argv)
{
	return bench_main(argc, argv);
}
