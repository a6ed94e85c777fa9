/*
 * build.c: build a graph in the arena from the edges of a source.
 *
 * The backend reads the edges (../graph_source), then has the engine worker make the keys and the
 * CSR from them, in one request. Each step has exactly the memory that it needs: the worker
 * allocates that of the CSR, once it has counted the vertices, or leaves it to the backend if other
 * memory must be evicted first. The edges are freed as soon as the CSR is complete. All memory
 * belongs to the call's slot.
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
		source->key = emogi_sink_check_query(source->query, source->wants_weight);
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
make_csr(EmogiCall *call, const EmogiEdges *edges)
{
	EmogiRequest *request = &call->slot->request;
	const EmogiKeyNumbers keys = call->slot->reply.keys;
	const uint64 nedges = edges->nedges - edges->nisolated;
	Size		memory_bytes = emogi_csr_bytes(keys.nvertices, nedges, request->direction,
											   request->with_backward,
											   emogi_edges_weight_type(edges));
	Size		scratch_bytes = emogi_csr_scratch_bytes(keys.nvertices, nedges,
														request->direction, emogi_cpu_threads,
														edges->weighted);
	EmogiGraph	graph;

	emogi_call_phase(call, EMOGI_PHASE_CSR);
	emogi_arena_check_budget(memory_bytes + scratch_bytes);
	request->kind = EMOGI_REQUEST_CSR;
	request->keys = keys;
	request->memory = emogi_call_alloc_any(call, memory_bytes);
	request->scratch = emogi_call_alloc_any(call, scratch_bytes);
	graph = emogi_call_request(call)->graph;
	emogi_arena_free(request->scratch, scratch_bytes);
	return graph;
}

/*
 * Have the worker find the vertices, and make the CSR from them. The memory of the keys must remain
 * until the CSR is complete. Raises 53200.
 */
static EmogiGraph
make_graph(EmogiCall *call, const EmogiEdges *edges, const EmogiKeyPlan *plan,
		   EmogiDirection direction, bool with_backward)
{
	EmogiRequest *request = &call->slot->request;
	void	   *scratch = emogi_call_alloc_any(call, plan->scratch_bytes);
	const EmogiReply *reply;
	EmogiGraph	graph;

	request->kind = EMOGI_REQUEST_BUILD;
	request->plan = *plan;
	request->scratch = scratch;
	request->direction = direction;
	request->with_backward = with_backward;
	reply = emogi_call_request(call);
	if (reply->graph.memory != NULL)
	{
		emogi_call_phase_since(call, EMOGI_PHASE_CSR, reply->keys_done_ms);
		graph = reply->graph;
		emogi_arena_free(reply->scratch, reply->scratch_bytes);
	}
	else
		graph = make_csr(call, edges);
	emogi_arena_free(scratch, plan->scratch_bytes);
	return graph;
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
	emogi_build_dictionary(call);
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

/*
 * Build a graph from the edges in the call's slot, for traversals in one direction, and free the
 * edges. Without edges, it has no vertices and no memory. Raises 53200.
 */
void
emogi_build_graph(EmogiCall *call, EmogiDirection direction, bool with_backward, EmogiGraph *graph,
				  uint32 *weight_misfits)
{
	const EmogiDictionary *dictionary = emogi_dictionaries_get(call->slot->dictionary);
	EmogiEdges	edges;
	EmogiKeyPlan plan;

	(void) emogi_slot_edges(call->slot, &edges, palloc);
	*weight_misfits = edges.weight_misfits;
	memset(graph, 0, sizeof *graph);
	/* also without edges, because later graphs may be merged from this one */
	graph->dictionary = dictionary;
	if (edges.nedges > 0)
	{
		emogi_call_phase(call, EMOGI_PHASE_KEYS);
		if (call->slot->all_codes)
			emogi_key_numbers_plan_spaced(emogi_dictionary_nkeys(dictionary),
										  emogi_dictionary_shift(dictionary), &plan);
		else
			emogi_key_numbers_plan(&edges, &plan);
		*graph = make_graph(call, &edges, &plan, direction, with_backward);
		graph->dictionary = dictionary;
	}
	emogi_arena_free_owner(EMOGI_OWNER_EDGES(call->slot_index));
	pfree((void *) edges.chunks);
}
