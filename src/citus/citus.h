/*
 * citus.h: metadata of Citus tables.
 *
 * catalogs.c      reads the catalogs of Citus (catalogs.h), and tells which tables are in them
 * shards.c        where their rows are
 * citus_conninfo.c         the options with which Citus connects to a node
 *
 * The heap of a Citus table is empty; its rows are in shards, which are tables on this server or on
 * others. Without the extension, these functions only cost a syscache lookup.
 */
#ifndef EMOGI_CITUS_H
#define EMOGI_CITUS_H

#include "nodes/pg_list.h"
#include "utils/snapshot.h"

/* ---- catalogs.c ---- */

extern bool emogi_citus_may_have_tables(void);
extern bool emogi_citus_is_table(Oid relid);
extern bool emogi_citus_is_catalog(Oid relid);
extern bool emogi_citus_is_shard(Oid relid);

/* ---- shards.c ---- */

/* A node that has shards. */
typedef struct EmogiCitusNode
{
	int32		id;
	int32		group;			/* the group whose primary it is */
	const char *host;
	int32		port;
	bool		is_own;			/* it is this server */
	int			nshards;		/* number of shards that are read there */
} EmogiCitusNode;

/* A shard, and the node on which it is read. */
typedef struct EmogiCitusShard
{
	Oid			relid;			/* the distributed table */
	const char *name;			/* name of the shard on the node, in a schema of the same name as
								 * the table's */
	EmogiCitusNode *node;		/* shared by all shards that are read there */
} EmogiCitusShard;

extern bool emogi_citus_list_shards(List *relids, List **shards);
extern bool emogi_citus_snapshot_sees_shards(Oid relid, Snapshot snapshot);

/* ---- citus_conninfo.c ---- */

extern bool emogi_citus_is_loaded(void);
extern bool emogi_citus_is_inside(void);
extern int emogi_citus_timeout_ms(void);
extern const char *emogi_citus_conninfo(void);
extern const char *emogi_citus_authinfo(const EmogiCitusNode *node, const char *role);

#endif							/* EMOGI_CITUS_H */
