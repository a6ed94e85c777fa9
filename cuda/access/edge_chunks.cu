/*
 * edge_chunks.cu: makes Outlines.
 *
 * Bytes, for n lists and m entries: 8n of offsets, m/8 twice of begins, some n/2.
 */
#include "cuda/access/edge_chunks.cuh"
#include "cuda/access/prefix_sum.cuh"

/* Mark the lists that are not empty, and where they begin. Bytes: 8 a list, and an atomic operation. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
chunks_mark_lists_kernel(const uint64_t *offsets, uint64_t nvertices, ListIndex outline)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t base = own - lane_number(); base < nvertices; base += nthreads)
	{
		const uint64_t v = base + lane_number();
		const uint64_t start = v < nvertices ? offsets[v] : 0;
		const bool	filled = v < nvertices && start < offsets[v + 1];
		const uint32_t word = __ballot_sync(FULL_WARP, filled);

		if (filled)
			atomicOr(&outline.begins[start / 32], 1u << start % 32);
		if (lane_number() == 0)
			outline.filled[base / 32] = word;
	}
}

/* Count the lists that begin in each chunk, and those of each word. Bytes: those of the ListIndex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
chunks_count_lists_kernel(ListIndex outline)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t c = own / WARP_LANES; c < outline.nchunks; c += nthreads / WARP_LANES)
	{
		uint32_t	count = 0;

		for (uint32_t i = lane_number(); i < CHUNK_ENTRIES / 32; i += WARP_LANES)
			count += __popc(outline.begins[c * (CHUNK_ENTRIES / 32) + i]);
		count = (uint32_t) warp_sum(count);
		if (lane_number() == 0)
			outline.chunk_rank[c] = count;
	}
	for (uint64_t w = own; w < outline.nwords; w += nthreads)
		outline.word_rank[w] = __popc(outline.filled[w]);
}

/* Write the number of each list that is not empty to its rank. Bytes: 4 a list. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
chunks_name_lists_kernel(ListIndex outline, uint32_t *vertex)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; w < outline.nwords; w += nwarps)
	{
		const uint32_t filled = outline.filled[w];

		if (filled >> lane_number() & 1)
			vertex[outline.word_rank[w] + __popc(filled & lanes_below())] = (uint32_t) (w * 32 + lane_number());
	}
}

/* Get the most numbers that are summed at once. */
static uint64_t
count_ranks(uint64_t nedges, uint64_t nwords)
{
	return (count_chunks(nedges) > nwords ? count_chunks(nedges) : nwords) + 1;
}

uint64_t
emogi_edge_chunks_outline_words(uint64_t nedges, uint64_t nwords)
{
	return count_chunks(nedges) * (CHUNK_ENTRIES / 32 + 1) + 1 + 2 * nwords + 1 +
		count_tiles(count_ranks(nedges, nwords));
}

ListIndex
emogi_edge_chunks_lay_outline(uint32_t *memory, uint64_t nedges, uint64_t nwords)
{
	ListIndex		outline;

	outline.nchunks = count_chunks(nedges);
	outline.nwords = nwords;
	outline.begins = memory;
	outline.chunk_rank = outline.begins + outline.nchunks * (CHUNK_ENTRIES / 32);
	outline.filled = outline.chunk_rank + outline.nchunks + 1;
	outline.word_rank = outline.filled + nwords;
	outline.tile = outline.word_rank + nwords + 1;
	return outline;
}

EmogiStatus
emogi_edge_chunks_clear_outline(Run *run, const ListIndex *outline, EmogiError *error)
{
	const size_t bytes = (size_t) (outline->tile - outline->begins) * sizeof(uint32_t);

	CUDA_TRY(cudaMemsetAsync(outline->begins, 0, bytes, run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_edge_chunks_rank_lists(Run *run, const ListIndex *outline, EmogiError *error)
{
	CUDA_LAUNCH(chunks_count_lists_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *outline);
	TRY(prefix_sum(run, outline->chunk_rank, outline->nchunks + 1, outline->tile, error));
	return prefix_sum(run, outline->word_rank, outline->nwords + 1, outline->tile, error);
}

EmogiStatus
emogi_edge_chunks_make_outline(Run *run, const uint64_t *offsets, const ListIndex *outline, EmogiError *error)
{
	TRY(emogi_edge_chunks_clear_outline(run, outline, error));
	CUDA_LAUNCH(chunks_mark_lists_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, offsets, run->nvertices, *outline);
	return emogi_edge_chunks_rank_lists(run, outline, error);
}

EmogiStatus
emogi_edge_chunks_name_lists(Run *run, const ListIndex *outline, uint32_t *vertex, EmogiError *error)
{
	CUDA_LAUNCH(chunks_name_lists_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *outline, vertex);
	return EMOGI_OK;
}

EmogiStatus
emogi_edge_chunks_load(EmogiError *error)
{
	const void *const kernels[] = {(const void *) chunks_mark_lists_kernel, (const void *) chunks_count_lists_kernel,
		(const void *) chunks_name_lists_kernel};

	TRY(load_prefix_sum<uint32_t>(error));
	return LOAD_KERNELS(kernels);
}
