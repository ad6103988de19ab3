/*
 * Separate names for the kernel's C library, which is linked next to the
 * host's.  The Makefile renames the symbols of the kernel's objects
 * (tests/host/objs.mk).  Included by the tests and fakes that call these
 * functions.
 */
#pragma once

#define memcpy        lib_memcpy
#define memmove       lib_memmove
#define memset        lib_memset
#define memcmp        lib_memcmp
#define memchr        lib_memchr
#define strlen        lib_strlen
#define strnlen       lib_strnlen
#define strcmp        lib_strcmp
#define strncmp       lib_strncmp
#define strchr        lib_strchr
#define strrchr       lib_strrchr
#define strlcpy       lib_strlcpy
#define strlcpy_shown lib_strlcpy_shown
#define strtoul       lib_strtoul
#define crc32         lib_crc32
#define snprintf      lib_snprintf
#define vsnprintf     lib_vsnprintf

/* The sanitizers call the host's function of this name. */
#define sched_yield kern_sched_yield
