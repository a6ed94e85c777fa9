/*
 * seen.h: what snapshot.c asks of the catalogs under a snapshot.
 */
#ifndef EMOGI_SEEN_H
#define EMOGI_SEEN_H

#include "server/emogi.h"

extern bool emogi_sees_name(List *name, Oid relid, Snapshot snapshot);
extern bool emogi_sees_relation(Oid relid, Snapshot snapshot, bool *childless);
extern bool emogi_sees_column(HeapTuple newest, Snapshot snapshot);
extern bool emogi_sees_columns(Oid relid, char *const names[3], Snapshot snapshot);
extern bool emogi_sees_rule(Oid relid, Snapshot snapshot);
extern bool emogi_sees_list_children(Oid parent, Snapshot snapshot, List **relids);
extern bool emogi_sees_children(Oid parent, Snapshot snapshot);

#endif							/* EMOGI_SEEN_H */
