/*
 * change_tracker.h: what is known of the pages of the tables behind a Graph, so that a Graph can follow them; see change_tracker.c.
 *
 * A live state holds for one snapshot, its base: of each page the rows that the base sees, as edges in the COO, and by what to tell
 * that another snapshot sees the same. Its content has a position: the number of changes that it has gone through. A Graph that
 * was made of it knows the position, and the last changes are kept in a log, so that the Graph can be brought to where the state is.
 *
 * Who reads or changes the content holds the state: a slot, one at a time. What is under cache_lock is said below.
 */
#ifndef EMOGI_CHANGE_TRACKER_H
#define EMOGI_CHANGE_TRACKER_H

#include "graph/coo.h"
#include "graph/merge.h"
#include "lib/ilist.h"

#include "cache/cache.h"
#include "source/source.h"
#include "storage/block.h"

#define EMOGI_MAX_LIVE_STATES 1024

/* A block of the Region that is a state's: whole extents, or a small block. */
typedef struct EmogiTrackedBlock
{
	void	   *start;			/* NULL = none */
	Size		bytes;
	bool		packed;			/* a small block */
} EmogiTrackedBlock;

#define EMOGI_VACUUMS_UNKNOWN PG_UINT64_MAX

/* A leaf of the Source. Its pages are known by their index in EmogiTrackedPages, its map pages by theirs. */
typedef struct EmogiTrackedTable
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
} EmogiTrackedTable;

/* All pages, in one block. */
typedef struct EmogiTrackedPages
{
	int			nleaves;
	uint64		npages;			/* places for pages */
	uint64		ngroups;		/* places for map pages */
	EmogiTrackedTable *leaves;		/* [nleaves] */
	uint64	   *running;		/* [EMOGI_MAX_RUNNING], of the base */
	uint64	   *group_lsn;		/* [ngroups], of the map page when it was copied; 0 = there was none */
	uint64	   *trusted;		/* [npages / 64], a bit a page: map and page said that all snapshots see all of it */
	uint64	   *lsn;			/* [npages], see EmogiPageScan */
	uint64	   *newest;			/* [npages], see EmogiPageScan */
	uint64	   *place;			/* [npages], of its first edge in the COO */
	Buffer	   *buffer;			/* [npages], where it was last */
	uint16	   *nedges;			/* [npages] */
	uint16	   *nskipped;		/* [npages] */
} EmogiTrackedPages;

typedef enum EmogiTrackerPhase
{
	EMOGI_LIVE_FREE = 0,
	EMOGI_LIVE_NEW,				/* its holder makes it */
	EMOGI_LIVE_READY
} EmogiTrackerPhase;

typedef struct EmogiChangeTracker
{
	/* under cache_lock */
	EmogiTrackerPhase phase;
	bool		doomed;			/* freed when its holder lets go */
	int			holder;			/* index of a slot; -1 = nobody */
	uint64		id;				/* never used twice */
	EmogiGraphKey key;			/* database, relid, src, dst, weight, keys */
	Oid			maker;			/* the role whose call has made it */
	TimestampTz last_used;
	uint64		bytes;			/* of all blocks */

	/* the holder's */
	bool		broken;			/* in the middle of a change */
	EmogiTransactionSnapshot base;		/* running[] is in pages */
	EmogiTrackedBlock pages_block;
	EmogiTrackedPages pages;
	EmogiTrackedBlock coo_block;
	EmogiCoo	coo;
	int			dictionary;		/* of which the COO has codes; -1 = none */
	EmogiMisfitCounts misfits;	/* of all weights */
	uint64		nedges;			/* that the base sees */
	uint64		nskipped;		/* rows with a NULL end, likewise */
	uint64		position;		/* changes so far */
	uint64		version;		/* how often something was stored, with changes or without */
	EmogiTrackedBlock log_block;
	uint64		log_start;		/* the log has the changes [log_start, position) */
	uint64		log_room;
	EmogiEdgeChange *log;		/* [log_room] */
	uint64		npatched;		/* calls that have gone without a splice at this position */
	TimestampTz splice_until;	/* before that a splice is under way, if nothing has come between; also written by who has spliced */
} EmogiChangeTracker;

typedef struct EmogiChangeTrackers
{
	uint64		next_id;
	uint32		nused;			/* [0, nused) are set up */
	ConditionVariable released; /* broadcast when a holder lets go */
	EmogiChangeTracker states[EMOGI_MAX_LIVE_STATES];
} EmogiChangeTrackers;

extern EmogiChangeTrackers *emogi_change_trackers;

extern Size emogi_change_tracker_shmem_size(void);
extern void emogi_change_tracker_shmem_startup(dlist_head *used, bool found);

/* Bytes of a block for so many pages, and the arrays in it. */
extern Size emogi_change_tracker_pages_bytes(int nleaves, uint64 npages, uint64 ngroups);
extern void emogi_change_tracker_view_pages(EmogiTrackedPages *pages, void *block, int nleaves, uint64 npages, uint64 ngroups);

extern EmogiChangeTracker *emogi_change_tracker_hold(EmogiSlot *slot, const EmogiGraphKey *key, bool make, bool *waited);
extern bool emogi_change_tracker_exists(const EmogiGraphKey *key);
extern void emogi_change_tracker_note_spliced(uint64 id);
extern bool emogi_change_tracker_is_held(const EmogiGraphKey *key);
extern void emogi_change_tracker_release(EmogiSlot *slot);
extern List *emogi_change_tracker_relations(Oid database);
extern uint64 emogi_change_tracker_bytes(uint64 id);
extern bool emogi_change_tracker_is_there(uint64 id);
extern void emogi_change_tracker_empty(EmogiChangeTracker *state);
extern bool emogi_change_tracker_doom(uint64 id);
extern bool emogi_change_tracker_doom_of(Oid maker);
extern uint64 emogi_change_tracker_bytes_of(Oid maker);
extern uint64 emogi_change_tracker_doom_all(Oid database, Oid relid);
extern void emogi_change_tracker_free_doomed(void);

/* The holder's: make a block of the own slot the state's, which may move it; or give one back. */
extern void emogi_change_tracker_keep(EmogiChangeTracker *state, EmogiTrackedBlock *block, void *start, Size bytes);
extern void emogi_change_tracker_drop(EmogiChangeTracker *state, EmogiTrackedBlock *block);

/* ---- vacuums.c: how many VACUUMs of a table have ended ---- */

extern Size emogi_vacuums_shmem_size(void);
extern void emogi_vacuums_shmem_startup(bool found);
extern void emogi_vacuums_init(void);
extern uint64 emogi_vacuums_ended(Oid relid);
extern bool emogi_vacuums_at_work(Oid relid);

#endif							/* EMOGI_CHANGE_TRACKER_H */
