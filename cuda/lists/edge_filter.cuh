/*
 * edge_filter.cuh: edge filter: adjacency lists of selected edges, in their original order, for
 * dropping duplicate edges and self-loops, and for keeping every edge once.
 *
 * Edges are read in chunks (edge_chunks.cuh), independently of list boundaries, and each edge's
 * source vertex is known. One bit per edge says which are selected, and a count gives the selected
 * edges before each round of 256; these two give the offsets of the new lists and the position of
 * every edge. So nothing is sorted, nothing depends on the order of the work, and no addition is
 * atomic.
 */
#ifndef EMOGI_EDGE_FILTER_CUH
#define EMOGI_EDGE_FILTER_CUH

#include "cuda/access/edge_chunks.cuh"

#define ROUND_WORDS (ROUND_ENTRIES / 32)

/*
 * Lists in which each edge's source vertex can be found. All arrays are in device memory, except
 * the targets in host placement.
 */
typedef struct Entries
{
	Lists<Target> lists;
	ListIndex	list_index;
	uint32_t   *memory;			/* of the list index */
	uint32_t   *vertex;			/* [n], vertex of the list with each rank */
	int			nblocks;		/* of kernels that read the edges */
} Entries;

/* A selection of edges. Arrays are in device memory. */
typedef struct Selection
{
	uint64_t	nrounds;
	uint32_t   *bits;			/* [nrounds * ROUND_WORDS], bit e: edge e is selected */
	uint64_t   *before;			/* [nrounds + 1], selected edges before each round */
	uint64_t   *tile;			/* work space of the prefix sums */
} Selection;

/* Lists of targets only, ascending, in device memory: those of a graph, or derived from them. */
typedef struct Csr
{
	uint64_t   *offsets;		/* [nvertices + 1] */
	Target	   *targets;		/* [nedges], readable to the end of their last line */
	uint64_t	nedges;
	bool		is_own;			/* it was built, in memory of the run */
} Csr;

/* Return the lists in the form that kernels read. */
static inline Lists<Target>
csr_lists(const Csr &csr)
{
	return Lists<Target>{csr.offsets, csr.targets, NULL, csr.nedges, NULL, 0, false};
}

/* Return the number of selected edges before an edge. */
static __device__ __forceinline__ uint64_t
count_before(const Selection &selection, uint64_t entry)
{
	const uint64_t round = entry / ROUND_ENTRIES;
	const uint32_t within = (uint32_t) (entry % ROUND_ENTRIES);
	uint64_t	count = __ldg(&selection.before[round]);

	for (uint32_t i = 0; i < within / 32; i++)
		count += __popc(__ldg(&selection.bits[round * ROUND_WORDS + i]));
	if (within % 32 > 0)
		count += __popc(__ldg(&selection.bits[round * ROUND_WORDS + within / 32]) &
						((1u << within % 32) - 1));
	return count;
}

/*
 * Call visit(entry, vertex, target, repeats) for all edges, in the lanes that hold them; repeats:
 * the previous edge has the same target, in the same list. visit returns whether the edge is
 * selected; round(number, first edge of the lane, bits of the lane's edges) is called by whole
 * warps for every round. Bytes: the targets once, in whole lines and ascending; 1/8 per edge, of
 * the ListIndex; 4 per list.
 */
template <class Visit, class Round>
static __device__ __forceinline__ void
visit_entries(const Entries &entries, const Step &step, Visit visit, Round round)
{
	const Lists<Target> &lists = entries.lists;

	sweep_chunks(step, 0, entries.list_index.nchunks, [&](uint64_t chunk) {
		uint32_t	rank = __ldg(&entries.list_index.chunk_rank[chunk]);
		Target		last = chunk > 0 ? __ldg(&lists.targets[chunk * CHUNK_ENTRIES - 1]) : 0;

#pragma unroll 1
		for (uint32_t r = 0; r < CHUNK_ROUNDS; r++)
		{
			const uint64_t entry = round_entry(chunk, r);
			const uint32_t length = edge_vector_length(lists, entry);
			const EdgeVector<NoWeight> vector = read_edge_vector<NoWeight>(lists, entry, length);
			const uint32_t begins = read_begins(entries.list_index, entry);
			const uint32_t upto = warp_prefix_sum(__popc(begins));
			const Target below = __shfl_up_sync(FULL_WARP, vector.target[LANE_ENTRIES - 1], 1);
			Target		before = lane_number() == 0 ? last : below;
			/* lists that begin before the lane's edges */
			uint32_t	its = rank + upto - __popc(begins);
			uint32_t	vertex = its > 0 && length > 0 ? __ldg(&entries.vertex[its - 1]) : 0;
			uint32_t	wanted = 0;

#pragma unroll
			for (uint32_t j = 0; j < LANE_ENTRIES; j++)
			{
				const bool	begin = (begins >> j & 1) != 0;

				if (begin)
					vertex = __ldg(&entries.vertex[its++]);
				if (j < length &&
					visit(entry + j, vertex, vector.target[j], !begin && vector.target[j] == before))
					wanted |= 1u << j;
				before = vector.target[j];
			}
			round(chunk * CHUNK_ROUNDS + r, entry, wanted);
			last = __shfl_sync(FULL_WARP, vector.target[LANE_ENTRIES - 1], WARP_LANES - 1);
			rank += __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
		}
	});
}

/*
 * Select the edges for which choose(entry, vertex, target, repeats) is true. Bytes: as
 * visit_entries; 1/8 per edge.
 */
template <class Choose>
static __global__ void __launch_bounds__(BLOCK_THREADS)
select_kernel(Entries entries, Selection selection, Choose choose, Step step)
{
	visit_entries(entries, step, choose, [&](uint64_t round, uint64_t entry, uint32_t wanted) {
		const uint32_t count = __reduce_add_sync(FULL_WARP, __popc(wanted));

		((uint8_t *) selection.bits)[entry / LANE_ENTRIES] = (uint8_t) wanted;
		if (lane_number() == 0)
			selection.before[round] = count;
	});
}

/* Choose the edges of a simple graph: no duplicate edges, no self-loops. */
struct ChooseSimple
{
	__device__ __forceinline__ bool
	operator()(uint64_t entry, uint32_t vertex, Target target, bool repeats) const
	{
		return !repeats && target != vertex;
	}
};

/*
 * Compute the number of selected edges before each round, from the number in each; queued on the
 * stream.
 */
extern EmogiStatus emogi_edge_filter_sum(Run *run, const Selection *selection, EmogiError *error);

/* Select edges, and compute the number before each round; queued on the stream. */
template <class Choose>
static EmogiStatus
select_entries(Run *run, const Entries *entries, const Selection *selection, Choose choose,
			   EmogiError *error)
{
	TRY(emogi_run_begin_step(run, error));
	CUDA_TRY(cudaMemsetAsync(selection->before + selection->nrounds, 0, sizeof *selection->before,
							 run->state->stream));
	CUDA_LAUNCH(select_kernel<Choose>, entries->nblocks, BLOCK_THREADS, run->state->stream,
				*entries, *selection, choose, run->step);
	return emogi_edge_filter_sum(run, selection, error);
}

#endif							/* EMOGI_EDGE_FILTER_CUH */
