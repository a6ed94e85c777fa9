/*
 * merge.c: merge changes of edges into a graph, step by step; merge_parts.h describes the method.
 */
#include "graph/merge_parts.h"

#include "contract/semirings.h"
#include "layout.h"

#include <stdio.h>
#include <string.h>

#define EDGE_CHUNK 256			/* changes that a thread takes at a time */
#define POPULATE_BYTES ((size_t) 2 << 20)	/* of memory that a thread takes at a time */

static const uint64_t no_offsets[1];	/* of a graph without vertices */

/* ---- memory ---- */

/* Get the maximum number of entries of a direction that the changes can make. */
static uint64_t
max_entries(const EmogiMergeInput *input)
{
	return input->direction == EMOGI_BOTH ? 2 * input->nchanges : input->nchanges;
}

size_t
emogi_merge_bytes(const EmogiMergeInput *input)
{
	uint64_t	nvertices = input->graph->nvertices;
	uint64_t	nedges = 0;

	for (uint64_t i = 0; i < input->nchanges; i++)
	{
		if (input->changes[i].times <= 0)
			continue;
		nedges += (uint64_t) input->changes[i].times;
		nvertices += 2;
	}
	nedges = input->graph->forward.nedges + (input->direction == EMOGI_BOTH ? 2 * nedges : nedges);
	/* list entries are counted here, so that emogi_csr_bytes need not double them */
	return emogi_csr_bytes(nvertices, nedges, EMOGI_OUT, input->with_backward &&
						   input->direction != EMOGI_BOTH, input->weight_type);
}

/*
 * Lay out the scratch, except the table of shifts, from a line-aligned address on; returns its end,
 * where the table begins.
 */
static uintptr_t
lay_out_scratch(EmogiMerge *merge, uintptr_t place)
{
	const uint64_t nentries = max_entries(merge->input);
	const uint64_t nends = 2 * merge->input->nchanges;

	for (int i = 0; i < (merge->input->direction == EMOGI_BOTH ? 1 : 2); i++)
	{
		EmogiMergeSide *side = &merge->sides[i];

		side->entries = emogi_carve(&place, nentries * sizeof(*side->entries));
		side->spare = emogi_carve(&place, nentries * sizeof(*side->spare));
		side->edits = emogi_carve(&place, (nentries + 1) * sizeof(*side->edits));
		if (merge->input->derivation != NULL)
			merge->derivation_edits[i] = emogi_carve(&place, (nentries + 1) * sizeof(EmogiEdit));
	}
	if (merge->input->derivation != NULL)
		merge->derivation_breaks = emogi_carve(&place, (nends + 1) * sizeof(EmogiBreak));
	merge->candidates = emogi_carve(&place, nends * sizeof(*merge->candidates));
	merge->filter = emogi_carve(&place, emogi_merge_filter_bits(merge->nvertices, nends) / 8);
	merge->gone = emogi_carve(&place, nends * sizeof(*merge->gone));
	merge->new_keys = emogi_carve(&place, 2 * nentries * sizeof(*merge->new_keys));
	merge->key_scratch = emogi_carve(&place, 2 * nentries * sizeof(*merge->key_scratch));
	merge->new_numbers = emogi_carve(&place, nends * sizeof(*merge->new_numbers));
	merge->breaks = emogi_carve(&place, (nends + 1) * sizeof(*merge->breaks));
	merge->shifts.blocks = (int32_t *) place;
	return place;
}

size_t
emogi_merge_scratch_bytes(const EmogiMergeInput *input, int nthreads)
{
	EmogiMerge	merge = {.input = input, .nvertices = input->graph->nvertices};

	return (size_t) lay_out_scratch(&merge, 0) +
		emogi_merge_shifts_bytes(merge.nvertices, 2 * input->nchanges);
}

/* Populate memory in pieces. */
static void
populate_memory(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;
	uint64_t	at;

	while (!emogi_job_stopped(&merge->job) &&
		   (at = emogi_job_claim(&merge->next, POPULATE_BYTES)) < merge->populate_bytes)
	{
		size_t		bytes = merge->populate_bytes - at < POPULATE_BYTES
			? merge->populate_bytes - at : POPULATE_BYTES;

		if (!emogi_job_populate(&merge->job, merge->populate_start + at, bytes))
			emogi_job_fail(&merge->job, EMOGI_NO_MEMORY);
	}
}

bool
emogi_merge_populate(EmogiPool *pool, EmogiMerge *merge, void *start, size_t bytes)
{
	merge->populate_start = start;
	merge->populate_bytes = bytes;
	return emogi_merge_run(pool, merge, populate_memory);
}

/* ---- steps ---- */

bool
emogi_merge_take_entries(EmogiMerge *merge, EmogiMergeSide **side, uint64_t *first, uint64_t *end)
{
	const uint64_t nforward = (merge->sides[0].nentries + EDGE_CHUNK - 1) / EDGE_CHUNK;
	const uint64_t piece = emogi_job_claim(&merge->next, 1);

	if (emogi_job_stopped(&merge->job))
		return false;
	*side = &merge->sides[piece < nforward ? 0 : 1];
	*first = (piece < nforward ? piece : piece - nforward) * EDGE_CHUNK;
	*end = (*side)->nentries - *first < EDGE_CHUNK ? (*side)->nentries
		: *first + EDGE_CHUNK;
	return *first < (*side)->nentries;
}

void
emogi_merge_begin_side(EmogiMerge *merge, int i, const EmogiAdjacency *lists, bool swapped,
					   bool merged)
{
	EmogiMergeSide *side = &merge->sides[i];

	if (merged)
		side->from = *lists;
	if (side->from.offsets == NULL)
		side->from.offsets = no_offsets;
	side->swapped = swapped;
	side->merged = merged;
	merge->missing[i] = UINT64_MAX;
}

/*
 * Initialize the sides, and determine whether edges are removed, in which case the vertices they
 * lead to must be checked too.
 */
static void
begin_merge(EmogiMerge *merge)
{
	const EmogiMergeInput *input = merge->input;
	const bool	both = input->direction == EMOGI_BOTH;
	const bool	backward = input->with_backward && !both;

	for (uint64_t i = 0; i < input->nchanges && !merge->removes &&
		 !emogi_merge_stops_at(merge, i); i++)
		merge->removes = input->changes[i].times < 0;
	merge->nsides = !both && (backward || merge->removes) ? 2 : 1;
	emogi_merge_begin_side(merge, 0, &input->graph->forward, input->direction == EMOGI_IN, true);
	emogi_merge_begin_side(merge, 1, &input->graph->backward, input->direction != EMOGI_IN,
						   backward);
	emogi_job_phase(&merge->job, EMOGI_PHASE_MERGE,
					input->graph->forward.nedges * (backward ? 2 : 1));
}

/* Make the new graph, given its vertices and changes; false if the job has stopped. */
static bool
make_graph(EmogiPool *pool, EmogiMerge *merge, EmogiGraph *graph)
{
	const EmogiMergeInput *input = merge->input;
	const EmogiMergeSide *forward = &merge->sides[0];
	const uint64_t nentries = forward->from.nedges + forward->edits[forward->nentries].shift;

	if (merge->new_nvertices == 0)
		return true;
	emogi_csr_view(input->memory, merge->new_nvertices, nentries, input->direction,
				   input->with_backward, input->weight_type, graph);
	merge->new_ids = input->memory;
	merge->sides[0].to = graph->forward;
	merge->sides[1].to = graph->backward;
	return emogi_merge_populate(pool, merge, input->memory, graph->memory_bytes) &&
		emogi_merge_write(pool, merge);
}

/* Write the message for a removed edge that does not exist. */
static void
report_missing(const EmogiMerge *merge, const EmogiMergeSide *side, uint64_t i, EmogiError *error)
{
	const long long source = (long long) emogi_merge_key(side->entries[i].source);
	const long long target = (long long) emogi_merge_key(side->entries[i].target);
	const long long src = side->swapped ? target : source;
	const long long dst = side->swapped ? source : target;

	snprintf(error->message, sizeof(error->message),
			 "graph does not have the edge to be removed: %lld to %lld", src, dst);
	if (merge->type == EMOGI_WEIGHT_NONE)
		snprintf(error->detail, sizeof(error->detail), "%lld times",
				 -(long long) side->entries[i].times);
	else
		snprintf(error->detail, sizeof(error->detail), "weight %.17g, %lld times",
				 emogi_merge_weight(&side->entries[i]), -(long long) side->entries[i].times);
}

/* Write the message of a failed merge, and return its status. */
static EmogiStatus
report_merge(const EmogiMerge *merge, EmogiError *error)
{
	const EmogiStatus status = (EmogiStatus) merge->job.status;
	const int	side = merge->missing[0] != UINT64_MAX ? 0 : 1;

	if (status == EMOGI_OK || status == EMOGI_CANCELED)
		return status;
	*error = (EmogiError) {{0}, {0}};
	if (status == EMOGI_BAD_INPUT && merge->missing[side] != UINT64_MAX)
	{
		report_missing(merge, &merge->sides[side], merge->missing[side], error);
		return status;
	}
	if (status == EMOGI_BAD_INPUT)
		snprintf(error->message, sizeof(error->message), "graph has more than %llu vertices",
				 (unsigned long long) EMOGI_MAX_VERTICES);
	else
		snprintf(error->message, sizeof(error->message), "out of memory while changing a graph");
	snprintf(error->detail, sizeof(error->detail), "%llu vertices, %llu changes",
			 (unsigned long long) merge->nvertices,
			 (unsigned long long) merge->input->nchanges);
	return status;
}

EmogiStatus
emogi_merge(EmogiPool *pool, const EmogiMergeInput *input, EmogiGraph *graph, EmogiControl *control,
			EmogiError *error)
{
	EmogiMerge	merge = {.job = {.control = control}, .input = input,
		.nvertices = input->graph->nvertices,
		.ids = input->graph->ids, .old_type = input->graph->weight_type,
		.type = input->weight_type};
	uintptr_t	scratch_end = lay_out_scratch(&merge, (uintptr_t) input->scratch);

	memset(graph, 0, sizeof(*graph));
	begin_merge(&merge);
	if (emogi_merge_populate(pool, &merge, input->scratch,
							 scratch_end - (uintptr_t) input->scratch) &&
		emogi_merge_net(pool, &merge) &&
		emogi_merge_locate(pool, &merge) &&
		emogi_merge_find_removed(pool, &merge) &&
		emogi_merge_renumber(pool, &merge) &&
		emogi_merge_derive(&merge) &&
		make_graph(pool, &merge, graph))
		control->done = control->total;
	return report_merge(&merge, error);
}
