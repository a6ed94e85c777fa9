/*
 * merge.c: a Graph from another Graph and the changes of its edges, step by step; merge_parts.h
 * tells the method.
 */
#include "graph/merge_parts.h"

#include "contract/semirings.h"
#include "layout.h"

#include <stdio.h>
#include <string.h>

#define ENTRIES_AT_ONCE 256		/* changes that a thread takes */
#define POPULATE_BYTES ((size_t) 2 << 20)	/* of memory that a thread takes */

static const uint64_t no_offsets[1];	/* of a Graph without vertices */

/* ---- memory ---- */

/* Get the most entries of an orientation that the changes can make. */
static uint64_t
most_entries(const EmogiMergeInput *input)
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
	/* list entries are counted here, so that none need be doubled */
	return emogi_csr_bytes(nvertices, nedges, EMOGI_OUT, input->with_backward &&
						   input->direction != EMOGI_BOTH, input->weight_type);
}

/*
 * Lay out the scratch from an address on a line on, all but the table of shifts; get its end, where
 * that begins.
 */
static uintptr_t
lay_out_scratch(EmogiMerge *splicing, uintptr_t place)
{
	const uint64_t nentries = most_entries(splicing->input);
	const uint64_t nends = 2 * splicing->input->nchanges;

	for (int i = 0; i < (splicing->input->direction == EMOGI_BOTH ? 1 : 2); i++)
	{
		EmogiMergeSide *side = &splicing->sides[i];

		side->entries = emogi_carve(&place, nentries * sizeof(*side->entries));
		side->spare = emogi_carve(&place, nentries * sizeof(*side->spare));
		side->edits = emogi_carve(&place, (nentries + 1) * sizeof(*side->edits));
		if (splicing->input->derivation != NULL)
			splicing->told_edits[i] = emogi_carve(&place, (nentries + 1) * sizeof(EmogiEdit));
	}
	if (splicing->input->derivation != NULL)
		splicing->told_breaks = emogi_carve(&place, (nends + 1) * sizeof(EmogiBreak));
	splicing->candidates = emogi_carve(&place, nends * sizeof(*splicing->candidates));
	splicing->filter = emogi_carve(&place, emogi_merge_filter_bits(splicing->nvertices, nends) / 8);
	splicing->gone = emogi_carve(&place, nends * sizeof(*splicing->gone));
	splicing->new_keys = emogi_carve(&place, 2 * nentries * sizeof(*splicing->new_keys));
	splicing->key_scratch = emogi_carve(&place, 2 * nentries * sizeof(*splicing->key_scratch));
	splicing->new_numbers = emogi_carve(&place, nends * sizeof(*splicing->new_numbers));
	splicing->breaks = emogi_carve(&place, (nends + 1) * sizeof(*splicing->breaks));
	splicing->shifts.blocks = (int32_t *) place;
	return place;
}

size_t
emogi_merge_scratch_bytes(const EmogiMergeInput *input, int nthreads)
{
	EmogiMerge	splicing = {.input = input, .nvertices = input->graph->nvertices};

	return (size_t) lay_out_scratch(&splicing, 0) +
		emogi_merge_shifts_bytes(splicing.nvertices, 2 * input->nchanges);
}

/* Populate memory in pieces. */
static void
populate_memory(void *arg, int thread, int nthreads)
{
	EmogiMerge *splicing = arg;
	uint64_t	at;

	while (!emogi_job_stopped(&splicing->job) &&
		   (at = emogi_job_take(&splicing->next, POPULATE_BYTES)) < splicing->populate_bytes)
	{
		size_t		bytes = splicing->populate_bytes - at < POPULATE_BYTES
			? splicing->populate_bytes - at : POPULATE_BYTES;

		if (!emogi_job_populate(&splicing->job, splicing->populate_start + at, bytes))
			emogi_job_fail(&splicing->job, EMOGI_NO_MEMORY);
	}
}

bool
emogi_merge_populate(EmogiPool *pool, EmogiMerge *splicing, void *start, size_t bytes)
{
	splicing->populate_start = start;
	splicing->populate_bytes = bytes;
	return emogi_merge_run(pool, splicing, populate_memory);
}

/* ---- steps ---- */

bool
emogi_merge_take_entries(EmogiMerge *splicing, EmogiMergeSide **side, uint64_t *first,
						 uint64_t *end)
{
	const uint64_t nforward = (splicing->sides[0].nentries + ENTRIES_AT_ONCE - 1) / ENTRIES_AT_ONCE;
	const uint64_t piece = emogi_job_take(&splicing->next, 1);

	if (emogi_job_stopped(&splicing->job))
		return false;
	*side = &splicing->sides[piece < nforward ? 0 : 1];
	*first = (piece < nforward ? piece : piece - nforward) * ENTRIES_AT_ONCE;
	*end = (*side)->nentries - *first < ENTRIES_AT_ONCE ? (*side)->nentries
		: *first + ENTRIES_AT_ONCE;
	return *first < (*side)->nentries;
}

void
emogi_merge_begin_side(EmogiMerge *splicing, int i, const EmogiAdjacency *lists, bool swapped,
					   bool spliced)
{
	EmogiMergeSide *side = &splicing->sides[i];

	if (spliced)
		side->from = *lists;
	if (side->from.offsets == NULL)
		side->from.offsets = no_offsets;
	side->swapped = swapped;
	side->spliced = spliced;
	splicing->missing[i] = UINT64_MAX;
}

/*
 * Set what is known before, and see whether edges go: then ends that edges lead to must be looked
 * at too.
 */
static void
begin_splicing(EmogiMerge *splicing)
{
	const EmogiMergeInput *input = splicing->input;
	const bool	both = input->direction == EMOGI_BOTH;
	const bool	backward = input->with_backward && !both;

	for (uint64_t i = 0; i < input->nchanges && !splicing->removes &&
		 !emogi_merge_stops_at(splicing, i); i++)
		splicing->removes = input->changes[i].times < 0;
	splicing->nsides = !both && (backward || splicing->removes) ? 2 : 1;
	emogi_merge_begin_side(splicing, 0, &input->graph->forward, input->direction == EMOGI_IN, true);
	emogi_merge_begin_side(splicing, 1, &input->graph->backward, input->direction != EMOGI_IN,
						   backward);
	emogi_job_phase(&splicing->job, EMOGI_PHASE_SPLICE,
					input->graph->forward.nedges * (backward ? 2 : 1));
}

/* Make the new Graph, whose vertices and changes are known; false when the job has stopped. */
static bool
make_graph(EmogiPool *pool, EmogiMerge *splicing, EmogiGraph *graph)
{
	const EmogiMergeInput *input = splicing->input;
	const EmogiMergeSide *forward = &splicing->sides[0];
	const uint64_t nentries = forward->from.nedges + forward->edits[forward->nentries].shift;

	if (splicing->new_nvertices == 0)
		return true;
	emogi_csr_view(input->memory, splicing->new_nvertices, nentries, input->direction,
				   input->with_backward, input->weight_type, graph);
	splicing->new_ids = input->memory;
	splicing->sides[0].to = graph->forward;
	splicing->sides[1].to = graph->backward;
	return emogi_merge_populate(pool, splicing, input->memory, graph->memory_bytes) &&
		emogi_merge_write(pool, splicing);
}

/* Say that an edge is to go that is not there. */
static void
report_missing(const EmogiMerge *splicing, const EmogiMergeSide *side, uint64_t i,
			   EmogiError *error)
{
	const long long source = (long long) emogi_merge_key(side->entries[i].source);
	const long long target = (long long) emogi_merge_key(side->entries[i].target);
	const long long src = side->swapped ? target : source;
	const long long dst = side->swapped ? source : target;

	snprintf(error->message, sizeof(error->message),
			 "graph does not have an edge that is to go: %lld to %lld", src, dst);
	if (splicing->type == EMOGI_WEIGHT_NONE)
		snprintf(error->detail, sizeof(error->detail), "%lld times",
				 -(long long) side->entries[i].times);
	else
		snprintf(error->detail, sizeof(error->detail), "weight %.17g, %lld times",
				 emogi_merge_weight(&side->entries[i]), -(long long) side->entries[i].times);
}

/* Say in words why a splicing stopped, and return its status. */
static EmogiStatus
report_splicing(const EmogiMerge *splicing, EmogiError *error)
{
	const EmogiStatus status = (EmogiStatus) splicing->job.status;
	const int	side = splicing->missing[0] != UINT64_MAX ? 0 : 1;

	if (status == EMOGI_OK || status == EMOGI_CANCELED)
		return status;
	*error = (EmogiError) {{0}, {0}};
	if (status == EMOGI_BAD_INPUT && splicing->missing[side] != UINT64_MAX)
	{
		report_missing(splicing, &splicing->sides[side], splicing->missing[side], error);
		return status;
	}
	if (status == EMOGI_BAD_INPUT)
		snprintf(error->message, sizeof(error->message), "graph has more than %llu vertices",
				 (unsigned long long) EMOGI_MAX_VERTICES);
	else
		snprintf(error->message, sizeof(error->message), "out of memory while changing a graph");
	snprintf(error->detail, sizeof(error->detail), "%llu vertices, %llu changes",
			 (unsigned long long) splicing->nvertices,
			 (unsigned long long) splicing->input->nchanges);
	return status;
}

EmogiStatus
emogi_merge(EmogiPool *pool, const EmogiMergeInput *input, EmogiGraph *graph, EmogiControl *control,
			EmogiError *error)
{
	EmogiMerge splicing = {.job = {.control = control}, .input = input,
		.nvertices = input->graph->nvertices,
		.ids = input->graph->ids, .old_type = input->graph->weight_type,
		.type = input->weight_type};
	uintptr_t	scratch_end = lay_out_scratch(&splicing, (uintptr_t) input->scratch);

	memset(graph, 0, sizeof(*graph));
	begin_splicing(&splicing);
	if (emogi_merge_populate(pool, &splicing, input->scratch,
							 scratch_end - (uintptr_t) input->scratch) &&
		emogi_merge_net(pool, &splicing) &&
		emogi_merge_locate(pool, &splicing) &&
		emogi_merge_find_gone(pool, &splicing) &&
		emogi_merge_renumber(pool, &splicing) &&
		emogi_merge_tell(&splicing) &&
		make_graph(pool, &splicing, graph))
		control->done = control->total;
	return report_splicing(&splicing, error);
}
