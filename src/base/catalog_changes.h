/*
 * catalog_changes.h: number of catalog changes that this session knows of
 */
#ifndef EMOGI_CATALOG_CHANGES_H
#define EMOGI_CATALOG_CHANGES_H

typedef struct EmogiCatalogChanges
{
	bool		is_watching;
	uint64		count;
} EmogiCatalogChanges;

extern EmogiCatalogChanges emogi_catalog_changes;

extern void emogi_catalog_changes_watch(void);

/*
 * Get the number of changes that have been accepted (AcceptInvalidationMessages); counting starts
 * with the first call.
 */
static inline uint64
emogi_catalog_changes_count(void)
{
	if (!emogi_catalog_changes.is_watching)
		emogi_catalog_changes_watch();
	return emogi_catalog_changes.count;
}

#endif							/* EMOGI_CATALOG_CHANGES_H */
