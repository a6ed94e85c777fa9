/*
 * citus_source.c: graphs of Citus tables, whose shards are read from their nodes over connections
 * of their own (../remote)
 */
#include "postgres.h"

#include "citus/citus.h"
#include "graph_source/graph_source.h"
#include "remote/remote.h"

/* Recognize a relation with shards that can be read over connections of their own. */
static bool
takes_relation(EmogiGraphSource *source, List *relids)
{
	bool		has_shards = false;
	ListCell   *cell;

	foreach(cell, relids)
		has_shards |= emogi_citus_is_table(lfirst_oid(cell));
	return has_shards &&
		emogi_remote_list(source->source, relids, &source->tables, &source->elsewhere);
}

const EmogiGraphSourceKind emogi_graph_source_citus = {
	.name = "Citus table",
	.takes_relation = takes_relation,
	.connect = emogi_graph_source_connect,
	.disconnect = emogi_graph_source_disconnect,
	.abort = emogi_remote_close,
	.version = emogi_graph_source_remote_version,
	.scan = emogi_graph_source_scan_remote,
	.estimate_rows = emogi_graph_source_planned_rows
};
