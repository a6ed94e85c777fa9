/*
 * closeness.cu: closeness, of searches from all vertices or from samples.
 *
 * Returns reached, farness, closeness and harmonic, [nvertices] each: what the table of algorithms says, bit for bit what the CPU does
 * (engine/cpu/closeness.c).
 *
 * Method. 64 searches at a time share what they read [1]: a vertex has a word, and bit s of it belongs to source s. Level by level words are
 * pushed along the lists of the frontier into `next`, or, where that is less work, gathered by what has not been reached by all, until it has
 * them [1, 2]. A list that a vertex reads is read in lines, by eight lanes; lists above SLICE_LINES lines are cut into slices for any warp.
 * Exactly: the vertices that each source enters are counted level by level. With samples the searches go against the edges, and those that have
 * entered a vertex are counted there, level by level, 64 samples after 64 [3]. Counts are integers, and sums of 1 / hops are made in ascending
 * order of hops, as on the CPU.
 *
 * Every level costs some launches and a look by the host. So a graph on which MOST_LEVELS levels are not enough is left to the CPU, and so are
 * samples whose searches share too little, for there the CPU makes them apart, and adds in another order.
 *
 * Device memory, for n vertices: 56n.
 *
 * Bytes of a level: 24 a vertex; pushing, the lists of the frontier and 8 to 16 at random for each entry; pulling, 8 of offsets a vertex, the lists
 * as far as they are read, and 8 at random for each entry.
 *
 * [1] M. Then et al. The More the Merrier: Efficient Multi-Source Graph Traversal. PVLDB 8(4), 2014. Sections 3, 4.1.2, 4.2.
 * [2] S. Beamer, K. Asanovic, D. Patterson. Direction-Optimizing Breadth-First Search. SC 2012. Section IV.
 * [3] D. Eppstein, J. Wang. Fast Approximation of Centrality. J. Graph Algorithms and Applications 8(1), 2004. Section 4.
 */
#include <stdlib.h>

#include "contract/closeness.h"
#include "contract/sample.h"
#include "push.cuh"

/* Tuned. */
#define MOST_LEVELS 1024
#define PUSH_COST 3				/* of a list entry pushed, against one pulled */
#define ROUNDS 16				/* of a warp between two looks at cancel */

#define SOURCES EMOGI_CLOSENESS_TOGETHER

typedef unsigned long long Word;	/* a bit for each source of a batch */

/* What a level has come to. */
typedef struct Level
{
	Word		active;			/* sources that have entered a vertex */
	unsigned long long vertices;	/* that were entered */
	unsigned long long edges;	/* entries of their lists, along which searches go */
	unsigned long long open_edges;	/* entries of the lists, against searches, of vertices that the sources active before have yet to reach */
	unsigned long long entered; /* vertices by source, added up */
} Level;

/* What has come of the searches from each source of a batch. */
typedef struct Sums
{
	unsigned long long count[SOURCES];
	unsigned long long sum[SOURCES];
	double		harmonic[SOURCES];
} Sums;

/* A batch of searches. Arrays are in device memory. */
typedef struct Searches
{
	uint64_t	nvertices;
	Lists<Target> along;		/* that searches go along */
	Lists<Target> against;
	Word	   *seen;			/* [nvertices], who has reached the vertex */
	Word	   *front;			/* [nvertices], who did so in the last level */
	Word	   *next;			/* [nvertices], and will in this one */
	Level	   *now;			/* of the level that is being made */
	Level	   *told;			/* of the last one */
	unsigned long long *counts; /* [SOURCES], vertices entered in the level; NULL with samples */
	Sums	   *sums;			/* exactly: of the batch */
	uint32_t   *sources;		/* [SOURCES], of the batch */
	int64_t    *reached;		/* [nvertices], with samples: how many have reached the vertex, until the end */
	double	   *farness;		/* [nvertices], the sum of their hops, likewise */
	double	   *closeness;		/* [nvertices] */
	double	   *harmonic;		/* [nvertices] */
} Searches;

/* What a thread has found in a level. */
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

/* Enter a vertex, which `seen` had reached before, for the sources of `fresh`, none of which had. */
static __device__ __forceinline__ void
enter_vertex(const Searches &searches, uint64_t v, Word seen, Word fresh, Word active, uint32_t level, Tally *tally)
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
		tally->level.open_edges += list_length(searches.against, v);
}

/* Count the words of the warp's vertices by source. Whole warps. */
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

/* Add what the threads of a block have found. Whole block. */
static __device__ void
leave_tally(const Searches &searches, const Step &step, const Tally &tally)
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
				atomicAdd(&searches.counts[half * WARP_LANES + lane_number()], (unsigned long long) tally.counts[half]);
}

/*
 * Give each group of LINE_LANES lanes the lists of the warp's lanes that `has`, a line at a time, the next list when one is done. look(targets,
 * wanted, word, so_far) gets the own piece of a line, the entries that are the list's, and the list's word, and says whether no more of the list
 * is wanted; *so_far begins as 0. done(lane, so_far), by the first lane of the group, ends a list. Whole warps.
 */
template <class Look, class Done>
static __device__ __forceinline__ void
deal_lists(const Lists<Target> &lists, bool has, Span list, Word word, unsigned long long *nread, Look look, Done done)
{
	const uint32_t group = lane_number() / LINE_LANES;
	const uint32_t shift = lane_number() % LINE_LANES * PIECE;
	uint32_t	todo = __ballot_sync(FULL_WARP, has);
	uint32_t	owner = WARP_LANES; /* the lane whose list the group reads; WARP_LANES = none */
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
			const uint32_t wanted = reads ? overlap<Target>(its, line) >> shift & ((1u << PIECE) - 1) : 0;
			Target		target[PIECE];
			bool		ends;

			memcpy(target, &piece, sizeof target);
			ends = look(target, wanted, its_word, &so_far);
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

/* Get the words of entries from `from` to `upto` - 1 of a piece, those that are wanted, together. */
static __device__ __forceinline__ Word
gather_words(const Word *front, const Target (&target)[PIECE], uint32_t wanted, uint32_t from, uint32_t upto)
{
	Word		word = 0;

#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		if (j >= from && j < upto && (wanted >> j & 1) != 0)
			word |= __ldg(&front[target[j]]);
	return word;
}

/* Get the words of groups of so many lanes together. */
static __device__ __forceinline__ Word
join_words(Word word, uint32_t nlanes)
{
#pragma unroll
	for (uint32_t step = 1; step < nlanes; step *= 2)
		word |= __shfl_xor_sync(FULL_WARP, word, step);
	return word;
}

/*
 * Fill next by looking back from every vertex that an active source has yet to reach, and enter what is found; lists above SLICE_LINES lines are
 * queued. Bytes: as the first comment says.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_pull_kernel(Searches searches, uint32_t level, Step step)
{
	__shared__ Word found[BLOCK_WARPS][WARP_LANES];
	Word	   *own_found = found[threadIdx.x / WARP_LANES];
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t nwords = (searches.nvertices + WARP_LANES - 1) / WARP_LANES;
	const Word	active = searches.told->active;
	Tally		tally = {};
	uint32_t	round = 0;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; w < nwords; w += nwarps)
	{
		const uint64_t v = w * WARP_LANES + lane_number();
		const bool	there = v < searches.nvertices;
		const Word	seen = there ? searches.seen[v] : ~(Word) 0;
		const Word	want = active & ~seen;
		const Span	list = want != 0 ? whole_list(searches.against, v) : Span{0, 0};
		const uint64_t nlines = count_lines<Target>(list);
		Word		fresh;

		if (++round % ROUNDS == 0 && __any_sync(FULL_WARP, must_leave(step)))
			break;
		queue_slices(step, nlines > SLICE_LINES, (uint32_t) v, nlines, 0);
		own_found[lane_number()] = 0;
		__syncwarp();
		deal_lists(searches.against, nlines > 0 && nlines <= SLICE_LINES, list, want, &tally.lines,
				   [&](const Target (&target)[PIECE], uint32_t wanted, Word its_want, Word *so_far) {
			Word		word = *so_far | gather_words(searches.front, target, wanted, 0, 1);

			tally.entries += __popc(wanted);
			word = join_words(word, LINE_LANES);
			if ((word & its_want) != its_want)
				word |= gather_words(searches.front, target, wanted, 1, PIECE);
			*so_far = join_words(word, LINE_LANES);
			return (*so_far & its_want) == its_want;
		},
				   [&](uint32_t lane, Word word) {
			own_found[lane] = word;
		});
		__syncwarp();
		fresh = own_found[lane_number()] & want;
		__syncwarp();
		if (there)
			searches.next[v] = fresh;
		count_sources(searches, fresh, &tally);
		if (there && nlines <= SLICE_LINES)
			enter_vertex(searches, v, seen, fresh, active, level, &tally);
	}
	leave_tally(searches, step, tally);
}

/* Fill next of the long lists that were queued, slice by slice. Bytes: a line, and 8 at random for each entry. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_pull_slices_kernel(Searches searches, Step step)
{
	const Word	active = searches.told->active;
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_slices(step, [&](Slice slice) {
		const Span	list = whole_list(searches.against, slice.vertex);
		const Word	want = active & ~searches.seen[slice.vertex] & ~*(volatile Word *) &searches.next[slice.vertex];
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, list, &first);
		const Span	part = clip_slice(list, first, nlines);
		Word		word = 0;

		for (uint32_t i = lane_number() / LINE_LANES; __any_sync(FULL_WARP, i < nlines && (word & want) != want); i += WARP_LINES)
		{
			const uint4 piece = i < nlines ? read_piece(searches.against.targets, first + i) : make_uint4(0, 0, 0, 0);
			const uint32_t wanted = i < nlines ? overlap<Target>(part, first + i) >> lane_number() % LINE_LANES * PIECE & ((1u << PIECE) - 1) : 0;
			Target		target[PIECE];

			memcpy(target, &piece, sizeof target);
			word |= gather_words(searches.front, target, wanted, 0, PIECE);
			nread += i < nlines && lane_number() % LINE_LANES == 0;
			entries += __popc(wanted);
			word = join_words(word, WARP_LANES);
		}
		if (lane_number() == 0 && (word & want) != 0)
			atomicOr(&searches.next[slice.vertex], word & want);
	});
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* Enter the vertices whose lists were queued, a lane each; the first slice stands for all. Bytes: 40 a slice. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_enter_slices_kernel(Searches searches, uint32_t level, Step step)
{
	const uint64_t nslices = step.counters->nslices;
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
	const Word	active = searches.told->active;
	Tally		tally = {};

	for (uint64_t base = own - lane_number(); base < nslices; base += nthreads)
	{
		const uint64_t i = base + lane_number();
		const Slice slice = i < nslices ? step.slices[i] : Slice{0, 1};
		const Word	fresh = slice.index == 0 ? searches.next[slice.vertex] : 0;

		count_sources(searches, fresh, &tally);
		if (slice.index == 0)
			enter_vertex(searches, slice.vertex, searches.seen[slice.vertex], fresh, active, level, &tally);
	}
	leave_tally(searches, step, tally);
}

/* Push a word to the entries of a piece that are wanted and have not seen all of it. */
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

/* Push along the lists of the frontier into next; lists above SLICE_LINES lines are queued. Bytes: as the first comment says. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_push_kernel(Searches searches, Step step)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t nwords = (searches.nvertices + WARP_LANES - 1) / WARP_LANES;
	unsigned long long nread = 0;
	unsigned long long entries = 0;
	uint32_t	round = 0;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; w < nwords; w += nwarps)
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
		deal_lists(searches.along, nlines > 0 && nlines <= SLICE_LINES, list, word, &nread,
				   [&](const Target (&target)[PIECE], uint32_t wanted, Word its_word, Word *so_far) {
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

/* Push along the long lists that were queued, slice by slice. Bytes: a line, and 8 to 16 at random for each entry. */
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
			const uint32_t wanted = overlap<Target>(part, first + i) >> lane_number() % LINE_LANES * PIECE & ((1u << PIECE) - 1);
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

/* Enter what was pushed, and clear the frontier. Bytes: 24 a vertex, and what is entered. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_enter_kernel(Searches searches, uint32_t level, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
	const Word	active = searches.told->active;
	Tally		tally = {};

	for (uint64_t base = own - lane_number(); base < searches.nvertices; base += nthreads)
	{
		const uint64_t v = base + lane_number();
		const bool	there = v < searches.nvertices;
		const Word	seen = there ? searches.seen[v] : 0;
		const Word	pushed = there ? searches.next[v] : 0;
		const Word	fresh = pushed & ~seen;

		if (pushed != fresh)
			searches.next[v] = fresh;
		if (there)
			searches.front[v] = 0;
		count_sources(searches, fresh, &tally);
		if (there)
			enter_vertex(searches, v, seen, fresh, active, level, &tally);
	}
	leave_tally(searches, step, tally);
}

/* Enter the sources of a batch, [nsources], which are different. One block of SOURCES threads. */
static __global__ void __launch_bounds__(SOURCES)
closeness_begin_kernel(Searches searches, uint32_t nsources)
{
	const uint32_t s = threadIdx.x;
	const Level none = {};

	if (searches.counts != NULL)
	{
		searches.counts[s] = 0;
		searches.sums->count[s] = s < nsources ? 1 : 0;
		searches.sums->sum[s] = 0;
		searches.sums->harmonic[s] = 0;
	}
	if (s < nsources)
	{
		const uint32_t v = searches.sources[s];

		searches.seen[v] = searches.front[v] = (Word) 1 << s;
		if (searches.counts == NULL)
			searches.reached[v]++;
	}
	if (s == 0)
	{
		*searches.now = *searches.told = none;
		searches.told->active = ~(Word) 0 >> (SOURCES - nsources);
	}
}

/* Take a level that is over. One block of SOURCES threads. */
static __global__ void __launch_bounds__(SOURCES)
closeness_end_level_kernel(Searches searches, uint32_t level, Step step)
{
	const uint32_t s = threadIdx.x;
	const Level none = {};

	if (s == 0)
	{
		*searches.told = *searches.now;
		*searches.now = none;
		step.counters->nslices = 0;
	}
	if (searches.counts != NULL && searches.counts[s] > 0)
	{
		const unsigned long long count = searches.counts[s];

		searches.sums->count[s] += count;
		searches.sums->sum[s] += count * level;
		searches.sums->harmonic[s] += (double) count / (double) level;
		searches.counts[s] = 0;
	}
}

/* Write what has come of a batch. One block of SOURCES threads. */
static __global__ void __launch_bounds__(SOURCES)
closeness_write_kernel(Searches searches, uint32_t nsources)
{
	const uint32_t s = threadIdx.x;

	if (s < nsources)
	{
		const uint32_t v = searches.sources[s];
		const double sum = (double) searches.sums->sum[s];

		searches.reached[v] = (int64_t) searches.sums->count[s];
		searches.farness[v] = sum;
		searches.closeness[v] = emogi_closeness_of((double) searches.nvertices, (double) (searches.sums->count[s] - 1), sum);
		searches.harmonic[v] = searches.sums->harmonic[s];
	}
}

/*
 * Make estimates of what was added up of the samples: of those that are other vertices than the one in question, as of all others. samples: bitmap.
 * Bytes: 56 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_estimate_kernel(Searches searches, const uint32_t *samples, uint64_t nsamples)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const double n = (double) searches.nvertices;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < searches.nvertices; v += nthreads)
	{
		const int64_t is_sample = samples[v / 32] >> v % 32 & 1;
		const double nothers = (double) nsamples - (double) is_sample;
		const double scale = nothers > 0.0 ? (n - 1.0) / nothers : 0.0;
		const double others = (double) (searches.reached[v] - is_sample) * scale;
		const double sum = searches.farness[v] * scale;

		searches.reached[v] = 1 + llround(others);
		searches.farness[v] = sum;
		searches.closeness[v] = emogi_closeness_of(n, others, sum);
		searches.harmonic[v] *= scale;
	}
}

static const void *const kernels[] = {
	(const void *) closeness_pull_kernel, (const void *) closeness_push_kernel, (const void *) closeness_pull_slices_kernel,
	(const void *) closeness_push_slices_kernel, (const void *) closeness_enter_slices_kernel, (const void *) closeness_enter_kernel,
	(const void *) closeness_begin_kernel, (const void *) closeness_end_level_kernel, (const void *) closeness_write_kernel,
	(const void *) closeness_estimate_kernel, (const void *) push_mark_sources_kernel
};

#define EDGE_KERNELS 4			/* of these, that read edges by blocks as many as fit */

EmogiStatus
emogi_cuda_closeness_load(EmogiError *error)
{
	return LOAD_KERNELS(kernels);
}

/* A run. */
typedef struct Closeness
{
	Run		   *run;
	const EmogiGraph *graph;
	Searches	searches;
	const uint32_t *sources;	/* [nsources], on the host; NULL = all vertices, in their order */
	uint64_t	nsources;
	bool		next_dirty;		/* next is not all zero */
} Closeness;

/* Push along the frontier's lists, and enter what was found. */
static EmogiStatus
push_level(Closeness *closeness, uint32_t level, EmogiError *error)
{
	Run		   *run = closeness->run;
	const Searches &searches = closeness->searches;
	cudaStream_t stream = run->state->stream;

	if (closeness->next_dirty)
		CUDA_TRY(cudaMemsetAsync(searches.next, 0, run->nvertices * sizeof(Word), stream));
	CUDA_LAUNCH(closeness_push_kernel, run->nblocks, BLOCK_THREADS, stream, searches, run->step);
	CUDA_LAUNCH(closeness_push_slices_kernel, run->nblocks, BLOCK_THREADS, stream, searches, run->step);
	CUDA_LAUNCH(closeness_enter_kernel, run->full_blocks, BLOCK_THREADS, stream, searches, level, run->step);
	closeness->next_dirty = false;
	return EMOGI_OK;
}

/* Make a level by looking back. */
static EmogiStatus
pull_level(Closeness *closeness, uint32_t level, EmogiError *error)
{
	Run		   *run = closeness->run;
	const Searches &searches = closeness->searches;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(closeness_pull_kernel, run->nblocks, BLOCK_THREADS, stream, searches, level, run->step);
	CUDA_LAUNCH(closeness_pull_slices_kernel, run->nblocks, BLOCK_THREADS, stream, searches, run->step);
	CUDA_LAUNCH(closeness_enter_slices_kernel, run->full_blocks, BLOCK_THREADS, stream, searches, level, run->step);
	closeness->next_dirty = true;
	return EMOGI_OK;
}

/* Make a level, the one that less work is needed for; *last: what the level before came to, then what this one has. */
static EmogiStatus
make_level(Closeness *closeness, uint32_t level, Level *last, EmogiError *error)
{
	Run		   *run = closeness->run;
	Searches   *searches = &closeness->searches;
	Word	   *swap = searches->front;

	if (last->open_edges < last->edges * PUSH_COST)
		TRY(pull_level(closeness, level, error));
	else
		TRY(push_level(closeness, level, error));
	CUDA_LAUNCH(closeness_end_level_kernel, 1, SOURCES, run->state->stream, *searches, level, run->step);
	searches->front = searches->next;
	searches->next = swap;
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, searches->told, sizeof *last, cudaMemcpyDeviceToHost, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	*last = *(const Level *) run->state->mailbox;
	return EMOGI_OK;
}

/* Say whether a search with more to come is left to the CPU after a level. */
static EmogiStatus
check_depth(const Closeness *closeness, bool is_first, uint32_t level, uint64_t nsources, uint64_t nreached, EmogiError *error)
{
	if (closeness->sources != NULL && is_first && level == EMOGI_CLOSENESS_FEW_HOPS &&
		emogi_closeness_is_apart(closeness->run->nvertices, nsources, nreached))
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "searches from samples so far from each other are faster on the CPU",
								 "in %u hops %llu of them reach %llu vertices each", level, (unsigned long long) nsources,
								 (unsigned long long) (nreached / nsources));
	if (level == MOST_LEVELS)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "searches so deep are faster on the CPU", "more than %u hops", level);
	return EMOGI_OK;
}

/* Choose the sources of a batch and enter them; *last: what that comes to. */
static EmogiStatus
begin_batch(Closeness *closeness, uint64_t first, uint64_t nsources, Level *last, EmogiError *error)
{
	const EmogiAdjacency *along = closeness->sources != NULL ? &closeness->graph->backward : &closeness->graph->forward;
	const EmogiAdjacency *against = closeness->sources != NULL ? &closeness->graph->forward : &closeness->graph->backward;
	Run		   *run = closeness->run;
	Searches   *searches = &closeness->searches;
	uint32_t	sources[SOURCES];
	cudaStream_t stream = run->state->stream;

	*last = Level{};
	last->vertices = nsources;
	last->open_edges = against->nedges;
	for (uint64_t s = 0; s < nsources; s++)
	{
		sources[s] = closeness->sources != NULL ? closeness->sources[first + s] : (uint32_t) (first + s);
		last->edges += along->offsets[sources[s] + UINT64_C(1)] - along->offsets[sources[s]];
	}
	TRY(emogi_run_send(run, searches->sources, sources, nsources * sizeof *sources, error));
	CUDA_TRY(cudaMemsetAsync(searches->seen, 0, run->nvertices * sizeof(Word), stream));
	CUDA_TRY(cudaMemsetAsync(searches->front, 0, run->nvertices * sizeof(Word), stream));
	closeness->next_dirty = true;
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(closeness_begin_kernel, 1, SOURCES, stream, *searches, (uint32_t) nsources);
	return EMOGI_OK;
}

/* Search from a batch of sources. */
static EmogiStatus
run_batch(Closeness *closeness, uint64_t first, uint64_t nsources, EmogiResult *result, EmogiError *error)
{
	Run		   *run = closeness->run;
	uint64_t	nreached = nsources;
	uint32_t	level = 0;
	Level		last;

	TRY(begin_batch(closeness, first, nsources, &last, error));
	while (last.edges > 0 && last.open_edges > 0)
	{
		run->control->level = ++level;
		TRY(make_level(closeness, level, &last, error));
		nreached += last.entered;
		if (last.vertices > 0 && level + 1 > result->nlevels)
			result->nlevels = level + 1;
		if (last.vertices > 0)
			TRY(check_depth(closeness, first == 0, level, nsources, nreached, error));
	}
	if (closeness->searches.counts != NULL)
		CUDA_LAUNCH(closeness_write_kernel, 1, SOURCES, run->state->stream, closeness->searches, (uint32_t) nsources);
	return EMOGI_OK;
}

/* Turn what was added up of the samples into estimates. */
static EmogiStatus
estimate(const Closeness *closeness, EmogiError *error)
{
	Run		   *run = closeness->run;
	const Searches &searches = closeness->searches;
	cudaStream_t stream = run->state->stream;
	uint32_t   *samples = (uint32_t *) searches.front;	/* nobody reads words any more */
	uint32_t   *vertices = (uint32_t *) searches.next;

	TRY(emogi_run_send(run, vertices, closeness->sources, closeness->nsources * sizeof *vertices, error));
	CUDA_TRY(cudaMemsetAsync(samples, 0, run->nwords * sizeof *samples, stream));
	CUDA_LAUNCH(push_mark_sources_kernel, run->full_blocks, BLOCK_THREADS, stream, vertices, closeness->nsources, samples);
	CUDA_LAUNCH(closeness_estimate_kernel, run->full_blocks, BLOCK_THREADS, stream, searches, samples, closeness->nsources);
	return EMOGI_OK;
}

/* Take all device memory but the Graph's. */
static EmogiStatus
take_arrays(Closeness *closeness, EmogiError *error)
{
	Searches   *searches = &closeness->searches;
	DeviceMemory *memory = &closeness->run->memory;
	const uint64_t n = closeness->run->nvertices;

	searches->nvertices = n;
	TRY(take_array(memory, &searches->seen, n, "words of searches", error));
	TRY(take_array(memory, &searches->front, n, "words of searches", error));
	TRY(take_array(memory, &searches->next, n, "words of searches", error));
	TRY(take_array(memory, &searches->reached, n, "vertices reached", error));
	TRY(take_array(memory, &searches->farness, n, "farness", error));
	TRY(take_array(memory, &searches->closeness, n, "closeness", error));
	TRY(take_array(memory, &searches->harmonic, n, "harmonic closeness", error));
	TRY(take_array(memory, &searches->now, 2, "levels", error));
	TRY(take_array(memory, &searches->sources, SOURCES, "sources", error));
	searches->told = searches->now + 1;
	if (closeness->sources != NULL)
		return EMOGI_OK;
	TRY(take_array(memory, &searches->counts, SOURCES, "counts of a level", error));
	return take_array(memory, &searches->sums, 1, "sums of a batch", error);
}

/* Search from all sources. */
static EmogiStatus
search_all(Closeness *closeness, EmogiResult *result, EmogiError *error)
{
	Run		   *run = closeness->run;
	Searches   *searches = &closeness->searches;
	const uint64_t bytes = run->nvertices * sizeof *searches->reached;

	if (closeness->sources != NULL)
	{
		CUDA_TRY(cudaMemsetAsync(searches->reached, 0, bytes, run->state->stream));
		CUDA_TRY(cudaMemsetAsync(searches->farness, 0, bytes, run->state->stream));
		CUDA_TRY(cudaMemsetAsync(searches->harmonic, 0, bytes, run->state->stream));
	}
	result->nlevels = 1;
	run->control->total = closeness->nsources;
	for (uint64_t first = 0; first < closeness->nsources; first += SOURCES)
	{
		const uint64_t left = closeness->nsources - first;

		run->control->done = first;
		if (run->control->cancel)
			return EMOGI_CANCELED;
		TRY(run_batch(closeness, first, left < SOURCES ? left : SOURCES, result, error));
	}
	return closeness->sources != NULL ? estimate(closeness, error) : EMOGI_OK;
}

/* Place the Graph, search, and give the answer. */
static EmogiStatus
run_closeness(Closeness *closeness, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Run		   *run = closeness->run;
	Searches   *searches = &closeness->searches;
	const bool	turns = closeness->sources != NULL;
	const Counters *counters;

	TRY(take_arrays(closeness, error));
	TRY(emogi_run_place(run, closeness->graph, query, PLACE_BACKWARD_SURELY, kernels, EDGE_KERNELS, sizeof(Target), error));
	searches->along = turns ? run->graph.backward : run->graph.forward;
	searches->against = turns ? run->graph.forward : run->graph.backward;
	TRY(emogi_run_start_clock(run, error));
	TRY(search_all(closeness, result, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_read(run, &counters, error));
	emogi_run_account(run, counters, result);
	result->nreached = run->nvertices;
	TRY(emogi_run_give(run, query, result, 0, searches->reached, error));
	TRY(emogi_run_give(run, query, result, 1, searches->farness, error));
	TRY(emogi_run_give(run, query, result, 2, searches->closeness, error));
	return emogi_run_give(run, query, result, 3, searches->harmonic, error);
}

EmogiStatus
emogi_cuda_closeness(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Closeness	closeness = {};
	uint32_t   *samples = NULL;
	EmogiStatus status;

	closeness.run = run;
	closeness.graph = graph;
	closeness.nsources = emogi_sample_count(run->nvertices, query);
	if (emogi_sample_is_partial(run->nvertices, query))
	{
		const bool	fails = run->control->fail_allocation == 1; /* for a test; it is the only one of a run */

		samples = fails ? NULL : (uint32_t *) malloc(closeness.nsources * sizeof *samples);
		if (samples == NULL)
			return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%llu samples", (unsigned long long) closeness.nsources);
		emogi_sample_choose(run->nvertices, closeness.nsources, query->seed, samples);
	}
	closeness.sources = samples;
	status = run_closeness(&closeness, query, result, error);
	(void) cudaStreamSynchronize(run->state->stream);	/* a copy may be on its way from `samples` */
	free(samples);
	return status;
}
