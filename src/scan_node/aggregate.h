/*
 * aggregate.h: aggregates of one call's rows, planned by upper_paths.c and executed by aggregate.c
 *
 * The last element of a plan's custom_private (EMOGI_PLAN_UPPER) is a list. Its first element is an
 * integer list: the number of the grouping column (0 = none), and whether different keys must have
 * different text. Then follows one integer list for each column of custom_scan_tlist: an
 * EmogiOutput and the number of the column that it aggregates. custom_scan_tlist contains the
 * Aggref of each aggregate.
 */
#ifndef EMOGI_AGGREGATE_H
#define EMOGI_AGGREGATE_H

typedef enum EmogiOutput
{
	EMOGI_OUTPUT_GROUP,			/* value of the grouping column */
	EMOGI_OUTPUT_GROUPS,		/* number of groups; there is one result row for all rows */
	EMOGI_OUTPUT_COUNT,
	EMOGI_OUTPUT_MIN,
	EMOGI_OUTPUT_MAX,
	EMOGI_OUTPUT_SUM,
	EMOGI_OUTPUT_AVG
} EmogiOutput;

#endif							/* EMOGI_AGGREGATE_H */
