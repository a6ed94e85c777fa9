/*
 * check.h: shared parts of the verifiers: parallel checks, vertex sets, and error reporting.
 */
#ifndef EMOGI_VERIFY_CHECK_H
#define EMOGI_VERIFY_CHECK_H

#include "threads/job.h"

#define EMOGI_CHECK_QUEUE_BUFFER_SIZE 512

/* A result being verified. */
typedef struct EmogiCheck
{
	EmogiPool  *pool;			/* NULL = the calling thread alone */
	const EmogiGraph *graph;
	const EmogiQuery *query;
	const EmogiResult *result;
	EmogiError *error;			/* written by the thread that set `wrong` */
	uint32_t	wrong;			/* atomic; every thread polls it between parts */
} EmogiCheck;

/* Check the elements first .. end-1, and report errors by emogi_check_wrong. */
typedef void (*EmogiCheckPart) (void *arg, uint64_t first, uint64_t end);

/* Report why the result is wrong, unless another thread has reported an error; return false. */
extern bool emogi_check_wrong(EmogiCheck *check, const char *format, ...)
			__attribute__((format(printf, 2, 3)));

/*
 * Check that an iterative run stopped because it converged or reached the maximum number of
 * iterations.
 */
extern bool emogi_check_stop(EmogiCheck *check);

/*
 * Check elements 0 .. count-1 in parts, on all threads; false if something is wrong. arg is passed
 * to each part.
 */
extern bool emogi_check_parts(EmogiCheck *check, EmogiCheckPart part, void *arg, uint64_t count);

/* Check whether no error has been reported. */
static inline bool
emogi_check_ok(const EmogiCheck *check)
{
	return __atomic_load_n(&check->wrong, __ATOMIC_RELAXED) == 0;
}

/* Allocate a zeroed bitmap of nvertices vertices; NULL if out of memory. The caller frees it. */
extern uint64_t *emogi_check_bits(uint64_t nvertices);

/* Check whether a vertex is in the set. */
static inline bool
emogi_has_bit(const uint64_t *bits, uint64_t v)
{
	return (__atomic_load_n(&bits[v / 64], __ATOMIC_RELAXED) >> (v % 64) & 1) != 0;
}

/* Add a vertex to the set; true only in the thread that added it. */
static inline bool
emogi_add_bit(uint64_t *bits, uint64_t v)
{
	const uint64_t bit = UINT64_C(1) << (v % 64);

	return !emogi_has_bit(bits, v) &&
		(__atomic_fetch_or(&bits[v / 64], bit, __ATOMIC_RELAXED) & bit) == 0;
}

/* Add to a shared count. */
static inline void
emogi_add_count(uint64_t *count, uint64_t n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

/* Add to a shared sum; return the previous value. */
static inline double
emogi_add_double(double *sum, double x)
{
	double		before,
				after;

	__atomic_load(sum, &before, __ATOMIC_RELAXED);
	do
		after = before + x;
	while (!__atomic_compare_exchange(sum, &before, &after, true, __ATOMIC_RELAXED,
									  __ATOMIC_RELAXED));
	return before;
}

struct EmogiCheckQueueBuffer;

/*
 * A queue of vertices in the order in which they were found by many threads, which visit those
 * found before.
 */
typedef struct EmogiCheckQueue
{
	EmogiCheck *check;
	uint32_t   *items;			/* [nvertices] */
	uint64_t   *round;			/* bits, all clear at first: vertices of this round, if it is
								 * large */
	uint64_t	head;			/* first item of this round */
	uint64_t	end;			/* end of this round */
	uint64_t	tail;			/* atomic: number of items found */
	uint64_t	next;			/* atomic: next item to visit */
	void		(*visit) (void *arg, struct EmogiCheckQueueBuffer *found, uint32_t v);
	void	   *arg;
} EmogiCheckQueue;

/* Vertices that one thread has found but not yet put into the queue. */
typedef struct EmogiCheckQueueBuffer
{
	EmogiCheckQueue *queue;
	uint32_t	count;
	uint32_t	items[EMOGI_CHECK_QUEUE_BUFFER_SIZE];
} EmogiCheckQueueBuffer;

/* Put the buffered vertices into the queue. */
extern void emogi_check_queue_buffer_flush(EmogiCheckQueueBuffer *found);

/* Buffer a vertex that no other thread has found. */
static inline void
emogi_check_queue_buffer_add(EmogiCheckQueueBuffer *found, uint32_t v)
{
	found->items[found->count++] = v;
	if (found->count == EMOGI_CHECK_QUEUE_BUFFER_SIZE)
		emogi_check_queue_buffer_flush(found);
}

/* Initialize an empty queue; false if out of memory. The caller frees it in either case. */
extern bool emogi_check_queue_init(EmogiCheckQueue *queue, EmogiCheck *check,
								   void (*visit) (void *arg, EmogiCheckQueueBuffer *found,
												  uint32_t v), void *arg);
extern void emogi_check_queue_free(EmogiCheckQueue *queue);

/*
 * Visit all items of the queue and all vertices that the visits find, round by round: the vertices
 * found in one round are visited in the next one. False if something is wrong.
 */
extern bool emogi_check_search(EmogiCheckQueue *queue);

/* The verifiers; false if the result is wrong. */
#define OTHER(NAME, name, cpu, cuda, papers, verifier, ...) \
	extern bool emogi_verify_##verifier(EmogiCheck *check);
EMOGI_ALGORITHMS(OTHER, EMOGI_NOTHING, EMOGI_NOTHING)
#undef OTHER
extern bool emogi_verify_path(EmogiCheck *check);	/* best_paths.c */
extern bool emogi_verify_values(EmogiCheck *check);	/* semiring_sum.c */

#endif							/* EMOGI_VERIFY_CHECK_H */
