/*
 * answerers.c: the answerers of calls: whether each can answer a question, and at what cost
 *
 * A new way to answer is a row of EMOGI_ANSWERERS, its two functions here, and one that runs it.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "contract/contraction.h"
#include "contract/local_graph.h"
#include "contract/local_search.h"
#include "contract/query.h"

#include "answer/answer.h"
#include "answer/cost.h"
#include "base/arena.h"

/* Do the settings allow answers by the backend instead of a GPU or the papers' systems? */
static bool
is_left_to_emogi(const EmogiQuestion *question)
{
	return question->engine != EMOGI_ENGINE_CUDA && question->mapping == EMOGI_MAPPING_AUTO;
}

/* Write a reason, unless it is not wanted. */
static void pg_attribute_printf(2, 3)
tell(char *why, const char *format,...)
{
	va_list		args;

	if (why == NULL)
		return;
	va_start(args, format);
	vsnprintf(why, EMOGI_WHY_BYTES, format, args);
	va_end(args);
}

/* Write the reason of a local search, which is recorded for each; vsnprintf costs more than it. */
static void
tell_max_edges(char *why, uint64 max_edges)
{
	static const char before[] = "the search reads at most ";
	static const char after[] = " edges";

	memcpy(why, before, sizeof before - 1);
	why += sizeof before - 1;
	why += pg_ulltoa_n(max_edges, why);
	memcpy(why, after, sizeof after);
}

/* Is a question for one or more paths? */
static bool
is_for_paths(const EmogiQuestion *question)
{
	return question->kind != EMOGI_QUESTION_SEARCH;
}

/* ---- index search ---- */

static bool
can_INDEX(const EmogiQuestion *question, char *why)
{
	const uint32 traits = emogi_algorithm_row(question->algorithm)->traits;
	const bool	counts_lists = (traits & EMOGI_SUMS_LISTS) != 0 && question->has_targets;

	tell(why, "the search costs less over indexes than its graph");
	return emogi_enable_index_search && is_left_to_emogi(question) && !is_for_paths(question) &&
		(counts_lists || (traits & EMOGI_INDEX_SEARCH) != 0) && !question->is_shared &&
		!question->no_rows && question->may_use_indexes;
}

static double
cost_INDEX(const EmogiQuestion *question)
{
	return EMOGI_COST_START_US +
		(question->nreached < 0 ? 0 : question->nreached * EMOGI_COST_INDEX_VERTEX_US);
}

/* ---- local search ---- */

/* Does a question reach few vertices, perhaps? */
static bool
may_be_local(const EmogiQuestion *question)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(question->algorithm);

	switch (row->shape)
	{
		case EMOGI_SHAPE_SIMILARITIES:
			return !question->has_pairs && question->has_targets &&
				question->ntargets <= EMOGI_COST_LOCAL_MAX_SIMILAR;
		case EMOGI_SHAPE_DISTANCES:
			return question->has_target_array &&
				question->nsources * question->ngoals <= EMOGI_COST_LOCAL_MAX_DISTANCES;
		default:
			return (row->traits & EMOGI_SUMS_LISTS) != 0 ? question->has_targets :
				(row->traits & EMOGI_OF_REACHED) != 0 ||
				emogi_local_search_answers(emogi_algorithm_row(row->search));
	}
}

static bool
can_LOCAL(const EmogiQuestion *question, char *why)
{
	if (why != NULL)
		tell_max_edges(why, emogi_answer_max_edges(question));
	return emogi_enable_local_search && is_left_to_emogi(question) && may_be_local(question) &&
		!question->is_shared && !question->no_rows;
}

static double
cost_LOCAL(const EmogiQuestion *question)
{
	return question->nreached < 0 ? EMOGI_COST_START_US :
		question->nreached * EMOGI_COST_LOCAL_VERTEX_US;
}

/* Return the max number of edges that a search between two vertices may scan. */
uint64
emogi_answer_pair_edges(uint64 nedges)
{
	return Max(EMOGI_COST_LOCAL_MIN_EDGES,
			   Min(nedges / EMOGI_COST_LOCAL_SHARE, EMOGI_COST_LOCAL_MAX_EDGES));
}

/*
 * Return the max number of edges that a local search may scan. An unbounded one reaches nearly all
 * vertices or stays in a small component, unless the graph has no cycles.
 */
uint64
emogi_answer_max_edges(const EmogiQuestion *question)
{
	if (!question->is_bounded && !emogi_algorithm_has(question->algorithm, EMOGI_OF_REACHED))
		return EMOGI_COST_LOCAL_MIN_EDGES;
	return question->kind == EMOGI_QUESTION_PATH && question->is_contracted ?
		EMOGI_COST_LOCAL_BEFORE_HIERARCHY : emogi_answer_pair_edges(question->nedges);
}

/* ---- neighborhood ---- */

static bool
can_NEIGHBORHOOD(const EmogiQuestion *question, char *why)
{
	tell(why, "the rows may depend on few edges: it reads at most " UINT64_FORMAT,
		 emogi_answer_neighborhood_edges(question));
	return emogi_enable_local_search && is_left_to_emogi(question) && !is_for_paths(question) &&
		emogi_local_scope(question->algorithm) != EMOGI_SCOPE_NONE &&
		(question->has_targets || question->has_components) &&
		!question->is_shared && !question->no_rows;
}

/* More than that of kept components, which are looked up. */
static double
cost_NEIGHBORHOOD(const EmogiQuestion *question)
{
	return EMOGI_COST_START_US + (question->ntargets + 1) * EMOGI_COST_LOCAL_VERTEX_US;
}

/*
 * Return the max number of edges that may be read around vertices. Triangles and blocks of the
 * whole graph cost much more than its edges. Others depend on a component, which is small or nearly
 * all.
 */
uint64
emogi_answer_neighborhood_edges(const EmogiQuestion *question)
{
	const EmogiLocalScope scope = emogi_local_scope(question->algorithm);

	if (scope == EMOGI_SCOPE_COMPONENT || scope == EMOGI_SCOPE_STRONG)
		return emogi_answer_pair_edges(question->nedges);
	return Max(EMOGI_COST_LOCAL_MIN_EDGES,
			   Min(question->nedges / EMOGI_COST_NEIGHBORHOOD_SHARE,
				   EMOGI_COST_NEIGHBORHOOD_MAX_EDGES));
}

/* ---- kept components ---- */

static bool
can_COMPONENTS(const EmogiQuestion *question, char *why)
{
	tell(why, "the components of an earlier run are kept");
	return emogi_enable_local_search && is_left_to_emogi(question) && !question->no_rows &&
		emogi_algorithm_has(question->algorithm, EMOGI_KEEPS_COMPONENTS) &&
		(!question->has_graph || question->keeps_components);
}

static double
cost_COMPONENTS(const EmogiQuestion *question)
{
	return EMOGI_COST_START_US + (question->has_targets || question->has_components ? 0 :
								  question->nvertices * EMOGI_COST_LABEL_US);
}

/* ---- contraction hierarchy ---- */

static bool
can_HIERARCHY(const EmogiQuestion *question, char *why)
{
	tell(why, "the graph has a contraction hierarchy");
	return emogi_enable_contraction && is_left_to_emogi(question) && is_for_paths(question) &&
		question->may_contract;
}

/*
 * Get the number of threads that may sweep concurrently: each needs memory of its own, from a
 * limited share, and a block of rows. 0 = none.
 */
int
emogi_answer_sweeping_threads(const EmogiQuestion *question)
{
	const uint64 room = emogi_arena_budget_bytes() / EMOGI_COST_HIERARCHY_SWEEP_SHARE /
		(question->nvertices * EMOGI_CONTRACTION_SWEEP_BYTES);
	const uint64 blocks = (question->nsources + EMOGI_CONTRACTION_LANES - 1) /
		EMOGI_CONTRACTION_LANES;

	return (int) Min(Min(room, blocks), (uint64) question->nthreads);
}

/* Get the time for a matrix row, target by target. */
static double
row_us(const EmogiQuestion *question)
{
	return question->ngoals * EMOGI_COST_HIERARCHY_TARGET_US;
}

/*
 * Get the time for a matrix row by a sweep, which needs enough rows, for it computes them together,
 * and memory; otherwise it takes forever.
 */
static double
swept_row_us(const EmogiQuestion *question)
{
	const int	nthreads = question->nsources >= EMOGI_CONTRACTION_LANES / 2 ?
		emogi_answer_sweeping_threads(question) : 0;

	return nthreads > 0 ? question->nedges * EMOGI_COST_HIERARCHY_SWEPT_US / nthreads :
		(double) INFINITY;
}

/* Is a matrix computed by a sweep rather than target by target? */
bool
emogi_answer_sweeps(const EmogiQuestion *question)
{
	return swept_row_us(question) < row_us(question);
}

static double
cost_HIERARCHY(const EmogiQuestion *question)
{
	const double path_us = EMOGI_COST_HIERARCHY_PATH_US * sqrt((double) question->nvertices);

	if (question->kind == EMOGI_QUESTION_MATRIX)
		return Min(row_us(question), swept_row_us(question));
	return question->kind == EMOGI_QUESTION_PATHS ? question->ngoals * path_us : path_us;
}

/* ---- engines ---- */

/* Can a GPU run the query of a question, regardless of whose kernels run? */
static bool
can_on_gpu(const EmogiQuestion *question, char *why)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(question->algorithm);

	tell(why, "%s", question->has_mask ? "edge filters are evaluated on the CPU" : "");
	if (question->has_mask || question->engine == EMOGI_ENGINE_CPU ||
		(why == NULL && question->ngpus == 0))
		return false;
	if (!emogi_algorithm_is_on_cuda(row))
		tell(why, "%s runs on the CPU only", row->name);
	else if (question->ngpus == 0)
		tell(why, "there is no GPU: %.200s", question->why_no_gpu);
	else if (question->is_small)
		tell(why, "the walks have fewer than %d steps", EMOGI_WALK_STEPS);
	else if (question->engine == EMOGI_ENGINE_AUTO &&
			 question->nedges < EMOGI_COST_GPU_MIN_EDGES)
		tell(why, "the graph has fewer than %d edges", EMOGI_COST_GPU_MIN_EDGES);
	else
		return true;
	return false;
}

static bool
can_CUDA(const EmogiQuestion *question, char *why)
{
	return question->mapping == EMOGI_MAPPING_AUTO && can_on_gpu(question, why);
}

static bool
can_PAPERS(const EmogiQuestion *question, char *why)
{
	return question->mapping != EMOGI_MAPPING_AUTO && can_on_gpu(question, why);
}

static double
cost_CUDA(const EmogiQuestion *question)
{
	return question->request_us +
		(is_for_paths(question) ? EMOGI_COST_SSSP_EDGE_US : EMOGI_COST_EDGE_US) *
		((1 - 1.0 / EMOGI_COST_GPU_SPEED) * EMOGI_COST_GPU_MIN_EDGES +
		 (double) question->nedges / EMOGI_COST_GPU_SPEED);
}

static double
cost_PAPERS(const EmogiQuestion *question)
{
	return cost_CUDA(question);
}

/* The CPU can do all; if a GPU was asked for and can, too, it must not. why: of the GPU. */
static bool
can_CPU(const EmogiQuestion *question, char *why)
{
	return !can_on_gpu(question, why) || question->engine != EMOGI_ENGINE_CUDA;
}

/* A path that is not found within its limits is found by a search of the whole graph. */
static double
cost_CPU(const EmogiQuestion *question)
{
	switch (question->kind)
	{
		case EMOGI_QUESTION_SEARCH:
			break;
		case EMOGI_QUESTION_PATH:
			return question->request_us + question->nedges * EMOGI_COST_SSSP_EDGE_US;
		case EMOGI_QUESTION_PATHS:
		case EMOGI_QUESTION_MATRIX:
			return question->nedges * EMOGI_COST_SSSP_EDGE_US / question->nthreads;
	}
	return question->request_us + question->nedges * EMOGI_COST_EDGE_US;
}

/* ---- the table ---- */

const EmogiAnswerer *
emogi_answer_row(EmogiAnswererId id)
{
	static const EmogiAnswerer rows[] = {
#define ANSWERER(NAME, name, reads, run) \
		[EMOGI_ANSWERER_##NAME] = {name, EMOGI_READS_##reads, can_##NAME, cost_##NAME},
		EMOGI_ANSWERERS(ANSWERER)
#undef ANSWERER
	};

	return &rows[id];
}
