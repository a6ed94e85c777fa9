/*
 * msbfs_steps.c: the parallel steps of multi-source breadth-first search; msbfs.c chooses among
 * them.
 *
 * A step is divided into chunks that threads take from an atomic counter. Long adjacency lists are
 * deferred and processed by all threads together, in pieces.
 */
#include "msbfs_steps.h"

#include <string.h>

/* Vertices that a thread has found and not yet appended to the next queue. */
typedef struct LocalQueue
{
	uint32_t	count;
	uint32_t	vertices[EMOGI_MSBFS_LOCAL_QUEUE];
} LocalQueue;

/*
 * Check, every EMOGI_RUN_POLL edges, whether a thread must stop; *polled: edges at the last poll.
 */
static inline bool
must_stop(EmogiMsbfs *search, uint64_t nscanned, uint64_t *polled)
{
	if (nscanned - *polled < EMOGI_RUN_POLL)
		return false;
	*polled = nscanned;
	return emogi_job_stopped(&search->run.job);
}

/* Append the local queue to the next queue. */
static void
flush_queue(EmogiMsbfs *search, LocalQueue *local)
{
	uint64_t	place = emogi_job_claim(&search->next_count, local->count);

	memcpy(search->next_queue + place, local->vertices, local->count * sizeof(uint32_t));
	local->count = 0;
}

/* Append a vertex to the next queue. */
static inline void
enqueue(EmogiMsbfs *search, LocalQueue *local, uint32_t v)
{
	local->vertices[local->count++] = v;
	if (local->count == EMOGI_MSBFS_LOCAL_QUEUE)
		flush_queue(search, local);
}

/*
 * Push a word into the `next` of the targets of a list, or of a piece of one; local = NULL: without
 * a queue.
 */
static inline void
push(EmogiMsbfs *search, LocalQueue *local, uint64_t word, const uint32_t *targets, uint64_t count,
	 EmogiMsbfsTally *tally)
{
	uint64_t   *next = search->next;

	for (uint64_t i = 0; i < count; i++)
	{
		uint32_t	v = targets[i];

		if (i + EMOGI_MSBFS_GATHER_BATCH < count)
			__builtin_prefetch(&next[targets[i + EMOGI_MSBFS_GATHER_BATCH]], 1);
		if ((word & ~__atomic_load_n(&next[v], __ATOMIC_RELAXED)) == 0)
			continue;
		if (local == NULL)
			__atomic_fetch_or(&next[v], word, __ATOMIC_RELAXED);
		else if (__atomic_fetch_or(&next[v], word, __ATOMIC_RELAXED) == 0)
			enqueue(search, local, v);
	}
	tally->nscanned += count;
}

/* Defer a long adjacency list to all threads. */
static void
defer_hub(EmogiMsbfs *search, uint64_t v)
{
	search->hubs[emogi_job_claim(&search->nhubs, 1)] = (EmogiMsbfsHub) {.vertex = (uint32_t) v};
}

/* Push the word of a frontier vertex, deferring a long list. */
static inline void
push_vertex(EmogiMsbfs *search, LocalQueue *local, uint64_t v, EmogiMsbfsTally *tally)
{
	const EmogiAdjacency *forward = &search->forward;
	uint64_t	count = emogi_msbfs_degree(forward, v);

	if (search->front[v] == 0)
		return;
	if (count > EMOGI_MSBFS_HUB_ENTRIES)
		defer_hub(search, v);
	else
		push(search, local, search->front[v], forward->targets + forward->offsets[v], count, tally);
}

/* Fill next and next_queue from the queue, except for the hubs. */
void
emogi_msbfs_push_queue(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	const EmogiAdjacency *forward = &search->forward;
	LocalQueue	local;
	uint64_t	first,
				last;

	local.count = 0;
	while (emogi_msbfs_take(search, EMOGI_MSBFS_QUEUE_CHUNK, search->count, &first, &last))
	{
		const uint32_t *queue = search->queue;

		for (uint64_t i = first; i < last; i++)
			__builtin_prefetch(&forward->offsets[queue[i]]);
		for (uint64_t i = first; i < last; i++)
			__builtin_prefetch(&forward->targets[forward->offsets[queue[i]]]);
		for (uint64_t i = first; i < last; i++)
			push_vertex(search, &local, queue[i], &search->tally[thread]);
	}
	flush_queue(search, &local);
}

/* Fill next from all vertices of the frontier except the hubs. */
void
emogi_msbfs_push_all(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	EmogiMsbfsTally *tally = &search->tally[thread];
	uint64_t	polled = tally->nscanned;
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_SWEEP_CHUNK, search->nvertices, &first, &last))
	{
		for (uint64_t v = first; v < last; v++)
		{
			push_vertex(search, NULL, v, tally);
			if (must_stop(search, tally->nscanned, &polled))
				return;
		}
	}
}

/* Find the first edge of an ascending list whose target is >= v. */
static inline uint64_t
find_entry(const uint32_t *targets, uint64_t count, uint64_t v)
{
	uint64_t	first = 0;

	while (count > 0)
	{
		uint64_t	half = count / 2;

		if (targets[first + half] < v)
		{
			first += half + 1;
			count -= half + 1;
		}
		else
			count = half;
	}
	return first;
}

/*
 * Fill next from the queue strip by strip: only one thread writes to a strip, which stays in its
 * cache.
 */
void
emogi_msbfs_push_strips(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	EmogiMsbfsTally *tally = &search->tally[thread];
	uint64_t   *next = search->next;
	uint64_t	polled = tally->nscanned;
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_STRIP, search->nvertices, &first, &last))
	{
		for (uint64_t i = 0; i < search->count && !must_stop(search, tally->nscanned, &polled); i++)
		{
			const uint32_t u = search->queue[i];
			const uint64_t word = search->front[u];
			const uint32_t *targets = search->forward.targets + search->forward.offsets[u];
			const uint64_t count = word != 0 ? emogi_msbfs_degree(&search->forward, u) : 0;
			const uint64_t begin = find_entry(targets, count, first);
			uint64_t	at = begin;

			for (; at < count && targets[at] < last; at++)
				next[targets[at]] |= word;
			tally->nscanned += at - begin;
		}
	}
}

/* Fill next, and next_queue if the frontier is a queue, from the deferred lists. */
void
emogi_msbfs_push_hubs(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	LocalQueue	local;

	local.count = 0;
	for (uint64_t h = 0; h < search->nhubs; h++)
	{
		EmogiMsbfsHub *hub = &search->hubs[h];
		const uint32_t *targets = search->forward.targets + search->forward.offsets[hub->vertex];
		uint64_t	end = emogi_msbfs_degree(&search->forward, hub->vertex);
		uint64_t	i;

		while (!emogi_job_stopped(&search->run.job) &&
			   (i = emogi_job_claim(&hub->next, EMOGI_MSBFS_HUB_PIECE)) < end)
			push(search, search->in_queue ? &local : NULL, search->front[hub->vertex], targets + i,
				 emogi_cpu_run_chunk_end(i, EMOGI_MSBFS_HUB_PIECE, end) - i,
				 &search->tally[thread]);
	}
	flush_queue(search, &local);
}

/* Enter the vertices of the next queue, reduce their next to the new bits, and clear front. */
void
emogi_msbfs_enter_queue(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	EmogiMsbfsTally tally = search->tally[thread];
	uint64_t	first,
				last;

	for (uint64_t i = search->count * (uint64_t) thread / (uint64_t) nthreads;
		 i < search->count * (uint64_t) (thread + 1) / (uint64_t) nthreads; i++)
		search->front[search->queue[i]] = 0;
	while (emogi_msbfs_take(search, EMOGI_MSBFS_QUEUE_CHUNK, search->next_count, &first, &last))
	{
		const uint32_t *queue = search->next_queue;

		for (uint64_t i = first; i < last; i++)
		{
			__builtin_prefetch(&search->seen[queue[i]], 1);
			__builtin_prefetch(&search->forward.offsets[queue[i]]);
		}
		for (uint64_t i = first; i < last; i++)
		{
			uint32_t	v = queue[i];
			uint64_t	seen = search->seen[v];
			uint64_t	fresh = search->next[v] & ~seen;

			search->next[v] = fresh;
			if (fresh == 0)
				continue;
			if (seen == 0 && search->only_queues)
				__atomic_fetch_or(&search->touched[v / 64], UINT64_C(1) << (v % 64),
								  __ATOMIC_RELAXED);
			emogi_msbfs_enter(search, v, fresh, &tally);
		}
	}
	search->tally[thread] = tally;
}

/* Enter all vertices in next, reduce next to the new bits, and clear front. */
void
emogi_msbfs_enter_all(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	EmogiMsbfsTally tally = search->tally[thread];
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_SWEEP_CHUNK, search->nvertices, &first, &last))
	{
		for (uint64_t v = first; v < last; v++)
		{
			uint64_t	fresh = search->next[v] & ~search->seen[v];

			search->front[v] = 0;
			search->next[v] = fresh;
			if (fresh != 0)
				emogi_msbfs_enter(search, v, fresh, &tally);
			emogi_msbfs_count_open(search, v, &tally);
		}
	}
	search->tally[thread] = tally;
}

/* OR the words of a list's vertices, or of a piece's; stops when all bits of want are set. */
static inline uint64_t
gather(const uint64_t *front, const uint32_t *targets, uint64_t count, uint64_t want,
	   EmogiMsbfsTally *tally)
{
	uint64_t	word = 0;
	uint64_t	i = 0;

	while (i + EMOGI_MSBFS_GATHER_BATCH <= count && (word & want) != want)
	{
		for (uint64_t end = i + EMOGI_MSBFS_GATHER_BATCH; i < end; i++)
			word |= front[targets[i]];
	}
	if ((word & want) != want)
	{
		for (; i < count; i++)
			word |= front[targets[i]];
	}
	tally->nscanned += i;
	return word & want;
}

/* Prefetch the words of a vertex's first neighbors. */
static inline void
prefetch_first(const EmogiMsbfs *search, uint64_t v)
{
	const uint64_t *offsets = search->backward.offsets + v;
	const uint32_t *targets = search->backward.targets;

	for (uint64_t i = offsets[0]; i < offsets[1] && i < offsets[0] + EMOGI_MSBFS_GATHER_BATCH;
		 i++)
		__builtin_prefetch(&search->front[targets[i]]);
}

/* Fill next by pulling for each unfinished vertex, and enter the new ones; except for the hubs. */
void
emogi_msbfs_pull(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	const EmogiAdjacency *backward = &search->backward;
	const uint64_t active = search->total.active;
	EmogiMsbfsTally tally = search->tally[thread];
	uint64_t	polled = tally.nscanned;
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_SWEEP_CHUNK, search->nvertices, &first, &last))
	{
		for (uint64_t v = first; v < last && !must_stop(search, tally.nscanned, &polled); v++)
		{
			uint64_t	want = active & ~search->seen[v];
			uint64_t	count = emogi_msbfs_degree(backward, v);

			if (v + 2 * EMOGI_MSBFS_PREFETCH < last)
				__builtin_prefetch(&backward->targets
								   [backward->offsets[v + 2 * EMOGI_MSBFS_PREFETCH]]);
			if (v + EMOGI_MSBFS_PREFETCH < last &&
				(active & ~search->seen[v + EMOGI_MSBFS_PREFETCH]) != 0)
				prefetch_first(search, v + EMOGI_MSBFS_PREFETCH);
			search->next[v] = 0;
			if (want == 0)
				continue;
			if (count > EMOGI_MSBFS_HUB_ENTRIES)
			{
				defer_hub(search, v);
				continue;
			}
			want = gather(search->front, backward->targets + backward->offsets[v], count, want,
						  &tally);
			search->next[v] = want;
			if (want != 0)
				emogi_msbfs_enter(search, v, want, &tally);
			emogi_msbfs_count_open(search, v, &tally);
		}
	}
	search->tally[thread] = tally;
}

/* Fill next for the hubs that pull deferred. */
void
emogi_msbfs_pull_hubs(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;

	for (uint64_t h = 0; h < search->nhubs; h++)
	{
		EmogiMsbfsHub *hub = &search->hubs[h];
		const uint32_t *targets = search->backward.targets + search->backward.offsets[hub->vertex];
		uint64_t	end = emogi_msbfs_degree(&search->backward, hub->vertex);
		uint64_t	want = search->total.active & ~search->seen[hub->vertex];
		uint64_t	i;

		while (!emogi_job_stopped(&search->run.job) &&
			   (i = emogi_job_claim(&hub->next, EMOGI_MSBFS_HUB_PIECE)) < end)
		{
			uint64_t	count = emogi_cpu_run_chunk_end(i, EMOGI_MSBFS_HUB_PIECE, end) - i;
			uint64_t	word = gather(search->front, targets + i, count, want,
									  &search->tally[thread]);

			__atomic_fetch_or(&search->next[hub->vertex], word, __ATOMIC_RELAXED);
		}
	}
}

/* Clear next. */
void
emogi_msbfs_clear_next(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_SWEEP_CHUNK, search->nvertices, &first, &last))
		memset(search->next + first, 0, (last - first) * sizeof(uint64_t));
}

/* Append the vertices of the frontier to the next queue. */
void
emogi_msbfs_collect_queue(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	LocalQueue	local;
	uint64_t	first,
				last;

	local.count = 0;
	while (emogi_msbfs_take(search, EMOGI_MSBFS_SWEEP_CHUNK, search->nvertices, &first, &last))
	{
		for (uint64_t v = first; v < last; v++)
		{
			if (search->front[v] != 0)
				enqueue(search, &local, (uint32_t) v);
		}
	}
	flush_queue(search, &local);
}

/* Clear the caller's scratch memory for touched vertices. */
void
emogi_msbfs_clean_touched(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_LIST_CHUNK, search->nwords, &first, &last))
	{
		for (uint64_t w = first; w < last; w++)
		{
			for (uint64_t bits = search->touched[w]; bits != 0; bits &= bits - 1)
			{
				uint64_t	v = w * 64 + (uint64_t) __builtin_ctzll(bits);

				search->seen[v] = search->front[v] = search->next[v] = 0;
				for (int k = 0; k < search->kept_planes; k++)
					search->planes[k][v] = 0;
			}
			search->touched[w] = 0;
		}
	}
}

/* Clear all used parts of the caller's scratch memory. */
void
emogi_msbfs_clean_all(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_LIST_CHUNK, search->nwords, &first, &last))
	{
		uint64_t	v = first * 64;
		size_t		bytes =
			(size_t) (emogi_cpu_run_chunk_end(v, (last - first) * 64, search->nvertices) - v) *
				sizeof(uint64_t);

		memset(search->seen + v, 0, bytes);
		memset(search->front + v, 0, bytes);
		memset(search->next + v, 0, bytes);
		for (int k = 0; k < search->kept_planes; k++)
			memset(search->planes[k] + v, 0, bytes);
		memset(search->touched + first, 0, (size_t) (last - first) * sizeof(uint64_t));
	}
}
