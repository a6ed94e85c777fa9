/*
 * csr_memory.c: memory that the main thread of the engine worker allocates on behalf of a slot,
 * between the steps of a build: for the CSR, and for the result of a query that is chained to it
 */
#include "postgres.h"

#include "contract/query.h"
#include "base/arena.h"
#include "worker/csr_memory.h"

/* Max bytes of huge pages that the main thread gets from the kernel for a request. */
#define MAX_HUGE_BYTES ((Size) 64 * 1024 * 1024)

/*
 * Allocate the memory of a graph whose vertices are known, and scratch memory, for the slot of some
 * work, within its limits. Return false, with nothing allocated, if that takes evictions or long:
 * then the backend does it.
 */
bool
emogi_csr_memory_alloc(EmogiWork *work)
{
	const EmogiOwner owner = EMOGI_OWNER(work->slot - emogi_shared->slots);
	const EmogiEdges *edges = &work->edges;
	EmogiRequest *request = &work->request;
	EmogiReply *reply = &work->reply;
	const uint64 nedges = edges->nedges - edges->nisolated;
	const uint64 nvertices = reply->keys.nvertices;
	const EmogiWeightType type = emogi_edges_weight_type(edges);
	const Size	memory_bytes = emogi_csr_bytes(nvertices, nedges, request->direction,
											   request->with_backward, type);
	const Size	scratch_bytes = emogi_csr_scratch_bytes(nvertices, nedges, request->direction,
														emogi_cpu_threads, edges->weighted);

	if (emogi_huge_pages_status && memory_bytes + scratch_bytes > MAX_HUGE_BYTES)
		return false;
	request->memory = emogi_arena_try_alloc(owner, memory_bytes);
	if (request->memory == NULL)
		return false;
	request->scratch = emogi_arena_try_alloc(owner, scratch_bytes);
	if (request->scratch == NULL)
		emogi_arena_free(request->memory, memory_bytes);
	reply->scratch = request->scratch;
	reply->scratch_bytes = scratch_bytes;
	return request->scratch != NULL;
}

/* Free the columns of a result that have been allocated. */
static void
free_columns(const EmogiResultColumn *columns, uint64 length, EmogiResult *result)
{
	for (int i = 0; columns[i].name != NULL; i++)
		if (result->columns[i].any != NULL)
			emogi_arena_free(result->columns[i].any,
							 length * emogi_algorithm_column_bytes(columns[i].type));
	memset(result, 0, sizeof *result);
}

/*
 * Allocate the result of a query that is chained to the build of its graph, for the slot of some
 * work, within its limits. Return false, with nothing allocated, if that takes evictions or long.
 */
bool
emogi_csr_memory_alloc_result(EmogiWork *work)
{
	const EmogiOwner owner = EMOGI_OWNER(work->slot - emogi_shared->slots);
	EmogiRequest *request = &work->request;
	const EmogiResultColumn *columns = emogi_algorithm_row(request->query.algorithm)->columns;
	const uint64 length = Max(emogi_query_length(&request->graph, &request->query), 1);
	Size		bytes = 0;

	for (int i = 0; columns[i].name != NULL; i++)
		bytes += length * emogi_algorithm_column_bytes(columns[i].type);
	if (emogi_huge_pages_status && bytes > MAX_HUGE_BYTES)
		return false;
	for (int i = 0; columns[i].name != NULL; i++)
	{
		request->result.columns[i].any =
			emogi_arena_try_alloc(owner, length * emogi_algorithm_column_bytes(columns[i].type));
		if (request->result.columns[i].any != NULL)
			continue;
		free_columns(columns, length, &request->result);
		return false;
	}
	return true;
}
