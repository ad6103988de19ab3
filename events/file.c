/*
 * Map the tables from files, so that all programs share their pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/events.h"

static const char *const file_names[EVENT_VENDORS] = { "intel", "amd", "arm" };

static struct {
	struct event_db db;
	char why[96];
} file_tables[EVENT_VENDORS];
static const struct event_db *file_dbs[EVENT_VENDORS];

/* Why the bytes are not a valid table, or NULL. */
static const char *
check_header(const struct event_file *ef, size_t bytes)
{
	size_t after = offsetof(struct event_file, evf_section);

	if (bytes < sizeof *ef || ef->evf_magic != EVENT_FILE_MAGIC)
		return "is not a table of events";
	if (ef->evf_version != EVENT_FILE_VERSION)
		return "is of another version of barecpc";
	if (ef->evf_bytes != bytes || bytes % EVENT_FILE_ALIGN != 0)
		return "is truncated";
	for (unsigned s = 0; s < SECTION_N; s++) {
		if (ef->evf_section[s].evf_at > bytes ||
		    ef->evf_section[s].evf_section_bytes >
			bytes - ef->evf_section[s].evf_at)
			return "is damaged";
	}
	return event_file_sum((const char *)ef + after, bytes - after) ==
	               ef->evf_sum
	           ? NULL
	           : "is damaged";
}

/* Use a mapped file.  Returns why it is invalid, or NULL. */
static const char *
take_file(struct event_db *db, const void *at, size_t bytes)
{
	const struct event_file *ef = at;
	const char *why = check_header(ef, bytes);

	for (unsigned s = 0; why == NULL && s < SECTION_N; s++) {
		db->ed_at[s] = (const char *)at + ef->evf_section[s].evf_at;
		db->ed_bytes[s] = ef->evf_section[s].evf_section_bytes;
	}
	return why;
}

static const char *
map_file(struct event_db *db, const char *path)
{
	const char *why = NULL;
	void *at = MAP_FAILED;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return "cannot be opened";
	if (fstat(fd, &st) == -1 || st.st_size == 0)
		why = "is empty";
	else
		at = mmap(
		    NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (why == NULL && at == MAP_FAILED)
		why = "cannot be mapped";
	if (why == NULL &&
	    (why = take_file(db, at, (size_t)st.st_size)) != NULL)
		munmap(at, (size_t)st.st_size);
	return why;
}

static const char *file_folder;

static void
map_all(void)
{
	char path[PATH_MAX];
	const char *why;
	int err = errno;

	for (unsigned v = 0; v < EVENT_VENDORS; v++) {
		snprintf(
		    path, sizeof path, "%s/%s", file_folder, file_names[v]);
		if (access(path, F_OK) != 0)
			why = "is not in this image";
		else
			why = map_file(&file_tables[v].db, path);
		if (why == NULL)
			file_dbs[v] = &file_tables[v].db;
		else
			snprintf(file_tables[v].why, sizeof file_tables[v].why,
			    "%.60s %s", path, why);
	}
	errno = err;
}

const struct event_db *const *
events_files(const char *folder)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	__atomic_store_n(&file_folder, folder, __ATOMIC_RELAXED);
	pthread_once(&once, map_all);
	return file_dbs;
}

const char *
events_file_why(enum event_kind vendor)
{
	return file_tables[vendor].why;
}
