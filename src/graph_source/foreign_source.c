/*
 * foreign_source.c: graphs of foreign tables, and of tables with foreign partitions or children,
 * over connections to their servers (../remote)
 *
 * The servers tell the version of their rows, so that the graph can be shared.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "utils/lsyscache.h"

#include "graph_source/graph_source.h"
#include "remote/remote.h"

/*
 * Recognize a relation of which some tables, those that are_remote, and perhaps others can be read
 * over connections of their own.
 */
bool
emogi_graph_source_takes_remote(EmogiGraphSource *source, List *relids, bool (*is_remote) (Oid))
{
	ListCell   *cell;

	foreach(cell, relids)
		if (is_remote(lfirst_oid(cell)))
			return emogi_remote_list(source->source, relids, &source->tables,
									 &source->elsewhere);
	return false;
}

/* Is this a foreign table? */
static bool
is_foreign(Oid relid)
{
	return get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE;
}

/* Recognize a relation with foreign tables that can be read over connections of their own. */
static bool
takes_relation(EmogiGraphSource *source, List *relids)
{
	return emogi_graph_source_takes_remote(source, relids, is_foreign);
}

/* Prepare the connections to the servers. Raises 54001, 42704, 22023 and 40001. */
void
emogi_graph_source_connect(EmogiCall *call, EmogiGraphSource *source)
{
	source->connection = emogi_remote_open(call, source->source, source->elsewhere);
}

/* Release the connections to the servers. */
void
emogi_graph_source_disconnect(EmogiGraphSource *source)
{
	emogi_remote_release(source->connection);
	source->connection = NULL;
}

/* Ask the servers for the version of their rows; see EmogiGraphSourceKind. */
const char *
emogi_graph_source_remote_version(EmogiGraphSource *source, uint8 *fingerprint)
{
	return emogi_remote_get_fingerprint(source->connection, fingerprint);
}

/* Read the servers' tables, and the heaps besides. */
void
emogi_graph_source_scan_remote(EmogiCall *call, EmogiGraphSource *source, EmogiWeights weights,
							   bool careful, const struct EmogiPageScans *notes)
{
	emogi_remote_read(source->connection, source->source, source->tables, weights, careful);
}

const EmogiGraphSourceKind emogi_graph_source_foreign = {
	.name = "foreign table",
	.takes_relation = takes_relation,
	EMOGI_REMOTE_SOURCE
};
