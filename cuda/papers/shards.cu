/*
 * shards.cu: CuSha [1]: G-Shards (SHARDS) and concatenated windows (WINDOWS), for all algorithms.
 *
 * Returns the same results as the engine's own kernels: paths, components and counts bitwise equal,
 * sums to 1e-9.
 *
 * Method. Vertices are divided into shards; a shard has all edges that end in its vertices
 * (shards.cuh describes the arrays, shards_bytes.cuh the size of a shard and of the formats). A
 * block processes one shard at a time, until none is left ([1], section 4):
 *   fetch       Copy the values of its vertices to shared memory.
 *   compute     All threads process its entries and apply each to its destination, by atomic
 *               operations in shared memory.
 *   update      Write changed values back to the vertices.
 *   write back  If anything has changed, write the values into the entries that begin in the shard,
 *               wherever they are. SHARDS: window by window, a warp each ([1], section 3.1).
 *               WINDOWS: over the concatenated positions, by all threads equally, however small the
 *               windows are ([1], section 3.2).
 *
 * Everything except the positions is accessed in order. Iterations end when no shard has changed,
 * or as the algorithm specifies.
 *   shards_build.cu  builds the structure on the device from the graph's lists, in any placement;
 *                    this is part of transfer_ms, as in [1]. The structure is always in device
 *                    memory.
 *   shards_path.cu   BFS, CC and best paths: one kernel. A changed shard writes back at once, so
 *                    that others see it in the same iteration ([1], section 4): values only
 *                    improve, and any order ends in the same fixpoint.
 *   shards_sum.cu    PAGERANK, HEAT, CIRCUIT, NEURAL and the counts of SSNSP: one kernel. An
 *                    iteration reads only the values of the previous one, as the definitions
 *                    require (algorithms.h), so all shards compute before any writes back; in [1]
 *                    sums are asynchronous too. Sums are integers (shards_fixed.cuh), because the
 *                    order of atomic operations varies: two runs give the same bits.
 *
 * Other differences from [1]: as many blocks as fit take shards by ticket, instead of one block per
 * shard; entries whose source has no value yet are skipped; values have 8 bytes, except hops and
 * components, which have 4.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on
 * GPUs. HPDC 2014.
 */
#include "cuda/papers/shards.cuh"

/*
 * Write marked shards' values into the entries that begin in them. Bytes: V per vertex, and those
 * of write_back.
 */
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
emogi_shards_fit(const Run *run, const Shards *shards, const void *kernel, uint32_t shared_bytes,
				 ShardGrid *grid, EmogiError *error)
{
	int			fits;
	uint64_t	all;

	CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
								  (int) shared_bytes));
	CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernel, SHARD_THREADS,
														   shared_bytes));
	all = (uint64_t) (fits > 0 ? fits : 1) * run->state->units;
	grid->nblocks = (int) (all < shards->shape.nshards ? all : shards->shape.nshards);
	grid->shared_bytes = shared_bytes;
	return EMOGI_OK;
}

typedef void (*WriteKernel) (Shards shards, const void *vertex_value, const uint32_t *changed,
							 Step step);

/* Return the kernel for the width of the values. */
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
