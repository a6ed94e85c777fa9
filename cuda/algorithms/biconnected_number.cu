/*
 * biconnected_number.cu: numbering of blocks in ascending order of their two smallest vertices.
 *
 * The smallest vertex of a block is its top or its label (the smallest of its other vertices).
 * Among the blocks with the same smallest vertex, those that have it as top are ordered by label,
 * and at most one has it as label. So the former are listed by label and sorted stably by top. Each
 * gets its index among those of its top, and the remaining block is inserted by its second vertex.
 *
 * Device memory, for n vertices: 20.3n.
 *
 * Bytes: 60 a vertex, and 24 a block and pass of the sort, half of them at random.
 */
#include "cuda/algorithms/biconnected.cuh"
#include "cuda/access/stable_sort.cuh"

/* Arrays in device memory. */
typedef struct Numbers
{
	uint32_t   *before;			/* [nvertices + 1], number of blocks with a smaller smallest
								 * vertex */
	/*
	 * [nvertices + 1], number of labels above their top before each vertex; then the first index of
	 * each top
	 */
	uint32_t   *listed;
	uint32_t   *number;			/* [nvertices], number of each block, by label */
	uint32_t   *labels[2];		/* [nvertices] each, labels above their top */
	uint32_t   *counts;			/* of the sort */
	uint32_t   *tile;			/* scratch of prefix sums */
} Numbers;

/* Get the second vertex of a block whose smallest is its label. */
static __device__ __forceinline__ uint32_t
second_of(const Blocks &blocks, uint32_t label)
{
	return blocks.top[label] < blocks.second[label] ? blocks.top[label] : blocks.second[label];
}

/*
 * Count blocks by smallest vertex, and mark the labels above their top. Bytes: 16 a vertex, and one
 * atomic a block.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_count_kernel(Blocks blocks, Numbers numbers, Step step)
{

	if (is_halted(step))
		return;					/* a block may have no top yet */
	for_each(blocks.nvertices, [&](uint64_t v) {
		const bool	there = is_block(blocks, v);
		const bool	is_label = there && v < blocks.top[v];

		numbers.listed[v] = there && !is_label;
		if (there)
			atomicAdd(&numbers.before[is_label ? v : blocks.top[v]], 1u);
	});
}

/* List the labels above their top. Bytes: 16 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_list_kernel(Blocks blocks, Numbers numbers, Step step)
{

	if (is_halted(step))
		return;					/* nothing was counted */
	for_each(blocks.nvertices, [&](uint64_t v) {
		if (is_block(blocks, v) && v > blocks.top[v])
			numbers.labels[0][numbers.listed[v]] = (uint32_t) v;
	});
}

/*
 * Find the first index of each top, and number the blocks whose smallest vertex is their label as
 * the first of their group. Bytes: 20 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_begin_kernel(Blocks blocks, Numbers numbers, const uint32_t *labels, const uint32_t *nlabels)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t i = own; i < *nlabels; i += nthreads)
	{
		const uint32_t top = blocks.top[labels[i]];

		if (i == 0 || blocks.top[labels[i - 1]] != top)
			numbers.listed[top] = (uint32_t) i;
	}
	for (uint64_t v = own; v < blocks.nvertices; v += nthreads)
		if (is_block(blocks, v) && v < blocks.top[v])
			numbers.number[v] = numbers.before[v];
}

/* Number the other blocks. Bytes: 40 a block, most of them at random. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_number_kernel(Blocks blocks, Numbers numbers, const uint32_t *labels,
					 const uint32_t *nlabels)
{
	for_each(*nlabels, [&](uint64_t i) {
		const uint32_t label = labels[i];
		const uint32_t top = blocks.top[label];
		uint32_t	number = numbers.before[top] + (uint32_t) i - numbers.listed[top];

		if (is_block(blocks, top) && top < blocks.top[top])	/* a block of the same group has it
															 * as label */
		{
			if (second_of(blocks, top) < label)
				number++;
			else
				atomicAdd(&numbers.number[top], 1u);
		}
		numbers.number[label] = number;
	});
}

/* Write the number of each vertex's block. Bytes: 16 a vertex, and 4 at random. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_write_kernel(Blocks blocks, Numbers numbers, int64_t *component)
{
	for_each(blocks.nvertices, [&](uint64_t v) {
		component[v] = blocks.parent[v] == EMOGI_NO_VERTEX ? -1 :
			(int64_t) numbers.number[blocks.label[v]];
	});
}

/* Take the arrays. */
static EmogiStatus
take_numbers(Run *run, Numbers *numbers, EmogiError *error)
{
	const uint64_t n = run->nvertices;

	TRY(take_array(&run->memory, &numbers->before, 5 * n + 3, "numbers of blocks", error));
	TRY(take_array(&run->memory, &numbers->counts, stable_sort_counts(n) + count_tiles(n + 1),
				   "counts of digits", error));
	numbers->listed = numbers->before + n + 1;
	numbers->number = numbers->listed + n + 2;
	numbers->labels[0] = numbers->number + n;
	numbers->labels[1] = numbers->labels[0] + n;
	numbers->tile = numbers->counts + stable_sort_counts(n);
	return EMOGI_OK;
}

EmogiStatus
emogi_biconnected_number(Run *run, const Blocks *blocks, int64_t *component, EmogiError *error)
{
	const uint64_t n = run->nvertices;
	const int	nblocks = run->full_blocks;
	cudaStream_t stream = run->state->stream;
	Numbers		numbers = {};
	uint32_t	nlabels = 0;
	uint32_t   *nlabels_at;		/* nlabels, out of the range that is overwritten */

	TRY(take_numbers(run, &numbers, error));
	nlabels_at = numbers.listed + n + 1;
	CUDA_TRY(cudaMemsetAsync(numbers.before, 0, (n + 1) * sizeof *numbers.before, stream));
	CUDA_TRY(cudaMemsetAsync(numbers.listed + n, 0, sizeof *numbers.listed, stream));
	CUDA_LAUNCH(blocks_count_kernel, nblocks, BLOCK_THREADS, stream, *blocks, numbers, run->step);
	TRY(prefix_sum(run, numbers.before, n + 1, numbers.tile, error));
	TRY(prefix_sum(run, numbers.listed, n + 1, numbers.tile, error));
	CUDA_TRY(cudaMemcpyAsync(nlabels_at, numbers.listed + n, sizeof *nlabels_at,
							 cudaMemcpyDeviceToDevice, stream));
	CUDA_LAUNCH(blocks_list_kernel, nblocks, BLOCK_THREADS, stream, *blocks, numbers, run->step);
	TRY(emogi_run_fetch(run, &nlabels, nlabels_at, sizeof nlabels, error));
	TRY(stable_sort(run, &numbers.labels[0], &numbers.labels[1], nlabels, blocks->top, n,
					numbers.counts, error));
	CUDA_LAUNCH(blocks_begin_kernel, nblocks, BLOCK_THREADS, stream, *blocks, numbers,
				numbers.labels[0], nlabels_at);
	CUDA_LAUNCH(blocks_number_kernel, nblocks, BLOCK_THREADS, stream, *blocks, numbers,
				numbers.labels[0], nlabels_at);
	CUDA_LAUNCH(blocks_write_kernel, nblocks, BLOCK_THREADS, stream, *blocks, numbers, component);
	emogi_memory_return(&run->memory, numbers.before);
	emogi_memory_return(&run->memory, numbers.counts);
	return EMOGI_OK;
}
