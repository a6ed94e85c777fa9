/*
 * closeness_levels.cuh: kernels of closeness that begin and end levels and batches, and write the
 * result. closeness.cu describes the method and launches them.
 */
#ifndef EMOGI_CLOSENESS_LEVELS_CUH
#define EMOGI_CLOSENESS_LEVELS_CUH

#include "cuda/algorithms/closeness.cuh"

/*
 * Enter the vertices that received pushes, and clear the frontier. Bytes: 24 a vertex, and the
 * entered vertices' own.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_enter_kernel(Searches searches, uint32_t level, Step step)
{
	const Word	active = searches.previous->active;
	Tally		tally = {};

	for (uint64_t base = first_of_warp(); base < searches.nvertices; base += grid_threads())
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
	add_tally(searches, step, tally);
}

/* Enter the sources of a batch, [nsources]; samples are distinct. One block of SOURCES threads. */
static __global__ void __launch_bounds__(SOURCES)
closeness_begin_kernel(Searches searches, uint32_t nsources)
{
	const uint32_t s = threadIdx.x;

	if (searches.counts != NULL)
	{
		searches.counts[s] = 0;
		searches.sums->count[s] = s < nsources && searches.first_level == 0 ? 1 : 0;
		searches.sums->sum[s] = 0;
		searches.sums->harmonic[s] = 0;
		searches.sums->min[s] = searches.sums->max[s] = 0;
	}
	if (s < nsources)
	{
		const uint32_t v = searches.sources[s];

		atomicOr(&searches.seen[v], (Word) 1 << s);
		atomicOr(&searches.front[v], (Word) 1 << s);
		if (searches.counts == NULL)
			searches.reached[v]++;
	}
	if (s == 0)
	{
		*searches.now = Level{};
		*searches.previous = Level{~(Word) 0 >> (SOURCES - nsources), nsources, 0, 0, nsources};
	}
}

/* End a level: fold its counters into the sums. One block of SOURCES threads. */
static __global__ void __launch_bounds__(SOURCES)
closeness_end_level_kernel(Searches searches, uint32_t level, Step step)
{
	const uint32_t s = threadIdx.x;

	if (s == 0)
	{
		*searches.previous = *searches.now;
		*searches.now = Level{};
		step.counters->nslices = 0;
	}
	if (searches.counts != NULL && searches.counts[s] > 0)
	{
		const unsigned long long count = searches.counts[s];

		if (level >= searches.first_level)
		{
			if (searches.sums->count[s] == 0)
				searches.sums->min[s] = level;
			searches.sums->max[s] = level;
			searches.sums->count[s] += count;
			searches.sums->sum[s] += count * level;
			searches.sums->harmonic[s] += (double) count / (double) level;
		}
		searches.counts[s] = 0;
	}
}

/* Write the results of a batch. One block of SOURCES threads. */
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
		searches.closeness[v] = emogi_closeness_of((double) searches.nvertices,
												   (double) (searches.sums->count[s] - 1), sum);
		searches.harmonic[v] = searches.sums->harmonic[s];
	}
}

/*
 * Turn sample sums into estimates: scale those over the samples other than v to all vertices other
 * than v. samples: bitmap. Bytes: 56 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
closeness_estimate_kernel(Searches searches, const uint32_t *samples, uint64_t nsamples)
{
	const double n = (double) searches.nvertices;

	for_each(searches.nvertices, [&](uint64_t v) {
		const int64_t is_sample = samples[v / 32] >> v % 32 & 1;
		const double nothers = (double) nsamples - (double) is_sample;
		const double scale = nothers > 0.0 ? (n - 1.0) / nothers : 0.0;
		const double others = (double) (searches.reached[v] - is_sample) * scale;
		const double sum = searches.farness[v] * scale;

		searches.reached[v] = 1 + llround(others);
		searches.farness[v] = sum;
		searches.closeness[v] = emogi_closeness_of(n, others, sum);
		searches.harmonic[v] *= scale;
	});
}

#endif							/* EMOGI_CLOSENESS_LEVELS_CUH */
