/*
 * edge_chunks.cu: construction of list indexes.
 *
 * Bytes, for n adjacency lists and m edges: 8n of offsets, m/8 of begins twice, and about n/2.
 */
#include "cuda/access/edge_chunks.cuh"
#include "cuda/access/prefix_sum.cuh"

/*
 * Mark the lists that are not empty, and their first edges. Bytes: 8 per list, and an atomic
 * operation.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
chunks_mark_lists_kernel(const uint64_t *offsets, uint64_t nvertices, ListIndex index)
{
	for (uint64_t base = first_of_warp(); base < nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		const uint64_t start = v < nvertices ? offsets[v] : 0;
		const bool	filled = v < nvertices && start < offsets[v + 1];
		const uint32_t word = __ballot_sync(FULL_WARP, filled);

		if (filled)
			atomicOr(&index.begins[start / 32], 1u << start % 32);
		if (lane_number() == 0)
			index.filled[base / 32] = word;
	}
}

/*
 * Count the lists that begin in each chunk, and the nonempty lists of each word. Bytes: those of
 * the ListIndex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
chunks_count_lists_kernel(ListIndex index)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t c = own / WARP_LANES; c < index.nchunks; c += nthreads / WARP_LANES)
	{
		uint32_t	count = 0;

		for (uint32_t i = lane_number(); i < CHUNK_ENTRIES / 32; i += WARP_LANES)
			count += __popc(index.begins[c * (CHUNK_ENTRIES / 32) + i]);
		count = (uint32_t) warp_sum(count);
		if (lane_number() == 0)
			index.chunk_rank[c] = count;
	}
	for (uint64_t w = own; w < index.nwords; w += nthreads)
		index.word_rank[w] = __popc(index.filled[w]);
}

/* Write the number of each nonempty list to vertex[its rank]. Bytes: 4 per list. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
chunks_name_lists_kernel(ListIndex index, uint32_t *vertex)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;
		 w < index.nwords; w += nwarps)
	{
		const uint32_t filled = index.filled[w];

		if (filled >> lane_number() & 1)
			vertex[index.word_rank[w] + __popc(filled & lanes_below())] =
				(uint32_t) (w * 32 + lane_number());
	}
}

/* Return the maximum length of an array that is prefix-summed. */
static uint64_t
count_ranks(uint64_t nedges, uint64_t nwords)
{
	return (count_chunks(nedges) > nwords ? count_chunks(nedges) : nwords) + 1;
}

uint64_t
emogi_edge_chunks_index_words(uint64_t nedges, uint64_t nwords)
{
	return count_chunks(nedges) * (CHUNK_ENTRIES / 32 + 1) + 1 + 2 * nwords + 1 +
		count_tiles(count_ranks(nedges, nwords));
}

ListIndex
emogi_edge_chunks_lay_out_index(uint32_t *memory, uint64_t nedges, uint64_t nwords)
{
	ListIndex	index;

	index.nchunks = count_chunks(nedges);
	index.nwords = nwords;
	index.begins = memory;
	index.chunk_rank = index.begins + index.nchunks * (CHUNK_ENTRIES / 32);
	index.filled = index.chunk_rank + index.nchunks + 1;
	index.word_rank = index.filled + nwords;
	index.tile = index.word_rank + nwords + 1;
	return index;
}

EmogiStatus
emogi_edge_chunks_clear_index(Run *run, const ListIndex *index, EmogiError *error)
{
	const size_t bytes = (size_t) (index->tile - index->begins) * sizeof(uint32_t);

	CUDA_TRY(cudaMemsetAsync(index->begins, 0, bytes, run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_edge_chunks_rank_lists(Run *run, const ListIndex *index, EmogiError *error)
{
	CUDA_LAUNCH(chunks_count_lists_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				*index);
	TRY(prefix_sum(run, index->chunk_rank, index->nchunks + 1, index->tile, error));
	return prefix_sum(run, index->word_rank, index->nwords + 1, index->tile, error);
}

EmogiStatus
emogi_edge_chunks_make_index(Run *run, const uint64_t *offsets, const ListIndex *index,
							 EmogiError *error)
{
	TRY(emogi_edge_chunks_clear_index(run, index, error));
	CUDA_LAUNCH(chunks_mark_lists_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				offsets, run->nvertices, *index);
	return emogi_edge_chunks_rank_lists(run, index, error);
}

EmogiStatus
emogi_edge_chunks_name_lists(Run *run, const ListIndex *index, uint32_t *vertex, EmogiError *error)
{
	CUDA_LAUNCH(chunks_name_lists_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				*index, vertex);
	return EMOGI_OK;
}

