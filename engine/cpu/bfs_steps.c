/*
 * bfs_steps.c: the parallel steps of breadth-first search over all edges; bfs.c chooses among them.
 *
 * A step is divided into chunks that threads take from an atomic counter. Long adjacency lists are
 * deferred and processed by all threads together, in pieces. The steps that read the most lists
 * prefetch the next ones before they process the current ones.
 */
#include "bfs_step_parts.h"

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
enter_dense(const EmogiBfs *bfs, uint64_t *map, List list, EmogiBfsTally *tally)
{
	for (uint64_t i = 0; i < list.count; i++)
		map[list.targets[i] / 64] |= UINT64_C(1) << (list.targets[i] % 64);
	tally->nscanned += list.count;
}

/* Prefetch the beginning of a list. */
static inline void
prefetch_list(const EmogiBfs *bfs, List list)
{
	for (uint64_t i = 0; i < list.count && i < 64; i += 16)
		__builtin_prefetch(list.targets + i);
}

static inline void
end_dense(EmogiBfs *bfs, uint64_t *map, EmogiBfsTally *tally)
{
}

#define BFS_STEP(name) emogi_bfs_##name
#include "bfs_push.h"

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
