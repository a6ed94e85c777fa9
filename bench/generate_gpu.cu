/*
 * generate_gpu.cu: build synthetic graphs on a GPU, where two billion edges take seconds:
 * emogi_bench_cuda.so.
 *
 * The keys that occur are marked in a bitmap; a key's number is its rank in the bitmap. Then each
 * edge is generated again, now with numbers, and stored in both directions as one integer, the
 * source in the upper half. After a sort, these are the adjacency lists of all vertices in order,
 * with repeated edges adjacent. The kept entries are counted and then written tile by tile, in
 * order. Every numbered vertex has entries (self-loops are dropped last), so the first entry of
 * each source sets its offset.
 *
 * Device memory: 32 bytes per edge for both buffers of the sort, of which the second receives the
 * finished lists, and 16 bytes per vertex.
 */
#include "device_generator.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

#define BLOCK_THREADS 256
#define BLOCKS_PER_UNIT 16
#define WARP_LANES 32
#define ALL_LANES 0xFFFFFFFFu
#define WORD_BITS 64
#define TILE_ENTRIES 1024		/* counted and written in order by one warp */
#define ARRAY_BYTES 256			/* alignment of arrays within an allocation */

/* Return an error if a call of the runtime failed. */
#define CUDA_TRY(call, what) \
	do { \
		const cudaError_t code_ = (call); \
		if (code_ != cudaSuccess) \
			return fail(error, code_, (what)); \
	} while (0)

#define TRY(call) \
	do { \
		const EmogiStatus status_ = (call); \
		if (status_ != EMOGI_OK) \
			return status_; \
	} while (0)

#define LAUNCH(kernel, nblocks, ...) \
	kernel<<<(nblocks), BLOCK_THREADS>>>(__VA_ARGS__)

/* The graph and its intermediate arrays. Each pointer is an allocation of its own. */
struct EmogiDeviceGraph
{
	EmogiRecipe recipe;
	int			nblocks;		/* number of blocks that fill the device */
	uint64_t	nvertices;
	uint64_t	nedges;
	int64_t    *ids;			/* [nvertices] */
	uint64_t   *offsets;		/* [nvertices + 1] */
	uint64_t   *bitmap;			/* [nwords], the keys that occur */
	uint32_t   *ranks;			/* [nwords + 1], number of keys before each word */
	uint64_t   *buffers[2];		/* [nentries]; entries, source in the upper half */
	int			sorted;			/* index of the sorted buffer; the other receives targets and weights */
	uint64_t   *tiles;			/* [ntiles + 1], kept entries of each tile, then their prefix sum */
	void	   *scratch;		/* scratch memory of CUB */
	uint64_t	nwords;
	uint64_t	nentries;
	uint64_t	ntiles;
	int			bits;			/* bits of a vertex number */
};

/* Set an error; returns its status. */
static EmogiStatus
fail(EmogiError *error, cudaError_t code, const char *what)
{
	(void) cudaGetLastError();
	snprintf(error->message, sizeof error->message, "%s", code == cudaErrorMemoryAllocation ?
			 "out of memory on the GPU" : "the GPU or its driver failed");
	snprintf(error->detail, sizeof error->detail, "%.120s: %s", what, cudaGetErrorString(code));
	return code == cudaErrorMemoryAllocation ? EMOGI_NO_MEMORY : EMOGI_DEVICE_ERROR;
}

/* Wait for the kernels of a step. */
static EmogiStatus
finish(const char *what, EmogiError *error)
{
	CUDA_TRY(cudaGetLastError(), what);
	CUDA_TRY(cudaDeviceSynchronize(), what);
	return EMOGI_OK;
}

/* Allocate device memory. */
template<typename T>
static EmogiStatus
take(T **out, uint64_t count, const char *what, EmogiError *error)
{
	void	   *memory = NULL;

	CUDA_TRY(cudaMalloc(&memory, (count > 0 ? count : 1) * sizeof(T)), what);
	*out = (T *) memory;
	return EMOGI_OK;
}

/* Free device memory and clear the pointer. */
template<typename T>
static void
drop(T **memory)
{
	(void) cudaFree(*memory);
	*memory = NULL;
}

__device__ static inline uint64_t
thread_number(void)
{
	return (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static inline uint64_t
thread_count(void)
{
	return (uint64_t) gridDim.x * blockDim.x;
}

/* Mark a key. Most keys are already marked, which a read detects. */
__device__ static inline void
mark_key(uint64_t *bitmap, uint64_t key)
{
	const uint64_t bit = UINT64_C(1) << (key % WORD_BITS);

	if ((bitmap[key / WORD_BITS] & bit) == 0)
		atomicOr((unsigned long long *) &bitmap[key / WORD_BITS], (unsigned long long) bit);
}

/* Mark the endpoints of all edges. */
__global__ static void
generate_mark_keys_kernel(EmogiRecipe recipe, uint64_t *bitmap)
{
	for (uint64_t i = thread_number(); i < recipe.nedges; i += thread_count())
	{
		const EmogiEdge edge = emogi_make_edge(&recipe, i);

		mark_key(bitmap, (uint64_t) edge.src);
		mark_key(bitmap, (uint64_t) edge.dst);
	}
}

/* Count the keys of each word, and 0 for an extra word, whose rank is the total. */
__global__ static void
generate_count_keys_kernel(const uint64_t *bitmap, uint64_t nwords, uint32_t *ranks)
{
	for (uint64_t w = thread_number(); w <= nwords; w += thread_count())
		ranks[w] = w < nwords ? (uint32_t) __popcll(bitmap[w]) : 0;
}

/* Write the keys that occur, in order. */
__global__ static void
generate_write_ids_kernel(const uint64_t *bitmap, uint64_t nwords, const uint32_t *ranks, int64_t *ids)
{
	for (uint64_t w = thread_number(); w < nwords; w += thread_count())
	{
		uint64_t	rank = ranks[w];

		for (uint64_t word = bitmap[w]; word != 0; word &= word - 1)
			ids[rank++] = (int64_t) (w * WORD_BITS + (uint64_t) __ffsll((long long) word) - 1);
	}
}

/* Get the number of a key that occurs. */
__device__ static inline uint64_t
number_of(const uint64_t *bitmap, const uint32_t *ranks, uint64_t key)
{
	const uint64_t below = (UINT64_C(1) << (key % WORD_BITS)) - 1;

	return ranks[key / WORD_BITS] + (uint64_t) __popcll(bitmap[key / WORD_BITS] & below);
}

/* Store all edges in both directions. Writes 16 bytes per edge. */
__global__ static void
generate_write_entries_kernel(EmogiRecipe recipe, const uint64_t *bitmap, const uint32_t *ranks, int bits, uint64_t *entries)
{
	for (uint64_t i = thread_number(); i < recipe.nedges; i += thread_count())
	{
		const EmogiEdge edge = emogi_make_edge(&recipe, i);
		const uint64_t u = number_of(bitmap, ranks, (uint64_t) edge.src);
		const uint64_t v = number_of(bitmap, ranks, (uint64_t) edge.dst);

		entries[2 * i] = u << bits | v;
		entries[2 * i + 1] = v << bits | u;
	}
}

/* Return true if sorted entry i is kept, that is, neither a repeated edge nor a self-loop. */
__device__ static inline bool
is_kept(const uint64_t *entries, uint64_t i, int bits)
{
	const uint64_t entry = entries[i];

	return (i == 0 || entries[i - 1] != entry) && entry >> bits != (entry & ((UINT64_C(1) << bits) - 1));
}

/* Count the kept entries of each tile, and 0 for an extra tile. Reads 8 bytes per entry. */
__global__ static void
generate_count_kept_kernel(const uint64_t *entries, uint64_t nentries, int bits, uint64_t *tiles, uint64_t ntiles)
{
	const uint64_t lane = thread_number() % WARP_LANES;

	for (uint64_t tile = thread_number() / WARP_LANES; tile <= ntiles; tile += thread_count() / WARP_LANES)
	{
		uint32_t	count = 0;

		for (uint64_t at = tile * TILE_ENTRIES; at < (tile + 1) * TILE_ENTRIES && at < nentries; at += WARP_LANES)
		{
			const uint64_t i = at + lane;

			count += (uint32_t) __popc(__ballot_sync(ALL_LANES, i < nentries && is_kept(entries, i, bits)));
		}
		if (lane == 0)
			tiles[tile] = count;
	}
}

/*
 * Write targets, weights (unless weights is NULL) and offsets. before: [ntiles], kept entries
 * before each tile. Reads 8 bytes per entry and writes 5 per kept entry.
 */
__global__ static void
generate_write_lists_kernel(const uint64_t *entries, uint64_t nentries, int bits, const uint64_t *before, uint64_t ntiles,
							uint64_t seed, uint32_t max_weight, uint64_t *offsets, uint32_t *targets, uint8_t *weights)
{
	const uint64_t lane = thread_number() % WARP_LANES;

	for (uint64_t tile = thread_number() / WARP_LANES; tile < ntiles; tile += thread_count() / WARP_LANES)
	{
		uint64_t	written = before[tile];

		for (uint64_t at = tile * TILE_ENTRIES; at < (tile + 1) * TILE_ENTRIES && at < nentries; at += WARP_LANES)
		{
			const uint64_t i = at + lane;
			const bool	kept = i < nentries && is_kept(entries, i, bits);
			const uint32_t all_kept = __ballot_sync(ALL_LANES, kept);
			const uint64_t to = written + (uint64_t) __popc(all_kept & ((1u << lane) - 1));

			written += (uint64_t) __popc(all_kept);
			if (i >= nentries)
				continue;
			const uint64_t u = entries[i] >> bits;
			const uint64_t v = entries[i] & ((UINT64_C(1) << bits) - 1);

			if (i == 0 || entries[i - 1] >> bits != u)
				offsets[u] = to;
			if (kept)
			{
				targets[to] = (uint32_t) v;
				if (weights != NULL)
					weights[to] = emogi_make_weight(seed, max_weight, u, v);
			}
		}
	}
}

/*
 * Get the targets: they start at the beginning of the buffer not used by the sort result, followed
 * by the weights.
 */
static uint32_t *
targets_of(const EmogiDeviceGraph *graph)
{
	return (uint32_t *) graph->buffers[1 - graph->sorted];
}

static uint8_t *
weights_of(const EmogiDeviceGraph *graph)
{
	const uint64_t bytes = (graph->nedges * sizeof(uint32_t) + ARRAY_BYTES - 1) / ARRAY_BYTES * ARRAY_BYTES;

	return (uint8_t *) targets_of(graph) + bytes;
}

/* Number the keys that occur and write ids. */
static EmogiStatus
number_keys(EmogiDeviceGraph *graph, EmogiError *error)
{
	size_t		bytes = 0;
	uint32_t	nvertices = 0;

	graph->nwords = (graph->recipe.nkeys + WORD_BITS - 1) / WORD_BITS;
	TRY(take(&graph->bitmap, graph->nwords, "the key bitmap", error));
	TRY(take(&graph->ranks, graph->nwords + 1, "the key ranks", error));
	CUDA_TRY(cudaMemset(graph->bitmap, 0, graph->nwords * sizeof(uint64_t)), "clearing the bitmap");
	LAUNCH(generate_mark_keys_kernel, graph->nblocks, graph->recipe, graph->bitmap);
	LAUNCH(generate_count_keys_kernel, graph->nblocks, graph->bitmap, graph->nwords, graph->ranks);
	TRY(finish("marking keys", error));
	CUDA_TRY(cub::DeviceScan::ExclusiveSum(NULL, bytes, graph->ranks, graph->ranks, graph->nwords + 1), "ranking keys");
	TRY(take((char **) &graph->scratch, bytes, "the scratch memory of ranks", error));
	CUDA_TRY(cub::DeviceScan::ExclusiveSum(graph->scratch, bytes, graph->ranks, graph->ranks, graph->nwords + 1),
			 "ranking keys");
	TRY(finish("ranking keys", error));
	drop(&graph->scratch);
	CUDA_TRY(cudaMemcpy(&nvertices, graph->ranks + graph->nwords, sizeof nvertices, cudaMemcpyDeviceToHost),
			 "copying the number of vertices");
	graph->nvertices = nvertices;
	for (graph->bits = 1; (graph->nvertices - 1) >> graph->bits != 0; graph->bits++)
		;
	TRY(take(&graph->ids, graph->nvertices, "the vertex keys", error));
	LAUNCH(generate_write_ids_kernel, graph->nblocks, graph->bitmap, graph->nwords, graph->ranks, graph->ids);
	return finish("writing keys", error);
}

/* Allocate the memory of the sort, or report the required size. */
static EmogiStatus
take_buffers(EmogiDeviceGraph *graph, size_t scratch_bytes, EmogiError *error)
{
	/* The lists need 5 of the 8 bytes per entry, plus the gap before the weights. */
	const uint64_t room = graph->nentries + ARRAY_BYTES;
	const double needed = (double) (2 * room + graph->nvertices + graph->ntiles) * 8 + (double) scratch_bytes;
	size_t		available,
				all;

	CUDA_TRY(cudaMemGetInfo(&available, &all), "querying free device memory");
	if (needed > (double) available)
	{
		snprintf(error->message, sizeof error->message, "not enough GPU memory to build this graph");
		snprintf(error->detail, sizeof error->detail, "%.1f GB are needed, %.1f GB of %.1f GB are free", needed / 1e9,
				 (double) available / 1e9, (double) all / 1e9);
		return EMOGI_NO_MEMORY;
	}
	TRY(take(&graph->offsets, graph->nvertices + 1, "the offsets", error));
	TRY(take(&graph->tiles, graph->ntiles + 1, "the tiles", error));
	TRY(take((char **) &graph->scratch, scratch_bytes, "the scratch memory of the sort", error));
	TRY(take(&graph->buffers[0], room, "the edges", error));
	return take(&graph->buffers[1], room, "the second edge buffer", error);
}

/* Store the edges in both directions and sort them; frees the numbering. */
static EmogiStatus
sort_entries(EmogiDeviceGraph *graph, EmogiError *error)
{
	size_t		bytes = 0;
	cub::DoubleBuffer<uint64_t> buffers;

	graph->nentries = 2 * graph->recipe.nedges;
	graph->ntiles = (graph->nentries + TILE_ENTRIES - 1) / TILE_ENTRIES;
	CUDA_TRY(cub::DeviceRadixSort::SortKeys(NULL, bytes, buffers, graph->nentries, 0, 2 * graph->bits), "sorting edges");
	TRY(take_buffers(graph, bytes, error));
	LAUNCH(generate_write_entries_kernel, graph->nblocks, graph->recipe, graph->bitmap, graph->ranks, graph->bits,
		   graph->buffers[0]);
	TRY(finish("making edges", error));
	drop(&graph->bitmap);
	drop(&graph->ranks);
	buffers = cub::DoubleBuffer<uint64_t>(graph->buffers[0], graph->buffers[1]);
	CUDA_TRY(cub::DeviceRadixSort::SortKeys(graph->scratch, bytes, buffers, graph->nentries, 0, 2 * graph->bits),
			 "sorting edges");
	TRY(finish("sorting edges", error));
	graph->sorted = buffers.Current() == graph->buffers[0] ? 0 : 1;
	drop(&graph->scratch);
	return EMOGI_OK;
}

/* Build lists from the sorted entries and free these. */
static EmogiStatus
make_lists(EmogiDeviceGraph *graph, EmogiError *error)
{
	const uint64_t *entries = graph->buffers[graph->sorted];
	size_t		bytes = 0;

	LAUNCH(generate_count_kept_kernel, graph->nblocks, entries, graph->nentries, graph->bits, graph->tiles, graph->ntiles);
	TRY(finish("counting edges", error));
	CUDA_TRY(cub::DeviceScan::ExclusiveSum(NULL, bytes, graph->tiles, graph->tiles, graph->ntiles + 1), "placing tiles");
	TRY(take((char **) &graph->scratch, bytes, "the scratch memory of tiles", error));
	CUDA_TRY(cub::DeviceScan::ExclusiveSum(graph->scratch, bytes, graph->tiles, graph->tiles, graph->ntiles + 1),
			 "placing tiles");
	TRY(finish("placing tiles", error));
	drop(&graph->scratch);
	CUDA_TRY(cudaMemcpy(&graph->nedges, graph->tiles + graph->ntiles, sizeof graph->nedges, cudaMemcpyDeviceToHost),
			 "copying the number of edges");
	CUDA_TRY(cudaMemcpy(graph->offsets + graph->nvertices, &graph->nedges, sizeof graph->nedges, cudaMemcpyHostToDevice),
			 "closing the offsets");
	LAUNCH(generate_write_lists_kernel, graph->nblocks, entries, graph->nentries, graph->bits, graph->tiles, graph->ntiles,
		   graph->recipe.seed, graph->recipe.max_weight, graph->offsets, targets_of(graph),
		   graph->recipe.max_weight > 0 ? weights_of(graph) : NULL);
	TRY(finish("writing lists", error));
	drop(&graph->buffers[graph->sorted]);
	drop(&graph->tiles);
	return EMOGI_OK;
}

/* Run all steps. */
static EmogiStatus
make_graph(EmogiDeviceGraph *graph, EmogiError *error)
{
	int			device = 0,
				units = 0;

	CUDA_TRY(cudaGetDevice(&device), "getting the device");
	CUDA_TRY(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "getting the device's attributes");
	graph->nblocks = units * BLOCKS_PER_UNIT;
	TRY(number_keys(graph, error));
	TRY(sort_entries(graph, error));
	return make_lists(graph, error);
}

static void
release(EmogiDeviceGraph *graph)
{
	drop(&graph->ids);
	drop(&graph->offsets);
	drop(&graph->bitmap);
	drop(&graph->ranks);
	drop(&graph->buffers[0]);
	drop(&graph->buffers[1]);
	drop(&graph->tiles);
	drop(&graph->scratch);
	free(graph);
}

static EmogiStatus
generate(const EmogiRecipe *recipe, EmogiDeviceGraph **made, uint64_t *nvertices, uint64_t *nedges, EmogiError *error)
{
	EmogiDeviceGraph *graph;
	EmogiStatus status;

	error->message[0] = error->detail[0] = '\0';
	if (recipe->nedges == 0)
	{
		snprintf(error->message, sizeof error->message, "a graph without edges cannot be built on a GPU");
		return EMOGI_BAD_INPUT;
	}
	graph = (EmogiDeviceGraph *) calloc(1, sizeof(EmogiDeviceGraph));
	if (graph == NULL)
	{
		snprintf(error->message, sizeof error->message, "out of memory");
		return EMOGI_NO_MEMORY;
	}
	graph->recipe = *recipe;
	status = make_graph(graph, error);
	if (status != EMOGI_OK)
	{
		release(graph);
		return status;
	}
	*made = graph;
	*nvertices = graph->nvertices;
	*nedges = graph->nedges;
	return EMOGI_OK;
}

/* Copy the arrays to the host. */
static EmogiStatus
copy_arrays(const EmogiDeviceGraph *graph, const EmogiGraph *view, EmogiError *error)
{
	const EmogiAdjacency *to = &view->forward;

	CUDA_TRY(cudaMemcpy((void *) view->ids, graph->ids, graph->nvertices * sizeof(int64_t), cudaMemcpyDeviceToHost),
			 "copying keys");
	CUDA_TRY(cudaMemcpy((void *) to->offsets, graph->offsets, (graph->nvertices + 1) * sizeof(uint64_t),
						cudaMemcpyDeviceToHost), "copying offsets");
	CUDA_TRY(cudaMemcpy((void *) to->targets, targets_of(graph), graph->nedges * sizeof(uint32_t), cudaMemcpyDeviceToHost),
			 "copying targets");
	if (to->weights != NULL)
		CUDA_TRY(cudaMemcpy((void *) to->weights, weights_of(graph), graph->nedges, cudaMemcpyDeviceToHost),
				 "copying weights");
	return EMOGI_OK;
}

/* Memory that cannot be registered is copied nevertheless, at a fifth of the speed. */
static EmogiStatus
fetch(const EmogiDeviceGraph *graph, const EmogiGraph *view, EmogiError *error)
{
	void	   *memory = (void *) view->memory;
	const bool	registered = cudaHostRegister(memory, view->memory_bytes, cudaHostRegisterDefault) == cudaSuccess;
	EmogiStatus status;

	if (!registered)
		(void) cudaGetLastError();
	status = copy_arrays(graph, view, error);
	if (registered && cudaHostUnregister(memory) != cudaSuccess && status == EMOGI_OK)
		status = fail(error, cudaGetLastError(), "unregistering host memory");
	return status;
}

static const EmogiDeviceGenerator generator = {EMOGI_GENERATOR_ABI, generate, fetch, release};

extern "C" __attribute__((visibility("default"))) const EmogiDeviceGenerator *
emogi_device_generator(void)
{
	return &generator;
}
