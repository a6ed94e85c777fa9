/*
 * mapping.cuh: the papers' mappings: one kernel each, for all applications.
 *
 * An application supplies a small struct, Work:
 *   State
 *       its data in device memory; the kernel's argument
 *   Own, own(vertex)
 *       what an edge needs to know of its source vertex
 *   edge(vertex, own, target, weight, sum)
 *       process an edge; add its contribution to `sum`
 *   SUMS, done(vertex, sum)
 *       whether there is a sum, and what to do with it after the list has been read
 *
 * Lists (mapping_sweep_lists_kernel). LANES lanes process a list: lane i its edges i, i + LANES,
 * ... from the first one on, or, if ALIGNED, from the start of the line that contains the first
 * one, where the lanes before the list are idle. A fixed tree adds the lanes' sums. With one lane
 * per vertex, neighboring lanes read lines of their own (EMOGI's strided requests of 32 bytes).
 * With 32 lanes they read 128 bytes together, as one request if ALIGNED, otherwise as two. A list
 * is never split: the lanes of a hub finish late, as in the papers.
 *
 * Degree cut (mapping_sweep_cut_kernel). Lists are cut into parts of CUT_DEGREE edges, one thread
 * each. The thread reads all targets and weights of its part into shared memory before it processes
 * the first one, so that its loads are in flight together. The sums of parts are stored, and added
 * in order (mapping_add_parts_kernel).
 *
 * Only the atomic operations of edge() depend on the order of the work, so two runs give the same
 * bits.
 *
 * The papers launch a thread for each vertex, and the hardware schedules blocks in ascending order.
 * Here as many warps as the device holds take tickets in that order, so that one of them can poll
 * cancel during a sweep.
 */
#ifndef EMOGI_MAPPING_CUH
#define EMOGI_MAPPING_CUH

#include "cuda/papers/papers.cuh"
#include "cuda/access/weights.cuh"

/* Return the weight of an edge. */
template <typename Weight>
static __device__ __forceinline__ double
read_weight(const Lists<Target> &lists, uint64_t entry)
{
	if constexpr (weight_bytes<Weight>() == 0)
		return 1.0;
	else
		return (double) __ldg((const Weight *) lists.weights + entry);
}

/* Return the target of an edge. */
template <typename Id>
static __device__ __forceinline__ uint32_t
read_target(const Lists<Target> &lists, uint64_t entry)
{
	return (uint32_t) __ldg((const Id *) lists.targets + entry);
}

/*
 * Return whether the kernel must leave in the middle of a list. It polls the host itself, because
 * the thread that polls in must_leave may have returned already.
 */
static __device__ __forceinline__ bool
must_break(const Step &step)
{
	volatile uint32_t *halt = &step.counters->halt;

	if (*step.stop != 0)
		*halt = 1;
	return *halt != 0;
}

/*
 * Distribute nitems items to the lanes of the grid in ascending order, LANES neighboring lanes
 * each. Whole warps call process(item); item may be nitems or more.
 */
template <uint32_t LANES, class Process>
static __device__ __forceinline__ void
sweep_items(const Step &step, uint64_t nitems, Process process)
{
	constexpr uint32_t AT_ONCE = WARP_LANES / LANES;
	constexpr uint32_t TICKET_ITEMS = AT_ONCE * TICKET_ROUNDS;
	const uint64_t ntickets = (nitems + TICKET_ITEMS - 1) / TICKET_ITEMS;
	uint32_t	next = lane_number() == 0 ? take_ticket(step) : 0;

	for (;;)
	{
		const uint32_t ticket = __shfl_sync(FULL_WARP, next, 0);
		const uint64_t first = (uint64_t) ticket * TICKET_ITEMS;

		if (ticket >= ntickets)
			break;
		if (lane_number() == 0)
			next = take_ticket(step);	/* in flight while the lists are read */
		for (uint32_t i = 0; i < TICKET_ITEMS && first + i < nitems; i += AT_ONCE)
			process(first + i + lane_number() / LANES);
	}
}

/* Return the number of an item among the listed ones. */
static __device__ __forceinline__ uint64_t
item_number(const Items &items, uint64_t item)
{
	return items.pick != NULL ? __ldg(&items.pick[item]) : items.first + item;
}

/* Return the vertex of an item. */
static __device__ __forceinline__ uint32_t
item_vertex(const Items &items, uint64_t item)
{
	const uint64_t number = item_number(items, item);

	return items.vertex != NULL ? __ldg(&items.vertex[number]) : (uint32_t) number;
}

/* Return the part of a list that is in a window. */
static __device__ __forceinline__ Span
cut_list(Span list, Span window)
{
	return Span{list.start > window.start ? list.start : window.start,
		list.end < window.end ? list.end : window.end};
}

/* Return an item's list, or its part of a list; empty beyond the last item. */
static __device__ __forceinline__ Span
item_list(const Lists<Target> &lists, const Items &items, uint64_t item)
{
	const uint64_t *offsets;
	uint64_t	vertex;			/* or the item's number, if items.start has the lists */
	Span		list;

	if (item >= items.n)
		return Span{0, 0};
	vertex = items.start != NULL ? item_number(items, item) : item_vertex(items, item);
	offsets = items.start != NULL ? items.start : lists.offsets;
	list = Span{__ldg(&offsets[vertex]), __ldg(&offsets[vertex + 1])};
	if (items.window.end > 0)
		list = cut_list(list, items.window);
	if (items.index != NULL)
	{
		list.start += (uint64_t) __ldg(&items.index[item]) * CUT_DEGREE;
		if (list.end > list.start + CUT_DEGREE)
			list.end = list.start + CUT_DEGREE;
	}
	return list;
}

/* Return the first edge of a list that this lane of LANES reads, given the edges per line. */
template <uint32_t LANES, bool ALIGNED>
static __device__ __forceinline__ uint64_t
first_entry(const Span &list, uint32_t line_entries)
{
	return (ALIGNED ? list.start / line_entries * line_entries :
			list.start) + lane_number() % LANES;
}

/*
 * Sweep over items that are lists; targets have type Id. Bytes: 4 of the item, 16 of offsets and
 * the own value per list; targets and weights according to the mapping; the reads of edge() per
 * edge.
 */
template <class Work, typename Weight, uint32_t LANES, bool ALIGNED, typename Id = Target>
static __global__ void __launch_bounds__(BLOCK_THREADS)
mapping_sweep_lists_kernel(Lists<Target> lists, Items items, typename Work::State state, Step step)
{
	const Work	work = {state};

	sweep_items<LANES>(step, items.n, [&](uint64_t item) {
		const Span	list = item_list(lists, items, item);
		const uint32_t vertex = item < items.n ? item_vertex(items, item) : 0;
		const typename Work::Own own = list.start < list.end ? work.own(vertex) :
			typename Work::Own();
		uint64_t	entry = first_entry<LANES, ALIGNED>(list, Line<Id>::ENTRIES);
		double		sum = 0;

		while (entry < list.end)
		{
			const uint64_t limit = entry + (uint64_t) ENTRIES_PER_CHECK * LANES;
			const uint64_t upto = limit < list.end ? limit : list.end;

			for (; entry < upto; entry += LANES)
				if (!ALIGNED || entry >= list.start)
					work.edge(vertex, own, read_target<Id>(lists, entry),
							  read_weight<Weight>(lists, entry), sum);
			if (entry < list.end && must_break(step))
				break;
		}
		if constexpr (Work::SUMS)
		{
#pragma unroll
			for (uint32_t lanes = LANES / 2; lanes > 0; lanes /= 2)
				sum += __shfl_xor_sync(FULL_WARP, sum, lanes);
			if (item < items.n && lane_number() % LANES == 0)
				work.done(vertex, sum);
		}
	});
}

/*
 * Sweep over items that are parts of lists. Bytes: as mapping_sweep_lists_kernel, with 4 more per
 * item, and 8 for its sum.
 */
template <class Work, typename Weight>
static __global__ void __launch_bounds__(CUT_THREADS)
mapping_sweep_cut_kernel(Lists<Target> lists, Items items, typename Work::State state, Step step)
{
	constexpr bool WEIGHTED = weight_bytes<Weight>() > 0;
	/* one column per thread: no two lanes share a bank */
	__shared__ Target targets[CUT_DEGREE][CUT_THREADS];
	__shared__ Weight weights[WEIGHTED ? CUT_DEGREE : 1][CUT_THREADS];
	const Work	work = {state};

	sweep_items<1>(step, items.n, [&](uint64_t item) {
		const Span	list = item_list(lists, items, item);
		const uint32_t length = (uint32_t) (list.end - list.start);
		const uint32_t vertex = item < items.n ? item_vertex(items, item) : 0;
		const typename Work::Own own = length > 0 ? work.own(vertex) : typename Work::Own();
		double		sum = 0;

#pragma unroll
		for (uint32_t j = 0; j < CUT_DEGREE; j++)
			if (j < length)
			{
				targets[j][threadIdx.x] = __ldg(&lists.targets[list.start + j]);
				if constexpr (WEIGHTED)
					weights[j][threadIdx.x] = (Weight) read_weight<Weight>(lists, list.start + j);
			}
		for (uint32_t j = 0; j < length; j++)
		{
			double		weight = 1.0;

			if constexpr (WEIGHTED)
				weight = (double) weights[j][threadIdx.x];
			work.edge(vertex, own, targets[j][threadIdx.x], weight, sum);
		}
		if (Work::SUMS && item < items.n)
			items.part[item] = sum;
	});
}

/*
 * Add the sums of the parts of each list in an order that depends on the list alone: one lane per
 * short list, one warp per longer list. Bytes: 16 per item, 16 of offsets per list.
 */
template <class Work>
static __global__ void __launch_bounds__(BLOCK_THREADS)
mapping_add_parts_kernel(Lists<Target> lists, Items items, typename Work::State state)
{
	const Work	work = {state};

	for (uint64_t base = first_of_warp(); base < items.n; base += grid_threads())
	{
		const uint64_t item = base + lane_number();
		/* for all parts of its list, which follow it */
		const bool	leads = item < items.n && items.index[item] == 0;
		const uint64_t vertex = leads ? items.vertex[item] : 0;
		const uint64_t length = leads ?
			__ldg(&lists.offsets[vertex + 1]) - __ldg(&lists.offsets[vertex]) : 0;
		const uint64_t nparts = (length + CUT_DEGREE - 1) / CUT_DEGREE;
		uint32_t	todo = __ballot_sync(FULL_WARP, nparts > SHORT_LIST);
		double		sum = 0;

		for (uint64_t k = 0; nparts <= SHORT_LIST && k < nparts; k++)
			sum += items.part[item + k];
		while (todo != 0)
		{
			const uint32_t lane = __ffs(todo) - 1;
			const uint64_t its_parts = __shfl_sync(FULL_WARP, nparts, lane);
			double		its_sum = 0;

			todo &= todo - 1;
			for (uint64_t k = lane_number(); k < its_parts; k += WARP_LANES)
				its_sum += items.part[base + lane + k];
#pragma unroll
			for (uint32_t lanes = WARP_LANES / 2; lanes > 0; lanes /= 2)
				its_sum += __shfl_xor_sync(FULL_WARP, its_sum, lanes);
			if (lane == lane_number())
				sum = its_sum;
		}
		if (leads)
			work.done((uint32_t) vertex, sum);
	}
}

template <class State>
using SweepKernel = void (*) (Lists<Target> lists, Items items, State state, Step step);

template <class State>
using AddKernel = void (*) (Lists<Target> lists, Items items, State state);

/* Return the kernel of a mapping. */
template <class Work, typename Weight>
static SweepKernel<typename Work::State>
choose_mapping(EmogiMapping mapping)
{
	static const SweepKernel<typename Work::State> kernels[] = {
		mapping_sweep_lists_kernel<Work, Weight, 1, false>,	/* EMOGI_MAPPING_THREAD */
		mapping_sweep_lists_kernel<Work, Weight, 32, false>,	/* EMOGI_MAPPING_WARP */
		mapping_sweep_lists_kernel<Work, Weight, 32, true>,	/* EMOGI_MAPPING_ALIGNED */
		mapping_sweep_lists_kernel<Work, Weight, 2, false>,	/* EMOGI_MAPPING_VIRTUAL2 */
		mapping_sweep_lists_kernel<Work, Weight, 4, false>,
		mapping_sweep_lists_kernel<Work, Weight, 8, false>,
		mapping_sweep_lists_kernel<Work, Weight, 16, false>,
		mapping_sweep_cut_kernel<Work, Weight>	/* EMOGI_MAPPING_DEGREE_CUT */
	};

	return kernels[mapping - EMOGI_MAPPING_THREAD];
}

/* Return the kernel of a mapping for targets of 8 bytes: THREAD, WARP or ALIGNED. */
template <class Work, typename Weight>
static SweepKernel<typename Work::State>
choose_wide_mapping(EmogiMapping mapping)
{
	return mapping == EMOGI_MAPPING_THREAD ?
		mapping_sweep_lists_kernel<Work, Weight, 1, false, uint64_t> :
		mapping == EMOGI_MAPPING_WARP ?
		mapping_sweep_lists_kernel<Work, Weight, 32, false, uint64_t> :
		mapping_sweep_lists_kernel<Work, Weight, 32, true, uint64_t>;
}

/* Return the kernel for a mapping and weights of a type. */
template <class Work>
static SweepKernel<typename Work::State>
choose_sweep(EmogiMapping mapping, EmogiWeightType type)
{
	return with_weight(type, [=](auto weight) {
		return choose_mapping<Work, decltype(weight)>(mapping);
	});
}

/*
 * STAGED: copy the lists of the Items part by part, and launch(lists, items) a kernel over each
 * part.
 */
template <class Launch>
static EmogiStatus
sweep_parts(Sweeps *sweeps, const Lists<Target> &lists, bool cuts, Launch launch, EmogiError *error)
{
	Lists<Target> there;
	Items		items;

	TRY(emogi_staged_begin(sweeps, lists, cuts, error));
	for (;;)
	{
		TRY(emogi_staged_copy(sweeps, lists, &there, &items, error));
		if (items.n == 0)
			break;
		while (items.n > 0)
		{
			TRY(emogi_run_begin_step(sweeps->run, error));
			TRY(launch(there, items));
			TRY(emogi_staged_repeat(sweeps, there, &items, error));
		}
	}
	sweeps->edges += sweeps->item_edges;
	return EMOGI_OK;
}

/* Sweep over the Items. `add` adds the sums of parts; NULL if nothing is summed. */
template <class State>
static EmogiStatus
sweep(Sweeps *sweeps, SweepKernel<State> kernel, AddKernel<State> add, const Lists<Target> &lists,
	  const State &state, EmogiError *error)
{
	Run		   *run = sweeps->run;

	if (sweeps->items.n == 0)
		return EMOGI_OK;
	if (sweeps->staged != NULL)
		return sweep_parts(sweeps, lists, add == NULL,
						   [&](const Lists<Target> &there, const Items &items) -> EmogiStatus {
			CUDA_LAUNCH(kernel, sweeps->nblocks, sweeps->nthreads, run->state->stream, there, items,
						state, run->step);
			return EMOGI_OK;
		}, error);
	if (sweeps->requests != NULL)
		TRY(emogi_papers_count(sweeps, lists, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(kernel, sweeps->nblocks, sweeps->nthreads, run->state->stream, lists, sweeps->items,
				state, run->step);
	if (add != NULL && sweeps->items.index != NULL)
		CUDA_LAUNCH(add, run->full_blocks, BLOCK_THREADS, run->state->stream, lists, sweeps->items,
					state);
	sweeps->edges += sweeps->item_edges;
	sweeps->lines += sweeps->item_lines;
	return EMOGI_OK;
}

#endif							/* EMOGI_MAPPING_CUH */
