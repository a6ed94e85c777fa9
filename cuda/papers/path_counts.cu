/*
 * path_counts.cu: number of shortest paths by the papers' mappings (SSNSP).
 *
 * Returns level[nvertices] and paths[nvertices], like the engine's own kernels: exact to 2^53,
 * rounded beyond.
 *
 * Method. Levels as for BFS (relax.cu). Then level by level ([1], the forward phase, turned into a
 * pull): the vertices of a level are marked and listed, and sum over their backward lists the paths
 * of the vertices one level above, as the mapping reads them. No sum depends on the order of the
 * work.
 *
 * Bytes, for n vertices: 4n of levels per level; backward lists according to the mapping, once; per
 * edge 4 to 12 random ones.
 *
 * [1] U. Brandes: A Faster Algorithm for Betweenness Centrality. Journal of Mathematical Sociology
 * 25(2), 2001.
 */
#include "cuda/papers/mapping.cuh"

/* Arguments that the kernels share. All arrays are in device memory. */
typedef struct Counts
{
	const int32_t *level;		/* [nvertices] */
	double	   *paths;			/* [nvertices] */
	int32_t		above;			/* the level of the vertices whose paths are summed */
} Counts;

/* The Work of a level. */
struct Counting
{
	typedef Counts State;
	typedef double Own;
	static constexpr bool SUMS = true;

	Counts		counts;

	__device__ __forceinline__ double
	own(uint32_t vertex) const
	{
		return 0;
	}

	__device__ __forceinline__ void
	edge(uint32_t vertex, double own, uint32_t target, double weight, double &sum) const
	{
		if (__ldg(&counts.level[target]) == counts.above)
			sum += counts.paths[target];
	}

	__device__ __forceinline__ void
	done(uint32_t vertex, double sum) const
	{
		counts.paths[vertex] = sum;
	}
};

/* Set the number of paths to 1 for sources, to 0 for all other vertices. Bytes: 12 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
counts_start_kernel(Counts counts, uint64_t nvertices)
{
	for_each(nvertices, [&](uint64_t v) {
		counts.paths[v] = counts.level[v] == 0 ? 1.0 : 0.0;
	});
}

/* Mark the vertices of level `above` + 1. Bytes: 4 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
counts_mark_level_kernel(Counts counts, uint64_t nvertices, uint32_t *bitmap)
{
	for (uint64_t base = first_of_warp(); base < nvertices; base += grid_threads())
	{
		const uint64_t vertex = base + lane_number();
		const uint32_t bits = __ballot_sync(FULL_WARP, vertex < nvertices &&
											counts.level[vertex] == counts.above + 1);

		if (lane_number() == 0)
			bitmap[base / 32] = bits;
	}
}

/* Count the paths of all levels, between start and stop of the clock. */
static EmogiStatus
count_levels(Sweeps *sweeps, Counts *counts, uint32_t *bitmap, EmogiResult *result,
			 EmogiError *error)
{
	const SweepKernel<Counts> kernel = choose_mapping<Counting, NoWeight>(sweeps->mapping);
	const AddKernel<Counts> add = mapping_add_parts_kernel<Counting>;
	Run		   *run = sweeps->run;
	cudaStream_t stream = run->state->stream;

	TRY(emogi_sweeps_fit(sweeps, (const void *) kernel, error));
	TRY(emogi_run_start_clock(run, error));
	CUDA_LAUNCH(counts_start_kernel, run->full_blocks, BLOCK_THREADS, stream, *counts,
				run->nvertices);
	for (uint32_t level = 1; level < result->nlevels; level++)
	{
		uint64_t	nmarked;

		run->control->level = level;
		counts->above = (int32_t) level - 1;
		CUDA_LAUNCH(counts_mark_level_kernel, run->full_blocks, BLOCK_THREADS, stream, *counts,
					run->nvertices, bitmap);
		TRY(emogi_papers_list(sweeps, run->graph.backward, bitmap, &nmarked, error));
		TRY(sweep(sweeps, kernel, add, run->graph.backward, *counts, error));
	}
	return emogi_run_stop_clock(run, result, error);
}

EmogiStatus
emogi_papers_ssnsp(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
				   EmogiResult *result, EmogiError *error)
{
	Counts		counts = {};
	uint32_t   *bitmap;
	int32_t	   *level;

	if (graph->backward.offsets == NULL)
		return emogi_device_fail(error, EMOGI_BAD_INPUT,
								 "counting shortest paths needs the graph's backward orientation",
								 "the graph has forward alone");
	TRY(take_array(&run->memory, &counts.paths, run->nvertices, "paths", error));
	TRY(take_array(&run->memory, &bitmap, run->nwords, "bitmap of a level", error));
	TRY(emogi_papers_levels(sweeps, run, graph, query, SWEEPS_SUMS, PLACE_BACKWARD_REQUIRED, &level,
							result, error));
	counts.level = level;
	TRY(count_levels(sweeps, &counts, bitmap, result, error));
	TRY(emogi_sweeps_account(sweeps, result, error));
	TRY(emogi_run_fetch(run, result->columns[0].int32, level, run->nvertices * sizeof *level,
						error));
	return emogi_run_fetch(run, result->columns[1].float64, counts.paths,
						   run->nvertices * sizeof *counts.paths, error);
}
