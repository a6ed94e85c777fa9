/*
 * citus.h: what the catalogs of Citus say.
 *
 * catalogs.c reads rows of them (catalogs.h). citus_tables.c tells which tables are Citus's, and shards.c where their rows are; login.c says with what options Citus would connect there.
 *
 * The heap of a Citus table is empty: its rows are in shards, tables of other servers or of this one. All this is of no use where the
 * extension is not there, and costs a look into a cache then.
 */
#ifndef EMOGI_CITUS_H
#define EMOGI_CITUS_H

#include "nodes/pg_list.h"
#include "utils/snapshot.h"

/* ---- citus_tables.c ---- */

extern bool emogi_citus_is_table(Oid relid);
extern bool emogi_citus_is_catalog(Oid relid);
extern bool emogi_citus_is_shard(Oid relid);

/* ---- shards.c ---- */

/* A node that has shards. */
typedef struct EmogiCitusNode
{
	int32		id;
	int32		group;			/* of which it is the primary */
	const char *host;
	int32		port;
	bool		is_own;			/* it is this server */
	int			nshards;		/* that are read there */
} EmogiCitusNode;

/* A shard, and where it is read. */
typedef struct EmogiCitusShard
{
	Oid			relid;			/* the table that it is of */
	const char *name;			/* there, in a schema of the table's name */
	EmogiCitusNode *node;		/* the same one for all shards that are read there */
} EmogiCitusShard;

extern bool emogi_citus_list_shards(List *relids, List **shards);
extern bool emogi_citus_is_seen(Oid relid, Snapshot snapshot);

/* ---- login.c ---- */

extern bool emogi_citus_is_loaded(void);
extern bool emogi_citus_is_inside(void);
extern int emogi_citus_timeout_ms(void);
extern const char *emogi_citus_conninfo(void);
extern const char *emogi_citus_authinfo(const EmogiCitusNode *node, const char *role);

#endif							/* EMOGI_CITUS_H */
