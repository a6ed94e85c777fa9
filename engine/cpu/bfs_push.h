/*
 * bfs_push.h: the top-down steps of breadth-first search, for the files that include it.
 *
 * Before including, define
 *
 *	BFS_STEP(name)	the exported name of a step
 *	enter_sparse(bfs, local, list, tally)	adds the unvisited targets of a list to visited, level
 *						and the next queue
 *	enter_dense(bfs, map, list, tally)	marks the targets of a list in the thread's map
 *	prefetch_list(bfs, list)	prefetches what enter_dense reads
 *	end_dense(bfs, map, tally)	marks what enter_dense has left
 */

/* Make a level from the queue, except for the hubs. */
void
BFS_STEP(push_queue)(void *arg, int thread, int nthreads)
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
				enter_sparse(bfs, &local, list, &bfs->tally[thread]);
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
		prefetch_list(bfs, list);
		lists[nlists++] = list;
	}
	return nlists;
}

/* Mark the targets of the frontier bitmap's vertices in the threads' maps, except for the hubs'. */
void
BFS_STEP(push_bitmap)(void *arg, int thread, int nthreads)
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
				enter_dense(bfs, map, lists[i], tally);
			memmove(lists, lists + nlists, (size_t) nnext * sizeof(List));
			nlists = nnext;
			if (tally->nscanned - polled > EMOGI_RUN_POLL)
			{
				if (emogi_job_stopped(&bfs->run.job))
					return;
				polled = tally->nscanned;
			}
		}
		end_dense(bfs, map, tally);
	}
}

/* Process the deferred lists, sparse or dense as the level is. */
void
BFS_STEP(push_hubs)(void *arg, int thread, int nthreads)
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

			if (bfs->in_queue)
				enter_sparse(bfs, &local, piece, &bfs->tally[thread]);
			else
				enter_dense(bfs, map, piece, &bfs->tally[thread]);
		}
	}
	end_dense(bfs, map, &bfs->tally[thread]);
	flush_queue(bfs, &local);
}

#undef BFS_STEP
