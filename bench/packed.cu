/*
 * packed.cu: would neighbour ids packed into fewer bits make host placement faster?
 *
 *   build/packed [kron|urand] [SCALE]        (kron 24)
 *
 * Reads the lists of a graph over the link: as 32-bit ids, four in the 16 bytes that a lane reads,
 * and packed into 25 bits, five in 16 bytes. 25 bits suffice for 33.5 M vertices; six ids would
 * leave 21 bits, and an id must not span the pieces of two lanes. Each entry is looked up in a
 * vertex bitmap, as in a bottom-up step. Prints, for all lists and for a fraction of them in
 * ascending order: lines, GB, ms (median of 5, device events) and hits, which must agree. Then
 * prints the size of delta-encoded lists: gaps in bytes of 7 bits, and gaps in the fixed width of
 * the list's largest gap.
 */
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C"
{
#include "generate.h"
}

#define LINE 128
#define PIECE 16
#define THREADS 256
#define BLOCKS (132 * 4)
#define ROUNDS 5
#define PACKED_BITS 25

#define MUST(call) \
	do { \
		const cudaError_t code_ = (call); \
		if (code_ != cudaSuccess) \
		{ \
			fprintf(stderr, "packed: %s: %s\n", #call, cudaGetErrorString(code_)); \
			exit(1); \
		} \
	} while (0)

/* 32-bit ids and ids of PACKED_BITS: get id number i of a piece. */
struct Plain
{
	static constexpr uint64_t PER = 4;

	static __host__ __device__ uint32_t
	get(uint64_t low, uint64_t high, uint32_t i)
	{
		return (uint32_t) ((i < 2 ? low : high) >> (i % 2 * 32));
	}
};

struct Packed
{
	static constexpr uint64_t PER = 5;

	static __host__ __device__ uint32_t
	get(uint64_t low, uint64_t high, uint32_t i)
	{
		const uint32_t bit = i * PACKED_BITS;
		const uint64_t bits = bit == 0 ? low : bit < 64 ? low >> bit | high << (64 - bit) : high >> (bit - 64);

		return (uint32_t) bits & ((1u << PACKED_BITS) - 1);
	}
};

/*
 * Count the entries of the lists of `chosen` vertices that are in `wanted`. A warp processes 32
 * vertices, whose lists are contiguous, and reads the ranges of chosen ones line by line. Each of
 * these lines is read once.
 */
template <class Ids>
static __global__ void __launch_bounds__(THREADS)
packed_count_kernel(const uint64_t *offsets, const ulonglong2 *pieces, uint64_t nvertices, const uint32_t *chosen,
					const uint32_t *wanted, unsigned long long *hits, unsigned long long *lines)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * THREADS / 32;
	const uint32_t lane = threadIdx.x % 32;
	unsigned long long found = 0;
	unsigned long long nread = 0;

	for (uint64_t word = ((uint64_t) blockIdx.x * THREADS + threadIdx.x) / 32; word * 32 < nvertices; word += nwarps)
	{
		uint32_t	todo = chosen[word];

		while (todo != 0)
		{
			const uint32_t first = __ffs(todo) - 1;
			const uint32_t rest = ~(todo >> first);
			const uint32_t n = rest == 0 ? 32 - first : __ffs(rest) - 1;	/* consecutive neighbours */
			const uint64_t start = offsets[word * 32 + first];
			const uint64_t end = offsets[min(word * 32 + first + n, nvertices)];
			const uint64_t from = start / Ids::PER / (LINE / PIECE) * (LINE / PIECE);

			todo &= first + n >= 32 ? 0 : ~0u << (first + n);
			if (start == end)
				continue;
			nread += ((end - 1) / Ids::PER - from) / (LINE / PIECE) + 1;
#pragma unroll 2
			for (uint64_t p = from + lane; p * Ids::PER < end; p += 32)
			{
				const ulonglong2 piece = pieces[p];

#pragma unroll
				for (uint32_t i = 0; i < Ids::PER; i++)
				{
					const uint64_t entry = p * Ids::PER + i;
					const uint32_t id = Ids::get(piece.x, piece.y, i);

					if (entry >= start && entry < end)
						found += wanted[id / 32] >> id % 32 & 1;
				}
			}
		}
	}
	for (uint32_t step = 16; step > 0; step /= 2)
		found += __shfl_xor_sync(0xFFFFFFFFu, found, step);
	if (lane == 0)
	{
		atomicAdd(hits, found);
		atomicAdd(lines, nread);
	}
}

/* Data shared by both variants, in device memory except for the pieces. */
struct Reading
{
	uint64_t   *offsets;
	uint32_t   *chosen;
	uint32_t   *wanted;
	unsigned long long *counts; /* hits, lines */
	uint64_t	nvertices;
};

/* Time one variant and print a line; returns the hits. */
template <class Ids>
static unsigned long long
time_reading(const char *name, const Reading &reading, const void *pieces, int percent)
{
	cudaEvent_t begin;
	cudaEvent_t end;
	float		ms[ROUNDS];
	unsigned long long counts[2];

	MUST(cudaEventCreate(&begin));
	MUST(cudaEventCreate(&end));
	for (int round = 0; round < ROUNDS; round++)
	{
		MUST(cudaMemset(reading.counts, 0, sizeof counts));
		MUST(cudaEventRecord(begin));
		packed_count_kernel<Ids><<<BLOCKS, THREADS>>>(reading.offsets, (const ulonglong2 *) pieces, reading.nvertices,
													  reading.chosen, reading.wanted, reading.counts, reading.counts + 1);
		MUST(cudaGetLastError());
		MUST(cudaEventRecord(end));
		MUST(cudaEventSynchronize(end));
		MUST(cudaEventElapsedTime(&ms[round], begin, end));
	}
	MUST(cudaMemcpy(counts, reading.counts, sizeof counts, cudaMemcpyDeviceToHost));
	std::sort(ms, ms + ROUNDS);
	printf("%3d %% of lists, %-7s %11llu lines %7.3f GB %8.3f ms %6.1f GB/s, %llu hits\n", percent, name, counts[1],
		   (double) counts[1] * LINE / 1e9, ms[ROUNDS / 2], (double) counts[1] * LINE / 1e6 / ms[ROUNDS / 2], counts[0]);
	return counts[0];
}

/* Pack the ids of a graph. pieces: zeroed. */
static void
pack(const EmogiAdjacency *lists, uint64_t (*pieces)[2])
{
	for (uint64_t e = 0; e < lists->nedges; e++)
	{
		uint64_t   *piece = pieces[e / Packed::PER];
		const uint32_t bit = (uint32_t) (e % Packed::PER) * PACKED_BITS;
		const uint64_t id = lists->targets[e];

		if (bit < 64)
			piece[0] |= id << bit;
		if (bit >= 64)
			piece[1] |= id << (bit - 64);
		else if (bit + PACKED_BITS > 64)
			piece[1] |= id >> (64 - bit);
	}
}

/* Print the size of delta-encoded lists. */
static void
print_delta_bytes(const EmogiAdjacency *lists, uint64_t nvertices)
{
	uint64_t	varint_bytes = 0;
	uint64_t	fixed_bits = 0;

	for (uint64_t v = 0; v < nvertices; v++)
	{
		uint32_t	before = 0;
		uint32_t	all = 0;

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint32_t gap = lists->targets[e] - before;

			before = lists->targets[e];
			all |= gap;
			varint_bytes += gap < 1u << 7 ? 1 : gap < 1u << 14 ? 2 : gap < 1u << 21 ? 3 : gap < 1u << 28 ? 4 : 5;
		}
		fixed_bits += (lists->offsets[v + 1] - lists->offsets[v]) * (all != 0 ? 32 - __builtin_clz(all) : 0) + 8;
	}
	printf("gaps in bytes of 7 bits: %.3f bytes per entry; in the list's fixed width: %.3f\n",
		   (double) varint_bytes / (double) lists->nedges, (double) fixed_bits / 8 / (double) lists->nedges);
}

/* Generate and build. */
static EmogiBuiltGraph
make_graph(EmogiGenerator generator, int scale)
{
	EmogiPool  *pool = emogi_pool_create(16);
	EmogiControl control = {};
	EmogiError	error;
	EmogiEdgeSet set;
	EmogiBuiltGraph built;

	if (pool == NULL || !emogi_generate_edges(pool, generator, scale, 16, 1, &set) ||
		emogi_build_graph(pool, &set.edges, EMOGI_BOTH, false, &built, &control, &error) != EMOGI_OK)
		exit(1);
	emogi_edge_set_free(&set);
	if (!emogi_remove_repeats(pool, 0, 1, &built))
		exit(1);
	emogi_pool_destroy(pool);
	return built;
}

int
main(int argc, char **argv)
{
	const EmogiGenerator generator = argc > 1 && strcmp(argv[1], "urand") == 0 ? EMOGI_URAND : EMOGI_KRON;
	const int	scale = argc > 2 ? atoi(argv[2]) : 24;
	EmogiBuiltGraph built = make_graph(generator, scale);
	const EmogiAdjacency *lists = &built.graph.forward;
	const uint64_t nvertices = built.graph.nvertices;
	const uint64_t nwords = (nvertices + 31) / 32;
	const uint64_t plain_bytes = (lists->nedges + 31) / 32 * LINE;
	const uint64_t packed_bytes = (lists->nedges + 39) / 40 * LINE;
	static const int percents[] = {100, 50, 10, 2};
	uint32_t   *bits = (uint32_t *) calloc(nwords, sizeof *bits);
	Reading		reading = {NULL, NULL, NULL, NULL, nvertices};
	void	   *plain;
	void	   *packed;

	if (nvertices > 1u << PACKED_BITS || bits == NULL)
		return 1;
	printf("%s scale %d: n = %llu, m = %llu\n", generator == EMOGI_URAND ? "urand" : "kron", scale,
		   (unsigned long long) nvertices, (unsigned long long) lists->nedges);
	print_delta_bytes(lists, nvertices);
	MUST(cudaHostAlloc(&plain, plain_bytes, cudaHostAllocMapped));
	MUST(cudaHostAlloc(&packed, packed_bytes, cudaHostAllocMapped));
	memcpy(plain, lists->targets, lists->nedges * sizeof(uint32_t));
	memset(packed, 0, packed_bytes);
	pack(lists, (uint64_t (*)[2]) packed);
	MUST(cudaMalloc(&reading.offsets, (nvertices + 1) * sizeof(uint64_t)));
	MUST(cudaMalloc(&reading.chosen, nwords * 4));
	MUST(cudaMalloc(&reading.wanted, nwords * 4));
	MUST(cudaMalloc(&reading.counts, 2 * sizeof *reading.counts));
	MUST(cudaMemcpy(reading.offsets, lists->offsets, (nvertices + 1) * sizeof(uint64_t), cudaMemcpyHostToDevice));
	for (uint64_t v = 0; v < nvertices; v++)
		bits[v / 32] |= (uint32_t) (emogi_random(5, v) & 1) << v % 32;
	MUST(cudaMemcpy(reading.wanted, bits, nwords * 4, cudaMemcpyHostToDevice));
	for (int percent : percents)
	{
		memset(bits, 0, nwords * 4);
		for (uint64_t v = 0; v < nvertices; v++)
			bits[v / 32] |= (uint32_t) (emogi_random(7, v) % 100 < (uint64_t) percent) << v % 32;
		MUST(cudaMemcpy(reading.chosen, bits, nwords * 4, cudaMemcpyHostToDevice));
		if (time_reading<Plain>("32 bits", reading, plain, percent) !=
			time_reading<Packed>("25 bits", reading, packed, percent))
		{
			fprintf(stderr, "packed: the hits differ\n");
			return 1;
		}
	}
	return 0;
}
