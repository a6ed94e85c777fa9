/*
 * compact.c: make the graph of the edges that pass a filter.
 *
 * Step 1 counts the passing entries of chunks of each direction, and finds the vertices. Step 2
 * copies each chunk to the place that the counts before it give. The new number of a vertex is the
 * number of vertices before it, from a bitmap with the sums of its words.
 */
#include "contract/compact.h"

#include "contract/edge_mask.h"
#include "graph/layout.h"
#include "graph/weights.h"
#include "threads/job.h"
#include "threads/pool.h"

#include <stdio.h>
#include <string.h>

#define CHUNK_WORDS 256			/* of a bitmap of entries: 16,384 entries */
#define VERTEX_WORDS 32			/* of the vertices, that a thread takes at a time */
#define POPULATE_BYTES ((size_t) 4 << 20)	/* likewise */

/* 64 vertices. */
typedef struct Numbers
{
	uint64_t	present;		/* bitmap: they are in the new graph */
	uint64_t	before;			/* vertices of the new graph before them */
} Numbers;

/* The lists of one direction. */
typedef struct Side
{
	EmogiAdjacency from;
	EmogiAdjacency to;
	const uint64_t *passing;
	uint64_t	nwords;
	uint64_t	nchunks;
	uint64_t   *counts;			/* [nchunks + 1]: passing entries of the chunk; in step 2, of those
								 * before it */
} Side;

typedef struct Compaction
{
	EmogiJob	job;
	EmogiPool  *pool;
	const EmogiCompactInput *input;
	uint64_t	nwords;			/* of the vertices */
	Numbers    *numbers;		/* [nwords] */
	Side		sides[2];
	int			nsides;
	bool		marks_targets;	/* there is no bitmap of the reverse lists */
	uint32_t	misfits;		/* atomic: of the passing weights */
	EmogiWeightType type;		/* of the new graph */
	int64_t    *ids;
	char	   *memory;
	size_t		bytes;
	uint64_t	next;			/* atomic */
	int			which;			/* the side that a step processes */
} Compaction;

/* Begin the lists of one direction. */
static void
begin_side(Side *side, const EmogiAdjacency *from, const uint64_t *passing, uintptr_t *place)
{
	side->from = *from;
	side->passing = passing;
	side->nwords = emogi_bitmap_words(from->nedges);
	side->nchunks = (side->nwords + CHUNK_WORDS - 1) / CHUNK_WORDS;
	side->counts = emogi_carve(place, (side->nchunks + 1) * sizeof(uint64_t));
}

/* Begin, and lay out the scratch memory from an address on; returns its end. */
static uintptr_t
begin(Compaction *compaction, const EmogiCompactInput *input, uintptr_t place)
{
	const EmogiGraph *graph = input->graph;
	const bool	symmetric = input->direction == EMOGI_BOTH;

	compaction->input = input;
	compaction->nwords = emogi_bitmap_words(graph->nvertices);
	compaction->numbers = emogi_carve(&place, (compaction->nwords + 1) * sizeof(Numbers));
	begin_side(&compaction->sides[0], &graph->forward, input->forward, &place);
	begin_side(&compaction->sides[1], &graph->backward, symmetric ? NULL : input->backward,
			   &place);
	compaction->nsides = input->with_backward && !symmetric ? 2 : 1;
	compaction->marks_targets = !symmetric && input->backward == NULL;
	return place;
}

size_t
emogi_compact_scratch_bytes(const EmogiGraph *graph)
{
	const EmogiCompactInput input = {.graph = graph};
	Compaction	compaction = {0};

	return (size_t) begin(&compaction, &input, 0);
}

/* Run a step; false if the job has stopped. */
static bool
run_step(Compaction *compaction, EmogiPoolTask step)
{
	compaction->next = 0;
	emogi_pool_run(compaction->pool, step, compaction);
	return !emogi_job_stopped(&compaction->job);
}

/* Run a step for each direction that is made. */
static bool
run_sides(Compaction *compaction, EmogiPoolTask step)
{
	for (compaction->which = 0; compaction->which < compaction->nsides; compaction->which++)
		if (!run_step(compaction, step))
			return false;
	return true;
}

/* Get the words of a chunk. */
static void
get_chunk(const Side *side, uint64_t chunk, uint64_t *first, uint64_t *end)
{
	*first = chunk * CHUNK_WORDS;
	*end = side->nwords - *first < CHUNK_WORDS ? side->nwords : *first + CHUNK_WORDS;
}

/* ---- step 1 ---- */

/* Load the weights of a word's passing entries; returns their number. */
static uint64_t
load_weights(const Side *side, EmogiWeightType type, uint64_t word, double *passing)
{
	const uint64_t rest = side->from.nedges - word * 64;
	double		weights[64];
	uint64_t	count = 0;

	emogi_weights_load(weights, side->from.weights, type, word * 64, rest < 64 ? rest : 64);
	for (uint64_t bits = side->passing[word]; bits != 0; bits &= bits - 1)
		passing[count++] = weights[__builtin_ctzll(bits)];
	return count;
}

/* Collect the misfits of a word's weights, until no narrower type than the old one remains. */
static void
collect_misfits(Compaction *compaction, const Side *side, uint64_t word)
{
	const EmogiWeightType type = compaction->input->graph->weight_type;
	uint32_t	misfits = __atomic_load_n(&compaction->misfits, __ATOMIC_RELAXED);
	double		weights[64];
	uint64_t	count;

	if (emogi_weight_type(misfits) == type)
		return;
	count = load_weights(side, type, word, weights);
	for (uint64_t i = 0; i < count; i++)
		misfits |= emogi_weight_misfits(weights[i]);
	__atomic_fetch_or(&compaction->misfits, misfits, __ATOMIC_RELAXED);
}

/* Mark the targets of a word's passing entries as present. */
static void
mark_targets(Compaction *compaction, const Side *side, uint64_t word)
{
	for (uint64_t bits = side->passing[word]; bits != 0; bits &= bits - 1)
	{
		const uint32_t v = side->from.targets[word * 64 + (uint64_t) __builtin_ctzll(bits)];
		const uint64_t bit = UINT64_C(1) << (v % 64);
		uint64_t   *present = &compaction->numbers[v / 64].present;

		if ((__atomic_load_n(present, __ATOMIC_RELAXED) & bit) == 0)
			__atomic_fetch_or(present, bit, __ATOMIC_RELAXED);
	}
}

/* Count the passing entries of chunks. */
static void
count_entries(void *arg, int thread, int nthreads)
{
	Compaction *compaction = arg;
	Side	   *side = &compaction->sides[compaction->which];
	const bool	is_forward = compaction->which == 0;
	const bool	has_weights = compaction->input->graph->weight_type != EMOGI_WEIGHT_NONE;
	uint64_t	chunk;

	while (emogi_job_take(&compaction->job, &compaction->next, side->nchunks, &chunk))
	{
		uint64_t	first,
					end,
					count = 0;

		get_chunk(side, chunk, &first, &end);
		for (uint64_t w = first; w < end; w++)
		{
			if (side->passing[w] == 0)
				continue;
			count += (uint64_t) __builtin_popcountll(side->passing[w]);
			if (is_forward && has_weights)
				collect_misfits(compaction, side, w);
			if (is_forward && compaction->marks_targets)
				mark_targets(compaction, side, w);
		}
		side->counts[chunk] = count;
	}
}

/* Check whether an entry of a vertex's list passes. */
static inline bool
has_passing(const Side *side, uint64_t v)
{
	const uint64_t end = side->from.offsets[v + 1];

	for (uint64_t e = side->from.offsets[v]; e < end; e = (e / 64 + 1) * 64)
		if (emogi_bitmap_part(e / 64, side->passing[e / 64], side->from.offsets[v], end) != 0)
			return true;
	return false;
}

/* Find the vertices that are present, besides marked targets. */
static void
find_vertices(void *arg, int thread, int nthreads)
{
	Compaction *compaction = arg;
	const EmogiCompactInput *input = compaction->input;
	const Side *backward = &compaction->sides[1];
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&compaction->job, &compaction->next, VERTEX_WORDS,
								compaction->nwords, &first, &end))
		for (uint64_t w = first; w < end; w++)
		{
			uint64_t	present = compaction->numbers[w].present;
			const uint64_t rest = input->graph->nvertices - w * 64;

			if (input->kept != NULL)
				present |= input->kept[w] & (rest < 64 ? (UINT64_C(1) << rest) - 1 : UINT64_MAX);
			for (uint64_t i = 0; i < 64 && i < rest; i++)
			{
				const uint64_t v = w * 64 + i;

				if ((present >> i & 1) == 0 &&
					(has_passing(&compaction->sides[0], v) ||
					 (backward->passing != NULL && has_passing(backward, v))))
					present |= UINT64_C(1) << i;
			}
			compaction->numbers[w].present = present;
		}
}

/* Replace counts by the sums of those before; returns the sum of all. */
static uint64_t
sum_counts(uint64_t *counts, uint64_t ncounts)
{
	uint64_t	sum = 0;

	for (uint64_t i = 0; i < ncounts; i++)
	{
		const uint64_t count = counts[i];

		counts[i] = sum;
		sum += count;
	}
	counts[ncounts] = sum;
	return sum;
}

/* Number the vertices; returns how many there are. */
static uint64_t
number_vertices(Compaction *compaction)
{
	uint64_t	count = 0;

	for (uint64_t w = 0; w < compaction->nwords; w++)
	{
		compaction->numbers[w].before = count;
		count += (uint64_t) __builtin_popcountll(compaction->numbers[w].present);
	}
	return count;
}

EmogiStatus
emogi_compact_count(EmogiPool *pool, const EmogiCompactInput *input, EmogiCompactSize *size,
					EmogiControl *control, EmogiError *error)
{
	Compaction	compaction = {.job = {.control = control}, .pool = pool};
	EmogiGraph	graph;

	*size = (EmogiCompactSize) {0};
	error->message[0] = error->detail[0] = '\0';
	begin(&compaction, input, (uintptr_t) input->scratch);
	if (compaction.nsides == 2 && input->backward == NULL)
	{
		snprintf(error->message, sizeof(error->message), "no bitmap of the reverse lists");
		return EMOGI_BAD_INPUT;
	}
	emogi_job_phase(&compaction.job, EMOGI_PHASE_CSR, 0);
	memset(compaction.numbers, 0, compaction.nwords * sizeof(Numbers));
	if (!run_sides(&compaction, count_entries) || !run_step(&compaction, find_vertices))
		return (EmogiStatus) compaction.job.status;
	for (int i = 0; i < compaction.nsides; i++)
		size->nedges = sum_counts(compaction.sides[i].counts, compaction.sides[i].nchunks);
	if (compaction.nsides == 2 &&
		compaction.sides[0].counts[compaction.sides[0].nchunks] != size->nedges)
	{
		snprintf(error->message, sizeof(error->message),
				 "the bitmaps of both directions differ");
		return EMOGI_BAD_INPUT;
	}
	size->nvertices = number_vertices(&compaction);
	if (input->graph->weight_type != EMOGI_WEIGHT_NONE)
		size->weight_type = emogi_weight_type(compaction.misfits);
	emogi_csr_view(NULL, size->nvertices, size->nedges, input->direction, input->with_backward,
				   size->weight_type, &graph);
	size->bytes = graph.memory_bytes;
	return EMOGI_OK;
}

/* ---- step 2 ---- */

static void
populate_pieces(void *arg, int thread, int nthreads)
{
	Compaction *compaction = arg;
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&compaction->job, &compaction->next, POPULATE_BYTES,
								compaction->bytes, &first, &end))
		if (!emogi_job_populate(&compaction->job, compaction->memory + first, end - first))
			emogi_job_fail(&compaction->job, EMOGI_NO_MEMORY);
}

/* Get the new number of a vertex. */
static inline uint32_t
number_of(const Compaction *compaction, uint64_t v)
{
	const Numbers *numbers = &compaction->numbers[v / 64];
	const uint64_t below = (UINT64_C(1) << (v % 64)) - 1;

	return (uint32_t) (numbers->before +
					   (uint64_t) __builtin_popcountll(numbers->present & below));
}

/* Copy the passing entries of chunks. */
static void
copy_entries(void *arg, int thread, int nthreads)
{
	Compaction *compaction = arg;
	const Side *side = &compaction->sides[compaction->which];
	const EmogiWeightType old_type = compaction->input->graph->weight_type;
	uint32_t   *targets = (uint32_t *) side->to.targets;
	uint64_t	chunk;

	while (emogi_job_take(&compaction->job, &compaction->next, side->nchunks, &chunk))
	{
		uint64_t	place = side->counts[chunk];
		uint64_t	first,
					end;

		get_chunk(side, chunk, &first, &end);
		for (uint64_t w = first; w < end; w++)
		{
			const uint32_t *of_word = side->from.targets + w * 64;
			double		weights[64];

			if (side->passing[w] == 0)
				continue;
			if (old_type != EMOGI_WEIGHT_NONE)
				emogi_weights_store((void *) side->to.weights, compaction->type, place, weights,
									load_weights(side, old_type, w, weights));
			for (uint64_t bits = side->passing[w]; bits != 0; bits &= bits - 1)
				targets[place++] = number_of(compaction, of_word[__builtin_ctzll(bits)]);
		}
	}
}

/* A place in the lists of a direction that only advances. */
typedef struct Cursor
{
	const Side *side;
	uint64_t	word;
	uint64_t	before;			/* passing entries before the word */
} Cursor;

/* Put a cursor before an entry. */
static void
put_cursor(Cursor *cursor, const Side *side, uint64_t entry)
{
	*cursor = (Cursor) {side, entry / 64 / CHUNK_WORDS * CHUNK_WORDS,
						side->counts[entry / 64 / CHUNK_WORDS]};
}

/* Advance to an entry; returns how many pass before it. */
static inline uint64_t
advance(Cursor *cursor, uint64_t entry)
{
	for (; cursor->word < entry / 64; cursor->word++)
		cursor->before += (uint64_t) __builtin_popcountll(cursor->side->passing[cursor->word]);
	if (entry % 64 == 0)
		return cursor->before;
	return cursor->before + (uint64_t) __builtin_popcountll(
		cursor->side->passing[cursor->word] & ((UINT64_C(1) << (entry % 64)) - 1));
}

/* Write the ids, and the offsets of all directions. */
static void
write_vertices(void *arg, int thread, int nthreads)
{
	Compaction *compaction = arg;
	const EmogiGraph *graph = compaction->input->graph;
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&compaction->job, &compaction->next, VERTEX_WORDS,
								compaction->nwords, &first, &end))
	{
		Cursor		cursors[2];

		for (int i = 0; i < compaction->nsides; i++)
			put_cursor(&cursors[i], &compaction->sides[i],
					   compaction->sides[i].from.offsets[first * 64]);
		for (uint64_t w = first; w < end; w++)
		{
			uint64_t	number = compaction->numbers[w].before;

			for (uint64_t bits = compaction->numbers[w].present; bits != 0; bits &= bits - 1)
			{
				const uint64_t v = w * 64 + (uint64_t) __builtin_ctzll(bits);

				for (int i = 0; i < compaction->nsides; i++)
				{
					const Side *side = &compaction->sides[i];

					((uint64_t *) side->to.offsets)[number] = advance(&cursors[i],
																	  side->from.offsets[v]);
				}
				compaction->ids[number++] = graph->ids != NULL ? graph->ids[v] : (int64_t) v;
			}
		}
	}
}

/* Zero the bytes between the end of an array and the end of its last line. */
static void
clear_padding(const void *array, size_t bytes)
{
	memset((char *) array + bytes, 0, emogi_whole_lines(bytes) - bytes);
}

/* Set the last offsets, and zero the padding of all arrays. */
static void
close_arrays(Compaction *compaction, uint64_t nvertices)
{
	clear_padding(compaction->ids, nvertices * sizeof(int64_t));
	for (int i = 0; i < compaction->nsides; i++)
	{
		const EmogiAdjacency *to = &compaction->sides[i].to;

		((uint64_t *) to->offsets)[nvertices] = to->nedges;
		clear_padding(to->offsets, (nvertices + 1) * sizeof(uint64_t));
		clear_padding(to->targets, to->nedges * sizeof(uint32_t));
		if (compaction->type != EMOGI_WEIGHT_NONE)
			clear_padding(to->weights, to->nedges * emogi_weight_bytes(compaction->type));
	}
}

EmogiStatus
emogi_compact_build(EmogiPool *pool, const EmogiCompactInput *input, const EmogiCompactSize *size,
					void *memory, EmogiGraph *compacted, EmogiControl *control, EmogiError *error)
{
	Compaction	compaction = {.job = {.control = control}, .pool = pool, .memory = memory,
		.bytes = size->bytes, .type = size->weight_type};

	error->message[0] = error->detail[0] = '\0';
	begin(&compaction, input, (uintptr_t) input->scratch);
	emogi_csr_view(memory, size->nvertices, size->nedges, input->direction, input->with_backward,
				   size->weight_type, compacted);
	compacted->dictionary = input->graph->dictionary;
	compaction.ids = memory;
	compaction.sides[0].to = compacted->forward;
	compaction.sides[1].to = compacted->backward;
	if (run_step(&compaction, populate_pieces) && run_sides(&compaction, copy_entries) &&
		run_step(&compaction, write_vertices))
		close_arrays(&compaction, size->nvertices);
	if (compaction.job.status == EMOGI_NO_MEMORY)
		snprintf(error->message, sizeof(error->message),
				 "out of memory for the graph of the edges that pass");
	return (EmogiStatus) compaction.job.status;
}
