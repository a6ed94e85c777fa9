/*
 * build.c: build a graph in the arena from the edges of a source.
 *
 * The backend reads the edges (../graph_source), then has the engine worker make the dictionary,
 * the COO of the change tracker, the keys and the CSR from them, and run the call's query on the
 * graph, in one request. Each step has exactly the memory that it needs: the worker allocates that
 * of the CSR, once it has counted the vertices, or leaves it to the backend if other memory must be
 * evicted first. The backend continues when the graph is complete, while the query runs
 * (call/request.c). All memory belongs to the call's slot.
 */
#include "postgres.h"

#include "access/relation.h"

#include "acquire/acquire.h"
#include "edges/sink.h"
#include "edges/pages.h"
#include "base/arena.h"

/*
 * Raise any error that prevents the caller from reading a source, without reading it; set the key
 * type of a query.
 */
void
emogi_build_check(EmogiSource *source)
{
	Relation	rel;

	if (source->is_query)
	{
		source->key = emogi_sink_check_query(source);
		return;
	}
	rel = relation_open(source->relid, NoLock);
	(void) emogi_access_check(rel, source);
	relation_close(rel, NoLock);
}

/*
 * Have the worker make the CSR, if it had no memory at hand for that: here, cached graphs are
 * evicted for it. Raises 53200.
 */
static EmogiGraph
make_csr(EmogiCall *call, const EmogiEdges *edges, const EmogiKeyNumbers *keys)
{
	EmogiRequest *request = &call->slot->request;
	const uint64 nedges = edges->nedges - edges->nisolated;
	Size		memory_bytes = emogi_csr_bytes(keys->nvertices, nedges, request->direction,
											   request->with_backward,
											   emogi_edges_weight_type(edges));
	Size		scratch_bytes = emogi_csr_scratch_bytes(keys->nvertices, nedges,
														request->direction, emogi_cpu_threads,
														edges->weighted);
	EmogiGraph	graph;

	emogi_call_phase(call, EMOGI_PHASE_CSR);
	emogi_arena_check_budget(memory_bytes + scratch_bytes);
	request->kind = EMOGI_REQUEST_CSR;
	request->keys = *keys;
	request->memory = emogi_call_alloc_any(call, memory_bytes);
	request->scratch = emogi_call_alloc_any(call, scratch_bytes);
	graph = emogi_call_request(call)->graph;
	emogi_arena_free(request->scratch, scratch_bytes);
	return graph;
}

/* Get the bytes of the sources of a chained run. */
static Size
source_bytes(const EmogiChainedRun *chained)
{
	Size		bytes = chained->nsources *
		(sizeof(int64) + sizeof(EmogiKeyBytes) + sizeof(uint32));

	for (uint64 i = 0; i < chained->nsources && chained->keys != NULL; i++)
		bytes += chained->keys[i].length;
	return bytes;
}

/* Copy the sources of a chained run to memory that the worker can read. Raises 53200. */
static void
put_sources(EmogiCall *call, const EmogiChainedRun *chained, EmogiChainedSources *sources)
{
	const uint64 count = chained->nsources;
	EmogiKeyBytes *keys;
	int64	   *ids;
	char	   *bytes;

	memset(sources, 0, sizeof *sources);
	sources->count = count;
	if (count == 0)
		return;
	ids = emogi_call_alloc_any(call, source_bytes(chained));
	keys = (EmogiKeyBytes *) (ids + count);
	sources->numbers = (uint32 *) (keys + count);
	bytes = (char *) (sources->numbers + count);
	call->chained_memory = ids;
	call->chained_bytes = source_bytes(chained);
	if (chained->ids != NULL)
	{
		sources->ids = memcpy(ids, chained->ids, count * sizeof *ids);
		return;
	}
	sources->keys = keys;
	for (uint64 i = 0; i < count; i++)
	{
		keys[i] = (EmogiKeyBytes) {memcpy(bytes, chained->keys[i].bytes, chained->keys[i].length),
								   chained->keys[i].length};
		bytes += chained->keys[i].length;
	}
}

/*
 * Add the call's query to the request for its graph, unless the backend will answer it, or the
 * graph has weights that are hidden from the query. Raises 53200.
 */
static void
chain_run(EmogiCall *call, const EmogiGraphKey *key, const EmogiChainedRun *chained,
		  const EmogiEdges *edges)
{
	EmogiRequest *request = &call->slot->request;
	const uint64 nedges = edges->nedges - edges->nisolated;

	request->chains = chained != NULL && nedges > chained->max_local_edges &&
		!(edges->weighted && (key->weight == 0 || key->weights == EMOGI_WEIGHTS_UNUSED));
	if (!request->chains)
		return;
	request->engine = chained->engine;
	request->query = chained->query;
	memset(&request->result, 0, sizeof request->result);
	put_sources(call, chained, &request->sources);
	request->sources.dictionary = emogi_dictionaries_get(call->slot->dictionary);
}

/*
 * Have the worker find the vertices, and make the CSR from them, with the steps before and after
 * that the request has. The memory of the keys must remain until the CSR is complete. Raises 53200.
 */
static void
make_graph(EmogiCall *call, const EmogiEdges *edges, EmogiBuilt *built)
{
	EmogiRequest *request = &call->slot->request;
	const Size	scratch_bytes = request->plan.scratch_bytes;
	void	   *scratch = emogi_call_alloc_any(call, scratch_bytes);
	const EmogiReply *reply;

	request->kind = EMOGI_REQUEST_BUILD;
	request->scratch = scratch;
	reply = emogi_call_request(call);
	built->coo = reply->coo;
	built->misfits = reply->misfits;
	if (request->makes_dictionary)
		emogi_build_dictionary_end(call, reply->dictionary);
	if (reply->graph.memory != NULL)
	{
		emogi_call_phase_since(call, EMOGI_PHASE_CSR, reply->keys_done_ms);
		built->graph = reply->graph;
		if (reply->scratch != NULL)
			emogi_arena_free(reply->scratch, reply->scratch_bytes);
	}
	else
	{
		const EmogiKeyNumbers keys = reply->keys;

		/* memory is short: the query waits */
		request->chains = false;
		emogi_call_free_chained(call);
		built->graph = make_csr(call, edges, &keys);
	}
	emogi_arena_free(scratch, scratch_bytes);
}

/* Have the worker pack no edges, into an empty COO. */
static void
pack_nothing(EmogiCall *call, const EmogiCoo *coo, EmogiBuilt *built)
{
	const EmogiReply *reply;

	call->slot->request.kind = EMOGI_REQUEST_PACK;
	call->slot->request.coo = *coo;
	call->slot->request.coo.dictionary = emogi_dictionaries_get(call->slot->dictionary);
	reply = emogi_call_request(call);
	built->coo = reply->coo;
	built->misfits = reply->misfits;
}

/* Plan the numbers of the vertices; after the step DICTIONARY, the worker does. */
static void
plan_keys(const EmogiSlot *slot, const EmogiEdges *edges, EmogiRequest *request)
{
	const EmogiDictionary *dictionary = emogi_dictionaries_get(slot->dictionary);

	if (request->makes_dictionary)
		emogi_key_numbers_plan_spaced(0, 0, &request->plan);
	else if (slot->all_codes)
		emogi_key_numbers_plan_spaced(emogi_dictionary_nkeys(dictionary),
									  emogi_dictionary_shift(dictionary), &request->plan);
	else
		emogi_key_numbers_plan(edges, &request->plan);
}

/*
 * Read the edges of an open source into the call's slot, as the active snapshot sees them; read
 * them again if too many keys collided in the hash table. page_scans: NULL, or where to record the
 * page scans of each heap. The caller's rights have been checked. Raises 53200, 22004 and 22023 for
 * weights, and any error of a query or a server.
 */
void
emogi_build_edges(EmogiCall *call, EmogiGraphSource *source, EmogiWeights weights,
				  const EmogiPageScans *page_scans)
{
	EmogiSlot  *slot = call->slot;

	emogi_call_phase(call, EMOGI_PHASE_SCAN);
	source->kind->scan(call, source, weights, false, page_scans);
	if (slot->key_table != NULL &&
		emogi_key_table_outcome(slot->key_table) == EMOGI_KEYS_COLLISIONS)
	{
		emogi_arena_free_owner(EMOGI_OWNER_EDGES(call->slot_index));
		emogi_arena_free_owner(EMOGI_OWNER_KEYS(call->slot_index));
		pg_atomic_write_u64(&slot->nskipped, 0);
		source->kind->scan(call, source, weights, true, page_scans);
	}
	emogi_build_dictionary_if_short(call);
}

/*
 * Put the edges of a graph of the given direction into the call's slot, as a scan of its table
 * would. If the graph's weights are hidden, they are not read. Raises 53200.
 */
void
emogi_build_edges_of_graph(EmogiCall *call, const EmogiGraph *base_graph, EmogiDirection direction,
						   EmogiWeights weights)
{
	EmogiRequest *request = &call->slot->request;
	bool		weighted = base_graph->weight_type != EMOGI_WEIGHT_NONE;
	uint64		per_chunk = weighted ? EMOGI_CHUNK_WEIGHTED_EDGES : EMOGI_CHUNK_EDGES;

	emogi_call_phase(call, EMOGI_PHASE_SCAN);
	call->slot->weights = emogi_sink_weights(weighted, true, weights);
	call->slot->all_codes = false;
	if (base_graph->forward.nedges == 0)
		return;
	for (uint64 i = 0; i < base_graph->forward.nedges; i += per_chunk)
		(void) emogi_arena_alloc(EMOGI_OWNER_EDGES(call->slot_index), EMOGI_CHUNK_BYTES);
	request->kind = EMOGI_REQUEST_EXPAND;
	request->graph = *base_graph;
	request->direction = direction;
	(void) emogi_call_request(call);
}

/* Free the edges in the call's slot. */
void
emogi_build_end(EmogiCall *call)
{
	emogi_arena_free_owner(EMOGI_OWNER_EDGES(call->slot_index));
}

/*
 * Build a graph from the edges in the call's slot, with the lists of a key. chained: a query that
 * may begin with it, NULL = none. coo: to be packed from the edges, which then remain until
 * emogi_build_end; NULL = none, and the edges are freed. Without edges, the graph has no vertices
 * and no memory. Raises 53000, 53200.
 */
void
emogi_build_graph(EmogiCall *call, const EmogiGraphKey *key, const EmogiChainedRun *chained,
				  const EmogiCoo *coo, EmogiBuilt *built)
{
	EmogiSlot  *slot = call->slot;
	EmogiRequest *request = &slot->request;
	EmogiEdges	edges;

	memset(built, 0, sizeof *built);
	(void) emogi_slot_edges(slot, &edges, palloc);
	built->weight_misfits = edges.weight_misfits;
	request->makes_dictionary = emogi_build_dictionary_begin(call, coo != NULL);
	if (edges.nedges > 0)
	{
		emogi_call_phase(call, EMOGI_PHASE_KEYS);
		plan_keys(slot, &edges, request);
		request->packs = coo != NULL;
		if (coo != NULL)
			request->coo = *coo;
		request->direction = key->direction;
		request->with_backward = key->with_backward;
		chain_run(call, key, chained, &edges);
		make_graph(call, &edges, built);
	}
	else if (coo != NULL)
		pack_nothing(call, coo, built);
	/* also without edges, because later graphs may be merged from this one */
	built->graph.dictionary = emogi_dictionaries_get(slot->dictionary);
	if (coo == NULL)
		emogi_build_end(call);
	pfree((void *) edges.chunks);
}
