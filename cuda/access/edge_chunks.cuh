/*
 * edge_chunks.cuh: reads of every edge of every adjacency list, in chunks of 64 lines that ignore
 * list boundaries.
 *
 * Chunk c has the edges from CHUNK_ENTRIES * c on. Warps take chunks in ascending order, so the
 * link sees whole lines, each once, from one narrow moving window, and a hub costs no more than a
 * thousand small lists. A chunk is read in rounds of eight lines; in a round each lane has
 * LANE_ENTRIES neighboring edges.
 *
 * A ListIndex maps edges to lists with one bit per edge: an eighth of a byte, whereas offsets take
 * eight bytes per list; a lane needs exactly one byte of it. Empty lists have no edge and no place
 * in it. The nonempty lists are numbered in ascending order: this number is a list's rank.
 */
#ifndef EMOGI_EDGE_CHUNKS_CUH
#define EMOGI_EDGE_CHUNKS_CUH

#include "cuda/access/weights.cuh"

/*
 * Tuned constants, of 753e333. PageRank's figures of an NVIDIA H200 in bench/RESULTS.md (ad4a202)
 * were measured with these values.
 */
#define LANE_ENTRIES 8			/* per round: reads that a lane has in flight */
#define CHUNK_ROUNDS 8 /* more rounds: fewer carries to combine, but a later end of the last warp */

#define ROUND_ENTRIES (WARP_LANES * LANE_ENTRIES)
#define CHUNK_ENTRIES (CHUNK_ROUNDS * ROUND_ENTRIES)

/*
 * The index of list boundaries. List v is bit v % 32 of word v / 32; lists that are split into
 * segments (cache_blocking.cuh) have nwords / segments words per segment. All arrays are in one
 * block of device memory.
 */
typedef struct ListIndex
{
	uint64_t	nchunks;
	uint64_t	nwords;
	uint32_t   *begins;	/* [nchunks * CHUNK_ENTRIES / 32], bit e: edge e is the first of its list */
	uint32_t   *chunk_rank;		/* [nchunks + 1], number of lists that begin before the chunk */
	uint32_t   *filled;			/* [nwords], bit v: list v is not empty */
	uint32_t   *word_rank;	/* [nwords + 1], rank of the first nonempty list in or after the word */
	uint32_t   *tile;			/* work space of the prefix sums */
} ListIndex;

/* A lane's edges of one round. */
template <typename Weight>
struct EdgeVector
{
	Target		target[LANE_ENTRIES];
	uint32_t	weights[weight_bytes<Weight>() > 0 ? LANE_ENTRIES * sizeof(Weight) / 4 : 1];
};

/* Return the number of chunks of nedges edges. */
static inline __host__ __device__ uint64_t
count_chunks(uint64_t nedges)
{
	return (nedges + CHUNK_ENTRIES - 1) / CHUNK_ENTRIES;
}

/* Return the lane's first edge of a round. */
static __device__ __forceinline__ uint64_t
round_entry(uint64_t chunk, uint32_t round)
{
	return chunk * CHUNK_ENTRIES + round * ROUND_ENTRIES + lane_number() * LANE_ENTRIES;
}

/*
 * Distribute chunks first .. upto - 1, fewer than NO_BATCH, to the warps of the grid in ascending
 * order. Whole warps call process(chunk).
 */
template <class Process>
static __device__ __forceinline__ void
sweep_chunks(const Step &step, uint64_t first, uint64_t upto, Process process)
{
	uint32_t	next = lane_number() == 0 ? take_ticket(step) : 0;

	for (;;)
	{
		const uint32_t ticket = __shfl_sync(FULL_WARP, next, 0);

		if (ticket == NO_BATCH || ticket >= upto - first)
			break;
		if (lane_number() == 0)
			next = take_ticket(step);	/* in flight while the chunk is read */
		process(first + ticket);
	}
}

/* Return how many of the lane's edges of a round exist; the first of them has number `entry`. */
static __device__ __forceinline__ uint32_t
edge_vector_length(const Lists<Target> &lists, uint64_t entry)
{
	return entry >= lists.nedges ? 0 :
		lists.nedges - entry < LANE_ENTRIES ? (uint32_t) (lists.nedges - entry) : LANE_ENTRIES;
}

/*
 * Read the lane's edges of a round; zeroes if none exists. A sweep reads nothing twice, so the
 * cache need not keep it. The two halves of a lane's targets make one request per line, because the
 * second half finds the line in the L1 cache or in flight.
 */
template <typename Weight>
static __device__ __forceinline__ EdgeVector<Weight>
read_edge_vector(const Lists<Target> &lists, uint64_t entry, uint32_t length)
{
	constexpr uint32_t BYTES = LANE_ENTRIES * weight_bytes<Weight>();
	const char *weights = (const char *) lists.weights + entry * weight_bytes<Weight>();
	EdgeVector<Weight> vector = {};

	if (length == 0)
		return vector;
#pragma unroll
	for (uint32_t i = 0; i < LANE_ENTRIES / PIECE; i++)
	{
		const uint4 piece = __ldcs((const uint4 *) (lists.targets + entry) + i);

		memcpy(vector.target + i * PIECE, &piece, sizeof piece);
	}
	if constexpr (BYTES == 8)
	{
		const uint2 pair = __ldcs((const uint2 *) weights);

		memcpy(vector.weights, &pair, sizeof pair);
	}
	else if constexpr (BYTES > 0)
	{
#pragma unroll
		for (uint32_t i = 0; i < BYTES / PIECE_BYTES; i++)
		{
			const uint4 quad = __ldcs((const uint4 *) weights + i);

			memcpy(vector.weights + 4 * i, &quad, sizeof quad);
		}
	}
	return vector;
}

/* Return weight j of an edge vector. */
template <typename Weight>
static __device__ __forceinline__ double
edge_vector_weight(const EdgeVector<Weight> &vector, uint32_t j)
{
	if constexpr (weight_bytes<Weight>() == 0)
		return 1.0;
	else
	{
		Weight		weight[LANE_ENTRIES];

		memcpy(weight, vector.weights, sizeof weight);
		return (double) weight[j];
	}
}

/*
 * Return a bit for each of the lane's edges of a round, from number `entry` on, that begins a list.
 */
static __device__ __forceinline__ uint32_t
read_begins(const ListIndex &index, uint64_t entry)
{
	return __ldcs((const uint8_t *) index.begins + entry / LANE_ENTRIES);
}

/* Return the size in words of a ListIndex for nedges edges and nwords words of lists. */
extern uint64_t emogi_edge_chunks_index_words(uint64_t nedges, uint64_t nwords);

/* Lay out a ListIndex in a block of device memory of that many words. */
extern ListIndex emogi_edge_chunks_lay_out_index(uint32_t *memory, uint64_t nedges,
												 uint64_t nwords);

/*
 * Build the ListIndex of lists from their offsets. This and all functions below queue work on the
 * stream.
 */
extern EmogiStatus emogi_edge_chunks_make_index(Run *run, const uint64_t *offsets,
												const ListIndex *index, EmogiError *error);

/* Zero a ListIndex; compute the ranks after begins and filled have been set. */
extern EmogiStatus emogi_edge_chunks_clear_index(Run *run, const ListIndex *index,
												 EmogiError *error);
extern EmogiStatus emogi_edge_chunks_rank_lists(Run *run, const ListIndex *index,
												EmogiError *error);

/* Compute the list number of each rank: vertex[rank]. */
extern EmogiStatus emogi_edge_chunks_name_lists(Run *run, const ListIndex *index, uint32_t *vertex,
												EmogiError *error);

#endif							/* EMOGI_EDGE_CHUNKS_CUH */
