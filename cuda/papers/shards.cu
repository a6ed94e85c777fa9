/*
 * shards.cu: CuSha [1]: G-Shards (SHARDS) and concatenated windows (WINDOWS), for all algorithms.
 *
 * Returns what the algorithm returns with our own kernels: paths, components and counts bit for bit, sums to 1e-9.
 *
 * Method. Vertices are cut into shards, with all edges that end in them (shards.cuh has the arrays, shards_bytes.cuh the
 * size of a shard and what the formats take). A block takes a shard at a time, until none is left [1, section 4]:
 *   fetch       the values of its vertices into shared memory
 *   compute     all threads go over its entries and apply each to its destination, by atomic operations in shared memory
 *   update      what has changed goes back to the vertices
 *   write back  and, when anything has changed, into the entries that begin in the shard, wherever they stand: SHARDS
 *               window by window, a warp each [1, section 3.1]; WINDOWS over their places, joined, by all threads
 *               alike, however small the windows are [1, section 3.2]
 * Everything is read in order but for the places. Iterations end when no shard has changed, or as the algorithm says.
 *
 * shards_build.cu  makes the structure on the device from the Graph's lists, wherever they are placed; it is part of
 *                  transfer_ms, as in [1]. The structure always stands in device memory.
 * shards_path.cu   BFS, CC and best paths: one kernel. A shard that changes writes back at once, so that others see it in
 *                  the same iteration [1, section 4]: values only get better, and any order ends in the same fixpoint.
 * shards_sum.cu    PAGERANK, HEAT, CIRCUIT, NEURAL and the counts of SSNSP: one kernel. An iteration reads only what the
 *                  one before has left, as our definitions want (algorithms.h), so all shards compute before any writes
 *                  back; in [1] sums are asynchronous too. Sums are integers (shards_fixed.cuh), since the order of
 *                  atomic operations is not fixed: two runs give the same bits.
 *
 * Beside that it differs from [1] in this: as many blocks as fit take shards by ticket, there is not a block a shard;
 * entries whose source has no value yet are passed over; values are 8 bytes, but hops and components 4.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on GPUs. HPDC 2014.
 */
#include "cuda/papers/shards.cuh"

/* Write marked shards' values into the entries that begin in them. Bytes: V a vertex, and those of write_back. */
template <typename Value>
static __global__ void __launch_bounds__(SHARD_THREADS, SHARD_RESIDENT)
shards_write_kernel(Shards shards, const void *vertex_value, const uint32_t *changed, Step step)
{
	Value	   *local = (Value *) shard_memory();

	take_shards(shards, step, [&](uint32_t shard, uint64_t first, uint32_t count) {
		if (changed[shard] == 0)
			return;
		for (uint32_t i = threadIdx.x; i < count; i += SHARD_THREADS)
			local[i] = ((const Value *) vertex_value)[first + i];
		__syncthreads();
		write_back(shards, shard, local, (uint32_t) first, step);
	});
}

EmogiStatus
emogi_shards_fit(const Run *run, const Shards *shards, const void *kernel, uint32_t shared_bytes, ShardGrid *grid,
				 EmogiError *error)
{
	int			fits;
	uint64_t	all;

	TRY(emogi_device_load_kernels(&kernel, 1, error));
	CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared_bytes));
	CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernel, SHARD_THREADS, shared_bytes));
	all = (uint64_t) (fits > 0 ? fits : 1) * run->state->units;
	grid->nblocks = (int) (all < shards->shape.nshards ? all : shards->shape.nshards);
	grid->shared_bytes = shared_bytes;
	return EMOGI_OK;
}

typedef void (*WriteKernel) (Shards shards, const void *vertex_value, const uint32_t *changed, Step step);

/* Get the kernel for values of that width. */
static WriteKernel
choose_write(const Shards *shards)
{
	return shards->shape.value_bytes == sizeof(uint32_t) ? shards_write_kernel<uint32_t> :
		shards_write_kernel<unsigned long long>;
}

EmogiStatus
emogi_shards_fit_write(const Run *run, const Shards *shards, ShardGrid *grid, EmogiError *error)
{
	return emogi_shards_fit(run, shards, (const void *) choose_write(shards),
							shards->shape.width * shards->shape.value_bytes, grid, error);
}

EmogiStatus
emogi_shards_write(Run *run, const Shards *shards, const ShardGrid *grid, const void *vertex_value,
				   const uint32_t *changed, EmogiError *error)
{
	const WriteKernel write = choose_write(shards);

	TRY(emogi_run_begin_step(run, error));
	SHARD_LAUNCH(write, *grid, run->state->stream, *shards, vertex_value, changed, run->step);
	return EMOGI_OK;
}
