/*
 * live_state.h: what is known of the pages of the tables behind a Graph, so that a Graph can follow them; see live_state.c.
 *
 * A live state holds for one snapshot, its base: of each page the rows that the base sees, as edges in the COO, and by what to tell
 * that another snapshot sees the same. Its content has a position: the number of changes that it has gone through. A Graph that
 * was made of it knows the position, and the last changes are kept in a log, so that the Graph can be brought to where the state is.
 *
 * Who reads or changes the content holds the state: a slot, one at a time. What is under cache_lock is said below.
 */
#ifndef EMOGI_LIVE_STATE_H
#define EMOGI_LIVE_STATE_H

#include "graph/coo.h"
#include "graph/splice.h"
#include "lib/ilist.h"

#include "cache/cache.h"
#include "source/source.h"
#include "storage/block.h"

#define EMOGI_MAX_LIVE_STATES 1024

/* A block of the Region that is a state's: whole granules, or a small block. */
typedef struct EmogiLiveBlock
{
	void	   *start;			/* NULL = none */
	Size		bytes;
	bool		packed;			/* a small block */
} EmogiLiveBlock;

#define EMOGI_VACUUMS_UNKNOWN PG_UINT64_MAX

/* A leaf of the Source. Its pages are known by their index in EmogiLivePages, its map pages by theirs. */
typedef struct EmogiLiveLeaf
{
	Oid			relid;
	Oid			relfilenumber;
	AttrNumber	src;			/* columns */
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none */
	AttrNumber	reverse;		/* of the way back */
	AttrNumber	filter[EMOGI_FILTER_MAX_COLUMNS];	/* those that conditions read, then 0 */
	BlockNumber nblocks;		/* that are known */
	BlockNumber room;			/* that can be */
	uint64		first;			/* page; a multiple of 64 */
	uint64		first_group;	/* map page */
	uint64		vacuums;		/* that had ended before the map was copied; EMOGI_VACUUMS_UNKNOWN = one may have been at work */
} EmogiLiveLeaf;

/* All pages, in one block. */
typedef struct EmogiLivePages
{
	int			nleaves;
	uint64		npages;			/* places for pages */
	uint64		ngroups;		/* places for map pages */
	EmogiLiveLeaf *leaves;		/* [nleaves] */
	uint64	   *running;		/* [EMOGI_MAX_RUNNING], of the base */
	uint64	   *group_lsn;		/* [ngroups], of the map page when it was copied; 0 = there was none */
	uint64	   *trusted;		/* [npages / 64], a bit a page: map and page said that all snapshots see all of it */
	uint64	   *lsn;			/* [npages], see EmogiLook */
	uint64	   *newest;			/* [npages], see EmogiLook */
	uint64	   *place;			/* [npages], of its first edge in the COO */
	Buffer	   *buffer;			/* [npages], where it was last */
	uint16	   *nedges;			/* [npages] */
	uint16	   *nskipped;		/* [npages] */
} EmogiLivePages;

typedef enum EmogiLivePhase
{
	EMOGI_LIVE_FREE = 0,
	EMOGI_LIVE_NEW,				/* its holder makes it */
	EMOGI_LIVE_READY
} EmogiLivePhase;

typedef struct EmogiLiveState
{
	/* under cache_lock */
	EmogiLivePhase phase;
	bool		doomed;			/* freed when its holder lets go */
	int			holder;			/* index of a slot; -1 = nobody */
	uint64		id;				/* never used twice */
	EmogiGraphKey key;			/* database, relid, src, dst, weight, keys */
	Oid			maker;			/* the role whose call has made it */
	TimestampTz last_used;
	uint64		bytes;			/* of all blocks */

	/* the holder's */
	bool		broken;			/* in the middle of a change */
	EmogiXidSnapshot base;		/* running[] is in pages */
	EmogiLiveBlock pages_block;
	EmogiLivePages pages;
	EmogiLiveBlock coo_block;
	EmogiCoo	coo;
	int			dictionary;		/* of which the COO has codes; -1 = none */
	EmogiMisfitCounts misfits;	/* of all weights */
	uint64		nedges;			/* that the base sees */
	uint64		nskipped;		/* rows with a NULL end, likewise */
	uint64		position;		/* changes so far */
	uint64		version;		/* how often something was stored, with changes or without */
	EmogiLiveBlock log_block;
	uint64		log_start;		/* the log has the changes [log_start, position) */
	uint64		log_room;
	EmogiEdgeChange *log;		/* [log_room] */
	uint64		npatched;		/* calls that have gone without a splice at this position */
	TimestampTz splice_until;	/* before that a splice is under way, if nothing has come between; also written by who has spliced */
} EmogiLiveState;

typedef struct EmogiLiveStates
{
	uint64		next_id;
	uint32		nused;			/* [0, nused) are set up */
	ConditionVariable released; /* broadcast when a holder lets go */
	EmogiLiveState states[EMOGI_MAX_LIVE_STATES];
} EmogiLiveStates;

extern EmogiLiveStates *emogi_live_states;

extern Size emogi_live_state_shmem_size(void);
extern void emogi_live_state_shmem_startup(dlist_head *used, bool found);

/* Bytes of a block for so many pages, and the arrays in it. */
extern Size emogi_live_state_pages_bytes(int nleaves, uint64 npages, uint64 ngroups);
extern void emogi_live_state_view_pages(EmogiLivePages *pages, void *block, int nleaves, uint64 npages, uint64 ngroups);

extern EmogiLiveState *emogi_live_state_hold(EmogiSlot *slot, const EmogiGraphKey *key, bool make, bool *waited);
extern bool emogi_live_state_exists(const EmogiGraphKey *key);
extern void emogi_live_state_note_spliced(uint64 id);
extern bool emogi_live_state_is_held(const EmogiGraphKey *key);
extern void emogi_live_state_let_go(EmogiSlot *slot);
extern List *emogi_live_state_relations(Oid database);
extern uint64 emogi_live_state_bytes(uint64 id);
extern bool emogi_live_state_is_there(uint64 id);
extern void emogi_live_state_empty(EmogiLiveState *state);
extern bool emogi_live_state_doom(uint64 id);
extern bool emogi_live_state_doom_of(Oid maker);
extern uint64 emogi_live_state_bytes_of(Oid maker);
extern uint64 emogi_live_state_doom_all(Oid database, Oid relid);
extern void emogi_live_state_free_doomed(void);

/* The holder's: make a block of the own slot the state's, which may move it; or give one back. */
extern void emogi_live_state_keep(EmogiLiveState *state, EmogiLiveBlock *block, void *start, Size bytes);
extern void emogi_live_state_drop(EmogiLiveState *state, EmogiLiveBlock *block);

/* ---- vacuums.c: how many VACUUMs of a table have ended ---- */

extern Size emogi_vacuums_shmem_size(void);
extern void emogi_vacuums_shmem_startup(bool found);
extern void emogi_vacuums_init(void);
extern uint64 emogi_vacuums_ended(Oid relid);
extern bool emogi_vacuums_at_work(Oid relid);

#endif							/* EMOGI_LIVE_STATE_H */
