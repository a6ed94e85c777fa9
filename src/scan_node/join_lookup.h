/*
 * join_lookup.h: a join with a call's rows by `vertex`, in which each outer row looks up its vertex
 * in the result of one run; planned in join_lookup_plan.c, executed in join_lookup.c
 *
 * Layout of the plan:
 *
 * - custom_exprs: as for a scan, then the outer expression that `vertex` is equal to, then a list
 *   of the other join clauses.
 * - custom_private: as for a scan up to the places, then an integer list: the number of the outer
 *   plan's columns, and the JoinType.
 * - custom_scan_tlist: the outer plan's columns, then those of the call.
 */
#ifndef EMOGI_JOIN_LOOKUP_H
#define EMOGI_JOIN_LOOKUP_H

#include "scan_node/scan_node.h"

/* Index of that integer list. */
#define EMOGI_PLAN_JOIN EMOGI_PLAN_ORDER

extern const CustomScanMethods emogi_lookup_methods;

#endif							/* EMOGI_JOIN_LOOKUP_H */
