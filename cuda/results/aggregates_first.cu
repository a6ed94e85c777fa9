/*
 * aggregates_first.cu: first rows of a result in an order, selected from the columns in device
 * memory.
 *
 * The k-th largest of the maxima of chunks is a bound that at least k rows reach. All rows that
 * reach it are selected; the caller sorts them.
 */
#include <algorithm>
#include <stdlib.h>

#include "cuda/results/aggregates_rows.cuh"

#define CHUNK_VERTICES 4096
#define SMALL_CHUNK_VERTICES BLOCK_THREADS	/* if many rows are wanted */
#define CHUNKS_PER_ROW 4

/* An order of rows by a column, expressed by keys: the first row has the largest key. */
typedef struct Order
{
	int			column;
	bool		descends;
	uint64_t	chunk_vertices;
	uint64_t	nchunks;
	/* [nchunks], maximum over the rows of a chunk; 0 = it has none, or the maximum is 0 */
	Key		   *largest;
} Order;

/* Return the key of a vertex. Zeros of either sign are equal. */
static __device__ __forceinline__ Key
order_key(const Rows &rows, const Order &order, uint64_t v)
{
	const Key key = rows.types[order.column] == EMOGI_FLOAT64 ?
		key_of_float(float_at(rows, order.column, v) + 0.0) :
		(Key) integer_at(rows, order.column, v) ^ SIGN;

	return order.descends ? key : ~key;
}

/*
 * Compute the largest key of each chunk. A block takes one chunk at a time. Bytes: those of the
 * columns.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
summary_largest_kernel(Rows rows, Order order)
{
	__shared__ Key largest;

	for (uint64_t chunk = blockIdx.x; chunk < order.nchunks; chunk += gridDim.x)
	{
		const uint64_t first = chunk * order.chunk_vertices;
		const uint64_t end = first + order.chunk_vertices < rows.nvertices ?
			first + order.chunk_vertices : rows.nvertices;
		Key			own = 0;

		if (threadIdx.x == 0)
			largest = 0;
		__syncthreads();
		for (uint64_t v = first + threadIdx.x; v < end; v += BLOCK_THREADS)
			if (is_wanted(rows, v))
			{
				const Key key = order_key(rows, order, v);

				own = key > own ? key : own;
			}
#pragma unroll
		for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
		{
			const Key other = __shfl_xor_sync(FULL_WARP, own, step);

			own = other > own ? other : own;
		}
		if (lane_number() == 0 && own > 0)
			atomicMax(&largest, own);
		__syncthreads();
		if (threadIdx.x == 0)
			order.largest[chunk] = largest;
		__syncthreads();
	}
}

/*
 * Select the rows whose keys reach a bound, and count them. Bytes: the columns of chunks that have
 * such a row.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
summary_pick_kernel(Rows rows, Order order, Key bound, uint32_t *picked, uint64_t room,
					Found *found)
{
	for (uint64_t chunk = blockIdx.x; chunk < order.nchunks; chunk += gridDim.x)
	{
		const uint64_t first = chunk * order.chunk_vertices;
		const uint64_t end = first + order.chunk_vertices < rows.nvertices ?
			first + order.chunk_vertices : rows.nvertices;

		if (order.largest[chunk] < bound)
			continue;
		for (uint64_t v = first + threadIdx.x; v < end; v += BLOCK_THREADS)
			if (is_wanted(rows, v) && order_key(rows, order, v) >= bound)
			{
				const Key index = atomicAdd(&found->count, 1ull);

				if (index < room)
					picked[index] = (uint32_t) v;
			}
	}
}

/* Gather a column's values for the selected vertices: [count] of 4 or 8 bytes. */
template <typename Word>
static __global__ void __launch_bounds__(BLOCK_THREADS)
summary_values_kernel(const Word *column, const uint32_t *picked, uint64_t count, Word *values)
{
	for_each(count, [&](uint64_t i) {
		values[i] = column[picked[i]];
	});
}

/* Find a bound that at least `count` rows reach, or 0, which all reach. */
static EmogiStatus
find_bound(Run *run, const Order *order, uint64_t count, Key *bound, EmogiError *error)
{
	Key		   *largest = (Key *) malloc(order->nchunks * sizeof(Key));
	EmogiStatus status;

	*bound = 0;
	if (largest == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%llu keys",
								 (unsigned long long) order->nchunks);
	status = emogi_run_fetch(run, largest, order->largest, order->nchunks * sizeof(Key), error);
	if (status == EMOGI_OK && count <= order->nchunks)
	{
		std::nth_element(largest, largest + (count - 1), largest + order->nchunks,
						 [](Key a, Key b) {
			return a > b;
		});
		*bound = largest[count - 1];
	}
	free(largest);
	return status;
}

/* Copy the values of a column to the host, and store each at its vertex. */
template <typename Word>
static EmogiStatus
fetch_values(Run *run, const void *column, const uint32_t *device_picked, const uint32_t *picked,
			 uint64_t count, Word *device_values, Word *values, Word *to, EmogiError *error)
{
	CUDA_LAUNCH(summary_values_kernel<Word>, run->full_blocks, BLOCK_THREADS, run->state->stream,
				static_cast<const Word *>(column), device_picked, count, device_values);
	TRY(emogi_run_fetch(run, values, device_values, count * sizeof(Word), error));
	for (uint64_t i = 0; i < count; i++)
		to[picked[i]] = values[i];
	return EMOGI_OK;
}

/* Copy the selected rows to the host: their vertices, and their values in the result's columns. */
static EmogiStatus
fetch_rows(Run *run, const Rows *rows, const uint32_t *device_picked, uint64_t count,
		   const EmogiSummary *summary, EmogiResult *result, EmogiError *error)
{
	Key		   *values = (Key *) malloc((count + 1) * sizeof(Key));
	Key		   *device_values;
	EmogiStatus status = take_array(&run->memory, &device_values, count, "values of rows", error);

	if (values == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%llu values",
								 (unsigned long long) count);
	if (status == EMOGI_OK)
		status = emogi_run_fetch(run, summary->picked, device_picked, count * sizeof(uint32_t),
								 error);
	for (int i = 0; status == EMOGI_OK && i < EMOGI_MAX_COLUMNS && rows->arrays[i] != NULL; i++)
	{
		if (emogi_algorithm_column_bytes(rows->types[i]) == sizeof(uint32_t))
			status = fetch_values<uint32_t>(run, rows->arrays[i], device_picked, summary->picked,
											count, (uint32_t *) device_values, (uint32_t *) values,
											result->columns[i].vertex, error);
		else
			status = fetch_values<Key>(run, rows->arrays[i], device_picked, summary->picked, count,
									   device_values, values, (Key *) result->columns[i].any,
									   error);
	}
	free(values);
	if (status == EMOGI_OK)
		std::sort(summary->picked, summary->picked + count);
	return status;
}

EmogiStatus
emogi_aggregates_first(Run *run, const Rows *rows, const EmogiSummary *summary, EmogiResult *result,
					   uint64_t *count, bool *fits, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	Order		order = {summary->column, summary->descends, CHUNK_VERTICES};
	uint32_t   *picked;
	Found	   *found;
	Found		seen;
	Key			bound;

	if (rows->nvertices / CHUNK_VERTICES < CHUNKS_PER_ROW * summary->count)
		order.chunk_vertices = SMALL_CHUNK_VERTICES;
	order.nchunks = (rows->nvertices + order.chunk_vertices - 1) / order.chunk_vertices;
	TRY(take_found(run, &found, error));
	TRY(take_array(&run->memory, &order.largest, order.nchunks, "largest keys", error));
	TRY(take_array(&run->memory, &picked, summary->room, "first rows", error));
	CUDA_LAUNCH(summary_largest_kernel, run->full_blocks, BLOCK_THREADS, stream, *rows, order);
	TRY(find_bound(run, &order, summary->count, &bound, error));
	CUDA_LAUNCH(summary_pick_kernel, run->full_blocks, BLOCK_THREADS, stream, *rows, order, bound,
				picked, summary->room, found);
	TRY(emogi_run_fetch(run, &seen, found, sizeof seen, error));
	*count = seen.count;
	*fits = seen.count <= summary->room;
	if (!*fits)
		return EMOGI_OK;
	return fetch_rows(run, rows, picked, seen.count, summary, result, error);
}

