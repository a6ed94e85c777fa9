/*
 * seen.h: what snapshot.c asks of the catalogs under a snapshot.
 */
#ifndef EMOGI_SEEN_H
#define EMOGI_SEEN_H

#include "source/source.h"

extern bool emogi_seen_name(List *name, Oid relid, Snapshot snapshot);
extern bool emogi_seen_relation(Oid relid, Snapshot snapshot, bool *childless);
extern bool emogi_seen_column(HeapTuple newest, Snapshot snapshot);
extern bool emogi_seen_columns(Oid relid, List *names, Snapshot snapshot);
extern bool emogi_seen_rule(Oid relid, Snapshot snapshot);
extern bool emogi_seen_list_children(Oid parent, Snapshot snapshot, List **relids);
extern bool emogi_seen_children(Oid parent, Snapshot snapshot);

#endif							/* EMOGI_SEEN_H */
