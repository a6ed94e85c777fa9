#include "emogi.h"
#include "storage/shmem.h"
EmogiCache *emogi_cache_shared;
Size emogi_cache_shmem_size(void) { return sizeof(EmogiCache); }
void emogi_cache_shmem_startup(bool found)
{
	bool f;
	emogi_cache_shared = ShmemInitStruct("emogi cache", sizeof(EmogiCache), &f);
	if (!found) { memset(emogi_cache_shared, 0, sizeof(EmogiCache)); ConditionVariableInit(&emogi_cache_shared->changed); }
}
void emogi_cache_init(void) {}
void emogi_cache_get(EmogiCall *call, const EmogiSource *source, EmogiWeights weights, EmogiDirection direction,
					 bool any_direction, bool with_backward, EmogiGraph *graph)
{
	List	   *leaves = NIL;
	uint32		misfits;

	emogi_source_check(source);
	if (!source->is_query)
		(void) emogi_scan_possible(source, &leaves);
	emogi_build_edges(call, source, leaves, weights);
	emogi_build_graph(call, direction, with_backward, graph, &misfits);
}
void emogi_cache_unpin(int graph) {}
uint64 emogi_cache_evict(Oid database, Oid relid) { return 0; }
void emogi_cache_use_on_device(uint64 id) {}
uint64 emogi_cache_next_to_forget(void) { return 0; }
void emogi_cache_forgotten(uint64 id) {}
void emogi_cache_worker_gone(void) {}
