/*
 * shards_build.cuh: kernels of shards_build.cu, which describes the method and launches them.
 */
#ifndef EMOGI_SHARDS_BUILD_CUH
#define EMOGI_SHARDS_BUILD_CUH

#include "cuda/access/edge_chunks.cuh"
#include "cuda/papers/shards.cuh"

#define SOURCE_BITS 32			/* in a sort key, below the shard */

/* A piece of the entries on its way to its shards: arrays of one block of device memory. */
typedef struct Transit
{
	uint64_t	room;			/* entries */
	/* [room], shard << SOURCE_BITS | source; key[1] is the sort's second buffer */
	unsigned long long *key[2];
	uint32_t   *index[2];		/* [room], position of the entry in the piece; index[1] likewise */
	uint32_t   *source;			/* [room], in the order of the piece, like dest and weight */
	uint32_t   *dest;
	void	   *weight;
	uint64_t   *cursor;			/* [nshards], position of a shard's next entry */
	uint64_t   *shift; /* [nshards], distance by which a shard's entries in the sorted piece move */
	void	   *temporary;		/* [temporary_bytes], work space of the sort */
	size_t		temporary_bytes;
} Transit;

/*
 * Sort a piece by bits begin_bit .. end_bit - 1 of its keys, stably, and get the sorted arrays *key
 * and *index. Without temporary memory, only get its required size.
 */
extern cudaError_t emogi_shards_sort(Transit *transit, uint64_t count, int begin_bit, int end_bit,
									 cudaStream_t stream, const unsigned long long **key,
									 const uint32_t **index);

/*
 * Lists to be read as edges: from the lists' vertices to the targets, or in the opposite direction
 * if `against`.
 */
typedef struct Edges
{
	Lists<Target> lists;
	uint64_t	nvertices;
	bool		against;
} Edges;

/* Return the list that contains an entry, one of low .. high. */
static __device__ __forceinline__ uint64_t
find_list(const uint64_t *offsets, uint64_t low, uint64_t high, uint64_t entry)
{
	while (low < high)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (__ldg(&offsets[middle + 1]) > entry)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Read the lane's entries of a round of a chunk, whose lists are low .. high. A lane searches for
 * the list of its first entry, and again when a list ends, because many empty lists may precede the
 * next one. use() as below.
 */
template <typename Weight, class Use>
static __device__ __forceinline__ void
read_round(const Edges &edges, uint64_t entry, uint64_t low, uint64_t high, Use use)
{
	const uint64_t *offsets = edges.lists.offsets;
	const uint32_t length = edge_vector_length(edges.lists, entry);
	const EdgeVector<Weight> vector = read_edge_vector<Weight>(edges.lists, entry, length);
	uint64_t	list = low;
	uint64_t	stop = entry;	/* end of the list; not searched yet */

#pragma unroll
	for (uint32_t j = 0; j < LANE_ENTRIES; j++)
	{
		const bool	inside = j < length;
		uint32_t	vertex;

		if (inside && entry + j >= stop)
		{
			list = find_list(offsets, list, high, entry + j);
			stop = __ldg(&offsets[list + 1]);
		}
		vertex = (uint32_t) list;
		use(inside, entry + j, edges.against ? vector.target[j] : vertex,
			edges.against ? vertex : vector.target[j], edge_vector_weight(vector, j));
	}
}

/*
 * Read the entries of a span of lists, which consists of whole chunks. Whole warps call use(whether
 * the entry exists, entry, source, dest, weight). Bytes: 4 and the weight per entry, in whole
 * lines; some of offsets.
 */
template <typename Weight, class Use>
static __device__ __forceinline__ void
read_edges(const Edges &edges, Span span, const Step &step, Use use)
{
	const Lists<Target> &lists = edges.lists;

	sweep_chunks(step, span.start / CHUNK_ENTRIES, count_chunks(span.end), [&](uint64_t chunk) {
		const uint64_t begin = chunk * CHUNK_ENTRIES;
		const uint64_t end = lists.nedges - begin < CHUNK_ENTRIES ? lists.nedges :
			begin + CHUNK_ENTRIES;
		const uint64_t low = find_list(lists.offsets, 0, edges.nvertices - 1, begin);
		const uint64_t high = find_list(lists.offsets, low, edges.nvertices - 1, end - 1);

#pragma unroll 1
		for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
			read_round<Weight>(edges, round_entry(chunk, round), low, high, use);
	});
}

/*
 * Count an entry of a shard for each lane that is `inside`, combining those of the same shard.
 * Whole warps.
 */
static __device__ __forceinline__ void
count_shard(uint64_t *count, bool inside, uint32_t shard)
{
	const uint32_t alike = __match_any_sync(FULL_WARP, inside ? shard : EMOGI_NO_VERTEX);

	if (inside && (alike & lanes_below()) == 0)
		atomicAdd((unsigned long long *) &count[shard], (unsigned long long) __popc(alike));
}

/*
 * Count the entries of each shard. Bytes: those of read_edges; at most one atomic operation per
 * entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_count_edges_kernel(Edges edges, uint32_t width, uint64_t *count, Step step)
{
	read_edges<NoWeight>(edges, Span{0, edges.lists.nedges}, step,
						 [&](bool inside, uint64_t entry, uint32_t source, uint32_t dest,
							 double weight) {
		count_shard(count, inside, dest / width);
	});
}

/* Count the entries that begin in each shard. Bytes: 4 per entry; at most one atomic operation. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_count_sources_kernel(const uint32_t *source, uint64_t nentries, uint32_t width,
							uint64_t *count, Step step)
{
	for (uint64_t base = first_of_warp(); base < nentries; base += grid_threads())
	{
		const uint64_t e = base + lane_number();

		count_shard(count, e < nentries, e < nentries ? source[e] / width : 0);
		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
	}
}

/*
 * Fill a piece with the entries of a span of lists, and count the edges that begin in each vertex,
 * unless degree[nvertices] is NULL. Bytes: those of read_edges; 20 and the weight per entry.
 */
template <typename Weight>
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_fill_edges_kernel(Edges edges, Span span, Transit transit, uint32_t width,
						 unsigned long long *degree, Step step)
{
	read_edges<Weight>(edges, span, step, [&](bool inside, uint64_t entry, uint32_t source,
											  uint32_t dest, double weight) {
		const uint64_t i = entry - span.start;

		if (!inside)
			return;
		transit.key[0][i] = (unsigned long long) (dest / width) << SOURCE_BITS | source;
		transit.index[0][i] = (uint32_t) i;
		transit.source[i] = source;
		transit.dest[i] = dest;
		if constexpr (weight_bytes<Weight>() > 0)
			((Weight *) transit.weight)[i] = (Weight) weight;
		if (degree != NULL)
			atomicAdd(&degree[source], 1ull);
	});
}

/* Copy a weight of 1, 2, 4 or 8 bytes. */
static __device__ __forceinline__ void
copy_weight(void *to, uint64_t i, const void *from, uint64_t j, uint32_t bytes)
{
	if (bytes == 1)
		((uint8_t *) to)[i] = ((const uint8_t *) from)[j];
	else if (bytes == 2)
		((uint16_t *) to)[i] = ((const uint16_t *) from)[j];
	else if (bytes == 4)
		((uint32_t *) to)[i] = ((const uint32_t *) from)[j];
	else if (bytes == 8)
		((uint64_t *) to)[i] = ((const uint64_t *) from)[j];
}

/*
 * Fill a piece with entries that are already in their shards. Bytes: 28 and twice the weight per
 * entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_fill_again_kernel(Shards shards, const uint32_t *source, Span span, Transit transit)
{
	const uint64_t count = span.end - span.start;

	for_each(count, [&](uint64_t i) {
		const uint64_t e = span.start + i;
		const uint32_t shard = shards.dest[e] / shards.shape.width;

		transit.key[0][i] = (unsigned long long) shard << SOURCE_BITS | source[e];
		transit.index[0][i] = (uint32_t) i;
		transit.source[i] = source[e];
		transit.dest[i] = shards.dest[e];
		copy_weight(transit.weight, i, shards.weight, e, shards.shape.weight_bytes);
	});
}

/* Fill a piece with the sources of entries, keyed by the sources' shards. Bytes: 20 per entry. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_fill_sources_kernel(const uint32_t *source, uint32_t width, Span span, Transit transit)
{
	const uint64_t count = span.end - span.start;

	for_each(count, [&](uint64_t i) {
		const uint32_t its = source[span.start + i];

		transit.key[0][i] = (unsigned long long) (its / width) << SOURCE_BITS;
		transit.index[0][i] = (uint32_t) i;
		transit.source[i] = its;
	});
}

/*
 * Compute the distance by which the entries of each shard in a sorted piece move. Bytes: 8 per
 * entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_find_shifts_kernel(const unsigned long long *key, uint64_t count, const uint64_t *cursor,
						  uint64_t *shift, Step step)
{

	if (is_halted(step))
		return;					/* the piece was not filled: its keys are not valid shards */
	for_each(count, [&](uint64_t i) {
		const uint32_t shard = (uint32_t) (key[i] >> SOURCE_BITS);

		if (i == 0 || (uint32_t) (key[i - 1] >> SOURCE_BITS) != shard)
			shift[shard] = cursor[shard] - i;	/* may wrap */
	});
}

/*
 * Call use(index in the piece, new position) for each entry of a sorted piece, and advance the
 * cursors.
 */
template <class Use>
static __device__ __forceinline__ void
move_entries(const Transit &transit, const unsigned long long *key, const uint32_t *index,
			 uint64_t count, const Step &step, Use use)
{

	if (is_halted(step))
		return;
	for_each(count, [&](uint64_t i) {
		const uint32_t shard = (uint32_t) (key[i] >> SOURCE_BITS);
		const uint64_t entry = i + transit.shift[shard];

		if (i + 1 == count || (uint32_t) (key[i + 1] >> SOURCE_BITS) != shard)
			transit.cursor[shard] = entry + 1;
		use(index[i], entry);
	});
}

/*
 * Move a sorted piece to its shards. Bytes: 28 and twice the weight per entry, part of it at random
 * in the piece.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_move_kernel(Transit transit, const unsigned long long *key, const uint32_t *index,
				   uint64_t count, Shards shards, uint32_t *source, Step step)
{
	move_entries(transit, key, index, count, step, [&](uint32_t i, uint64_t entry) {
		source[entry] = transit.source[i];
		shards.dest[entry] = transit.dest[i];
		copy_weight(shards.weight, entry, transit.weight, i, shards.shape.weight_bytes);
	});
}

/*
 * Move a piece that was sorted by the sources' shards to the concatenated windows. Bytes: 24 to 28
 * per entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_move_to_windows_kernel(Transit transit, const unsigned long long *key, const uint32_t *index,
							  uint64_t count, uint64_t first, Shards shards, Step step)
{
	move_entries(transit, key, index, count, step, [&](uint32_t i, uint64_t slot) {
		shards.source[slot] = transit.source[i];
		if (shards.shape.nentries >> 32 == 0)
			((uint32_t *) shards.place)[slot] = (uint32_t) (first + i);
		else
			((unsigned long long *) shards.place)[slot] = first + i;
	});
}

/*
 * Find the beginning of each window: the first entry of its shard whose source is not below the
 * window. Bytes: 8 per window and a search.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_find_windows_kernel(Shards shards, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t nshards = shards.shape.nshards;

	for (uint64_t i = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
		 i < (nshards + 1) * nshards; i += nthreads)
	{
		const uint64_t shard = i % nshards;
		const uint64_t min_source = i / nshards * shards.shape.width;
		uint64_t	low = shards.begin[shard];
		uint64_t	high = shards.begin[shard + 1];

		if (must_leave(step))
			break;
		while (low < high)
		{
			const uint64_t middle = low + (high - low) / 2;

			if (__ldg(&shards.source[middle]) < min_source)
				low = middle + 1;
			else
				high = middle;
		}
		shards.window[i] = low;
	}
}

/* Mark the vertices whose lists are not empty. Bytes: 8 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_mark_filled_kernel(const uint64_t *offsets, uint64_t nvertices, uint32_t *filled)
{
	for (uint64_t base = first_of_warp(); base < nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		const uint32_t bits = __ballot_sync(FULL_WARP,
											v < nvertices && offsets[v] < offsets[v + 1]);

		if (lane_number() == 0)
			filled[base / 32] = bits;
	}
}

#endif							/* EMOGI_SHARDS_BUILD_CUH */
