/*
 * propagation_blocking.cu: PageRank iterations on PropagationBlocks. propagation_blocking.cuh
 * describes method, memory and bytes; propagation_blocking_make.cu builds them.
 */
#include "cuda/algorithms/propagation_blocking.cuh"

#include "contract/rank_units.h"

#define SHARED_PERCENT 85		/* of a multiprocessor's shared memory, at least: 196 of the 228
								 * KB of an H200 */

static_assert(BLOCK_SOURCES % (4 * BINS_THREADS) == 0 && BLOCK_SOURCES < 65536 &&
			  BIN_SINKS % 4 == 0 && BIN_SINKS < 65536,
			  "blocks and bins are filled in whole pieces, and numbers in them have 16 bits");

/* ---- 40-bit floating-point numbers ---- */

/* Pack a share, which has at most 36 significant bits. */
static __device__ __forceinline__ uint64_t
pack_units(uint64_t units)
{
	const uint32_t exponent = emogi_rank_units_exponent(units);

	return (uint64_t) exponent << EMOGI_RANK_MANTISSA_BITS | units >> 2 * exponent;
}

/* Unpack a number; the exponent is in bits 28 .. 31 of the word. */
static __device__ __forceinline__ unsigned long long
unpack_units(uint32_t word, uint32_t low)
{
	const unsigned long long mantissa = (unsigned long long) (word & 0x0FFFFFFFu) << 8 | low;

	return mantissa << (word >> 27 & 0x1E);
}

/*
 * Load the values of a block of sources into shared memory, and 0 for NO_SOURCE. Called by the
 * whole thread block.
 */
static __device__ __forceinline__ void
fill_values(const PropagationBlocks &bins, uint32_t block, uint32_t *word, uint8_t *low)
{
	const uint4 *words = (const uint4 *) (bins.word + (uint64_t) block * BLOCK_SOURCES);
	const uint4 *lows = (const uint4 *) (bins.low + (uint64_t) block * BLOCK_SOURCES);

#pragma unroll
	for (uint32_t i = 0; i < BLOCK_SOURCES / 4; i += BINS_THREADS)
		((uint4 *) word)[i + threadIdx.x] = words[i + threadIdx.x];
#pragma unroll
	for (uint32_t i = 0; i < BLOCK_SOURCES / 16; i += BINS_THREADS)
		if (i + threadIdx.x < BLOCK_SOURCES / 16)
			((uint4 *) low)[i + threadIdx.x] = lows[i + threadIdx.x];
	if (threadIdx.x == 0)
		word[NO_SOURCE] = low[NO_SOURCE] = 0;
	__syncthreads();
}

/* Get the next unit, the same for all threads of the block. */
static __device__ __forceinline__ uint32_t
take_unit(uint32_t *next)
{
	__shared__ uint32_t taken;

	__syncthreads();
	if (threadIdx.x == 0)
		taken = atomicAdd(next, 1u);
	__syncthreads();
	return taken;
}

/* Unpack eight 16-bit numbers. */
static __device__ __forceinline__ void
split_numbers(uint4 piece, uint32_t *number)
{
	number[0] = piece.x & 0xFFFF;
	number[1] = piece.x >> 16;
	number[2] = piece.y & 0xFFFF;
	number[3] = piece.y >> 16;
	number[4] = piece.z & 0xFFFF;
	number[5] = piece.z >> 16;
	number[6] = piece.w & 0xFFFF;
	number[7] = piece.w >> 16;
}

/* ---- rows ---- */

/* Add to the sum of row - 1. */
static __device__ __forceinline__ void
add_row(const Rows &rows, unsigned long long *sum, uint32_t row, unsigned long long value)
{
	if (row > 0 && value != 0)
		atomicAdd(&sum[rows.sink[row - 1]], value);
}

/*
 * Add a round of a chunk in which rows begin: each lane adds its own entries, then the lanes that
 * share a row are combined. `row` is the first row that begins, `open` the lane's part of the row
 * before it. Return the last lane's part of the row that is open afterwards.
 */
static __device__ __forceinline__ unsigned long long
close_rows(const Rows &rows, unsigned long long *sum, uint32_t begins, uint32_t lanes, uint32_t row,
		   unsigned long long open, const unsigned long long *value)
{
	const uint32_t lane = lane_number();
	const uint32_t start = lanes & ~lanes_above();	/* lanes up to this one in which a row begins */
	const uint32_t reach = start != 0 ? lane - (31 - __clz(start)) : lane;
	unsigned long long part = warp_sum(open);
	unsigned long long closing = 0;
	unsigned long long before;
	uint32_t	next = row;

	if (lane > 0)
		part = 0;
#pragma unroll
	for (uint32_t j = 0; j < LANE_ENTRIES; j++)
	{
		if (begins >> j & 1)
		{
			if (next == row)
				closing = part;
			else
				add_row(rows, sum, next, part);
			next++;
			part = 0;
		}
		part += value[j];
	}
#pragma unroll
	for (uint32_t step = 1; step < WARP_LANES; step *= 2)
	{
		const unsigned long long other = __shfl_up_sync(FULL_WARP, part, step);

		part += step <= reach ? other : 0;
	}
	before = __shfl_up_sync(FULL_WARP, part, 1);
	if (begins != 0)
		add_row(rows, sum, row, closing + (lane > 0 ? before : 0));
	return lane == WARP_LANES - 1 ? part : 0;
}

/* Add a chunk of rows. A row's part in a round is added to its sum when the row ends. */
static __device__ __forceinline__ void
add_rows(const Rows &rows, unsigned long long *sum, uint32_t chunk, const uint32_t *word,
		 const uint8_t *low)
{
	uint32_t	row = rows.chunk_row[chunk];	/* next row to begin */
	unsigned long long open = 0;	/* distributed over the lanes: partial sum of the open row */

#pragma unroll 1
	for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
	{
		const uint64_t entry = round_entry(chunk, round);
		const uint32_t begins = __ldcs((const uint8_t *) rows.begins + entry / LANE_ENTRIES);
		const uint32_t lanes = __ballot_sync(FULL_WARP, begins != 0);
		uint32_t	source[LANE_ENTRIES];
		unsigned long long value[LANE_ENTRIES];

		split_numbers(__ldcs((const uint4 *) (rows.source + entry)), source);
#pragma unroll
		for (uint32_t j = 0; j < LANE_ENTRIES; j++)
			value[j] = unpack_units(word[source[j]], low[source[j]]);
		if (lanes == 0)
		{
#pragma unroll
			for (uint32_t j = 0; j < LANE_ENTRIES; j++)
				open += value[j];
		}
		else
		{
			const uint32_t upto = warp_prefix_sum(__popc(begins));

			open = close_rows(rows, sum, begins, lanes, row + upto - __popc(begins), open, value);
			row += __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
		}
	}
	open = warp_sum(open);
	if (lane_number() == 0)
		add_row(rows, sum, row, open);
}

/*
 * Add the rows of a block of sources. Bytes: 2.1 an entry, 4 a row and an atomic. Called by the
 * whole grid.
 */
static __device__ __forceinline__ void
add_hub(const PropagationBlocks &bins, uint32_t hub, uint32_t *word, uint8_t *low)
{
	const Rows	rows = bins.rows[hub];
	const uint32_t nwarps = gridDim.x * BINS_WARPS;

	fill_values(bins, hub, word, low);
	for (uint32_t chunk = blockIdx.x * BINS_WARPS + threadIdx.x / WARP_LANES; chunk < rows.nchunks;
		 chunk += nwarps)
		add_rows(rows, bins.sum, chunk, word, low);
}

/* ---- cells ---- */

/*
 * Write the value of each entry in cells. Bytes: 2 read, 5 written an entry. Called by the whole
 * grid.
 */
static __device__ __forceinline__ void
scatter_values(const PropagationBlocks &bins, uint32_t *word, uint8_t *low)
{
	uint32_t	filled = UINT32_MAX;

	for (uint32_t u = take_unit(&bins.next[0]); u < bins.nscatter; u = take_unit(&bins.next[0]))
	{
		const BinUnit unit = bins.scatter[u];

		if (unit.number != filled)
			fill_values(bins, bins.nhubs + unit.number, word, low);
		filled = unit.number;
#pragma unroll 2
		for (uint32_t i = unit.first + threadIdx.x * CELL_ENTRIES; i < unit.upto;
			 i += BINS_THREADS * CELL_ENTRIES)
		{
			uint32_t	s[CELL_ENTRIES];
			uint4	   *words = (uint4 *) (bins.entry_word + i);

			split_numbers(__ldcs((const uint4 *) (bins.source + i)), s);
			__stcs(words, make_uint4(word[s[0]], word[s[1]], word[s[2]], word[s[3]]));
			__stcs(words + 1, make_uint4(word[s[4]], word[s[5]], word[s[6]], word[s[7]]));
			__stcs((uint2 *) (bins.entry_low + i),
				   make_uint2(low[s[0]] | low[s[1]] << 8 | low[s[2]] << 16 |
							  (uint32_t) low[s[3]] << 24,
							  low[s[4]] | low[s[5]] << 8 | low[s[6]] << 16 |
							  (uint32_t) low[s[7]] << 24));
		}
	}
}

/*
 * Add rows, then write the values of entries in cells. The two are independent, so no
 * multiprocessor waits for the last one that processes the rows of a block of sources.
 */
static __global__ void __launch_bounds__(BINS_THREADS, 1)
bins_scatter_kernel(PropagationBlocks bins)
{
	extern __shared__ uint4 shared_memory[];
	uint32_t   *word = (uint32_t *) shared_memory;
	uint8_t    *low = (uint8_t *) (word + BLOCK_SOURCES + 16);

	for (uint32_t hub = 0; hub < bins.nhubs; hub++)
	{
		add_hub(bins, hub, word, low);
		__syncthreads();		/* the values are about to be overwritten */
	}
	scatter_values(bins, word, low);
}

/* Entries of a cell that a lane reads at once. */
typedef struct BinPiece
{
	uint4		sinks;
	uint4		words[2];
	uint2		lows;
} BinPiece;

static __device__ __forceinline__ BinPiece
read_piece(const PropagationBlocks &bins, uint32_t entry)
{
	return BinPiece{__ldcs((const uint4 *) (bins.sink + entry)),
		{__ldcs((const uint4 *) (bins.entry_word + entry)),
		 __ldcs((const uint4 *) (bins.entry_word + entry) + 1)},
		__ldcs((const uint2 *) (bins.entry_low + entry))};
}

/*
 * Add to a sum in shared memory, stored as two halves because shared memory has 32-bit atomics
 * only.
 */
static __device__ __forceinline__ void
add_shared(uint32_t *lower, uint32_t *upper, uint32_t sink, unsigned long long value)
{
	const uint32_t part = (uint32_t) value;
	const uint32_t old = atomicAdd(&lower[sink], part);
	const uint32_t more = (uint32_t) (value >> 32) + (old + part < old);

	if (more != 0)
		atomicAdd(&upper[sink], more);
}

static __device__ __forceinline__ void
add_piece(const BinPiece &piece, uint32_t *lower, uint32_t *upper)
{
	const uint32_t word[CELL_ENTRIES] = {piece.words[0].x, piece.words[0].y, piece.words[0].z,
		piece.words[0].w, piece.words[1].x, piece.words[1].y, piece.words[1].z, piece.words[1].w};
	uint32_t	sink[CELL_ENTRIES];

	split_numbers(piece.sinks, sink);
#pragma unroll
	for (uint32_t j = 0; j < CELL_ENTRIES; j++)
	{
		const uint32_t low = (j < 4 ? piece.lows.x : piece.lows.y) >> j % 4 * 8 & 0xFF;

		if (sink[j] < BIN_SINKS)
			add_shared(lower, upper, sink[j], unpack_units(word[j], low));
	}
}

/* Add the values of a unit's cells. Each warp loads the next piece while it adds the last one. */
static __device__ __forceinline__ void
add_cells(const PropagationBlocks &bins, const BinUnit &unit, uint32_t *lower, uint32_t *upper)
{
	const uint32_t warp = threadIdx.x / WARP_LANES;
	const uint32_t begin = (warp % unit.share + unit.share * unit.piece) *
		(WARP_LANES * CELL_ENTRIES) + lane_number() * CELL_ENTRIES;
	const uint32_t stride = unit.share * unit.npieces * (WARP_LANES * CELL_ENTRIES);

	for (uint32_t block = unit.first + warp / unit.share; block < unit.upto;
		 block += BINS_WARPS / unit.share)
	{
		const uint32_t *cell = bins.cell + (uint64_t) block * bins.nbins + unit.number;
		const uint32_t end = __ldg(cell + 1);
		uint32_t	entry = __ldg(cell) + begin;
		BinPiece	piece = {};

		if (entry < end)
			piece = read_piece(bins, entry);
		while (entry < end)
		{
			const BinPiece last = piece;

			entry += stride;
			if (entry < end)
				piece = read_piece(bins, entry);
			add_piece(last, lower, upper);
		}
	}
}

/* Add the values of each bin. Bytes: 7 an entry. */
static __global__ void __launch_bounds__(BINS_THREADS, 1)
bins_collect_kernel(PropagationBlocks bins)
{
	extern __shared__ uint4 shared_memory[];
	uint32_t   *lower = (uint32_t *) shared_memory;
	uint32_t   *upper = lower + BIN_SINKS;

	for (uint32_t u = take_unit(&bins.next[1]); u < bins.ncollect; u = take_unit(&bins.next[1]))
	{
		const BinUnit unit = bins.collect[u];
		unsigned long long *sum = bins.sum + (uint64_t) unit.number * BIN_SINKS;

		for (uint32_t i = threadIdx.x; i < 2 * BIN_SINKS / 4; i += BINS_THREADS)
			shared_memory[i] = make_uint4(0, 0, 0, 0);
		__syncthreads();
		add_cells(bins, unit, lower, upper);
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < BIN_SINKS; i += BINS_THREADS)
		{
			const unsigned long long value = (unsigned long long) upper[i] << 32 | lower[i];

			if (value != 0)
				atomicAdd(&sum[i], value);
		}
	}
}

/* ---- ranks ---- */

/*
 * Set the new rank of every vertex, or 1/n at the START, and its share for the next iteration, and
 * zero the sums. Bytes: 45 a vertex; 8 more of the teleport distribution.
 */
template <bool START>
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_finish_kernel(PropagationBlocks bins, double damping, double *rank)
{
	const uint32_t nthreads = gridDim.x * BLOCK_THREADS;
	const double evenly = 1.0 / (double) bins.nvertices;
	const double teleports = START ? 0 : emogi_rank_units_teleports(damping,
															bins.outcome[bins.turn ^ 1].dangling);
	unsigned long long change = 0;
	unsigned long long dangling = 0;

	for (uint64_t l = blockIdx.x * BLOCK_THREADS + threadIdx.x; l < bins.nvertices; l += nthreads)
	{
		const uint32_t degree = bins.degree[l];
		double		value = evenly;
		uint64_t	number = 0;

		if (!START)
		{
			value = emogi_rank_units_finish(damping, teleports,
											bins.teleport != NULL ? bins.teleport[l] : evenly,
											bins.sum[l]);
			change += emogi_rank_units_change(rank[l], value);
		}
		rank[l] = value;
		bins.sum[l] = 0;
		if (degree > 0)
			number = pack_units(emogi_rank_units_share(value, degree, bins.vertex[l], true));
		else
			dangling += emogi_rank_units_of(value);
		bins.word[l] = (uint32_t) (number >> 8);
		bins.low[l] = (uint8_t) number;
	}
	block_add(&bins.outcome[bins.turn].change, change);
	block_add(&bins.outcome[bins.turn].dangling, dangling);
}

/*
 * Permute the teleport distribution to the order of labels. Bytes: 12 a vertex, 8 read at random.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_order_teleport_kernel(PropagationBlocks bins, const double *from, double *to)
{
	const uint32_t nthreads = gridDim.x * BLOCK_THREADS;

	for (uint64_t l = blockIdx.x * BLOCK_THREADS + threadIdx.x; l < bins.nvertices; l += nthreads)
		to[l] = from[bins.vertex[l]];
}

/* Write ranks in the order of vertices. Bytes: 12 a vertex, 8 written at random. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bins_collect_ranks_kernel(PropagationBlocks bins, const double *rank, double *to)
{
	const uint32_t nthreads = gridDim.x * BLOCK_THREADS;

	for (uint64_t l = blockIdx.x * BLOCK_THREADS + threadIdx.x; l < bins.nvertices; l += nthreads)
		to[bins.vertex[l]] = rank[l];
}

/*
 * Allow a kernel `bytes` of shared memory a block. The rest is L1 cache, which buffers the reads in
 * flight.
 */
static EmogiStatus
allow_shared(const void *kernel, size_t bytes, EmogiError *error)
{
	CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
								  (int) bytes));
	CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
								  SHARED_PERCENT));
	return EMOGI_OK;
}

EmogiStatus
emogi_propagation_blocking_start(Run *run, PropagationBlocks *bins, const double *teleport,
								 double *rank, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	double	   *ordered = NULL;

	if (teleport != NULL)
	{
		TRY(take_array(&run->memory, &ordered, run->nvertices,
					   "teleport probabilities by degree order",
					   error));
		CUDA_LAUNCH(bins_order_teleport_kernel, run->full_blocks, BLOCK_THREADS, stream, *bins,
					teleport, ordered);
	}
	bins->teleport = ordered;
	bins->turn = 0;
	TRY(allow_shared((const void *) bins_scatter_kernel, BLOCK_BYTES, error));
	TRY(allow_shared((const void *) bins_collect_kernel, BIN_BYTES, error));
	CUDA_TRY(cudaMemsetAsync(bins->outcome, 0, 2 * sizeof *bins->outcome, stream));
	CUDA_TRY(cudaMemsetAsync(bins->sum, 0, (uint64_t) bins->nbins * BIN_SINKS * sizeof *bins->sum,
							 stream));
	CUDA_LAUNCH(bins_finish_kernel<true>, run->full_blocks, BLOCK_THREADS, stream, *bins, 0.0,
				rank);
	return EMOGI_OK;
}

EmogiStatus
emogi_propagation_blocking_iterate(Run *run, PropagationBlocks *bins, double damping, double *rank,
								   double *change, EmogiError *error)
{
	const BinOutcome *outcome = (const BinOutcome *) run->state->mailbox;
	const int	units = run->state->units;
	cudaStream_t stream = run->state->stream;

	bins->turn ^= 1;
	CUDA_TRY(cudaMemsetAsync(bins->next, 0, 2 * sizeof *bins->next, stream));
	CUDA_TRY(cudaMemsetAsync(&bins->outcome[bins->turn], 0, sizeof *bins->outcome, stream));
	CUDA_LAUNCH_SHARED(bins_scatter_kernel, units, BINS_THREADS, BLOCK_BYTES, stream, *bins);
	if (bins->nentries > 0)
		CUDA_LAUNCH_SHARED(bins_collect_kernel, units, BINS_THREADS, BIN_BYTES, stream, *bins);
	CUDA_LAUNCH(bins_finish_kernel<false>, run->full_blocks, BLOCK_THREADS, stream, *bins, damping,
				rank);
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, &bins->outcome[bins->turn], sizeof *outcome,
							 cudaMemcpyDeviceToHost, stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	*change = emogi_rank_units_total_change(outcome->change);
	return EMOGI_OK;
}

EmogiStatus
emogi_propagation_blocking_collect_ranks(Run *run, const PropagationBlocks *bins,
										 const double *rank, double *to, EmogiError *error)
{
	CUDA_LAUNCH(bins_collect_ranks_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				*bins, rank, to);
	return EMOGI_OK;
}
