/*
 * copy_pipeline.cu: queues the copies of a CopyPipeline, and brings its parts to device memory.
 */
#include "cuda/placement/copy_pipeline.cuh"

#include <unistd.h>

/* Get the bytes that a full piece has of an array. */
static uint64_t
full_bytes(const CopyPipeline *feed, const CopyPipelineArray *array)
{
	return feed->piece_chunks * CHUNK_ENTRIES * array->entry_bytes;
}

/* Get where a piece of the CopyPipeline is among those of the lists. */
static uint64_t
place_of(const CopyPipeline *feed, uint64_t piece)
{
	return piece * feed->nmembers + feed->member;
}

/* Get the bytes of a piece of an array, the last one up to the end of its last line. */
static uint64_t
piece_bytes(const CopyPipeline *feed, const CopyPipelineArray *array, uint64_t piece)
{
	const uint64_t full = full_bytes(feed, array);
	const uint64_t lines = (feed->nedges * array->entry_bytes + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;
	const uint64_t left = lines * EMOGI_LINE_BYTES - place_of(feed, piece) * full;

	return left < full ? left : full;
}

/* Get the bytes of a buffer. */
static uint64_t
buffer_bytes(const CopyPipeline *feed)
{
	uint64_t	bytes = 0;

	for (int a = 0; a < feed->narrays; a++)
		bytes += full_bytes(feed, &feed->array[a]);
	return bytes;
}

/* Get how many pieces below one are kept of an array: evenly spread. */
static uint64_t
kept_below(const CopyPipeline *feed, const CopyPipelineArray *array, uint64_t piece)
{
	return piece * array->nkept / feed->npieces;
}

static bool
is_kept(const CopyPipeline *feed, const CopyPipelineArray *array, uint64_t piece)
{
	return kept_below(feed, array, piece) < kept_below(feed, array, piece + 1);
}

/* Say whether a piece is copied in each sweep. */
static bool
is_copied(const CopyPipeline *feed, uint64_t piece)
{
	for (int a = 0; a < feed->narrays; a++)
		if (!is_kept(feed, &feed->array[a], piece))
			return true;
	return false;
}

/* Get what can be taken: in host placement without evicting anything, in hybrid placement also what is idle. */
static EmogiStatus
look_for_room(const CopyPipeline *feed, uint64_t *bytes, EmogiError *error)
{
	const EmogiEngineState *state = feed->run->state;
	uint64_t	spared = 0;

	if (feed->run->graph.placement == EMOGI_PLACEMENT_HOST)
		spared = emogi_device_cache_idle_bytes(state);
	else if (state->cap_bytes == 0)
		spared = HEADROOM_BYTES;
	TRY(emogi_memory_left(&feed->run->memory, bytes, error));
	*bytes = *bytes > spared ? *bytes - spared : 0;
	return EMOGI_OK;
}

/* Choose the links: the own one, and those of the other GPUs that can write where the buffers will be. */
static void
choose_links(CopyPipeline *feed)
{
	EmogiEngineState *state = feed->run->state;
	int			ndevices = 0;

	feed->link[0].device = state->device;
	feed->nlinks = 1;
	if (feed->run->devices != 0)
		(void) cudaGetDeviceCount(&ndevices);
	for (int device = 0; device < ndevices && feed->nlinks < FEED_MOST_LINKS; device++)
		if (device != state->device && (feed->run->devices >> device & 1) != 0 && emogi_memory_show(state, device))
			feed->link[feed->nlinks++].device = device;
	(void) cudaGetLastError();
}

/*
 * Size the buffers for the room that there is: fewer links, and then smaller pieces, when it is short; that leaves nothing worth keeping, and parts know
 * nothing of such pieces. Pieces of shares stay as they are: those of others are of that size.
 */
static void
size_buffers(CopyPipeline *feed, uint64_t room)
{
	feed->nbuffers = (uint64_t) feed->nlinks * FEED_BUFFERS;
	if (feed->nbuffers * buffer_bytes(feed) > room)
	{
		feed->nlinks = 1;
		feed->nbuffers = FEED_BUFFERS;
	}
	while (feed->nbuffers * buffer_bytes(feed) > room && feed->piece_chunks > FEED_LEAST && feed->nmembers == 1)
	{
		feed->piece_chunks /= 2;
		feed->run->graph.placement = EMOGI_PLACEMENT_HOST;
	}
}

/* Take the stream of a link, and the events of its copies. */
static EmogiStatus
open_link(CopyPipeline *feed, int i, EmogiError *error)
{
	CUDA_TRY(cudaSetDevice(feed->link[i].device));
	CUDA_TRY(cudaStreamCreateWithFlags(&feed->link[i].stream, cudaStreamNonBlocking));
	for (uint64_t b = (uint64_t) i; b < feed->nbuffers; b += (uint64_t) feed->nlinks)
		CUDA_TRY(cudaEventCreateWithFlags(&feed->filled[b], cudaEventDisableTiming));
	return EMOGI_OK;
}

/* Take the streams and the events. */
static EmogiStatus
open_links(CopyPipeline *feed, EmogiError *error)
{
	EmogiStatus status = EMOGI_OK;

	for (int i = 0; i < feed->nlinks && status == EMOGI_OK; i++)
		status = open_link(feed, i, error);
	(void) cudaSetDevice(feed->run->state->device);
	TRY(status);
	for (uint64_t b = 0; b < feed->nbuffers; b++)
		CUDA_TRY(cudaEventCreateWithFlags(&feed->emptied[b], cudaEventDisableTiming));
	return EMOGI_OK;
}

/* Take the buffers, the streams and the events. Get whether there was memory for them. */
static EmogiStatus
take_buffers(CopyPipeline *feed, bool *taken, EmogiError *error)
{
	uint64_t	room;
	EmogiStatus status = EMOGI_NO_MEMORY;

	TRY(look_for_room(feed, &room, error));
	choose_links(feed);
	size_buffers(feed, room);
	if (feed->nbuffers * buffer_bytes(feed) <= room)
		status = take_array(&feed->run->memory, &feed->buffer, feed->nbuffers * buffer_bytes(feed), "buffers of edges",
							error);
	*taken = status == EMOGI_OK;
	if (status != EMOGI_OK)
		return status == EMOGI_NO_MEMORY ? EMOGI_OK : status;
	return open_links(feed, error);
}

/* Copy the pieces of a part. */
static EmogiStatus
fill_part(const CopyPipeline *feed, const CopyPipelineArray *array, char *part, EmogiError *error)
{
	for (uint64_t piece = 0; piece < feed->npieces; piece++)
		if (is_kept(feed, array, piece))
			TRY(emogi_run_send(feed->run, part + kept_below(feed, array, piece) * full_bytes(feed, array),
							   array->host + place_of(feed, piece) * full_bytes(feed, array), piece_bytes(feed, array, piece), error));
	return EMOGI_OK;
}

/* Get the length that a part of so many pieces of this share is known by. */
static uint64_t
part_length(const CopyPipeline *feed, uint64_t nkept)
{
	return ((uint64_t) (feed->nmembers - 1) << 40 | (uint64_t) feed->member << 32) + nkept;
}

/* Make a part of nkept pieces, and keep it. Without memory there is none. */
static EmogiStatus
make_part(const CopyPipeline *feed, CopyPipelineArray *array, EmogiError *error)
{
	const bool	whole = feed->nmembers == 1 && array->nkept == feed->npieces;
	const uint64_t last = feed->npieces - 1;
	DeviceMemory *memory = &feed->run->memory;
	char	   *part;
	EmogiStatus status;

	/* The last piece is in every part. */
	status = take_array(memory, &part, (array->nkept - 1) * full_bytes(feed, array) + piece_bytes(feed, array, last),
						"part of the edges", error);
	if (status == EMOGI_NO_MEMORY)
	{
		array->nkept = 0;		/* slower, but an answer */
		return EMOGI_OK;
	}
	TRY(status);
	TRY(fill_part(feed, array, part, error));
	emogi_device_cache_keep(feed->run->state, memory, array->host, whole ? EMOGI_COPY_WHOLE : EMOGI_COPY_PART,
						whole ? 0 : part_length(feed, array->nkept));
	array->part = part;
	return EMOGI_OK;
}

/* Find the part of an array, or the whole, that is kept; or make one, if there is room for more than twice as much. */
static EmogiStatus
place_part(const CopyPipeline *feed, CopyPipelineArray *array, EmogiError *error)
{
	EmogiEngineState *state = feed->run->state;
	const uint64_t full = full_bytes(feed, array);
	const uint64_t whole_bytes = (feed->npieces - 1) * full + piece_bytes(feed, array, feed->npieces - 1);
	uint64_t	room;
	uint64_t	most;

	if (feed->nmembers == 1)
		array->part = (const char *) emogi_device_cache_use(state, array->host, whole_bytes);
	if (array->part != NULL)
		array->nkept = feed->npieces;
	if (array->part != NULL)
		return EMOGI_OK;
	TRY(look_for_room(feed, &room, error));
	most = room / full < feed->npieces ? room / full : feed->npieces;
	if (most == 0)
		return EMOGI_OK;
	array->part = (const char *) emogi_device_cache_use_made(state, array->host, EMOGI_COPY_PART, part_length(feed, (most + 1) / 2),
														 part_length(feed, feed->npieces), &array->nkept);
	array->nkept -= array->part != NULL ? part_length(feed, 0) : 0;
	if (array->part != NULL)
		return EMOGI_OK;
	emogi_device_cache_drop(state, array->host, EMOGI_COPY_PART);
	array->nkept = most;
	return make_part(feed, array, error);
}

/* Place the parts of all arrays, those of the targets first. Without any it is host placement. */
static EmogiStatus
place_parts(CopyPipeline *feed, EmogiError *error)
{
	PlacedGraph *placed = &feed->run->graph;
	uint64_t	nkept = 0;

	for (int a = 0; a < feed->narrays && placed->placement == EMOGI_PLACEMENT_HYBRID; a++)
	{
		TRY(place_part(feed, &feed->array[a], error));
		nkept += feed->array[a].nkept;
	}
	if (nkept == 0)
		placed->placement = EMOGI_PLACEMENT_HOST;
	for (uint64_t piece = 0; piece < feed->npieces; piece++)
		feed->ncopied += is_copied(feed, piece);
	return EMOGI_OK;
}

EmogiStatus
emogi_copy_pipeline_open(CopyPipeline *feed, Run *run, const EmogiAdjacency *adjacency, uint32_t width, const SharedStepShare *share, EmogiError *error)
{
	bool		taken = false;
	uint64_t	nall;

	feed->run = run;
	feed->member = share != NULL ? share->member : 0;
	feed->nmembers = share != NULL ? share->nmembers : 1;
	feed->nedges = adjacency->nedges;
	feed->nchunks = count_chunks(adjacency->nedges);
	feed->array[feed->narrays++] = CopyPipelineArray{(const char *) adjacency->targets, sizeof(Target), 0, NULL};
	if (width > 0)
		feed->array[feed->narrays++] = CopyPipelineArray{(const char *) adjacency->weights, width, 0, NULL};
	if (run->graph.placement == EMOGI_PLACEMENT_DEVICE)
		return EMOGI_OK;
	feed->piece_chunks = FEED_LEAST;
	while (feed->piece_chunks < FEED_MOST &&
		   feed->nchunks / feed->piece_chunks >= 2 * (feed->nmembers == 1 ? FEED_PIECES : SHARE_PIECES * feed->nmembers))
		feed->piece_chunks *= 2;
	if (feed->nchunks > FEED_LEAST)
		TRY(take_buffers(feed, &taken, error));
	nall = (feed->nchunks + feed->piece_chunks - 1) / feed->piece_chunks;
	if (taken && nall > feed->member)
		feed->npieces = (nall - feed->member + feed->nmembers - 1) / feed->nmembers;
	feed->piece = feed->npieces;
	if (taken)
		return place_parts(feed, error);
	run->graph.placement = EMOGI_PLACEMENT_HOST;
	return EMOGI_OK;
}

void
emogi_copy_pipeline_close(CopyPipeline *feed)
{
	for (int i = 0; i < feed->nlinks; i++)
		if (feed->link[i].stream != NULL)
		{
			(void) cudaStreamSynchronize(feed->link[i].stream);
			(void) cudaStreamDestroy(feed->link[i].stream);
		}
	for (uint64_t b = 0; b < feed->nbuffers; b++)
	{
		if (feed->filled[b] != NULL)
			(void) cudaEventDestroy(feed->filled[b]);
		if (feed->emptied[b] != NULL)
			(void) cudaEventDestroy(feed->emptied[b]);
	}
	(void) cudaGetLastError();
}

/* Wait until the kernel on a buffer is over. As emogi_cuda_wait: a cancel reaches the kernels under way. */
static EmogiStatus
wait_emptied(const CopyPipeline *feed, uint64_t buffer, EmogiError *error)
{
	for (;;)
	{
		const cudaError_t code = cudaEventQuery(feed->emptied[buffer]);

		if (feed->run->control->cancel)
		{
			*feed->run->state->stop = 1;
			(void) cudaGetLastError();
			return EMOGI_CANCELED;
		}
		if (code == cudaSuccess)
			break;
		if (code != cudaErrorNotReady)
			return emogi_cuda_fail(error, code, "waiting for a buffer");
		if (feed->nmembers == 1 && feed->nlinks == 1)	/* else others wait for this thread, too, and a sleep is longer than it says */
			usleep(FEED_SLEEP_US);
	}
	(void) cudaGetLastError();	/* cudaErrorNotReady is remembered, though no error */
	return EMOGI_OK;
}

/* Queue the copies of what a piece has of the arrays that do not keep it, on a link whose device is current. */
static EmogiStatus
copy_piece(CopyPipeline *feed, const CopyPipelineLink *link, uint64_t piece, char *to, EmogiError *error)
{
	for (int a = 0; a < feed->narrays; a++)
	{
		const CopyPipelineArray *array = &feed->array[a];
		const uint64_t bytes = piece_bytes(feed, array, piece);

		if (!is_kept(feed, array, piece))
		{
			CUDA_TRY(cudaMemcpyAsync(to, array->host + place_of(feed, piece) * full_bytes(feed, array), bytes, cudaMemcpyHostToDevice,
									 link->stream));
			feed->copied_bytes += bytes;
		}
		to += full_bytes(feed, array);
	}
	return EMOGI_OK;
}

/* Fill a buffer by its link with the piece that is next. */
static EmogiStatus
fill_buffer(CopyPipeline *feed, uint64_t buffer, EmogiError *error)
{
	const CopyPipelineLink *link = &feed->link[buffer % (uint64_t) feed->nlinks];
	EmogiStatus status;

	CUDA_TRY(cudaSetDevice(link->device));
	if (feed->queued < (uint64_t) feed->nlinks)	/* no copy before the clock runs */
		CUDA_TRY(cudaStreamWaitEvent(link->stream, feed->run->state->begin, 0));
	status = copy_piece(feed, link, feed->ahead, feed->buffer + buffer * buffer_bytes(feed), error);
	if (status == EMOGI_OK)
		CUDA_TRY(cudaEventRecord(feed->filled[buffer], link->stream));
	return status;
}

/* Queue copies until only one buffer, that of the piece taken last, has none to come. */
static EmogiStatus
run_ahead(CopyPipeline *feed, EmogiError *error)
{
	while (feed->queued < feed->allowed && feed->queued + 2 <= feed->taken + feed->nbuffers)
	{
		const uint64_t buffer = feed->queued % feed->nbuffers;
		EmogiStatus status;

		while (!is_copied(feed, feed->ahead))
			feed->ahead = (feed->ahead + 1) % feed->npieces;
		if (feed->queued >= feed->nbuffers)
			TRY(wait_emptied(feed, buffer, error));
		status = fill_buffer(feed, buffer, error);
		(void) cudaSetDevice(feed->run->state->device);
		TRY(status);
		feed->ahead = (feed->ahead + 1) % feed->npieces;
		feed->queued++;
	}
	return EMOGI_OK;
}

void
emogi_copy_pipeline_begin(CopyPipeline *feed, bool more)
{
	feed->allowed = feed->taken + (more ? 2 : 1) * feed->ncopied;
	feed->piece = 0;
}

EmogiStatus
emogi_copy_pipeline_take(CopyPipeline *feed, Lists<Target> *lists, uint64_t *first, uint64_t *upto, EmogiError *error)
{
	const uint64_t buffer = feed->taken % feed->nbuffers;
	const char *copy = feed->buffer + buffer * buffer_bytes(feed);
	const char *at[2] = {NULL, NULL};

	TRY(run_ahead(feed, error));
	*first = place_of(feed, feed->piece) * feed->piece_chunks;
	for (int a = 0; a < feed->narrays; a++)
	{
		const CopyPipelineArray *array = &feed->array[a];
		const char *memory = copy;

		if (is_kept(feed, array, feed->piece))
			memory = array->part + kept_below(feed, array, feed->piece) * full_bytes(feed, array);
		at[a] = memory - *first * CHUNK_ENTRIES * array->entry_bytes;
		copy += full_bytes(feed, array);
	}
	feed->in_buffer = is_copied(feed, feed->piece++);
	if (feed->in_buffer)
		CUDA_TRY(cudaStreamWaitEvent(feed->run->state->stream, feed->filled[buffer], 0));
	else						/* those that are kept one after another are one after another in the parts too, but with gaps in a share */
		while (feed->nmembers == 1 && feed->piece < feed->npieces && !is_copied(feed, feed->piece))
			feed->piece++;
	*upto = (place_of(feed, feed->piece - 1) + 1) * feed->piece_chunks;
	if (*upto > feed->nchunks)
		*upto = feed->nchunks;
	lists->targets = (const Target *) at[0];
	lists->weights = at[1];
	return EMOGI_OK;
}

EmogiStatus
emogi_copy_pipeline_give_back(CopyPipeline *feed, EmogiError *error)
{
	if (!feed->in_buffer)
		return EMOGI_OK;
	CUDA_TRY(cudaEventRecord(feed->emptied[feed->taken % feed->nbuffers], feed->run->state->stream));
	feed->taken++;
	return EMOGI_OK;
}

EmogiStatus
emogi_copy_pipeline_end(CopyPipeline *feed, EmogiError *error)
{
	return run_ahead(feed, error);
}
