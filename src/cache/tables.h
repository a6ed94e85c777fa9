/*
 * tables.h: the tracked tables, for recent_writers.c, and their OIDs; see tables.c
 */
#ifndef EMOGI_TABLES_H
#define EMOGI_TABLES_H

#include "cache/cache.h"

#define EMOGI_HARMLESS_WRITERS 128

/* A tracked table. The fields from `recovery` on belong to recent_writers.c. */
typedef struct EmogiTable
{
	Oid			relid;			/* InvalidOid = the entry is free */
	Oid			database;
	dlist_node	chain;			/* in its hash bucket, unless it is free */
	/* in EmogiTables.idle or .stamped if it has no references, in .free if it is free */
	dlist_node	rest;
	int			references;		/* graphs on it, including those that are being built */
	bool		published;		/* a graph on it was published since one was evicted to make room:
								 * the last reference frees the entry */
	bool		unwanted;		/* the last reference frees the entry, for another reason */
	bool		stamped;		/* other servers were given stamps of it: it stays longer without a
								 * reference */
	TimestampTz idle_since;
	uint64		number;			/* never reused while the server runs */

	bool		recovery;		/* tracked on a standby */
	uint64		registered;		/* R; PG_UINT64_MAX = not yet */

	int			nharmless;		/* -1 = unknown */
	uint64		harmless_xmax;	/* all transactions from here on are harmless, ... */
	uint64		harmless[EMOGI_HARMLESS_WRITERS];	/* ... and these, ascending */

	uint64		dropped_max;	/* highest one dropped after it had ended; 0 = none */
	uint64		dropped_next;	/* next transaction id at that time */
	uint64		lost_max;		/* highest one dropped while it was running; 0 = none */
	uint64		nclears;		/* how often some were dropped */
	int			nwriters;
	uint64		writers[EMOGI_RECENT_WRITERS];	/* full transaction ids, approximately in commit
												 * order */
} EmogiTable;

typedef struct EmogiTables
{
	pg_atomic_uint32 ntracked;	/* entries that are not free; read without a lock */
	bool		any_recovery;
	uint32		nused;			/* entries [0, nused) are set up */
	dlist_head	free;
	dlist_head	idle;			/* the one idle for longest first */
	dlist_head	stamped;		/* likewise, entries with `stamped` set */
	uint64		nnumbers;		/* numbers assigned so far */
	uint8		epoch[EMOGI_EPOCH_BYTES];	/* random; different after each server start */
	EmogiTable	tables[FLEXIBLE_ARRAY_MEMBER];	/* [max_tables()] */
} EmogiTables;

extern EmogiTables *emogi_tables;

/* Caller holds cache_lock: exclusively, or in any mode for find. */
extern EmogiTable *emogi_tables_find(Oid database, Oid relid);
extern EmogiTable *emogi_tables_add(Oid relid);
extern void emogi_tables_free_idle(void);

/* May a table of this database be tracked? Needs no lock. */
extern bool emogi_tables_may_have(Oid relid);

/* Get the table of an entry that has a reference. */
static inline Oid
emogi_tables_relid(int table)
{
	return emogi_tables->tables[table].relid;
}

#endif							/* EMOGI_TABLES_H */
