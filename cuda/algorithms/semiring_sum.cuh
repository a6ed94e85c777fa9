/*
 * semiring_sum.cuh: kernels of the sum semirings. semiring_sum.cu describes the method and launches
 * them.
 *
 * An application is two small structs. A Term gives the contribution of an entry to its list's sum;
 * an Application computes a vertex's new value from the sum.
 */
#ifndef EMOGI_SEMIRING_SUM_CUH
#define EMOGI_SEMIRING_SUM_CUH

#include "cuda/lists/cache_blocking.cuh"

/*
 * Tuned constants, of 753e333. The figures of an NVIDIA H200 in bench/RESULTS.md (PageRank,
 * ad4a202) are with these values.
 */
#define GATHER_BLOCKS 4			/* per multiprocessor: 64 registers a thread; a warp has 256
								 * reads in flight */
#define FEW_LANES 4				/* lanes that most lists span at most */
#define JOIN_PER_LANE 4			/* chunks whose carries one lane adds alone */
#define JOIN_UNROLL 4			/* unrolled rounds of a warp that adds carries */

/* Reductions of an iteration, in device memory. */
typedef struct Outcome
{
	double		change;			/* L1 norm or maximum, see Application */
	double		dangling;		/* sum over all vertices without an outgoing edge (PAGERANK) */
} Outcome;

/*
 * State of a run; all arrays are in device memory. The lists that sweeps read may be cut into
 * segments, or have relabeled vertices (cache_blocking.cuh). Then `sum` has one sum a segment of a
 * list, and targets are indexes into `source`.
 */
typedef struct Field
{
	uint64_t	nvertices;
	uint64_t	nwords;			/* of a segment in the ListIndex */
	ListIndex	list_index;		/* index of the lists that sweeps read */
	/*
	 * [nvertices]; NULL in unweighted PageRank, where it is source * out-degree, or source without
	 * outgoing edges
	 */
	double	   *value;
	/*
	 * [nvertices], the value that edges read: `value`, or in PAGERANK value / out-degree, possibly
	 * as integers
	 */
	double	   *source;
	/*
	 * [rank], partial sum of a list in the chunk where it begins; the full sum once carries are
	 * added; type as source
	 */
	double	   *sum;
	/*
	 * [nchunks], partial sum of the list that began before the chunk; 0 if there is none; type as
	 * source
	 */
	double	   *carry;
	const uint32_t *vertex;		/* [rank], vertex of the list; NULL except for terms with OWN */
	const uint32_t *label;		/* [nvertices], index of the vertex in source; NULL = the vertex
								 * number */
	Degrees		degrees;		/* out-degrees (PAGERANK) */
	/* [nvertices], sums of the weights of outgoing edges (PAGERANK with weights) */
	const double *strength;
	/* [nvertices], teleport distribution (PAGERANK); NULL = uniform */
	const double *teleport;
	bool		coarse;			/* integers have 36 significant bits (PAGERANK) */
	/* [nvertices], sums of weights; NaN = Dirichlet boundary, which keeps its value */
	double	   *conductance;
	double		damping;		/* PAGERANK */
	Outcome    *outcome;
	Outcome    *part;			/* [blocks of gather_finish_kernel], partial outcomes */
} Field;

/* The chunks that a sweep reads: first .. upto - 1, or that many chunks of the pieces, in order. */
typedef struct Chunks
{
	uint64_t	first;			/* 0 with pieces */
	uint64_t	upto;
	const uint32_t *piece;		/* first chunk of each piece, in device memory; NULL = no pieces */
	uint32_t	piece_chunks;	/* of a piece; the last one may be shorter */
} Chunks;

/* ---- terms ---- */

struct PlainTerm
{
	typedef double Value;		/* type of the sums */
	static constexpr bool OWN = false;	/* whether it uses the value of the list's own vertex */

	static __device__ __forceinline__ double
	contribution(double other, double own, double weight)
	{
		return other;
	}
};

/* Integers, stored in the arrays `source` and `sum` of Field. */
struct UnitTerm
{
	typedef unsigned long long Value;
	static constexpr bool OWN = false;

	static __device__ __forceinline__ unsigned long long
	contribution(unsigned long long other, double own, double weight)
	{
		return other;
	}
};

struct ProductTerm
{
	typedef double Value;
	static constexpr bool OWN = false;

	static __device__ __forceinline__ double
	contribution(double other, double own, double weight)
	{
		return other * weight;
	}
};

/* EMOGI_SUM_* traits of an algorithm, from the table in algorithms.h. */
template <EmogiAlgorithm ALGORITHM>
struct Traits;

#define TRAITS(NAME, name, direction, weights, traits, contribution, finish, lipschitz) \
template <> \
struct Traits<EMOGI_##NAME> \
{ \
	static constexpr bool OWN = ((traits) & EMOGI_SUM_USES_OWN_VALUE) != 0; \
	static constexpr bool FIXES = ((traits) & EMOGI_SUM_DIRICHLET) != 0; \
	static constexpr bool KEEPS = ((traits) & EMOGI_SUM_KEEPS_ISOLATED) != 0; \
};
EMOGI_ALGORITHMS(EMOGI_NOTHING, EMOGI_NOTHING, TRAITS)
#undef TRAITS

template <EmogiAlgorithm ALGORITHM>
struct TableTerm
{
	typedef double Value;
	static constexpr bool OWN = Traits<ALGORITHM>::OWN;

	static __device__ __forceinline__ double
	contribution(double other, double own, double weight)
	{
		return emogi_sum_contribution(ALGORITHM, other, own, weight);
	}
};

struct WeightTerm
{
	typedef double Value;
	static constexpr bool OWN = false;

	static __device__ __forceinline__ double
	contribution(double other, double own, double weight)
	{
		return weight;
	}
};

/*
 * ---- applications ----
 *
 * load gets the value of vertex v, finish its new value, and store writes it. L1: changes are
 * summed, otherwise the maximum counts.
 */

struct PageRank
{
	typedef PlainTerm Term;
	static constexpr bool L1 = true;

	static __device__ __forceinline__ uint64_t
	degree(const Field &field, uint64_t v)
	{
		return degree_of(field.degrees, v);
	}

	static __device__ __forceinline__ uint64_t
	index(const Field &field, uint64_t v)
	{
		return field.label != NULL ? field.label[v] : v;
	}

	static __device__ __forceinline__ double
	load(const Field &field, uint64_t v, uint64_t degree)
	{
		const double source = field.source[index(field, v)];

		return degree > 0 ? source * (double) degree : source;
	}

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		return emogi_pagerank_finish(field.damping, (double) field.nvertices,
									 field.outcome->dangling, sum);
	}

	/*
	 * Write the value that v sends along each outgoing edge in the next iteration. Return the value
	 * of a vertex without outgoing edges, which no edge reads.
	 */
	static __device__ __forceinline__ double
	store(const Field &field, uint64_t v, uint64_t degree, double value)
	{
		field.source[index(field, v)] = degree > 0 ? value / (double) degree : value;
		return degree > 0 ? 0 : value;
	}
};

/* Base of applications whose edges read the values themselves. */
struct Plain
{
	static constexpr bool L1 = false;

	static __device__ __forceinline__ uint64_t
	degree(const Field &field, uint64_t v)
	{
		return 0;
	}

	static __device__ __forceinline__ double
	load(const Field &field, uint64_t v, uint64_t degree)
	{
		return field.value[v];
	}

	static __device__ __forceinline__ double
	store(const Field &field, uint64_t v, uint64_t degree, double value)
	{
		field.value[v] = value;
		return 0;
	}
};

/* An application from the table in algorithms.h. */
template <EmogiAlgorithm ALGORITHM>
struct FromTable : Plain
{
	typedef TableTerm<ALGORITHM> Term;
	static constexpr bool FIXES = Traits<ALGORITHM>::FIXES;

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		if (FIXES)
		{
			const double total = field.conductance[v];

			return total == total ? emogi_sum_finish(ALGORITHM, own, sum, total) : own;
		}
		return Traits<ALGORITHM>::KEEPS && !filled ? own : emogi_sum_finish(ALGORITHM, own, sum, 0);
	}
};

/* Count how often each vertex is a target. Bytes: 4 an entry, and an atomic. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
gather_count_degrees_kernel(Lists<Target> lists, Field field, Chunks chunks, Step step)
{
	sweep_chunks(step, chunks.first, chunks.upto, [&](uint64_t chunk) {
		for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
		{
			const uint64_t entry = round_entry(chunk, round);
			const uint32_t length = edge_vector_length(lists, entry);
			const EdgeVector<NoWeight> vector = read_edge_vector<NoWeight>(lists, entry, length);

#pragma unroll
			for (uint32_t j = 0; j < LANE_ENTRIES; j++)
				if (j < length)
					atomicAdd(&field.degrees.counted[vector.target[j]], 1ull);
		}
	});
}

/* Progress of a warp in its chunk. */
template <typename Value>
struct Progress
{
	Value	   *carry;			/* of the chunk */
	uint32_t	first;			/* rank of the first list that begins in the chunk */
	uint32_t	rank;			/* of the next list that begins */
	Value		sum;			/* partial sum of the current list in the chunk */
};

/* Write the partial sum of the current list, which ends before list `rank` or with the chunk. */
template <typename Value>
static __device__ __forceinline__ void
close_list(const Field &field, const Progress<Value> *progress, uint32_t rank, Value sum)
{
	__stcs(rank > progress->first ? (Value *) field.sum + (rank - 1) : progress->carry, sum);
}

/*
 * Add a lane's entries of a round (`length` of them) to `sum`, the sum of the current list. `rank`
 * is the first list that begins here. Lists that begin and end here are written. Return the sum of
 * the list that is current afterwards. If a list began here, *closing is the sum of the list before
 * it.
 */
template <class Term, typename Weight, typename Value = typename Term::Value>
static __device__ __forceinline__ Value
add_edge_vector(const Lists<Target> &lists, const Field &field, uint64_t entry, uint32_t length,
				uint32_t begins, uint32_t rank, Value sum, Value *closing)
{
	const EdgeVector<Weight> vector = read_edge_vector<Weight>(lists, entry, length);
	const uint32_t later = begins & (begins - 1);	/* all but the first */
	Value	   *to = (Value *) field.sum + rank;
	Value		other[LANE_ENTRIES];
	double		own = 0;

#pragma unroll
	for (uint32_t j = 0; j < LANE_ENTRIES; j++)
		other[j] = j < length ? __ldg((const Value *) field.source + vector.target[j]) : 0;
	if (Term::OWN && length > 0 && rank > 0)
		own = field.value[field.vertex[rank - 1]];
#pragma unroll
	for (uint32_t j = 0; j < LANE_ENTRIES; j++)
	{
		const bool	begin = (begins >> j & 1) != 0;
		const bool	end = (later >> j & 1) != 0;	/* of a list that began here */

		if (end)
			__stcs(to, sum);
		to += end;
		*closing = begin && !end ? sum : *closing;
		sum = begin ? 0 : sum;
		if (Term::OWN && begin)
			own = field.value[field.vertex[rank++]];
		sum += j < length ? Term::contribution(other[j], own, edge_vector_weight(vector, j)) : 0;
	}
	return sum;
}

/*
 * Add a round of a chunk. FULL: all entries exist. Each lane adds its own entries, then the lanes
 * that share a list are combined by a segmented scan. The order of additions depends only on the
 * graph.
 */
template <class Term, typename Weight, bool FULL, typename Value = typename Term::Value>
static __device__ __forceinline__ void
add_round(const Lists<Target> &lists, const Field &field, uint64_t entry, Progress<Value> *progress)
{
	const uint32_t lane = lane_number();
	const uint32_t begins = read_begins(field.list_index, entry);
	const uint32_t lanes = __ballot_sync(FULL_WARP, begins != 0);
	const uint32_t upto = warp_prefix_sum(__popc(begins));
	const uint32_t rank = progress->rank + upto - __popc(begins);
	/* lanes back to the one where the current list begins */
	const uint32_t reach = lane - (31 - __clz((lanes & ~lanes_above()) | 1));
	Value		closing = 0;
	const uint32_t length = FULL ? LANE_ENTRIES : edge_vector_length(lists, entry);
	Value		sum = add_edge_vector<Term, Weight>(lists, field, entry, length, begins, rank,
													lane == 0 ? progress->sum : 0, &closing);
	Value		before;

#pragma unroll
	for (uint32_t step = 1; step < WARP_LANES; step *= 2)
	{
		Value		other;

		if (step == FEW_LANES && !__any_sync(FULL_WARP, reach >= FEW_LANES))
			break;
		other = __shfl_up_sync(FULL_WARP, sum, step);
		sum += step <= reach ? other : 0;
	}
	before = __shfl_up_sync(FULL_WARP, sum, 1);
	if (begins != 0)
		close_list(field, progress, rank, lane > 0 ? before + closing : closing);
	progress->sum = __shfl_sync(FULL_WARP, sum, WARP_LANES - 1);
	progress->rank += __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
}

/* Add a chunk. */
template <class Term, typename Weight, bool FULL>
static __device__ __forceinline__ void
add_chunk(const Lists<Target> &lists, const Field &field, uint64_t chunk)
{
	const uint32_t rank = __ldg(&field.list_index.chunk_rank[chunk]);
	Progress<typename Term::Value> progress = {(typename Term::Value *) field.carry + chunk, rank,
	rank,
		0};

#pragma unroll 1
	for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
		add_round<Term, Weight, FULL>(lists, field, round_entry(chunk, round), &progress);
	if (lane_number() == 0)
		close_list(field, &progress, progress.rank, progress.sum);
}

/*
 * Gather: sum over all lists. The part of a list in the chunk where it begins goes to `sum`; the
 * part of a list that began before the chunk goes to `carry`. Bytes: targets and weights once, in
 * whole ascending lines; 8 random ones an entry; 1/8 an entry of the ListIndex; 8 of sums a list
 * (HEAT: 12 of values); 12 a chunk.
 */
template <class Term, typename Weight>
static __global__ void __launch_bounds__(BLOCK_THREADS, GATHER_BLOCKS)
gather_sum_kernel(Lists<Target> lists, Field field, Chunks chunks, Step step)
{
	sweep_chunks(step, chunks.first, chunks.upto, [&](uint64_t number) {
		const uint64_t chunk = chunks.piece == NULL ? number :
			chunks.piece[number / chunks.piece_chunks] + number % chunks.piece_chunks;

		if (chunk < lists.nedges / CHUNK_ENTRIES)
			add_chunk<Term, Weight, true>(lists, field, chunk);
		else
			add_chunk<Term, Weight, false>(lists, field, chunk);
	});
}

/*
 * Sum the carries of chunk `first` and of the chunks after it in which no list begins. Return the
 * lane's part. Called by whole warps.
 */
template <typename Value>
static __device__ __forceinline__ Value
sum_carries(const Field &field, uint64_t first, uint32_t rank)
{
	Value		sum = 0;
	bool		more = true;

	for (uint64_t base = first; more; base += JOIN_UNROLL * WARP_LANES)
	{
#pragma unroll
		for (uint32_t i = 0; i < JOIN_UNROLL; i++)
		{
			const uint64_t k = base + i * WARP_LANES + lane_number();

			more = k < field.list_index.nchunks && field.list_index.chunk_rank[k] == rank;
			sum += more ? ((const Value *) field.carry)[k] : 0;
		}
		more = __shfl_sync(FULL_WARP, (int) more, WARP_LANES - 1) != 0;
	}
	return sum;
}

/*
 * Add to each list's sum its carries in order: a short run of chunks by one lane, a longer one by
 * the whole warp. Bytes: 12 a chunk, 16 a list that crosses chunks.
 */
template <typename Value>
static __global__ void __launch_bounds__(BLOCK_THREADS)
gather_join_carries_kernel(Field field)
{
	const uint64_t nchunks = field.list_index.nchunks;
	const uint32_t *ranks = field.list_index.chunk_rank;

	for (uint64_t base = first_of_warp(); base < nchunks; base += grid_threads())
	{
		const uint64_t c = base + lane_number();
		const uint32_t rank = c < nchunks ? ranks[c] : 0;
		/* a list begins in the previous chunk */
		const bool	joins = c > 0 && c < nchunks && ranks[c - 1] < rank;
		bool		more = joins;
		uint64_t	next = c;
		Value		sum = 0;
		uint32_t	todo;

		for (uint32_t i = 0; i < JOIN_PER_LANE && more; i++)
		{
			sum += ((const Value *) field.carry)[next++];
			more = next < nchunks && ranks[next] == rank;
		}
		todo = __ballot_sync(FULL_WARP, more);
		while (todo != 0)
		{
			const uint32_t lane = __ffs(todo) - 1;
			Value		part = sum_carries<Value>(field,
												  __shfl_sync(FULL_WARP, (unsigned long long) next,
															  lane), __shfl_sync(FULL_WARP, rank,
																				 lane));

			todo &= todo - 1;
#pragma unroll
			for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
				part += __shfl_xor_sync(FULL_WARP, part, step);
			if (lane == lane_number())
				sum += part;
		}
		if (joins)
			((Value *) field.sum)[rank - 1] += sum;
	}
}

#endif							/* EMOGI_SEMIRING_SUM_CUH */
