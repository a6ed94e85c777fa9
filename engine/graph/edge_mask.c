/*
 * edge_mask.c: evaluate a filter on the entries that searches read.
 *
 * Two threads may evaluate the same word at once; both store the same value. A word's bit in
 * `known` is set after the word, and read before it.
 */
#include "contract/edge_mask.h"

#include "graph/layout.h"
#include "threads/job.h"
#include "threads/pool.h"

#include <stdio.h>
#include <string.h>

#define CHUNK_WORDS 1024		/* words that a thread takes at a time, whole words of `known` */

/* A pass over all words. */
typedef struct Pass
{
	EmogiJob	job;
	EmogiEdgeMask *mask;
	uint64_t	next;			/* atomic: word */
} Pass;

size_t
emogi_edge_mask_bytes(const EmogiGraph *graph, bool is_symmetric, bool has_forward_entry)
{
	const uint64_t nwords = emogi_bitmap_words(graph->forward.nedges);
	const size_t bytes = emogi_whole_lines(nwords * sizeof(uint64_t));

	return bytes + emogi_whole_lines(emogi_bitmap_words(nwords) * sizeof(uint64_t)) +
		(has_forward_entry && !is_symmetric ? bytes : 0);
}

EmogiStatus
emogi_edge_mask_begin(const EmogiGraph *graph, bool is_symmetric, const EmogiProperties *properties,
					  const EmogiEdgeFilter *filter, const uint32_t *forward_entry, void *memory,
					  EmogiEdgeMask *mask, EmogiError *error)
{
	const uint64_t nwords = emogi_bitmap_words(graph->forward.nedges);
	uintptr_t	place = (uintptr_t) memory;

	*mask = (EmogiEdgeMask) {.filter = filter, .properties = properties,
		.nedges = graph->forward.nedges, .is_symmetric = is_symmetric,
		.forward_entry = is_symmetric ? NULL : forward_entry};
	if (properties->nedges != mask->nedges)
	{
		*error = (EmogiError) {.message = "the columns are not those of the graph"};
		return EMOGI_BAD_INPUT;
	}
	mask->known = emogi_carve(&place, emogi_bitmap_words(nwords) * sizeof(uint64_t));
	mask->forward = emogi_carve(&place, nwords * sizeof(uint64_t));
	if (is_symmetric)
		mask->backward = mask->forward;
	else if (forward_entry != NULL)
		mask->backward = emogi_carve(&place, nwords * sizeof(uint64_t));
	memset(mask->known, 0, emogi_bitmap_words(nwords) * sizeof(uint64_t));
	return emogi_edge_filter_check(filter, properties, error);
}

uint64_t
emogi_edge_mask_evaluate(EmogiEdgeMask *mask, uint64_t word)
{
	uint64_t	passing;

	emogi_edge_filter_words(mask->filter, mask->properties, word, 1, &passing);
	__atomic_store_n(&mask->forward[word], passing, __ATOMIC_RELAXED);
	__atomic_fetch_or(&mask->known[word / 64], UINT64_C(1) << (word % 64), __ATOMIC_RELEASE);
	return passing;
}

static void
complete_chunks(void *arg, int thread, int nthreads)
{
	Pass	   *pass = arg;
	EmogiEdgeMask *mask = pass->mask;
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&pass->job, &pass->next, CHUNK_WORDS,
								emogi_bitmap_words(mask->nedges), &first, &end))
		emogi_edge_filter_words(mask->filter, mask->properties, first, end - first,
								mask->forward + first);
}

EmogiStatus
emogi_edge_mask_complete(EmogiPool *pool, EmogiEdgeMask *mask, EmogiControl *control)
{
	Pass		pass = {.job = {.control = control}, .mask = mask};

	if (mask->known == NULL)
		return EMOGI_OK;
	emogi_pool_run(pool, complete_chunks, &pass);
	if (pass.job.status == EMOGI_OK)
		mask->known = NULL;
	return (EmogiStatus) pass.job.status;
}

static void
reverse_chunks(void *arg, int thread, int nthreads)
{
	Pass	   *pass = arg;
	const EmogiEdgeMask *mask = pass->mask;
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&pass->job, &pass->next, CHUNK_WORDS,
								emogi_bitmap_words(mask->nedges), &first, &end))
		for (uint64_t w = first; w < end; w++)
		{
			const uint64_t count = mask->nedges - w * 64 < 64 ? mask->nedges - w * 64 : 64;
			const uint32_t *entries = mask->forward_entry + w * 64;
			uint64_t	word = 0;

			for (uint64_t i = 0; i < count; i++)
				word |= (mask->forward[entries[i] / 64] >> (entries[i] % 64) & 1) << i;
			mask->backward[w] = word;
		}
}

EmogiStatus
emogi_edge_mask_reverse(EmogiPool *pool, EmogiEdgeMask *mask, EmogiControl *control)
{
	Pass		pass = {.job = {.control = control}, .mask = mask};

	if (!mask->is_symmetric && !mask->has_backward)
		emogi_pool_run(pool, reverse_chunks, &pass);
	mask->has_backward = pass.job.status == EMOGI_OK;
	return (EmogiStatus) pass.job.status;
}

EmogiMaskedVertex
emogi_edge_mask_vertex(EmogiEdgeMask *mask, const EmogiGraph *graph, uint32_t vertex)
{
	const EmogiAdjacency *forward = &graph->forward;
	const EmogiAdjacency *backward = &graph->backward;
	const uint64_t first = forward->offsets[vertex];
	const uint64_t end = forward->offsets[vertex + 1];

	for (uint64_t e = first; e < end; e = (e / 64 + 1) * 64)
		if (emogi_bitmap_part(e / 64, emogi_edge_mask_word(mask, e / 64), first, end) != 0)
			return EMOGI_MASKED_THERE;
	if (mask->is_symmetric)
		return EMOGI_MASKED_GONE;
	if (mask->forward_entry == NULL || backward->offsets == NULL)
		return EMOGI_MASKED_UNKNOWN;
	for (uint64_t e = backward->offsets[vertex]; e < backward->offsets[vertex + 1]; e++)
		if (emogi_edge_mask_passes(mask, mask->forward_entry[e]))
			return EMOGI_MASKED_THERE;
	return EMOGI_MASKED_GONE;
}
