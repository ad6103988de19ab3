/*
 * Records: lines of JSON on /dev/record, which docs/records.md describes.
 * Included by report_json.c and record.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Write one record: the members that every record has, and those that
 * members(f, arg) writes, each after a comma.  Exits 1 on failure.
 */
void json_record(int argc, char *const *argv,
    void (*members)(FILE *f, const void *arg), const void *arg);

/*
 * Tell the program `pack`, if it runs this one, how many records will come.
 * Returns true if pack wants to know no more: the environment has JSON_EXPECT.
 * It asks only programs whose file has the text JSON_SAYS.
 */
bool json_expect(uint64_t records);
#define JSON_EXPECT "BARECPC_EXPECT"
#define JSON_SAYS   "barecpc: tells pack how many records will come"

void json_base64(FILE *f, const unsigned char *p, size_t n);
void json_string(FILE *f, const char *s);
void json_member(FILE *f, const char *key, const char *value);
/* The member "privilege" for CPC_COUNT_* flags. */
void json_privilege(FILE *f, unsigned flags);

/* The members of a run that looked for Ctrl-C, and was cut by it or not. */
void json_looks(FILE *f, unsigned looks, bool cut);

/* ARCH/enlightenments.c: a comma and a machine's "enlightenments", or "". */
const char *json_enlightenments(void);

/*
 * The text of /dev/machine with the member before, or "" if it is absent.  The
 * first reads it again, the second gives the text that was read last.
 */
const char *json_machine_now(void);
const char *json_machine(void);
