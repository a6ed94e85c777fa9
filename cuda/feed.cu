/*
 * feed.cu: queues the copies of a Feed.
 */
#include "feed.cuh"

#include <unistd.h>

#define SLEEP_US 20				/* a piece takes thirty times as long */

/* Bytes of the targets, and of the targets and weights, of a full piece. */
static uint64_t
target_bytes(void)
{
	return FEED_CHUNKS * CHUNK_TARGET_BYTES;
}

static uint64_t
piece_bytes(const Feed *feed)
{
	return target_bytes() + FEED_CHUNKS * CHUNK_ENTRIES * feed->width;
}

/* Say whether all buffers fit in what is free, evicting nothing. */
static EmogiStatus
look_for_room(const Feed *feed, bool *fits, EmogiError *error)
{
	const DeviceMemory *memory = &feed->run->memory;
	uint64_t	left_bytes;

	TRY(emogi_memory_left(memory, &left_bytes, error));
	*fits = FEED_BUFFERS * piece_bytes(feed) + emogi_resident_idle_bytes(memory->state) <= left_bytes;
	return EMOGI_OK;
}

EmogiStatus
emogi_feed_open(Feed *feed, Run *run, const EmogiAdjacency *adjacency, uint32_t width, EmogiError *error)
{
	bool		fits;
	EmogiStatus status;

	feed->run = run;
	feed->adjacency = adjacency;
	feed->width = width;
	feed->nchunks = (adjacency->nedges + CHUNK_ENTRIES - 1) / CHUNK_ENTRIES;
	if (run->graph.placement != EMOGI_PLACEMENT_HOST || feed->nchunks <= FEED_CHUNKS)
		return EMOGI_OK;
	TRY(look_for_room(feed, &fits, error));
	if (!fits)
		return EMOGI_OK;
	status = take_array(&run->memory, &feed->buffer, FEED_BUFFERS * piece_bytes(feed), "buffers of edges", error);
	if (status == EMOGI_NO_MEMORY)
		return EMOGI_OK;		/* slower, but an answer */
	TRY(status);
	CUDA_TRY(cudaStreamCreateWithFlags(&feed->stream, cudaStreamNonBlocking));
	for (int i = 0; i < FEED_BUFFERS; i++)
	{
		CUDA_TRY(cudaEventCreateWithFlags(&feed->filled[i], cudaEventDisableTiming));
		CUDA_TRY(cudaEventCreateWithFlags(&feed->emptied[i], cudaEventDisableTiming));
	}
	feed->npieces = (feed->nchunks + FEED_CHUNKS - 1) / FEED_CHUNKS;
	return EMOGI_OK;
}

void
emogi_feed_close(Feed *feed)
{
	if (feed->stream != NULL)
	{
		(void) cudaStreamSynchronize(feed->stream);
		(void) cudaStreamDestroy(feed->stream);
	}
	for (int i = 0; i < FEED_BUFFERS; i++)
	{
		if (feed->filled[i] != NULL)
			(void) cudaEventDestroy(feed->filled[i]);
		if (feed->emptied[i] != NULL)
			(void) cudaEventDestroy(feed->emptied[i]);
	}
	(void) cudaGetLastError();
}

/* Wait until the kernel on a buffer is over. As emogi_cuda_wait: a cancel reaches the kernels under way. */
static EmogiStatus
wait_emptied(const Feed *feed, uint64_t buffer, EmogiError *error)
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
		usleep(SLEEP_US);
	}
	(void) cudaGetLastError();	/* cudaErrorNotReady is remembered, though no error */
	return EMOGI_OK;
}

/* Queue the copy of what a piece has of one array of the Graph, `entry_bytes` an entry. */
static EmogiStatus
copy_array(Feed *feed, char *to, const void *array, uint64_t piece, uint32_t entry_bytes, EmogiError *error)
{
	const uint64_t full = FEED_CHUNKS * CHUNK_ENTRIES * entry_bytes;
	const uint64_t from = piece * full;
	const uint64_t lines = (feed->adjacency->nedges * entry_bytes + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;
	const uint64_t end = lines * EMOGI_LINE_BYTES;
	const uint64_t bytes = end - from < full ? end - from : full;

	CUDA_TRY(cudaMemcpyAsync(to, (const char *) array + from, bytes, cudaMemcpyHostToDevice, feed->stream));
	feed->copied_bytes += bytes;
	return EMOGI_OK;
}

/* Queue copies until only one buffer, that of the piece taken last, has none to come. */
static EmogiStatus
run_ahead(Feed *feed, EmogiError *error)
{
	while (feed->queued < feed->allowed && feed->queued + 2 <= feed->taken + FEED_BUFFERS)
	{
		const uint64_t buffer = feed->queued % FEED_BUFFERS;
		const uint64_t piece = feed->queued % feed->npieces;
		char	   *to = feed->buffer + buffer * piece_bytes(feed);

		if (feed->queued >= FEED_BUFFERS)
			TRY(wait_emptied(feed, buffer, error));
		else if (feed->queued == 0)	/* no copy before the clock runs */
			CUDA_TRY(cudaStreamWaitEvent(feed->stream, feed->run->state->begin, 0));
		TRY(copy_array(feed, to, feed->adjacency->targets, piece, sizeof(Target), error));
		if (feed->width > 0)
			TRY(copy_array(feed, to + target_bytes(), feed->adjacency->weights, piece, feed->width, error));
		CUDA_TRY(cudaEventRecord(feed->filled[buffer], feed->stream));
		feed->queued++;
	}
	return EMOGI_OK;
}

void
emogi_feed_begin(Feed *feed, bool more)
{
	feed->allowed = feed->taken + (more ? 2 : 1) * feed->npieces;
}

EmogiStatus
emogi_feed_take(Feed *feed, Lists<Target> *lists, uint64_t *first, uint64_t *upto, EmogiError *error)
{
	const uint64_t buffer = feed->taken % FEED_BUFFERS;
	const uint64_t piece = feed->taken % feed->npieces;
	const char *memory = feed->buffer + buffer * piece_bytes(feed);

	TRY(run_ahead(feed, error));
	CUDA_TRY(cudaStreamWaitEvent(feed->run->state->stream, feed->filled[buffer], 0));
	*first = piece * FEED_CHUNKS;
	*upto = feed->nchunks - *first < FEED_CHUNKS ? feed->nchunks : *first + FEED_CHUNKS;
	lists->targets = (const Target *) memory - *first * CHUNK_ENTRIES;
	if (feed->width > 0)
		lists->weights = memory + target_bytes() - *first * CHUNK_ENTRIES * feed->width;
	return EMOGI_OK;
}

EmogiStatus
emogi_feed_give_back(Feed *feed, EmogiError *error)
{
	CUDA_TRY(cudaEventRecord(feed->emptied[feed->taken % FEED_BUFFERS], feed->run->state->stream));
	feed->taken++;
	return EMOGI_OK;
}

EmogiStatus
emogi_feed_end(Feed *feed, EmogiError *error)
{
	return run_ahead(feed, error);
}
