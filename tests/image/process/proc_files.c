/* The files of /proc and /sys say what is so, in Linux's form. */
#include "tests/lib/image/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

TEST_KEEPS(8); /* stdio and directories */

/* Read a whole file.  Returns its length, or -1. */
static long
read_all(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	long n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	EXPECT_EQ(close(fd), 0);
	return n;
}

TEST(a_program_finds_itself)
{
	char name[64] = "", head[4] = "", own[32];
	int fd = open("/proc/self/exe", O_RDONLY);

	EXPECT_EQ(readlink("/proc/self/exe", name, sizeof name), 11);
	EXPECT(strcmp(name, "/proc_files") == 0);
	EXPECT_EQ(readlink("/proc/self/exe", name, 3), 3);
	snprintf(own, sizeof own, "/proc/%d/exe", getpid());
	EXPECT_EQ(readlink(own, name, sizeof name), 11);
	EXPECT_ERRNO(readlink("/proc/1234567/exe", name, 3), ENOENT);
	REQUIRE(fd >= 0);
	EXPECT_EQ(read(fd, head, 4), 4);
	EXPECT(memcmp(head, "\177ELF", 4) == 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_ERRNO(readlink("/proc_files", name, sizeof name), EINVAL);
}

TEST(memory_is_what_sysinfo_says)
{
	char buf[1024];
	unsigned long total, free;
	struct sysinfo info;

	REQUIRE(read_all("/proc/meminfo", buf, sizeof buf) > 0);
	EXPECT_EQ(
	    sscanf(buf, "MemTotal: %lu kB MemFree: %lu kB", &total, &free), 2);
	EXPECT_EQ(sysinfo(&info), 0);
	EXPECT_EQ(total, info.totalram * info.mem_unit / 1024);
	EXPECT(free > 0 && free < total);
}

TEST(every_cpu_is_described)
{
	static char buf[65536];
	long cpus = sysconf(_SC_NPROCESSORS_CONF), found = 0;
	char range[32], want[32];

	REQUIRE(read_all("/proc/cpuinfo", buf, sizeof buf) > 0);
	for (const char *s = buf; (s = strstr(s, "processor\t:")) != NULL; s++)
		found++;
	REQUIRE(read_all(
		    "/sys/devices/system/cpu/online", range, sizeof range) > 0);
	if (found == 1)
		strcpy(want, "0\n");
	else
		snprintf(want, sizeof want, "0-%ld\n", found - 1);
	EXPECT(strcmp(range, want) == 0);
	EXPECT(found >= cpus);
	EXPECT(strstr(buf, "flags\t\t: fpu ") != NULL ||
	       strstr(buf, "Features\t: fp ") != NULL);
}

/* C libraries find the main stack there. */
TEST(the_map_has_the_stack)
{
	static char buf[16384];
	unsigned long from, to,
	    here = (unsigned long)__builtin_frame_address(0);
	char rights[8];
	bool found = false;

	REQUIRE(read_all("/proc/self/maps", buf, sizeof buf) > 0);
	for (char *s = buf; s != NULL && *s != '\0';) {
		EXPECT_EQ(sscanf(s, "%lx-%lx %7s", &from, &to, rights), 3);
		if (from <= here && here < to) {
			EXPECT(strcmp(rights, "rw-p") == 0);
			found = true;
		}
		s = strchr(s, '\n');
		s = s != NULL ? s + 1 : NULL;
	}
	EXPECT(found);
}

TEST(the_map_says_what_is_shared)
{
	static char buf[16384];
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char want[64];

	REQUIRE(p != MAP_FAILED);
	snprintf(want, sizeof want, "%012lx-%012lx rw-s ", (unsigned long)p,
	    (unsigned long)p + 4096);
	REQUIRE(read_all("/proc/self/maps", buf, sizeof buf) > 0);
	EXPECT(strstr(buf, want) != NULL);
	EXPECT_EQ(munmap(p, 4096), 0);
}

TEST(each_cpu_has_a_folder)
{
	char path[64], buf[8];
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long i = 0; i < cpus; i++) {
		snprintf(path, sizeof path,
		    "/sys/devices/system/cpu/cpu%ld/online", i);
		EXPECT_EQ(read_all(path, buf, sizeof buf), 2);
		EXPECT(strcmp(buf, "1\n") == 0);
	}
}

static bool
lists(const char *path, const char *name, unsigned type)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	unsigned seen = 0;

	if (!EXPECT(dir != NULL))
		return false;
	while ((d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, name) == 0 && d->d_type == type)
			seen++;
	}
	EXPECT_EQ(closedir(dir), 0);
	return seen == 1;
}

TEST(their_directories_list_them)
{
	struct stat st;

	EXPECT(lists("/", "proc", DT_DIR));
	EXPECT(lists("/", "sys", DT_DIR));
	EXPECT(lists("/", "tmp", DT_DIR));
	EXPECT(lists("/dev", "shm", DT_DIR));
	EXPECT(lists("/dev", "null", DT_CHR));
	EXPECT(lists("/proc", "meminfo", DT_REG));
	EXPECT(lists("/proc", "self", DT_DIR));
	EXPECT(lists("/sys/devices/system/cpu", "online", DT_REG));
	EXPECT(lists("/sys/devices/system/cpu", "cpu0", DT_DIR));
	EXPECT(lists("/sys/devices/system/cpu/cpu0", "online", DT_REG));
	EXPECT_EQ(stat("/proc/self", &st), 0);
	EXPECT(S_ISDIR(st.st_mode));
	EXPECT_ERRNO(open("/proc/none", O_RDONLY), ENOENT);
	EXPECT_ERRNO(open("/proc/meminfo/x", O_RDONLY), ENOTDIR);
	EXPECT_ERRNO(open("/proc/meminfo", O_WRONLY), EROFS);
	EXPECT_ERRNO(unlink("/proc/meminfo"), EROFS);
}

static void __attribute__((constructor)) be_an_applet(void)
{
	char name[16] = "";

	if (getenv("APPLET") != NULL)
		_exit(prctl(PR_GET_NAME, name) != 0 ||
		      strcmp(name, "applet") != 0);
}

/* A link to a script: the program that is found has another name. */
TEST(a_program_is_named_as_it_was_called)
{
	char *const argv[] = { "x", NULL }, *const envv[] = { "APPLET=1",
		NULL };
	int fd = open("/tmp/script", O_WRONLY | O_CREAT, 0755);
	pid_t child;

	dprintf(fd, "#!%s\n", test_argv[0]);
	close(fd);
	EXPECT_EQ(symlink("script", "/tmp/applet"), 0);
	if ((child = fork()) == 0)
		_exit(execve("/tmp/applet", argv, envv));
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_EQ(unlink("/tmp/script"), 0);
	EXPECT_EQ(unlink("/tmp/applet"), 0);
}

/* A thread has its own name; a process that starts has its program's. */
TEST(a_thread_is_named)
{
	char buf[1024], name[17], want[64];
	pid_t child;

	EXPECT_EQ(prctl(PR_GET_NAME, name), 0);
	EXPECT(strcmp(name, "proc_files") == 0);
	EXPECT_EQ(prctl(PR_SET_NAME, "sixteen or more) S"), 0);
	EXPECT_EQ(prctl(PR_GET_NAME, name), 0);
	EXPECT(strcmp(name, "sixteen or more") == 0);
	EXPECT_ERRNO(prctl(PR_SET_NAME, 8), EFAULT);
	EXPECT_ERRNO(prctl(PR_GET_NAME, 8), EFAULT);
	EXPECT_ERRNO(prctl(-1), EINVAL);
	child = fork();
	if (child == 0) {
		snprintf(want, sizeof want, "%d (sixteen or more) R %d ",
		    getpid(), getppid());
		_exit(read_all("/proc/self/stat", buf, sizeof buf) < 100 ||
		      strncmp(buf, want, strlen(want)) != 0);
	}
	EXPECT_EQ(test_wait_status(child), 0);
}

/* proc(5) counts the fields of `stat` from 1. */
TEST(the_states_of_a_process)
{
	char buf[1024], *s;
	unsigned long rss = 0;
	unsigned fields = 2; /* up to the name */

	REQUIRE(read_all("/proc/self/stat", buf, sizeof buf) > 0);
	s = strrchr(buf, ')');
	REQUIRE(s != NULL);
	for (s = strchr(s, ' '); s != NULL; s = strchr(s + 1, ' '))
		rss = ++fields == 24 ? strtoul(s + 1, NULL, 10) : rss;
	EXPECT_EQ(fields, 52);
	void *locked = mmap(NULL, 12288, PROT_READ,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
	REQUIRE(read_all("/proc/self/status", buf, sizeof buf) > 0);
	EXPECT(strstr(buf, "\nVmLck:\t      12 kB\n") != NULL);
	EXPECT_EQ(munmap(locked, 12288), 0);
	REQUIRE(read_all("/proc/self/status", buf, sizeof buf) > 0);
	EXPECT(strstr(buf, "\nVmLck:\t       0 kB\n") != NULL);
	s = strstr(buf, "\nVmRSS:\t");
	REQUIRE(s != NULL);
	/* The text itself takes no page of the process. */
	EXPECT_EQ(strtoul(s + 8, NULL, 10), rss * 4);
	EXPECT(strstr(buf, "\nThreads:\t1\n") != NULL);
	REQUIRE(read_all("/proc/self/mounts", buf, sizeof buf) > 0);
	EXPECT(strstr(buf, "\ntmpfs /tmp tmpfs rw") != NULL);
}

TEST(the_others_can_be_read)
{
	static const char *const paths[] = { "/proc/loadavg", "/proc/uptime",
		"/proc/version", "/sys/devices/system/cpu/present" };
	char buf[256];

	for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
		long n = read_all(paths[i], buf, sizeof buf);

		EXPECT(n > 1 && buf[n - 1] == '\n');
	}
}
