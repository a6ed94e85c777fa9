/*
 * catalog_changes.h: number of catalog changes that this session knows of
 */
#ifndef EMOGI_CATALOG_CHANGES_H
#define EMOGI_CATALOG_CHANGES_H

extern uint64 emogi_catalog_changes_count(void);

#endif							/* EMOGI_CATALOG_CHANGES_H */
