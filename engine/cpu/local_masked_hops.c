/*
 * local_masked_hops.c: local BFS over the edges that pass a mask, as in local_hops.c.
 */
#define HOPS_MASKED 1
#include "cpu/local_hops_body.h"
