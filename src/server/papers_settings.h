/*
 * papers_settings.h: the settings of the papers' systems, that a GPU's own kernels are compared with.
 */
#ifndef EMOGI_PAPERS_SETTINGS_H
#define EMOGI_PAPERS_SETTINGS_H

#include "contract/papers.h"

/* Define emogi.mapping, emogi.prefetch and emogi.asynchronous; called once, in the postmaster. */
extern void emogi_papers_define_settings(void);

/* Get what they ask of a query. */
extern EmogiPapersQuery emogi_papers_query(void);

/* Get what emogi.mapping calls a mapping. */
extern const char *emogi_papers_mapping_name(EmogiMapping mapping);

#endif							/* EMOGI_PAPERS_SETTINGS_H */
