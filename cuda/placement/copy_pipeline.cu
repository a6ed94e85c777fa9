/*
 * copy_pipeline.cu: queues of a CopyPipeline's copies, and its resident parts in device memory.
 */
#include "cuda/placement/copy_pipeline.cuh"

#include <unistd.h>

/* Return the bytes of a full piece of an array. */
static uint64_t
full_bytes(const CopyPipeline *pipeline, const CopyPipelineArray *array)
{
	return pipeline->piece_chunks * CHUNK_ENTRIES * array->entry_bytes;
}

/* Return the number that a piece of the CopyPipeline has among all pieces of the lists. */
static uint64_t
piece_number(const CopyPipeline *pipeline, uint64_t piece)
{
	return piece * pipeline->nmembers + pipeline->member;
}

/* Return the bytes of a piece of an array; the last piece extends to the end of its last line. */
static uint64_t
piece_bytes(const CopyPipeline *pipeline, const CopyPipelineArray *array, uint64_t piece)
{
	const uint64_t full = full_bytes(pipeline, array);
	const uint64_t lines =
		(pipeline->nedges * array->entry_bytes + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;
	const uint64_t left = lines * EMOGI_LINE_BYTES - piece_number(pipeline, piece) * full;

	return left < full ? left : full;
}

/* Return the bytes of a buffer. */
static uint64_t
buffer_bytes(const CopyPipeline *pipeline)
{
	uint64_t	bytes = 0;

	for (int a = 0; a < pipeline->narrays; a++)
		bytes += full_bytes(pipeline, &pipeline->array[a]);
	return bytes;
}

/* Return how many of the pieces below `piece` are resident; these are spread evenly. */
static uint64_t
kept_below(const CopyPipeline *pipeline, const CopyPipelineArray *array, uint64_t piece)
{
	return piece * array->nkept / pipeline->npieces;
}

static bool
is_kept(const CopyPipeline *pipeline, const CopyPipelineArray *array, uint64_t piece)
{
	return kept_below(pipeline, array, piece) < kept_below(pipeline, array, piece + 1);
}

/* Return whether a piece is copied in each sweep. */
static bool
is_copied(const CopyPipeline *pipeline, uint64_t piece)
{
	for (int a = 0; a < pipeline->narrays; a++)
		if (!is_kept(pipeline, &pipeline->array[a], piece))
			return true;
	return false;
}

/*
 * Get the bytes that can be allocated: in host placement without any eviction, in hybrid placement
 * including idle copies.
 */
static EmogiStatus
available_bytes(const CopyPipeline *pipeline, uint64_t *bytes, EmogiError *error)
{
	const EmogiEngineState *state = pipeline->run->state;
	uint64_t	spared = 0;

	if (pipeline->run->graph.placement == EMOGI_PLACEMENT_HOST)
		spared = emogi_device_cache_idle_bytes(state);
	else if (state->cap_bytes == 0)
		spared = HEADROOM_BYTES;
	TRY(emogi_memory_left(&pipeline->run->memory, bytes, error));
	*bytes = *bytes > spared ? *bytes - spared : 0;
	return EMOGI_OK;
}

/*
 * Choose the links: the GPU's own link, and those of the other GPUs that can write to the buffers.
 */
static void
choose_links(CopyPipeline *pipeline)
{
	EmogiEngineState *state = pipeline->run->state;
	int			ndevices = 0;

	pipeline->link[0].device = state->device;
	pipeline->nlinks = 1;
	if (pipeline->run->devices != 0)
		(void) cudaGetDeviceCount(&ndevices);
	for (int device = 0; device < ndevices && pipeline->nlinks < PIPELINE_MAX_LINKS; device++)
		if (device != state->device && (pipeline->run->devices >> device & 1) != 0 &&
			emogi_memory_show(state, device))
			pipeline->link[pipeline->nlinks++].device = device;
	(void) cudaGetLastError();
}

/*
 * Size the buffers for the available memory. If it is short, use fewer links, and then smaller
 * pieces. Smaller pieces leave nothing worth keeping, and parts do not support them. Pieces of
 * shares keep their size, because the other members use the same size.
 */
static void
size_buffers(CopyPipeline *pipeline, uint64_t room)
{
	pipeline->nbuffers = (uint64_t) pipeline->nlinks * PIPELINE_BUFFERS;
	if (pipeline->nbuffers * buffer_bytes(pipeline) > room)
	{
		pipeline->nlinks = 1;
		pipeline->nbuffers = PIPELINE_BUFFERS;
	}
	while (pipeline->nbuffers * buffer_bytes(pipeline) > room &&
		   pipeline->piece_chunks > PIPELINE_MIN_CHUNKS && pipeline->nmembers == 1)
	{
		pipeline->piece_chunks /= 2;
		pipeline->run->graph.placement = EMOGI_PLACEMENT_HOST;
	}
}

/* Create the stream of a link, and the events of its copies. */
static EmogiStatus
open_link(CopyPipeline *pipeline, int i, EmogiError *error)
{
	CUDA_TRY(cudaSetDevice(pipeline->link[i].device));
	CUDA_TRY(cudaStreamCreateWithFlags(&pipeline->link[i].stream, cudaStreamNonBlocking));
	for (uint64_t b = (uint64_t) i; b < pipeline->nbuffers; b += (uint64_t) pipeline->nlinks)
		CUDA_TRY(cudaEventCreateWithFlags(&pipeline->filled[b], cudaEventDisableTiming));
	return EMOGI_OK;
}

/* Create the streams and the events. */
static EmogiStatus
open_links(CopyPipeline *pipeline, EmogiError *error)
{
	EmogiStatus status = EMOGI_OK;

	for (int i = 0; i < pipeline->nlinks && status == EMOGI_OK; i++)
		status = open_link(pipeline, i, error);
	(void) cudaSetDevice(pipeline->run->state->device);
	TRY(status);
	for (uint64_t b = 0; b < pipeline->nbuffers; b++)
		CUDA_TRY(cudaEventCreateWithFlags(&pipeline->emptied[b], cudaEventDisableTiming));
	return EMOGI_OK;
}

/* Allocate the buffers, streams and events. *taken says whether there was memory for them. */
static EmogiStatus
take_buffers(CopyPipeline *pipeline, bool *taken, EmogiError *error)
{
	uint64_t	room;
	EmogiStatus status = EMOGI_NO_MEMORY;

	TRY(available_bytes(pipeline, &room, error));
	choose_links(pipeline);
	size_buffers(pipeline, room);
	if (pipeline->nbuffers * buffer_bytes(pipeline) <= room)
		status = take_array(&pipeline->run->memory, &pipeline->buffer,
							pipeline->nbuffers * buffer_bytes(pipeline), "buffers of edges", error);
	*taken = status == EMOGI_OK;
	if (status != EMOGI_OK)
		return status == EMOGI_NO_MEMORY ? EMOGI_OK : status;
	return open_links(pipeline, error);
}

/* Copy the pieces of a part. */
static EmogiStatus
fill_part(const CopyPipeline *pipeline, const CopyPipelineArray *array, char *part,
		  EmogiError *error)
{
	for (uint64_t piece = 0; piece < pipeline->npieces; piece++)
		if (is_kept(pipeline, array, piece))
			TRY(emogi_run_send(pipeline->run, part +
							   kept_below(pipeline, array, piece) * full_bytes(pipeline, array),
							   array->host + piece_number(pipeline, piece) * full_bytes(pipeline,
																						array),
							   piece_bytes(pipeline, array, piece), error));
	return EMOGI_OK;
}

/* Return the length in the device cache for a part of nkept pieces of this share. */
static uint64_t
part_length(const CopyPipeline *pipeline, uint64_t nkept)
{
	return ((uint64_t) (pipeline->nmembers - 1) << 40 | (uint64_t) pipeline->member << 32) + nkept;
}

/* Make a part of nkept pieces and cache it; without memory there is no part. */
static EmogiStatus
make_part(const CopyPipeline *pipeline, CopyPipelineArray *array, EmogiError *error)
{
	const bool	whole = pipeline->nmembers == 1 && array->nkept == pipeline->npieces;
	const uint64_t last = pipeline->npieces - 1;
	DeviceMemory *memory = &pipeline->run->memory;
	char	   *part;
	EmogiStatus status;

	/* The last piece is in every part. */
	status = take_array(memory, &part, (array->nkept - 1) * full_bytes(pipeline, array) +
						piece_bytes(pipeline, array, last), "part of the edges", error);
	if (status == EMOGI_NO_MEMORY)
	{
		array->nkept = 0;		/* slower, but correct */
		return EMOGI_OK;
	}
	TRY(status);
	TRY(fill_part(pipeline, array, part, error));
	emogi_device_cache_keep(pipeline->run->state, memory, array->host, whole ? EMOGI_COPY_WHOLE :
							EMOGI_COPY_PART, whole ? 0 : part_length(pipeline, array->nkept));
	array->part = part;
	return EMOGI_OK;
}

/*
 * Find the cached part of an array, or the whole array. Make a new part if there is room for more
 * than twice as much.
 */
static EmogiStatus
place_part(const CopyPipeline *pipeline, CopyPipelineArray *array, EmogiError *error)
{
	EmogiEngineState *state = pipeline->run->state;
	const uint64_t full = full_bytes(pipeline, array);
	const uint64_t whole_bytes = (pipeline->npieces - 1) * full +
		piece_bytes(pipeline, array, pipeline->npieces - 1);
	uint64_t	room;
	uint64_t	max_pieces;

	if (pipeline->nmembers == 1)
		array->part = (const char *) emogi_device_cache_use(state, array->host, whole_bytes);
	if (array->part != NULL)
		array->nkept = pipeline->npieces;
	if (array->part != NULL)
		return EMOGI_OK;
	TRY(available_bytes(pipeline, &room, error));
	max_pieces = room / full < pipeline->npieces ? room / full : pipeline->npieces;
	if (max_pieces == 0)
		return EMOGI_OK;
	array->part =
		(const char *) emogi_device_cache_use_derived(state, array->host, EMOGI_COPY_PART,
												   part_length(pipeline, (max_pieces + 1) / 2),
												   part_length(pipeline, pipeline->npieces),
												   &array->nkept);
	array->nkept -= array->part != NULL ? part_length(pipeline, 0) : 0;
	if (array->part != NULL)
		return EMOGI_OK;
	emogi_device_cache_drop(state, array->host, EMOGI_COPY_PART);
	array->nkept = max_pieces;
	return make_part(pipeline, array, error);
}

/*
 * Place the parts of all arrays, those of the targets first. Without any part, placement becomes
 * host placement.
 */
static EmogiStatus
place_parts(CopyPipeline *pipeline, EmogiError *error)
{
	PlacedGraph *placed = &pipeline->run->graph;
	uint64_t	nkept = 0;

	for (int a = 0; a < pipeline->narrays && placed->placement == EMOGI_PLACEMENT_HYBRID; a++)
	{
		TRY(place_part(pipeline, &pipeline->array[a], error));
		nkept += pipeline->array[a].nkept;
	}
	if (nkept == 0)
		placed->placement = EMOGI_PLACEMENT_HOST;
	for (uint64_t piece = 0; piece < pipeline->npieces; piece++)
		pipeline->ncopied += is_copied(pipeline, piece);
	return EMOGI_OK;
}

EmogiStatus
emogi_copy_pipeline_open(CopyPipeline *pipeline, Run *run, const EmogiAdjacency *adjacency,
						 uint32_t width, const SharedStepShare *share, EmogiError *error)
{
	bool		taken = false;
	uint64_t	nall;

	pipeline->run = run;
	pipeline->member = share != NULL ? share->member : 0;
	pipeline->nmembers = share != NULL ? share->nmembers : 1;
	pipeline->nedges = adjacency->nedges;
	pipeline->nchunks = count_chunks(adjacency->nedges);
	pipeline->array[pipeline->narrays++] = CopyPipelineArray{
		(const char *) adjacency->targets, sizeof(Target), 0, NULL
	};
	if (width > 0)
		pipeline->array[pipeline->narrays++] = CopyPipelineArray{
			(const char *) adjacency->weights, width, 0, NULL
		};
	if (run->graph.placement == EMOGI_PLACEMENT_DEVICE)
		return EMOGI_OK;
	pipeline->piece_chunks = PIPELINE_MIN_CHUNKS;
	while (pipeline->piece_chunks < PIPELINE_MAX_CHUNKS &&
		   pipeline->nchunks / pipeline->piece_chunks >=
		   2 * (pipeline->nmembers == 1 ? PIPELINE_PIECES : SHARE_PIECES * pipeline->nmembers))
		pipeline->piece_chunks *= 2;
	if (pipeline->nchunks > PIPELINE_MIN_CHUNKS)
		TRY(take_buffers(pipeline, &taken, error));
	nall = (pipeline->nchunks + pipeline->piece_chunks - 1) / pipeline->piece_chunks;
	if (taken && nall > pipeline->member)
		pipeline->npieces = (nall - pipeline->member + pipeline->nmembers - 1) / pipeline->nmembers;
	pipeline->piece = pipeline->npieces;
	if (taken)
		return place_parts(pipeline, error);
	run->graph.placement = EMOGI_PLACEMENT_HOST;
	return EMOGI_OK;
}

void
emogi_copy_pipeline_close(CopyPipeline *pipeline)
{
	for (int i = 0; i < pipeline->nlinks; i++)
		if (pipeline->link[i].stream != NULL)
		{
			(void) cudaStreamSynchronize(pipeline->link[i].stream);
			(void) cudaStreamDestroy(pipeline->link[i].stream);
		}
	for (uint64_t b = 0; b < pipeline->nbuffers; b++)
	{
		if (pipeline->filled[b] != NULL)
			(void) cudaEventDestroy(pipeline->filled[b]);
		if (pipeline->emptied[b] != NULL)
			(void) cudaEventDestroy(pipeline->emptied[b]);
	}
	(void) cudaGetLastError();
}

/*
 * Wait until the kernel on a buffer has finished. As in emogi_cuda_wait, a cancel reaches the
 * running kernels.
 */
static EmogiStatus
wait_emptied(const CopyPipeline *pipeline, uint64_t buffer, EmogiError *error)
{
	for (;;)
	{
		const cudaError_t code = cudaEventQuery(pipeline->emptied[buffer]);

		if (pipeline->run->control->cancel)
		{
			*pipeline->run->state->stop = 1;
			(void) cudaGetLastError();
			return EMOGI_CANCELED;
		}
		if (code == cudaSuccess)
			break;
		if (code != cudaErrorNotReady)
			return emogi_cuda_fail(error, code, "waiting for a buffer");
		/* otherwise others also wait for this thread, and a sleep takes longer than requested */
		if (pipeline->nmembers == 1 && pipeline->nlinks == 1)
			usleep(PIPELINE_SLEEP_US);
	}
	(void) cudaGetLastError();	/* cudaErrorNotReady is remembered, although it is no error */
	return EMOGI_OK;
}

/*
 * Queue the copies of a piece, for the arrays in which it is not resident, on a link whose device
 * is current.
 */
static EmogiStatus
copy_piece(CopyPipeline *pipeline, const CopyPipelineLink *link, uint64_t piece, char *to,
		   EmogiError *error)
{
	for (int a = 0; a < pipeline->narrays; a++)
	{
		const CopyPipelineArray *array = &pipeline->array[a];
		const uint64_t bytes = piece_bytes(pipeline, array, piece);

		if (!is_kept(pipeline, array, piece))
		{
			CUDA_TRY(cudaMemcpyAsync(to, array->host +
									 piece_number(pipeline, piece) * full_bytes(pipeline, array),
									 bytes, cudaMemcpyHostToDevice, link->stream));
			pipeline->copied_bytes += bytes;
		}
		to += full_bytes(pipeline, array);
	}
	return EMOGI_OK;
}

/* Fill a buffer with the next piece over its link. */
static EmogiStatus
fill_buffer(CopyPipeline *pipeline, uint64_t buffer, EmogiError *error)
{
	const CopyPipelineLink *link = &pipeline->link[buffer % (uint64_t) pipeline->nlinks];
	EmogiStatus status;

	CUDA_TRY(cudaSetDevice(link->device));
	if (pipeline->queued < (uint64_t) pipeline->nlinks)	/* no copy before the clock runs */
		CUDA_TRY(cudaStreamWaitEvent(link->stream, pipeline->run->state->begin, 0));
	status = copy_piece(pipeline, link, pipeline->ahead,
						pipeline->buffer + buffer * buffer_bytes(pipeline), error);
	if (status == EMOGI_OK)
		CUDA_TRY(cudaEventRecord(pipeline->filled[buffer], link->stream));
	return status;
}

/* Queue copies until all buffers but one, that of the piece taken last, have a copy queued. */
static EmogiStatus
run_ahead(CopyPipeline *pipeline, EmogiError *error)
{
	while (pipeline->queued < pipeline->allowed &&
		   pipeline->queued + 2 <= pipeline->taken + pipeline->nbuffers)
	{
		const uint64_t buffer = pipeline->queued % pipeline->nbuffers;
		EmogiStatus status;

		while (!is_copied(pipeline, pipeline->ahead))
			pipeline->ahead = (pipeline->ahead + 1) % pipeline->npieces;
		if (pipeline->queued >= pipeline->nbuffers)
			TRY(wait_emptied(pipeline, buffer, error));
		status = fill_buffer(pipeline, buffer, error);
		(void) cudaSetDevice(pipeline->run->state->device);
		TRY(status);
		pipeline->ahead = (pipeline->ahead + 1) % pipeline->npieces;
		pipeline->queued++;
	}
	return EMOGI_OK;
}

void
emogi_copy_pipeline_begin(CopyPipeline *pipeline, bool more)
{
	pipeline->allowed = pipeline->taken + (more ? 2 : 1) * pipeline->ncopied;
	pipeline->piece = 0;
}

EmogiStatus
emogi_copy_pipeline_take(CopyPipeline *pipeline, Lists<Target> *lists, uint64_t *first,
						 uint64_t *upto, EmogiError *error)
{
	const uint64_t buffer = pipeline->taken % pipeline->nbuffers;
	const char *copy = pipeline->buffer + buffer * buffer_bytes(pipeline);
	const char *at[2] = {NULL, NULL};

	TRY(run_ahead(pipeline, error));
	*first = piece_number(pipeline, pipeline->piece) * pipeline->piece_chunks;
	for (int a = 0; a < pipeline->narrays; a++)
	{
		const CopyPipelineArray *array = &pipeline->array[a];
		const char *memory = copy;

		if (is_kept(pipeline, array, pipeline->piece))
			memory = array->part + kept_below(pipeline, array,
											  pipeline->piece) * full_bytes(pipeline, array);
		at[a] = memory - *first * CHUNK_ENTRIES * array->entry_bytes;
		copy += full_bytes(pipeline, array);
	}
	pipeline->in_buffer = is_copied(pipeline, pipeline->piece++);
	if (pipeline->in_buffer)
		CUDA_TRY(cudaStreamWaitEvent(pipeline->run->state->stream, pipeline->filled[buffer], 0));
	else
		/*
		 * consecutive resident pieces are consecutive in the parts too, but in a share they have
		 * gaps
		 */
		while (pipeline->nmembers == 1 && pipeline->piece < pipeline->npieces &&
			   !is_copied(pipeline, pipeline->piece))
			pipeline->piece++;
	*upto = (piece_number(pipeline, pipeline->piece - 1) + 1) * pipeline->piece_chunks;
	if (*upto > pipeline->nchunks)
		*upto = pipeline->nchunks;
	lists->targets = (const Target *) at[0];
	lists->weights = at[1];
	return EMOGI_OK;
}

EmogiStatus
emogi_copy_pipeline_give_back(CopyPipeline *pipeline, EmogiError *error)
{
	if (!pipeline->in_buffer)
		return EMOGI_OK;
	CUDA_TRY(cudaEventRecord(pipeline->emptied[pipeline->taken % pipeline->nbuffers],
							 pipeline->run->state->stream));
	pipeline->taken++;
	return EMOGI_OK;
}

EmogiStatus
emogi_copy_pipeline_end(CopyPipeline *pipeline, EmogiError *error)
{
	return run_ahead(pipeline, error);
}
