/*
 * closeness.cuh: kernels of closeness. closeness.cu describes the method and launches them.
 */
#ifndef EMOGI_CLOSENESS_CUH
#define EMOGI_CLOSENESS_CUH

#include "contract/closeness_formula.h"
#include "cuda/access/push.cuh"

/* Tuned. */
#define PULL_BLOCKS 4			/* per multiprocessor */
#define ROUNDS 16				/* of a warp between two checks for cancellation */

#define SOURCES EMOGI_CLOSENESS_BATCH

typedef unsigned long long Word;	/* one bit for each source of a batch */

/* Counters of a level. */
typedef struct Level
{
	Word		active;			/* sources whose search reached a new vertex */
	unsigned long long vertices;	/* vertices reached */
	unsigned long long edges;	/* edges of their lists, in search direction */
	unsigned long long open_edges;	/* edges of the reverse lists of vertices not yet reached by
									 * all sources that were active before; one a vertex if there
									 * are no reverse lists */
	unsigned long long entered;	/* (vertex, source) pairs reached */
} Level;

/* Results of the searches from each source of a batch, over the levels that count. */
typedef struct Sums
{
	unsigned long long count[SOURCES];
	unsigned long long sum[SOURCES];
	double		harmonic[SOURCES];
	uint32_t	min[SOURCES];
	uint32_t	max[SOURCES];
} Sums;

/* A batch of searches. Arrays are in device memory. */
typedef struct Searches
{
	uint64_t	nvertices;
	uint32_t	first_level;	/* first level that counts */
	Lists<Target> along;		/* lists in search direction */
	Lists<Target> against;		/* reverse lists; offsets NULL = not available, so nothing is
								 * pulled */
	Word	   *seen;			/* [nvertices], sources that have reached the vertex */
	Word	   *front;			/* [nvertices], sources that reached it in the last level */
	Word	   *next;			/* [nvertices], sources that reach it in this level */
	Level	   *now;			/* counters of the current level */
	Level	   *previous;		/* counters of the last level */
	unsigned long long *counts;	/* [SOURCES], vertices reached in this level; NULL with samples */
	Sums	   *sums;			/* of the batch, when exact */
	uint32_t   *sources;		/* [SOURCES], of the batch */

	/* Result columns, [nvertices] each: */
	int64_t    *reached;		/* with samples, until the end: number of samples that reached
								 * the vertex */
	double	   *farness;		/* with samples, until the end: the sum of their hops */
	double	   *closeness;
	double	   *harmonic;
} Searches;

/* Counters of a thread in a level. */
typedef struct Tally
{
	Level		level;
	unsigned long long lines;
	unsigned long long entries;
	uint32_t	counts[SOURCES / WARP_LANES];	/* of the sources lane, lane + 32 */
} Tally;

static __device__ __forceinline__ uint64_t
list_length(const Lists<Target> &lists, uint64_t v)
{
	return __ldg(&lists.offsets[v + 1]) - __ldg(&lists.offsets[v]);
}

static __device__ __forceinline__ Span
whole_list(const Lists<Target> &lists, uint64_t v)
{
	return Span{__ldg(&lists.offsets[v]), __ldg(&lists.offsets[v + 1])};
}

/* Record that the sources in `fresh` reach a vertex. `seen`: the sources that reached it before. */
static __device__ __forceinline__ void
enter_vertex(const Searches &searches, uint64_t v, Word seen, Word fresh, Word active,
			 uint32_t level, Tally *tally)
{
	const unsigned long long count = __popcll(fresh);

	if (fresh != 0)
	{
		searches.seen[v] = seen | fresh;
		tally->level.active |= fresh;
		tally->level.vertices++;
		tally->level.edges += list_length(searches.along, v);
		tally->level.entered += count;
	}
	if (fresh != 0 && searches.counts == NULL)
	{
		searches.reached[v] += (int64_t) count;
		searches.farness[v] += (double) (count * level);
		searches.harmonic[v] += (double) count / (double) level;
	}
	if ((active & ~(seen | fresh)) != 0)
		tally->level.open_edges += searches.against.offsets != NULL ?
			list_length(searches.against, v) : 1;
}

/* Count the warp's vertices by source. Called by whole warps. */
static __device__ __forceinline__ void
count_sources(const Searches &searches, Word fresh, Tally *tally)
{
	if (searches.counts == NULL || !__any_sync(FULL_WARP, fresh != 0))
		return;
#pragma unroll
	for (uint32_t half = 0; half < SOURCES / WARP_LANES; half++)
	{
		const uint32_t bits = (uint32_t) (fresh >> half * WARP_LANES);

#pragma unroll
		for (uint32_t s = 0; s < WARP_LANES; s++)
		{
			const uint32_t count = __popc(__ballot_sync(FULL_WARP, bits >> s & 1));

			tally->counts[half] += s == lane_number() ? count : 0;
		}
	}
}

/* Add the counters of a block's threads. Called by the whole block. */
static __device__ void
add_tally(const Searches &searches, const Step &step, const Tally &tally)
{
	__shared__ Word active;

	block_add(&searches.now->vertices, tally.level.vertices);
	block_add(&searches.now->edges, tally.level.edges);
	block_add(&searches.now->open_edges, tally.level.open_edges);
	block_add(&searches.now->entered, tally.level.entered);
	block_add(&step.counters->lines, tally.lines);
	block_add(&step.counters->entries, tally.entries);
	if (threadIdx.x == 0)
		active = 0;
	__syncthreads();
	if (tally.level.active != 0)
		atomicOr(&active, tally.level.active);
	__syncthreads();
	if (threadIdx.x == 0 && active != 0)
		atomicOr(&searches.now->active, active);
	if (searches.counts != NULL)
#pragma unroll
		for (uint32_t half = 0; half < SOURCES / WARP_LANES; half++)
			if (tally.counts[half] > 0)
				atomicAdd(&searches.counts[half * WARP_LANES + lane_number()],
						  (unsigned long long) tally.counts[half]);
}

/*
 * Assign the lists of the warp's lanes with `has` to groups of LINE_LANES lanes, which read a line
 * at a time and take the next list after the last line. visit(targets, wanted, word, so_far) gets
 * the lane's piece of a line, the mask of entries that belong to the list, and the list's word. It
 * returns whether the rest of the list can be skipped; *so_far starts as 0. done(lane, so_far) is
 * called by the first lane of the group at the end of a list. Called by whole warps.
 */
template <class Visit, class Done>
static __device__ __forceinline__ void
assign_lists(const Lists<Target> &lists, bool has, Span list, Word word, unsigned long long *nread,
			 Visit visit, Done done)
{
	const uint32_t group = lane_number() / LINE_LANES;
	const uint32_t shift = lane_number() % LINE_LANES * PIECE;
	uint32_t	todo = __ballot_sync(FULL_WARP, has);
	uint32_t	owner = WARP_LANES;	/* the lane whose list the group reads; WARP_LANES = none */
	Span		its = {0, 0};
	Word		its_word = 0;
	Word		so_far = 0;
	uint64_t	line = 0;

	for (;;)
	{
		const uint32_t idle = __ballot_sync(FULL_WARP, owner == WARP_LANES);

		if (idle == FULL_WARP && todo == 0)
			break;
		if (idle != 0 && todo != 0)
		{
			const bool	was_idle = owner == WARP_LANES;
			Span		taken;
			Word		taken_word;

#pragma unroll
			for (uint32_t g = 0; g < WARP_LINES; g++)
				if ((idle >> g * LINE_LANES & 1) != 0 && todo != 0)
				{
					owner = g == group ? __ffs(todo) - 1 : owner;
					todo &= todo - 1;
				}
			taken.start = __shfl_sync(FULL_WARP, list.start, owner % WARP_LANES);
			taken.end = __shfl_sync(FULL_WARP, list.end, owner % WARP_LANES);
			taken_word = __shfl_sync(FULL_WARP, word, owner % WARP_LANES);
			if (was_idle && owner != WARP_LANES)
			{
				its = taken;
				its_word = taken_word;
				so_far = 0;
				line = its.start / ENTRIES;
			}
		}
		{
			const bool	reads = owner != WARP_LANES;
			const uint4 piece = reads ? read_piece(lists.targets, line) : make_uint4(0, 0, 0, 0);
			const uint32_t wanted = reads ? overlap<Target>(its, line) >> shift &
				((1u << PIECE) - 1) : 0;
			Target		target[PIECE];
			bool		ends;

			memcpy(target, &piece, sizeof target);
			ends = visit(target, wanted, its_word, &so_far);
			*nread += reads && lane_number() % LINE_LANES == 0;
			if (reads && (ends || ++line * ENTRIES >= its.end))
			{
				if (lane_number() % LINE_LANES == 0)
					done(owner, so_far);
				owner = WARP_LANES;
			}
		}
	}
}

/* Combine the words of the wanted entries `from` .. `upto` - 1 of a piece. */
static __device__ __forceinline__ Word
gather_words(const Word *front, const Target (&target)[PIECE], uint32_t wanted, uint32_t from,
			 uint32_t upto)
{
	Word		word = 0;

#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		if (j >= from && j < upto && (wanted >> j & 1) != 0)
			word |= __ldg(&front[target[j]]);
	return word;
}

/* Combine the words of groups of nlanes lanes. */
static __device__ __forceinline__ Word
join_words(Word word, uint32_t nlanes)
{
#pragma unroll
	for (uint32_t step = 1; step < nlanes; step *= 2)
		word |= __shfl_xor_sync(FULL_WARP, word, step);
	return word;
}

/*
 * Fill `next` by reading the reverse list of every vertex that an active source has not reached,
 * and enter the vertices found. Lists above SLICE_LINES lines are queued. Bytes: see closeness.cu.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS, PULL_BLOCKS)
closeness_pull_kernel(Searches searches, uint32_t level, Step step)
{
	__shared__ Word found[BLOCK_WARPS][WARP_LANES];
	Word	   *own_found = found[threadIdx.x / WARP_LANES];
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t nwords = (searches.nvertices + WARP_LANES - 1) / WARP_LANES;
	const Word	active = searches.previous->active;
	Tally		tally = {};
	uint32_t	round = 0;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; w < nwords;
		 w += nwarps)
	{
		const uint64_t v = w * WARP_LANES + lane_number();
		const bool	there = v < searches.nvertices;
		const Word	seen = there ? searches.seen[v] : ~(Word) 0;
		const Word	missing = active & ~seen;
		const Span	list = missing != 0 ? whole_list(searches.against, v) : Span{0, 0};
		const uint64_t nlines = count_lines<Target>(list);
		Word		fresh;

		if (++round % ROUNDS == 0 && __any_sync(FULL_WARP, must_leave(step)))
			break;
		queue_slices(step, nlines > SLICE_LINES, (uint32_t) v, nlines, 0);
		own_found[lane_number()] = 0;
		__syncwarp();
		assign_lists(searches.against, nlines > 0 && nlines <= SLICE_LINES, list, missing,
					 &tally.lines,
					 [&](const Target (&target)[PIECE], uint32_t wanted, Word its_missing,
						 Word *so_far) {
			Word		word = *so_far | gather_words(searches.front, target, wanted, 0, 1);

			tally.entries += __popc(wanted);
			word = join_words(word, LINE_LANES);
			if ((word & its_missing) != its_missing)
				word |= gather_words(searches.front, target, wanted, 1, PIECE);
			*so_far = join_words(word, LINE_LANES);
			return (*so_far & its_missing) == its_missing;
		},
				   [&](uint32_t lane, Word word) {
			own_found[lane] = word;
		});
		__syncwarp();
		fresh = own_found[lane_number()] & missing;
		__syncwarp();
		if (there)
			searches.next[v] = fresh;
		count_sources(searches, fresh, &tally);
		if (there && nlines <= SLICE_LINES)
			enter_vertex(searches, v, seen, fresh, active, level, &tally);
	}
	add_tally(searches, step, tally);
}

/*
 * Fill `next` for the long lists that were queued, slice by slice. Bytes: a line, and 8 at random
 * an entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_pull_slices_kernel(Searches searches, Step step)
{
	const Word	active = searches.previous->active;
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_slices(step, [&](Slice slice) {
		const Span	list = whole_list(searches.against, slice.vertex);
		const Word	missing = active & ~searches.seen[slice.vertex] &
			~*(volatile Word *) &searches.next[slice.vertex];
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, list, &first);
		const Span	part = clip_slice(list, first, nlines);
		Word		word = 0;

		for (uint32_t i = lane_number() / LINE_LANES;
			 __any_sync(FULL_WARP, i < nlines && (word & missing) != missing); i += WARP_LINES)
		{
			const uint4 piece = i < nlines ? read_piece(searches.against.targets, first + i) :
				make_uint4(0, 0, 0, 0);
			const uint32_t wanted = i < nlines ?
				overlap<Target>(part, first + i) >> lane_number() % LINE_LANES * PIECE &
				((1u << PIECE) - 1) : 0;
			Target		target[PIECE];

			memcpy(target, &piece, sizeof target);
			word |= gather_words(searches.front, target, wanted, 0, PIECE);
			nread += i < nlines && lane_number() % LINE_LANES == 0;
			entries += __popc(wanted);
			word = join_words(word, WARP_LANES);
		}
		if (lane_number() == 0 && (word & missing) != 0)
			atomicOr(&searches.next[slice.vertex], word & missing);
	});
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/*
 * Enter the vertices of the queued lists, one lane each; only the first slice of a list counts.
 * Bytes: 40 a slice.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_enter_slices_kernel(Searches searches, uint32_t level, Step step)
{
	const uint64_t nslices = step.counters->nslices;
	const Word	active = searches.previous->active;
	Tally		tally = {};

	for (uint64_t base = first_of_warp(); base < nslices; base += grid_threads())
	{
		const uint64_t i = base + lane_number();
		const Slice slice = i < nslices ? step.slices[i] : Slice{0, 1};
		const Word	fresh = slice.index == 0 ? searches.next[slice.vertex] : 0;

		count_sources(searches, fresh, &tally);
		if (slice.index == 0)
			enter_vertex(searches, slice.vertex, searches.seen[slice.vertex], fresh, active, level,
						 &tally);
	}
	add_tally(searches, step, tally);
}

/* Push a word to the wanted entries of a piece that have not seen all of it. */
static __device__ __forceinline__ void
push_word(const Searches &searches, const Target (&target)[PIECE], uint32_t wanted, Word word)
{
	Word		seen[PIECE];

#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		seen[j] = (wanted >> j & 1) != 0 ? __ldg(&searches.seen[target[j]]) : ~(Word) 0;
#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		if ((word & ~seen[j]) != 0)
			atomicOr(&searches.next[target[j]], word & ~seen[j]);
}

/*
 * Push along the frontier's lists into `next`. Lists above SLICE_LINES lines are queued. Bytes: see
 * closeness.cu.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_push_kernel(Searches searches, Step step)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t nwords = (searches.nvertices + WARP_LANES - 1) / WARP_LANES;
	unsigned long long nread = 0;
	unsigned long long entries = 0;
	uint32_t	round = 0;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; w < nwords;
		 w += nwarps)
	{
		const uint64_t v = w * WARP_LANES + lane_number();
		const Word	word = v < searches.nvertices ? searches.front[v] : 0;
		const Span	list = word != 0 ? whole_list(searches.along, v) : Span{0, 0};
		const uint64_t nlines = count_lines<Target>(list);

		if (++round % ROUNDS == 0 && __any_sync(FULL_WARP, must_leave(step)))
			break;
		if (!__any_sync(FULL_WARP, nlines > 0))
			continue;
		queue_slices(step, nlines > SLICE_LINES, (uint32_t) v, nlines, 0);
		assign_lists(searches.along, nlines > 0 && nlines <= SLICE_LINES, list, word, &nread,
					 [&](const Target (&target)[PIECE], uint32_t wanted, Word its_word,
						 Word *so_far) {
			entries += __popc(wanted);
			push_word(searches, target, wanted, its_word);
			return false;
		},
				   [](uint32_t lane, Word so_far) {
		});
	}
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/*
 * Push along the long lists that were queued, slice by slice. Bytes: a line, and 8 to 16 at random
 * an entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_push_slices_kernel(Searches searches, Step step)
{
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_slices(step, [&](Slice slice) {
		const Span	list = whole_list(searches.along, slice.vertex);
		const Word	word = searches.front[slice.vertex];
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, list, &first);
		const Span	part = clip_slice(list, first, nlines);

		for (uint32_t i = lane_number() / LINE_LANES; i < nlines; i += WARP_LINES)
		{
			const uint4 piece = read_piece(searches.along.targets, first + i);
			const uint32_t wanted = overlap<Target>(part, first + i) >> lane_number() % LINE_LANES *
				PIECE & ((1u << PIECE) - 1);
			Target		target[PIECE];

			memcpy(target, &piece, sizeof target);
			push_word(searches, target, wanted, word);
			nread += lane_number() % LINE_LANES == 0;
			entries += __popc(wanted);
		}
	});
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

#endif							/* EMOGI_CLOSENESS_CUH */
