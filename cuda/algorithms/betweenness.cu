/*
 * betweenness.cu: betweenness centrality, with all vertices or a sample as sources.
 *
 * Returns centrality[nvertices], as defined in the table of algorithms, of the simple graph:
 * repeated edges and self-loops are skipped.
 *
 * Method. Brandes [1], from BATCH sources at a time. BFS computes the levels of each source
 * (bfs.cu), which are stored side by side: one 4-byte read gives a neighbor's level in all
 * searches, and its path counts in all searches share a 32-byte sector. Then level by level the
 * numbers of shortest paths are pulled from the previous level. On the way back the dependencies
 * are pulled from the next level, as (1 + dependency) / paths of each finished vertex, times the
 * vertex's own paths. The list of a vertex is read once for all searches in which it is at the
 * level. Lists above SLICE_LINES lines are sliced; the sums of slices are stored and added in
 * order, so no sum depends on the schedule, and two runs give the same bits. With samples the sums
 * are over the samples as sources [2]; for a vertex that is a sample, over the other samples.
 * Sources are processed in parts, whose sums are added in order. Other GPUs process some of the
 * parts (by_source.cuh), and the bits are the same.
 *
 * Levels are bytes and path counts are doubles. A graph with MAX_LEVELS levels or more, or
 * MAX_PATHS paths to a vertex, is left to the CPU, which is faster on graphs that deep.
 *
 * Device memory, for n vertices and m entries, in addition to BFS: 52n, and 3m/62 of sums. With
 * other GPUs 8n a part, in device memory of the run's GPU if they can write there, otherwise in
 * host memory.
 *
 * Bytes a batch: for each level, forward and backward, 4 a vertex; for a vertex at the level 16 of
 * offsets and 64 of paths and sums, and its list, in lines; 4 at random an entry, and 16 to 32 for
 * those that count.
 *
 * [1] U. Brandes: A Faster Algorithm for Betweenness Centrality. Journal of Mathematical Sociology
 *     25(2), 2001.
 * [2] U. Brandes, C. Pich: Centrality Estimation in Large Networks. International Journal of
 *     Bifurcation and Chaos 17(7), 2007.
 */
#include <stdlib.h>

#include "cuda/access/edge_chunks.cuh"
#include "contract/sample.h"
#include "cuda/algorithms/betweenness.cuh"
#include "cuda/multi_gpu/by_source.cuh"
#include "cuda/lists/simple_graph.cuh"

#define MIN_BATCHES 2			/* of a part: what a GPU takes at once */
#define SUMS_SHARE 8			/* divisor of the free memory that sums of parts may use */
#define LAUNCHES_AHEAD 64		/* between two checks for cancellation by the host */

/* State shared by all GPUs. */
typedef struct Betweenness
{
	uint32_t   *sources;		/* [nsources] */
	uint64_t	nsources;
	/*
	 * [parts][nvertices], in the leader's memory, if the helping GPUs can write there; otherwise
	 * NULL
	 */
	double	   *device_sums;
	/* otherwise [nvertices] of each part, in host memory; NULL = not computed */
	double	   *sums[EMOGI_MAX_PARTS];
} Betweenness;

/* State of one GPU. */
typedef struct Searches
{
	Brandes		brandes;
	Betweenness *all;
	BySource   *parts;
	uint64_t	part;
	uint64_t	first;			/* first source of the part */
	uint64_t	next;
	uint64_t	end;
	uint32_t	nlevels;		/* of the batch */
	uint32_t	nlaunches;
} Searches;

/* Process one level by its neighbors at from_level. from_level = level: without neighbors. */
template <bool BACK>
static EmogiStatus
do_level(Run *run, Searches *searches, uint32_t level, uint32_t from_level, EmogiError *error)
{
	const Lists<Target> &lists = BACK ? run->graph.forward : run->graph.backward;
	cudaStream_t stream = run->state->stream;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(betweenness_level_kernel<BACK>, run->nblocks, BLOCK_THREADS, stream, lists,
				searches->brandes, level, from_level, run->step);
	if (from_level != level)
	{
		CUDA_LAUNCH(betweenness_slices_kernel, run->nblocks, BLOCK_THREADS, stream, lists,
					searches->brandes, level, from_level, run->step);
		CUDA_LAUNCH(betweenness_add_slices_kernel<BACK>, run->nblocks, BLOCK_THREADS, stream, lists,
					searches->brandes, level, run->step);
	}
	if (++searches->nlaunches % LAUNCHES_AHEAD == 0)
		TRY(emogi_cuda_wait(run->state, run->control, error));
	return EMOGI_OK;
}

/* Add the dependencies on the sources of a batch. */
static EmogiStatus
add_batch(Run *run, Searches *searches, EmogiResult *result, EmogiError *error)
{
	uint32_t	has_many;

	CUDA_LAUNCH(betweenness_begin_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				searches->brandes);
	TRY(emogi_run_clear(run, error));
	for (uint32_t level = 2; level < searches->nlevels; level++)
		TRY(do_level<false>(run, searches, level, level - 1, error));
	TRY(emogi_run_fetch(run, &has_many, searches->brandes.has_many, sizeof has_many, error));
	if (has_many != 0)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "there are more shortest paths than the GPU can count",
								 "%g or more", MAX_PATHS);
	for (uint32_t level = searches->nlevels - 1; level > 0; level--)
		TRY(do_level<true>(run, searches, level, level + 1 < searches->nlevels ? level + 1 : level,
						   error));
	TRY(emogi_run_account_read(run, result, error));
	return EMOGI_OK;
}

/* Store the sums of a part, or add them to the total. */
static EmogiStatus
end_part(Run *run, Searches *searches, EmogiError *error)
{
	const Brandes &brandes = searches->brandes;
	const uint64_t bytes = run->nvertices * sizeof *brandes.centrality;
	double	  **sums = &searches->all->sums[searches->part];

	if (!emogi_by_source_are_shared(searches->parts, run))
	{
		if (brandes.total != brandes.centrality)
			CUDA_LAUNCH(betweenness_add_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
						brandes.total, brandes.centrality, run->nvertices);
		return EMOGI_OK;
	}
	if (searches->all->device_sums != NULL)
	{
		CUDA_TRY(cudaMemcpyAsync(searches->all->device_sums + searches->part * run->nvertices,
								 brandes.centrality, bytes, cudaMemcpyDefault, run->state->stream));
		return EMOGI_OK;
	}
	if (*sums == NULL)
		*sums = (double *) malloc(bytes);
	if (*sums == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory",
								 "sums of a part, %llu bytes", (unsigned long long) bytes);
	return emogi_run_fetch(run, *sums, brandes.centrality, bytes, error);
}

/* Choose the next source, of this part or of another. */
static EmogiStatus
next_source(Run *run, void *with, uint64_t *i, bool *is_there, EmogiError *error)
{
	Searches   *searches = (Searches *) with;
	const uint64_t nbatches = (searches->all->nsources + BATCH - 1) / BATCH;

	*is_there = true;
	if (searches->next == searches->end)
	{
		searches->part = emogi_by_source_take(searches->parts, run);
		*is_there = searches->part != EMOGI_NO_PART;
		if (!*is_there)
			return EMOGI_OK;
		searches->first = searches->next = BATCH *
			emogi_by_source_first(searches->parts, nbatches, searches->part);
		searches->end = BATCH * emogi_by_source_first(searches->parts, nbatches,
													  searches->part + 1);
		if (searches->end > searches->all->nsources)
			searches->end = searches->all->nsources;
		CUDA_TRY(cudaMemsetAsync(searches->brandes.centrality, 0,
								 run->nvertices * sizeof *searches->brandes.centrality,
								 run->state->stream));
	}
	*i = searches->next++;
	return EMOGI_OK;
}

/*
 * Store the levels of a search. After the last search of a batch, add the dependencies on its
 * sources.
 */
static EmogiStatus
use_levels(Run *run, void *with, uint64_t i, const int32_t *level, uint32_t nlevels,
		   EmogiResult *result, EmogiError *error)
{
	Searches   *searches = (Searches *) with;
	const Brandes &brandes = searches->brandes;
	const uint64_t place = (i - searches->first) % BATCH;

	if (nlevels > MAX_LEVELS)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the graph has too many levels for counting paths on the GPU",
								 "%u levels, at most %d", nlevels, MAX_LEVELS);
	if (place == 0)
	{
		CUDA_TRY(cudaMemsetAsync(brandes.level, 0xFF, run->nvertices * sizeof *brandes.level,
								 run->state->stream));
		searches->nlevels = 0;
	}
	CUDA_LAUNCH(betweenness_keep_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				brandes, level, (uint32_t) place);
	if (nlevels > searches->nlevels)
		searches->nlevels = nlevels;
	run->control->total = searches->all->nsources;
	__atomic_fetch_add(&run->control->done, 1, __ATOMIC_RELAXED);
	if (place == BATCH - 1 || i + 1 == searches->end)
		TRY(add_batch(run, searches, result, error));
	return i + 1 == searches->end ? end_part(run, searches, error) : EMOGI_OK;
}

/* Scale the sums for the result. */
static EmogiStatus
scale_sums(Run *run, const EmogiGraph *graph, const EmogiQuery *query, const Brandes *brandes,
		   const Betweenness *all, EmogiError *error)
{
	const bool	is_partial = all->nsources < run->nvertices;
	cudaStream_t stream = run->state->stream;
	uint32_t   *samples = brandes->level;	/* levels are no longer used */
	uint32_t   *vertices;

	if (is_partial)
	{
		TRY(take_array(&run->memory, &vertices, all->nsources, "samples", error));
		TRY(emogi_run_send(run, vertices, all->sources, all->nsources * sizeof *all->sources,
						   error));
		CUDA_TRY(cudaMemsetAsync(samples, 0, run->nwords * sizeof *samples, stream));
		CUDA_LAUNCH(push_mark_sources_kernel, run->full_blocks, BLOCK_THREADS, stream, vertices,
					all->nsources, samples);
	}
	CUDA_LAUNCH(betweenness_scale_kernel, run->full_blocks, BLOCK_THREADS, stream, *brandes,
				is_partial ? samples : NULL, emogi_sample_scale(graph, query));
	return EMOGI_OK;
}

/* Take all device memory except the graph's. */
static EmogiStatus
take_arrays(Run *run, const EmogiGraph *graph, const BySource *parts, Brandes *brandes,
			EmogiError *error)
{
	const uint64_t max = graph->forward.nedges > graph->backward.nedges ? graph->forward.nedges :
		graph->backward.nedges;

	brandes->nvertices = run->nvertices;
	TRY(take_array(&run->memory, &brandes->level, run->nvertices, "levels of a batch", error));
	TRY(take_array(&run->memory, &brandes->paths, BATCH * run->nvertices, "paths", error));
	TRY(take_array(&run->memory, &brandes->centrality, run->nvertices, "centralities", error));
	TRY(take_array(&run->memory, &brandes->part, BATCH * slice_capacity(max, ENTRIES),
				   "sums of slices", error));
	TRY(take_array(&run->memory, &brandes->has_many, 1, "flag", error));
	CUDA_TRY(cudaMemsetAsync(brandes->has_many, 0, sizeof *brandes->has_many, run->state->stream));
	brandes->total = brandes->centrality;
	if (run != parts->leader || parts->nparts == 1)
		return EMOGI_OK;
	TRY(take_array(&run->memory, &brandes->total, run->nvertices, "centralities", error));
	CUDA_TRY(cudaMemsetAsync(brandes->total, 0, run->nvertices * sizeof *brandes->total,
							 run->state->stream));
	return EMOGI_OK;
}

/* Add up the parts that several GPUs computed. */
static EmogiStatus
add_parts(Run *run, const BySource *parts, const Betweenness *all, const Brandes *brandes,
		  EmogiError *error)
{
	for (uint64_t part = 0; part < parts->nparts; part++)
	{
		const double *sums = brandes->centrality;

		if (all->device_sums != NULL)
			sums = all->device_sums + part * run->nvertices;
		else
			TRY(emogi_run_send(run, brandes->centrality, all->sums[part],
							   run->nvertices * sizeof *sums, error));
		CUDA_LAUNCH(betweenness_add_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					brandes->total, sums, run->nvertices);
	}
	return EMOGI_OK;
}

/*
 * Take memory for the sums of all parts, if it fits beside the graph and all helpers can write
 * there.
 */
static EmogiStatus
take_sums(const BySource *parts, Betweenness *all, EmogiError *error)
{
	Run		   *run = parts->leader;
	EmogiEngineState *state = run->state;
	const uint64_t length = parts->nparts * run->nvertices;
	uint64_t	left;

	if (state->nhelpers == 0 || parts->nparts == 1)
		return EMOGI_OK;
	for (int i = 0; i < state->nhelpers; i++)
		if (!emogi_memory_show(state, state->helper[i]->device))
			return EMOGI_OK;
	TRY(emogi_memory_left(&run->memory, &left, error));
	if (left / SUMS_SHARE < length * sizeof(double))
		return EMOGI_OK;
	return take_array(&run->memory, &all->device_sums, length, "sums of parts", error);
}

/* Process parts. The leader adds them up, scales them, and returns them. */
static EmogiStatus
make_parts(Run *run, BySource *parts, void *with, EmogiResult *result, EmogiError *error)
{
	const EmogiQuery *query = parts->query;
	Searches	searches = {};
	EmogiQuery	each = *query;

	searches.all = (Betweenness *) with;
	searches.parts = parts;
	each.sources = searches.all->sources;
	each.nsources = searches.all->nsources;
	TRY(take_arrays(run, parts->graph, parts, &searches.brandes, error));
	TRY(emogi_cuda_levels_each(run, parts->graph, &each, PLACE_BACKWARD_REQUIRED, next_source,
							   use_levels, &searches, result, error));
	if (run != parts->leader || __atomic_load_n(&parts->stopped, __ATOMIC_RELAXED) != 0)
		return EMOGI_OK;
	if (emogi_by_source_are_shared(parts, run))
		TRY(add_parts(run, parts, searches.all, &searches.brandes, error));
	TRY(scale_sums(run, parts->graph, query, &searches.brandes, searches.all, error));
	result->nreached = run->nvertices;
	return emogi_run_give(run, query, result, 0, searches.brandes.total, error);
}

/* Get the number of parts. */
static uint64_t
count_parts(uint64_t nsources)
{
	return emogi_by_source_count((nsources + BATCH - 1) / BATCH, MIN_BATCHES);
}

bool
emogi_betweenness_uses_helpers(const EmogiGraph *graph, const EmogiQuery *query)
{
	return count_parts(emogi_sample_count(graph->nvertices, query)) > 1;
}

EmogiStatus
emogi_cuda_betweenness(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
					   EmogiResult *result, EmogiError *error)
{
	/* for a test; the only allocation of a run */
	const bool	fails = run->control->fail_allocation == 1;
	Betweenness all = {};
	BySource	parts = {};
	EmogiStatus status;

	all.nsources = emogi_sample_count(run->nvertices, query);
	all.sources = fails ? NULL : (uint32_t *) malloc(all.nsources * sizeof *all.sources);
	if (all.sources == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%llu sources",
								 (unsigned long long) all.nsources);
	emogi_sample_choose(run->nvertices, all.nsources, query->seed, all.sources);
	parts.leader = run;
	parts.graph = graph;
	parts.query = query;
	parts.make = make_parts;
	parts.with = &all;
	parts.nparts = count_parts(all.nsources);
	run->control->done = 0;
	status = take_sums(&parts, &all, error);
	if (status == EMOGI_OK)
		status = emogi_by_source_make(&parts, result, error);
	/* a copy from `sources` may be in flight */
	(void) cudaStreamSynchronize(run->state->stream);
	free(all.sources);
	for (uint64_t part = 0; part < parts.nparts; part++)
		free(all.sums[part]);
	return status;
}
