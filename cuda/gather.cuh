/*
 * gather.cuh: the kernels of gather.cu, which tells the method and launches them.
 *
 * Two small structs make an application. A Term says what an entry contributes to its list's sum; an Application says
 * what a vertex makes of the sum.
 */
#ifndef EMOGI_GATHER_CUH
#define EMOGI_GATHER_CUH

#include "chunks.cuh"

#define SHORT_PART 16			/* entries that a lane adds alone */

/* What an iteration reduces to one number each, in device memory. */
typedef struct Outcome
{
	double		change;			/* L1 or largest, see Application */
	double		dangling;		/* value of all vertices without an edge out (PAGERANK) */
} Outcome;

/*
 * All arrays are in device memory. Sweeps see lists that may be cut in segments (segments.cuh): list s * nvertices + v is
 * a part of the list of v.
 */
typedef struct Field
{
	uint64_t	nvertices;
	uint64_t	nlists;			/* that sweeps see: a multiple of nvertices; nvertices itself for terms that look at OWN */
	uint64_t	nchunks;
	const uint32_t *list;		/* [nchunks], the list that the chunk's first entry is in */
	double	   *value;			/* [nvertices] */
	double	   *source;			/* [nvertices], what entries read: value, or in PAGERANK value / edges out */
	double	   *sum;			/* [nlists], of a list in the chunk where it begins; nothing when it is empty */
	double	   *head;			/* [nchunks], of the list that began before the chunk, in it */
	const uint64_t *out;		/* [nvertices + 1], offsets of edges out; NULL = counted in degree (PAGERANK) */
	unsigned long long *degree; /* [nvertices], edges out (PAGERANK) */
	double	   *conductance;	/* [nvertices], total; NaN = a pole, which keeps its value (CIRCUIT) */
	double		damping;		/* PAGERANK */
	Outcome    *outcome;
	Outcome    *part;			/* [blocks of finish], outcome before it is reduced */
} Field;

/* The chunks that a sweep reads: first .. upto - 1. */
typedef struct Chunks
{
	uint64_t	first;
	uint64_t	upto;
} Chunks;

/* ---- terms ---- */

struct PlainTerm
{
	static constexpr bool OWN = false;	/* whether it looks at the value of the list's vertex */

	static __device__ __forceinline__ double
	contribution(double other, double own, double weight)
	{
		return other;
	}
};

struct HeatTerm
{
	static constexpr bool OWN = true;

	static __device__ __forceinline__ double
	contribution(double other, double own, double weight)
	{
		return emogi_heat_contribution(other, own, weight);
	}
};

struct WeightedTerm
{
	static constexpr bool OWN = false;

	static __device__ __forceinline__ double
	contribution(double other, double own, double weight)
	{
		return emogi_weighted_contribution(other, weight);
	}
};

struct WeightTerm
{
	static constexpr bool OWN = false;

	static __device__ __forceinline__ double
	contribution(double other, double own, double weight)
	{
		return weight;
	}
};

/* ---- applications: finish gets the new value of vertex v; L1: changes are added, otherwise the largest counts ---- */

struct PageRank
{
	typedef PlainTerm Term;
	static constexpr bool L1 = true;

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		return emogi_pagerank_finish(field.damping, (double) field.nvertices, field.outcome->dangling, sum);
	}

	/* Write what v contributes along each edge out in the next iteration. Get what it cannot. */
	static __device__ __forceinline__ double
	spread(const Field &field, uint64_t v, double value)
	{
		const unsigned long long degree = field.out != NULL ? field.out[v + 1] - field.out[v] : field.degree[v];

		field.source[v] = degree > 0 ? value / (double) degree : 0;
		return degree > 0 ? 0 : value;
	}
};

/* An application whose entries read the values themselves. */
struct Plain
{
	static constexpr bool L1 = false;

	static __device__ __forceinline__ double
	spread(const Field &field, uint64_t v, double value)
	{
		return 0;
	}
};

struct Heat : Plain
{
	typedef HeatTerm Term;

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		return emogi_heat_finish(own, sum);
	}
};

struct Circuit : Plain
{
	typedef WeightedTerm Term;

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		const double conductance = field.conductance[v];

		return conductance == conductance ? emogi_circuit_finish(sum, conductance) : own;
	}
};

struct Neural : Plain
{
	typedef WeightedTerm Term;

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		return filled ? emogi_neural_finish(sum) : own;
	}
};

/* Call use(slot in the chunk, targets[PIECE], weights[PIECE], how many) with the pieces of a chunk. */
template <typename Weight, class Use>
static __device__ __forceinline__ void
read_chunk(const Lists<Target> &lists, uint64_t chunk, Use use)
{
	Piece<Weight> piece[LINE_UNROLL];

#pragma unroll
	for (uint32_t k = 0; k < LINE_UNROLL; k++)
	{
		const uint64_t line = chunk * CHUNK_LINES + k * WARP_LINES + lane_number() / LINE_LANES;

		piece[k] = read_pieces<Weight>(lists, line, line * ENTRIES < lists.nedges);
	}
#pragma unroll
	for (uint32_t k = 0; k < LINE_UNROLL; k++)
	{
		const uint32_t slot = (k * WARP_LANES + lane_number()) * PIECE;
		const uint64_t entry = chunk * CHUNK_ENTRIES + slot;
		Target		target[PIECE];
		double		weight[PIECE];

		memcpy(target, &piece[k].targets, sizeof target);
		unpack_weights(piece[k], weight);
		use(slot, target, weight, entry >= lists.nedges ? 0 : lists.nedges - entry < PIECE ?
			(uint32_t) (lists.nedges - entry) : PIECE);
	}
}

/* Count how often each vertex is a target. Bytes: 4 an entry, and an atomic operation. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
count_degrees(Lists<Target> lists, Field field, Chunks chunks, Step step)
{
	sweep_chunks(step, chunks.first, chunks.upto, [&](uint64_t chunk) {
		read_chunk<NoWeight>(lists, chunk, [&](uint32_t slot, const Target (&target)[PIECE],
											   const double (&weight)[PIECE], uint32_t there) {
#pragma unroll
			for (uint32_t j = 0; j < PIECE; j++)
				if (j < there)
					atomicAdd(&field.degree[target[j]], 1ull);
		});
	});
}

/* What a warp holds of a chunk. */
template <typename Weight>
struct Stage
{
	double		other[CHUNK_ENTRIES];
	Weight		weight[weight_bytes<Weight>() > 0 ? CHUNK_ENTRIES : 1];
};

/* Add the contributions of entries first, first + stride .. below upto of a stage, in this order. */
template <class Term, typename Weight>
static __device__ __forceinline__ double
add_entries(const Stage<Weight> *stage, uint32_t first, uint32_t upto, uint32_t stride, double own)
{
	double		sum = 0;

	for (uint32_t i = first; i < upto; i += stride)
	{
		double		weight = 1.0;

		if constexpr (weight_bytes<Weight>() > 0)
			weight = (double) stage->weight[i];
		sum += Term::contribution(stage->other[i], own, weight);
	}
	return sum;
}

/*
 * Sum the parts of 32 lists that are in a chunk: short ones a lane each, the others by the whole warp, one after
 * another. [low, high) is the own part, as slots. Get its sum.
 */
template <class Term, typename Weight>
static __device__ __forceinline__ double
sum_parts(const Stage<Weight> *stage, uint32_t low, uint32_t high, double own)
{
	const bool	alone = high - low <= SHORT_PART;
	uint32_t	todo = __ballot_sync(FULL_WARP, !alone);
	double		sum = alone ? add_entries<Term>(stage, low, high, 1, own) : 0;

	while (todo != 0)
	{
		const uint32_t lane = __ffs(todo) - 1;
		const uint32_t first = __shfl_sync(FULL_WARP, low, lane);
		const uint32_t upto = __shfl_sync(FULL_WARP, high, lane);
		double		part = add_entries<Term>(stage, first + lane_number(), upto, WARP_LANES,
											 __shfl_sync(FULL_WARP, own, lane));

		todo &= todo - 1;
#pragma unroll
		for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
			part += __shfl_xor_sync(FULL_WARP, part, step);
		if (lane == lane_number())
			sum = part;
	}
	return sum;
}

/*
 * Sum what is in one chunk of every list that is in it. A list of which the chunk has the beginning goes to `sum`, the
 * one that began before to `head`: where sums are cut, and in which order they are added, is a matter of the Graph
 * alone.
 */
template <class Term, typename Weight>
static __device__ __forceinline__ void
sum_chunk(const Lists<Target> &lists, const Field &field, const Stage<Weight> *stage, uint64_t chunk)
{
	const uint64_t begin = chunk * CHUNK_ENTRIES;

	walk_chunk(lists, field.nlists, chunk, field.list[chunk],
			   [&](uint64_t own, uint64_t start, uint64_t stop, uint64_t low, uint64_t high) {
		const bool	filled = low < high;
		const double value = Term::OWN && filled ? field.value[own] : 0;
		const double sum = sum_parts<Term>(stage, filled ? (uint32_t) (low - begin) : 0,
										   filled ? (uint32_t) (high - begin) : 0, value);

		if (filled && start >= begin)
			field.sum[own] = sum;
		else if (filled)
			field.head[chunk] = sum;
	});
}

/*
 * Gather: sum over all lists. Bytes: targets and weights once, in whole lines and ascending; 8 random ones an entry; 16 of
 * offsets and 8 of sums a list (HEAT: 8 of values); 12 a chunk.
 */
template <class Term, typename Weight>
static __global__ void __launch_bounds__(BLOCK_THREADS)
gather(Lists<Target> lists, Field field, Chunks chunks, Step step)
{
	__shared__ Stage<Weight> stages[BLOCK_WARPS];
	Stage<Weight> *stage = &stages[threadIdx.x / WARP_LANES];

	sweep_chunks(step, chunks.first, chunks.upto, [&](uint64_t chunk) {
		__syncwarp();			/* nobody reads the last chunk any more */
		read_chunk<Weight>(lists, chunk, [&](uint32_t slot, const Target (&target)[PIECE],
											 const double (&weight)[PIECE], uint32_t there) {
#pragma unroll
			for (uint32_t j = 0; j < PIECE; j++)
			{
				stage->other[slot + j] = j < there ? __ldg(&field.source[target[j]]) : 0;
				if constexpr (weight_bytes<Weight>() > 0)
					stage->weight[slot + j] = (Weight) weight[j];
			}
		});
		__syncwarp();
		sum_chunk<Term>(lists, field, stage, chunk);
	});
}

/* Get the sum of a whole list, number `own`: its beginning, and the heads of the chunks that it goes on in. */
static __device__ __forceinline__ double
whole_sum(const Field &field, uint64_t own, Span list)
{
	const bool	filled = list.start < list.end;
	const uint64_t first = list.start / CHUNK_ENTRIES;
	const uint64_t more = filled ? (list.end - 1) / CHUNK_ENTRIES - first : 0;
	double		sum = filled ? field.sum[own] : 0;
	uint32_t	todo = __ballot_sync(FULL_WARP, more > SHORT_PART);

	for (uint64_t k = 1; more <= SHORT_PART && k <= more; k++)
		sum += field.head[first + k];
	while (todo != 0)
	{
		const uint32_t lane = __ffs(todo) - 1;
		const uint64_t its_first = __shfl_sync(FULL_WARP, first, lane);
		const uint64_t its_more = __shfl_sync(FULL_WARP, more, lane);
		double		part = 0;

		todo &= todo - 1;
		for (uint64_t k = 1 + lane_number(); k <= its_more; k += WARP_LANES)
			part += field.head[its_first + k];
#pragma unroll
		for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
			part += __shfl_xor_sync(FULL_WARP, part, step);
		if (lane == lane_number())
			sum += part;
	}
	return sum;
}

/* Join the changes of two vertices, or sets of them; NaN stays. */
template <bool L1>
static __device__ __forceinline__ double
join_changes(double a, double b)
{
	return L1 ? a + b : a > b || a != a ? a : b;
}

/* Get by how much a value changed; one that was NaN already has not. */
static __device__ __forceinline__ double
change_of(double old, double value)
{
	return value == old || (value != value && old != old) ? 0 : fabs(value - old);
}

/* Reduce over the block, by a fixed tree; the first thread gets the result. Whole block. */
template <bool L1>
static __device__ __forceinline__ Outcome
block_outcome(Outcome own)
{
	__shared__ Outcome warps[BLOCK_WARPS];

#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
	{
		own.change = join_changes<L1>(own.change, __shfl_xor_sync(FULL_WARP, own.change, step));
		own.dangling += __shfl_xor_sync(FULL_WARP, own.dangling, step);
	}
	__syncthreads();
	if (lane_number() == 0)
		warps[threadIdx.x / WARP_LANES] = own;
	__syncthreads();
	if (threadIdx.x == 0)
		for (uint32_t i = 1; i < BLOCK_WARPS; i++)
		{
			own.change = join_changes<L1>(own.change, warps[i].change);
			own.dangling += warps[i].dangling;
		}
	return own;
}

/*
 * Give every vertex its new value, or, at the START, only spread what it has. Bytes: 8 of sums and 8 of offsets a list,
 * 16 of values a vertex; PAGERANK 16 more; CIRCUIT 8 more.
 */
template <class Application, bool START>
static __global__ void __launch_bounds__(BLOCK_THREADS)
finish(const uint64_t *offsets, Field field)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t thread = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
	Outcome		outcome = {0, 0};

	for (uint64_t base = thread - lane_number(); base < field.nvertices; base += nthreads)
	{
		const uint64_t v = base + lane_number();
		const bool	there = v < field.nvertices;
		double		value = there ? field.value[v] : 0;

		if (!START)
		{
			const double old = value;
			double		sum = 0;
			bool		filled = false;

			for (uint64_t own = v; own - v < field.nlists; own += field.nvertices)
			{
				const Span	list = {there ? offsets[own] : 0, there ? offsets[own + 1] : 0};

				sum += whole_sum(field, own, list);
				filled |= list.start < list.end;
			}
			if (there)
				field.value[v] = value = Application::finish(field, v, old, sum, filled);
			outcome.change = join_changes<Application::L1>(outcome.change, change_of(old, value));
		}
		if (there)
			outcome.dangling += Application::spread(field, v, value);
	}
	outcome = block_outcome<Application::L1>(outcome);
	if (threadIdx.x == 0)
		field.part[blockIdx.x] = outcome;
}

/* Reduce the parts of the blocks, in one block. Bytes: 16 a part. */
template <bool L1>
static __global__ void __launch_bounds__(BLOCK_THREADS)
reduce_outcome(Field field, uint32_t nparts)
{
	Outcome		outcome = {0, 0};

	for (uint32_t i = threadIdx.x; i < nparts; i += BLOCK_THREADS)
	{
		outcome.change = join_changes<L1>(outcome.change, field.part[i].change);
		outcome.dangling += field.part[i].dangling;
	}
	outcome = block_outcome<L1>(outcome);
	if (threadIdx.x == 0)
		*field.outcome = outcome;
}

/* Give every vertex 1/n. Bytes: 8 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
start_ranks(Field field)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < field.nvertices; v += nthreads)
		field.value[v] = 1.0 / (double) field.nvertices;
}

/*
 * Take over the conductances that were gathered; a vertex with a start value is a pole instead, one without starts from
 * 0. Bytes: 24 a vertex, 8 of offsets.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
start_circuit(const uint64_t *offsets, Field field)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t base = own - lane_number(); base < field.nvertices; base += nthreads)
	{
		const uint64_t v = base + lane_number();
		const bool	there = v < field.nvertices;
		const Span	list = {there ? offsets[v] : 0, there ? offsets[v + 1] : 0};
		const double sum = whole_sum(field, v, list);

		if (there && field.value[v] == field.value[v])
			field.conductance[v] = (double) NAN;
		else if (there)
		{
			field.conductance[v] = sum;
			field.value[v] = 0;
		}
	}
}

#endif							/* EMOGI_GATHER_CUH */
