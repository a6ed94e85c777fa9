/*
 * papers.h: the settings of the systems of the papers; see papers.c.
 */
#ifndef EMOGI_PAPERS_SETTINGS_H
#define EMOGI_PAPERS_SETTINGS_H

#include "contract/engine.h"

extern int	emogi_mapping;			/* EmogiMapping */
extern bool emogi_prefetch;		/* placement managed: all edges go to the GPU before the run */
extern bool emogi_asynchronous;	/* placement staged: what was brought is used until nothing there changes */

extern void emogi_papers_define(void);
extern const char *emogi_papers_mapping_name(EmogiMapping mapping);

#endif							/* EMOGI_PAPERS_SETTINGS_H */
