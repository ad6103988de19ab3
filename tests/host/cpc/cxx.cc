/* libcpc for C++: a file that includes nothing else links and runs. */
#include <libcpc.h>

#include <cerrno>
#include <cstdio>
#include <type_traits>

extern "C" intptr_t
cpc_syscall(cpc_op, uintptr_t, uintptr_t, uintptr_t, uintptr_t)
{
	return -ENOSYS;
}

static_assert(std::is_same<pid_t, int>::value, "pid_t is int");
static_assert(std::is_same<processorid_t, int>::value, "as is processorid_t");
static_assert(std::is_same<uint64_t, unsigned long>::value, "uint64_t");
static_assert(std::is_same<hrtime_t, long long>::value, "hrtime_t");
static_assert(std::is_same<uint_t, unsigned int>::value, "uint_t");

int
main()
{
	unsigned long value = 0;

	std::puts("1..2");
	// CPC-CONST-03
	std::puts(cpc_open(CPC_VER_CURRENT) == nullptr
		      ? "ok 1 - cpc_open_links"
		      : "not ok 1 - cpc_open_links");
	// CPC-CONST-05
	std::puts(cpc_buf_get(nullptr, nullptr, 0, &value) == -1
		      ? "ok 2 - buf_get_takes_unsigned_long"
		      : "not ok 2 - buf_get_takes_unsigned_long");
	return 0;
}
