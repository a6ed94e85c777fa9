/*
 * compat_storage.h: differences between PostgreSQL 14 .. 19: tables, indexes, snapshots and locks
 *
 * A comment's leading number is the major version that introduced the change.
 */
#ifndef EMOGI_COMPAT_STORAGE_H
#define EMOGI_COMPAT_STORAGE_H

#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#if PG_VERSION_NUM >= 170000
#include "storage/read_stream.h"
#endif
#include "utils/rel.h"
#include "utils/snapmgr.h"

/*
 * 17: the struct was renamed. Return the oldest xid in the commit log. The caller holds
 * XactTruncationLock.
 */
static inline TransactionId
emogi_compat_oldest_clog_xid(void)
{
#if PG_VERSION_NUM >= 170000
	return TransamVariables->oldestClogXid;
#else
	return ShmemVariableCache->oldestClogXid;
#endif
}

/*
 * 17: no snapshot, which was for old_snapshot_threshold. Return the last leaf page of a btree index,
 * locked for reading and pinned; InvalidBuffer = the index is empty.
 */
static inline Buffer
emogi_compat_last_leaf(Relation index, Snapshot snapshot)
{
#if PG_VERSION_NUM >= 170000
	(void) snapshot;
	return _bt_get_endpoint(index, 0, true);
#else
	return _bt_get_endpoint(index, 0, true, snapshot);
#endif
}

/* 16: relfilenode was renamed to relfilenumber. */
static inline Oid
emogi_compat_relfilenumber(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_locator.relNumber;
#else
	return rel->rd_node.relNode;
#endif
}

/*
 * 17: LockHeldByMe got an argument that includes stronger modes. Does the current transaction hold
 * exactly this lock on a table? CheckRelationOidLockedByMe would do, but the first minor releases
 * of 14, 15 and 16 lack it.
 */
static inline bool
emogi_compat_holds_lock(Oid relid, LOCKMODE mode)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, IsSharedRelation(relid) ? InvalidOid : MyDatabaseId, relid);
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(&tag, mode, false);
#else
	return LockHeldByMe(&tag, mode);
#endif
}

/* 18: any number of fast-path slots, in groups. Return the number of slots. */
static inline int
emogi_compat_fast_path_slots(void)
{
#if PG_VERSION_NUM >= 180000
	return FastPathLockSlotsPerBackend();
#else
	return FP_LOCK_SLOTS_PER_BACKEND;
#endif
}

/* Return the modes of the own fast-path lock in slot n, as a mask of three bits. */
static inline LOCKMASK
emogi_compat_fast_path_modes(int n)
{
#if PG_VERSION_NUM >= 180000
	uint64		bits =
		MyProc->fpLockBits[n / FP_LOCK_SLOTS_PER_GROUP] >> (3 * (n % FP_LOCK_SLOTS_PER_GROUP));
#else
	uint64		bits = MyProc->fpLockBits >> (3 * n);
#endif

	return (LOCKMASK) (bits & 7) << AccessShareLock;
}

/*
 * 16: dlist instead of SHM_QUEUE. Return the own lock after this one (NULL = the first) in a
 * partition; NULL at the end.
 */
static inline PROCLOCK *
emogi_compat_next_lock(int partition, PROCLOCK *lock)
{
#if PG_VERSION_NUM >= 160000
	dlist_head *list = &MyProc->myProcLocks[partition];

	if (lock == NULL)
		return dlist_is_empty(list) ? NULL : dlist_head_element(PROCLOCK, procLink, list);
	return dlist_has_next(list, &lock->procLink) ?
		dlist_container(PROCLOCK, procLink, dlist_next_node(list, &lock->procLink)) : NULL;
#else
	SHM_QUEUE  *list = &MyProc->myProcLocks[partition];

	return (PROCLOCK *) SHMQueueNext(list, lock != NULL ? &lock->procLink : list,
									 offsetof(PROCLOCK, procLink));
#endif
}

/*
 * Call a function, which must not take locks, for each table of this database that the current
 * transaction has locked in one of these modes; for some tables more than once. Fast-path locks are
 * read first: if another process moves one to the main table meanwhile, it is there before its
 * fast-path bit is cleared. Shared relations are skipped.
 */
static inline void
emogi_compat_each_lock(LOCKMASK modes, void (*function) (Oid relid))
{
	LWLockAcquire(&MyProc->fpInfoLock, LW_SHARED);
	for (int i = 0; i < emogi_compat_fast_path_slots(); i++)
		if (emogi_compat_fast_path_modes(i) & modes)
			function(MyProc->fpRelId[i]);
	LWLockRelease(&MyProc->fpInfoLock);

	for (int i = 0; i < NUM_LOCK_PARTITIONS; i++)
	{
		PROCLOCK   *lock;

		/*
		 * Read without a lock: other processes only add entries moved from the fast path, which was
		 * read under its lock.
		 */
		if (emogi_compat_next_lock(i, NULL) == NULL)
			continue;
		LWLockAcquire(LockHashPartitionLockByIndex(i), LW_SHARED);
		for (lock = emogi_compat_next_lock(i, NULL); lock != NULL;
			 lock = emogi_compat_next_lock(i, lock))
		{
			const LOCKTAG *tag = &lock->tag.myLock->tag;

			if (tag->locktag_type == LOCKTAG_RELATION && tag->locktag_field1 == MyDatabaseId &&
				(lock->holdMask & modes))
				function(tag->locktag_field2);
		}
		LWLockRelease(LockHashPartitionLockByIndex(i));
	}
}

/*
 * 16: RelFileLocator. Pin a page in the buffer where it was last; false if it is not there any
 * more.
 */
static inline bool
emogi_compat_read_recent(Relation rel, BlockNumber block, Buffer buffer)
{
#if PG_VERSION_NUM >= 160000
	return ReadRecentBuffer(rel->rd_locator, MAIN_FORKNUM, block, buffer);
#else
	return ReadRecentBuffer(rel->rd_node, MAIN_FORKNUM, block, buffer);
#endif
}

/* 19: any reader of a page may set bits in the visibility map. Does only VACUUM set them? */
static inline bool
emogi_compat_only_vacuum_sets_bits(void)
{
	return PG_VERSION_NUM < 190000;
}

/* 16: fields were renamed. Was the file of a table created by the current transaction? */
static inline bool
emogi_compat_has_own_file(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_createSubid != InvalidSubTransactionId ||
		rel->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
	return rel->rd_createSubid != InvalidSubTransactionId ||
		rel->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
}

/*
 * 16: fields were renamed. Was a table or an index, or its file, created by a subtransaction of the
 * current transaction?
 */
static inline bool
emogi_compat_has_subtransaction_file(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_createSubid > TopSubTransactionId ||
		rel->rd_firstRelfilelocatorSubid > TopSubTransactionId;
#else
	return rel->rd_createSubid > TopSubTransactionId ||
		rel->rd_firstRelfilenodeSubid > TopSubTransactionId;
#endif
}

/* 17: old_snapshot_threshold was removed. May rows that old snapshots see be removed? */
static inline bool
emogi_compat_snapshots_age(void)
{
#if PG_VERSION_NUM < 170000
	return OldSnapshotThresholdActive();
#else
	return false;
#endif
}

/*
 * 17: a sequential scan reads its pages through a read stream, which takes them from the blocks
 * shared by parallel workers. Return the next page of a parallel scan, pinned; InvalidBuffer at the
 * end.
 */
static inline Buffer
emogi_compat_next_page(HeapScanDesc scan)
{
#if PG_VERSION_NUM >= 170000
	return read_stream_next_buffer(scan->rs_read_stream, NULL);
#else
	Relation	rel = scan->rs_base.rs_rd;
	ParallelBlockTableScanDesc shared = (ParallelBlockTableScanDesc) scan->rs_base.rs_parallel;
	BlockNumber block;

	if (!scan->rs_inited)
		table_block_parallelscan_startblock_init(rel, scan->rs_parallelworkerdata, shared);
	scan->rs_inited = true;
	block = table_block_parallelscan_nextpage(rel, scan->rs_parallelworkerdata, shared);
	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	return ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, scan->rs_strategy);
#endif
}

/*
 * 17: no "snapshot too old" errors. Raise 72000 if rows that the snapshot may see have been removed
 * from a page.
 */
static inline void
emogi_compat_check_snapshot_age(Snapshot snapshot, Relation rel, Page page)
{
#if PG_VERSION_NUM < 170000
	TestForOldSnapshot(snapshot, rel, page);
#else
	(void) snapshot;
	(void) rel;
	(void) page;
#endif
}

/* 19: flags of the scan. Take part in a parallel scan of a table. */
static inline TableScanDesc
emogi_compat_begin_parallel(Relation rel, ParallelTableScanDesc shared)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_parallel(rel, shared, SO_NONE);
#else
	return table_beginscan_parallel(rel, shared);
#endif
}

/*
 * 19: pruning can also set the page's bits of the visibility map, but does not here. Prune a
 * pinned, unlocked page if that is useful.
 */
static inline void
emogi_compat_prune(Relation rel, Buffer buffer)
{
#if PG_VERSION_NUM >= 190000
	Buffer		map = InvalidBuffer;

	heap_page_prune_opt(rel, buffer, &map, false);
	if (BufferIsValid(map))
		ReleaseBuffer(map);
#else
	heap_page_prune_opt(rel, buffer);
#endif
}

/* 18: another argument, for EXPLAIN; 19: flags. Begin an index scan with a number of keys. */
static inline IndexScanDesc
emogi_compat_begin_index(Relation heap, Relation index, Snapshot snapshot, int nkeys)
{
#if PG_VERSION_NUM >= 190000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0, SO_NONE);
#elif PG_VERSION_NUM >= 180000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0);
#else
	return index_beginscan(heap, index, snapshot, nkeys, 0);
#endif
}

/*
 * 19: index_rescan keeps the last page of the heap and of its visibility map pinned. Release them,
 * with the resource owner that they were pinned by.
 */
static inline void
emogi_compat_release_heap(IndexScanDesc scan)
{
#if PG_VERSION_NUM >= 190000
	table_index_fetch_end(scan->xs_heapfetch);
	scan->xs_heapfetch = table_index_fetch_begin(scan->heapRelation, SO_NONE);
#endif
}

#endif							/* EMOGI_COMPAT_STORAGE_H */
