/*
 * bfs_steps.c: the parallel steps of breadth-first search; bfs.c chooses among them.
 *
 * A step is divided into chunks that threads take from an atomic counter. Long adjacency lists are
 * deferred and processed by all threads together, in pieces. The steps that read the most lists
 * prefetch the next ones before they process the current ones.
 */
#include "bfs_steps.h"

#include <string.h>

/* An adjacency list to process. */
typedef struct List
{
	const uint32_t *targets;
	uint64_t	count;
} List;

/* Vertices that a thread has found and not yet appended to the next queue. */
typedef struct LocalQueue
{
	uint32_t	count;
	uint32_t	vertices[EMOGI_BFS_LOCAL_QUEUE];
} LocalQueue;

/* Append the local queue to the next queue. */
static void
flush_queue(EmogiBfs *bfs, LocalQueue *local)
{
	uint64_t	place = emogi_job_claim(&bfs->next_count, local->count);

	memcpy(bfs->next_queue + place, local->vertices, local->count * sizeof(uint32_t));
	local->count = 0;
}

/* Defer a long adjacency list to all threads. */
static void
defer_hub(EmogiBfs *bfs, uint32_t v)
{
	bfs->hubs[emogi_job_claim(&bfs->nhubs, 1)] = (EmogiBfsHub) {.vertex = v};
}

/* Take the next chunk of words; false at the end or if the job has stopped. */
static bool
take_words(EmogiBfs *bfs, uint64_t *first, uint64_t *end)
{
	if (emogi_job_stopped(&bfs->run.job))
		return false;
	*first = emogi_job_claim(&bfs->run.next, EMOGI_BFS_WORD_CHUNK);
	*end = *first + EMOGI_BFS_WORD_CHUNK < bfs->nwords ? *first + EMOGI_BFS_WORD_CHUNK
		: bfs->nwords;
	return *first < bfs->nwords;
}

/* Set every level, if levels are written, to -1 and every vertex to unvisited. */
void
emogi_bfs_clear(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	uint64_t	first,
				end;

	while (take_words(bfs, &first, &end))
	{
		uint64_t	last = end * 64 < bfs->nvertices ? end * 64 : bfs->nvertices;

		if (bfs->level != NULL)
			memset(bfs->level + first * 64, 0xFF, (last - first * 64) * sizeof(int32_t));
		memset(bfs->visited + first, 0, (end - first) * sizeof(uint64_t));
		if (last % 64 != 0)
			bfs->visited[end - 1] = UINT64_MAX << (last % 64);
	}
}

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

/* Add the unvisited targets of a list to visited, level and the next queue. */
static void
enter_sparse(EmogiBfs *bfs, LocalQueue *local, List list, EmogiBfsTally *tally)
{
	for (uint64_t i = 0; i < list.count; i++)
	{
		uint32_t	v = list.targets[i];
		uint64_t   *word = &bfs->visited[v / 64];
		uint64_t	bit = UINT64_C(1) << (v % 64);

		if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) != 0 ||
			(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) != 0)
			continue;
		if (bfs->level != NULL)
			bfs->level[v] = bfs->depth;
		tally->nvertices++;
		tally->nedges += emogi_bfs_degree(&bfs->forward, v);
		local->vertices[local->count++] = v;
		if (local->count == EMOGI_BFS_LOCAL_QUEUE)
			flush_queue(bfs, local);
	}
	tally->nscanned += list.count;
}

/* Mark the targets of a list in the thread's map. */
static void
enter_dense(uint64_t *map, List list, EmogiBfsTally *tally)
{
	for (uint64_t i = 0; i < list.count; i++)
		map[list.targets[i] / 64] |= UINT64_C(1) << (list.targets[i] % 64);
	tally->nscanned += list.count;
}

/* Process the passing edges of a list: in the thread's map, or, if map is NULL, the next queue. */
static void
enter_masked(EmogiBfs *bfs, LocalQueue *local, uint64_t *map, List list, EmogiBfsTally *tally)
{
	uint32_t	buffer[EMOGI_BFS_SELECTED + 64];
	const uint32_t *targets = bfs->forward.targets;
	const uint64_t nscanned = tally->nscanned + list.count;
	uint64_t	first = (uint64_t) (list.targets - targets);
	const uint64_t end = first + list.count;

	while (first < end)
	{
		List		passing = {buffer};

		passing.count = emogi_edge_mask_select(&bfs->mask->forward, targets, &first, end, buffer,
											   EMOGI_BFS_SELECTED);
		if (map != NULL)
			enter_dense(map, passing, tally);
		else
			enter_sparse(bfs, local, passing, tally);
	}
	tally->nscanned = nscanned;
}

/* Process a list: in the thread's map, or, if map is NULL, the next queue. */
static inline void
enter_list(EmogiBfs *bfs, LocalQueue *local, uint64_t *map, List list, EmogiBfsTally *tally)
{
	if (bfs->mask != NULL)
		enter_masked(bfs, local, map, list, tally);
	else if (map != NULL)
		enter_dense(map, list, tally);
	else
		enter_sparse(bfs, local, list, tally);
}

/* Make a level from the queue, except for the hubs. */
void
emogi_bfs_push_queue(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	const EmogiAdjacency *forward = &bfs->forward;
	LocalQueue	local;
	uint64_t	first;

	local.count = 0;
	while (!emogi_job_stopped(&bfs->run.job) &&
		   (first = emogi_job_claim(&bfs->run.next, EMOGI_BFS_QUEUE_CHUNK)) < bfs->count)
	{
		uint64_t	count = bfs->count - first < EMOGI_BFS_QUEUE_CHUNK ? bfs->count - first
			: EMOGI_BFS_QUEUE_CHUNK;
		const uint32_t *queue = bfs->queue + first;

		for (uint64_t i = 0; i < count; i++)
			__builtin_prefetch(&forward->offsets[queue[i]]);
		for (uint64_t i = 0; i < count; i++)
			__builtin_prefetch(&forward->targets[forward->offsets[queue[i]]]);
		for (uint64_t i = 0; i < count; i++)
		{
			List		list = {forward->targets + forward->offsets[queue[i]],
				emogi_bfs_degree(forward, queue[i])};

			if (list.count > EMOGI_BFS_HUB_ENTRIES)
				defer_hub(bfs, queue[i]);
			else
				enter_list(bfs, &local, NULL, list, &bfs->tally[thread]);
		}
	}
	flush_queue(bfs, &local);
}

/* Collect and prefetch the lists of the frontier vertices in a word, deferring hubs. */
static int
gather_lists(EmogiBfs *bfs, uint64_t w, List *lists)
{
	const EmogiAdjacency *forward = &bfs->forward;
	int			nlists = 0;

	for (uint64_t bits = bfs->front[w]; bits != 0; bits &= bits - 1)
	{
		uint64_t	v = w * 64 + (uint64_t) __builtin_ctzll(bits);
		List		list = {forward->targets + forward->offsets[v], emogi_bfs_degree(forward, v)};

		if (list.count > EMOGI_BFS_HUB_ENTRIES)
		{
			defer_hub(bfs, (uint32_t) v);
			continue;
		}
		for (uint64_t i = 0; i < list.count && i < 64; i += 16)
			__builtin_prefetch(list.targets + i);
		lists[nlists++] = list;
	}
	return nlists;
}

/* Mark the targets of the frontier bitmap's vertices in the threads' maps, except for the hubs'. */
void
emogi_bfs_push_bitmap(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	uint64_t   *map = bfs->maps + (size_t) thread * bfs->nwords;
	List		lists[2 * 64];
	uint64_t	first,
				end;

	while (thread < bfs->nmaps && take_words(bfs, &first, &end))
	{
		EmogiBfsTally *tally = &bfs->tally[thread];
		uint64_t	polled = tally->nscanned;
		int			nlists = gather_lists(bfs, first, lists);

		for (uint64_t w = first; w < end; w++)
		{
			int			nnext = w + 1 < end ? gather_lists(bfs, w + 1, lists + nlists) : 0;

			for (int i = 0; i < nlists; i++)
				enter_list(bfs, NULL, map, lists[i], tally);
			memmove(lists, lists + nlists, (size_t) nnext * sizeof(List));
			nlists = nnext;
			if (tally->nscanned - polled > EMOGI_RUN_POLL)
			{
				if (emogi_job_stopped(&bfs->run.job))
					return;
				polled = tally->nscanned;
			}
		}
	}
}

/* Process the deferred lists, sparse or dense as the level is. */
void
emogi_bfs_push_hubs(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	uint64_t   *map = bfs->maps + (size_t) thread * bfs->nwords;
	LocalQueue	local;

	local.count = 0;
	for (uint64_t h = 0; h < bfs->nhubs && thread < bfs->nmaps; h++)
	{
		EmogiBfsHub *hub = &bfs->hubs[h];
		const uint32_t *targets = bfs->forward.targets + bfs->forward.offsets[hub->vertex];
		uint64_t	degree = emogi_bfs_degree(&bfs->forward, hub->vertex);
		uint64_t	i;

		while (!emogi_job_stopped(&bfs->run.job) &&
			   (i = emogi_job_claim(&hub->next, EMOGI_BFS_HUB_PIECE)) < degree)
		{
			List		piece = {targets + i,
				degree - i < EMOGI_BFS_HUB_PIECE ? degree - i : EMOGI_BFS_HUB_PIECE};

			enter_list(bfs, &local, bfs->in_queue ? NULL : map, piece, &bfs->tally[thread]);
		}
	}
	flush_queue(bfs, &local);
}

/* Set the level of the entered vertices of a word, and count them. */
static inline void
enter_word(EmogiBfs *bfs, uint64_t w, uint64_t entered, EmogiBfsTally *tally)
{
	const uint64_t *offsets = bfs->forward.offsets + w * 64;
	int32_t    *level = bfs->level == NULL ? NULL : bfs->level + w * 64;

	for (uint64_t bits = entered; bits != 0; bits &= bits - 1)
	{
		int			i = __builtin_ctzll(bits);

		if (level != NULL)
			level[i] = bfs->depth;
		tally->nedges += offsets[i + 1] - offsets[i];
		tally->nvertices++;
	}
}

/* Merge the threads' maps into next_front, visited and level, and clear them. */
void
emogi_bfs_merge_maps(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	EmogiBfsTally tally = bfs->tally[thread];
	uint64_t	first,
				end;

	while (take_words(bfs, &first, &end))
	{
		uint64_t	seen[EMOGI_BFS_WORD_CHUNK] = {0};

		for (int m = 0; m < bfs->nmaps; m++)
		{
			uint64_t   *map = bfs->maps + (size_t) m * bfs->nwords + first;

			for (uint64_t i = 0; i < end - first; i++)
				seen[i] |= map[i];
			memset(map, 0, (end - first) * sizeof(uint64_t));
		}
		for (uint64_t w = first; w < end; w++)
		{
			uint64_t	entered = seen[w - first] & ~bfs->visited[w];

			bfs->next_front[w] = entered;
			bfs->visited[w] |= entered;
			enter_word(bfs, w, entered, &tally);
		}
	}
	bfs->tally[thread] = tally;
}

/* Prefetch the beginnings of the lists of a word's unvisited vertices. */
static inline void
prefetch_word(const EmogiBfs *bfs, uint64_t w)
{
	const uint64_t *offsets = bfs->backward.offsets + w * 64;

	for (uint64_t bits = ~bfs->visited[w]; bits != 0; bits &= bits - 1)
		__builtin_prefetch(&bfs->backward.targets[offsets[__builtin_ctzll(bits)]]);
}

/* Check whether one of the edges from first on leads to the frontier. */
static inline bool
has_parent(const EmogiBfs *bfs, uint64_t first, uint64_t end, EmogiBfsTally *tally)
{
	const uint32_t *targets = bfs->backward.targets;
	uint64_t	i = first;

	while (i < end && (bfs->front[targets[i] / 64] >> (targets[i] % 64) & 1) == 0)
		i++;
	tally->nscanned += i < end ? i - first + 1 : i - first;
	return i < end;
}

/*
 * Make the level of the 64 vertices of a word. The first edge of every list is tested without a
 * branch, which would be mispredicted half of the time. Dead vertices, which have no incoming
 * edges, become visited.
 */
static void
pull_word(EmogiBfs *bfs, uint64_t w, EmogiBfsTally *tally)
{
	const uint64_t *offsets = bfs->backward.offsets + w * 64;
	const uint32_t *targets = bfs->backward.targets;
	uint64_t	unvisited = ~bfs->visited[w];
	uint64_t	last = bfs->backward.nedges - 1;
	uint64_t	dead = 0,
				entered = 0;

	for (uint64_t bits = unvisited; bits != 0; bits &= bits - 1)
	{
		int			i = __builtin_ctzll(bits);
		uint64_t	first = offsets[i];
		uint32_t	u = targets[first < last ? first : last];

		dead |= (uint64_t) (first == offsets[i + 1]) << i;
		entered |= (bfs->front[u / 64] >> (u % 64) & 1) << i;
		tally->nscanned++;
	}
	entered &= ~dead;
	for (uint64_t bits = unvisited & ~(dead | entered); bits != 0; bits &= bits - 1)
	{
		int			i = __builtin_ctzll(bits);

		entered |= (uint64_t) has_parent(bfs, offsets[i] + 1, offsets[i + 1], tally) << i;
	}
	bfs->next_front[w] = entered;
	bfs->visited[w] |= entered | dead;
	enter_word(bfs, w, entered, tally);
}

/* Check whether a passing edge of [first, end) leads to the frontier; *is_dead: none passes. */
static inline bool
has_masked_parent(EmogiBfs *bfs, uint64_t first, uint64_t end, bool *is_dead, EmogiBfsTally *tally)
{
	uint64_t	any = 0;

	for (uint64_t e = first; e < end; e = (e / 64 + 1) * 64)
	{
		const uint64_t w = e / 64;
		const uint32_t *targets = bfs->backward.targets + w * 64;
		uint64_t	bits = emogi_bitmap_part(w, emogi_edge_mask_word(bfs->reverse, w), first,
											 end);

		any |= bits;
		for (; bits != 0; bits &= bits - 1)
		{
			const uint32_t u = targets[__builtin_ctzll(bits)];

			tally->nscanned++;
			if ((bfs->front[u / 64] >> (u % 64) & 1) != 0)
				return true;
		}
	}
	*is_dead = any == 0;
	return false;
}

/* Make the level of the 64 vertices of a word from passing edges. */
static void
pull_masked_word(EmogiBfs *bfs, uint64_t w, EmogiBfsTally *tally)
{
	const uint64_t *offsets = bfs->backward.offsets + w * 64;
	uint64_t	dead = 0,
				entered = 0;

	for (uint64_t bits = ~bfs->visited[w]; bits != 0; bits &= bits - 1)
	{
		const int	i = __builtin_ctzll(bits);
		bool		is_dead = false;

		entered |= (uint64_t) has_masked_parent(bfs, offsets[i], offsets[i + 1], &is_dead, tally)
			<< i;
		dead |= (uint64_t) is_dead << i;
	}
	bfs->next_front[w] = entered;
	bfs->visited[w] |= entered | dead;
	enter_word(bfs, w, entered, tally);
}

/* Make next_front, visited and level bottom-up. */
void
emogi_bfs_pull(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	EmogiBfsTally tally = bfs->tally[thread];
	uint64_t	first,
				end;

	while (take_words(bfs, &first, &end))
	{
		uint64_t	polled = tally.nscanned;

		prefetch_word(bfs, first);
		for (uint64_t w = first; w < end; w++)
		{
			if (w + 1 < end)
				prefetch_word(bfs, w + 1);
			if (bfs->reverse != NULL)
				pull_masked_word(bfs, w, &tally);
			else
				pull_word(bfs, w, &tally);
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

/* Append the vertices of the frontier bitmap to the next queue. */
void
emogi_bfs_collect_queue(void *arg, int thread, int nthreads)
{
	EmogiBfs   *bfs = arg;
	LocalQueue	local;
	uint64_t	first,
				end;

	local.count = 0;
	while (take_words(bfs, &first, &end))
	{
		for (uint64_t w = first; w < end; w++)
		{
			for (uint64_t bits = bfs->front[w]; bits != 0; bits &= bits - 1)
			{
				local.vertices[local.count++] =
					(uint32_t) (w * 64 + (uint64_t) __builtin_ctzll(bits));
				if (local.count == EMOGI_BFS_LOCAL_QUEUE)
					flush_queue(bfs, &local);
			}
		}
	}
	flush_queue(bfs, &local);
}
