/*
 * cache_blocking.cu: construction of segmented graphs.
 *
 * Renumbering. Targets are replaced by labels (degree_order.cuh).
 *
 * Segments. Adjacency lists ascend, and edges are stored in order of lists, so a stable sort of the
 * edges by segment suffices: count the edges of each segment in each chunk, compute prefix sums of
 * the counts, segment by segment, and copy every edge to its position. An edge begins a list of the
 * SegmentedGraph if it begins a list of the graph, or if the previous edge is in another segment.
 *
 * Bytes, for m edges, n vertices and s segments. Renumbering: 4m read and 4m written, 4 random ones
 * per edge, of the 4n of labels. Segments: 8m read and 4m written; one or two atomic operations per
 * list of the SegmentedGraph. Either takes as long as a sweep.
 */
#include "cuda/lists/cache_blocking.cuh"
#include "cuda/access/prefix_sum.cuh"

/*
 * Tuned constants: the cost of a SegmentedGraph against the savings of its sweeps, and what fits in
 * a cache. MIN_SWEEPS, MIN_PART and L2_SHARE are of 6130b04, the others of 753e333. The figures of
 * an NVIDIA H200 in bench/RESULTS.md (PageRank in device placement, ad4a202) were measured with
 * these values.
 */
#define MIN_SWEEPS 4			/* below this number of sweeps it does not pay */
/* mean edges per list of the SegmentedGraph: shorter lists cost more in sums than they save */
#define MIN_PART 4
#define MAX_SEGMENTS WARP_LANES	/* a lane holds the position in each */
#define L2_SHARE 2 /* values that are read often should fill at most 1 / L2_SHARE of the L2 cache */
#define SMALL_SHARE 4			/* values below 1 / SMALL_SHARE of the L2 cache are left alone */
#define HOT_VERTICES 16384		/* whose values stay in an L1 cache */
#define HOT_PART 8				/* renumber if they have at least 1 / HOT_PART of the edges */

/* Return the segment of a target. `factor` is 2^32 * segments / vertices. */
static __device__ __forceinline__ uint32_t
segment_of(Target target, uint32_t factor)
{
	return __umulhi(target, factor);
}

/* Write the labels of the targets. Bytes: 4 per edge, 4 at random, 4 written. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
segments_rename_kernel(Lists<Target> lists, const uint32_t *label, Target *targets,
					   uint64_t nchunks, Step step)
{
	sweep_chunks(step, 0, nchunks, [&](uint64_t chunk) {
		for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
		{
			const uint64_t entry = round_entry(chunk, round);
			const uint32_t length = edge_vector_length(lists, entry);
			const EdgeVector<NoWeight> vector = read_edge_vector<NoWeight>(lists, entry, length);

#pragma unroll
			for (uint32_t i = 0; i < LANE_ENTRIES; i += PIECE)
			{
				Target		name[PIECE];
				uint4		piece;

#pragma unroll
				for (uint32_t j = 0; j < PIECE; j++)
					name[j] = i + j < length ? __ldg(&label[vector.target[i + j]]) : 0;
				memcpy(&piece, name, sizeof piece);
				if (length > 0)
					*(uint4 *) (targets + entry + i) = piece;
			}
		}
	});
}

/*
 * Count the edges of each segment in each chunk: place[segment * nchunks + chunk]. Bytes: 4 per
 * edge.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
segments_count_kernel(Lists<Target> lists, uint32_t nsegments, uint32_t factor, uint64_t *place,
					  uint64_t nchunks, Step step)
{
	sweep_chunks(step, 0, nchunks, [&](uint64_t chunk) {
		uint32_t	own = 0;	/* of the segment with the lane's number */

		for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
		{
			const uint64_t entry = round_entry(chunk, round);
			const uint32_t length = edge_vector_length(lists, entry);
			const EdgeVector<NoWeight> vector = read_edge_vector<NoWeight>(lists, entry, length);
			uint32_t	segment[LANE_ENTRIES];

#pragma unroll
			for (uint32_t j = 0; j < LANE_ENTRIES; j++)
				segment[j] = j < length ? segment_of(vector.target[j], factor) : MAX_SEGMENTS;
			for (uint32_t s = 0; s < nsegments; s++)
			{
				uint32_t	count = 0;

#pragma unroll
				for (uint32_t j = 0; j < LANE_ENTRIES; j++)
					count += segment[j] == s;
				count = __reduce_add_sync(FULL_WARP, count);
				if (lane_number() == s)
					own += count;
			}
		}
		if (lane_number() < nsegments)
			place[lane_number() * nchunks + chunk] = own;
	});
}

/* Mark an edge that begins a list of the SegmentedGraph. */
static __device__ __forceinline__ void
mark_begin(const ListIndex &list_index, uint64_t entry, uint64_t word, uint32_t vertex)
{
	atomicOr(&list_index.begins[entry / 32], 1u << entry % 32);
	atomicOr(&list_index.filled[word + vertex / 32], 1u << vertex % 32);
}

/*
 * Copy the edges to their segments, and mark the beginnings of lists. vertex[rank] is the graph's
 * list number. Bytes: 4 per edge, 4 written in short runs; two atomic operations per list of the
 * SegmentedGraph.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
segments_copy_kernel(Lists<Target> lists, ListIndex list_index, const uint32_t *vertex,
					 uint32_t nsegments, uint32_t factor, const uint64_t *place, Target *targets,
					 ListIndex to, uint64_t nwords, Step step)
{
	sweep_chunks(step, 0, list_index.nchunks, [&](uint64_t chunk) {
		uint64_t	next = lane_number() < nsegments ?
			place[lane_number() * list_index.nchunks + chunk] : 0;
		uint32_t	rank = list_index.chunk_rank[chunk];
		uint32_t	last = chunk > 0 ? segment_of(lists.targets[chunk * CHUNK_ENTRIES - 1],
												  factor) : 0;

		for (uint32_t round = 0; round < CHUNK_ROUNDS; round++)
		{
			const uint64_t entry = round_entry(chunk, round);
			const uint32_t length = edge_vector_length(lists, entry);
			const EdgeVector<NoWeight> vector = read_edge_vector<NoWeight>(lists, entry, length);
			const uint32_t begins = read_begins(list_index, entry);
			const uint32_t ranks = warp_prefix_sum(__popc(begins));
			const uint32_t own_rank = rank + ranks - __popc(begins);
			uint32_t	segment[LANE_ENTRIES];
			uint32_t	before;

#pragma unroll
			for (uint32_t j = 0; j < LANE_ENTRIES; j++)
				segment[j] = j < length ? segment_of(vector.target[j], factor) : MAX_SEGMENTS;
			before = __shfl_up_sync(FULL_WARP, segment[LANE_ENTRIES - 1], 1);
			if (lane_number() == 0)
				before = last;
			for (uint32_t s = 0; s < nsegments; s++)
			{
				uint32_t	count = 0;
				uint32_t	upto;
				uint64_t	at;

#pragma unroll
				for (uint32_t j = 0; j < LANE_ENTRIES; j++)
					count += segment[j] == s;
				upto = warp_prefix_sum(count);
				at = __shfl_sync(FULL_WARP, (unsigned long long) next, s) + upto - count;
				count = __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
				if (lane_number() == s)
					next += count;
#pragma unroll
				for (uint32_t j = 0; j < LANE_ENTRIES; j++)
				{
					if (segment[j] != s)
						continue;
					targets[at] = vector.target[j];
					if ((begins >> j & 1) != 0 ||
						(j > 0 ? segment[j > 0 ? j - 1 : 0] : before) != s)
						mark_begin(to, at, s * nwords,
								   vertex[own_rank + __popc(begins & ((2u << j) - 1)) - 1]);
					at++;
				}
			}
			last = __shfl_sync(FULL_WARP, segment[LANE_ENTRIES - 1], WARP_LANES - 1);
			rank += __shfl_sync(FULL_WARP, ranks, WARP_LANES - 1);
		}
	});
}

/* Return the size of a SegmentedGraph in words of device memory. */
static uint64_t
segmented_words(const Run *run, uint32_t nsegments)
{
	const uint64_t nedges = run->graph.forward.nedges;

	return (nedges + ENTRIES - 1) / ENTRIES * ENTRIES +
		emogi_edge_chunks_index_words(nedges, nsegments * run->nwords) + (nsegments == 1 ?
																		  run->nvertices : 0);
}

/* Lay out a SegmentedGraph in a block of that size: targets, ListIndex, labels. */
static void
lay_out(const Run *run, uint32_t nsegments, uint32_t *memory, SegmentedGraph *segmented)
{
	const uint64_t nedges = run->graph.forward.nedges;
	const uint64_t nwords = nsegments * run->nwords;
	uint32_t   *list_index = memory + (nedges + ENTRIES - 1) / ENTRIES * ENTRIES;

	segmented->nsegments = nsegments;
	segmented->lists = Lists<Target>{NULL, memory, NULL, nedges, NULL, 0};
	segmented->list_index = emogi_edge_chunks_lay_out_index(list_index, nedges, nwords);
	segmented->label = nsegments == 1 ? list_index + emogi_edge_chunks_index_words(nedges, nwords) :
		NULL;
}

/* Allocate the sums of a SegmentedGraph. If there is no memory, drop the SegmentedGraph. */
static EmogiStatus
take_sums(Run *run, SegmentedGraph *segmented, EmogiError *error)
{
	EmogiStatus status;

	if (segmented->nsegments < 2)
		return EMOGI_OK;
	status = take_array(&run->memory, &segmented->sum, segmented->nsegments * run->nvertices,
						"sums of segments", error);
	if (status != EMOGI_NO_MEMORY)
		return status;
	segmented->nsegments = 0;
	return EMOGI_OK;
}

/* Get the cached SegmentedGraph and mark it as in use; NULL if there is none. */
static const void *
use_kept(Run *run, const Target *array, uint32_t *nsegments)
{
	uint64_t	length = 0;
	const void *memory = NULL;

	if (run->graph.placement == EMOGI_PLACEMENT_DEVICE)
		memory = emogi_device_cache_use_derived(run->state, array, EMOGI_COPY_SEGMENTED, 1,
												MAX_SEGMENTS, &length);
	*nsegments = (uint32_t) length;
	return memory;
}

EmogiStatus
emogi_cache_blocking_find(Run *run, const Target *array, uint64_t nsweeps,
						  SegmentedGraph *segmented, EmogiError *error)
{
	uint32_t	nsegments;
	const void *memory = use_kept(run, array, &nsegments);

	segmented->nsegments = 0;
	if (memory == NULL || (nsegments > 1 && nsweeps < MIN_SWEEPS))
		return EMOGI_OK;
	lay_out(run, nsegments, (uint32_t *) const_cast<void *>(memory), segmented);
	return take_sums(run, segmented, error);
}

bool
emogi_cache_blocking_pays_off(uint64_t nsweeps)
{
	return nsweeps >= MIN_SWEEPS;
}

/* Choose the number of segments for values of value_bytes in total; 0 if segments do not pay. */
static uint32_t
choose_segments(const Run *run, uint64_t value_bytes, uint64_t cache_bytes)
{
	const uint64_t max_segments = run->graph.forward.nedges / (MIN_PART * run->nvertices);
	uint64_t	nsegments = (value_bytes * L2_SHARE + cache_bytes - 1) / cache_bytes;

	if (nsegments > max_segments)
		nsegments = max_segments;
	if (nsegments > MAX_SEGMENTS)
		nsegments = MAX_SEGMENTS;
	/* Segments that do not fit in the cache at all are useless; ranks have 32 bits. */
	if (value_bytes < cache_bytes / 4 * 3 || nsegments < 2 ||
		value_bytes / nsegments > cache_bytes || nsegments * run->nvertices > EMOGI_MAX_VERTICES)
		return 0;
	return (uint32_t) nsegments;
}

/* Choose what to do: *nsegments > 1 = segments, 1 = renumber, 0 = leave the lists as they are. */
static EmogiStatus
make_plan(Run *run, const ListIndex *list_index, const Degrees *degrees, Survey *survey,
		  uint32_t *nsegments, EmogiError *error)
{
	const uint64_t nedges = run->graph.forward.nedges;
	const uint64_t value_bytes = run->nvertices * sizeof(double);
	int			cache_bytes = 0;

	*nsegments = 0;
	CUDA_TRY(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, run->state->device));
	if (cache_bytes <= 0 || value_bytes < (uint64_t) cache_bytes / SMALL_SHARE)
		return EMOGI_OK;
	TRY(emogi_degree_order_survey(run, list_index, degrees, survey, error));
	if (emogi_degree_order_near(survey))
		return EMOGI_OK;
	if (emogi_degree_order_top(survey, HOT_VERTICES) >= nedges / HOT_PART &&
		emogi_degree_order_top(survey, cache_bytes / L2_SHARE / sizeof(double)) >= nedges / 4 * 3)
		*nsegments = 1;
	else
		*nsegments = choose_segments(run, value_bytes, (uint64_t) cache_bytes);
	return EMOGI_OK;
}

/* Renumber the targets. The ListIndex is that of the lists. */
static EmogiStatus
renumber(Run *run, const ListIndex *list_index, const Degrees *degrees, const Survey *survey,
		 SegmentedGraph *segmented, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	TRY(emogi_degree_order_make(run, degrees, survey, const_cast<uint32_t *>(segmented->label),
								error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(segments_rename_kernel, run->full_blocks, BLOCK_THREADS, stream, run->graph.forward,
				segmented->label, const_cast<Target *>(segmented->lists.targets),
				list_index->nchunks, run->step);
	CUDA_TRY(cudaMemcpyAsync(segmented->list_index.begins, list_index->begins,
							 (char *) list_index->tile - (char *) list_index->begins,
							 cudaMemcpyDeviceToDevice, stream));
	return EMOGI_OK;
}

/* Sort the edges by segment. */
static EmogiStatus
sort_by_segment(Run *run, const ListIndex *list_index, SegmentedGraph *segmented, EmogiError *error)
{
	const uint32_t factor = (uint32_t) (((uint64_t) segmented->nsegments << 32) / run->nvertices);
	const uint64_t nplaces = segmented->nsegments * list_index->nchunks;
	const Lists<Target> lists = run->graph.forward;
	cudaStream_t stream = run->state->stream;
	uint64_t   *place;
	uint64_t   *tile;
	uint32_t   *vertex;

	TRY(take_array(&run->memory, &place, nplaces, "places of chunks", error));
	TRY(take_array(&run->memory, &tile, count_tiles(nplaces), "sums of tiles", error));
	TRY(take_array(&run->memory, &vertex, run->nvertices, "lists by rank", error));
	TRY(emogi_edge_chunks_name_lists(run, list_index, vertex, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(segments_count_kernel, run->full_blocks, BLOCK_THREADS, stream, lists,
				segmented->nsegments, factor, place, list_index->nchunks, run->step);
	TRY(prefix_sum(run, place, nplaces, tile, error));
	TRY(emogi_edge_chunks_clear_index(run, &segmented->list_index, error));
	/* incomplete counts, after a cancel, would give arbitrary positions */
	TRY(emogi_cuda_wait(run->state, run->control, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(segments_copy_kernel, run->full_blocks, BLOCK_THREADS, stream, lists, *list_index,
				vertex, segmented->nsegments, factor, place,
				const_cast<Target *>(segmented->lists.targets), segmented->list_index, run->nwords,
				run->step);
	return emogi_edge_chunks_rank_lists(run, &segmented->list_index, error);
}

/* Build what was planned, in a block of its own; return NO_MEMORY if there is too little memory. */
static EmogiStatus
build(Run *run, const Target *array, const ListIndex *list_index, const Degrees *degrees,
	  const Survey *survey, uint32_t nsegments, SegmentedGraph *segmented, EmogiError *error)
{
	uint32_t   *memory;
	int			nblocks;

	TRY(take_array(&run->memory, &memory, segmented_words(run, nsegments), "targets for sweeps",
				   error));
	nblocks = run->memory.nblocks;
	lay_out(run, nsegments, memory, segmented);
	if (segmented->nsegments == 1)
		TRY(renumber(run, list_index, degrees, survey, segmented, error));
	else
		TRY(sort_by_segment(run, list_index, segmented, error));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	emogi_memory_release(&run->memory, nblocks);
	emogi_device_cache_keep(run->state, &run->memory, array, EMOGI_COPY_SEGMENTED,
							segmented->nsegments);
	return take_sums(run, segmented, error);
}

/* Check whether there is memory for building it, without any eviction. */
static EmogiStatus
check_room(const Run *run, uint32_t nsegments, bool *fits, EmogiError *error)
{
	const uint64_t nplaces = nsegments * count_chunks(run->graph.forward.nedges);
	uint64_t	bytes = segmented_words(run, nsegments) * sizeof(uint32_t);
	uint64_t	left_bytes;

	if (nsegments > 1)
		bytes += (nplaces + count_tiles(nplaces)) * sizeof(uint64_t) +
			run->nvertices * sizeof(uint32_t) + nsegments * run->nvertices * sizeof(double);
	TRY(emogi_memory_left(&run->memory, &left_bytes, error));
	*fits = bytes + emogi_device_cache_idle_bytes(run->state) <= left_bytes;
	return EMOGI_OK;
}

EmogiStatus
emogi_cache_blocking_make(Run *run, const Target *array, const ListIndex *list_index,
						  const Degrees *degrees, uint64_t nsweeps, SegmentedGraph *segmented,
						  EmogiError *error)
{
	const int	nblocks = run->memory.nblocks;
	uint32_t	nsegments;
	bool		fits = false;
	Survey		survey;
	EmogiStatus status;

	segmented->nsegments = 0;
	/* cached, but no memory for its sums */
	if (!emogi_cache_blocking_pays_off(nsweeps) || run->graph.placement != EMOGI_PLACEMENT_DEVICE ||
		list_index->nchunks == 0 || use_kept(run, array, &nsegments) != NULL)
		return EMOGI_OK;
	status = make_plan(run, list_index, degrees, &survey, &nsegments, error);
	if (status == EMOGI_OK && nsegments > 0)
		status = check_room(run, nsegments, &fits, error);
	if (status == EMOGI_OK && fits)
		status = build(run, array, list_index, degrees, &survey, nsegments, segmented, error);
	if (status != EMOGI_NO_MEMORY)
		return status;
	emogi_memory_release(&run->memory, nblocks);
	segmented->nsegments = 0;	/* slower, but correct */
	return EMOGI_OK;
}
