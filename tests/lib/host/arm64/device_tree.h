/* A device tree that a test builds by libfdt, and its machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

extern char tree[65536];
extern uint64_t tree_ram; /* address of 1 GiB of RAM; 0: none */

/* Begin a tree, without a node but the root. */
void start_tree(void);
/* Add nodes.  libfdt puts a new subnode before the existing ones. */
int add_node(int parent, const char *name, const char *compatible);
void add_timer(void);
int add_gic(const char *name, uint64_t base, unsigned regions);
/* Add properties: a cell, n ranges of 1 MiB, an interrupt. */
void set_cell(int at, const char *name, uint32_t v);
void add_ranges(int at, uint64_t base, unsigned n);
void add_interrupt(int at, uint32_t type, uint32_t number);
/* Read the machine from a copy of exactly the tree's size. */
bool parse_tree(void);
