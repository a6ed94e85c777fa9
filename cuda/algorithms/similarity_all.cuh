/*
 * similarity_all.cuh: kernels of the most similar vertices. similarity_all.cu describes the method
 * and launches them.
 */
#ifndef EMOGI_SIMILARITY_ALL_CUH
#define EMOGI_SIMILARITY_ALL_CUH

#include "cuda/access/push.cuh"
#include "cuda/algorithms/similarity.cuh"

/* Not tuned. */
#define MIN_TABLE 1024			/* slots in shared memory; the other tables have two and four
								 * times as many */
#define TABLES 3
#define MAX_IN(table) ((table) / 4 * 3)	/* max vertices in a table */
#define ROOM 1024				/* for candidates */
#define MAX_BEST 512			/* of a vertex: the room must hold as many, and one more round */
#define FEW_CANDIDATES 64		/* plus four times top_k: the best are selected when there are
								 * more */
#define LONG_LIST 2048			/* entries: the whole block processes such a neighbor's list */
#define MAX_LONG 512			/* of a vertex; further ones are processed by one warp each */

static_assert(MAX_BEST + BLOCK_THREADS <= ROOM, "after the best a round must have room");

/* Arrays in device memory. */
typedef struct TopSimilar
{
	uint64_t	nvertices;
	EmogiMeasure measure;
	double		cutoff;
	uint32_t	top_k;
	uint32_t   *size;			/* [nvertices], number of distinct neighbors */
	/*
	 * [TABLES][nvertices], vertices by table; those with too many candidates from the end of the
	 * first row backward
	 */
	uint32_t   *order;
	unsigned long long *length; /* [TABLES + 1], number of vertices; the last is for those with
								 * too many candidates */
	uint32_t   *counts;			/* [blocks][nvertices], counters in device memory; 0 between
								 * vertices */
	uint32_t   *touched;		/* [blocks][nvertices], vertices with nonzero counters */
	uint32_t   *vertex2;		/* [nvertices * top_k] */
	double	   *similarity;		/* [nvertices * top_k] */
} TopSimilar;

/* A candidate for the best. */
typedef struct Candidate
{
	unsigned long long key;		/* bits of the similarity, which is > 0; 0 = none */
	uint32_t	vertex;
} Candidate;

/* State of a block, in shared memory. */
typedef struct Scratch
{
	unsigned long long key[ROOM];
	uint32_t	vertex[ROOM];
	uint32_t	ncandidates;
	uint32_t	ntouched;
	uint32_t	nlong;
	/* last of the best so far if there are top_k of them: later candidates are skipped */
	Candidate	last;
} Scratch;

/* Say whether a candidate precedes another. */
static __device__ __forceinline__ bool
comes_before(Candidate one, Candidate other)
{
	return one.key > other.key || (one.key == other.key && one.vertex < other.vertex);
}

/* Say whether entry e of a list exists and differs from the entry before. */
static __device__ __forceinline__ bool
is_distinct(const Target *targets, Span list, uint64_t e)
{
	return e >= list.start && e < list.end &&
		(e == list.start || __ldg(&targets[e]) != __ldg(&targets[e - 1]));
}

/* Get the span of a list. */
static __device__ __forceinline__ Span
read_span(const Lists<Target> &lists, uint32_t vertex)
{
	return Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[(uint64_t) vertex + 1])};
}

/* Say whether the kernel must stop; checks in every 16th round. Called by whole warps. */
static __device__ __forceinline__ bool
must_stop(const Step &step, uint32_t round)
{
	return round % 16 == 15 && __any_sync(FULL_WARP,
										  lane_number() == 0 && must_leave_polling(step, round));
}

/*
 * Group vertices by their possible number of candidates, one warp each. Bytes: the lists, and 16 at
 * random an entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
similarity_sort_kernel(Lists<Target> lists, Lists<Target> back, TopSimilar top, Step step)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	uint32_t	round = 0;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;
		 v < top.nvertices; v += nwarps)
	{
		const Span	list = read_span(lists, (uint32_t) v);
		unsigned long long max = 0;

		for (uint64_t base = list.start; base < list.end; base += WARP_LANES)
		{
			const uint64_t e = base + lane_number();

			if (is_distinct(lists.targets, list, e))
			{
				const Span	span = read_span(back, __ldg(&lists.targets[e]));

				max += span.end - span.start;
			}
			if (must_stop(step, round++))
				return;			/* canceled: the incomplete order is not used */
		}
		max = warp_sum(max);
		if (lane_number() == 0)
		{
			uint32_t	table = 0;
			uint64_t	place;

			while (table < TABLES && max > MAX_IN((uint64_t) MIN_TABLE << table))
				table++;
			place = atomicAdd(&top.length[table], 1ull);
			top.order[table < TABLES ? table * top.nvertices + place :
					  top.nvertices - 1 - place] = (uint32_t) v;
		}
	}
}

/* Counts in shared memory. */
template <uint32_t TABLE>
struct FewCounts
{
	uint32_t   *vertex;			/* [TABLE], EMOGI_NO_VERTEX = free */
	uint32_t   *count;			/* [TABLE] */

	__device__ __forceinline__ void
	begin(Scratch *scratch) const
	{
		for (uint32_t i = threadIdx.x; i < TABLE; i += BLOCK_THREADS)
		{
			vertex[i] = EMOGI_NO_VERTEX;
			count[i] = 0;
		}
	}

	/* Count a vertex if `there`. Called by whole warps. */
	__device__ __forceinline__ void
	add(Scratch *scratch, bool there, uint32_t w) const
	{
		uint32_t	place = w * 0x9E3779B1u / (UINT32_MAX / TABLE + 1);

		if (!there)
			return;
		for (;; place = (place + 1) % TABLE)
		{
			const uint32_t known = atomicCAS(&vertex[place], EMOGI_NO_VERTEX, w);

			if (known == EMOGI_NO_VERTEX || known == w)
				break;
		}
		atomicAdd(&count[place], 1u);
	}

	/* Get the number of slots to scan. */
	__device__ __forceinline__ uint32_t
	length(const Scratch *scratch) const
	{
		return TABLE;
	}

	/* Get the count in a slot, and its vertex; 0 = empty. */
	__device__ __forceinline__ uint32_t
	take(uint32_t place, uint32_t *w) const
	{
		*w = vertex[place];
		return count[place];
	}
};

/* Counts in device memory. */
struct ManyCounts
{
	uint32_t   *counts;			/* [nvertices] */
	uint32_t   *touched;		/* [nvertices] */

	__device__ __forceinline__ void
	begin(Scratch *scratch) const
	{
		if (threadIdx.x == 0)
			scratch->ntouched = 0;
	}

	__device__ __forceinline__ void
	add(Scratch *scratch, bool there, uint32_t w) const
	{
		const bool	is_new = there && atomicAdd(&counts[w], 1u) == 0;
		const uint32_t lanes = __ballot_sync(FULL_WARP, is_new);
		uint32_t	place = 0;

		if (lanes == 0)
			return;
		if (lane_number() == 0)
			place = atomicAdd(&scratch->ntouched, (uint32_t) __popc(lanes));
		place = __shfl_sync(FULL_WARP, place, 0) + __popc(lanes & lanes_below());
		if (is_new)
			touched[place] = w;
	}

	__device__ __forceinline__ uint32_t
	length(const Scratch *scratch) const
	{
		return scratch->ntouched;
	}

	__device__ __forceinline__ uint32_t
	take(uint32_t place, uint32_t *w) const
	{
		*w = touched[place];
		return atomicExch(&counts[*w], 0u);
	}
};

/*
 * Count the targets of a list except v, with `stride` adjacent threads; rank: of this thread.
 * Called by whole warps.
 */
template <class Counts>
static __device__ __forceinline__ void
count_list(const Counts &counts, Scratch *scratch, const Lists<Target> &back, Span list, uint32_t v,
		   uint32_t rank, uint32_t stride)
{
	for (uint64_t base = list.start / ENTRIES * ENTRIES; base < list.end; base += stride)
	{
		const bool	is_one = is_distinct(back.targets, list, base + rank);
		const uint32_t w = is_one ? __ldg(&back.targets[base + rank]) : v;

		counts.add(scratch, w != v, w);
	}
}

/*
 * Count the common neighbors of v and each other vertex. Called by the whole block. *nread,
 * *entries: per thread. The counts are incomplete if the kernel must stop.
 */
template <class Counts>
static __device__ __forceinline__ void
count_shared(const Counts &counts, Scratch *scratch, uint32_t *longs, const Lists<Target> &lists,
			 const Lists<Target> &back, uint32_t v, const Step &step, unsigned long long *nread,
			 unsigned long long *entries)
{
	const Span	list = read_span(lists, v);
	uint32_t	round = 0;

	for (uint64_t e = list.start + threadIdx.x / WARP_LANES; e < list.end; e += BLOCK_WARPS)
	{
		const uint32_t shared = __ldg(&lists.targets[e]);
		const Span	span = is_distinct(lists.targets, list, e) ? read_span(back, shared) :
			Span{0, 0};
		uint32_t	place = MAX_LONG;

		*nread += lane_number() == 0 ? count_lines<Target>(span) : 0;
		*entries += lane_number() == 0 ? span.end - span.start : 0;
		if (lane_number() == 0 && span.end - span.start > LONG_LIST)
			place = atomicAdd(&scratch->nlong, 1u);
		place = __shfl_sync(FULL_WARP, place, 0);
		if (place >= MAX_LONG)
			count_list(counts, scratch, back, span, v, lane_number(), WARP_LANES);
		else if (lane_number() == 0)
			longs[place] = shared;
		if (must_stop(step, round++))
			break;
	}
	__syncthreads();
	for (uint32_t i = 0; i < scratch->nlong && i < MAX_LONG; i++)
	{
		count_list(counts, scratch, back, read_span(back, longs[i]), v, threadIdx.x, BLOCK_THREADS);
		if (must_stop(step, round++))
			break;
	}
	__syncthreads();
}

/* Get the first of a warp's candidates, and its position. */
static __device__ __forceinline__ Candidate
first_of_warp(Candidate candidate, uint32_t *place)
{
#pragma unroll
	for (uint32_t lanes = WARP_LANES / 2; lanes > 0; lanes /= 2)
	{
		const Candidate other = {__shfl_xor_sync(FULL_WARP, candidate.key, lanes),
			__shfl_xor_sync(FULL_WARP, candidate.vertex, lanes)};
		const uint32_t its_place = __shfl_xor_sync(FULL_WARP, *place, lanes);

		if (comes_before(other, candidate))
		{
			candidate = other;
			*place = its_place;
		}
	}
	return candidate;
}

/*
 * Move the best candidates to the front, in order, at most `max` of them. Called by a whole warp.
 */
static __device__ __forceinline__ void
select_best(Scratch *scratch, uint32_t max)
{
	const uint32_t count = scratch->ncandidates;
	const uint32_t nkept = count < max ? count : max;
	Candidate	first = {0, EMOGI_NO_VERTEX};

	for (uint32_t i = 0; i < nkept; i++)
	{
		uint32_t	place = i;

		first = Candidate{0, EMOGI_NO_VERTEX};
		for (uint32_t j = i + lane_number(); j < count; j += WARP_LANES)
		{
			const Candidate candidate = {scratch->key[j], scratch->vertex[j]};

			if (comes_before(candidate, first))
			{
				first = candidate;
				place = j;
			}
		}
		first = first_of_warp(first, &place);
		__syncwarp();			/* all lanes have read */
		if (lane_number() == 0)
		{
			scratch->key[place] = scratch->key[i];
			scratch->vertex[place] = scratch->vertex[i];
			scratch->key[i] = first.key;
			scratch->vertex[i] = first.vertex;
		}
		__syncwarp();
	}
	if (lane_number() == 0)
	{
		scratch->ncandidates = nkept;
		if (nkept == max)
			scratch->last = first;
	}
}

/* Keep only the best candidates, in order. Called by the whole block, between barriers. */
static __device__ __forceinline__ void
keep_best(Scratch *scratch, uint32_t max)
{
	if (threadIdx.x < WARP_LANES)
		select_best(scratch, max);
	__syncthreads();
}

/* Select the best of the counted vertices, and clear the counts. Called by the whole block. */
template <class Counts>
static __device__ __forceinline__ void
find_best(const Counts &counts, Scratch *scratch, const TopSimilar &top, uint32_t v)
{
	const uint32_t length = counts.length(scratch);
	const uint32_t size = top.size[v];
	const uint32_t few = 4 * top.top_k + FEW_CANDIDATES < ROOM - BLOCK_THREADS ?
		4 * top.top_k + FEW_CANDIDATES :
		ROOM - BLOCK_THREADS;

	for (uint32_t base = 0; base < length; base += BLOCK_THREADS)
	{
		uint32_t	w;
		const uint32_t count = base + threadIdx.x < length ? counts.take(base + threadIdx.x, &w) :
			0;
		uint32_t	ncandidates;

		if (count > 0)
		{
			const double similarity = similarity_of(top.measure, size, top.size[w], count);
			const Candidate candidate = {(unsigned long long) __double_as_longlong(similarity), w};

			if (similarity >= top.cutoff && comes_before(candidate, scratch->last))
			{
				const uint32_t i = atomicAdd(&scratch->ncandidates, 1u);

				scratch->key[i] = candidate.key;
				scratch->vertex[i] = w;
			}
		}
		__syncthreads();
		ncandidates = scratch->ncandidates;
		__syncthreads();
		if (ncandidates > few)
			keep_best(scratch, top.top_k);
	}
	keep_best(scratch, top.top_k);
}

/* Write the best of a vertex. Called by the whole block. */
static __device__ __forceinline__ void
write_best(const Scratch *scratch, const TopSimilar &top, uint32_t v)
{
	for (uint32_t i = threadIdx.x; i < top.top_k; i += BLOCK_THREADS)
	{
		const bool	there = i < scratch->ncandidates;

		top.vertex2[(uint64_t) v * top.top_k + i] = there ? scratch->vertex[i] :
			EMOGI_NO_VERTEX;
		top.similarity[(uint64_t) v * top.top_k + i] = there ?
			__longlong_as_double((long long) scratch->key[i]) : 0.0;
	}
}

/*
 * Process `count` vertices, which get_vertex(ticket) hands out one at a time. Called by whole
 * blocks.
 */
template <class Counts, class GetVertex>
static __device__ __forceinline__ void
answer_vertices(const Counts &counts, const Lists<Target> &lists, const Lists<Target> &back,
				const TopSimilar &top, const Step &step, uint64_t count, GetVertex get_vertex)
{
	__shared__ Scratch scratch;
	__shared__ uint32_t longs[MAX_LONG];
	__shared__ uint32_t ticket;
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	for (;;)
	{
		uint32_t	v;

		__syncthreads();
		if (threadIdx.x == 0)
		{
			ticket = take_ticket(step);
			scratch.ncandidates = scratch.nlong = 0;
			scratch.last = Candidate{0, EMOGI_NO_VERTEX};
		}
		counts.begin(&scratch);
		__syncthreads();
		if (ticket >= count)
			break;
		v = get_vertex(ticket);
		count_shared(counts, &scratch, longs, lists, back, v, step, &nread, &entries);
		find_best(counts, &scratch, top, v);
		write_best(&scratch, top, v);
	}
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* Process the vertices whose candidates fit in table NUMBER. Bytes: see the head of the file. */
template <uint32_t NUMBER>
static __global__ void __launch_bounds__(BLOCK_THREADS)
similarity_few_kernel(Lists<Target> lists, Lists<Target> back, TopSimilar top, Step step)
{
	constexpr uint32_t TABLE = MIN_TABLE << NUMBER;
	__shared__ uint32_t vertex[TABLE];
	__shared__ uint32_t count[TABLE];

	answer_vertices(FewCounts<TABLE>{vertex, count}, lists, back, top, step, top.length[NUMBER],
					[&](uint32_t ticket) {
		return top.order[NUMBER * top.nvertices + ticket];
	});
}

/* Process the vertices with counters in device memory. Bytes: see the head of the file. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
similarity_many_kernel(Lists<Target> lists, Lists<Target> back, TopSimilar top, Step step)
{
	const uint64_t own = blockIdx.x * top.nvertices;

	answer_vertices(ManyCounts{top.counts + own, top.touched + own}, lists, back, top, step,
					top.length[TABLES],
					[&](uint32_t ticket) { return top.order[top.nvertices - 1 - ticket]; });
}

#endif							/* EMOGI_SIMILARITY_ALL_CUH */
