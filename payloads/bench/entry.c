/*
 * main() for programs that have none.  The linker takes it from libpayload.a
 * only for these.
 */
#include <bench.h>

int
main(int argc, char **argv)
{
	return bench_main(argc, argv);
}
