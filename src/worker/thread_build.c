/*
 * thread_build.c: requests that build, merge, pack or expand a graph, or load its columns, in a
 * compute thread.
 */
#include "postgres.h"

#include "contract/builder.h"
#include "worker/threads.h"
#include "worker/thread_build.h"

/* Build a graph from the edges and the numbers of their keys. */
static EmogiStatus
build_lists(EmogiWork *work, EmogiPool *pool)
{
	const EmogiRequest *request = &work->request;
	const EmogiCsrInput input = {.edges = &work->edges, .keys = &request->keys,
		.direction = request->direction,
		.with_backward = request->with_backward, .memory = request->memory,
		.scratch = request->scratch};

	return emogi_csr_build(pool, &input, &work->reply.graph, &work->slot->control,
									&work->reply.error);
}

/* Merge changes into a graph. */
static EmogiStatus
merge_graph(EmogiWork *work, EmogiPool *pool)
{
	EmogiMergeInput input = work->request.merge;

	input.graph = &work->request.graph;
	input.derivation = work->request.derived_id != 0 ? &work->derivation : NULL;
	return emogi_merge(pool, &input, &work->reply.graph, &work->slot->control,
									  &work->reply.error);
}

/* Build a dictionary, and turn edge endpoints into codes. */
static EmogiStatus
make_dictionary(EmogiWork *work, EmogiPool *pool)
{
	EmogiDictionaryInput input = work->request.dictionary;

	input.edges = &work->edges;
	return emogi_dictionary_build(pool, &input, &work->reply.dictionary,
										   &work->slot->control, &work->reply.error);
}

/* Update the range of the ends of edges, which have become codes. */
static void
update_range(EmogiEdges *edges)
{
	edges->min_key = PG_INT64_MAX;
	edges->max_key = PG_INT64_MIN;
	for (uint64 i = 0; i < edges->nchunks; i++)
	{
		if (edges->chunks[i]->nedges == 0)
			continue;
		edges->min_key = Min(edges->min_key, edges->chunks[i]->min_key);
		edges->max_key = Max(edges->max_key, edges->chunks[i]->max_key);
	}
}

/* Pack the edges into a COO. */
static EmogiStatus
pack_edges(EmogiWork *work, EmogiPool *pool)
{
	work->reply.coo = work->request.coo;
	if (work->request.makes_dictionary)
		work->reply.coo.dictionary = work->reply.dictionary;
	return emogi_coo_pack(pool, &work->edges, &work->reply.coo, &work->reply.misfits,
									 &work->slot->control, &work->reply.error);
}

/* Process the first part of a build: up to the vertices. */
static EmogiStatus
build_keys(EmogiWork *work, EmogiPool *pool)
{
	EmogiRequest *request = &work->request;
	EmogiReply *reply = &work->reply;
	EmogiStatus status = EMOGI_OK;

	if (request->makes_dictionary)
	{
		status = make_dictionary(work, pool);
		if (status != EMOGI_OK)
			return status;
		update_range(&work->edges);
		emogi_key_numbers_plan_spaced(emogi_dictionary_nkeys(reply->dictionary),
									  emogi_dictionary_shift(reply->dictionary), &request->plan);
	}
	if (request->packs)
		status = pack_edges(work, pool);
	if (status == EMOGI_OK)
		status = emogi_key_numbers_build(pool, &work->edges, &request->plan, request->scratch,
										   &reply->keys, &work->slot->control, &reply->error);
	reply->keys_done_ms = emogi_pool_now_ms();
	return status;
}

/* Process a request that builds, merges, packs or expands a graph. */
EmogiStatus
emogi_thread_build(EmogiWork *work, EmogiEngineState *cpu)
{
	EmogiPool  *pool = emogi_cpu_engine_pool(cpu);
	EmogiRequest *request = &work->request;
	EmogiControl *control = &work->slot->control;
	EmogiReply *reply = &work->reply;

	switch (request->kind)
	{
		case EMOGI_REQUEST_DICTIONARY:
			return make_dictionary(work, pool);
		case EMOGI_REQUEST_BUILD:
			return build_keys(work, pool);
		case EMOGI_REQUEST_CSR:
			return build_lists(work, pool);
		case EMOGI_REQUEST_EXPAND:
			return emogi_csr_expand(pool, &request->graph, request->direction == EMOGI_IN,
								   &work->edges, control, &reply->error);
		case EMOGI_REQUEST_PACK:
			return pack_edges(work, pool);
		case EMOGI_REQUEST_UNPACK:
			return emogi_coo_unpack(pool, &request->coo, request->runs, request->nruns,
								   &work->edges, control, &reply->error);
		case EMOGI_REQUEST_MERGE:
			return merge_graph(work, pool);
		case EMOGI_REQUEST_COLUMNS:
			return emogi_property_load(pool, &request->graph, &request->columns, control,
									   &reply->error);
		case EMOGI_REQUEST_RUN:
		case EMOGI_REQUEST_MSBFS:
		case EMOGI_REQUEST_PATH:
		case EMOGI_REQUEST_KINDS:
			break;
	}
	return EMOGI_BAD_INPUT;		/* unreachable: run_work handles these kinds */
}
