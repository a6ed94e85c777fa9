/*
 * bfs_masked_steps.c: the parallel steps of breadth-first search over the edges that pass a mask.
 *
 * They are those of bfs_steps.c, except that lists are read through the bitmap of their entries. A
 * bottom-up step, before which the bitmap of the reverse lists is complete, first gets the passing
 * ones among the first 64 entries of all lists, and prefetches the first of these.
 */
#include "bfs_step_parts.h"

/* The entries that pass of the lists of a word's vertices. */
typedef struct Window
{
	uint64_t	bits[64];		/* the first 64 entries of a list */
	uint64_t	some;			/* vertices with a passing entry among these */
	uint64_t	longer;			/* unvisited vertices with more entries */
} Window;

/* Take those out of next_front to which a passing edge leads. */
void
emogi_bfs_find_targets(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	uint64_t	first,
				end;

	while (__atomic_load_n(&bfs->nunknown, __ATOMIC_RELAXED) > 0 &&
		   emogi_cpu_run_take(&bfs->run, EMOGI_BFS_EDGE_CHUNK, bfs->forward.nedges, &first, &end))
		for (uint64_t e = first; e < end; e++)
		{
			const uint32_t v = bfs->forward.targets[e];
			const uint64_t bit = UINT64_C(1) << (v % 64);
			uint64_t   *word = &bfs->next_front[v / 64];

			if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) != 0 &&
				emogi_edge_mask_any(&bfs->mask->forward, e, e + 1) &&
				(__atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED) & bit) != 0)
				__atomic_fetch_sub(&bfs->nunknown, 1, __ATOMIC_RELAXED);
		}
}

/* Enter a vertex that may be visited. */
static inline void
enter_vertex(EmogiBfs *bfs, LocalQueue *local, uint32_t v, EmogiBfsTally *tally)
{
	uint64_t   *word = &bfs->visited[v / 64];
	const uint64_t bit = UINT64_C(1) << (v % 64);

	if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) != 0 ||
		(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) != 0)
		return;
	if (bfs->level != NULL)
		bfs->level[v] = bfs->depth;
	tally->nvertices++;
	tally->nedges += emogi_bfs_degree(&bfs->forward, v);
	local->vertices[local->count++] = v;
	if (local->count == EMOGI_BFS_LOCAL_QUEUE)
		flush_queue(bfs, local);
}

/*
 * The body of a loop over the words of a list. For each passing edge, `body` is done, in which
 * of_word[__builtin_ctzll(bits)] is its target; after each word, `after`.
 */
#define EACH_PASSING(body, after) \
	const uint64_t first = (uint64_t) (list.targets - bfs->forward.targets); \
	const uint64_t end = first + list.count; \
\
	for (uint64_t e = first; e < end; e = (e / 64 + 1) * 64) \
	{ \
		const uint64_t word = emogi_edge_mask_word(&bfs->mask->forward, e / 64); \
		const uint32_t *of_word = bfs->forward.targets + e / 64 * 64; \
		uint64_t	bits = emogi_bitmap_part(e / 64, word, first, end); \
\
		tally->npassed += (uint64_t) __builtin_popcountll(bits); \
		for (; bits != 0; bits &= bits - 1) \
		{ \
			body; \
		} \
		after; \
	} \
	tally->nscanned += list.count

/* Add the unvisited targets of a list's passing edges to visited, level and the next queue. */
static void
enter_sparse(EmogiBfs *bfs, LocalQueue *local, List list, EmogiBfsTally *tally)
{
	EACH_PASSING(enter_vertex(bfs, local, of_word[__builtin_ctzll(bits)], tally),);
}

/* Get the marks of a thread that are pending. */
static inline EmogiBfsPending *
get_pending(const EmogiBfs *bfs, const EmogiBfsTally *tally)
{
	return &bfs->pending[tally - bfs->tally];
}

/* Mark what a thread has left. */
static void
end_dense(const EmogiBfs *bfs, uint64_t *map, const EmogiBfsTally *tally)
{
	EmogiBfsPending *pending = get_pending(bfs, tally);

	for (uint64_t i = 0; i < pending->count; i++)
		map[*pending->targets[i] / 64] |= UINT64_C(1) << (*pending->targets[i] % 64);
	pending->count = 0;
}

/* Prefetch the targets of a list's passing edges, and mark earlier ones in the thread's map. */
static void
defer_dense(const EmogiBfs *bfs, uint64_t *map, List list, EmogiBfsTally *tally)
{
	EmogiBfsPending *pending = get_pending(bfs, tally);

	EACH_PASSING(
		__builtin_prefetch(&of_word[__builtin_ctzll(bits)]);
		pending->targets[pending->count++] = &of_word[__builtin_ctzll(bits)],
		if (pending->count > EMOGI_BFS_PENDING - 64)
			end_dense(bfs, map, tally));
}

/* Mark the targets of a list's passing edges in the thread's map. */
static void
enter_dense(const EmogiBfs *bfs, uint64_t *map, List list, EmogiBfsTally *tally)
{
	if (bfs->many_pass)
	{
		EACH_PASSING(const uint32_t target = of_word[__builtin_ctzll(bits)];
			map[target / 64] |= UINT64_C(1) << (target % 64),);
	}
	else
		defer_dense(bfs, map, list, tally);
}

/* Prefetch the beginning of a list, or, if few edges pass, of its bitmap. */
static inline void
prefetch_list(const EmogiBfs *bfs, List list)
{
	const uint64_t first = (uint64_t) (list.targets - bfs->forward.targets);

	__builtin_prefetch(&bfs->mask->forward.passing[first / 64]);
	if (bfs->many_pass)
		for (uint64_t i = 0; i < list.count && i < 64; i += 16)
			__builtin_prefetch(list.targets + i);
}

#define BFS_STEP(name) emogi_bfs_masked_##name
#include "bfs_push.h"

/* Get the 64 bits of a bitmap from bit `first` on; its words beyond the last one may be any. */
static inline uint64_t
get_bits(const uint64_t *bitmap, uint64_t last_word, uint64_t first)
{
	const uint64_t word = first / 64;
	const uint64_t next = bitmap[word < last_word ? word + 1 : word];

	return bitmap[word] >> (first % 64) | next << 1 << (63 - first % 64);
}

/* Get the windows of the unvisited vertices of a word, and prefetch their first passing edges. */
static inline void
open_window(const EmogiBfs *bfs, uint64_t w, Window *window)
{
	const uint64_t *offsets = bfs->backward.offsets + w * 64;
	const uint64_t *passing = bfs->reverse->passing;
	const uint64_t last_word = (bfs->backward.nedges - 1) / 64;

	window->some = window->longer = 0;
	for (uint64_t bits = ~bfs->visited[w]; bits != 0; bits &= bits - 1)
	{
		const int	i = __builtin_ctzll(bits);
		const uint64_t first = offsets[i];
		const uint64_t count = offsets[i + 1] - first;
		uint64_t	entries;

		if (count == 0)
			continue;
		entries = get_bits(passing, last_word, first);
		entries &= count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
		window->bits[i] = entries;
		window->some |= (uint64_t) (entries != 0) << i;
		window->longer |= (uint64_t) (count > 64) << i;
		if (entries != 0)
			__builtin_prefetch(&bfs->backward.targets[first + __builtin_ctzll(entries)]);
	}
}

/* Check whether a vertex is in the frontier. */
static inline uint64_t
is_in_front(const EmogiBfs *bfs, uint32_t v)
{
	return bfs->front[v / 64] >> (v % 64) & 1;
}

/* Check whether a passing edge of [first, end) leads to the frontier; *any: one passes. */
static bool
has_parent(const EmogiBfs *bfs, uint64_t first, uint64_t end, uint64_t *any, EmogiBfsTally *tally)
{
	for (uint64_t e = first; e < end; e = (e / 64 + 1) * 64)
	{
		const uint32_t *targets = bfs->backward.targets + e / 64 * 64;
		uint64_t	bits = emogi_bitmap_part(e / 64, bfs->reverse->passing[e / 64], first, end);

		*any |= bits;
		for (; bits != 0; bits &= bits - 1)
		{
			tally->nscanned++;
			if (is_in_front(bfs, targets[__builtin_ctzll(bits)]))
				return true;
		}
	}
	return false;
}

/*
 * Make the level of the 64 vertices of a word. The first passing edge of every list is tested
 * without a branch. Dead vertices, to which no passing edge leads, become visited.
 */
static inline void
pull_word(EmogiBfs *bfs, uint64_t w, const Window *window, EmogiBfsTally *tally)
{
	const uint64_t *offsets = bfs->backward.offsets + w * 64;
	const uint32_t *targets = bfs->backward.targets;
	const uint64_t unvisited = ~bfs->visited[w];
	uint64_t	dead = unvisited & ~(window->some | window->longer);
	uint64_t	more = window->longer,
				entered = 0;

	for (uint64_t bits = window->some; bits != 0; bits &= bits - 1)
	{
		const int	i = __builtin_ctzll(bits);
		const uint64_t entries = window->bits[i];
		const uint32_t u = targets[offsets[i] + (uint64_t) __builtin_ctzll(entries)];

		entered |= is_in_front(bfs, u) << i;
		more |= (uint64_t) ((entries & (entries - 1)) != 0) << i;
		tally->nscanned++;
	}
	for (uint64_t bits = more & ~entered; bits != 0; bits &= bits - 1)
	{
		const int	i = __builtin_ctzll(bits);
		uint64_t	entries = window->bits[i],
					any = entries;

		for (entries &= entries - 1; entries != 0; entries &= entries - 1)
		{
			tally->nscanned++;
			if (is_in_front(bfs, targets[offsets[i] + (uint64_t) __builtin_ctzll(entries)]))
				break;
		}
		entered |= (uint64_t) (entries != 0 ||
							   ((window->longer >> i & 1) != 0 &&
								has_parent(bfs, offsets[i] + 64, offsets[i + 1], &any, tally))) << i;
		dead |= (uint64_t) (any == 0) << i;
	}
	bfs->next_front[w] = entered;
	bfs->visited[w] |= entered | dead;
	tally->ndead += (uint64_t) __builtin_popcountll(dead);
	enter_word(bfs, w, entered, tally);
}

/* Make next_front, visited and level bottom-up. */
void
emogi_bfs_masked_pull(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	EmogiBfsTally tally = bfs->tally[thread];
	Window		windows[2];
	uint64_t	first,
				end;

	while (take_words(bfs, &first, &end))
	{
		uint64_t	polled = tally.nscanned;

		open_window(bfs, first, &windows[first % 2]);
		for (uint64_t w = first; w < end; w++)
		{
			if (w + 1 < end)
				open_window(bfs, w + 1, &windows[(w + 1) % 2]);
			pull_word(bfs, w, &windows[w % 2], &tally);
			if (tally.nscanned - polled > EMOGI_RUN_POLL)
			{
				if (emogi_job_stopped(&bfs->run.job))
					break;
				polled = tally.nscanned;
			}
		}
	}
	bfs->tally[thread] = tally;
}
