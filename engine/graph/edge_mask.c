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

#include <string.h>

#define CHUNK_WORDS 1024		/* words that a thread takes at a time */

/* A pass over all words. */
typedef struct Pass
{
	EmogiJob	job;
	EmogiMaskedLists *lists;
	uint64_t	nwords;
	uint64_t	next;			/* atomic: word */
} Pass;

size_t
emogi_edge_mask_bytes(uint64_t nedges)
{
	const uint64_t nwords = emogi_bitmap_words(nedges);

	return emogi_whole_lines(nwords * sizeof(uint64_t)) +
		emogi_whole_lines(emogi_bitmap_words(nwords) * sizeof(uint64_t));
}

EmogiStatus
emogi_edge_mask_begin(const EmogiEdgeFilter *filter, const EmogiProperties *properties,
					  void *memory, EmogiMaskedLists *lists, EmogiError *error)
{
	const uint64_t nwords = emogi_bitmap_words(properties->nedges);
	const size_t known_bytes = emogi_bitmap_words(nwords) * sizeof(uint64_t);
	uintptr_t	place = (uintptr_t) memory;

	*lists = (EmogiMaskedLists) {.filter = filter, .properties = properties};
	lists->known = memset(emogi_carve(&place, known_bytes), 0, known_bytes);
	lists->passing = emogi_carve(&place, nwords * sizeof(uint64_t));
	return emogi_edge_filter_check(filter, properties, error);
}

uint64_t
emogi_edge_mask_evaluate(EmogiMaskedLists *lists, uint64_t word)
{
	uint64_t	passing;

	emogi_edge_filter_words(lists->filter, lists->properties, word, 1, &passing);
	__atomic_store_n(&lists->passing[word], passing, __ATOMIC_RELAXED);
	__atomic_fetch_or(&lists->known[word / 64], UINT64_C(1) << (word % 64), __ATOMIC_RELEASE);
	return passing;
}

static void
complete_chunks(void *arg, int thread, int nthreads)
{
	Pass	   *pass = arg;
	EmogiMaskedLists *lists = pass->lists;
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&pass->job, &pass->next, CHUNK_WORDS, pass->nwords, &first, &end))
		emogi_edge_filter_words(lists->filter, lists->properties, first, end - first,
								lists->passing + first);
}

EmogiStatus
emogi_edge_mask_complete(EmogiPool *pool, EmogiMaskedLists *lists, EmogiControl *control)
{
	Pass		pass = {.job = {.control = control}, .lists = lists,
		.nwords = emogi_bitmap_words(lists->properties->nedges)};

	if (lists->known == NULL)
		return EMOGI_OK;
	emogi_pool_run(pool, complete_chunks, &pass);
	if (pass.job.status == EMOGI_OK)
		lists->known = NULL;
	return (EmogiStatus) pass.job.status;
}

/*
 * Check whether one of the entries that lead to a vertex passes. Above a quarter of the words, it
 * is not known: to evaluate all words costs less.
 */
static EmogiMaskedVertex
search_in_entries(EmogiEdgeMask *mask, uint32_t vertex)
{
	const uint64_t first = mask->in_offsets[vertex];
	const uint64_t end = mask->in_offsets[vertex + 1];

	if (end - first > emogi_bitmap_words(mask->forward.properties->nedges) / 4 + 64)
		return EMOGI_MASKED_UNKNOWN;
	for (uint64_t i = first; i < end; i++)
	{
		const uint32_t e = mask->in_entries[i];

		if ((emogi_edge_mask_word(&mask->forward, e / 64) >> (e % 64) & 1) != 0)
			return EMOGI_MASKED_THERE;
	}
	return EMOGI_MASKED_GONE;
}

EmogiMaskedVertex
emogi_edge_mask_vertex(EmogiEdgeMask *mask, const EmogiGraph *graph, uint32_t vertex)
{
	const uint64_t *forward = graph->forward.offsets;
	const uint64_t *backward = graph->backward.offsets;
	EmogiMaskedLists *reverse = emogi_edge_mask_backward(mask);

	if (emogi_edge_mask_any(&mask->forward, forward[vertex], forward[vertex + 1]))
		return EMOGI_MASKED_THERE;
	if (mask->is_symmetric)
		return EMOGI_MASKED_GONE;
	if (reverse == NULL || backward == NULL)
		return mask->in_offsets != NULL ? search_in_entries(mask, vertex) : EMOGI_MASKED_UNKNOWN;
	return emogi_edge_mask_any(reverse, backward[vertex], backward[vertex + 1])
		? EMOGI_MASKED_THERE : EMOGI_MASKED_GONE;
}
