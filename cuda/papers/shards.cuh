/*
 * shards.cuh: G-Shards and concatenated windows as kernels see them, and definitions that all
 * applications on them share. shards.cu describes the method.
 */
#ifndef EMOGI_SHARDS_CUH
#define EMOGI_SHARDS_CUH

#include "cuda/papers/papers.cuh"
#include "cuda/papers/shards_bytes.cuh"

/*
 * Tuned constants of shards, of bc1d508. bench/PAPERS.md (cusha) has the figures of an NVIDIA H200
 * at b47e0c8 with these values; other values were not recorded.
 */
#define SHARD_THREADS 512		/* per block that processes a shard; worth trying: 256, 1024 */
#define SHARD_UNROLL 4			/* entries that a thread has in flight; worth trying: 2, 8 */
/* blocks that must fit in a multiprocessor's registers; worth trying: 2, 4 */
#define SHARD_RESIDENT 3
#define SHARD_BLOCKS 2 /* minimum that fit in its shared memory: one computes while another waits */
#define SHARD_ENTRIES_PER_CHECK (1u << 20)	/* of one shard between two polls of cancel */
#define LEVELS_AHEAD 64			/* of SSNSP, that the host launches between two polls of cancel */
/* per piece that is sorted: 2^25 entries, 1.1 GB; worth trying: 2^13, 2^16 */
#define PIECE_CHUNKS (UINT64_C(1) << 14)
#define MIN_CHUNKS (UINT64_C(1) << 9)	/* minimum worth sorting at a time */
#define PIECE_SHARE 2			/* a piece takes at most 1 / PIECE_SHARE of the remaining memory */

#define SHARD_WARPS (SHARD_THREADS / WARP_LANES)
#define SHARD_ROUND (SHARD_THREADS * SHARD_UNROLL)

/*
 * The structure, in device memory. Shard s has the edges that end in vertices width * s .. width *
 * (s + 1) - 1, in the order of their sources; its part that begins in shard i is window (i, s). An
 * entry is one element of each of source, value, weight and dest, except that in the WINDOWS
 * mapping source is ordered like place.
 */
typedef struct Shards
{
	EmogiShardShape shape;
	uint64_t   *begin;			/* [nshards + 1], first entry of each shard */
	uint32_t   *dest;			/* [nentries], the vertex in which the edge ends */
	void	   *weight;			/* [nentries], in the graph's width; NULL = none */
	/* [nentries] of value_bytes: the value of the vertex in which the edge begins */
	void	   *value;
	/* [nentries], that vertex; SHARDS: of each entry; WINDOWS: in the order of place */
	uint32_t   *source;
	/*
	 * SHARDS: [nshards + 1][nshards], first entry of window (i, s), then the shards' ends;
	 * otherwise NULL
	 */
	uint64_t   *window;
	/* WINDOWS: [nshards + 1], where the windows (i, 0), (i, 1), ... begin in place */
	uint64_t   *joined;
	/*
	 * WINDOWS: [nentries] of 4 or 8 bytes, entry numbers, with the windows of one source shard
	 * concatenated
	 */
	void	   *place;
} Shards;

/* An application's requirements on the structure. */
typedef struct ShardWants
{
	uint32_t	value_bytes;
	uint32_t	vertex_bytes;	/* of shared memory per vertex, in the kernel that needs most */
	bool		weighted;
	bool		against;		/* forward's list of v has the sources of the edges that end in v */
	bool		both;			/* every edge has both directions */
	/* [nvertices], output: number of edges that begin in each vertex; NULL = not wanted */
	unsigned long long *degree;
	/* [nwords] bits, output: the forward list is not empty; NULL = not wanted */
	uint32_t   *filled;
} ShardWants;

/* The launch configuration of a kernel over shards. */
typedef struct ShardGrid
{
	int			nblocks;		/* that run at a time, at most one per shard */
	uint32_t	shared_bytes;	/* per block */
} ShardGrid;

/*
 * Allocate the structure of the query's mapping, place the graph, build the structure, and release
 * everything else. Called after all other large allocations of the run, and before the clock
 * starts. Get the bytes transferred over the link. Return NO_MEMORY, with figures, if the structure
 * does not fit. The query's placement says where the lists are read from, HOST for MANAGED and
 * STAGED; the run's placement is DEVICE afterwards, because only the structure is read.
 */
extern EmogiStatus emogi_shards_build(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
									  const ShardWants *wants, Shards *shards, uint64_t *link_bytes,
									  EmogiError *error);

/* Set a kernel's shared memory per block, and choose its grid. Called before the clock starts. */
extern EmogiStatus emogi_shards_fit(const Run *run, const Shards *shards, const void *kernel,
									uint32_t shared_bytes, ShardGrid *grid, EmogiError *error);

/* Do the same for the kernel that emogi_shards_write launches. */
extern EmogiStatus emogi_shards_fit_write(const Run *run, const Shards *shards, ShardGrid *grid,
										  EmogiError *error);

/*
 * Write the values of the vertices of marked shards into the entries that begin in them.
 * vertex_value[nvertices] has elements of value_bytes; changed[nshards], 0 = not marked.
 */
extern EmogiStatus emogi_shards_write(Run *run, const Shards *shards, const ShardGrid *grid,
									  const void *vertex_value, const uint32_t *changed,
									  EmogiError *error);

typedef void (*RelaxKernel) (Shards shards, void *vertex_key, unsigned long long bound, Step step);

/*
 * A run of the path semiring over shards that have been built. Device arrays belong to run->memory.
 */
typedef struct ShardPaths
{
	Run		   *run;
	Shards		shards;			/* values are keys */
	RelaxKernel relax;			/* set by emogi_shards_open_paths, like the grids */
	ShardGrid	relax_grid;
	ShardGrid	write_grid;
	const uint32_t *sources;	/* [nsources], vertices; none for CC */
	uint64_t	nsources;
	void	   *key;			/* [nvertices] of value_bytes */
	uint32_t   *changed;		/* [nshards] */
	unsigned long long bound;	/* larger keys are ignored */
} ShardPaths;

/*
 * Choose the kernels of BFS, CC or best paths, and load them to the device. Called before the clock
 * starts.
 */
extern EmogiStatus emogi_shards_open_paths(ShardPaths *paths, EmogiAlgorithm algorithm,
										   EmogiWeightType type, EmogiError *error);

/*
 * emogi_shards_levels: compute levels by hops; keys are levels of 4 bytes. Called between start and
 * stop of the clock. Writes nreached and nlevels, adds to the edges.
 */
/* Return the maximum level that a query requests; INT32_MAX = no bound. */
static inline uint64_t
emogi_shards_depth(const EmogiQuery *query)
{
	return query->max_depth < 0 ||
		query->max_depth > INT32_MAX ? INT32_MAX : (uint64_t) query->max_depth;
}

extern EmogiStatus emogi_shards_levels(ShardPaths *paths, EmogiResult *result, EmogiError *error);

/* Applications. */
extern RunFunction emogi_shards_path;
extern RunFunction emogi_shards_ssnsp;
extern RunFunction emogi_shards_sum;

#define SHARD_LAUNCH(kernel, grid, stream, ...) \
	do { \
		kernel<<<(grid).nblocks, SHARD_THREADS, (grid).shared_bytes, (stream)>>>(__VA_ARGS__); \
		CUDA_TRY(cudaGetLastError()); \
	} while (0)

/* Return the dynamic shared memory of the block. */
static __device__ __forceinline__ void *
shard_memory(void)
{
	extern __shared__ uint4 given_memory[];

	return given_memory;
}

/*
 * Distribute the shards to the blocks of the grid. Whole blocks call process(shard, first vertex,
 * number of vertices).
 */
template <class Process>
static __device__ __forceinline__ void
take_shards(const Shards &shards, const Step &step, Process process)
{
	__shared__ uint32_t ticket;

	for (;;)
	{
		uint32_t	shard;
		uint64_t	first;
		uint64_t	left;

		__syncthreads();		/* the previous shard is no longer in use */
		if (threadIdx.x == 0)
			ticket = take_ticket(step);
		__syncthreads();
		shard = ticket;
		if (shard >= shards.shape.nshards)
			break;
		first = (uint64_t) shard * shards.shape.width;
		left = shards.shape.nvertices - first;
		process(shard, first, left < shards.shape.width ? (uint32_t) left : shards.shape.width);
	}
}

/*
 * Return whether a thread must leave a loop over entries, `entries` per round, in this round. Only
 * long loops check; the first thread of each block then polls the host, because the block that
 * usually polls may have returned.
 */
static __device__ __forceinline__ bool
leaves_shard(const Step &step, uint64_t round, uint32_t entries)
{
	volatile uint32_t *halt = &step.counters->halt;

	if (round % (SHARD_ENTRIES_PER_CHECK / entries) != SHARD_ENTRIES_PER_CHECK / entries - 1)
		return false;
	if (threadIdx.x == 0 && *step.stop != 0)
		*halt = 1;
	return *halt != 0;
}

/*
 * Write into window after window, one warp each. Bytes: 16 per window, 4 + V per entry, whole lines
 * in long windows.
 */
template <typename Value>
static __device__ __forceinline__ void
write_windows(const Shards &shards, uint32_t shard, const Value *local, uint32_t first,
			  const Step &step)
{
	const uint64_t nshards = shards.shape.nshards;
	const uint64_t *window = shards.window + shard * nshards;
	Value	   *value = (Value *) shards.value;
	uint64_t	round = 0;

	for (uint64_t base = threadIdx.x / WARP_LANES; base < nshards; base += SHARD_WARPS * WARP_LANES)
	{
		const uint64_t its = base + lane_number() * SHARD_WARPS;
		const uint64_t start = its < nshards ? __ldg(&window[its]) : 0;
		const uint64_t end = its < nshards ? __ldg(&window[nshards + its]) : 0;
		uint32_t	todo = __ballot_sync(FULL_WARP, start < end);

		while (todo != 0)
		{
			const uint32_t lane = __ffs(todo) - 1;
			const uint64_t upto = __shfl_sync(FULL_WARP, end, lane);

			todo &= todo - 1;
			for (uint64_t e = __shfl_sync(FULL_WARP, start, lane); e < upto; e += WARP_LANES)
			{
				const uint64_t own = e + lane_number();

				if (own < upto)
					value[own] = local[__ldg(&shards.source[own]) - first];
				if (__any_sync(FULL_WARP, leaves_shard(step, round++, WARP_LANES)))
					return;
			}
		}
	}
}

/* Write into the concatenated windows, all threads over one array. Bytes: 4 + P + V per entry. */
template <typename Value, typename Place>
static __device__ __forceinline__ void
write_joined(const Shards &shards, uint32_t shard, const Value *local, uint32_t first,
			 const Step &step)
{
	const uint64_t end = shards.joined[shard + 1];
	const Place *place = (const Place *) shards.place;
	Value	   *value = (Value *) shards.value;
	uint64_t	round = 0;

	for (uint64_t base = shards.joined[shard] + threadIdx.x; base < end; base += SHARD_ROUND)
	{
		uint32_t	source[SHARD_UNROLL];
		Place		entry[SHARD_UNROLL];

		if (leaves_shard(step, round++, SHARD_ROUND))
			break;
#pragma unroll
		for (uint32_t k = 0; k < SHARD_UNROLL; k++)
			if (base + k * SHARD_THREADS < end)
			{
				source[k] = __ldg(&shards.source[base + k * SHARD_THREADS]);
				entry[k] = __ldg(&place[base + k * SHARD_THREADS]);
			}
#pragma unroll
		for (uint32_t k = 0; k < SHARD_UNROLL; k++)
			if (base + k * SHARD_THREADS < end)
				value[entry[k]] = local[source[k] - first];
	}
}

/*
 * Write local[width], the values of a shard's vertices, into the entries that begin in them. Whole
 * block.
 */
template <typename Value>
static __device__ __forceinline__ void
write_back(const Shards &shards, uint32_t shard, const Value *local, uint32_t first,
		   const Step &step)
{
	if (shards.window != NULL)
		write_windows(shards, shard, local, first, step);
	else if (shards.shape.nentries >> 32 == 0)
		write_joined<Value, uint32_t>(shards, shard, local, first, step);
	else
		write_joined<Value, unsigned long long>(shards, shard, local, first, step);
}

#endif							/* EMOGI_SHARDS_CUH */
