/*
 * propagation_blocking_make.cuh: kernels that construct PropagationBlocks, and the keys by which
 * they place entries. propagation_blocking_make.cu describes the method and launches them.
 */
#ifndef EMOGI_PROPAGATION_BLOCKING_MAKE_CUH
#define EMOGI_PROPAGATION_BLOCKING_MAKE_CUH

#include "cuda/algorithms/propagation_blocking.cuh"

#define NO_KEY UINT32_MAX

/*
 * Layout of the keys: those of the cells, one without entries, and for each block in rows one a
 * sink and one more.
 */
typedef struct Keys
{
	uint32_t	nhubs;
	uint32_t	nbins;
	uint32_t	ncells;
	uint32_t	nsinks;
} Keys;

/* Get the first key of the rows of a block. */
static __host__ __device__ __forceinline__ uint32_t
first_row_key(const Keys &keys, uint32_t hub)
{
	return keys.ncells + 1 + hub * (keys.nsinks + 1);
}

static __device__ __forceinline__ uint32_t
key_of(const Keys &keys, uint32_t source, uint32_t sink)
{
	const uint32_t block = source / BLOCK_SOURCES;

	return block < keys.nhubs ? first_row_key(keys, block) + sink :
		(block - keys.nhubs) * keys.nbins + sink / BIN_SINKS;
}

/* Write the label of each nonempty list to its rank. Bytes: 8 a list. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_name_lists_kernel(ListIndex list_index, const uint32_t *label, uint32_t *own)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;
		 w < list_index.nwords; w += nwarps)
	{
		const uint32_t filled = list_index.filled[w];

		if (filled >> lane_number() & 1)
			own[list_index.word_rank[w] + __popc(filled & lanes_below())] = label[w * 32 +
																			   lane_number()];
	}
}

/*
 * Call take(sources, sinks, length) for the lane's entries of each round, with the labels of both
 * ends.
 */
template <class Take>
static __device__ __forceinline__ void
walk_entries(const Step &step, const Lists<Target> &lists, const ListIndex &list_index,
			 const uint32_t *label, const uint32_t *own, Take take)
{
	sweep_chunks(step, 0, list_index.nchunks, [&](uint64_t chunk) {
		uint32_t	rank = list_index.chunk_rank[chunk];

		for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
		{
			const uint64_t entry = round_entry(chunk, round);
			const uint32_t length = edge_vector_length(lists, entry);
			const EdgeVector<NoWeight> vector = read_edge_vector<NoWeight>(lists, entry, length);
			const uint32_t begins = read_begins(list_index, entry);
			const uint32_t ranks = warp_prefix_sum(__popc(begins));
			const uint32_t own_rank = rank + ranks - __popc(begins);
			uint32_t	source[LANE_ENTRIES];
			uint32_t	sink[LANE_ENTRIES];

#pragma unroll
			for (uint32_t j = 0; j < LANE_ENTRIES; j++)
			{
				source[j] = j < length ? __ldg(&label[vector.target[j]]) : 0;
				sink[j] = j < length ? __ldg(&own[own_rank + __popc(begins & ((2u << j) - 1)) -
												  1]) : 0;
			}
			take(source, sink, length);
			rank += __shfl_sync(FULL_WARP, ranks, WARP_LANES - 1);
		}
	});
}

/*
 * Count the entries of each key. Bytes: 4 an entry, 4 random ones, and an atomic for the lanes with
 * the same key.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_count_kernel(Lists<Target> lists, ListIndex list_index, const uint32_t *label,
				  const uint32_t *own, Keys keys, uint32_t *count, Step step)
{
	walk_entries(step, lists, list_index, label, own,
				 [&](const uint32_t *source, const uint32_t *sink, uint32_t length) {
#pragma unroll
		for (uint32_t j = 0; j < LANE_ENTRIES; j++)
		{
			const uint32_t key = j < length ? key_of(keys, source[j], sink[j]) : NO_KEY;
			const uint32_t lanes = __match_any_sync(FULL_WARP, key);

			if (key != NO_KEY && (lanes & lanes_below()) == 0)
				atomicAdd(&count[key], (uint32_t) __popc(lanes));
		}
	});
}

/*
 * Write each entry to the next position of its key. Bytes: as bins_count_kernel, and 4 written in
 * short runs.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_place_kernel(Lists<Target> lists, ListIndex list_index, const uint32_t *label,
				  const uint32_t *own, Keys keys, uint32_t *next, PropagationBlocks bins, Step step)
{
	walk_entries(step, lists, list_index, label, own,
				 [&](const uint32_t *source, const uint32_t *sink, uint32_t length) {
		uint32_t	lanes[LANE_ENTRIES];
		uint32_t	place[LANE_ENTRIES];

#pragma unroll
		for (uint32_t j = 0; j < LANE_ENTRIES; j++)
		{
			const uint32_t key = j < length ? key_of(keys, source[j], sink[j]) : NO_KEY;

			lanes[j] = __match_any_sync(FULL_WARP, key);
			place[j] = 0;
			if (key != NO_KEY && (lanes[j] & lanes_below()) == 0)
				place[j] = atomicAdd(&next[key], (uint32_t) __popc(lanes[j]));
		}
#pragma unroll
		for (uint32_t j = 0; j < LANE_ENTRIES; j++)
		{
			const uint32_t at = __shfl_sync(FULL_WARP, place[j], __ffs(lanes[j]) - 1) +
				__popc(lanes[j] & lanes_below());
			const uint32_t block = source[j] / BLOCK_SOURCES;
			const uint16_t number = (uint16_t) (source[j] % BLOCK_SOURCES);

			if (j >= length)
				continue;
			if (block < keys.nhubs)
				bins.rows[block].source[at] = number;
			else
			{
				bins.source[at] = number;
				bins.sink[at] = (uint16_t) (sink[j] % BIN_SINKS);
			}
		}
	});
}

/* Round up the number of entries of each cell. Bytes: 8 a cell. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_pad_kernel(uint32_t *count, uint32_t ncells)
{
	for (uint32_t c = blockIdx.x * BLOCK_THREADS + threadIdx.x; c < ncells;
		 c += gridDim.x * BLOCK_THREADS)
		count[c] = (count[c] + CELL_ENTRIES - 1) / CELL_ENTRIES * CELL_ENTRIES;
}

/* Fill the padding of cells and rows. `next`: end of the entries of each cell. Bytes: 12 a cell. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_fill_kernel(PropagationBlocks bins, const uint32_t *next, uint32_t ncells)
{
	const uint32_t thread = blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint32_t c = thread; c < ncells; c += gridDim.x * BLOCK_THREADS)
		for (uint32_t i = next[c]; i < bins.cell[c + 1]; i++)
		{
			bins.source[i] = NO_SOURCE;
			bins.sink[i] = NO_SINK;
		}
	for (uint32_t hub = 0; hub < bins.nhubs; hub++)
		if (thread < bins.rows[hub].nchunks * CHUNK_ENTRIES - bins.rows[hub].nentries)
			bins.rows[hub].source[bins.rows[hub].nentries + thread] = NO_SOURCE;
}

/*
 * Set row[sink] = 1 if the sink has a row, otherwise 0. place[sink]: first entry. Bytes: 8 a sink.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_find_rows_kernel(const uint32_t *place, uint32_t nsinks, uint32_t *row)
{
	for (uint64_t t = blockIdx.x * BLOCK_THREADS + threadIdx.x; t <= nsinks;
		 t += gridDim.x * BLOCK_THREADS)
		row[t] = t < nsinks && place[t + 1] > place[t];
}

/*
 * Mark where rows begin, and store their sinks. row[sink]: number of rows before it. Bytes: 12 a
 * sink.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_mark_rows_kernel(const uint32_t *place, const uint32_t *row, uint32_t nsinks, Rows rows)
{
	for (uint64_t t = blockIdx.x * BLOCK_THREADS + threadIdx.x; t < nsinks;
		 t += gridDim.x * BLOCK_THREADS)
	{
		const uint32_t first = place[t];
		const uint32_t end = place[t + 1];

		if (first == end)
			continue;
		atomicOr(&rows.begins[first / 32], 1u << first % 32);
		rows.sink[row[t]] = (uint32_t) t;
		for (uint32_t chunk = first / CHUNK_ENTRIES + 1;
			 chunk <= end / CHUNK_ENTRIES && chunk < rows.nchunks; chunk++)
			rows.chunk_row[chunk] = row[t] + 1;
	}
}

/* Store the vertex and the degree of each label. Bytes: 12 a vertex, 8 written at random. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_name_vertices_kernel(PropagationBlocks bins, const uint32_t *label, Degrees degrees)
{
	for (uint64_t v = blockIdx.x * BLOCK_THREADS + threadIdx.x; v < bins.nvertices;
		 v += gridDim.x * BLOCK_THREADS)
	{
		bins.vertex[label[v]] = (uint32_t) v;
		bins.degree[label[v]] = (uint32_t) degree_of(degrees, v);
	}
}

#endif							/* EMOGI_PROPAGATION_BLOCKING_MAKE_CUH */
