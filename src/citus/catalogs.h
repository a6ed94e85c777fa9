/*
 * catalogs.h: access to the catalogs of Citus, for the files in this folder.
 */
#ifndef EMOGI_CATALOGS_H
#define EMOGI_CATALOGS_H

#include "access/genam.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* A scan of a catalog. */
typedef struct EmogiCitusRows
{
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	row;			/* current row; valid until the next one */
} EmogiCitusRows;

extern Oid	emogi_citus_catalog(const char *name);
extern bool emogi_citus_are_known(void);
extern EmogiCitusRows emogi_citus_open(const char *catalog, Snapshot snapshot);
extern EmogiCitusRows emogi_citus_open_some(const char *catalog, const char *index,
											const char *column, RegProcedure equal, Datum value,
											Snapshot snapshot);
extern bool emogi_citus_next(EmogiCitusRows *rows);
extern Datum emogi_citus_column(const EmogiCitusRows *rows, const char *name);
extern void emogi_citus_close(EmogiCitusRows *rows);

#endif							/* EMOGI_CATALOGS_H */
