/*
 * check.h: what the verifiers share: checks made by many threads, sets of vertices, and how they say what is wrong.
 */
#ifndef EMOGI_VERIFY_CHECK_H
#define EMOGI_VERIFY_CHECK_H

#include "threads/job.h"

#define EMOGI_CHECK_FOUND 512

/* One answer under check. */
typedef struct EmogiCheck
{
	EmogiPool  *pool;			/* NULL = the calling thread alone */
	const EmogiGraph *graph;
	const EmogiQuery *query;
	const EmogiResult *result;
	EmogiError *error;			/* written by the one thread that set `wrong` */
	uint32_t	wrong;			/* atomic; every thread looks at it between parts and leaves */
} EmogiCheck;

/* Says what is wrong with the elements first .. end-1, if anything, by emogi_check_wrong. */
typedef void (*EmogiCheckPart) (void *arg, uint64_t first, uint64_t end);

/* Write why the answer is wrong, unless another thread has; gets false. */
extern bool emogi_check_wrong(EmogiCheck *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Check that a run that iterates stopped because it converged or had made its iterations. */
extern bool emogi_check_stop(EmogiCheck *check);

/* Check elements 0 .. count-1 part by part, on all threads; false when something is wrong. arg: what parts get. */
extern bool emogi_check_parts(EmogiCheck *check, EmogiCheckPart part, void *arg, uint64_t count);

/* Say whether the check goes on. */
static inline bool
emogi_check_goes_on(const EmogiCheck *check)
{
	return __atomic_load_n(&check->wrong, __ATOMIC_RELAXED) == 0;
}

/* Get zeroed words for a set of nvertices vertices by bits; NULL without memory. To be freed. */
extern uint64_t *emogi_check_bits(uint64_t nvertices);

/* Say whether a vertex is in a set. */
static inline bool
emogi_has_bit(const uint64_t *bits, uint64_t v)
{
	return (__atomic_load_n(&bits[v / 64], __ATOMIC_RELAXED) >> (v % 64) & 1) != 0;
}

/* Add a vertex to a set; true in the one thread that did. */
static inline bool
emogi_add_bit(uint64_t *bits, uint64_t v)
{
	const uint64_t bit = UINT64_C(1) << (v % 64);

	return !emogi_has_bit(bits, v) && (__atomic_fetch_or(&bits[v / 64], bit, __ATOMIC_RELAXED) & bit) == 0;
}

/* Add to a count that other threads add to. */
static inline void
emogi_add_count(uint64_t *count, uint64_t n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

/* Add to a sum that other threads add to; gets what it was. */
static inline double
emogi_add_double(double *sum, double x)
{
	double		before,
				after;

	__atomic_load(sum, &before, __ATOMIC_RELAXED);
	do
		after = before + x;
	while (!__atomic_compare_exchange(sum, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return before;
}

struct EmogiCheckQueueBuffer;

/* Vertices in the order in which they were found, found by many threads while they visit those found before. */
typedef struct EmogiCheckQueue
{
	EmogiCheck *check;
	uint32_t   *items;			/* [nvertices] */
	uint64_t   *round;			/* bits, none at first: what is visited in this round, if it is much */
	uint64_t	head;			/* first of what is visited in this round */
	uint64_t	end;			/* and its end */
	uint64_t	tail;			/* atomic: how many were found */
	uint64_t	next;			/* atomic: next to be visited */
	void		(*visit) (void *arg, struct EmogiCheckQueueBuffer *found, uint32_t v);
	void	   *arg;
} EmogiCheckQueue;

/* What one thread has found and not yet put into the queue. */
typedef struct EmogiCheckQueueBuffer
{
	EmogiCheckQueue *queue;
	uint32_t	count;
	uint32_t	items[EMOGI_CHECK_FOUND];
} EmogiCheckQueueBuffer;

/* Put what was found into the queue. */
extern void emogi_check_found_flush(EmogiCheckQueueBuffer *found);

/* Note a vertex that no other thread notes. */
static inline void
emogi_check_found_add(EmogiCheckQueueBuffer *found, uint32_t v)
{
	found->items[found->count++] = v;
	if (found->count == EMOGI_CHECK_FOUND)
		emogi_check_found_flush(found);
}

/* Make an empty queue; false without memory. To be freed in any case. */
extern bool emogi_check_queue_init(EmogiCheckQueue *queue, EmogiCheck *check,
								   void (*visit) (void *arg, EmogiCheckQueueBuffer *found, uint32_t v), void *arg);
extern void emogi_check_queue_free(EmogiCheckQueue *queue);

/*
 * Visit all that is in the queue and all that the visits find, round by round: what a round has found is visited in the
 * next one. False when something is wrong.
 */
extern bool emogi_check_search(EmogiCheckQueue *queue);

/* One verifier each; false when the answer is wrong. */
#define OTHER(NAME, name, cpu, cuda, papers, verifier, ...) extern bool emogi_verify_##verifier(EmogiCheck *check);
EMOGI_ALGORITHMS(OTHER, EMOGI_NOTHING, EMOGI_NOTHING)
#undef OTHER
extern bool emogi_verify_path(EmogiCheck *check);	/* best_paths.c */
extern bool emogi_verify_values(EmogiCheck *check);	/* sums.c */

#endif							/* EMOGI_VERIFY_CHECK_H */
