/* @name@, as a program that runs it on this machine and counts its final states.

   It prints a line for each final state that it observes: how often, and the values of
   @atoms@.

   Build and run: cc -O2 -pthread FILE.c -o test && ./test [INSTANCES [SEED]] */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = @threads@,
    VARS = @vars@,   /* variables of the test */
    VALUES = @values@, /* values of a final state */
    ROUND = 100000,  /* instances in memory at a time */
    BLOCK = 64,      /* instances for which the threads agree on times at once */
    STEP = 2000,     /* cycles from one instance to the next */
    SKEW = 1023      /* a thread begins at most so many cycles late, often much less */
};

/* Every variable has a cache line of its own. */
typedef struct {
    _Alignas(64) @type@ value;
} cell;

typedef struct {
    cell v[VARS];
    int64_t values[VALUES];
} instance;

static instance *instances;
static uint32_t order[ROUND]; /* the instances, shuffled */
static uint32_t in_round;

/* Threads say that they are ready for a block; the first one says when it begins. */
static struct {
    _Alignas(64) volatile uint64_t block;
} ready[THREADS], begun;
static _Alignas(64) volatile uint64_t start;

static uint64_t next(uint64_t *seed) { /* xorshift64 */
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static inline uint64_t now(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

static inline void pause(void) { __asm__ volatile("pause" : : : "memory"); }

@code@
static void (*const code[THREADS])(instance *) = {@functions@};

typedef struct {
    int number;
    int cpu;
    uint64_t seed;
} thread;

static uint64_t agree(int number, uint64_t block) {
    ready[number].block = block;
    if (number == 0) {
        for (int t = 1; t < THREADS; t++)
            while (ready[t].block < block) pause();
        start = now() + STEP;
        begun.block = block;
    } else {
        while (begun.block < block) pause();
    }
    return start;
}

static void *run(void *argument) {
    thread *me = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(me->cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("sched_setaffinity");
        exit(2);
    }
    uint64_t begin = 0;
    for (uint32_t i = 0; i < in_round; i++) {
        if (i % BLOCK == 0) begin = agree(me->number, i / BLOCK + 1);
        instance *m = &instances[order[i]];
        uint64_t random = next(&me->seed);
        uint64_t at = begin + i % BLOCK * STEP + (random & SKEW >> (random >> 62) * 2);
        while (now() < at) {
        }
        code[me->number](m);
    }
    return NULL;
}

/* Final states and how often each was observed. */
static struct {
    uint64_t count;
    int64_t values[VALUES];
} *states;
static size_t found;

static void count(const int64_t *values) {
    for (size_t s = 0; s < found; s++) {
        if (memcmp(states[s].values, values, sizeof states[s].values) == 0) {
            states[s].count++;
            return;
        }
    }
    states = realloc(states, (found + 1) * sizeof *states);
    if (states == NULL) exit(2);
    states[found].count = 1;
    memcpy(states[found].values, values, sizeof states[found].values);
    found++;
}

int main(int argc, char **argv) {
    uint64_t left = argc > 1 ? strtoull(argv[1], NULL, 10) : ROUND;
    uint64_t seed = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) * 0x9e3779b97f4a7c15u | 1;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        perror("sched_getaffinity");
        return 2;
    }
    int cpus[CPU_SETSIZE], processors = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set)) cpus[processors++] = cpu;
    if (processors < THREADS) {
        fprintf(stderr, "%d threads need as many processors; there are %d\n", THREADS, processors);
        return 2;
    }
    instances = aligned_alloc(64, sizeof *instances * ROUND);
    if (instances == NULL) {
        fprintf(stderr, "there is not enough memory\n");
        return 2;
    }
    for (int round = 0; left > 0; round++) {
        in_round = left < ROUND ? (uint32_t)left : ROUND;
        left -= in_round;
        memset(instances, 0, sizeof *instances * in_round);
        for (uint32_t i = 0; i < in_round; i++) {
@init@            order[i] = i;
        }
        for (uint32_t i = in_round; i > 1; i--) {
            uint32_t j = (uint32_t)(next(&seed) % i), other = order[j];
            order[j] = order[i - 1];
            order[i - 1] = other;
        }
        thread threads[THREADS];
        pthread_t handles[THREADS];
        begun.block = 0;
        for (int t = 0; t < THREADS; t++) ready[t].block = 0;
        for (int t = 0; t < THREADS; t++) {
            threads[t] = (thread){t, cpus[(t + round) % processors], next(&seed)};
            if (pthread_create(&handles[t], NULL, run, &threads[t]) != 0) {
                perror("pthread_create");
                return 2;
            }
        }
        for (int t = 0; t < THREADS; t++) pthread_join(handles[t], NULL);
        for (uint32_t i = 0; i < in_round; i++) {
            instance *m = &instances[i];
@memory@            count(m->values);
        }
    }
    for (size_t s = 0; s < found; s++) {
        printf("%" PRIu64, states[s].count);
        for (int v = 0; v < VALUES; v++) printf(" %" PRId64, states[s].values[v]);
        printf("\n");
    }
    return 0;
}
