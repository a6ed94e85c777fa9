/*
 * aggregates_groups.cu: groups of a result's rows, from the columns in device memory.
 *
 * A table has a place for every possible value of the grouping column. A warp combines the lanes
 * that have the same value. A block keeps the sums of the values that it meets first in shared
 * memory, so that the giant component, and the few levels of most vertices, cost no traffic to the
 * table; all others go to the table directly.
 */
#include <algorithm>
#include <stdlib.h>

#include "cuda/results/aggregates_rows.cuh"

#define SLOTS 512				/* for values in a block's shared memory */
#define PROBES 4
#define NO_VALUE UINT32_MAX

#define MAX_VALUES (UINT64_C(1) << 32)

/* Groups by the value of a column, in device memory. */
typedef struct Table
{
	int			column;
	int			nfolds;
	EmogiSummaryFold folds[EMOGI_MAX_FOLDS];
	bool		is_float[EMOGI_MAX_FOLDS];
	long long	min;			/* value of place 0 */
	uint64_t	nvalues;		/* < MAX_VALUES */
	uint32_t   *counts;			/* [nvalues], rows */
	Key		   *folded;			/* [nfolds * nvalues]: keys, or sums */
} Table;

/* The nonempty groups, in device memory. */
typedef struct Groups
{
	uint64_t	room;
	Key		   *entries;		/* [room]: place in the table << 32 | index into the arrays below */
	uint32_t   *counts;			/* [room] */
	Key		   *folded;			/* [nfolds * room] */
} Groups;

/* Find the minimum and maximum of the grouping column. Bytes: those of the columns. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
summary_bounds_kernel(Rows rows, int column, Found *found)
{
	long long	min = INT64_MAX;
	long long	max = INT64_MIN;

	for_each(rows.nvertices, [&](uint64_t v) {
		if (is_wanted(rows, v))
		{
			const long long value = integer_at(rows, column, v);

			min = value < min ? value : min;
			max = value > max ? value : max;
		}
	});
#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
	{
		const long long low = __shfl_xor_sync(FULL_WARP, min, step);
		const long long high = __shfl_xor_sync(FULL_WARP, max, step);

		min = low < min ? low : min;
		max = high > max ? high : max;
	}
	if (lane_number() == 0 && min <= max)
	{
		atomicMin(&found->min, min);
		atomicMax(&found->max, max);
	}
}

/* Return the initial value of a fold. */
static __device__ __forceinline__ Key
begin_fold(EmogiFoldKind kind)
{
	return kind == EMOGI_FOLD_MIN ? ~0ull : 0;
}

/* Fold a key or a sum. Most keys change nothing, and cost no atomic operation. */
static __device__ __forceinline__ void
fold_value(EmogiFoldKind kind, Key *folded, Key key)
{
	if (kind == EMOGI_FOLD_SUM)
		atomicAdd(folded, key);
	else if (kind == EMOGI_FOLD_MIN && key < *(volatile Key *) folded)
		atomicMin(folded, key);
	else if (kind == EMOGI_FOLD_MAX && key > *(volatile Key *) folded)
		atomicMax(folded, key);
}

/* Clear the table. Bytes: those of the table. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
summary_clear_kernel(Table table)
{
	for_each(table.nvalues, [&](uint64_t i) {
		table.counts[i] = 0;
		for (int f = 0; f < table.nfolds; f++)
			table.folded[f * table.nvalues + i] = begin_fold(table.folds[f].kind);
	});
}

/*
 * Find or claim the slot for a place of the table in a block's shared memory; SLOTS if the probed
 * ones are taken.
 */
static __device__ __forceinline__ uint32_t
find_slot(uint32_t *places, uint32_t place)
{
	uint32_t	slot = (place * 2654435761u) / (UINT32_MAX / SLOTS + 1);

	for (int i = 0; i < PROBES; i++, slot = (slot + 1) % SLOTS)
	{
		uint32_t	there = *(volatile uint32_t *) &places[slot];

		if (there == NO_VALUE)
			there = atomicCAS(&places[slot], NO_VALUE, place);
		if (there == place || there == NO_VALUE)
			return slot;
	}
	return SLOTS;
}

/* Sum the values of a set of lanes that includes the caller. */
static __device__ __forceinline__ long long
sum_of_peers(uint32_t peers, long long value)
{
	long long	sum = 0;

	for (uint32_t left = peers; left != 0; left &= left - 1)
		sum += __shfl_sync(peers, value, __ffs((int) left) - 1);
	return sum;
}

/* Return the key of a vertex's value for a fold other than a sum. */
static __device__ __forceinline__ Key
fold_key(const Rows &rows, const Table &table, int f, uint64_t v)
{
	if (table.is_float[f])
		return key_of_float(float_at(rows, table.folds[f].column, v));
	return (Key) integer_at(rows, table.folds[f].column, v) ^ SIGN;
}

/*
 * Count the rows of all groups and fold their values. Bytes: those of the columns, and of the
 * table.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
summary_group_kernel(Rows rows, Table table)
{
	__shared__ uint32_t places[SLOTS];
	__shared__ uint32_t counts[SLOTS];
	__shared__ Key folded[EMOGI_MAX_FOLDS][SLOTS];
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint32_t i = threadIdx.x; i < SLOTS; i += BLOCK_THREADS)
	{
		places[i] = NO_VALUE;
		counts[i] = 0;
		for (int f = 0; f < table.nfolds; f++)
			folded[f][i] = begin_fold(table.folds[f].kind);
	}
	__syncthreads();
	for (uint64_t first = (uint64_t) blockIdx.x * BLOCK_THREADS; first < rows.nvertices;
		 first += nthreads)
	{
		const uint64_t v = first + threadIdx.x;
		const bool	wanted = v < rows.nvertices && is_wanted(rows, v);
		const uint32_t place = !wanted ? NO_VALUE : table.column < 0 ? 0 :
			(uint32_t) (integer_at(rows, table.column, v) - table.min);
		const uint32_t peers = __match_any_sync(FULL_WARP, place);
		const uint32_t leader = (uint32_t) __ffs((int) peers) - 1;
		uint32_t	slot = SLOTS;

		if (!wanted)
			continue;			/* so do all of its peers */
		if (lane_number() == leader)
		{
			slot = find_slot(places, place);
			atomicAdd(slot < SLOTS ? &counts[slot] : &table.counts[place],
					  (uint32_t) __popc(peers));
		}
		if (table.nfolds == 0)
			continue;
		slot = __shfl_sync(peers, slot, (int) leader);
		for (int f = 0; f < table.nfolds; f++)
		{
			const EmogiFoldKind kind = table.folds[f].kind;
			Key		   *to = slot < SLOTS ? &folded[f][slot] :
				&table.folded[f * table.nvalues + place];

			if (kind != EMOGI_FOLD_SUM)
				fold_value(kind, to, fold_key(rows, table, f, v));
			else
			{
				const long long sum = sum_of_peers(peers,
												   integer_at(rows, table.folds[f].column, v));

				if (lane_number() == leader)
					fold_value(kind, to, (Key) sum);
			}
		}
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < SLOTS; i += BLOCK_THREADS)
	{
		if (places[i] == NO_VALUE)
			continue;
		atomicAdd(&table.counts[places[i]], counts[i]);
		for (int f = 0; f < table.nfolds; f++)
			fold_value(table.folds[f].kind, &table.folded[f * table.nvalues + places[i]],
					   folded[f][i]);
	}
}

/* Gather the groups that have rows, and count them. Bytes: the counts of the table. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
summary_gather_groups_kernel(Table table, Groups groups, Found *found)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t i = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i < table.nvalues;
		 i += nthreads)
	{
		Key			index;

		if (table.counts[i] == 0)
			continue;
		index = atomicAdd(&found->count, 1ull);
		if (index >= groups.room)
			continue;
		groups.entries[index] = (Key) i << 32 | index;
		groups.counts[index] = table.counts[i];
		for (int f = 0; f < table.nfolds; f++)
			groups.folded[f * groups.room + index] = table.folded[f * table.nvalues + i];
	}
}
/*
 * Choose the places of the table: all vertices, or the range from the minimum to the maximum value.
 */
static EmogiStatus
choose_places(Run *run, const Rows *rows, Found *found, Table *table, EmogiError *error)
{
	Found		seen;

	table->min = 0;
	table->nvalues = table->column < 0 ? 1 : rows->nvertices;
	if (table->column < 0 || rows->types[table->column] == EMOGI_VERTEX)
		return EMOGI_OK;
	CUDA_LAUNCH(summary_bounds_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *rows,
				table->column, found);
	TRY(emogi_run_fetch(run, &seen, found, sizeof seen, error));
	table->min = seen.min;
	table->nvalues = seen.min > seen.max ? 0 : (uint64_t) (seen.max - seen.min) + 1;
	return EMOGI_OK;
}

/* Return the number that a key or a sum represents. */
static EmogiSummaryValue
value_of(EmogiFoldKind kind, bool is_float, Key key)
{
	EmogiSummaryValue value;

	if (is_float)
	{
		const Key bits = (key & SIGN) != 0 ? key & ~SIGN : ~key;

		memcpy(&value.number, &bits, sizeof bits);
	}
	else
		value.integer = (int64_t) (kind == EMOGI_FOLD_SUM ? key : key ^ SIGN);
	return value;
}

/* Write the groups in the order of their labels. host: a copy of `groups` in host memory. */
static void
put_groups(const Table *table, const Groups *host, uint64_t count, const EmogiSummary *summary)
{
	std::sort(host->entries, host->entries + count);
	for (uint64_t i = 0; i < count; i++)
	{
		const uint64_t index = host->entries[i] & UINT32_MAX;

		summary->labels[i] = table->min + (int64_t) (host->entries[i] >> 32);
		summary->counts[i] = host->counts[index];
		for (int f = 0; f < table->nfolds; f++)
			summary->values[i * table->nfolds + f] = value_of(table->folds[f].kind,
															  table->is_float[f],
															  host->folded[f * host->room + index]);
	}
}

/* Copy the groups to the host and write them. */
static EmogiStatus
fetch_groups(Run *run, const Table *table, const Groups *groups, uint64_t count,
			 const EmogiSummary *summary, EmogiError *error)
{
	const uint64_t words = 2 + (uint64_t) table->nfolds;
	Key		   *memory = (Key *) malloc((count * words + 1) * sizeof(Key));
	Groups		host = {count, memory, (uint32_t *) (memory + count), memory + 2 * count};
	EmogiStatus status;

	if (memory == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%llu groups",
								 (unsigned long long) count);
	status = emogi_run_fetch(run, host.entries, groups->entries, count * sizeof(Key), error);
	if (status == EMOGI_OK)
		status = emogi_run_fetch(run, host.counts, groups->counts, count * sizeof(uint32_t), error);
	for (int f = 0; status == EMOGI_OK && f < table->nfolds; f++)
		status = emogi_run_fetch(run, host.folded + f * count, groups->folded + f * groups->room,
								 count * sizeof(Key), error);
	if (status == EMOGI_OK)
		put_groups(table, &host, count, summary);
	free(memory);
	return status;
}

EmogiStatus
emogi_aggregates_groups(Run *run, const Rows *rows, const EmogiSummary *summary, uint64_t *count,
						bool *fits, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	Table		table = {};
	Groups		groups = {summary->room};
	Found	   *found;
	Found		seen;

	table.column = summary->column;
	table.nfolds = summary->nfolds;
	for (int f = 0; f < summary->nfolds; f++)
	{
		table.folds[f] = summary->folds[f];
		table.is_float[f] = summary->folds[f].column >= 0 &&
			rows->types[summary->folds[f].column] == EMOGI_FLOAT64;
	}
	TRY(take_found(run, &found, error));
	TRY(choose_places(run, rows, found, &table, error));
	*fits = table.nvalues < MAX_VALUES;
	if (!*fits || table.nvalues == 0)
		return EMOGI_OK;
	if (groups.room > table.nvalues)
		groups.room = table.nvalues;
	TRY(take_array(&run->memory, &table.counts, table.nvalues, "counts of groups", error));
	TRY(take_array(&run->memory, &table.folded, table.nvalues * table.nfolds, "values of groups",
				   error));
	TRY(take_array(&run->memory, &groups.entries, groups.room, "groups", error));
	TRY(take_array(&run->memory, &groups.counts, groups.room, "counts", error));
	TRY(take_array(&run->memory, &groups.folded, groups.room * table.nfolds, "values", error));
	CUDA_LAUNCH(summary_clear_kernel, run->full_blocks, BLOCK_THREADS, stream, table);
	CUDA_LAUNCH(summary_group_kernel, run->full_blocks, BLOCK_THREADS, stream, *rows, table);
	CUDA_LAUNCH(summary_gather_groups_kernel, run->full_blocks, BLOCK_THREADS, stream, table,
				groups, found);
	TRY(emogi_run_fetch(run, &seen, found, sizeof seen, error));
	*count = seen.count;
	*fits = seen.count <= summary->room;
	if (!*fits)
		return EMOGI_OK;
	return fetch_groups(run, &table, &groups, seen.count, summary, error);
}

