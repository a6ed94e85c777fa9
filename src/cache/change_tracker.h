/*
 * change_tracker.h: incremental maintenance of graphs from the changed pages of their tables; see
 * change_tracker.c.
 *
 * A change tracker represents one snapshot, its base. For each page it has the rows that the base
 * sees, as edges in the COO, and the data from which to decide whether another snapshot sees the
 * same rows. Its content has a position: the number of changes applied so far. A graph that was
 * made from the tracker records the position, and the latest changes are kept in a log, so that the
 * graph can be brought to the tracker's position.
 *
 * A process must hold the tracker (through its slot, one at a time) to read or change its content.
 * The fields protected by cache_lock are marked below.
 */
#ifndef EMOGI_CHANGE_TRACKER_H
#define EMOGI_CHANGE_TRACKER_H

#include "contract/coo.h"
#include "contract/merge.h"
#include "lib/ilist.h"

#include "cache/cache.h"
#include "source/source.h"
#include "storage/block.h"

#define EMOGI_MAX_TRACKERS 1024

/* Memory in the arena that belongs to a tracker: whole extents, or a small allocation. */
typedef struct EmogiTrackedBlock
{
	void	   *start;			/* NULL = none */
	Size		bytes;
	bool		packed;			/* a small allocation */
} EmogiTrackedBlock;

#define EMOGI_VACUUMS_UNKNOWN PG_UINT64_MAX

/*
 * A leaf of the source. Its pages are identified by their index in EmogiTrackedPages, and so are
 * its visibility map pages.
 */
typedef struct EmogiTrackedTable
{
	Oid			relid;
	Oid			relfilenumber;
	AttrNumber	src;			/* column numbers */
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none */
	AttrNumber	reverse;		/* of the reverse edge */
	AttrNumber	filter[EMOGI_FILTER_MAX_COLUMNS];	/* columns that conditions read, then 0 */
	BlockNumber nblocks;		/* known pages */
	BlockNumber room;			/* capacity in pages */
	uint64		first;			/* index of its first page; a multiple of 64 */
	uint64		first_group;	/* index of its first map page */
	/*
	 * VACUUMs that had ended before the map was copied; EMOGI_VACUUMS_UNKNOWN = one may have been
	 * running
	 */
	uint64		vacuums;
} EmogiTrackedTable;

/* All pages, in one allocation. */
typedef struct EmogiTrackedPages
{
	int			nleaves;
	uint64		npages;			/* capacity in pages */
	uint64		ngroups;		/* capacity in map pages */
	EmogiTrackedTable *leaves;		/* [nleaves] */
	uint64	   *running;		/* [EMOGI_MAX_RUNNING], of the base */
	/* [ngroups], LSN of the map page when it was copied; 0 = no such page */
	uint64	   *group_lsn;
	/* [npages / 64], one bit per page: map and page both said that all snapshots see all rows */
	uint64	   *trusted;
	uint64	   *lsn;			/* [npages], see EmogiPageScan */
	uint64	   *newest;			/* [npages], see EmogiPageScan */
	uint64	   *place;			/* [npages], index of its first edge in the COO */
	Buffer	   *buffer;			/* [npages], its last known buffer */
	uint16	   *nedges;			/* [npages] */
	uint16	   *nskipped;		/* [npages] */
} EmogiTrackedPages;

typedef enum EmogiTrackerPhase
{
	EMOGI_TRACKER_FREE = 0,
	EMOGI_TRACKER_NEW,			/* its holder is making it */
	EMOGI_TRACKER_READY
} EmogiTrackerPhase;

typedef struct EmogiChangeTracker
{
	/* protected by cache_lock */
	EmogiTrackerPhase phase;
	bool		doomed;			/* freed when its holder releases it */
	int			holder;			/* index of a slot; -1 = not held */
	uint64		id;				/* never reused */
	EmogiGraphKey key;			/* database, relid, src, dst, weight, keys */
	Oid			maker;			/* the role whose call made it */
	TimestampTz last_used;
	uint64		bytes;			/* of all allocations */

	/* accessed by the holder only */
	bool		broken;			/* a change is in progress */
	EmogiTransactionSnapshot base;		/* running[] is in pages */
	EmogiTrackedBlock pages_block;
	EmogiTrackedPages pages;
	EmogiTrackedBlock coo_block;
	EmogiCoo	coo;
	int			dictionary;		/* index of the dictionary whose codes the COO has; -1 = none */
	EmogiMisfitCounts misfits;	/* over all weights */
	uint64		nedges;			/* edges that the base sees */
	uint64		nskipped;		/* rows with a NULL end that the base sees */
	uint64		position;		/* number of changes so far */
	uint64		version;		/* number of stores, with changes or without */
	EmogiTrackedBlock log_block;
	uint64		log_start;		/* the log has the changes [log_start, position) */
	uint64		log_room;
	EmogiEdgeChange *log;		/* [log_room] */
	uint64		noverlays;		/* calls that used an overlay instead of a merge at this position */
	double		overlays_ms;	/* time that they took to find that nothing has changed since */
	double		merge_ms;		/* duration of the last merge; 0 = none yet */
	/*
	 * a merge is in progress until then, unless the content has changed; also written by the
	 * process that merged
	 */
	TimestampTz merge_until;
} EmogiChangeTracker;

typedef struct EmogiChangeTrackers
{
	uint64		next_id;
	uint32		nused;			/* [0, nused) are set up */
	ConditionVariable released; /* broadcast when a holder releases a tracker */
	EmogiChangeTracker states[EMOGI_MAX_TRACKERS];
} EmogiChangeTrackers;

extern EmogiChangeTrackers *emogi_change_trackers;

extern Size emogi_change_tracker_shmem_size(void);
extern void emogi_change_tracker_shmem_startup(dlist_head *used, bool found);

/* Get the size of an allocation for so many pages, and set up the arrays in it. */
extern Size emogi_change_tracker_pages_bytes(int nleaves, uint64 npages, uint64 ngroups);
extern void emogi_change_tracker_view_pages(EmogiTrackedPages *pages, void *block, int nleaves,
											uint64 npages, uint64 ngroups);

extern EmogiChangeTracker *emogi_change_tracker_hold(EmogiSlot *slot, const EmogiGraphKey *key,
													 bool make, bool *waited);
extern EmogiChangeTracker *emogi_change_tracker_try_hold(EmogiSlot *slot,
														 const EmogiGraphKey *key);
extern bool emogi_change_tracker_exists(const EmogiGraphKey *key);
extern void emogi_change_tracker_end_merge(uint64 id, double merge_ms);
/* Find the tracker of a source; NULL if there is none. Caller holds cache_lock. */
extern bool emogi_change_tracker_has_key(const EmogiGraphKey *tracked, const EmogiGraphKey *key);
extern EmogiChangeTracker *emogi_change_tracker_find(const EmogiGraphKey *key);
extern void emogi_change_tracker_release(EmogiSlot *slot);
extern List *emogi_change_tracker_relations(Oid database);
extern uint64 emogi_change_tracker_bytes(uint64 id);
extern bool emogi_change_tracker_has_id(uint64 id);
extern void emogi_change_tracker_reset(EmogiChangeTracker *tracker);
extern bool emogi_change_tracker_doom(uint64 id);
extern bool emogi_change_tracker_doom_of(Oid maker);
extern uint64 emogi_change_tracker_bytes_of(Oid maker);
extern uint64 emogi_change_tracker_doom_all(Oid database, Oid relid);
extern void emogi_change_tracker_free_doomed(void);

/*
 * For the holder: transfer memory of its slot to the tracker, which may move it; or free memory of
 * the tracker.
 */
extern void emogi_change_tracker_keep(EmogiChangeTracker *tracker, EmogiTrackedBlock *block,
									  void *start, Size bytes);
extern void emogi_change_tracker_drop(EmogiChangeTracker *tracker, EmogiTrackedBlock *block);

/* ---- vacuums.c: counts of the VACUUMs of a table that have ended ---- */

extern Size emogi_vacuums_shmem_size(void);
extern void emogi_vacuums_shmem_startup(bool found);
extern void emogi_vacuums_init(void);
extern uint64 emogi_vacuums_ended(Oid relid);
extern bool emogi_vacuums_may_be_running(Oid relid);

#endif							/* EMOGI_CHANGE_TRACKER_H */
