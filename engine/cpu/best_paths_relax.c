/*
 * best_paths_relax.c: the parallel steps of a search of the path semiring; best_paths.c describes
 * the algorithm.
 *
 * The loop over an adjacency list is written once; the compiler instantiates it for each weight
 * type and each algorithm.
 */
#include "best_paths.h"

#include "contract/semirings.h"

#define PIECES_PER_BLOCK \
	((EMOGI_BLOCK_ITEMS + EMOGI_BEST_PATHS_ITEM_CHUNK - 1) / EMOGI_BEST_PATHS_ITEM_CHUNK)

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Load a value that other threads may change. */
static inline double
load_value(const double *value)
{
	double		loaded;

	__atomic_load(value, &loaded, __ATOMIC_RELAXED);
	return loaded;
}

/* Get the bin of an additive value, which is not before the current bin: bins are equally wide. */
ALWAYS_INLINE uint32_t
bin_by_steps(const EmogiBestPaths *path, double value)
{
	double		bin = (value - path->base) * path->per_bin;

	return bin < (double) EMOGI_NBINS ? (uint32_t) bin : EMOGI_FAR_BIN;
}

/* Get the bin of a value that is not additive: bins end at the limits. */
ALWAYS_INLINE uint32_t
bin_by_limits(const EmogiBestPaths *path, EmogiAlgorithm algorithm, double value)
{
	uint32_t	low = 0,
				high = path->nlimits;

	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;

		if (emogi_path_better(algorithm, path->limits[middle], value))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Get the bin of a value, which is not before the current bin. */
ALWAYS_INLINE uint32_t
bin_of(const EmogiBestPaths *path, EmogiAlgorithm algorithm, double value)
{
	return emogi_path_is_additive(algorithm) ? bin_by_steps(path, value)
		: bin_by_limits(path, algorithm, value);
}

/*
 * Offer v a candidate value; if it is better, store it and put v into its bin. False if out of
 * memory.
 */
ALWAYS_INLINE bool
offer(EmogiBestPaths *path, EmogiAlgorithm algorithm, EmogiBuckets *bins,
	  EmogiBestPathsTally *tally, uint32_t v, double candidate)
{
	double		before = load_value(&path->value[v]);

	if (__builtin_expect(!emogi_path_better(algorithm, candidate, before), 1))
		return true;
	if (emogi_path_is_additive(algorithm) && !(candidate <= path->bound))
		return true;
	while (!__atomic_compare_exchange(&path->value[v], &before, &candidate, true, __ATOMIC_RELAXED,
									  __ATOMIC_RELAXED))
	{
		if (!emogi_path_better(algorithm, candidate, before))
			return true;
	}
	tally->nreached += before == path->none;
	return emogi_buckets_add(bins, bin_of(path, algorithm, candidate), v, candidate);
}

/* Relax the edges first .. end-1 of a vertex; false if the job has failed. */
ALWAYS_INLINE bool
relax(EmogiBestPaths *path, EmogiWeightType type, EmogiAlgorithm algorithm, EmogiBuckets *bins,
	  EmogiBestPathsTally *tally, double value, uint64_t first, uint64_t end)
{
	const uint32_t *targets = path->lists.targets;
	const void *weights = path->lists.weights;

	tally->nscanned += end - first;
	for (uint64_t i = first; i < end; i++)
	{
		double		weight = emogi_weight(weights, type, i);
		double		candidate = emogi_path_candidate(algorithm, value, weight);

		if (!offer(path, algorithm, bins, tally, targets[i], candidate))
		{
			emogi_job_fail(&path->run.job, EMOGI_NO_MEMORY);
			return false;
		}
	}
	return true;
}

/* Defer a long adjacency list to all threads; false if there is no room. */
static bool
defer_hub(EmogiBestPaths *path, EmogiBucketItem item)
{
	uint64_t	place = emogi_job_claim(&path->nhubs, 1);

	if (place >= path->hub_room)
		return false;
	path->hubs[place] = (EmogiBestPathsHub) {.item = item};
	return true;
}

/* Relax all edges of an item; false if the job has stopped. */
ALWAYS_INLINE bool
relax_item(EmogiBestPaths *path, EmogiWeightType type, EmogiAlgorithm algorithm, EmogiBuckets *bins,
		   EmogiBestPathsTally *tally, EmogiBucketItem item)
{
	uint64_t	first = path->lists.offsets[item.vertex];
	uint64_t	end = path->lists.offsets[item.vertex + 1];

	if (load_value(&path->value[item.vertex]) != item.value ||
		(emogi_path_is_additive(algorithm) && item.value > path->bound))
		return true;
	if (end - first > EMOGI_BEST_PATHS_HUB_ENTRIES && defer_hub(path, item))
		return true;
	while (end - first > EMOGI_RUN_POLL)
	{
		if (!relax(path, type, algorithm, bins, tally, item.value, first, first + EMOGI_RUN_POLL) ||
			emogi_job_stopped(&path->run.job))
			return false;
		first += EMOGI_RUN_POLL;
	}
	return relax(path, type, algorithm, bins, tally, item.value, first, end);
}

/* Relax the edges of some items; false if the job has stopped. */
ALWAYS_INLINE bool
relax_items(EmogiBestPaths *path, EmogiWeightType type, EmogiAlgorithm algorithm,
			EmogiBuckets *bins, EmogiBestPathsTally *tally, const EmogiBucketItem *items,
			uint64_t count)
{
	const uint64_t *offsets = path->lists.offsets;
	uint64_t	polled = tally->nscanned;

	for (uint64_t i = 0; i < count; i++)
	{
		if (i + 2 * EMOGI_BEST_PATHS_PREFETCH < count)
		{
			__builtin_prefetch(&offsets[items[i + 2 * EMOGI_BEST_PATHS_PREFETCH].vertex]);
			__builtin_prefetch(&path->value[items[i + 2 * EMOGI_BEST_PATHS_PREFETCH].vertex]);
		}
		if (i + EMOGI_BEST_PATHS_PREFETCH < count)
			__builtin_prefetch(&path->lists.targets
							   [offsets[items[i + EMOGI_BEST_PATHS_PREFETCH].vertex]]);
		if (!relax_item(path, type, algorithm, bins, tally, items[i]))
			return false;
		if (tally->nscanned - polled > EMOGI_RUN_POLL)
		{
			if (emogi_job_stopped(&path->run.job))
				return false;
			polled = tally->nscanned;
		}
	}
	return true;
}

/* Drain this thread's own current bin while it is small (bucket fusion). */
ALWAYS_INLINE void
fuse(EmogiBestPaths *path, EmogiWeightType type, EmogiAlgorithm algorithm, EmogiBuckets *bins,
	 EmogiBestPathsTally *tally)
{
	EmogiBucketBlock *block;

	while ((block = bins->top[path->bin]) != NULL && !emogi_job_stopped(&path->run.job))
	{
		EmogiBucketBlock *below = block;

		for (int i = 0; i < EMOGI_BEST_PATHS_FUSE_BLOCKS && below != NULL; i++)
			below = below->below;
		if (below != NULL)
			return;
		bins->top[path->bin] = block->below;
		if (!relax_items(path, type, algorithm, bins, tally, block->items, block->count))
			return;
		emogi_buckets_recycle(bins, block);
	}
}

/* Process the blocks of the round, then this thread's current bin. */
ALWAYS_INLINE void
walk(EmogiBestPaths *path, int thread, EmogiWeightType type, EmogiAlgorithm algorithm)
{
	EmogiBuckets *bins = &path->bins[thread];
	EmogiBestPathsTally *tally = &path->tally[thread];

	for (uint64_t piece;
		 emogi_job_take(&path->run.job, &path->run.next, path->nround * PIECES_PER_BLOCK, &piece);)
	{
		const EmogiBucketBlock *block = path->round[piece / PIECES_PER_BLOCK];
		uint64_t	first = piece % PIECES_PER_BLOCK * EMOGI_BEST_PATHS_ITEM_CHUNK;
		uint64_t	count = block->count > first ? block->count - first : 0;

		if (!relax_items(path, type, algorithm, bins, tally, block->items + first,
						 count < EMOGI_BEST_PATHS_ITEM_CHUNK ? count
						 : EMOGI_BEST_PATHS_ITEM_CHUNK))
			return;
	}
	fuse(path, type, algorithm, bins, tally);
}

/* Process the deferred lists, piece by piece. */
ALWAYS_INLINE void
walk_hubs(EmogiBestPaths *path, int thread, EmogiWeightType type, EmogiAlgorithm algorithm)
{
	uint64_t	nhubs = path->nhubs < path->hub_room ? path->nhubs : path->hub_room;

	for (uint64_t h = 0; h < nhubs; h++)
	{
		EmogiBestPathsHub *hub = &path->hubs[h];
		uint64_t	first = path->lists.offsets[hub->item.vertex];
		uint64_t	degree = path->lists.offsets[hub->item.vertex + 1] - first;
		uint64_t	at;

		while (!emogi_job_stopped(&path->run.job) &&
			   load_value(&path->value[hub->item.vertex]) == hub->item.value &&
			   (at = emogi_job_claim(&hub->next, EMOGI_BEST_PATHS_HUB_PIECE)) < degree)
		{
			if (!relax(path, type, algorithm, &path->bins[thread], &path->tally[thread],
					   hub->item.value, first + at,
					   first + emogi_cpu_run_chunk_end(at, EMOGI_BEST_PATHS_HUB_PIECE, degree)))
				return;
		}
	}
}

/* Call a walk with the weight type and the algorithm as constants. */
#define CALL_WITH_TYPE(walk_name, path, thread, algorithm) \
	switch ((path)->weight_type) \
	{ \
		case EMOGI_WEIGHT_U8: \
			walk_name(path, thread, EMOGI_WEIGHT_U8, algorithm); \
			break; \
		case EMOGI_WEIGHT_U16: \
			walk_name(path, thread, EMOGI_WEIGHT_U16, algorithm); \
			break; \
		case EMOGI_WEIGHT_U32: \
			walk_name(path, thread, EMOGI_WEIGHT_U32, algorithm); \
			break; \
		case EMOGI_WEIGHT_F32: \
			walk_name(path, thread, EMOGI_WEIGHT_F32, algorithm); \
			break; \
		case EMOGI_WEIGHT_F64: \
			walk_name(path, thread, EMOGI_WEIGHT_F64, algorithm); \
			break; \
		case EMOGI_WEIGHT_NONE: \
			break; \
	}

void
emogi_best_paths_relax(void *arg, int thread, int nthreads)
{
	EmogiBestPaths *path = arg;

	switch (path->algorithm)
	{
#define WALK(NAME, ...) \
		case EMOGI_##NAME: \
			CALL_WITH_TYPE(walk, path, thread, EMOGI_##NAME) \
			break;
		EMOGI_ALGORITHMS(EMOGI_LEAVE, WALK, EMOGI_LEAVE)
#undef WALK
	}
}

void
emogi_best_paths_relax_hubs(void *arg, int thread, int nthreads)
{
	EmogiBestPaths *path = arg;

	switch (path->algorithm)
	{
#define WALK_HUBS(NAME, ...) \
		case EMOGI_##NAME: \
			CALL_WITH_TYPE(walk_hubs, path, thread, EMOGI_##NAME) \
			break;
		EMOGI_ALGORITHMS(EMOGI_LEAVE, WALK_HUBS, EMOGI_LEAVE)
#undef WALK_HUBS
	}
}

/* Set every value to that of an unreached vertex. */
void
emogi_best_paths_clear(void *arg, int thread, int nthreads)
{
	EmogiBestPaths *path = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&path->run, EMOGI_BEST_PATHS_CLEAR_CHUNK, path->nvertices, &v, &end);)
		for (; v < end; v++)
			path->value[v] = path->none;
}

/* Find the smallest value in this thread's far bin. */
void
emogi_best_paths_find_nearest(void *arg, int thread, int nthreads)
{
	EmogiBestPaths *path = arg;
	double		nearest = path->none;

	for (EmogiBucketBlock *block = path->bins[thread].top[EMOGI_FAR_BIN]; block != NULL;
		 block = block->below)
	{
		if (emogi_job_stopped(&path->run.job))
			return;
		for (uint64_t i = 0; i < block->count; i++)
		{
			EmogiBucketItem item = block->items[i];

			if (item.value < nearest && load_value(&path->value[item.vertex]) == item.value)
				nearest = item.value;
		}
	}
	path->tally[thread].nearest = nearest;
}

/* Sort this thread's far bin into the bins, which begin at the new base; drop stale items. */
void
emogi_best_paths_sort_far(void *arg, int thread, int nthreads)
{
	EmogiBestPaths *path = arg;
	EmogiBuckets *bins = &path->bins[thread];
	EmogiBestPathsTally *tally = &path->tally[thread];
	EmogiBucketBlock *block = bins->top[EMOGI_FAR_BIN];

	bins->top[EMOGI_FAR_BIN] = NULL;
	while (block != NULL && !emogi_job_stopped(&path->run.job))
	{
		EmogiBucketBlock *below = block->below;

		for (uint64_t i = 0; i < block->count; i++)
		{
			EmogiBucketItem item = block->items[i];
			uint32_t	bin;

			if (load_value(&path->value[item.vertex]) != item.value)
				continue;
			bin = bin_by_steps(path, item.value);
			tally->nfar += bin == EMOGI_FAR_BIN;
			tally->nnear += bin != EMOGI_FAR_BIN;
			if (!emogi_buckets_add(bins, bin, item.vertex, item.value))
				emogi_job_fail(&path->run.job, EMOGI_NO_MEMORY);
		}
		emogi_buckets_recycle(bins, block);
		block = below;
	}
}

bool
emogi_best_paths_enter(EmogiBestPaths *path, uint32_t source)
{
	return offer(path, path->algorithm, &path->bins[0], &path->tally[0], source,
				 emogi_path_source(path->algorithm));
}
