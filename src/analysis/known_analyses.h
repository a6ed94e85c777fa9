/*
 * known_analyses.h: query analyses that this session has made before, for the files of this folder
 */
#ifndef EMOGI_KNOWN_ANALYSES_H
#define EMOGI_KNOWN_ANALYSES_H

#include "pgtime.h"

#include "analysis/analysis_internal.h"

extern EmogiQueryAnalysis *emogi_known_analyses_find(const EmogiSource *source, const char *text,
													 EmogiAnalysisPurpose purpose);
extern EmogiQueryAnalysis *emogi_known_analyses_keep(EmogiAnalysisState *state);
extern bool emogi_known_analyses_are_seen(const EmogiQueryAnalysis *analysis);
extern void emogi_known_analyses_note_seen(const EmogiQueryAnalysis *analysis);

extern void emogi_known_analyses_set_cost(const EmogiQueryAnalysis *analysis, double nrows,
										  double cost);

/* ---- environment.c ---- */

#define EMOGI_ENVIRONMENT_STRINGS 5

/* The user, and the settings that an analysis depends on. */
typedef struct EmogiEnvironment
{
	Oid			userid;
	bool		row_security;
	bool		standard_strings;
	bool		null_equals;
	bool		array_nulls;
	bool		quotes_all;
	int			backslash_quote;
	int			date_style;
	int			date_order;
	int			interval_style;
	int			bytea_output;
	int			float_digits;
	int			gin_limit;
	const pg_tz *zone;			/* of a cache that lasts as long as the session */
	const char *strings[EMOGI_ENVIRONMENT_STRINGS];
} EmogiEnvironment;

extern void emogi_environment_get(EmogiEnvironment *environment);
extern bool emogi_environment_is(const EmogiEnvironment *before);

/* ---- literals.c ---- */

extern EmogiLiteralLife emogi_literals_life(Query *query, const char *text);

#endif							/* EMOGI_KNOWN_ANALYSES_H */
