/*
 * join_lookup.h: what join_lookup_plan.c plans and join_lookup.c carries out: a join with a call's
 * rows by `vertex`, in which each outer row looks its vertex up in the result of one run.
 *
 * A plan's custom_exprs: as a scan's, then the outer expression that `vertex` is equal to, then a
 * list of the clauses that must hold beside that. custom_private as a scan's up to the places, then
 * an integer list: the number of the outer plan's columns, and the JoinType. custom_scan_tlist: the
 * outer plan's columns, then those of the call.
 */
#ifndef EMOGI_JOIN_LOOKUP_H
#define EMOGI_JOIN_LOOKUP_H

#include "scan_node/scan_node.h"

/* The place of that list. */
#define EMOGI_PLAN_JOIN EMOGI_PLAN_ORDER

extern const CustomScanMethods emogi_lookup_methods;

#endif							/* EMOGI_JOIN_LOOKUP_H */
