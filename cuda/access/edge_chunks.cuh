/*
 * edge_chunks.cuh: how kernels read every entry of every list: in chunks of 64 lines, whatever the lists.
 *
 * Chunk c has the entries from CHUNK_ENTRIES * c on. Warps take chunks in ascending order, so the link sees whole lines,
 * each once, from one narrow moving window, and a hub is no more work than a thousand small lists. A chunk is read in
 * rounds of eight lines; in a round each lane has LANE_ENTRIES neighbouring entries.
 *
 * What lists the entries are in is told by an ListIndex, one bit an entry: an eighth of a byte where offsets take eight
 * a list, and what a lane needs of it is a byte of its own. Empty lists have no entry and no part in it. The others are
 * numbered on in ascending order: that is their rank.
 */
#ifndef EMOGI_EDGE_CHUNKS_CUH
#define EMOGI_EDGE_CHUNKS_CUH

#include "cuda/access/weights.cuh"

/* Tuned constants, of 753e333. PageRank's figures of an NVIDIA H200 in bench/RESULTS.md (ad4a202) are with these values. */
#define LANE_ENTRIES 8			/* of a round: reads that a lane has under way */
#define CHUNK_ROUNDS 8			/* the more, the fewer carries are joined, and the later the last warp is ready */

#define ROUND_ENTRIES (WARP_LANES * LANE_ENTRIES)
#define CHUNK_ENTRIES (CHUNK_ROUNDS * ROUND_ENTRIES)

/*
 * Where lists begin. List v is bit v % 32 of word v / 32; lists that are cut in segments (cache_blocking.cuh) have a run of
 * nwords / segments words for each. All arrays are in one block of device memory.
 */
typedef struct ListIndex
{
	uint64_t	nchunks;
	uint64_t	nwords;
	uint32_t   *begins;			/* [nchunks * CHUNK_ENTRIES / 32], bit e: entry e is the first of its list */
	uint32_t   *chunk_rank;		/* [nchunks + 1], lists that begin before the chunk */
	uint32_t   *filled;			/* [nwords], bit v: list v is not empty */
	uint32_t   *word_rank;		/* [nwords + 1], rank of the first list of the word, or of those after it */
	uint32_t   *tile;			/* for finding the ranks */
} ListIndex;

/* What a lane reads of a round. */
template <typename Weight>
struct Octet
{
	Target		target[LANE_ENTRIES];
	uint32_t	weights[weight_bytes<Weight>() > 0 ? LANE_ENTRIES * sizeof(Weight) / 4 : 1];
};

/* Get the chunks of so many entries. */
static inline __host__ __device__ uint64_t
count_chunks(uint64_t nedges)
{
	return (nedges + CHUNK_ENTRIES - 1) / CHUNK_ENTRIES;
}

/* Get the first of the own entries of a round. */
static __device__ __forceinline__ uint64_t
round_entry(uint64_t chunk, uint32_t round)
{
	return chunk * CHUNK_ENTRIES + round * ROUND_ENTRIES + lane_number() * LANE_ENTRIES;
}

/* Give the warps of the grid chunks first .. upto - 1, fewer than NO_BATCH, in ascending order. process(chunk) is called by whole warps. */
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
			next = take_ticket(step);	/* under way while the chunk is read */
		process(first + ticket);
	}
}

/* Get how many of the own entries of a round are there, of which the first has number `entry`. */
static __device__ __forceinline__ uint32_t
octet_length(const Lists<Target> &lists, uint64_t entry)
{
	return entry >= lists.nedges ? 0 : lists.nedges - entry < LANE_ENTRIES ? (uint32_t) (lists.nedges - entry) :
		LANE_ENTRIES;
}

/*
 * Read the own entries of a round; zeroes when none is there. Nothing is read twice in a sweep, so the cache need not keep
 * it. The two halves of a lane's targets make one request for each line, since the second finds the line in the
 * first-level cache, or under way to it.
 */
template <typename Weight>
static __device__ __forceinline__ Octet<Weight>
read_octet(const Lists<Target> &lists, uint64_t entry, uint32_t length)
{
	constexpr uint32_t BYTES = LANE_ENTRIES * weight_bytes<Weight>();
	const char *weights = (const char *) lists.weights + entry * weight_bytes<Weight>();
	Octet<Weight> octet = {};

	if (length == 0)
		return octet;
#pragma unroll
	for (uint32_t i = 0; i < LANE_ENTRIES / PIECE; i++)
	{
		const uint4 piece = __ldcs((const uint4 *) (lists.targets + entry) + i);

		memcpy(octet.target + i * PIECE, &piece, sizeof piece);
	}
	if constexpr (BYTES == 8)
	{
		const uint2 pair = __ldcs((const uint2 *) weights);

		memcpy(octet.weights, &pair, sizeof pair);
	}
	else if constexpr (BYTES > 0)
	{
#pragma unroll
		for (uint32_t i = 0; i < BYTES / PIECE_BYTES; i++)
		{
			const uint4 quad = __ldcs((const uint4 *) weights + i);

			memcpy(octet.weights + 4 * i, &quad, sizeof quad);
		}
	}
	return octet;
}

/* Get weight j of an octet. */
template <typename Weight>
static __device__ __forceinline__ double
octet_weight(const Octet<Weight> &octet, uint32_t j)
{
	if constexpr (weight_bytes<Weight>() == 0)
		return 1.0;
	else
	{
		Weight		weight[LANE_ENTRIES];

		memcpy(weight, octet.weights, sizeof weight);
		return (double) weight[j];
	}
}

/* Get which of the own entries of a round, from number `entry` on, begin lists, a bit each. */
static __device__ __forceinline__ uint32_t
read_begins(const ListIndex &outline, uint64_t entry)
{
	return __ldcs((const uint8_t *) outline.begins + entry / LANE_ENTRIES);
}

/* Get the words of an ListIndex of so many entries, and lists in nwords words. */
extern uint64_t emogi_edge_chunks_outline_words(uint64_t nedges, uint64_t nwords);

/* Lay an ListIndex into so many words of device memory. */
extern ListIndex emogi_edge_chunks_lay_outline(uint32_t *memory, uint64_t nedges, uint64_t nwords);

/* Make the ListIndex of lists from their offsets, queued on the stream as all below. */
extern EmogiStatus emogi_edge_chunks_make_outline(Run *run, const uint64_t *offsets, const ListIndex *outline, EmogiError *error);

/* Zero an ListIndex; with begins and filled set, find the ranks. */
extern EmogiStatus emogi_edge_chunks_clear_outline(Run *run, const ListIndex *outline, EmogiError *error);
extern EmogiStatus emogi_edge_chunks_rank_lists(Run *run, const ListIndex *outline, EmogiError *error);

/* Find the number of each list: vertex[rank]. */
extern EmogiStatus emogi_edge_chunks_name_lists(Run *run, const ListIndex *outline, uint32_t *vertex, EmogiError *error);

/* Bring the kernels to the device. */
extern EmogiStatus emogi_edge_chunks_load(EmogiError *error);

#endif							/* EMOGI_EDGE_CHUNKS_CUH */
