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
	return emogi_graph_source_takes_remote(source, relids, emogi_citus_is_table);
}

const EmogiGraphSourceKind emogi_graph_source_citus = {
	.name = "Citus table",
	.takes_relation = takes_relation,
	EMOGI_REMOTE_SOURCE
};
