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

/* ---- literal_values.c ---- */

/* The literals of a text, and the constants that they became. */
typedef struct EmogiLiteralPlaces
{
	EmogiTextLiterals texts;
	bool		can_differ;		/* one of them can have another value */
	List	   *places[EMOGI_MAX_LITERALS]; /* Const *; NIL = the literal must be the same */
} EmogiLiteralPlaces;

extern void emogi_literal_values_find(const char *text, int offset, List *trees, List *folded,
									  EmogiLiteralPlaces *literals);
extern bool emogi_literal_values_differ(const char *text, const EmogiTextLiterals *texts,
										const char *known_text, const EmogiLiteralPlaces *known);
extern const Const **emogi_literal_values_read(const char *text, const EmogiTextLiterals *texts,
											   const EmogiLiteralPlaces *known);
extern void emogi_literal_values_put(const Const *const *values,
									 const EmogiLiteralPlaces *literals);
extern bool emogi_literal_values_are_equal(const Const *a, const Const *b);
extern void emogi_literal_values_set(List *constants, const Const *value);

/* ---- literals.c ---- */

extern bool emogi_literals_may_name_time(const char *text);
extern EmogiLiteralLife emogi_literals_life(Query *query, const char *text);

#endif							/* EMOGI_KNOWN_ANALYSES_H */
