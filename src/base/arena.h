/*
 * arena.h: the shared-memory arena that holds graphs, edges and results; see arena.c
 *
 * A call allocates as the owner that belongs to its slot; cached graphs and held results are
 * transferred to other owners (emogi_arena_transfer). When an owner ends, all its memory is freed
 * at once (emogi_arena_free_owner).
 */
#ifndef EMOGI_ARENA_H
#define EMOGI_ARENA_H

#include "contract/csr.h"
#include "base/settings.h"

/*
 * The arena is allocated in whole extents, except for small allocations; an edge chunk is one
 * extent.
 */
#define EMOGI_EXTENT_BYTES EMOGI_CHUNK_BYTES

/*
 * Owner of an extent: a slot (with separate owners for the slot's edges and for the keys that its
 * scan has read), a cached graph, a held result, a change tracker, or a dictionary. 0 = free.
 */
typedef uint32 EmogiOwner;
#define EMOGI_OWNER(slot_index)			((EmogiOwner) (slot_index) + 1)
#define EMOGI_OWNER_EDGES(slot_index)	(EMOGI_OWNER(slot_index) | UINT32_C(0x80000000))
#define EMOGI_OWNER_GRAPH(graph_index)	(((EmogiOwner) (graph_index) + 1) | UINT32_C(0x40000000))
#define EMOGI_OWNER_HELD(index)		(((EmogiOwner) (index) + 1) | UINT32_C(0x20000000))
#define EMOGI_OWNER_TRACKER(index)			(((EmogiOwner) (index) + 1) | UINT32_C(0x10000000))
#define EMOGI_OWNER_KEYS(slot_index)	(EMOGI_OWNER(slot_index) | UINT32_C(0x08000000))
#define EMOGI_OWNER_DICTIONARY(index)	(((EmogiOwner) (index) + 1) | UINT32_C(0x04000000))
#define EMOGI_OWNER_INDEX				UINT32_C(0x03FFFFFF)	/* index + 1, of any kind */

/*
 * Set the callback that frees memory whenever an allocation does not fit; it returns false if there
 * is nothing to free. at_limit: the calls of the session or its role are at their limit; if false,
 * the budget is full. bytes: size of the allocation.
 */
extern void emogi_arena_set_room_callback(bool (*make_room) (bool at_limit, uint64 bytes));

/* Set the callback that returns the bytes of the graphs that are never evicted (kept graphs). */
extern void emogi_arena_set_kept_callback(uint64 (*bytes) (void));

extern void *emogi_arena_alloc(EmogiOwner owner, Size bytes);
extern void *emogi_arena_alloc_any(EmogiOwner owner, Size bytes);
extern void *emogi_arena_try_alloc(EmogiOwner owner, Size bytes);
extern void emogi_arena_trim(void);
extern uint64 emogi_arena_transfer(void *start, Size bytes, EmogiOwner owner);
extern void emogi_arena_transfer_all(EmogiOwner from, EmogiOwner to);
extern void emogi_arena_free(void *start, Size bytes);
extern void emogi_arena_free_owner(EmogiOwner owner);
extern bool emogi_arena_edges(EmogiOwner owner, EmogiEdges *edges, void *(*allocate) (Size));
extern uint64 emogi_arena_used_bytes(void);
extern void emogi_arena_check_budget(uint64 bytes);

/* Get the arena's budget in bytes. */
static inline uint64
emogi_arena_budget_bytes(void)
{
	return (uint64) emogi_max_memory_mb * 1024 * 1024;
}

/* ---- small_allocations.c ---- */

/* Allocations up to this size can be small allocations, which share extents. */
#define EMOGI_SMALL_BYTES ((Size) 512 * 1024)

extern void *emogi_small_allocations_alloc(Size bytes);
extern void emogi_small_allocations_free(void *start, Size bytes);
extern uint64 emogi_small_allocations_bytes(Size bytes);
extern void *emogi_small_allocations_pack(void *start, Size bytes, bool is_read);

#endif							/* EMOGI_ARENA_H */
