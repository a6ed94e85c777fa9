/*
 * catalog_visibility.h: whether a snapshot sees the current catalog entries, for snapshot.c
 */
#ifndef EMOGI_CATALOG_VISIBILITY_H
#define EMOGI_CATALOG_VISIBILITY_H

#include "source/source.h"

extern bool emogi_catalog_visibility_name(List *name, Oid relid, Snapshot snapshot);
extern bool emogi_catalog_visibility_relation(Oid relid, Snapshot snapshot, bool *childless);
extern bool emogi_catalog_visibility_column(HeapTuple newest, Snapshot snapshot);
extern bool emogi_catalog_visibility_columns(Oid relid, List *names, Snapshot snapshot);
extern bool emogi_catalog_visibility_rule(Oid relid, Snapshot snapshot);
extern bool emogi_catalog_visibility_list_children(Oid parent, Snapshot snapshot, List **relids);
extern bool emogi_catalog_visibility_children(Oid parent, Snapshot snapshot);

#endif							/* EMOGI_CATALOG_VISIBILITY_H */
