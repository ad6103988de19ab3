/*
 * Measures listing and opening the files of an archive, for bounds.sh.  The
 * archive has FILES files in each of two directories.
 *
 *     bounds FILES NANOSECONDS
 *
 * Fails if a file is missing, or if one takes longer than NANOSECONDS of the
 * emulated clock, which is the same number of instructions.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Open each file whose name begins with "file", and return their number. */
static int
list_files(const char *dir)
{
	DIR *d = opendir(*dir != '\0' ? dir : "/");
	struct dirent *e;
	char path[512];
	int n = 0, fd;

	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, "file", 4) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (e->d_type != DT_REG || (fd = open(path, O_RDONLY)) < 0)
			return -1;
		close(fd);
		n++;
	}
	closedir(d);
	return n;
}

int
main(int argc, char **argv)
{
	int files = argc > 2 ? atoi(argv[1]) : 0, top, below, again = 0;
	int64_t start = now_ns(), took;
	DIR *d;

	top = list_files("");
	below = list_files("/deep/er");
	took = now_ns() - start;
	printf("%d and %d files, %lld ns\n", top, below, (long long)took);
	/* The archive has no entries for directories.  Each is listed once. */
	if ((d = opendir("/deep")) != NULL) {
		for (struct dirent *e; (e = readdir(d)) != NULL;)
			again += strcmp(e->d_name, "er") == 0;
		closedir(d);
	}
	return top != files || below != files || again != 1 ||
	       open("/file0/x", O_RDONLY) != -1 || errno != ENOTDIR ||
	       open("/deep/x", O_RDONLY) != -1 || errno != ENOENT ||
	       took > files * atoll(argv[2]);
}
