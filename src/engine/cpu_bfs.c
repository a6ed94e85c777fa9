/*
 * cpu_bfs.c: breadth-first search by the threads of a pool.
 *
 * Fills level[nvertices]: hops from the nearest source, -1 = not reached (or beyond max_depth).
 *
 * Three ways to make a level, chosen by the work each would be:
 *   sparse    the frontier is a queue; a compare-and-swap on level[] decides who appends a vertex to the next.
 *   dense     the frontier is a bitmap; level[] is written by whoever comes, all with the same value; one sweep over
 *             level[] then makes the next bitmap. No atomic operation, nothing that depends on the order.
 *   bottom-up every vertex not yet visited looks for a neighbour in the frontier bitmap and stops at the first [1];
 *             needs graph->backward.
 * A level is cut into chunks that threads take by an atomic counter; lists of more than HUB_ENTRIES are put aside and
 * walked by all threads together. Levels too small to be worth waking anyone are made by the caller alone.
 *
 * Parameters: ALPHA and BETA of [1], as tuned in [2], weigh bottom-up against top-down.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. Direction-Optimizing Breadth-First Search. SC 2012. Sections III to V.
 * [2] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015.
 */
#include "cpu_bfs.h"

#include "job.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ALPHA 15
#define BETA 18
#define DENSE_SHARE 16			/* a frontier with more than nvertices / 16 list entries is walked as a bitmap */
#define DENSE_ENTRIES 4096		/* but not one with fewer than these */
#define ALONE_ENTRIES 1024		/* a queue with fewer vertices and entries is walked by the caller alone */
#define ALONE_GRAPH 16384		/* so is all of a Graph with fewer vertices and entries */
#define HUB_ENTRIES 16384
#define HUB_PIECE 8192			/* entries of a hub's list that a thread takes at once */
#define QUEUE_CHUNK 64			/* vertices */
#define WORD_CHUNK 32			/* words of a bitmap: 2048 vertices */
#define LOCAL_QUEUE 512
#define PREFETCH_LEVELS 64
#define ENTRIES_PER_POLL ((uint64_t) 1 << 20)

/* A long list that all threads walk together. */
typedef struct Hub
{
	uint32_t	vertex;
	uint64_t	next;			/* atomic: its next piece */
} Hub;

/* A list to walk. */
typedef struct List
{
	const uint32_t *targets;
	uint64_t	count;
} List;

/* What one thread has found in a level. */
typedef struct Tally
{
	uint64_t	nvertices;		/* entered */
	uint64_t	nedges;			/* their forward list entries */
	uint64_t	looked;			/* list entries looked at */
	char		pad[EMOGI_LINE_BYTES - 24];
} Tally;

typedef struct Bfs
{
	EmogiJob	job;
	EmogiPool  *pool;
	EmogiAdjacency forward;
	EmogiAdjacency backward;	/* offsets NULL = no bottom-up */
	uint64_t	nvertices;
	uint64_t	nwords;			/* of a bitmap */
	int32_t    *level;			/* [nvertices] */
	int32_t		depth;			/* the level that is being made */
	uint64_t   *visited;		/* [nwords], valid in dense and bottom-up levels; bits beyond nvertices are set */
	uint64_t   *front;			/* [nwords], the frontier, when it is no queue */
	uint64_t   *next_front;		/* [nwords] */
	uint32_t   *queue;			/* [queue_room], the frontier, when in_queue */
	uint32_t   *next_queue;		/* [queue_room] */
	uint64_t	queue_room;
	uint64_t	next_count;		/* atomic: length of next_queue */
	Hub		   *hubs;			/* [nhubs of hub_room] */
	uint64_t	hub_room;
	uint64_t	nhubs;			/* atomic while a frontier is walked */
	uint64_t	next;			/* atomic: next chunk */
	Tally	   *tally;			/* [nthreads] */
	bool		in_queue;
	bool		bottom_up;
	bool		visited_valid;	/* the bitmap visited holds all that have a level */
	bool		alone;			/* the Graph is too small to wake anyone */
	uint64_t	count;			/* vertices of the frontier */
	uint64_t	nedges;			/* their forward list entries */
	uint64_t	last_count;		/* vertices of the frontier before */
	uint64_t	unexplored;		/* list entries of vertices that were in no frontier yet */
	void	   *memory;
	size_t		memory_bytes;
} Bfs;

/* Vertices that a thread has found and not yet appended to the next queue. */
typedef struct LocalQueue
{
	uint32_t	count;
	uint32_t	vertices[LOCAL_QUEUE];
} LocalQueue;

/* Get the length of a list. */
static inline uint64_t
degree_of(const EmogiAdjacency *adjacency, uint64_t v)
{
	return adjacency->offsets[v + 1] - adjacency->offsets[v];
}

/* Append the local queue to the next queue. */
static void
flush_queue(Bfs *bfs, LocalQueue *local)
{
	uint64_t	place = emogi_job_take(&bfs->next_count, local->count);

	memcpy(bfs->next_queue + place, local->vertices, local->count * sizeof(uint32_t));
	local->count = 0;
}

/* Put a long list aside for all threads. */
static void
put_hub_aside(Bfs *bfs, uint32_t v)
{
	bfs->hubs[emogi_job_take(&bfs->nhubs, 1)] = (Hub) {.vertex = v};
}

/* Enter the unvisited targets of a list into the level and the next queue. */
static void
enter_sparse(Bfs *bfs, LocalQueue *local, const uint32_t *targets, uint64_t count, Tally *tally)
{
	int32_t    *level = bfs->level;
	int32_t		depth = bfs->depth;

	for (uint64_t i = 0; i < count; i++)
	{
		uint32_t	v = targets[i];
		int32_t		none = -1;

		if (__atomic_load_n(&level[v], __ATOMIC_RELAXED) >= 0 ||
			!__atomic_compare_exchange_n(&level[v], &none, depth, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		tally->nvertices++;
		tally->nedges += degree_of(&bfs->forward, v);
		local->vertices[local->count++] = v;
		if (local->count == LOCAL_QUEUE)
			flush_queue(bfs, local);
	}
	tally->looked += count;
}

/* Enter the unvisited targets of a list into the level. */
static void
enter_dense(Bfs *bfs, const uint32_t *targets, uint64_t count, Tally *tally)
{
	const uint64_t *visited = bfs->visited;
	int32_t    *level = bfs->level;
	int32_t		depth = bfs->depth;

	for (uint64_t i = 0; i < count; i++)
	{
		uint32_t	v = targets[i];

		if ((visited[v / 64] >> (v % 64) & 1) == 0 && __atomic_load_n(&level[v], __ATOMIC_RELAXED) < 0)
			__atomic_store_n(&level[v], depth, __ATOMIC_RELAXED);
	}
	tally->looked += count;
}

/* Make a level from the queue, all but the hubs. */
static void
walk_queue(void *arg, int thread, int nthreads)
{
	Bfs		   *bfs = arg;
	const EmogiAdjacency *forward = &bfs->forward;
	Tally	   *tally = &bfs->tally[thread];
	LocalQueue	local = {0};
	uint64_t	first;

	while (!emogi_job_stopped(&bfs->job) && (first = emogi_job_take(&bfs->next, QUEUE_CHUNK)) < bfs->count)
	{
		uint64_t	end = first + QUEUE_CHUNK < bfs->count ? first + QUEUE_CHUNK : bfs->count;

		for (uint64_t i = first; i < end; i++)
			__builtin_prefetch(&forward->offsets[bfs->queue[i]]);
		for (uint64_t i = first; i < end; i++)
		{
			uint32_t	v = bfs->queue[i];
			uint64_t	degree = degree_of(forward, v);

			if (i + 4 < end)
				__builtin_prefetch(&forward->targets[forward->offsets[bfs->queue[i + 4]]]);
			if (degree > HUB_ENTRIES)
				put_hub_aside(bfs, v);
			else
				enter_sparse(bfs, &local, forward->targets + forward->offsets[v], degree, tally);
		}
	}
	flush_queue(bfs, &local);
}

/* Prefetch the levels of a list's first targets. */
static inline void
prefetch_levels(const Bfs *bfs, List list)
{
	uint64_t	count = list.count < PREFETCH_LEVELS ? list.count : PREFETCH_LEVELS;

	for (uint64_t i = 0; i < count; i++)
		__builtin_prefetch(&bfs->level[list.targets[i]], 1);
}

/* Get the lists of the frontier's vertices in a word, all but the hubs', on their way to the cache. */
static inline int
gather_lists(Bfs *bfs, uint64_t w, List *lists)
{
	const EmogiAdjacency *forward = &bfs->forward;
	int			nlists = 0;

	for (uint64_t bits = bfs->front[w]; bits != 0; bits &= bits - 1)
	{
		uint64_t	v = w * 64 + (uint64_t) __builtin_ctzll(bits);
		List		list = {forward->targets + forward->offsets[v], degree_of(forward, v)};

		if (list.count > HUB_ENTRIES)
			put_hub_aside(bfs, (uint32_t) v);
		else if (list.count > 0)
		{
			__builtin_prefetch(list.targets);
			__builtin_prefetch(list.targets + 16);
			lists[nlists++] = list;
		}
	}
	return nlists;
}

/* Make a level from the bitmap, all but the hubs. */
static void
walk_bitmap(void *arg, int thread, int nthreads)
{
	Bfs		   *bfs = arg;
	Tally	   *tally = &bfs->tally[thread];
	List		lists[2 * 64];
	uint64_t	first;

	while (!emogi_job_stopped(&bfs->job) && (first = emogi_job_take(&bfs->next, WORD_CHUNK)) < bfs->nwords)
	{
		uint64_t	end = first + WORD_CHUNK < bfs->nwords ? first + WORD_CHUNK : bfs->nwords;
		uint64_t	polled = tally->looked;
		int			nlists = gather_lists(bfs, first, lists);

		for (uint64_t w = first; w < end; w++)
		{
			int			nnext = w + 1 < end ? gather_lists(bfs, w + 1, lists + nlists) : 0;

			for (int i = 0; i < nlists; i++)
			{
				if (i + 1 < nlists + nnext)
					prefetch_levels(bfs, lists[i + 1]);
				enter_dense(bfs, lists[i].targets, lists[i].count, tally);
			}
			memmove(lists, lists + nlists, (size_t) nnext * sizeof(List));
			nlists = nnext;
			if (tally->looked - polled > ENTRIES_PER_POLL)
			{
				if (emogi_job_stopped(&bfs->job))
					return;
				polled = tally->looked;
			}
		}
	}
}

/* Walk the lists that were put aside. */
static void
walk_hubs(void *arg, int thread, int nthreads)
{
	Bfs		   *bfs = arg;
	LocalQueue	local = {0};

	for (uint64_t h = 0; h < bfs->nhubs; h++)
	{
		Hub		   *hub = &bfs->hubs[h];
		const uint32_t *targets = bfs->forward.targets + bfs->forward.offsets[hub->vertex];
		uint64_t	degree = degree_of(&bfs->forward, hub->vertex);
		uint64_t	i;

		while (!emogi_job_stopped(&bfs->job) && (i = emogi_job_take(&hub->next, HUB_PIECE)) < degree)
		{
			uint64_t	count = degree - i < HUB_PIECE ? degree - i : HUB_PIECE;

			if (bfs->in_queue)
				enter_sparse(bfs, &local, targets + i, count, &bfs->tally[thread]);
			else
				enter_dense(bfs, targets + i, count, &bfs->tally[thread]);
		}
	}
	if (bfs->in_queue)
		flush_queue(bfs, &local);
}

/* Look for a neighbour in the frontier. */
static inline bool
has_parent(const Bfs *bfs, uint64_t first, uint64_t end, Tally *tally)
{
	const uint32_t *targets = bfs->backward.targets;
	const uint64_t *front = bfs->front;

	for (uint64_t i = first; i < end; i++)
	{
		uint32_t	u = targets[i];

		if (front[u / 64] >> (u % 64) & 1)
		{
			tally->looked += i - first + 1;
			return true;
		}
	}
	tally->looked += end - first;
	return false;
}

/* Make the level of the 64 vertices of one word; dead vertices, which nobody leads to, become visited. */
static void
pull_word(Bfs *bfs, uint64_t w, Tally *tally)
{
	const uint64_t *offsets = bfs->backward.offsets + w * 64;
	int32_t    *level = bfs->level + w * 64;
	uint64_t	entered = 0,
				dead = 0;

	for (uint64_t bits = ~bfs->visited[w]; bits != 0; bits &= bits - 1)
	{
		int			i = __builtin_ctzll(bits);
		uint64_t	bit = bits & -bits;

		if (offsets[i] == offsets[i + 1])
			dead |= bit;
		else if (has_parent(bfs, offsets[i], offsets[i + 1], tally))
		{
			entered |= bit;
			level[i] = bfs->depth;
			tally->nvertices++;
			tally->nedges += degree_of(&bfs->forward, w * 64 + (uint64_t) i);
		}
	}
	bfs->next_front[w] = entered;
	bfs->visited[w] |= entered | dead;
}

/* Bring the beginnings of the lists of a word's vertices on their way to the cache. */
static inline void
prefetch_word(const Bfs *bfs, uint64_t w)
{
	const uint64_t *offsets = bfs->backward.offsets + w * 64;

	for (uint64_t bits = ~bfs->visited[w]; bits != 0; bits &= bits - 1)
		__builtin_prefetch(&bfs->backward.targets[offsets[__builtin_ctzll(bits)]]);
}

/* Make a level bottom-up. */
static void
pull_level(void *arg, int thread, int nthreads)
{
	Bfs		   *bfs = arg;
	Tally		tally = {.looked = bfs->tally[thread].looked};
	uint64_t	first;

	while (!emogi_job_stopped(&bfs->job) && (first = emogi_job_take(&bfs->next, WORD_CHUNK)) < bfs->nwords)
	{
		uint64_t	end = first + WORD_CHUNK < bfs->nwords ? first + WORD_CHUNK : bfs->nwords;
		uint64_t	polled = tally.looked;

		for (uint64_t w = first; w < end; w++)
		{
			if (w + 1 < end)
				prefetch_word(bfs, w + 1);
			pull_word(bfs, w, &tally);
			if (tally.looked - polled > ENTRIES_PER_POLL)
			{
				if (emogi_job_stopped(&bfs->job))
					break;
				polled = tally.looked;
			}
		}
	}
	bfs->tally[thread] = tally;
}

/* Compare 64 levels: get the bits of those that are set at all and of those that equal depth. */
static inline void
compare_levels(const int32_t *level, int32_t depth, uint64_t *set, uint64_t *equal)
{
	uint64_t	unset = 0,
				same = 0;

#ifdef __SSE2__
	__m128i		wanted = _mm_set1_epi32(depth);

	for (int i = 0; i < 64; i += 4)
	{
		__m128i		four = _mm_loadu_si128((const __m128i *) (level + i));

		unset |= (uint64_t) _mm_movemask_ps(_mm_castsi128_ps(four)) << i;
		same |= (uint64_t) _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted))) << i;
	}
#else
	for (int i = 0; i < 64; i++)
	{
		unset |= (uint64_t) (level[i] < 0) << i;
		same |= (uint64_t) (level[i] == depth) << i;
	}
#endif
	*set = ~unset;
	*equal = same;
}

/* Make visited and next_front of level[]: the vertices of any level and of depth. Counts the latter. */
static void
sweep_levels(void *arg, int thread, int nthreads)
{
	Bfs		   *bfs = arg;
	Tally		tally = {.looked = bfs->tally[thread].looked};
	uint64_t	first;

	while (!emogi_job_stopped(&bfs->job) && (first = emogi_job_take(&bfs->next, WORD_CHUNK)) < bfs->nwords)
	{
		uint64_t	end = first + WORD_CHUNK < bfs->nwords ? first + WORD_CHUNK : bfs->nwords;

		for (uint64_t w = first; w < end; w++)
		{
			int32_t		last[64];
			const int32_t *level = bfs->level + w * 64;
			uint64_t	nlast = bfs->nvertices - w * 64;

			bfs->next_front[w] = 0;
			if (bfs->visited_valid && bfs->visited[w] == UINT64_MAX)
				continue;
			if (nlast < 64)
			{
				memset(last, 0x7F, sizeof(last));	/* set, and no level that is ever made */
				level = memcpy(last, level, nlast * sizeof(int32_t));
			}
			if (bfs->visited_valid)
			{
				uint64_t	set;

				compare_levels(level, bfs->depth, &set, &bfs->next_front[w]);
				bfs->visited[w] |= set;
			}
			else
				compare_levels(level, bfs->depth, &bfs->visited[w], &bfs->next_front[w]);
			for (uint64_t bits = bfs->next_front[w]; bits != 0; bits &= bits - 1)
			{
				tally.nvertices++;
				tally.nedges += degree_of(&bfs->forward, w * 64 + (uint64_t) __builtin_ctzll(bits));
			}
		}
	}
	bfs->tally[thread] = tally;
}

/* Set every level to -1. */
static void
clear_levels(void *arg, int thread, int nthreads)
{
	Bfs		   *bfs = arg;
	uint64_t	step = (uint64_t) WORD_CHUNK * 64;
	uint64_t	first;

	while (!emogi_job_stopped(&bfs->job) && (first = emogi_job_take(&bfs->next, step)) < bfs->nvertices)
	{
		uint64_t	count = bfs->nvertices - first < step ? bfs->nvertices - first : step;

		memset(bfs->level + first, 0xFF, count * sizeof(int32_t));
	}
}

/* Append the vertices of the frontier bitmap to the next queue. */
static void
collect_queue(void *arg, int thread, int nthreads)
{
	Bfs		   *bfs = arg;
	LocalQueue	local = {0};
	uint64_t	first;

	while (!emogi_job_stopped(&bfs->job) && (first = emogi_job_take(&bfs->next, WORD_CHUNK)) < bfs->nwords)
	{
		uint64_t	end = first + WORD_CHUNK < bfs->nwords ? first + WORD_CHUNK : bfs->nwords;

		for (uint64_t w = first; w < end; w++)
		{
			for (uint64_t bits = bfs->front[w]; bits != 0; bits &= bits - 1)
			{
				local.vertices[local.count++] = (uint32_t) (w * 64 + (uint64_t) __builtin_ctzll(bits));
				if (local.count == LOCAL_QUEUE)
					flush_queue(bfs, &local);
			}
		}
	}
	flush_queue(bfs, &local);
}

/* Run one task over its chunks, in all threads or in this one alone; false when the job has stopped. */
static bool
run_step(Bfs *bfs, EmogiPoolTask task, bool alone)
{
	bfs->next = 0;
	if (alone || bfs->alone)
		task(bfs, 0, 1);
	else
		emogi_pool_run(bfs->pool, task, bfs);
	return !emogi_job_stopped(&bfs->job);
}

/* Make the bitmaps of level[] and take next_front as the frontier. */
static bool
sweep(Bfs *bfs)
{
	uint64_t   *swap = bfs->front;

	if (!run_step(bfs, sweep_levels, false))
		return false;
	bfs->front = bfs->next_front;
	bfs->next_front = swap;
	bfs->visited_valid = true;
	return true;
}

/* Make the frontier bitmap a queue. */
static bool
make_queue(Bfs *bfs)
{
	uint32_t   *swap = bfs->queue;

	bfs->next_count = 0;
	if (!run_step(bfs, collect_queue, false))
		return false;
	bfs->queue = bfs->next_queue;
	bfs->next_queue = swap;
	bfs->in_queue = true;
	bfs->visited_valid = false;
	return true;
}

/* Choose the way to make the next level and bring the frontier into its form; false when the job has stopped. */
static bool
choose_way(Bfs *bfs)
{
	uint64_t	sparse = bfs->queue_room;

	if (bfs->backward.offsets == NULL)
		bfs->bottom_up = false;
	else if (!bfs->bottom_up)
		bfs->bottom_up = bfs->nedges > bfs->unexplored / ALPHA && bfs->nedges > 0;
	else
		bfs->bottom_up = bfs->count >= bfs->last_count || bfs->count >= bfs->nvertices / BETA;
	bfs->unexplored -= bfs->nedges;

	if (bfs->bottom_up || bfs->nedges > sparse || bfs->count > sparse)
	{
		bool		was_queue = bfs->in_queue;

		bfs->in_queue = false;
		return !was_queue || sweep(bfs);
	}
	return bfs->in_queue || make_queue(bfs);
}

/* Walk the queue and make the next one; false when the job has stopped. */
static bool
make_sparse_level(Bfs *bfs)
{
	uint32_t   *swap = bfs->queue;
	bool		alone = bfs->nedges < ALONE_ENTRIES && bfs->count < ALONE_ENTRIES;

	bfs->next_count = 0;
	bfs->nhubs = 0;
	if (!run_step(bfs, walk_queue, alone) || (bfs->nhubs > 0 && !run_step(bfs, walk_hubs, false)))
		return false;
	bfs->queue = bfs->next_queue;
	bfs->next_queue = swap;
	return true;
}

/* Walk the frontier bitmap and make the next one from the levels; false when the job has stopped. */
static bool
make_dense_level(Bfs *bfs)
{
	bfs->nhubs = 0;
	return run_step(bfs, walk_bitmap, false) &&
		(bfs->nhubs == 0 || run_step(bfs, walk_hubs, false)) &&
		sweep(bfs);
}

/* Make the next frontier bitmap bottom-up; false when the job has stopped. */
static bool
make_level_bottom_up(Bfs *bfs)
{
	uint64_t   *swap = bfs->front;

	if (!run_step(bfs, pull_level, false))
		return false;
	bfs->front = bfs->next_front;
	bfs->next_front = swap;
	return true;
}

/* Make level depth + 1 and its frontier; false when the job has stopped. */
static bool
make_level(Bfs *bfs, EmogiResult *result)
{
	int			nthreads = emogi_pool_size(bfs->pool);
	bool		made;

	if (!choose_way(bfs))
		return false;
	bfs->depth++;
	bfs->job.control->level = (uint32_t) bfs->depth;
	for (int t = 0; t < nthreads; t++)
		bfs->tally[t] = (Tally) {0};
	if (bfs->bottom_up)
		made = make_level_bottom_up(bfs);
	else if (bfs->in_queue)
		made = make_sparse_level(bfs);
	else
		made = make_dense_level(bfs);

	bfs->last_count = bfs->count;
	bfs->count = 0;
	bfs->nedges = 0;
	for (int t = 0; t < nthreads; t++)
	{
		bfs->count += bfs->tally[t].nvertices;
		bfs->nedges += bfs->tally[t].nedges;
		result->edges_traversed += bfs->tally[t].looked;
	}
	result->nreached += bfs->count;
	result->nlevels += bfs->count > 0 ? 1 : 0;
	bfs->job.control->done = result->nreached;
	return made;
}

/* Make level 0; false when the job has stopped. */
static bool
enter_sources(Bfs *bfs, const EmogiQuery *query, EmogiResult *result)
{
	if (!run_step(bfs, clear_levels, false))
		return false;
	bfs->in_queue = true;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		uint32_t	v = query->sources[i];

		if (bfs->level[v] >= 0)
			continue;
		bfs->level[v] = 0;
		bfs->nedges += degree_of(&bfs->forward, v);
		if (bfs->count < bfs->queue_room)
			bfs->queue[bfs->count] = v;
		bfs->count++;
		if ((i & 0xFFFF) == 0 && emogi_job_stopped(&bfs->job))
			return false;
	}
	result->nreached = bfs->count;
	result->nlevels = bfs->count > 0 ? 1 : 0;
	return true;
}

/* Get the next array of `bytes` from the block at *used, in whole lines. */
static void *
carve(char *block, size_t *used, size_t bytes)
{
	void	   *array = block + *used;

	*used += (bytes + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES * EMOGI_LINE_BYTES;
	return array;
}

/* Lay the arrays out in a block; get its bytes. */
static size_t
lay_out(Bfs *bfs, char *block)
{
	size_t		used = 0;

	bfs->tally = carve(block, &used, (size_t) emogi_pool_size(bfs->pool) * sizeof(Tally));
	bfs->hubs = carve(block, &used, (bfs->forward.nedges / HUB_ENTRIES + 1) * sizeof(Hub));
	bfs->visited = carve(block, &used, bfs->nwords * sizeof(uint64_t));
	bfs->front = carve(block, &used, bfs->nwords * sizeof(uint64_t));
	bfs->next_front = carve(block, &used, bfs->nwords * sizeof(uint64_t));
	bfs->queue = carve(block, &used, bfs->queue_room * sizeof(uint32_t));
	bfs->next_queue = carve(block, &used, bfs->queue_room * sizeof(uint32_t));
	return used;
}

/* Get scratch memory: pages that no level needs are never touched. */
static EmogiStatus
open_bfs(Bfs *bfs, EmogiError *error)
{
	bfs->nwords = (bfs->nvertices + 63) / 64;
	bfs->queue_room = bfs->nvertices / DENSE_SHARE;
	if (bfs->queue_room < DENSE_ENTRIES)
		bfs->queue_room = DENSE_ENTRIES;
	bfs->alone = bfs->nvertices + bfs->forward.nedges < ALONE_GRAPH;
	bfs->memory_bytes = lay_out(bfs, NULL);
	bfs->memory = mmap(NULL, bfs->memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bfs->memory == MAP_FAILED)
	{
		snprintf(error->message, sizeof(error->message), "out of memory in a breadth-first search");
		snprintf(error->detail, sizeof(error->detail), "%llu bytes of scratch for %llu vertices",
				 (unsigned long long) bfs->memory_bytes, (unsigned long long) bfs->nvertices);
		return EMOGI_NO_MEMORY;
	}
	lay_out(bfs, bfs->memory);
	return EMOGI_OK;
}

EmogiStatus
emogi_cpu_bfs(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			  EmogiControl *control, EmogiError *error)
{
	Bfs			bfs = {.job = {.control = control}, .pool = pool, .nvertices = graph->nvertices};
	double		start = emogi_now_ms();
	EmogiStatus status;

	bfs.forward = graph->forward;
	bfs.backward = graph->backward;
	bfs.unexplored = graph->forward.nedges;
	bfs.level = result->level;
	*result = (EmogiResult) {.level = result->level};
	emogi_job_phase(&bfs.job, EMOGI_PHASE_RUN, graph->nvertices);
	control->level = 0;
	status = open_bfs(&bfs, error);
	if (status != EMOGI_OK)
		return status;
	if (enter_sources(&bfs, query, result))
	{
		while (bfs.count > 0 && (query->max_depth < 0 || bfs.depth < query->max_depth) &&
			   make_level(&bfs, result))
			;
	}
	munmap(bfs.memory, bfs.memory_bytes);
	result->run_ms = emogi_now_ms() - start;
	return (EmogiStatus) bfs.job.status;
}
