/*
 * propagation_blocking_make.cu: construction of PropagationBlocks (propagation_blocking.cuh).
 *
 * Every entry has a key: its cell, or for the first blocks of sources its row. Entries are counted
 * by key, prefix sums give each key its position, and each entry is written to the next free
 * position of its key. So the order within a cell is arbitrary, which no sum depends on.
 */
#include "cuda/algorithms/propagation_blocking_make.cuh"
#include "cuda/placement/placement_internal.cuh"
#include "cuda/access/prefix_sum.cuh"

#include "contract/rank_units.h"

#include <stdlib.h>

/*
 * Tuned constants, of b490201: when PropagationBlocks pay off, and how they are cut. The figures of
 * an NVIDIA H200 in bench/RESULTS.md (PageRank by bins) are with these values.
 */
#define MIN_SWEEPS 10			/* with fewer iterations the build seldom pays off, even for a
								 * graph that is queried again */
#define CELL_MEAN 32			/* min mean entries of a cell, because cells are padded and read
								 * by whole warps */
#define HUB_PART 16				/* a block of sources has rows if it has at least 1 / HUB_PART of
								 * the entries */
#define SCATTER_UNITS 16u		/* per multiprocessor, so that all finish together */
#define COLLECT_UNITS 4u
#define MAX_SCATTER 131072u		/* entries of a unit */
#define MAX_COLLECT 524288u
#define MIN_UNIT 32768u
#define LAST_UNITS 2u			/* the last quarter of the entries is cut into units smaller by
								 * this factor */
#define ALIGNMENT 256			/* of arrays */

/*
 * State of the build. Arrays are in device memory, except those in host memory, which are freed on
 * every path.
 */
typedef struct BinsBuild
{
	Run		   *run;
	const ListIndex *list_index;
	PropagationBlocks *bins;
	Keys		keys;
	uint32_t   *label;			/* [nvertices] */
	uint32_t   *own;			/* [rank], label of the list */
	uint32_t   *count;			/* [keys], number of entries; then first position; after
								 * placement the end */
	uint32_t   *row[MAX_HUBS];	/* [nsinks + 1], number of rows before each sink */
	uint32_t   *tile;
	uint32_t   *cell;			/* [ncells + 1], first position, in host memory */
	BinUnit    *scatter;		/* in host memory */
	BinUnit    *collect;
} BinsBuild;

/* ---- choice ---- */

/* Get the number of cells if no block is in rows. */
static uint64_t
max_cells(uint64_t nvertices)
{
	return (nvertices + BLOCK_SOURCES - 1) / BLOCK_SOURCES *
		((nvertices + BIN_SINKS - 1) / BIN_SINKS);
}

bool
emogi_propagation_blocking_is_suitable(const Run *run, const EmogiQuery *query)
{
	const uint64_t nedges = run->graph.forward.nedges;
	const uint64_t ncells = max_cells(run->nvertices);

	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE || nedges == 0 ||
		!emogi_algorithm_has(query->algorithm, EMOGI_DAMPED) ||
		!emogi_rank_units_applicable(query, run->nvertices, true) ||
		!emogi_propagation_blocking_fits(run->state) ||
		nedges + CELL_ENTRIES * ncells + MAX_HUBS * (run->nvertices + 1) >= UINT32_MAX)
		return false;
	/* with fewer entries a pull sweep is as fast */
	return run->state->always_bins ||
		(emogi_rank_units_coarse(nedges) && nedges / CELL_MEAN >= ncells &&
		 query->max_iterations >= MIN_SWEEPS);
}

/* Choose how many blocks of sources are in rows. Tests (always_bins) get any number. */
static uint32_t
choose_hubs(const Run *run, const Survey *survey)
{
	const uint64_t nedges = run->graph.forward.nedges;
	uint32_t	nhubs = 0;

	if (run->state->always_bins)
		return (uint32_t) (nedges % (MAX_HUBS + 1));
	while (nhubs < MAX_HUBS && nhubs * (uint64_t) BLOCK_SOURCES < run->nvertices &&
		   emogi_degree_order_top(survey, (nhubs + 1) * (uint64_t) BLOCK_SOURCES) -
		   emogi_degree_order_top(survey, nhubs * (uint64_t) BLOCK_SOURCES) >= nedges / HUB_PART)
		nhubs++;
	return nhubs;
}

/* Set the number of blocks and bins, and the layout of the keys. */
static void
lay_keys(BinsBuild *build, uint32_t nhubs)
{
	const uint32_t nvertices = (uint32_t) build->run->nvertices;
	const uint32_t nblocks = (nvertices + BLOCK_SOURCES - 1) / BLOCK_SOURCES;
	PropagationBlocks *bins = build->bins;

	bins->nvertices = nvertices;
	bins->nhubs = nhubs < nblocks ? nhubs : nblocks;
	bins->nblocks = nblocks - bins->nhubs;
	bins->nbins = (nvertices + BIN_SINKS - 1) / BIN_SINKS;
	build->keys = Keys{bins->nhubs, bins->nbins, bins->nblocks * bins->nbins, nvertices};
}

/* Get the number of keys. */
static uint64_t
count_keys(const Keys *keys)
{
	return first_row_key(*keys, keys->nhubs);
}

/* Say whether the build fits without evicting anything, if all entries were in cells. */
static EmogiStatus
check_room(const BinsBuild *build, bool *fits, EmogiError *error)
{
	const Run  *run = build->run;
	const Keys *keys = &build->keys;
	const uint64_t nkeys = count_keys(keys);
	const uint64_t headroom = run->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES;
	const uint64_t kept = 9 * (run->graph.forward.nedges + CELL_ENTRIES * (uint64_t) keys->ncells) +
		(21 + 4 * keys->nhubs) * run->nvertices +
		(BLOCK_SOURCES + BIN_SINKS) * UINT64_C(13);
	const uint64_t scratch = sizeof(uint32_t) *
		(2 * run->nvertices + nkeys + keys->nhubs * (run->nvertices + 1) + count_tiles(nkeys));
	uint64_t	left_bytes;

	TRY(emogi_memory_left(&run->memory, &left_bytes, error));
	*fits = kept + scratch + headroom + emogi_device_cache_idle_bytes(run->state) <= left_bytes;
	return EMOGI_OK;
}

/* ---- construction ---- */

/* Take the scratch arrays of the build. */
static EmogiStatus
take_scratch(BinsBuild *build, EmogiError *error)
{
	DeviceMemory *memory = &build->run->memory;
	const uint64_t nkeys = count_keys(&build->keys);

	TRY(take_array(memory, &build->label, build->run->nvertices, "labels", error));
	TRY(take_array(memory, &build->own, build->run->nvertices, "labels of lists", error));
	TRY(take_array(memory, &build->count, nkeys, "entries by key", error));
	TRY(take_array(memory, &build->tile, count_tiles(nkeys), "sums of tiles", error));
	for (uint32_t hub = 0; hub < build->keys.nhubs; hub++)
		TRY(take_array(memory, &build->row[hub], build->run->nvertices + 1, "rows by sink",
					   error));
	CUDA_TRY(cudaMemsetAsync(build->count, 0, nkeys * sizeof *build->count,
							 build->run->state->stream));
	return EMOGI_OK;
}

/* Count the entries by key; labels are set. */
static EmogiStatus
count_entries(const BinsBuild *build, EmogiError *error)
{
	Run		   *run = build->run;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(bins_name_lists_kernel, run->full_blocks, BLOCK_THREADS, stream, *build->list_index,
				build->label, build->own);
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(bins_count_kernel, run->full_blocks, BLOCK_THREADS, stream, run->graph.forward,
				*build->list_index, build->label, build->own, build->keys, build->count,
				run->step);
	return EMOGI_OK;
}

/* Turn counts into positions, for cells and from 0 for each block's rows, and count the rows. */
static EmogiStatus
sum_counts(BinsBuild *build, EmogiError *error)
{
	Run		   *run = build->run;
	PropagationBlocks *bins = build->bins;
	const Keys *keys = &build->keys;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(bins_pad_kernel, run->full_blocks, BLOCK_THREADS, stream, build->count,
				keys->ncells);
	TRY(prefix_sum(run, build->count, keys->ncells + 1, build->tile, error));
	for (uint32_t hub = 0; hub < keys->nhubs; hub++)
	{
		uint32_t   *place = build->count + first_row_key(*keys, hub);
		Rows	   *rows = &bins->rows[hub];

		TRY(prefix_sum(run, place, keys->nsinks + 1, build->tile, error));
		CUDA_LAUNCH(bins_find_rows_kernel, run->full_blocks, BLOCK_THREADS, stream, place,
					keys->nsinks, build->row[hub]);
		TRY(prefix_sum(run, build->row[hub], keys->nsinks + 1, build->tile, error));
		TRY(emogi_run_fetch(run, &rows->nentries, place + keys->nsinks, sizeof rows->nentries,
							error));
		TRY(emogi_run_fetch(run, &rows->nrows, build->row[hub] + keys->nsinks, sizeof rows->nrows,
							error));
		rows->nchunks = (uint32_t) count_chunks(rows->nentries);
	}
	return EMOGI_OK;
}

/* Get the number of entries of a unit, for nunits units per multiprocessor. */
static uint32_t
unit_entries(const BinsBuild *build, uint32_t nunits, uint32_t max)
{
	const uint64_t part = round_up(build->bins->nentries /
								   (nunits * (uint64_t) build->run->state->units), MIN_UNIT);

	return part < MIN_UNIT ? MIN_UNIT : part < max ? (uint32_t) part : max;
}

/* Get the number of entries of the unit that begins at entry `at`. */
static uint32_t
unit_entries_at(const BinsBuild *build, uint64_t at, uint32_t entries)
{
	return at < build->bins->nentries / 4 * UINT64_C(3) ? entries : entries / LAST_UNITS;
}

/* Cut the entries of blocks of sources into units. */
static void
cut_scatter(BinsBuild *build)
{
	const uint32_t entries = unit_entries(build, SCATTER_UNITS, MAX_SCATTER);
	PropagationBlocks *bins = build->bins;

	for (uint32_t block = 0; block < bins->nblocks; block++)
	{
		const uint32_t end = build->cell[(uint64_t) (block + 1) * bins->nbins];
		uint32_t	upto;

		for (uint32_t at = build->cell[(uint64_t) block * bins->nbins]; at < end; at = upto)
		{
			const uint32_t max = unit_entries_at(build, at, entries);

			upto = end - at < max ? end : at + max;
			build->scatter[bins->nscatter++] = BinUnit{block, at, upto, 0, 1, 1};
		}
	}
}

/* Add units for the cells of a bin. */
static void
add_units(BinsBuild *build, uint32_t bin, uint32_t first, uint32_t upto, uint64_t entries,
		  uint32_t max)
{
	const uint32_t npieces = (uint32_t) ((entries + max - 1) / max);
	uint32_t	share = BINS_WARPS;

	while (share > 1 && BINS_WARPS / share < upto - first)
		share /= 2;
	for (uint32_t piece = 0; piece < npieces; piece++)
		build->collect[build->bins->ncollect++] = BinUnit{bin, first, upto, piece, npieces,
			share};
}

/* Cut the cells of bins into units. */
static void
cut_collect(BinsBuild *build)
{
	const uint32_t size = unit_entries(build, COLLECT_UNITS, MAX_COLLECT);
	PropagationBlocks *bins = build->bins;
	uint64_t	all = 0;

	for (uint32_t bin = 0; bin < bins->nbins; bin++)
	{
		uint32_t	first = 0;
		uint64_t	entries = 0;

		for (uint32_t block = 0; block < bins->nblocks; block++)
		{
			const uint32_t *cell = &build->cell[(uint64_t) block * bins->nbins + bin];
			const uint32_t max = unit_entries_at(build, all, size);

			entries += cell[1] - cell[0];
			if (entries < max && block + 1 < bins->nblocks)
				continue;
			add_units(build, bin, first, block + 1, entries, max);
			all += entries;
			entries = 0;
			first = block + 1;
		}
	}
}

/* Cut all work into units. */
static EmogiStatus
cut_units(BinsBuild *build, EmogiError *error)
{
	const uint64_t ncells = build->keys.ncells;
	PropagationBlocks *bins = build->bins;
	uint64_t	max;

	build->cell = (uint32_t *) malloc((ncells + 1) * sizeof *build->cell);
	if (build->cell == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "places of %llu cells",
								 (unsigned long long) ncells);
	TRY(emogi_run_fetch(build->run, build->cell, build->count,
						(ncells + 1) * sizeof *build->cell, error));
	bins->nentries = build->cell[ncells];
	max = bins->nblocks + 2 * (uint64_t) bins->nbins +
		2 * (bins->nentries / (MIN_UNIT / LAST_UNITS) + UINT64_C(1));
	build->scatter = (BinUnit *) malloc(max * sizeof *build->scatter);
	build->collect = (BinUnit *) malloc(max * sizeof *build->collect);
	if (build->scatter == NULL || build->collect == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%llu units of work",
								 (unsigned long long) max);
	cut_scatter(build);
	cut_collect(build);
	return EMOGI_OK;
}

/* Place an array after the previous ones. */
template <typename T>
static void
lay_array(T **array, char *memory, uint64_t *bytes, uint64_t length)
{
	*array = memory != NULL ? (T *) (memory + *bytes) : NULL;
	*bytes += round_up(length * sizeof(T), ALIGNMENT);
}

/*
 * Place all arrays in memory, after the PropagationBlocks struct itself, and get the bytes. memory
 * = NULL: only count.
 */
static uint64_t
lay_arrays(PropagationBlocks *bins, char *memory)
{
	const uint64_t nlabels = (uint64_t) (bins->nhubs + bins->nblocks) * BLOCK_SOURCES;
	uint64_t	bytes = round_up(sizeof *bins, ALIGNMENT);

	for (uint32_t hub = 0; hub < bins->nhubs; hub++)
	{
		Rows	   *rows = &bins->rows[hub];

		lay_array(&rows->source, memory, &bytes, (uint64_t) rows->nchunks * CHUNK_ENTRIES);
		lay_array(&rows->begins, memory, &bytes, (uint64_t) rows->nchunks * (CHUNK_ENTRIES / 32));
		lay_array(&rows->chunk_row, memory, &bytes, rows->nchunks);
		lay_array(&rows->sink, memory, &bytes, rows->nrows);
	}
	lay_array(&bins->vertex, memory, &bytes, bins->nvertices);
	lay_array(&bins->degree, memory, &bytes, bins->nvertices);
	lay_array(&bins->cell, memory, &bytes, (uint64_t) bins->nblocks * bins->nbins + 1);
	lay_array(&bins->source, memory, &bytes, bins->nentries);
	lay_array(&bins->sink, memory, &bytes, bins->nentries);
	lay_array(&bins->scatter, memory, &bytes, bins->nscatter);
	lay_array(&bins->collect, memory, &bytes, bins->ncollect);
	lay_array(&bins->word, memory, &bytes, nlabels);
	lay_array(&bins->low, memory, &bytes, nlabels);
	lay_array(&bins->entry_word, memory, &bytes, bins->nentries);
	lay_array(&bins->entry_low, memory, &bytes, bins->nentries);
	lay_array(&bins->sum, memory, &bytes, (uint64_t) bins->nbins * BIN_SINKS);
	lay_array(&bins->next, memory, &bytes, 2);
	lay_array(&bins->outcome, memory, &bytes, 2);
	return bytes;
}

/* Mark the rows. */
static EmogiStatus
mark_rows(const BinsBuild *build, EmogiError *error)
{
	const PropagationBlocks *bins = build->bins;
	Run		   *run = build->run;
	cudaStream_t stream = run->state->stream;

	for (uint32_t hub = 0; hub < bins->nhubs; hub++)
	{
		const Rows *rows = &bins->rows[hub];

		if (rows->nchunks == 0)
			continue;
		CUDA_TRY(cudaMemsetAsync(rows->begins, 0, (uint64_t) rows->nchunks * (CHUNK_ENTRIES / 8),
								 stream));
		CUDA_TRY(cudaMemsetAsync(rows->chunk_row, 0, sizeof *rows->chunk_row, stream));
		CUDA_LAUNCH(bins_mark_rows_kernel, run->full_blocks, BLOCK_THREADS, stream,
					build->count + first_row_key(build->keys, hub), build->row[hub],
					build->keys.nsinks, *rows);
	}
	return EMOGI_OK;
}

/* Fill all arrays. */
static EmogiStatus
fill_arrays(const BinsBuild *build, const Degrees *degrees, EmogiError *error)
{
	const PropagationBlocks *bins = build->bins;
	const Keys *keys = &build->keys;
	const uint64_t nlabels = (uint64_t) (bins->nhubs + bins->nblocks) * BLOCK_SOURCES;
	Run		   *run = build->run;
	cudaStream_t stream = run->state->stream;

	TRY(emogi_run_send(run, bins->cell, build->cell,
					   (keys->ncells + UINT64_C(1)) * sizeof *bins->cell, error));
	TRY(emogi_run_send(run, bins->scatter, build->scatter, bins->nscatter * sizeof *bins->scatter,
					   error));
	TRY(emogi_run_send(run, bins->collect, build->collect, bins->ncollect * sizeof *bins->collect,
					   error));
	CUDA_TRY(cudaMemsetAsync(bins->word, 0, nlabels * sizeof *bins->word, stream));
	CUDA_TRY(cudaMemsetAsync(bins->low, 0, nlabels, stream));
	TRY(mark_rows(build, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(bins_place_kernel, run->full_blocks, BLOCK_THREADS, stream, run->graph.forward,
				*build->list_index, build->label, build->own, *keys, build->count, *bins,
				run->step);
	CUDA_LAUNCH(bins_fill_kernel, run->full_blocks, BLOCK_THREADS, stream, *bins, build->count,
				keys->ncells);
	CUDA_LAUNCH(bins_name_vertices_kernel, run->full_blocks, BLOCK_THREADS, stream, *bins,
				build->label, *degrees);
	return EMOGI_OK;
}

/*
 * Build PropagationBlocks in one allocation, the run's newest. EMOGI_NO_MEMORY if it does not fit.
 */
static EmogiStatus
make_bins(BinsBuild *build, const Degrees *degrees, const Survey *survey, EmogiError *error)
{
	Run		   *run = build->run;
	char	   *memory;

	TRY(take_scratch(build, error));
	TRY(emogi_degree_order_make(run, degrees, survey, build->label, error));
	TRY(count_entries(build, error));
	TRY(sum_counts(build, error));
	TRY(cut_units(build, error));
	TRY(take_array(&run->memory, &memory, lay_arrays(build->bins, NULL), "bins", error));
	(void) lay_arrays(build->bins, memory);
	TRY(fill_arrays(build, degrees, error));
	TRY(emogi_run_send(run, memory, build->bins, sizeof *build->bins, error));
	return EMOGI_OK;
}

/* Hand the newest allocation to the device cache, and free the others after the first nblocks. */
static void
keep_bins(Run *run, const Target *array, int nblocks)
{
	DeviceMemory *memory = &run->memory;
	const int	newest = memory->nblocks - 1;

	emogi_device_cache_keep(run->state, memory, array, EMOGI_COPY_PROPAGATION_BLOCKS, 1);
	for (int i = newest - 1; i >= nblocks; i--)
		emogi_memory_return(memory, memory->block[i]);
	emogi_device_cache_drop(run->state, array, EMOGI_COPY_SEGMENTED);
}

/* Build PropagationBlocks if the graph is suited and there is room. */
static EmogiStatus
try_bins(BinsBuild *build, const Target *array, const Degrees *degrees, EmogiError *error)
{
	Run		   *run = build->run;
	const int	nblocks = run->memory.nblocks;
	bool		fits;
	Survey		survey;

	TRY(emogi_degree_order_survey(run, build->list_index, degrees, &survey, error));
	if (emogi_degree_order_near(&survey) && !run->state->always_bins)
		return EMOGI_OK;
	lay_keys(build, choose_hubs(run, &survey));
	TRY(check_room(build, &fits, error));
	if (!fits)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "there is no device memory for bins", "%s",
								 "");
	TRY(make_bins(build, degrees, &survey, error));
	keep_bins(run, array, nblocks);
	return EMOGI_OK;
}

EmogiStatus
emogi_propagation_blocking_make(Run *run, const Target *array, const ListIndex *list_index,
								const Degrees *degrees, PropagationBlocks *bins, EmogiError *error)
{
	const int	nblocks = run->memory.nblocks;
	BinsBuild	build = {};
	EmogiStatus status;

	*bins = PropagationBlocks{};
	build.run = run;
	build.list_index = list_index;
	build.bins = bins;
	status = try_bins(&build, array, degrees, error);
	free(build.cell);
	free(build.scatter);
	free(build.collect);
	if (status != EMOGI_NO_MEMORY)
		return status;
	emogi_memory_release(&run->memory, nblocks);
	*bins = PropagationBlocks{};	/* the caller falls back to sweeps */
	return EMOGI_OK;
}

EmogiStatus
emogi_propagation_blocking_find(Run *run, const Target *array, PropagationBlocks *bins,
								EmogiError *error)
{
	uint64_t	length;
	const void *memory = emogi_device_cache_use_derived(run->state, array,
														EMOGI_COPY_PROPAGATION_BLOCKS, 1, 1,
														&length);

	*bins = PropagationBlocks{};
	return memory != NULL ? emogi_run_fetch(run, bins, memory, sizeof *bins, error) : EMOGI_OK;
}
