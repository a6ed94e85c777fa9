/*
 * key_numbers.c: map the keys of edge ends to vertex numbers: the choice of the method, and the
 * direct one.
 *
 * Direct: a bitmap over min_key .. max_key, set by all threads (with an atomic OR only if the bit
 * is not set yet, which happens once per vertex), and beside each 64 bits the number of the first
 * key. A number is that rank plus the number of lower bits set [1]: 16 bytes per 64 keys, one cache
 * line per lookup. If every key of the range occurs, no lookup is needed.
 *
 * [1] G. Jacobson. Space-efficient static trees and graphs. FOCS 1989. Section 2.1 (rank).
 */
#include "graph/key_numbers.h"

#include <stdio.h>
#include <string.h>

#define DIRECT_SPAN_PER_EDGE 32
#define DIRECT_SPAN_ALWAYS ((uint64_t) 1 << 20)
#define EDGES_PER_POLL 4096
#define NSLICES 256				/* of the bitmap, for computing ranks */
#define ZERO_WORDS 65536		/* words of the bitmap cleared at a time, 1 MiB */

typedef struct KeyWord
{
	uint64_t	present;		/* bit i: key min_key + 64 * word + i occurs */
	uint64_t	rank;			/* number of keys in the words before */
} KeyWord;

typedef struct DirectBuild
{
	EmogiJob   *job;
	const EmogiEdges *edges;
	KeyWord    *words;			/* [nwords] */
	uint64_t	nwords;
	uint64_t	next;			/* atomic: next piece, chunk or slice */
	uint64_t	slice_keys[NSLICES];	/* number of keys in the slice, then before it */
} DirectBuild;

/* Count the set bits. */
static inline uint64_t
count_bits(uint64_t x)
{
#ifdef __POPCNT__
	return (uint64_t) __builtin_popcountll(x);
#else
	x -= (x >> 1) & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return (x * UINT64_C(0x0101010101010101)) >> 56;
#endif
}

/* Get max_key - min_key. */
static uint64_t
key_span(const EmogiEdges *edges)
{
	return (uint64_t) edges->max_key - (uint64_t) edges->min_key;
}

void
emogi_key_numbers_plan(const EmogiEdges *edges, EmogiKeyPlan *plan)
{
	uint64_t	span;

	*plan = (EmogiKeyPlan) {EMOGI_KEYS_DIRECT, 0, EMOGI_LINE_BYTES};
	if (edges->nedges == 0)
		return;
	span = key_span(edges);
	plan->max_vertices = 2 * edges->nedges;
	if (span < plan->max_vertices)
		plan->max_vertices = span + 1;
	if (span < DIRECT_SPAN_ALWAYS || span / DIRECT_SPAN_PER_EDGE < edges->nedges)
	{
		plan->method = EMOGI_KEYS_DIRECT;
		plan->scratch_bytes = (size_t) (span / 64 + 1) * sizeof(KeyWord);
	}
	else
	{
		plan->method = EMOGI_KEYS_SORTED;
		plan->scratch_bytes = emogi_key_numbers_sorted_bytes(edges->nedges, plan->max_vertices);
	}
}

void
emogi_key_numbers_plan_spaced(uint64_t nkeys, int shift, EmogiKeyPlan *plan)
{
	*plan = (EmogiKeyPlan) {EMOGI_KEYS_SPACED, nkeys, EMOGI_LINE_BYTES, shift};
}

/* Populate and clear the bitmap. */
static void
clear_words(void *arg, int thread, int nthreads)
{
	DirectBuild *build = arg;
	uint64_t	first;

	while (!emogi_job_stopped(build->job) &&
		   (first = emogi_job_claim(&build->next, ZERO_WORDS)) < build->nwords)
	{
		uint64_t	count = build->nwords - first < ZERO_WORDS ? build->nwords - first : ZERO_WORDS;

		if (!emogi_job_populate(build->job, build->words + first, count * sizeof(KeyWord)))
			emogi_job_fail(build->job, EMOGI_NO_MEMORY);
		else
			memset(build->words + first, 0, count * sizeof(KeyWord));
	}
}

/* Set the bits of `count` keys. */
static void
mark_keys(KeyWord *words, uint64_t min_key, const int64_t *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	key = (uint64_t) keys[i] - min_key;
		uint64_t   *word = &words[key / 64].present;
		uint64_t	bit = UINT64_C(1) << (key % 64);

		if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0)
			__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
	}
}

/* Set the bit of every key that occurs. */
static void
mark_edges(void *arg, int thread, int nthreads)
{
	DirectBuild *build = arg;
	const EmogiEdges *edges = build->edges;
	int64_t		buffer[2 * EDGES_PER_POLL];
	const int64_t *keys;
	uint64_t	c;

	while ((c = emogi_job_claim(&build->next, 1)) < edges->nchunks)
	{
		const EmogiEdgeChunk *chunk = edges->chunks[c];

		for (uint64_t i = 0; i < chunk->nedges; i += EDGES_PER_POLL)
		{
			uint64_t	count = chunk->nedges - i < EDGES_PER_POLL ? chunk->nedges - i
				: EDGES_PER_POLL;

			if (emogi_job_stopped(build->job))
				return;
			keys = emogi_edge_keys(edges, chunk, i, count, buffer);
			mark_keys(build->words, (uint64_t) edges->min_key, keys, 2 * count);
		}
		emogi_job_done(build->job, chunk->nedges);
	}
}

/* Count the keys of each slice. */
static void
count_slices(void *arg, int thread, int nthreads)
{
	DirectBuild *build = arg;

	for (uint64_t s; emogi_job_take(build->job, &build->next, NSLICES, &s);)
	{
		uint64_t	count = 0;

		for (uint64_t w = build->nwords * s / NSLICES; w < build->nwords * (s + 1) / NSLICES; w++)
			count += count_bits(build->words[w].present);
		build->slice_keys[s] = count;
	}
}

/* Write the ranks of each slice. */
static void
rank_slices(void *arg, int thread, int nthreads)
{
	DirectBuild *build = arg;

	for (uint64_t s; emogi_job_take(build->job, &build->next, NSLICES, &s);)
	{
		uint64_t	rank = build->slice_keys[s];

		for (uint64_t w = build->nwords * s / NSLICES; w < build->nwords * (s + 1) / NSLICES; w++)
		{
			build->words[w].rank = rank;
			rank += count_bits(build->words[w].present);
		}
	}
}

/* Run one task of the direct build from its first unit on; false if the job has stopped. */
static bool
run_direct(EmogiPool *pool, DirectBuild *build, EmogiPoolTask task)
{
	build->next = 0;
	emogi_pool_run(pool, task, build);
	return !emogi_job_stopped(build->job);
}

/* Build the bitmap and its ranks; false if the job has stopped. */
static bool
build_direct(EmogiPool *pool, const EmogiEdges *edges, void *scratch, EmogiKeyNumbers *keys,
			 EmogiJob *job)
{
	DirectBuild build = {.job = job, .edges = edges, .words = scratch};
	uint64_t	nvertices = 0;

	build.nwords = key_span(edges) / 64 + 1;
	if (!run_direct(pool, &build, clear_words) ||
		!run_direct(pool, &build, mark_edges) ||
		!run_direct(pool, &build, count_slices))
		return false;
	for (int s = 0; s < NSLICES; s++)
	{
		uint64_t	count = build.slice_keys[s];

		build.slice_keys[s] = nvertices;
		nvertices += count;
	}
	keys->nvertices = nvertices;
	keys->map_length = build.nwords;
	if (nvertices - 1 == key_span(edges))
		return true;
	keys->map = build.words;
	return run_direct(pool, &build, rank_slices);
}

EmogiStatus
emogi_key_numbers_build(EmogiPool *pool, const EmogiEdges *edges, const EmogiKeyPlan *plan,
						void *scratch, EmogiKeyNumbers *keys,
						EmogiControl *control, EmogiError *error)
{
	EmogiJob	job = {.control = control};

	*keys = (EmogiKeyNumbers) {.method = plan->method,
		.min_key = edges->nedges > 0 ? edges->min_key : 0};
	emogi_job_phase(&job, EMOGI_PHASE_KEYS, edges->nedges);
	if (edges->nedges == 0 || emogi_job_stopped(&job))
		return emogi_key_numbers_report(&job, edges, error);
	switch (plan->method)
	{
		case EMOGI_KEYS_DIRECT:
			build_direct(pool, edges, scratch, keys, &job);
			break;
		case EMOGI_KEYS_SORTED:
			emogi_key_numbers_sorted_build(pool, edges, plan->max_vertices, scratch, keys, &job);
			break;
		case EMOGI_KEYS_SPACED:
			keys->nvertices = plan->max_vertices;
			keys->shift = plan->shift;
			break;
	}
	if (job.status == EMOGI_OK && keys->nvertices > EMOGI_MAX_VERTICES)
		emogi_job_fail(&job, EMOGI_BAD_INPUT);
	return emogi_key_numbers_report(&job, edges, error);
}

EmogiStatus
emogi_key_numbers_report(const EmogiJob *job, const EmogiEdges *edges, EmogiError *error)
{
	if (job->status == EMOGI_NO_MEMORY)
		snprintf(error->message, sizeof(error->message), "out of memory while building a graph");
	else if (job->status == EMOGI_BAD_INPUT)
		snprintf(error->message, sizeof(error->message), "graph has more than %llu vertices",
				 (unsigned long long) EMOGI_MAX_VERTICES);
	if (job->status == EMOGI_NO_MEMORY || job->status == EMOGI_BAD_INPUT)
		snprintf(error->detail, sizeof(error->detail), "%llu edges, keys %lld to %lld",
				 (unsigned long long) edges->nedges, (long long) edges->min_key,
				 (long long) edges->max_key);
	return (EmogiStatus) job->status;
}

void
emogi_key_numbers_translate(const EmogiKeyNumbers *keys, const int64_t *key, uint32_t *number,
						  size_t count)
{
	const KeyWord *words = keys->map;
	uint64_t	min_key = (uint64_t) keys->min_key;

	if (keys->method == EMOGI_KEYS_SORTED)
		emogi_key_numbers_sorted_translate(keys, key, number, count);
	else if (words == NULL)
	{
		for (size_t i = 0; i < count; i++)
			number[i] = (uint32_t) (((uint64_t) key[i] - min_key) >> keys->shift);
	}
	else
	{
		for (size_t i = 0; i < count; i++)
		{
			uint64_t	k = (uint64_t) key[i] - min_key;
			const KeyWord *word = &words[k / 64];

			number[i] = (uint32_t) (word->rank +
									count_bits(word->present & ((UINT64_C(1) << (k % 64)) - 1)));
		}
	}
}

/* Write the ids of the words first .. end-1 of the bitmap. */
static void
write_ids_of_words(const EmogiKeyNumbers *keys, int64_t *ids, uint64_t first, uint64_t end)
{
	const KeyWord *words = keys->map;

	for (uint64_t w = first; w < end; w++)
	{
		uint64_t	present = words[w].present;
		int64_t    *id = ids + words[w].rank;

		for (; present != 0; present &= present - 1)
			*id++ = (int64_t) ((uint64_t) keys->min_key + w * 64 +
							   (uint64_t) __builtin_ctzll(present));
	}
}

void
emogi_key_numbers_write_ids(const EmogiKeyNumbers *keys, int64_t *ids, uint64_t part,
							uint64_t nparts)
{
	bool		by_words = keys->method == EMOGI_KEYS_DIRECT && keys->map != NULL;
	uint64_t	length = by_words ? keys->map_length : keys->nvertices;
	uint64_t	first = (uint64_t) ((unsigned __int128) length * part / nparts);
	uint64_t	end = (uint64_t) ((unsigned __int128) length * (part + 1) / nparts);
	const uint64_t *sorted = keys->map;

	if (by_words)
		write_ids_of_words(keys, ids, first, end);
	else if (sorted != NULL)
	{
		for (uint64_t v = first; v < end; v++)
			ids[v] = (int64_t) ((uint64_t) keys->min_key + sorted[v]);
	}
	else
	{
		for (uint64_t v = first; v < end; v++)
			ids[v] = (int64_t) ((uint64_t) keys->min_key + (v << keys->shift));
	}
}
