/*
 * staged.cu: sweeps over lists that are copied to the device part by part. staged.cuh describes the
 * method and the bytes.
 */
#include "cuda/papers/staged.cuh"
#include "cuda/access/prefix_sum.cuh"

#include <unistd.h>

/* Return the degree of the lane's vertex of a word, 0 if it is not marked. */
static __device__ __forceinline__ uint64_t
marked_degree(const uint64_t *offsets, uint64_t word, uint32_t bits)
{
	const uint64_t vertex = word * 32 + lane_number();

	return bits >> lane_number() & 1 ? __ldg(&offsets[vertex + 1]) - __ldg(&offsets[vertex]) : 0;
}

/* Call process(lane, degree) for those of the warp's 32 words that mark a vertex. Whole warps. */
template <class Process>
static __device__ __forceinline__ void
for_marked(const uint64_t *offsets, uint64_t base, uint32_t bits, Process process)
{
	for (uint32_t todo = __ballot_sync(FULL_WARP, bits != 0); todo != 0; todo &= todo - 1)
	{
		const uint32_t lane = __ffs(todo) - 1;

		process(lane, marked_degree(offsets, base + lane, __shfl_sync(FULL_WARP, bits, lane)));
	}
}

/*
 * Count the marked vertices with a nonempty list in each word; if count is NULL, only in total.
 * Bytes: the bitmap, n/8, as much of counts, 16 of offsets per marked vertex. Counts: marked
 * vertices, those with a nonempty list (`nslices`), their edges.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
staged_count_kernel(const uint64_t *offsets, const uint32_t *bitmap, uint64_t nwords,
					uint32_t *count, Counters *counters)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t warp = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;
	unsigned long long vertices = 0;
	unsigned long long lists = 0;
	unsigned long long edges = 0;

	for (uint64_t base = warp * WARP_LANES; base < nwords; base += nwarps * WARP_LANES)
	{
		const uint64_t word = base + lane_number();
		const uint32_t bits = word < nwords ? bitmap[word] : 0;
		uint32_t	own = 0;

		for_marked(offsets, base, bits, [&](uint32_t lane, uint64_t degree) {
			const uint32_t filled = __ballot_sync(FULL_WARP, degree > 0);

			edges += degree;
			if (lane == lane_number())
				own = __popc(filled);
		});
		if (count != NULL && word < nwords)
			count[word] = own;
		vertices += __popc(bits);
		lists += own;
	}
	block_add(&counters->vertices, vertices);
	block_add(&counters->nslices, lists);
	block_add(&counters->edges, edges);
}

/*
 * List the marked vertices with a nonempty list, ascending, with their degrees. Bytes: as above,
 * and 12 per vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
staged_list_kernel(const uint64_t *offsets, const uint32_t *bitmap, uint64_t nwords,
				   const uint32_t *before, uint32_t *vertex, uint64_t *degrees)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t warp = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;

	for (uint64_t base = warp * WARP_LANES; base < nwords; base += nwarps * WARP_LANES)
	{
		const uint64_t word = base + lane_number();
		const uint32_t bits = word < nwords ? bitmap[word] : 0;
		const uint32_t first = word < nwords ? before[word] : 0;

		for_marked(offsets, base, bits, [&](uint32_t lane, uint64_t degree) {
			const uint32_t filled = __ballot_sync(FULL_WARP, degree > 0);
			const uint64_t slot = __shfl_sync(FULL_WARP, first,
											  lane) + __popc(filled & lanes_below());

			if (degree > 0)
			{
				vertex[slot] = (uint32_t) ((base + lane) * 32 + lane_number());
				degrees[slot] = degree;
			}
		});
	}
}

/*
 * Take the items of a part whose vertices have improved and whose lists are staged completely:
 * clear their bits of `pending`, and list them, unless pick is NULL. Bytes: 20 to 24 per item.
 * Counts: these items (`nslices`), their edges.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
staged_take_improved_kernel(Lists<Target> lists, Items items, uint32_t *pending, uint32_t *pick,
							Counters *counters)
{
	const Span	there = items.window;
	unsigned long long edges = 0;

	items.window = Span{0, 0};
	for (uint64_t base = first_of_warp(); base < items.n; base += grid_threads())
	{
		const uint64_t item = base + lane_number();
		const uint32_t vertex = item < items.n ? item_vertex(items, item) : 0;
		const uint32_t bit = 1u << vertex % 32;
		const Span	list = item_list(lists, items, item);
		const bool	whole = item < items.n && there.start <= list.start && list.end <= there.end;
		const bool	improved = whole && (__ldcg(&pending[vertex / 32]) & bit) != 0;
		const uint32_t all = __ballot_sync(FULL_WARP, improved);
		unsigned long long slot = 0;

		if (all == 0)
			continue;
		if (pick != NULL && lane_number() == 0)
			slot = atomicAdd(&counters->nslices, (unsigned long long) __popc(all));
		slot = __shfl_sync(FULL_WARP, slot, 0);
		if (!improved)
			continue;
		atomicAnd(&pending[vertex / 32], ~bit);
		edges += list.end - list.start;
		if (pick != NULL)
			pick[slot + __popc(all & lanes_below())] = (uint32_t) (items.first + item);
	}
	block_add(&counters->edges, edges);
}

EmogiStatus
emogi_staged_list(Sweeps *sweeps, const Lists<Target> &lists, const uint32_t *bitmap,
				  uint64_t *nmarked, EmogiError *error)
{
	Staged	   *staged = sweeps->staged;
	Run		   *run = sweeps->run;
	cudaStream_t stream = run->state->stream;
	const Counters *counters;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(staged_count_kernel, run->full_blocks, BLOCK_THREADS, stream, lists.offsets, bitmap,
				run->nwords, staged->before, run->step.counters);
	if (staged->before != NULL)
	{
		TRY(prefix_sum<uint32_t>(run, staged->before, run->nwords, (uint32_t *) staged->tile,
								 error));
		CUDA_LAUNCH(staged_list_kernel, run->full_blocks, BLOCK_THREADS, stream, lists.offsets,
					bitmap, run->nwords, staged->before, sweeps->items.vertex, staged->start);
	}
	TRY(emogi_run_read(run, &counters, error));
	sweeps->items.n = counters->nslices;
	sweeps->item_edges = counters->edges;
	*nmarked = counters->vertices;
	return EMOGI_OK;
}

/* Return the start, and the end, of an item's list: in the SubCSR, or in the graph. */
static uint64_t
item_start(const EmogiStagedGather *gather, uint64_t item)
{
	if (gather->start != NULL)
		return gather->start[item];
	return gather->adjacency->offsets[gather->vertex != NULL ? gather->vertex[item] : item];
}

static uint64_t
item_end(const EmogiStagedGather *gather, uint64_t item)
{
	if (gather->start != NULL)
		return gather->start[item + 1];
	return gather->adjacency->offsets[(gather->vertex != NULL ? gather->vertex[item] : item) + 1];
}

/*
 * Return the end of the entries that fit in a buffer from an entry on. Copies keep the position
 * within a line.
 */
static uint64_t
buffer_end(const Staged *staged, uint64_t entry)
{
	return entry / STAGED_UNIT * STAGED_UNIT + staged->buffer_entries;
}

/*
 * Split the next part off the remaining Items: as many whole lists as fit, or a piece of a list
 * that does not.
 */
static EmogiStatus
cut_part(Staged *staged, StagedPart *part, EmogiError *error)
{
	const EmogiStagedGather *gather = &staged->gather;
	const uint64_t end = buffer_end(staged, staged->entry);
	uint64_t	low = staged->item;
	uint64_t	high = gather->nlists;	/* lists below low fit; lists from high on do not */

	while (low < high)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (item_end(gather, middle) <= end)
			low = middle + 1;
		else
			high = middle;
	}
	*part = StagedPart{staged->item, low - staged->item, Span{staged->entry, end}};
	if (low > staged->item)
		part->entries.end = item_end(gather, low - 1);
	else if (!staged->cuts)
		return emogi_device_fail(error, EMOGI_NO_MEMORY,
								 "the edge buffer is too small for a list that is summed",
								 "%llu edges in the list, room for %llu",
								 (unsigned long long) (item_end(gather, low) - staged->entry),
								 (unsigned long long) (end - staged->entry));
	else
		part->nitems = 1;
	staged->item = low;
	staged->entry = part->entries.end;
	if (low > part->first && low < gather->nlists)
		staged->entry = item_start(gather, low);
	return EMOGI_OK;
}

/* Make the running kernels return, too. */
static EmogiStatus
leave(const Staged *staged)
{
	*staged->run->state->stop = 1;
	return EMOGI_CANCELED;
}

/* Wait until a piece has been copied. */
static EmogiStatus
wait_copied(const Staged *staged, uint64_t piece, EmogiError *error)
{
	for (;;)
	{
		const cudaError_t code = cudaEventQuery(staged->copied[piece]);

		if (staged->run->control->cancel)
		{
			(void) cudaGetLastError();
			return leave(staged);
		}
		if (code == cudaSuccess)
			break;
		if (code != cudaErrorNotReady)
			return emogi_cuda_fail(error, code, "waiting for pinned memory");
		usleep(STAGED_SLEEP_US);
	}
	(void) cudaGetLastError();	/* cudaErrorNotReady is remembered, although it is no error */
	CUDA_TRY(cudaSuccess);		/* lets a test make the wait fail */
	return EMOGI_OK;
}

/*
 * Gather entries into a piece of pinned memory, at the same position within a line as in the
 * buffer, and queue their copy.
 */
static EmogiStatus
bring_piece(Sweeps *sweeps, Span entries, char *targets, char *weights, EmogiError *error)
{
	Staged	   *staged = sweeps->staged;
	EmogiStagedGather *gather = &staged->gather;
	const uint64_t number = staged->npieces++ % STAGED_BUFFERS;
	const uint64_t width = staged->weight_bytes;
	const uint64_t at = entries.start % STAGED_UNIT;
	const uint64_t count = entries.end - entries.start;

	TRY(wait_copied(staged, number, error));
	gather->from = entries.start;
	gather->upto = entries.end;
	gather->targets = (uint32_t *) staged->piece[number] + at;
	gather->weights = staged->piece[number] + staged->piece_entries * sizeof(Target) + at * width;
	if (!emogi_staged_gather(staged->pool, gather))
		return leave(staged);
	CUDA_TRY(cudaMemcpyAsync(targets, gather->targets, count * sizeof(Target),
							 cudaMemcpyHostToDevice, staged->stream));
	if (width > 0)
		CUDA_TRY(cudaMemcpyAsync(weights, gather->weights, count * width, cudaMemcpyHostToDevice,
								 staged->stream));
	CUDA_TRY(cudaEventRecord(staged->copied[number], staged->stream));
	sweeps->staged_bytes += count * (sizeof(Target) + width);
	return EMOGI_OK;
}

/* Return the address of a buffer's targets, and of its weights. */
static char *
buffer_targets(const Staged *staged, uint64_t number)
{
	return staged->buffer +
		number * staged->buffer_entries * (sizeof(Target) + staged->weight_bytes);
}

static char *
buffer_weights(const Staged *staged, uint64_t number)
{
	return buffer_targets(staged, number) + staged->buffer_entries * sizeof(Target);
}

/* Fill the next buffer with the next part, if there is one. */
static EmogiStatus
fill_next(Sweeps *sweeps, EmogiError *error)
{
	Staged	   *staged = sweeps->staged;
	const uint64_t number = staged->nfilled % STAGED_BUFFERS;
	StagedPart *part = &staged->part[number];
	uint64_t	base;
	uint64_t	upto;

	if (staged->item == staged->gather.nlists)
		return EMOGI_OK;
	TRY(cut_part(staged, part, error));
	base = part->entries.start / STAGED_UNIT * STAGED_UNIT;
	CUDA_TRY(cudaStreamWaitEvent(staged->stream, staged->emptied[number], 0));
	for (uint64_t entry = part->entries.start; entry < part->entries.end; entry = upto)
	{
		const uint64_t end = entry / STAGED_UNIT * STAGED_UNIT + staged->piece_entries;

		upto = end < part->entries.end ? end : part->entries.end;
		TRY(bring_piece(sweeps, Span{entry, upto}, buffer_targets(staged, number) +
						(entry - base) * sizeof(Target), buffer_weights(staged, number) +
						(entry - base) * staged->weight_bytes, error));
	}
	CUDA_TRY(cudaEventRecord(staged->filled[number], staged->stream));
	staged->nfilled++;
	return EMOGI_OK;
}

EmogiStatus
emogi_staged_begin(Sweeps *sweeps, const Lists<Target> &lists, bool cuts, EmogiError *error)
{
	Staged	   *staged = sweeps->staged;
	Run		   *run = sweeps->run;
	EmogiStagedGather *gather = &staged->gather;
	const uint64_t n = sweeps->items.n;
	uint64_t   *start = (uint64_t *) staged->listed;
	uint32_t   *vertex = (uint32_t *) (start + sweeps->capacity + 1);

	*gather = EmogiStagedGather{};
	gather->adjacency = lists.targets == staged->forward.targets ? &staged->forward :
		&staged->backward;
	gather->weight_bytes = staged->weight_bytes;
	gather->nlists = n;
	gather->cancel = &run->control->cancel;
	if (staged->before != NULL)
	{
		TRY(emogi_run_fetch(run, vertex, sweeps->items.vertex, n * sizeof *vertex, error));
		gather->vertex = vertex;
	}
	if (staged->before != NULL &&
		sweeps->item_edges * 100 <= gather->adjacency->nedges * WHOLE_PERCENT)
	{
		CUDA_TRY(cudaMemsetAsync(staged->start + n, 0, sizeof *start, run->state->stream));
		TRY(prefix_sum<uint64_t>(run, staged->start, n + 1, staged->tile, error));
		TRY(emogi_run_fetch(run, start, staged->start, (n + 1) * sizeof *start, error));
		gather->start = start;
	}
	staged->cuts = cuts;
	staged->item = 0;
	staged->entry = item_start(gather, 0);
	return fill_next(sweeps, error);
}

EmogiStatus
emogi_staged_copy(Sweeps *sweeps, const Lists<Target> &lists, Lists<Target> *there, Items *items,
				  EmogiError *error)
{
	Staged	   *staged = sweeps->staged;
	Run		   *run = sweeps->run;
	const uint64_t number = staged->nswept % STAGED_BUFFERS;
	const StagedPart *part = &staged->part[number];
	const uint64_t base = part->entries.start / STAGED_UNIT * STAGED_UNIT;

	*there = lists;
	*items = sweeps->items;
	items->n = 0;
	if (staged->nswept == staged->nfilled)
		return EMOGI_OK;
	there->targets = (const Target *) (buffer_targets(staged, number) - base * sizeof(Target));
	there->weights = buffer_weights(staged, number) - base * staged->weight_bytes;
	items->n = part->nitems;
	items->first = part->first;
	items->start = staged->gather.start != NULL ? staged->start : NULL;
	items->window = part->entries;
	CUDA_TRY(cudaStreamWaitEvent(run->state->stream, staged->filled[number], 0));
	if (sweeps->pending != NULL)	/* vertices that have already improved are swept now */
		CUDA_LAUNCH(staged_take_improved_kernel, run->full_blocks, BLOCK_THREADS,
					run->state->stream, *there, *items, sweeps->pending, (uint32_t *) NULL,
					run->step.counters);
	return EMOGI_OK;
}

/* List the items of a part that must be swept again. Waits for the device. */
static EmogiStatus
pick_again(Sweeps *sweeps, const Lists<Target> &there, Items *items, EmogiError *error)
{
	const Staged *staged = sweeps->staged;
	Run		   *run = sweeps->run;
	const Counters *counters;

	items->n = staged->part[staged->nswept % STAGED_BUFFERS].nitems;
	items->pick = NULL;
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(staged_take_improved_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				there, *items, sweeps->pending, staged->pick, run->step.counters);
	TRY(emogi_run_read(run, &counters, error));
	items->n = counters->nslices;
	items->pick = staged->pick;
	sweeps->edges += counters->edges;
	return EMOGI_OK;
}

EmogiStatus
emogi_staged_repeat(Sweeps *sweeps, const Lists<Target> &there, Items *items, EmogiError *error)
{
	Staged	   *staged = sweeps->staged;

	if (staged->nfilled == staged->nswept + 1)
		TRY(fill_next(sweeps, error));	/* while the kernel sweeps over this part */
	items->n = 0;
	if (sweeps->pending != NULL)
		TRY(pick_again(sweeps, there, items, error));
	if (items->n > 0)
		return EMOGI_OK;
	CUDA_TRY(cudaEventRecord(staged->emptied[staged->nswept % STAGED_BUFFERS],
							 sweeps->run->state->stream));
	staged->nswept++;
	return EMOGI_OK;
}
