/*
 * shards.c: location of the rows of Citus tables.
 *
 * A table has shards, and each shard has placements on one or more groups of nodes, all with the
 * same rows. A shard is read on the primary of a group. All catalogs are read under one snapshot,
 * so concurrent splits and moves of shards are seen either before or after.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "contract/sort_order.h"
#include "citus/catalogs.h"
#include "citus/citus.h"

/* Values of pg_dist_placement.shardstate and pg_dist_shard.shardstorage. */
#define PLACEMENT_IS_ACTIVE 1
#define SHARD_IS_TABLE 't'

/* A copy of a shard. */
typedef struct Placement
{
	int64		id;
	EmogiCitusNode *node;
} Placement;

/* ---- nodes ---- */

/* Check whether a node is the primary of its group. */
static bool
is_primary(const EmogiCitusRows *rows)
{
	const Oid	type = get_atttype(RelationGetRelid(rows->rel),
								   get_attnum(RelationGetRelid(rows->rel), "noderole"));
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return strcmp(OidOutputFunctionCall(output, emogi_citus_column(rows, "noderole")),
				  "primary") == 0;
}

/* Get the group of this server; -1 if unknown. */
static int32
own_group(Snapshot snapshot)
{
	EmogiCitusRows rows = emogi_citus_open("pg_dist_local_group", snapshot);
	const int32 group = emogi_citus_next(&rows)
		? DatumGetInt32(emogi_citus_column(&rows, "groupid")) : -1;

	emogi_citus_close(&rows);
	return group;
}

/* List the active primaries. */
static List *
list_nodes(Snapshot snapshot)
{
	List	   *nodes = NIL;
	const int32 own = own_group(snapshot);
	EmogiCitusRows rows = emogi_citus_open("pg_dist_node", snapshot);

	while (emogi_citus_next(&rows))
	{
		EmogiCitusNode *node;

		if (!DatumGetBool(emogi_citus_column(&rows, "isactive")) || !is_primary(&rows))
			continue;
		node = palloc0(sizeof *node);
		node->id = DatumGetInt32(emogi_citus_column(&rows, "nodeid"));
		node->group = DatumGetInt32(emogi_citus_column(&rows, "groupid"));
		node->host = TextDatumGetCString(emogi_citus_column(&rows, "nodename"));
		node->port = DatumGetInt32(emogi_citus_column(&rows, "nodeport"));
		node->is_own = node->group == own;
		nodes = lappend(nodes, node);
	}
	emogi_citus_close(&rows);
	return nodes;
}

/* Find the active primary of a group; NULL if there is none. */
static EmogiCitusNode *
primary_of(List *nodes, int32 group)
{
	ListCell   *cell;

	foreach(cell, nodes)
		if (((EmogiCitusNode *) lfirst(cell))->group == group)
			return lfirst(cell);
	return NULL;
}

/*
 * Check whether a node is accessed by a connection pooler, which does not reset session settings
 * and has its own limits.
 */
static bool
has_pooler(const EmogiCitusNode *node, Snapshot snapshot)
{
	const Oid	catalog = emogi_citus_catalog("pg_dist_poolinfo");
	EmogiCitusRows rows;
	bool		has;

	if (!OidIsValid(catalog) || get_attnum(catalog, "nodeid") == InvalidAttrNumber)
		return false;
	rows = emogi_citus_open_some("pg_dist_poolinfo", "pg_dist_poolinfo_pkey", "nodeid", F_INT4EQ,
								 Int32GetDatum(node->id), snapshot);
	has = emogi_citus_next(&rows);
	emogi_citus_close(&rows);
	return has;
}

/* ---- shards ---- */

/*
 * Get the name of a shard: the name of the table with a number or, if that is too long, a prefix of
 * it with a hash and the number.
 */
static char *
name_shard(const char *table, int64 id)
{
	char		number[NAMEDATALEN];
	const int	length = strlen(table);
	int			nnumber;

	snprintf(number, sizeof number, "_" UINT64_FORMAT, (uint64) id);
	nnumber = strlen(number);
	if (length + nnumber < NAMEDATALEN)
		return psprintf("%s%s", table, number);
	return psprintf("%.*s_%.8x%s", pg_mbcliplen(table, length, NAMEDATALEN - nnumber - 10), table,
					hash_bytes((const unsigned char *) table, length), number);
}

/*
 * Check whether a placement is better than another: first on this server, then on the node with
 * fewer shards to read so far, then the older one.
 */
static bool
is_better(const Placement *placement, const Placement *other)
{
	if (placement->node->is_own != other->node->is_own)
		return placement->node->is_own;
	if (placement->node->nshards != other->node->nshards)
		return placement->node->nshards < other->node->nshards;
	return placement->id < other->id;
}

/* Choose the best placement of a shard; NULL if there is none. */
static EmogiCitusNode *
choose_node(List *nodes, int64 shard, Snapshot snapshot)
{
	Placement	best = {0};
	EmogiCitusRows rows = emogi_citus_open_some("pg_dist_placement",
												"pg_dist_placement_shardid_index", "shardid",
												F_INT8EQ, Int64GetDatum(shard), snapshot);

	while (emogi_citus_next(&rows))
	{
		const Placement placement = {
			DatumGetInt64(emogi_citus_column(&rows, "placementid")),
			primary_of(nodes, DatumGetInt32(emogi_citus_column(&rows, "groupid")))
		};

		if (placement.node == NULL ||
			DatumGetInt32(emogi_citus_column(&rows, "shardstate")) != PLACEMENT_IS_ACTIVE)
			continue;
		if (best.node == NULL || is_better(&placement, &best))
			best = placement;
	}
	emogi_citus_close(&rows);
	return best.node;
}

/* List the ids of a table's shards, ascending; NULL if one of them is not a table. */
static int64 *
list_ids(Oid relid, Snapshot snapshot, int *count)
{
	int			capacity = 64;
	int64	   *ids = palloc(capacity * sizeof *ids);
	bool		are_tables = true;
	EmogiCitusRows rows = emogi_citus_open_some("pg_dist_shard",
												"pg_dist_shard_logical_relid_index", "logicalrelid",
												F_OIDEQ, ObjectIdGetDatum(relid), snapshot);

	*count = 0;
	while (emogi_citus_next(&rows))
	{
		if (*count == capacity)
			ids = repalloc(ids, (capacity *= 2) * sizeof *ids);
		ids[(*count)++] = DatumGetInt64(emogi_citus_column(&rows, "shardid"));
		are_tables &= DatumGetChar(emogi_citus_column(&rows, "shardstorage")) == SHARD_IS_TABLE;
	}
	emogi_citus_close(&rows);
	qsort(ids, *count, sizeof *ids, emogi_compare_int64);
	return are_tables ? ids : NULL;
}

/*
 * Append the shards of a table to a list; false if one of them has no placement that can be read.
 */
static bool
add_shards(Oid relid, List *nodes, Snapshot snapshot, List **shards)
{
	const char *table = get_rel_name(relid);
	int			count;
	int64	   *ids = list_ids(relid, snapshot, &count);

	if (ids == NULL || table == NULL)
		return false;
	for (int i = 0; i < count; i++)
	{
		EmogiCitusShard *shard = palloc(sizeof *shard);

		shard->relid = relid;
		shard->name = name_shard(table, ids[i]);
		shard->node = choose_node(nodes, ids[i], snapshot);
		if (shard->node == NULL ||
			(shard->node->nshards++ == 0 && has_pooler(shard->node, snapshot)))
			return false;
		*shards = lappend(*shards, shard);
	}
	return true;
}

/*
 * List the shards of locked Citus tables as EmogiCitusShard, each with one of the nodes that have
 * it. False if only Citus can read them: a node is unavailable or has a pooler, a shard is not a
 * table, or the catalogs are unknown.
 */
bool
emogi_citus_list_shards(List *relids, List **shards)
{
	Snapshot	snapshot;
	List	   *nodes;
	bool		may = true;
	ListCell   *cell;

	*shards = NIL;
	if (!emogi_citus_is_loaded() || !emogi_citus_are_known())
		return false;
	/* GetLatestSnapshot fails in parallel mode */
	snapshot = RegisterSnapshot(GetNonHistoricCatalogSnapshot(InvalidOid));
	nodes = list_nodes(snapshot);
	foreach(cell, relids)
		may = may && add_shards(lfirst_oid(cell), nodes, snapshot, shards);
	UnregisterSnapshot(snapshot);
	return may;
}

/* ---- visibility of shards ---- */

/*
 * Describe the location of the rows of a table as of a snapshot; empty if it is not a Citus table.
 */
static char *
describe(Oid relid, Snapshot snapshot)
{
	int			count;
	int64	   *ids = list_ids(relid, snapshot, &count);
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; ids != NULL && i < count; i++)
	{
		EmogiCitusRows rows = emogi_citus_open_some("pg_dist_placement",
													"pg_dist_placement_shardid_index", "shardid",
													F_INT8EQ, Int64GetDatum(ids[i]), snapshot);

		appendStringInfo(&text, " " INT64_FORMAT ":", ids[i]);
		while (emogi_citus_next(&rows))
			appendStringInfo(&text, " " INT64_FORMAT " %d",
							 DatumGetInt64(emogi_citus_column(&rows, "placementid")),
							 DatumGetInt32(emogi_citus_column(&rows, "groupid")));
		emogi_citus_close(&rows);
	}
	return text.data;
}

/*
 * Check whether a snapshot sees the current location of a table's shards. Citus plans by the latest
 * contents of its catalogs, but reads a local shard under the statement's snapshot, which sees an
 * empty shard if it was created later.
 */
bool
emogi_citus_snapshot_sees_shards(Oid relid, Snapshot snapshot)
{
	Snapshot	newest;
	bool		is_seen;

	if (!emogi_citus_is_loaded() || !emogi_citus_are_known())
		return true;
	newest = RegisterSnapshot(GetNonHistoricCatalogSnapshot(InvalidOid));
	is_seen = strcmp(describe(relid, snapshot), describe(relid, newest)) == 0;
	UnregisterSnapshot(newest);
	return is_seen;
}
