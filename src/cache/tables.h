/*
 * tables.h: the tables that are tracked, for recent_writers.c; see tables.c.
 */
#ifndef EMOGI_TABLES_H
#define EMOGI_TABLES_H

#include "cache/cache.h"

#define EMOGI_RING_HARMLESS 128

/* A table that is tracked. From `recovery` on it is recent_writers.c's. */
typedef struct EmogiTable
{
	Oid			relid;			/* InvalidOid = the entry is free */
	Oid			database;
	dlist_node	chain;			/* in the bucket of its name, unless it is free */
	/* in EmogiTables.idle without references, in .free when it is free */
	dlist_node	rest;
	int			references;		/* Graphs that stand on it, those that are being built included */
	bool		published;		/* one of them was since one was displaced: the last reference takes
								 * the entry with it */
	bool		unwanted;		/* the same for another reason */
	bool		told;			/* other servers were told what has changed: it stays for longer
								 * without a reference */
	TimestampTz idle_since;
	uint64		number;			/* never used twice while the server runs */

	bool		recovery;		/* tracked on a standby */
	uint64		registered;		/* R; PG_UINT64_MAX = not yet */

	int			nharmless;		/* -1 = unknown */
	uint64		harmless_xmax;	/* all from here on are harmless, ... */
	uint64		harmless[EMOGI_RING_HARMLESS];	/* ... and these, ascending */

	uint64		dropped_max;	/* highest that was dropped after it had ended; 0 = none */
	uint64		dropped_next;	/* next transaction id when that was last done */
	uint64		lost_max;		/* highest that was dropped while it was running; 0 = none */
	uint64		nclears;		/* how often some were dropped */
	int			nwriters;
	uint64		writers[EMOGI_RING_WRITERS];	/* full transaction ids, in order of their commits
												 * or so */
} EmogiTable;

typedef struct EmogiTables
{
	pg_atomic_uint32 ntracked;	/* entries that are not free; read without lock */
	bool		any_recovery;
	uint32		nused;			/* entries [0, nused) are set up */
	dlist_head	free;
	dlist_head	idle;			/* the one that has been longest without reference first */
	dlist_head	told;			/* the same, of those that other servers were told of */
	uint64		nnumbers;		/* given out */
	uint8		epoch[EMOGI_EPOCH_BYTES];	/* of these entries, random: another start of a server
											 * has another */
	EmogiTable	tables[FLEXIBLE_ARRAY_MEMBER];	/* [max_tables()] */
} EmogiTables;

extern EmogiTables *emogi_tables;

/* Caller holds cache_lock exclusively, or, to find one, in any way. */
extern EmogiTable *emogi_tables_find(Oid database, Oid relid);
extern EmogiTable *emogi_tables_add(Oid relid);
extern void emogi_tables_let_go_idle(void);

/* Is a table of this database perhaps tracked? Needs no lock. */
extern bool emogi_tables_may_have(Oid relid);

#endif							/* EMOGI_TABLES_H */
