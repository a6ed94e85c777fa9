/*
 * degree_order.cu: construction of labels.
 *
 * A histogram of the degrees, in classes that grow with them, assigns a range of labels to each
 * class; vertices of one class take labels in arbitrary order, which no result depends on.
 */
#include "cuda/lists/degree_order.cuh"

/*
 * Tuned constants of 753e333. The figures of an NVIDIA H200 in bench/RESULTS.md (PageRank in device
 * placement) were measured with these values.
 */
#define NEAR 16					/* targets at this distance share a line of values, or nearly so */
/* leave lists alone if more than 1 / NEAR_PART of the edges are near the previous one */
#define NEAR_PART 4
#define SAMPLES 1024			/* chunks that are sampled for this */

/* Return the class of a degree: 0 for 0, then ascending. */
static __device__ __forceinline__ uint32_t
class_of(uint64_t degree)
{
	const float number = (float) degree;
	uint32_t	bits;

	memcpy(&bits, &number, sizeof bits);
	bits = bits >> (23 - CLASS_BITS);
	return degree == 0 ? 0 : bits - (127u << CLASS_BITS) + 1;
}

/* Return the minimum degree of a class. */
static uint64_t
class_degree(uint32_t number)
{
	const uint32_t bits = (number - 1 + (127u << CLASS_BITS)) << (23 - CLASS_BITS);
	float		degree;

	memcpy(&degree, &bits, sizeof degree);
	return number == 0 ? 0 : (uint64_t) degree;
}

/* Count the vertices of each class. Bytes: 8 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
labels_count_classes_kernel(Degrees degrees, uint64_t nvertices, Survey *survey)
{
	__shared__ uint32_t count[DEGREE_CLASSES];

	for (uint32_t i = threadIdx.x; i < DEGREE_CLASSES; i += BLOCK_THREADS)
		count[i] = 0;
	__syncthreads();
	for_each(nvertices, [&](uint64_t v) {
		atomicAdd(&count[class_of(degree_of(degrees, v))], 1u);
	});
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < DEGREE_CLASSES; i += BLOCK_THREADS)
		if (count[i] > 0)
			atomicAdd(&survey->count[i], (unsigned long long) count[i]);
}

/* Compare edges with the previous ones in the same list, in every stride-th chunk. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
labels_compare_kernel(Lists<Target> lists, ListIndex list_index, uint64_t stride, Survey *survey)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;
	unsigned long long looked = 0;
	unsigned long long near = 0;

	for (uint64_t chunk = own * stride; chunk < list_index.nchunks; chunk += nwarps * stride)
		for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
		{
			const uint64_t entry = round_entry(chunk, round);
			const uint32_t length = edge_vector_length(lists, entry);
			const EdgeVector<NoWeight> vector = read_edge_vector<NoWeight>(lists, entry, length);
			const uint32_t begins = read_begins(list_index, entry);

			for (uint32_t j = 1; j < length; j++)
			{
				const Target distance = vector.target[j] - vector.target[j - 1];

				looked += ~begins >> j & 1;
				near += (~begins >> j & 1) != 0 && distance > 0 && distance < NEAR;
			}
		}
	block_add(&survey->looked, looked);
	block_add(&survey->near, near);
}

/* Assign the next label of its class to every vertex. Bytes: 8 per vertex, 4 written. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
labels_take_kernel(Degrees degrees, uint64_t nvertices, unsigned long long *next, uint32_t *label)
{
	for (uint64_t base = first_of_warp(); base < nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		const uint32_t number = v < nvertices ? class_of(degree_of(degrees, v)) : DEGREE_CLASSES;
		const uint32_t lanes = __match_any_sync(FULL_WARP, number);
		const uint32_t leader = __ffs(lanes) - 1;
		unsigned long long first = 0;

		if (lane_number() == leader && v < nvertices)
			first = atomicAdd(&next[number], (unsigned long long) __popc(lanes));
		first = __shfl_sync(FULL_WARP, first, leader);
		if (v < nvertices)
			label[v] = (uint32_t) first + __popc(lanes & lanes_below());
	}
}

EmogiStatus
emogi_degree_order_survey(Run *run, const ListIndex *list_index, const Degrees *degrees,
						  Survey *survey, EmogiError *error)
{
	const int	nblocks = run->memory.nblocks;
	cudaStream_t stream = run->state->stream;
	Survey	   *copy;

	TRY(take_array(&run->memory, &copy, 1, "survey", error));
	CUDA_TRY(cudaMemsetAsync(copy, 0, sizeof *copy, stream));
	CUDA_LAUNCH(labels_count_classes_kernel, run->full_blocks, BLOCK_THREADS, stream, *degrees,
				run->nvertices, copy);
	CUDA_LAUNCH(labels_compare_kernel, run->full_blocks, BLOCK_THREADS, stream, run->graph.forward,
				*list_index, list_index->nchunks / SAMPLES + 1, copy);
	TRY(emogi_run_fetch(run, survey, copy, sizeof *survey, error));
	emogi_memory_release(&run->memory, nblocks);
	return EMOGI_OK;
}

bool
emogi_degree_order_near(const Survey *survey)
{
	return survey->near > survey->looked / NEAR_PART;
}

uint64_t
emogi_degree_order_top(const Survey *survey, uint64_t max_vertices)
{
	uint64_t	entries = 0;

	for (uint32_t number = DEGREE_CLASSES; number-- > 0 && max_vertices > 0;)
	{
		const uint64_t count = survey->count[number] < max_vertices ? survey->count[number] :
			max_vertices;

		entries += count * class_degree(number);
		max_vertices -= count;
	}
	return entries;
}

EmogiStatus
emogi_degree_order_make(Run *run, const Degrees *degrees, const Survey *survey, uint32_t *label,
						EmogiError *error)
{
	unsigned long long first[DEGREE_CLASSES];
	unsigned long long *next;
	unsigned long long upto = 0;

	for (uint32_t number = DEGREE_CLASSES; number-- > 0;)
	{
		first[number] = upto;
		upto += survey->count[number];
	}
	TRY(take_array(&run->memory, &next, DEGREE_CLASSES, "labels of classes", error));
	TRY(emogi_run_send(run, next, first, sizeof first, error));
	CUDA_LAUNCH(labels_take_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *degrees,
				run->nvertices, next, label);
	return EMOGI_OK;
}
