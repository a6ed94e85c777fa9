/*
 * papers_settings.h: the settings of the papers' systems; see papers_settings.c
 */
#ifndef EMOGI_PAPERS_SETTINGS_H
#define EMOGI_PAPERS_SETTINGS_H

#include "contract/engine.h"

extern int	emogi_papers_mapping;	/* EmogiMapping */

extern void emogi_papers_define(void);
extern EmogiPapersQuery emogi_papers_query(void);
extern const char *emogi_papers_mapping_name(EmogiMapping mapping);

#endif							/* EMOGI_PAPERS_SETTINGS_H */
