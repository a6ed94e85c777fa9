/*
 * aggregate.h: what upper.c plans and aggregate.c carries out: aggregates of one call's rows.
 *
 * Last in a plan's custom_private (EMOGI_PLAN_UPPER) is a list: first an integer list of the place of the column of groups (0 = there are
 * none) and of whether keys that differ must have different text, then for each column of custom_scan_tlist one of an EmogiOutput and the place of the column that it is about. What is computed for
 * an aggregate stands in custom_scan_tlist as its Aggref.
 */
#ifndef EMOGI_AGGREGATE_H
#define EMOGI_AGGREGATE_H

typedef enum EmogiOutput
{
	EMOGI_OUTPUT_GROUP,			/* the value of the column of groups */
	EMOGI_OUTPUT_GROUPS,		/* how many groups there are: then all rows are one after all */
	EMOGI_OUTPUT_COUNT,
	EMOGI_OUTPUT_MIN,
	EMOGI_OUTPUT_MAX,
	EMOGI_OUTPUT_SUM,
	EMOGI_OUTPUT_AVG
} EmogiOutput;

#endif							/* EMOGI_AGGREGATE_H */
