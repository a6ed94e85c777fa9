/*
 * closeness.cu: closeness, from all vertices or from samples, and per-source sums over BFS levels.
 *
 * Returns reached, farness, closeness and harmonic, [nvertices] each; or count, sum, least, most
 * and harmonic, [nsources] each. They are defined in the table of algorithms, and equal the CPU's
 * bit for bit (engine/cpu/closeness.c, bfs_sums.c).
 *
 * Method. 64 searches at a time share their reads [1]: a vertex has a word, and bit s of it belongs
 * to source s. Level by level, words are pushed along the lists of the frontier into `next`, or
 * pulled by the vertices that not all sources have reached, until they have all bits, whichever is
 * less work [1, 2]. Eight lanes read a list line by line; lists above SLICE_LINES lines are cut
 * into slices for any warp. Exact closeness counts the vertices that each source reaches, level by
 * level. With samples the searches follow the edges in reverse, and each vertex counts the samples
 * that reach it, level by level, 64 samples at a time [3]. Counts are integers, and sums of 1 /
 * hops are added in ascending order of hops, as on the CPU.
 *
 * Every level costs some launches and a round trip to the host. So a graph with more levels than
 * its work justifies is left to the CPU. So are samples whose searches share too little, because
 * the CPU then runs them separately and adds in another order.
 *
 * All vertices, and given sources, are processed in parts, some of them by other GPUs
 * (by_source.cuh); the result of a source does not depend on the others.
 *
 * Device memory, for n vertices: 56n, or 24n with given sources, whose results are copied to the
 * host after each 64. Host memory of closeness with other GPUs: 32 a vertex that they have
 * processed.
 *
 * Bytes of a level: 24 a vertex. Push: the lists of the frontier and 8 to 16 at random an entry.
 * Pull: 8 of offsets a vertex, the lists as far as they are read, and 8 at random an entry.
 *
 * [1] M. Then et al. The More the Merrier: Efficient Multi-Source Graph Traversal. PVLDB 8(4),
 *     2014. Sections 3, 4.1.2, 4.2.
 * [2] S. Beamer, K. Asanovic, D. Patterson. Direction-Optimizing Breadth-First Search. SC 2012.
 *     Section IV.
 * [3] D. Eppstein, J. Wang. Fast Approximation of Centrality. J. Graph Algorithms and Applications
 *     8(1), 2004. Section 4.
 */
#include <stdlib.h>

#include "cuda/algorithms/closeness_levels.cuh"
#include "contract/sample.h"
#include "cuda/multi_gpu/by_source.cuh"

/* Tuned. */
#define MIN_LEVELS 64			/* max levels of a search, plus one for */
#define LEVEL_ENTRIES 40000		/* each LEVEL_ENTRIES list entries: with fewer entries a level is
								 * faster on the CPU */
#define PUSH_COST 3				/* of a pushed list entry relative to a pulled one */
#define MIN_BATCHES 2			/* of a part: what a GPU takes at once */
#define COLUMNS 4				/* of closeness, 8 bytes a vertex each */

/* They read edges, with as many blocks as fit on the device. */
static const void *const edge_kernels[] = {
	(const void *) closeness_pull_kernel, (const void *) closeness_push_kernel,
	(const void *) closeness_pull_slices_kernel, (const void *) closeness_push_slices_kernel
};

/* State shared by all GPUs. */
typedef struct Answers
{
	const uint32_t *sources;	/* [nsources]; NULL = all vertices, in order */
	uint64_t	nsources;
	bool		are_samples;	/* results are by vertex, not by source */
	/* result columns, [nsources] each, in host memory; NULL = closeness */
	const EmogiArray *sums;
	uint64_t	nreached[EMOGI_MAX_PARTS];	/* sum over all sources of a part */
	double	   *rows[EMOGI_MAX_PARTS];
		/*
		 * closeness: [COLUMNS][sources of the part], rows that helpers computed, copied from their
		 * memory; otherwise NULL
		 */
} Answers;

/* State of one GPU. */
typedef struct Closeness
{
	Run		   *run;
	BySource   *parts;
	Answers    *all;
	const EmogiGraph *graph;
	Searches	searches;
	const uint32_t *sources;	/* as in `all` */
	uint64_t	nsources;
	int64_t		max_depth;		/* -1 = unlimited */
	uint64_t	nslices;		/* estimate of the slices of long lists in a level */
	bool		next_dirty;		/* `next` is not all zero */
} Closeness;

/* Get the grid size for nthreads threads, at most `max`: small graphs have many short levels. */
static int
count_blocks(int max, uint64_t nthreads)
{
	const uint64_t nblocks = nthreads / BLOCK_THREADS + 1;

	return nblocks < (uint64_t) max ? (int) nblocks : max;
}

/* Run a level by pushing along the frontier's lists. */
static EmogiStatus
push_level(Closeness *closeness, uint32_t level, EmogiError *error)
{
	Run		   *run = closeness->run;
	const Searches &searches = closeness->searches;
	cudaStream_t stream = run->state->stream;

	if (closeness->next_dirty)
		CUDA_TRY(cudaMemsetAsync(searches.next, 0, run->nvertices * sizeof(Word), stream));
	CUDA_LAUNCH(closeness_push_kernel, count_blocks(run->nblocks, run->nvertices), BLOCK_THREADS,
				stream, searches, run->step);
	CUDA_LAUNCH(closeness_push_slices_kernel,
				count_blocks(run->nblocks, WARP_LANES * closeness->nslices), BLOCK_THREADS, stream,
				searches, run->step);
	CUDA_LAUNCH(closeness_enter_kernel, count_blocks(run->full_blocks, run->nvertices),
				BLOCK_THREADS, stream, searches, level, run->step);
	closeness->next_dirty = false;
	return EMOGI_OK;
}

/* Run a level by pulling. */
static EmogiStatus
pull_level(Closeness *closeness, uint32_t level, EmogiError *error)
{
	Run		   *run = closeness->run;
	const Searches &searches = closeness->searches;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(closeness_pull_kernel, count_blocks(run->nblocks, run->nvertices), BLOCK_THREADS,
				stream, searches, level, run->step);
	CUDA_LAUNCH(closeness_pull_slices_kernel,
				count_blocks(run->nblocks, WARP_LANES * closeness->nslices), BLOCK_THREADS, stream,
				searches, run->step);
	CUDA_LAUNCH(closeness_enter_slices_kernel, count_blocks(run->full_blocks, closeness->nslices),
				BLOCK_THREADS, stream, searches, level, run->step);
	closeness->next_dirty = true;
	return EMOGI_OK;
}

/*
 * Run a level in the cheaper direction, the first one by pushing. *last: counters of the previous
 * level, then of this one.
 */
static EmogiStatus
make_level(Closeness *closeness, uint32_t level, Level *last, EmogiError *error)
{
	Run		   *run = closeness->run;
	Searches   *searches = &closeness->searches;
	Word	   *swap = searches->front;

	if (level > 1 && searches->against.offsets != NULL &&
		last->open_edges < last->edges * PUSH_COST)
		TRY(pull_level(closeness, level, error));
	else
		TRY(push_level(closeness, level, error));
	CUDA_LAUNCH(closeness_end_level_kernel, 1, SOURCES, run->state->stream, *searches, level,
				run->step);
	searches->front = searches->next;
	searches->next = swap;
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, searches->previous, sizeof *last,
							 cudaMemcpyDeviceToHost, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	*last = *(const Level *) run->state->mailbox;
	return EMOGI_OK;
}

/* Fail if a search that is not finished after this level is left to the CPU. */
static EmogiStatus
check_depth(const Closeness *closeness, bool is_first, uint32_t level, uint64_t nsources,
			uint64_t nreached, EmogiError *error)
{
	if (closeness->all->are_samples && is_first && level == EMOGI_CLOSENESS_FEW_HOPS &&
		emogi_closeness_is_per_thread(closeness->run->nvertices, nsources, nreached))
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "searches from samples this far apart are faster on the CPU",
								 "in %u hops %llu of them reach %llu vertices each", level,
								 (unsigned long long) nsources,
								 (unsigned long long) (nreached / nsources));
	if (level > MIN_LEVELS + closeness->graph->forward.nedges / LEVEL_ENTRIES)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "searches this deep over so few edges are faster on the CPU",
								 "%u hops or more", level);
	return EMOGI_OK;
}

/* Choose the sources of a batch, and enter them. */
static EmogiStatus
begin_batch(Closeness *closeness, uint64_t first, uint64_t nsources, EmogiError *error)
{
	Run		   *run = closeness->run;
	Searches   *searches = &closeness->searches;
	uint32_t	sources[SOURCES];
	cudaStream_t stream = run->state->stream;

	for (uint64_t s = 0; s < nsources; s++)
		sources[s] = closeness->sources != NULL ? closeness->sources[first + s] :
			(uint32_t) (first + s);
	TRY(emogi_run_send(run, searches->sources, sources, nsources * sizeof *sources, error));
	CUDA_TRY(cudaMemsetAsync(searches->seen, 0, run->nvertices * sizeof(Word), stream));
	CUDA_TRY(cudaMemsetAsync(searches->front, 0, run->nvertices * sizeof(Word), stream));
	closeness->next_dirty = true;
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(closeness_begin_kernel, 1, SOURCES, stream, *searches, (uint32_t) nsources);
	return EMOGI_OK;
}

/* Copy the results of a batch to the result columns in host memory. */
static EmogiStatus
write_sums(Closeness *closeness, uint64_t first, uint64_t nsources, EmogiError *error)
{
	const EmogiArray *columns = closeness->all->sums;
	Sums		sums;

	TRY(emogi_run_fetch(closeness->run, &sums, closeness->searches.sums, sizeof sums, error));
	for (uint64_t s = 0; s < nsources; s++)
	{
		columns[0].int64[first + s] = (int64_t) sums.count[s];
		columns[1].int64[first + s] = (int64_t) sums.sum[s];
		columns[2].int32[first + s] = (int32_t) sums.min[s];
		columns[3].int32[first + s] = (int32_t) sums.max[s];
		columns[4].float64[first + s] = sums.harmonic[s];
	}
	return EMOGI_OK;
}

/*
 * Run the searches from a batch of sources. Adds the (vertex, source) pairs reached to *nreached.
 */
static EmogiStatus
run_batch(Closeness *closeness, uint64_t first, uint64_t nsources, uint64_t *nreached,
		  EmogiResult *result, EmogiError *error)
{
	Run		   *run = closeness->run;
	uint64_t	entered = nsources;
	bool		goes_on = true;
	Level		last;

	TRY(begin_batch(closeness, first, nsources, error));
	for (uint32_t level = 1; goes_on && (closeness->max_depth < 0 || level <= closeness->max_depth);
		 level++)
	{
		run->control->level = level;
		TRY(make_level(closeness, level, &last, error));
		entered += last.entered;
		if (last.vertices > 0 && level + 1 > result->nlevels)
			result->nlevels = level + 1;
		if (last.vertices > 0)
			TRY(check_depth(closeness, first == 0, level, nsources, entered, error));
		goes_on = last.edges > 0 && last.open_edges > 0;
	}
	*nreached += entered;
	if (closeness->all->sums != NULL)
		return write_sums(closeness, first, nsources, error);
	if (!closeness->all->are_samples)
		CUDA_LAUNCH(closeness_write_kernel, 1, SOURCES, run->state->stream, closeness->searches,
					(uint32_t) nsources);
	return EMOGI_OK;
}

/* Turn the sums over samples into estimates. */
static EmogiStatus
estimate(const Closeness *closeness, EmogiError *error)
{
	Run		   *run = closeness->run;
	const Searches &searches = closeness->searches;
	cudaStream_t stream = run->state->stream;
	uint32_t   *samples = (uint32_t *) searches.front;	/* the words are no longer used */
	uint32_t   *vertices = (uint32_t *) searches.next;

	TRY(emogi_run_send(run, vertices, closeness->sources, closeness->nsources * sizeof *vertices,
					   error));
	CUDA_TRY(cudaMemsetAsync(samples, 0, run->nwords * sizeof *samples, stream));
	CUDA_LAUNCH(push_mark_sources_kernel, run->full_blocks, BLOCK_THREADS, stream, vertices,
				closeness->nsources, samples);
	CUDA_LAUNCH(closeness_estimate_kernel, run->full_blocks, BLOCK_THREADS, stream, searches,
				samples, closeness->nsources);
	return EMOGI_OK;
}

/* Take all device memory except the graph's. */
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
	TRY(take_array(memory, &searches->now, 2, "levels", error));
	TRY(take_array(memory, &searches->sources, SOURCES, "sources", error));
	searches->previous = searches->now + 1;
	if (!closeness->all->are_samples)
	{
		TRY(take_array(memory, &searches->counts, SOURCES, "counts of a level", error));
		TRY(take_array(memory, &searches->sums, 1, "sums of a batch", error));
	}
	if (closeness->all->sums != NULL)
		return EMOGI_OK;
	TRY(take_array(memory, &searches->reached, n, "vertices reached", error));
	TRY(take_array(memory, &searches->farness, n, "farness", error));
	TRY(take_array(memory, &searches->closeness, n, "closeness", error));
	return take_array(memory, &searches->harmonic, n, "harmonic closeness", error);
}

/* Get a result column in device memory. */
static double *
column(const Searches *searches, int i)
{
	double	   *const columns[COLUMNS] = {(double *) searches->reached, searches->farness,
		searches->closeness, searches->harmonic};

	return columns[i];
}

/* Get the first source of a part. */
static uint64_t
first_source(const BySource *parts, uint64_t nsources, uint64_t part)
{
	const uint64_t first = SOURCES * emogi_by_source_first(parts,
														   (nsources + SOURCES - 1) / SOURCES,
														   part);

	return first < nsources ? first : nsources;
}

/* Copy a helper's results of a part to host memory, for the leader. */
static EmogiStatus
store_rows(Closeness *closeness, uint64_t part, uint64_t first, uint64_t count, EmogiError *error)
{
	double	  **rows = &closeness->all->rows[part];

	*rows = (double *) malloc(COLUMNS * count * sizeof **rows);
	if (*rows == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%llu rows",
								 (unsigned long long) count);
	for (int i = 0; i < COLUMNS; i++)
		TRY(emogi_run_fetch(closeness->run, *rows + (uint64_t) i * count,
							column(&closeness->searches, i) + first, count * sizeof **rows, error));
	return EMOGI_OK;
}

/* Copy the helpers' results to the leader's columns. */
static EmogiStatus
take_rows(Closeness *closeness, uint64_t done, EmogiError *error)
{
	const BySource *parts = closeness->parts;

	for (uint64_t part = 0; part < parts->nparts; part++)
	{
		const uint64_t first = first_source(parts, closeness->nsources, part);
		const uint64_t count = first_source(parts, closeness->nsources, part + 1) - first;
		const double *rows = closeness->all->rows[part];

		for (int i = 0; i < COLUMNS && (done >> part & 1) == 0; i++)
			TRY(emogi_run_send(closeness->run, column(&closeness->searches, i) + first,
							   rows + (uint64_t) i * count, count * sizeof *rows, error));
	}
	return EMOGI_OK;
}

/* Process the sources of a part. */
static EmogiStatus
search_part(Closeness *closeness, uint64_t part, EmogiResult *result, EmogiError *error)
{
	Run		   *run = closeness->run;
	const uint64_t begin = first_source(closeness->parts, closeness->nsources, part);
	const uint64_t end = first_source(closeness->parts, closeness->nsources, part + 1);
	uint64_t   *nreached = &closeness->all->nreached[part];

	*nreached = 0;
	for (uint64_t first = begin; first < end; first += SOURCES)
	{
		const uint64_t count = end - first < SOURCES ? end - first : SOURCES;

		if (run->control->cancel)
			return EMOGI_CANCELED;
		TRY(run_batch(closeness, first, count, nreached, result, error));
		__atomic_fetch_add(&run->control->done, count, __ATOMIC_RELAXED);
	}
	if (run == closeness->parts->leader || closeness->all->sums != NULL)
		return EMOGI_OK;
	return store_rows(closeness, part, begin, end - begin, error);
}

/* Process parts until none is left. */
static EmogiStatus
search_all(Closeness *closeness, EmogiResult *result, EmogiError *error)
{
	Run		   *run = closeness->run;
	Searches   *searches = &closeness->searches;
	const uint64_t bytes = run->nvertices * sizeof *searches->reached;
	uint64_t	done = 0;
	uint64_t	part;

	if (closeness->all->are_samples)
	{
		CUDA_TRY(cudaMemsetAsync(searches->reached, 0, bytes, run->state->stream));
		CUDA_TRY(cudaMemsetAsync(searches->farness, 0, bytes, run->state->stream));
		CUDA_TRY(cudaMemsetAsync(searches->harmonic, 0, bytes, run->state->stream));
	}
	result->nlevels = 1;
	run->control->total = closeness->nsources;
	while ((part = emogi_by_source_take(closeness->parts, run)) != EMOGI_NO_PART)
	{
		TRY(search_part(closeness, part, result, error));
		done |= UINT64_C(1) << part;
	}
	if (run != closeness->parts->leader || closeness->all->sums != NULL ||
		__atomic_load_n(&closeness->parts->stopped, __ATOMIC_RELAXED) != 0)
		return EMOGI_OK;
	return closeness->all->are_samples ? estimate(closeness, error) :
		take_rows(closeness, done, error);
}

/* Place the graph, run the searches, and return the result. */
static EmogiStatus
run_closeness(Closeness *closeness, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Run		   *run = closeness->run;
	Searches   *searches = &closeness->searches;
	const bool	reversed = closeness->all->are_samples;
	const unsigned wants = closeness->all->sums != NULL ? PLACE_BACKWARD : PLACE_BACKWARD_REQUIRED;

	TRY(take_arrays(closeness, error));
	TRY(emogi_run_place(run, closeness->graph, query, wants, edge_kernels,
						lengthof(edge_kernels), sizeof(Target), error));
	searches->along = reversed ? run->graph.backward : run->graph.forward;
	searches->against = reversed ? run->graph.forward : run->graph.backward;
	TRY(emogi_run_start_clock(run, error));
	TRY(search_all(closeness, result, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	if (run != closeness->parts->leader || closeness->all->sums != NULL)
		return EMOGI_OK;
	result->nreached = run->nvertices;
	for (int i = 0; i < COLUMNS; i++)
		TRY(emogi_run_give(run, query, result, i, column(searches, i), error));
	return EMOGI_OK;
}

/* Process parts with one GPU. */
static EmogiStatus
make_parts(Run *run, BySource *parts, void *with, EmogiResult *result, EmogiError *error)
{
	Closeness	closeness = {};

	closeness.run = run;
	closeness.parts = parts;
	closeness.all = (Answers *) with;
	closeness.graph = parts->graph;
	closeness.sources = closeness.all->sources;
	closeness.nsources = closeness.all->nsources;
	closeness.max_depth = closeness.all->sums != NULL ? parts->query->max_depth : -1;
	closeness.searches.first_level = closeness.all->sums != NULL ? parts->query->first_level : 0;
	closeness.nslices = parts->graph->forward.nedges / (SLICE_LINES * ENTRIES / 2);
	return run_closeness(&closeness, parts->query, result, error);
}

/* Get the number of parts. Sums over samples are added in order, so there is one part. */
static uint64_t
count_parts(uint64_t nvertices, const EmogiQuery *query)
{
	const bool	are_given = query->algorithm == EMOGI_BFS_SUMS;
	const uint64_t nsources = are_given ? query->nsources : nvertices;

	return !are_given && emogi_sample_is_partial(nvertices, query) ? 1 :
		emogi_by_source_count((nsources + SOURCES - 1) / SOURCES, MIN_BATCHES);
}

bool
emogi_closeness_uses_helpers(const EmogiGraph *graph, const EmogiQuery *query)
{
	return count_parts(graph->nvertices, query) > 1;
}

/* Process all sources, in parts. */
static EmogiStatus
search_in_parts(Run *run, const EmogiGraph *graph, const EmogiQuery *query, Answers *all,
				EmogiResult *result, EmogiError *error)
{
	BySource	parts = {};
	EmogiStatus status;

	parts.leader = run;
	parts.graph = graph;
	parts.query = query;
	parts.make = make_parts;
	parts.with = all;
	parts.nparts = count_parts(run->nvertices, query);
	run->control->done = 0;
	status = emogi_by_source_make(&parts, result, error);
	/* a copy from or to the caller's memory may be in flight */
	(void) cudaStreamSynchronize(run->state->stream);
	return status;
}

EmogiStatus
emogi_cuda_closeness(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
					 EmogiResult *result, EmogiError *error)
{
	Answers		all = {};
	uint32_t   *samples = NULL;
	EmogiStatus status;

	all.nsources = emogi_sample_count(run->nvertices, query);
	all.are_samples = emogi_sample_is_partial(run->nvertices, query);
	if (all.are_samples)
	{
		/* for a test; the only allocation of a run */
		const bool	fails = run->control->fail_allocation == 1;

		samples = fails ? NULL : (uint32_t *) malloc(all.nsources * sizeof *samples);
		if (samples == NULL)
			return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%llu samples",
									 (unsigned long long) all.nsources);
		emogi_sample_choose(run->nvertices, all.nsources, query->seed, samples);
	}
	all.sources = samples;
	status = search_in_parts(run, graph, query, &all, result, error);
	free(samples);
	for (int part = 0; part < EMOGI_MAX_PARTS; part++)
		free(all.rows[part]);
	return status;
}

/*
 * Compute per-source sums over BFS levels. A memory shortage is reported as unsupported, because
 * separate searches, and the CPU, need less.
 */
EmogiStatus
emogi_cuda_bfs_sums(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
					EmogiError *error)
{
	Answers		all = {};
	EmogiStatus status;

	all.sources = query->sources;
	all.nsources = query->nsources;
	all.sums = result->columns;
	status = search_in_parts(run, graph, query, &all, result, error);
	for (int part = 0; part < EMOGI_MAX_PARTS; part++)
		result->nreached += all.nreached[part];
	return status == EMOGI_NO_MEMORY ? EMOGI_UNSUPPORTED : status;
}
