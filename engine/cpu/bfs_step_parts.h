/*
 * bfs_step_parts.h: what the parallel steps of breadth-first search with and without a mask have in
 * common.
 */
#ifndef EMOGI_CPU_BFS_STEP_PARTS_H
#define EMOGI_CPU_BFS_STEP_PARTS_H

#include "bfs_steps.h"

#include <string.h>

/* An adjacency list to process. */
typedef struct List
{
	const uint32_t *targets;
	uint64_t	count;
} List;

/* Vertices that a thread has found and not yet appended to the next queue. */
typedef struct LocalQueue
{
	uint32_t	count;
	uint32_t	vertices[EMOGI_BFS_LOCAL_QUEUE];
} LocalQueue;

/* Append the local queue to the next queue. */
static inline void
flush_queue(EmogiBfs *bfs, LocalQueue *local)
{
	uint64_t	place = emogi_job_claim(&bfs->next_count, local->count);

	memcpy(bfs->next_queue + place, local->vertices, local->count * sizeof(uint32_t));
	local->count = 0;
}

/* Defer a long adjacency list to all threads. */
static inline void
defer_hub(EmogiBfs *bfs, uint32_t v)
{
	bfs->hubs[emogi_job_claim(&bfs->nhubs, 1)] = (EmogiBfsHub) {.vertex = v};
}

/* Take the next chunk of words; false at the end or if the job has stopped. */
static inline bool
take_words(EmogiBfs *bfs, uint64_t *first, uint64_t *end)
{
	if (emogi_job_stopped(&bfs->run.job))
		return false;
	*first = emogi_job_claim(&bfs->run.next, EMOGI_BFS_WORD_CHUNK);
	*end = *first + EMOGI_BFS_WORD_CHUNK < bfs->nwords ? *first + EMOGI_BFS_WORD_CHUNK
		: bfs->nwords;
	return *first < bfs->nwords;
}

/* Set the level of the entered vertices of a word, and count them. */
static inline void
enter_word(EmogiBfs *bfs, uint64_t w, uint64_t entered, EmogiBfsTally *tally)
{
	const uint64_t *offsets = bfs->forward.offsets + w * 64;
	int32_t    *level = bfs->level == NULL ? NULL : bfs->level + w * 64;

	for (uint64_t bits = entered; bits != 0; bits &= bits - 1)
	{
		int			i = __builtin_ctzll(bits);

		if (level != NULL)
			level[i] = bfs->depth;
		tally->nedges += offsets[i + 1] - offsets[i];
		tally->nvertices++;
	}
}

#endif							/* EMOGI_CPU_BFS_STEP_PARTS_H */
