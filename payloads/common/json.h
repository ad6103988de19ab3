/*
 * Records: lines of JSON on /dev/record, which docs/records.md describes.
 * Included by report_record.c and record.c.
 */
#ifndef PAYLOADS_COMMON_JSON_H
#define PAYLOADS_COMMON_JSON_H

#include <stdio.h>

/*
 * Leave one: what every record has, with the members that members(f, arg)
 * writes, each behind a comma, in between.  Exits 1 on failure.
 */
void json_record(int argc, char *const *argv,
    void (*members)(FILE *f, const void *arg), const void *arg);

void json_string(FILE *f, const char *s);
void json_member(FILE *f, const char *key, const char *value);
/* The member "privilege" for CPC_COUNT_* flags. */
void json_privilege(FILE *f, unsigned flags);

/* The text of /dev/machine as it is now; "" where there is none. */
const char *json_machine(void);

#endif /* PAYLOADS_COMMON_JSON_H */
