/* Map the tables from files, so that all programs share their pages. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/names/find.h"
#include "events/names/preset.h"

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
		size_t at = ef->evf_section[s].evf_at;
		/* Names and tags are read by words. */
		size_t more =
		    s == SECTION_NAMES || s == SECTION_TAGS ? EVENT_WORD : 0;

		if (at % sizeof(uint64_t) != 0 ||
		    at + ef->evf_section[s].evf_section_bytes + more > bytes)
			return "is damaged";
	}
	return event_file_sum((const char *)ef + after, bytes - after) ==
	               ef->evf_sum
	           ? NULL
	           : "is damaged";
}

/* Can the names of all PMUs be compared and printed? */
static bool
has_pmu_names(const struct event_db *db)
{
	const struct event_pmu *ep = db->ed_at[SECTION_PMUS];
	size_t n = db->ed_bytes[SECTION_PMUS] / sizeof *ep;

	for (; n > 0; n--, ep++) {
		if (memchr(ep->ep_name, '\0', sizeof ep->ep_name) == NULL ||
		    memchr(ep->ep_desc, '\0', sizeof ep->ep_desc) == NULL ||
		    memchr(ep->ep_source, '\0', sizeof ep->ep_source) == NULL)
			return false;
	}
	return true;
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
	return why != NULL || has_pmu_names(db) ? why : "is damaged";
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

/* Has a section n elements from this one on? */
static bool
has(const struct events *es, enum event_section section, size_t at, size_t n)
{
	static const uint8_t bytes[SECTION_FACTS] = { sizeof(struct event_pmu),
		sizeof(struct event_row), sizeof(struct event_umask),
		sizeof(event_pics_t), EVENT_NAME_ALIGN, sizeof(uint16_t), 1,
		sizeof(uint16_t), sizeof(struct event_preset), 1, 1 };

	return (at + n) * bytes[section] <= es->es_db->ed_bytes[section];
}

/* Has it n bytes from this one on, the first of each `step` below max? */
static bool
has_bytes(const struct events *es, enum event_section section, size_t at,
    size_t n, size_t step, unsigned max)
{
	const uint8_t *byte = es->es_db->ed_at[section];

	if (!has(es, section, at, n * step))
		return false;
	for (; n > 0 && byte[at] < max; n--)
		at += step;
	return n == 0;
}

/* An alias: of a unit mask of a row, or, without a row, of an event. */
static bool
has_alias(const struct events *es, const struct event_row *r, size_t at)
{
	const enum event_section in = SECTION_ALIASES;
	const uint8_t *alias = event_alias(es, 0);
	unsigned row;

	if (!has(es, in, at, 2))
		return false;
	if (r == NULL) {
		row = alias[at] | (unsigned)alias[at + 1] << 8;
		at += 2;
		if (row >= es->es_pmu->ep_nrow || !has(es, in, at, 2))
			return false;
		r = event_row_at(es, row);
	}
	if (alias[at] > EVENT_MAXUMASK ||
	    !has_bytes(es, in, at + 1, alias[at], 1, r->er_nlist))
		return false;
	at += 1U + alias[at];
	return has(es, in, at, 1) &&
	       has_bytes(es, in, at + 1, alias[at], 2, MOD_N);
}

static bool
has_defaults(const struct events *es, const struct event_row *r)
{
	const uint8_t *all = es->es_db->ed_at[SECTION_DEFAULTS];
	size_t at = r->er_defaults, n;

	for (unsigned g = 0; g < r->er_ngroup; g++, at += 1 + n) {
		if (!has(es, SECTION_DEFAULTS, at, 1))
			return false;
		n = all[at] & DEFAULTS_COUNT;
		if (!has_bytes(es, SECTION_DEFAULTS, at + 1, n, 1, r->er_nlist))
			return false;
	}
	return r->er_ngroup <= EVENT_MAXGROUP;
}

/* A part of the index: its entries are at most max, and one is free. */
static bool
has_index(
    const struct events *es, size_t at, size_t n, unsigned max, unsigned bits)
{
	const uint16_t *index = es->es_db->ed_at[SECTION_INDEX];
	size_t used = 0;

	if (!has(es, SECTION_INDEX, at, n))
		return false;
	for (size_t end = at + n; at < end; at++) {
		if (index[at] != 0 && ((index[at] - 1U) & bits) >= max)
			return false;
		used += index[at] != 0;
	}
	return used < n;
}

/* All that a row refers to. */
static bool
has_parts(const struct events *es, const struct event_row *r)
{
	const struct event_umask *um;

	if (!has(es, SECTION_NAMES, r->er_name, 1) ||
	    !has(es, SECTION_PICS, r->er_pics, 1) ||
	    !has(es, SECTION_LISTS, r->er_list, r->er_nlist) ||
	    !has(es, SECTION_TAGS, r->er_list, r->er_nlist) ||
	    !has_defaults(es, r) ||
	    (r->er_alias != 0 && !has_alias(es, NULL, r->er_alias)) ||
	    (r->er_nlist > EVENT_LONG_LIST &&
		!has_index(es, r->er_index, event_index_length(r->er_nlist),
		    r->er_nlist, UINT16_MAX)))
		return false;
	for (unsigned n = 0; n < r->er_nlist; n++) {
		if (!has(es, SECTION_UMASKS, event_list(es, r)[n] & LIST_UMASK,
			1))
			return false;
		um = event_umask_at(es, r, n);
		if (!has(es, SECTION_NAMES, um->um_name, 1) ||
		    (um->um_flags & UM_EXTRA) >> UM_EXTRA_SHIFT >= EXTRA_N ||
		    !has(es, SECTION_PICS, um->um_pics, 1) ||
		    !has(es, SECTION_PICS, um->um_extra, 1) ||
		    (um->um_alias != 0 && !has_alias(es, r, um->um_alias)))
			return false;
	}
	return true;
}

const char *
events_file_lacks(const struct events *es)
{
	unsigned vendor = 0;
	const unsigned bits = (1U << EVENT_ROW_BITS) - 1;
	const struct event_pmu *ep = es->es_pmu;
	const struct event_preset *pr;
	size_t names = es->es_db->ed_bytes[SECTION_NAMES];
	unsigned n;
	bool good = names > 0 && events_text(es, 0)[names - 1] == '\0' &&
	            ep->ep_kind <= EVENT_NETBURST &&
	            ep->ep_npic + ep->ep_nfixed <= EVENT_MAXPIC &&
	            ep->ep_nrow <= bits && ep->ep_shift < 32 &&
	            ep->ep_bits < 16 &&
	            has(es, SECTION_ROWS, ep->ep_first, ep->ep_nrow) &&
	            has_index(es, ep->ep_index, 1UL << ep->ep_bits, ep->ep_nrow,
			bits) &&
	            has(es, SECTION_PRESETS, ep->ep_preset, ep->ep_npreset);

	for (n = 0; good && n < ep->ep_nrow; n++)
		good = has_parts(es, event_row_at(es, n));
	for (unsigned i = 0; good && i < ep->ep_npreset; i++) {
		pr = event_presets_of(es, &n) + i;
		good = pr->pr_preset < EVENT_PRESETS &&
		       pr->pr_why < PRESET_WHYS &&
		       has_alias(es, NULL, pr->pr_event);
	}
	if (good)
		return NULL;
	while (vendor < EVENT_ARM && es->es_db != &file_tables[vendor].db)
		vendor++;
	snprintf(file_tables[vendor].why, sizeof file_tables[vendor].why,
	    "%.60s/%s is damaged", file_folder, file_names[vendor]);
	return file_tables[vendor].why;
}

const char *
events_file_why(enum event_kind vendor)
{
	return file_tables[vendor].why;
}
