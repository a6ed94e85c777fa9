/*
 * edge_filter.c: evaluate an edge filter on the entries of a graph.
 *
 * Entries are processed in blocks of BLOCK_WORDS words. A truth is two words for 64 entries: where
 * the expression is true, and where it is NULL; never both.
 *
 *   a AND b  is true where both are, and NULL where neither is false and one is NULL.
 *   a OR b   is true where one is, and NULL where neither is true and one is NULL.
 */
#include "contract/edge_filter.h"

#include "graph/edge_filter_leaves.h"
#include "threads/job.h"
#include "threads/pool.h"

#include <string.h>

#define BLOCK_WORDS 32			/* 2,048 entries: the values of a block stay in the cache */
#define CHUNK_WORDS (32 * BLOCK_WORDS)	/* that a thread takes at a time */

/* The truths of a block. */
typedef struct Truths
{
	uint64_t	yes[BLOCK_WORDS];
	uint64_t	null[BLOCK_WORDS];
} Truths;

/* An evaluation of all entries. */
typedef struct Run
{
	EmogiJob	job;
	const EmogiEdgeFilter *filter;
	const EmogiProperties *properties;
	uint64_t   *passing;
	uint64_t	nwords;
	uint64_t	next;			/* atomic: word */
} Run;

/* Set the truths of a constant. */
static void
set_constant(EmogiTruth constant, uint64_t nwords, Truths *to)
{
	memset(to->yes, constant == EMOGI_TRUE ? 0xFF : 0, nwords * sizeof(uint64_t));
	memset(to->null, constant == EMOGI_UNKNOWN ? 0xFF : 0, nwords * sizeof(uint64_t));
}

/* Set *to to the words of a column's NULLs from word `first` on. */
static void
get_nulls(const EmogiProperty *column, uint64_t first, uint64_t nwords, uint64_t *to)
{
	if (column->nulls == NULL)
		memset(to, 0, nwords * sizeof(uint64_t));
	else
		memcpy(to, column->nulls + first, nwords * sizeof(uint64_t));
}

/* Set the truths of a leaf. */
static void
set_leaf(const EmogiFilterStep *step, const EmogiProperties *properties, uint64_t first,
		 uint64_t nwords, Truths *to)
{
	const bool	is_empty = step->kind == EMOGI_FILTER_AMONG && step->nvalues == 0;

	if (is_empty)
		memset(to->yes, 0, nwords * sizeof(uint64_t));
	else
		emogi_edge_filter_leaf(step, properties, first, nwords, to->yes);
	if (is_empty && !step->has_null)
	{
		memset(to->null, 0, nwords * sizeof(uint64_t));
		return;
	}
	get_nulls(&properties->columns[step->column], first, nwords, to->null);
	if (step->kind == EMOGI_FILTER_COMPARE_COLUMNS &&
		properties->columns[step->other].nulls != NULL)
		for (uint64_t w = 0; w < nwords; w++)
			to->null[w] |= properties->columns[step->other].nulls[first + w];
	for (uint64_t w = 0; w < nwords; w++)
		to->yes[w] &= ~to->null[w];
	if (step->has_null)
		for (uint64_t w = 0; w < nwords; w++)
			to->null[w] = ~to->yes[w];
}

/* Replace a truth. */
static void
replace(EmogiFilterKind kind, uint64_t nwords, Truths *a)
{
	for (uint64_t w = 0; w < nwords; w++)
	{
		const uint64_t yes = a->yes[w];
		const uint64_t null = a->null[w];

		a->yes[w] = kind == EMOGI_FILTER_IS_TRUE ? yes
			: kind == EMOGI_FILTER_IS_UNKNOWN ? null : ~(yes | null);
		a->null[w] = kind == EMOGI_FILTER_NOT ? null : 0;
	}
}

/* Replace two truths. */
static void
combine(EmogiFilterKind kind, uint64_t nwords, Truths *a, const Truths *b)
{
	if (kind == EMOGI_FILTER_AND)
		for (uint64_t w = 0; w < nwords; w++)
		{
			const uint64_t maybe = (a->yes[w] | a->null[w]) & (b->yes[w] | b->null[w]);

			a->yes[w] &= b->yes[w];
			a->null[w] = maybe & ~a->yes[w];
		}
	else
		for (uint64_t w = 0; w < nwords; w++)
		{
			a->yes[w] |= b->yes[w];
			a->null[w] = (a->null[w] | b->null[w]) & ~a->yes[w];
		}
}

/* Check whether the first operand of an AND or OR decides a block. */
static bool
is_decided(EmogiFilterKind kind, uint64_t nwords, const Truths *a)
{
	uint64_t	undecided = 0;

	for (uint64_t w = 0; w < nwords; w++)
		undecided |= kind == EMOGI_FILTER_SKIP_AND ? a->yes[w] | a->null[w] : ~a->yes[w];
	return undecided == 0;
}

/* Evaluate a program on a block, with a stack of EMOGI_FILTER_DEPTH; the result is stack[0]. */
static void
evaluate(const EmogiEdgeFilter *filter, const EmogiProperties *properties, uint64_t first,
		 uint64_t nwords, Truths *stack)
{
	Truths	   *top = stack - 1;

	for (uint32_t i = 0; i < filter->nsteps; i++)
	{
		const EmogiFilterStep *step = &filter->steps[i];

		switch (step->kind)
		{
			case EMOGI_FILTER_CONSTANT:
				set_constant(step->constant, nwords, ++top);
				break;
			case EMOGI_FILTER_IS_NULL:
				top++;
				get_nulls(&properties->columns[step->column], first, nwords, top->yes);
				memset(top->null, 0, nwords * sizeof(uint64_t));
				break;
			case EMOGI_FILTER_AND:
			case EMOGI_FILTER_OR:
				top--;
				combine(step->kind, nwords, top, top + 1);
				break;
			case EMOGI_FILTER_SKIP_AND:
			case EMOGI_FILTER_SKIP_OR:
				if (is_decided(step->kind, nwords, top))
					i += step->skipped;
				break;
			case EMOGI_FILTER_NOT:
			case EMOGI_FILTER_IS_TRUE:
			case EMOGI_FILTER_IS_FALSE:
			case EMOGI_FILTER_IS_UNKNOWN:
				replace(step->kind, nwords, top);
				break;
			default:
				set_leaf(step, properties, first, nwords, ++top);
		}
	}
}

void
emogi_edge_filter_words(const EmogiEdgeFilter *filter, const EmogiProperties *properties,
						uint64_t first, uint64_t nwords, uint64_t *passing)
{
	Truths		stack[EMOGI_FILTER_DEPTH];
	const uint64_t nall = emogi_bitmap_words(properties->nedges);

	for (uint64_t done = 0; done < nwords; done += BLOCK_WORDS)
	{
		const uint64_t count = nwords - done < BLOCK_WORDS ? nwords - done : BLOCK_WORDS;

		evaluate(filter, properties, first + done, count, stack);
		memcpy(passing + done, stack[0].yes, count * sizeof(uint64_t));
	}
	if (nwords > 0 && first + nwords == nall && properties->nedges % 64 != 0)
		passing[nwords - 1] &= UINT64_MAX >> (64 - properties->nedges % 64);
}

static void
run_chunks(void *arg, int thread, int nthreads)
{
	Run		   *run = arg;
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&run->job, &run->next, CHUNK_WORDS, run->nwords, &first, &end))
		emogi_edge_filter_words(run->filter, run->properties, first, end - first,
								run->passing + first);
}

EmogiStatus
emogi_edge_filter_run(EmogiPool *pool, const EmogiEdgeFilter *filter,
					  const EmogiProperties *properties, uint64_t *passing, EmogiControl *control,
					  EmogiError *error)
{
	Run			run = {.job = {.control = control}, .filter = filter, .properties = properties,
		.passing = passing, .nwords = emogi_bitmap_words(properties->nedges)};
	const EmogiStatus status = emogi_edge_filter_check(filter, properties, error);

	if (status != EMOGI_OK)
		return status;
	emogi_pool_run(pool, run_chunks, &run);
	return (EmogiStatus) run.job.status;
}
