/*
 * known_analyses.h: query analyses that this session has made before, for analysis.c
 */
#ifndef EMOGI_KNOWN_ANALYSES_H
#define EMOGI_KNOWN_ANALYSES_H

#include "analysis/analysis_internal.h"

extern EmogiQueryAnalysis *emogi_known_analyses_find(const EmogiSource *source, const char *text,
													 EmogiAnalysisPurpose purpose);
extern EmogiQueryAnalysis *emogi_known_analyses_keep(EmogiAnalysisState *state);
extern bool emogi_known_analyses_are_seen(const EmogiQueryAnalysis *analysis);
extern void emogi_known_analyses_note_seen(const EmogiQueryAnalysis *analysis);

extern void emogi_known_analyses_set_cost(const EmogiQueryAnalysis *analysis, double nrows,
										  double cost);

/* ---- literals.c ---- */

extern EmogiLiteralLife emogi_literals_life(Query *query, const char *text);

#endif							/* EMOGI_KNOWN_ANALYSES_H */
