/*
 * scc.cu: strongly connected components.
 *
 * Returns component[nvertices]: the smallest vertex of the component.
 *
 * Method.
 *   trim        a vertex without incoming or without outgoing edges is a component of its own [1]
 *   giant       most graphs have one component of nearly all remaining vertices: the vertices that
 *               a pivot both reaches and is reached from [2]. The pivot is the vertex that
 *               maximizes min(in-degree, out-degree). Two searches push their frontiers along the
 *               forward and the backward lists. Graphs so deep that a search takes more than
 *               MAX_LEVELS steps skip this
 *   rounds      every remaining vertex finds the minimum vertex that reaches it, and the minimum
 *               that it reaches [3]. Both minima are propagated along all edges. Because the
 *               minimum of a vertex's minimum holds for the vertex too, a step goes twice as far as
 *               the previous one. At the fixpoint, vertices whose two minima are equal are in the
 *               component of that vertex, its smallest. Other vertices can only share a component
 *               if both of their minima agree, so the next round skips edges between other vertices
 * A round completes at least one component of each such class: that of its smallest vertex. Values
 * only decrease, and always name vertices with a path, so the result does not depend on the
 * schedule.
 *
 * Device memory, for n vertices: 20.6n.
 *
 * Bytes: 16 of offsets a vertex to trim; for the searches each list reached, in lines, and a random
 * bit an entry; for each step of a round the lists of the remaining vertices, and 4 random bytes an
 * entry, or 28 if it leads to a remaining vertex.
 *
 * [1] W. McLendon, B. Hendrickson, S. Plimpton, L. Rauchwerger: Finding strongly connected
 *     components in distributed graphs. Journal of Parallel and Distributed Computing 65(8), 2005.
 *     Section 3.
 * [2] L. Fleischer, B. Hendrickson, A. Pinar: On Identifying Strongly Connected Components in
 *     Parallel. IPDPS Workshops 2000.
 * [3] G. Alabandi, W. Sands, G. Biros, M. Burtscher: A GPU Algorithm for Detecting Strongly
 *     Connected Components. SC 2023 (ECL-SCC).
 */
#include "cuda/access/push.cuh"

#define MAX_LEVELS 64			/* of a search for the giant component; each costs a launch and a
								 * round trip to the host */

/* Results that the kernels report to the host, in device memory. */
typedef struct SccSummary
{
	/* (min of in- and out-degree << 32 | ~vertex) of the pivot; 0 = none */
	unsigned long long pivot;
	unsigned long long nopen;	/* vertices whose component is unknown */
	uint32_t	minimum;		/* smallest vertex of the giant component */
} SccSummary;

/* Arrays in device memory. */
typedef struct Components
{
	uint64_t	nvertices;
	uint32_t   *component;		/* [nvertices], EMOGI_NO_VERTEX = unknown */
	/* [nvertices]: minimum vertex of the class known to reach this one */
	uint32_t   *from;
	uint32_t   *to;				/* [nvertices]: minimum vertex known to be reached from this one */
	unsigned long long *class_of;	/* [nvertices]: components do not cross classes */
	uint32_t   *frontier[2];	/* [nwords] bitmaps */
	uint32_t   *reached[2];		/* [nwords]: vertices that the pivot reaches, and that reach it */
	SccSummary *summary;
} Components;

/* Report that another step is needed. */
static __device__ __forceinline__ void
request_step(Counters *counters)
{
	*(volatile unsigned long long *) &counters->claimed = 1;
}

/* Push functor of a search. */
struct Reach
{
	typedef NoWeight Weight;
	typedef NoValue Value;

	uint32_t   *reached;
	uint32_t   *next;			/* the new frontier */
	Counters   *counters;

	__device__ __forceinline__ NoValue
	own(uint64_t vertex) const
	{
		return NoValue{};
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], uint32_t wanted) const
	{
		uint32_t	word[PIECE];

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			word[j] = wanted >> j & 1 ? reached[target[j] / 32] : UINT32_MAX;
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			const uint32_t bit = 1u << target[j] % 32;

			if ((word[j] & bit) != 0 || (atomicOr(&reached[target[j] / 32], bit) & bit) != 0)
				continue;
			atomicOr(&next[target[j] / 32], bit);
			request_step(counters);
		}
	}
};

/* Push functor of a round: propagate both minima along each edge. */
struct Propagate
{
	typedef NoWeight Weight;
	typedef uint32_t Value;

	const uint32_t *component;
	const unsigned long long *class_of;
	uint32_t   *from;
	uint32_t   *to;
	Counters   *counters;

	__device__ __forceinline__ uint32_t
	own(uint64_t vertex) const
	{
		return (uint32_t) vertex;
	}

	/* Lower a value. Both values may be stale. */
	__device__ __forceinline__ void
	lower(uint32_t *value, uint32_t seen, uint32_t other) const
	{
		if (other < seen && atomicMin(value, other) > other)
			request_step(counters);
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE],
		  const uint32_t (&vertex)[PIECE], uint32_t wanted) const
	{
		bool		same_class[PIECE];	/* target is open and of the same class */

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			same_class[j] = (wanted >> j & 1) && __ldg(&component[target[j]]) == EMOGI_NO_VERTEX &&
				__ldg(&class_of[target[j]]) == __ldg(&class_of[vertex[j]]);
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			if (!same_class[j])
				continue;
			lower(&from[target[j]], *(volatile uint32_t *) &from[target[j]],
				  *(volatile uint32_t *) &from[vertex[j]]);
			lower(&to[vertex[j]], *(volatile uint32_t *) &to[vertex[j]],
				  *(volatile uint32_t *) &to[target[j]]);
		}
	}
};

/*
 * Trim the vertices without incoming or outgoing edges, and find the pivot among the others. Bytes:
 * 20 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
scc_trim_kernel(const uint64_t *out, const uint64_t *in, Components components)
{
	unsigned long long best = 0;

	for_each(components.nvertices, [&](uint64_t v) {
		const uint64_t nout = out[v + 1] - out[v];
		const uint64_t nin = in[v + 1] - in[v];
		const uint64_t fewest = nout < nin ? nout : nin;
		const unsigned long long rank = (fewest < UINT32_MAX ? fewest : UINT32_MAX) << 32 |
			(uint32_t) ~v;

		components.component[v] = fewest > 0 ? EMOGI_NO_VERTEX : (uint32_t) v;
		components.class_of[v] = 0;
		if (fewest > 0 && rank > best)
			best = rank;
	});
#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
	{
		const unsigned long long other = __shfl_xor_sync(FULL_WARP, best, step);

		best = other > best ? other : best;
	}
	if (lane_number() == 0 && best > 0)
		atomicMax(&components.summary->pivot, best);
}

/* Find the smallest vertex reached both ways. Bytes: 1/8 a vertex, twice. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
scc_smallest_kernel(Components components, uint64_t nwords)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; w < nwords;
		 w += nthreads)
	{
		const uint32_t both = components.reached[0][w] & components.reached[1][w];

		if (both != 0)
		{
			atomicMin(&components.summary->minimum, (uint32_t) (w * 32 + __ffs(both) - 1));
			break;				/* the thread's later words have larger vertices */
		}
	}
}

/*
 * Set the giant component, and the classes of the other vertices by how they were reached. Bytes:
 * 12 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
scc_set_giant_kernel(Components components)
{
	const uint32_t minimum = components.summary->minimum;

	for_each(components.nvertices, [&](uint64_t v) {
		const uint32_t to = components.reached[0][v / 32] >> v % 32 & 1;
		const uint32_t from = components.reached[1][v / 32] >> v % 32 & 1;

		if (to & from)
			components.component[v] = minimum;
		components.class_of[v] = to << 1 | from;
	});
}

/*
 * Start a round: every remaining vertex is its own minimum; mark and count them. Bytes: 4 to 12 a
 * vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
scc_begin_round_kernel(Components components)
{
	unsigned long long nopen = 0;

	for (uint64_t base = first_of_warp(); base < components.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		const bool	is_open = v < components.nvertices &&
			components.component[v] == EMOGI_NO_VERTEX;
		const uint32_t word = __ballot_sync(FULL_WARP, is_open);

		if (is_open)
			components.from[v] = components.to[v] = (uint32_t) v;
		if (lane_number() == 0)
			components.frontier[0][base / 32] = word;
		nopen += is_open;
	}
	block_add(&components.summary->nopen, nopen);
}

/*
 * Replace a vertex's minimum by the minimum of that vertex, repeatedly; return whether it changed.
 * Each step is stored for other threads, so a chain takes logarithmic time. No other thread writes
 * this vertex's minimum now.
 */
static __device__ __forceinline__ bool
follow_minimum(uint32_t *minimum, uint32_t vertex)
{
	volatile uint32_t *own = &minimum[vertex];
	uint32_t	found = *own;
	uint32_t	next;
	bool		changes = false;

	while ((next = *(volatile uint32_t *) &minimum[found]) < found)
	{
		*own = found = next;
		changes = true;
	}
	return changes;
}

/* Follow the known minima. Bytes: 12 a remaining vertex, and random reads of 4. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
scc_follow_kernel(Components components, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	bool		changes = false;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < components.nvertices;
		 v += nthreads)
	{
		if ((components.frontier[0][v / 32] >> v % 32 & 1) == 0)
			continue;
		changes = follow_minimum(components.from, (uint32_t) v) || changes;
		changes = follow_minimum(components.to, (uint32_t) v) || changes;
	}
	if (changes)
		request_step(step.counters);
}

/*
 * End a round: set the completed components, and the classes of the other vertices. Bytes: 4 to 20
 * a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
scc_end_round_kernel(Components components)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < components.nvertices;
		 v += nthreads)
	{
		if (components.component[v] != EMOGI_NO_VERTEX)
			continue;
		if (components.from[v] == components.to[v])
			components.component[v] = components.from[v];
		components.class_of[v] = (unsigned long long) components.from[v] << 32 | components.to[v];
	}
}

/* They read edges, with as many blocks as fit on the device. */
static const void *const edge_kernels[] = {
	(const void *) push_words_kernel<Reach>, (const void *) push_slices_kernel<Reach>,
	(const void *) push_words_kernel<Propagate>, (const void *) push_slices_kernel<Propagate>
};

/* Push from the marked vertices along all lists. */
template <class Push>
static EmogiStatus
push_marked(Run *run, const Lists<Target> &lists, const uint32_t *marked, const Push &push,
			EmogiError *error)
{
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(push_words_kernel<Push>, run->nblocks, BLOCK_THREADS, run->state->stream, lists,
				marked, run->nwords, run->step, push);
	CUDA_LAUNCH(push_slices_kernel<Push>, run->nblocks, BLOCK_THREADS, run->state->stream, lists,
				run->step, push);
	return EMOGI_OK;
}

/* Wait for the kernels, and get their results. */
static EmogiStatus
read_summary(Run *run, const Components *components, SccSummary *summary, EmogiError *error)
{
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, components->summary, sizeof *summary,
							 cudaMemcpyDeviceToHost, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	*summary = *(const SccSummary *) run->state->mailbox;
	return EMOGI_OK;
}

/*
 * Mark in `reached` the vertices that are reached along lists from a source in device memory.
 * *whole: false = it took too many steps.
 */
static EmogiStatus
search(Run *run, const Components *components, const Lists<Target> &lists, const uint32_t *source,
	   uint32_t *reached, bool *whole, EmogiError *error)
{
	const size_t bytes = run->nwords * sizeof *reached;
	cudaStream_t stream = run->state->stream;
	const Counters *counters;

	*whole = false;
	CUDA_TRY(cudaMemsetAsync(reached, 0, bytes, stream));
	CUDA_TRY(cudaMemsetAsync(components->frontier[0], 0, bytes, stream));
	CUDA_LAUNCH(push_mark_sources_kernel, 1, WARP_LANES, stream, source, 1, reached);
	CUDA_LAUNCH(push_mark_sources_kernel, 1, WARP_LANES, stream, source, 1,
				components->frontier[0]);
	for (uint32_t level = 0; level < MAX_LEVELS && !*whole; level++)
	{
		uint32_t   *const next = components->frontier[(level + 1) % 2];

		run->control->level = level;
		CUDA_TRY(cudaMemsetAsync(next, 0, bytes, stream));
		TRY(push_marked(run, lists, components->frontier[level % 2],
						Reach{reached, next, run->step.counters}, error));
		TRY(emogi_run_read(run, &counters, error));
		*whole = counters->claimed == 0;
	}
	return EMOGI_OK;
}

/* Find the component of the pivot. */
static EmogiStatus
find_giant(Run *run, const Components *components, uint32_t pivot, EmogiError *error)
{
	const PlacedGraph *graph = &run->graph;
	cudaStream_t stream = run->state->stream;
	uint32_t   *source = components->from;	/* not in use yet */
	bool		whole = false;

	TRY(emogi_run_send(run, source, &pivot, sizeof pivot, error));
	TRY(search(run, components, graph->forward, source, components->reached[0], &whole, error));
	if (whole)
		TRY(search(run, components, graph->backward, source, components->reached[1], &whole,
				   error));
	if (!whole)
		return EMOGI_OK;
	CUDA_LAUNCH(scc_smallest_kernel, run->full_blocks, BLOCK_THREADS, stream, *components,
				run->nwords);
	CUDA_LAUNCH(scc_set_giant_kernel, run->full_blocks, BLOCK_THREADS, stream, *components);
	return EMOGI_OK;
}

/* Find the minima of the remaining vertices, and the components they determine. */
static EmogiStatus
make_round(Run *run, const Components *components, EmogiError *error)
{
	const Propagate propagate = {components->component, components->class_of, components->from,
		components->to, run->step.counters};
	cudaStream_t stream = run->state->stream;
	const Counters *counters;

	do
	{
		TRY(push_marked(run, run->graph.forward, components->frontier[0], propagate, error));
		CUDA_LAUNCH(scc_follow_kernel, run->full_blocks, BLOCK_THREADS, stream, *components,
					run->step);
		TRY(emogi_run_read(run, &counters, error));
	} while (counters->claimed > 0);
	CUDA_LAUNCH(scc_end_round_kernel, run->full_blocks, BLOCK_THREADS, stream, *components);
	return EMOGI_OK;
}

/* Find all components. */
static EmogiStatus
find_components(Run *run, const Components *components, EmogiError *error)
{
	const SccSummary begin = {0, 0, EMOGI_NO_VERTEX};
	cudaStream_t stream = run->state->stream;
	SccSummary	summary = begin;

	TRY(emogi_run_send(run, components->summary, &begin, sizeof begin, error));
	CUDA_LAUNCH(scc_trim_kernel, run->full_blocks, BLOCK_THREADS, stream,
				run->graph.forward.offsets, run->graph.backward.offsets, *components);
	TRY(read_summary(run, components, &summary, error));
	if (summary.pivot == 0)
		return EMOGI_OK;
	TRY(find_giant(run, components, ~(uint32_t) summary.pivot, error));
	run->control->total = run->nvertices;
	for (;;)
	{
		CUDA_TRY(cudaMemsetAsync(&components->summary->nopen, 0, sizeof summary.nopen, stream));
		CUDA_LAUNCH(scc_begin_round_kernel, run->full_blocks, BLOCK_THREADS, stream, *components);
		TRY(read_summary(run, components, &summary, error));
		run->control->done = run->nvertices - summary.nopen;
		if (summary.nopen == 0)
			return EMOGI_OK;
		TRY(make_round(run, components, error));
	}
}

/* Take the arrays. */
static EmogiStatus
take_arrays(Run *run, Components *components, EmogiError *error)
{
	uint32_t   *bitmaps;

	components->nvertices = run->nvertices;
	TRY(take_array(&run->memory, &components->component, run->nvertices, "components", error));
	TRY(take_array(&run->memory, &components->from, run->nvertices,
				   "smallest vertices that reach each",
				   error));
	TRY(take_array(&run->memory, &components->to, run->nvertices,
				   "smallest vertices reached by each",
				   error));
	TRY(take_array(&run->memory, &components->class_of, run->nvertices, "classes", error));
	TRY(take_array(&run->memory, &bitmaps, 4 * run->nwords, "bitmaps of vertices", error));
	for (int i = 0; i < 2; i++)
	{
		components->frontier[i] = bitmaps + 2 * i * run->nwords;
		components->reached[i] = bitmaps + (2 * i + 1) * run->nwords;
	}
	return take_array(&run->memory, &components->summary, 1, "summary of components", error);
}

EmogiStatus
emogi_cuda_scc(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			   EmogiError *error)
{
	Components	components = {};

	TRY(take_arrays(run, &components, error));
	TRY(emogi_run_place(run, graph, query, PLACE_BACKWARD_REQUIRED, edge_kernels,
						lengthof(edge_kernels), sizeof(Target), error));
	TRY(emogi_run_start_clock(run, error));
	TRY(find_components(run, &components, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = run->nvertices;
	result->nlevels = 1;
	return emogi_run_give(run, query, result, 0, components.component, error);
}
