/*
 * shards_path.cu: the path semiring on shards, and BFS and CC, which use the same parts.
 *
 * Returns level, distance or component [nvertices], like the engine's own kernels.
 *
 * Method. Each vertex has a key, smaller keys are better; each entry has the last key of its
 * source. A shard takes the minimum of its entries' candidate keys, in shared memory, and writes
 * back at once if a vertex has improved, so that the following shards of the same iteration see the
 * improvement ([1], section 4). If an iteration improves nothing, all entries had their sources'
 * keys throughout, so nothing is left to improve; the least fixpoint is unique, so the result is
 * bitwise determined. A long path takes about as many iterations as it has hops, each of which
 * reads every entry: that is inherent in the method.
 *   BFS            hops, 4 bytes
 *   CC             the minimum vertex, 4 bytes; every edge in both directions, no source
 *   path semiring  keys of best_paths.cuh, 8 bytes
 *
 * Bytes of an iteration, for n vertices, m entries: Vn, twice for changed shards; V per entry; 4
 * and the weight per entry whose source has a key; those of write_back per entry that begins in a
 * changed shard.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on
 * GPUs. HPDC 2014.
 */
#include "cuda/algorithms/best_paths.cuh"
#include "cuda/papers/shards.cuh"

/*
 * ---- applications: offer(key of the source, weight, bound) returns an edge's candidate key, all
 * ones for none ----
 */

struct Hops
{
	typedef uint32_t Key;

	static __device__ __forceinline__ Key
	offer(Key key, double weight, unsigned long long bound)
	{
		return key < bound ? key + 1 : EMOGI_NO_VERTEX;
	}
};

struct MinVertex
{
	typedef uint32_t Key;

	static __device__ __forceinline__ Key
	offer(Key key, double weight, unsigned long long bound)
	{
		return key;
	}
};

template <class Semiring>
struct Valued
{
	typedef unsigned long long Key;

	static __device__ __forceinline__ Key
	offer(Key key, double weight, unsigned long long bound)
	{
		const Key	offer = Semiring::encode(Semiring::candidate(Semiring::decode(key), weight));

		return offer <= bound ? offer : KEY_NONE;
	}
};

/*
 * Apply the entries of a shard to its vertices. Reads first, because most candidates do not improve
 * a key.
 */
template <class Application, typename Weight>
static __device__ __forceinline__ void
apply_entries(const Shards &shards, uint32_t shard, typename Application::Key *local,
			  uint32_t first, unsigned long long bound, const Step &step)
{
	typedef typename Application::Key Key;
	const Key	none = ~(Key) 0;
	const Key  *value = (const Key *) shards.value;
	const uint64_t end = shards.begin[shard + 1];
	uint64_t	round = 0;

	for (uint64_t base = shards.begin[shard] + threadIdx.x; base < end; base += SHARD_ROUND)
	{
		Key			key[SHARD_UNROLL];
		uint32_t	dest[SHARD_UNROLL];
		double		weight[SHARD_UNROLL];

		if (leaves_shard(step, round++, SHARD_ROUND))
			break;
#pragma unroll
		for (uint32_t k = 0; k < SHARD_UNROLL; k++)
		{
			const uint64_t e = base + k * SHARD_THREADS;

			key[k] = e < end ? __ldcg(&value[e]) : none;
		}
#pragma unroll
		for (uint32_t k = 0; k < SHARD_UNROLL; k++)
		{
			const uint64_t e = base + k * SHARD_THREADS;

			dest[k] = key[k] != none ? __ldg(&shards.dest[e]) : 0;
			weight[k] = 1.0;
			if constexpr (weight_bytes<Weight>() > 0)
				weight[k] = key[k] != none ? (double) __ldg((const Weight *) shards.weight + e) : 0;
		}
#pragma unroll
		for (uint32_t k = 0; k < SHARD_UNROLL; k++)
			if (key[k] != none)
			{
				const Key	offer = Application::offer(key[k], weight[k], bound);

				if (offer < *(volatile Key *) &local[dest[k] - first])
					atomicMin(&local[dest[k] - first], offer);
			}
	}
}

/* Run an iteration. Counts the shards that changed. Bytes: see above. */
template <class Application, typename Weight>
static __global__ void __launch_bounds__(SHARD_THREADS, SHARD_RESIDENT)
shards_relax_kernel(Shards shards, void *vertex_key, unsigned long long bound, Step step)
{
	typedef typename Application::Key Key;
	Key		   *local = (Key *) shard_memory();

	take_shards(shards, step, [&](uint32_t shard, uint64_t first, uint32_t count) {
		Key		   *key = (Key *) vertex_key + first;
		bool		improved = false;

		for (uint32_t i = threadIdx.x; i < count; i += SHARD_THREADS)
			local[i] = key[i];
		__syncthreads();
		apply_entries<Application, Weight>(shards, shard, local, (uint32_t) first, bound, step);
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < count; i += SHARD_THREADS)
			if (local[i] < key[i])
			{
				key[i] = local[i];
				improved = true;
			}
		if (!__syncthreads_or(improved))
			return;
		if (threadIdx.x == 0)
			atomicAdd(&step.counters->claimed, 1ull);
		write_back(shards, shard, local, (uint32_t) first, step);
	});
}

/* Set the sources' keys, and mark their shards. Bytes: 12 per source, at random. */
template <typename Key>
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_enter_sources_kernel(const uint32_t *sources, uint64_t nsources, Key *key, Key source_key,
							uint32_t width, uint32_t *changed)
{
	for_each(nsources, [&](uint64_t i) {
		key[sources[i]] = source_key;
		changed[sources[i] / width] = 1;
	});
}

/* Set every vertex's key to its own number, and mark all shards. Bytes: 4 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_enter_all_kernel(uint64_t nvertices, uint32_t *key, uint32_t width, uint32_t *changed)
{
	for_each(nvertices, [&](uint64_t v) {
		key[v] = (uint32_t) v;
		if (v % width == 0)
			changed[v / width] = 1;
	});
}

/* Count the vertices reached, and find the last level. Bytes: 4 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_survey_kernel(const uint32_t *level, uint64_t nvertices, Counters *counters)
{
	unsigned long long reached = 0;
	unsigned long long last = 0;

	for_each(nvertices, [&](uint64_t v) {
		if (level[v] != EMOGI_NO_VERTEX)
		{
			reached++;
			last = level[v] > last ? level[v] : last;
		}
	block_add(&counters->claimed, reached);
	});
	if (last > *(volatile unsigned long long *) &counters->nearest)
		atomicMax(&counters->nearest, last);
}

template <class Application>
static RelaxKernel
choose_weight(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) {
		return (RelaxKernel) shards_relax_kernel<Application, decltype(weight)>;
	});
}

static RelaxKernel
choose_relax(EmogiAlgorithm algorithm, EmogiWeightType type)
{
	if (algorithm == EMOGI_BFS)
		return shards_relax_kernel<Hops, NoWeight>;
	if (algorithm == EMOGI_CC)
		return shards_relax_kernel<MinVertex, NoWeight>;
	switch (algorithm)
	{
#define PATH(NAME, ...) \
		case EMOGI_##NAME: \
			return choose_weight<Valued<PathSemiring<EMOGI_##NAME>>>(type);
			EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
#undef PATH
	}
	return NULL;
}

typedef void (*FinishKernel) (unsigned long long *key, uint64_t nvertices, Counters *counters);

static FinishKernel
choose_finish(EmogiAlgorithm algorithm)
{
	return with_path(algorithm, [](auto semiring) {
		return (FinishKernel) best_paths_finish_kernel<decltype(semiring)>;
	});
}

EmogiStatus
emogi_shards_open_paths(ShardPaths *paths, EmogiAlgorithm algorithm, EmogiWeightType type,
						EmogiError *error)
{
	const EmogiShardShape *shape = &paths->shards.shape;

	paths->relax = choose_relax(algorithm, type);
	TRY(emogi_shards_fit_write(paths->run, &paths->shards, &paths->write_grid, error));
	return emogi_shards_fit(paths->run, &paths->shards, (const void *) paths->relax,
							shape->width * shape->value_bytes, &paths->relax_grid, error);
}

/*
 * Iterate until nothing improves. On entry, only the entries of shards marked in `changed` have
 * keys to be written. Get the number of iterations.
 */
static EmogiStatus
iterate(ShardPaths *paths, uint32_t *niterations, EmogiResult *result, EmogiError *error)
{
	Run		   *run = paths->run;
	const Shards *shards = &paths->shards;
	const EmogiShardShape *shape = &shards->shape;
	const Counters *counters;

	*niterations = 0;
	CUDA_TRY(cudaMemsetAsync(shards->value, 0xFF, shape->nentries * shape->value_bytes,
							 run->state->stream));
	TRY(emogi_shards_write(run, shards, &paths->write_grid, paths->key, paths->changed, error));
	do
	{
		run->control->level = *niterations;
		if (run->control->cancel)
			return EMOGI_CANCELED;
		TRY(emogi_run_begin_step(run, error));
		SHARD_LAUNCH(paths->relax, paths->relax_grid, run->state->stream, *shards, paths->key,
					 paths->bound, run->step);
		TRY(emogi_run_read(run, &counters, error));
		result->edges_traversed += shape->nentries;
		(*niterations)++;
	} while (counters->claimed > 0);
	return EMOGI_OK;
}

/* Set the sources' keys, and clear those of all other vertices. */
template <typename Key>
static EmogiStatus
start_at_sources(ShardPaths *paths, Key source_key, EmogiError *error)
{
	const EmogiShardShape *shape = &paths->shards.shape;
	cudaStream_t stream = paths->run->state->stream;

	CUDA_TRY(cudaMemsetAsync(paths->key, 0xFF, shape->nvertices * sizeof(Key), stream));
	CUDA_TRY(cudaMemsetAsync(paths->changed, 0, shape->nshards * sizeof *paths->changed, stream));
	CUDA_LAUNCH(shards_enter_sources_kernel<Key>, paths->run->full_blocks, BLOCK_THREADS, stream,
				paths->sources, paths->nsources, (Key *) paths->key, source_key, shape->width,
				paths->changed);
	return EMOGI_OK;
}

EmogiStatus
emogi_shards_levels(ShardPaths *paths, EmogiResult *result, EmogiError *error)
{
	Run		   *run = paths->run;
	const Counters *counters;
	uint32_t	niterations;

	TRY(start_at_sources<uint32_t>(paths, 0, error));
	TRY(iterate(paths, &niterations, result, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(shards_survey_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				(const uint32_t *) paths->key, run->nvertices, run->step.counters);
	TRY(emogi_run_read(run, &counters, error));
	result->nreached = counters->claimed;
	result->nlevels = counters->claimed > 0 ? (uint32_t) counters->nearest + 1 : 0;
	return EMOGI_OK;
}

/* Find best paths. At the end, keys are converted to values. */
static EmogiStatus
find_values(ShardPaths *paths, EmogiAlgorithm algorithm, EmogiResult *result, EmogiError *error)
{
	const FinishKernel finish = choose_finish(algorithm);
	Run		   *run = paths->run;
	const Counters *counters;

	TRY(start_at_sources(paths, source_key(algorithm), error));
	TRY(iterate(paths, &result->nlevels, result, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(finish, run->full_blocks, BLOCK_THREADS, run->state->stream,
				(unsigned long long *) paths->key, run->nvertices, run->step.counters);
	TRY(emogi_run_read(run, &counters, error));
	result->nreached = counters->claimed;
	return EMOGI_OK;
}

/* Run CC. */
static EmogiStatus
find_components(ShardPaths *paths, EmogiResult *result, EmogiError *error)
{
	Run		   *run = paths->run;

	CUDA_LAUNCH(shards_enter_all_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				run->nvertices, (uint32_t *) paths->key, paths->shards.shape.width, paths->changed);
	TRY(iterate(paths, &result->nlevels, result, error));
	result->nreached = run->nvertices;
	return EMOGI_OK;
}

/* Return the query's bound of keys, which is below KEY_INFINITY or at most INT32_MAX. */
static unsigned long long
find_bound(const EmogiQuery *query)
{
	return query->algorithm == EMOGI_BFS ? emogi_shards_depth(query) : offer_bound(query);
}

/* Run, between start and stop of the clock, until the values are on the device. */
static EmogiStatus
run_timed(ShardPaths *paths, EmogiAlgorithm algorithm, EmogiResult *result, EmogiError *error)
{
	paths->run->control->done = 0;
	paths->run->control->total = paths->run->nvertices;
	TRY(emogi_run_start_clock(paths->run, error));
	if (algorithm == EMOGI_BFS)
		TRY(emogi_shards_levels(paths, result, error));
	else if (algorithm == EMOGI_CC)
		TRY(find_components(paths, result, error));
	else
		TRY(find_values(paths, algorithm, result, error));
	TRY(emogi_run_stop_clock(paths->run, result, error));
	paths->run->control->done = result->nreached;
	return EMOGI_OK;
}

EmogiStatus
emogi_shards_path(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				  EmogiError *error)
{
	const EmogiAlgorithm algorithm = query->algorithm;
	const bool	valued = emogi_is_path(algorithm);
	const bool	none = algorithm == EMOGI_CC || is_hopeless(query);
	const uint32_t key_bytes = valued ? sizeof(unsigned long long) : sizeof(uint32_t);
	const ShardWants wants = {
		key_bytes, key_bytes, valued, false, algorithm == EMOGI_CC, NULL, NULL
	};
	ShardPaths	paths = {};
	uint32_t   *sources;

	paths.run = run;
	paths.nsources = none ? 0 : query->nsources;
	paths.bound = find_bound(query);
	TRY(emogi_memory_take(&run->memory, &paths.key, run->nvertices * key_bytes, "keys", error));
	TRY(take_array(&run->memory, &sources, paths.nsources, "sources", error));
	TRY(emogi_run_send(run, sources, query->sources, paths.nsources * sizeof *sources, error));
	paths.sources = sources;
	TRY(emogi_shards_build(run, graph, query, &wants, &paths.shards, &result->link_bytes, error));
	TRY(take_array(&run->memory, &paths.changed, paths.shards.shape.nshards, "marks of shards",
				   error));
	TRY(emogi_shards_open_paths(&paths, algorithm, graph->weight_type, error));
	TRY(run_timed(&paths, algorithm, result, error));
	return emogi_run_fetch(run, result->columns[0].any, paths.key,
						   run->nvertices * (uint64_t) key_bytes, error);
}
