/* The model's state: events and the bound set, for model.c and libcpc.c. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "payloads/vpmu/vpmu.h"
#include "tests/lib/host/vpmu/model.h"

/* A fake has the parameters of its interface. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NPIC     5
#define NGENERAL 2
#define WIDTH    48
#define MOST     NPIC

enum event { INSNS, CYCLES, REFERENCE, BRANCHES, LOADS, MISSES, OTHER };

struct request {
	unsigned pic;
	enum event event;
	uint_t flags;
	uint64_t preset, value;
	uint64_t sampled; /* the value of the last sample */
	bool masked;      /* counts cycles with two events or more: none */
};

struct __cpc_set {
	struct request request[MOST];
	int n;
	bool cpu; /* bound to the CPU */
};

struct __cpc_buf {
	uint64_t value[MOST];
	uint64_t tick;
};

extern cpc_set_t *model_bound;
extern bool model_stopped, model_frozen, model_again;
extern uint64_t model_tick;
extern pthread_t model_main_thread; /* other threads are on another CPU */

/* n instructions retire at one privilege. */
void model_retire(uint64_t n, uint64_t branches, uint_t at);
/* The program retires some, and the kernel some for it. */
void model_enter_kernel(uint64_t program, uint64_t kernel);
