/*
 * cost.h: calibration constants of the choice who answers a call, in microseconds
 *
 * The unit is one microsecond of one process, unless a name tells another. They hold for a virtual
 * machine with 2 cores of a Xeon at 2.5 GHz, graphs in memory. REQUEST, START, LABEL and GPU_SPEED
 * are estimates; bench/RESULTS.md has measurements behind the others. Only ratios matter for a
 * choice, and these vary little between machines.
 */
#ifndef EMOGI_ANSWER_COST_H
#define EMOGI_ANSWER_COST_H

/* ---- any call ---- */

#define EMOGI_COST_CALL_US 100.0	/* a call, with a request to the engine worker */
#define EMOGI_COST_REQUEST_US 80.0	/* a request to the engine worker */
#define EMOGI_COST_START_US 1.0	/* begin a search in the backend */

/* Units of the planner for a microsecond: 0.1 with the default cpu_operator_cost of 0.0025. */
#define EMOGI_COST_UNITS_PER_US (40 * cpu_operator_cost)

/* ---- the CPU engine ---- */

#define EMOGI_COST_EDGE_US (1.0 / 400)	/* an edge of BFS over the whole graph, all threads */
#define EMOGI_COST_SSSP_EDGE_US 0.04 /* an edge of SSSP over the whole graph, one thread */

/*
 * An edge read while a graph is built: by one process from a cold table, which is what the planner
 * assumes, ...
 */
#define EMOGI_COST_BUILD_EDGE_US 0.25
/*
 * ... and at its fastest, in edges per microsecond: without conditions, and with conditions that
 * are evaluated on each row; with few threads, so many a thread. These limit index searches, which
 * therefore end early rather than late.
 */
#define EMOGI_COST_EDGES_PER_US 64
#define EMOGI_COST_FILTERED_EDGES_PER_US 20
#define EMOGI_COST_EDGES_PER_THREAD_US 5
#define EMOGI_COST_FILTERED_EDGES_PER_THREAD_US 4

/* ---- GPUs ---- */

#define EMOGI_COST_GPU_SPEED 16	/* edges that a GPU scans in the time of one on the CPU */
/* with fewer edges, the CPU finishes before a GPU has registered the memory */
#define EMOGI_COST_GPU_MIN_EDGES 1048576

/* ---- local searches ---- */

#define EMOGI_COST_LOCAL_VERTEX_US 0.25	/* a vertex reached, with its row */

/*
 * A search gives up after nedges / SHARE edges, clamped to MIN_EDGES .. MAX_EDGES. Scanning
 * MIN_EDGES takes no longer than a request to the worker. Scanning MAX_EDGES takes as long as the
 * engine's answer to a bounded search of millions of vertices.
 */
#define EMOGI_COST_LOCAL_SHARE 64
#define EMOGI_COST_LOCAL_MIN_EDGES UINT64CONST(4096)
#define EMOGI_COST_LOCAL_MAX_EDGES UINT64CONST(16384)
/* edges that a search between two vertices may scan before the hierarchy is used */
#define EMOGI_COST_LOCAL_BEFORE_HIERARCHY UINT64CONST(512)

#define EMOGI_COST_LOCAL_MAX_SIMILAR 8	/* targets of a similarity search */
#define EMOGI_COST_LOCAL_MAX_DISTANCES 64	/* pairs of a distance matrix */

/*
 * Edges that may be read around vertices whose triangles or blocks are wanted: nedges / SHARE,
 * clamped to MIN_EDGES (as above) .. MAX_EDGES. The engine takes ten times as long for an edge of
 * the whole graph. It runs on a small graph of at most KEPT_EDGES, without a poll.
 */
#define EMOGI_COST_NEIGHBORHOOD_SHARE 8
#define EMOGI_COST_NEIGHBORHOOD_MAX_EDGES UINT64CONST(1048576)
#define EMOGI_COST_NEIGHBORHOOD_KEPT_EDGES UINT64CONST(65536)

/* ---- kept components ---- */

#define EMOGI_COST_LABEL_US 0.0005	/* copy the component of a vertex */

/* ---- a search for one path in the worker ---- */

/*
 * Above these limits, computing all distances with all threads is faster. The search scans edges of
 * long lists as fast as the threads do, so edges count little. Settling a vertex takes it as long
 * as the threads need for about 15 edges, so that a search in vain costs a twentieth of the run
 * that follows. A search is skipped if its limits are less than twice what has been scanned in
 * vain.
 */
#define EMOGI_COST_PATH_SHARE 16	/* 1/n of the edges; the planner expects this much, too */
#define EMOGI_COST_PATH_VERTICES 512	/* edges per settled vertex */
#define EMOGI_COST_PATH_MIN_EDGES UINT64CONST(65536)
#define EMOGI_COST_PATH_MIN_VERTICES UINT64CONST(256)

/* ---- trials at plan time: some microseconds; more if the search has a bound ---- */

#define EMOGI_COST_TRIAL_EDGES 1024
#define EMOGI_COST_TRIAL_BOUNDED_EDGES 4096

/* ---- searches from many sources in one pass ---- */

/* time of a pass for 64 sources, relative to a search from one of them; not only that of edges */
#define EMOGI_COST_BATCH_PASS 8
#define EMOGI_COST_BATCH_VERTEX_US (1.0 / 320)	/* a vertex in a pass, reached or not */
#define EMOGI_COST_LATERAL_US 20.0	/* a search of a few vertices in LATERAL, instead */
#define EMOGI_COST_BATCH_MIN_SOURCES 8	/* fewer gain nothing */
#define EMOGI_COST_BATCH_SHARE 8	/* answers may take 1/n of the memory that is allowed */
/* searches start from the targets if there are this many times as many sources */
#define EMOGI_COST_BATCH_REVERSE 2
/* the time of a batch that took this long is compared with that of single searches */
#define EMOGI_COST_BATCH_LONG_MS 20.0

/* ---- pairs searched one by one, see pair_budget.c ---- */

/*
 * A thread of the engine scans an edge EDGE_SHARE times as fast as a search from both ends, and
 * HOPS_SHARE times faster still by hops: see bench/RESULTS.md.
 */
#define EMOGI_COST_PAIR_EDGE_SHARE 4
#define EMOGI_COST_PAIR_HOPS_SHARE 4
/* edges that cost as much as settling a vertex, with weights and by hops */
#define EMOGI_COST_PAIR_VERTEX_EDGES 20
#define EMOGI_COST_PAIR_HOPS_VERTEX_EDGES 8
/*
 * Cost of a batch of 64 sources by hops, in single searches: it scans as many edges as 8 of these,
 * but takes 2.7 ms with 100,000 random edges and 20,000 vertices, as long as 120 searches from both
 * ends, which settle 25,000 vertices: the budget.
 */
#define EMOGI_COST_PAIR_BATCH_SEARCHES 64
/* 1/n of the budget by hops is for the first pairs; each found one releases its part of the rest */
#define EMOGI_COST_PAIR_FIRST_SHARE 8
#define EMOGI_COST_PAIR_MIN_EDGES UINT64CONST(4096) /* cost no more than waking the worker */
#define EMOGI_COST_PAIR_VERTICES 16	/* min cost of a search, in vertices */
#define EMOGI_COST_PAIR_TRIALS 8	/* pairs searched before all are estimated */
/* factor by which that estimate may exceed the rest of the budget, with weights and by hops */
#define EMOGI_COST_PAIR_SLACK 2.0
#define EMOGI_COST_PAIR_HOPS_SLACK 1.25
#define EMOGI_COST_PAIR_MAX_DISCOUNT 6
#define EMOGI_COST_GPU_THREADS 64	/* CPU threads as fast as a GPU */

#define EMOGI_COST_GROUP_MIN_PAIRS 4	/* smaller groups are searched pair by pair */
#define EMOGI_COST_GROUP_VERTICES 2	/* min cost for a pair of a group, in vertices */
/*
 * factor of the budget of a run by hops that is one group: the kept side outgrows the cache, and
 * the batch is a single search
 */
#define EMOGI_COST_GROUP_HOPS_BUDGET 0.4
/*
 * ... and with weights, of its edges and vertices: the batch scans and settles these not so much
 * faster that a group should end sooner, and its first pair tells if it must
 */
#define EMOGI_COST_GROUP_EDGES_BUDGET 3
#define EMOGI_COST_GROUP_VERTICES_BUDGET 8
#define EMOGI_COST_GROUP_SHARE 0.4	/* share of the budget that a group may spend in vain */
/* factor of the first pair's part of the budget, up to GROUP_SHARE */
#define EMOGI_COST_GROUP_PROBE 4.0
/* a group of n costs at most this * sqrt(n) single searches, without weights and with them */
#define EMOGI_COST_GROUP_HOPS_SAVING 2.6
#define EMOGI_COST_GROUP_SAVING 2.0
/*
 * share of the budget; a group expected to cost more than that, and more than the batch if searched
 * pair by pair, is left to the batch
 */
#define EMOGI_COST_GROUP_MAX 0.6
#define EMOGI_COST_GROUP_SLACK 1.25	/* factor by which a group may exceed its expected cost */
/* a group may always settle min(LOCAL_VERTICES, nvertices / LOCAL_SHARE) */
#define EMOGI_COST_GROUP_LOCAL_VERTICES UINT64CONST(2500)
#define EMOGI_COST_GROUP_LOCAL_SHARE 32

/* ---- contraction hierarchies, on a grid with 2 million edges ---- */

#define EMOGI_COST_HIERARCHY_PATH_US 3.0	/* one path, times sqrt(vertices) */
#define EMOGI_COST_HIERARCHY_REACH_US 0.3	/* whether one exists, times sqrt(vertices) */
#define EMOGI_COST_HIERARCHY_BFS_EDGE_US 0.02	/* an edge of BFS in a graph as deep as a grid */
#define EMOGI_COST_HIERARCHY_TARGET_US 120.0	/* one target of a matrix row */
#define EMOGI_COST_HIERARCHY_SWEPT_US 0.01	/* one edge per matrix row, in a sweep */
/* a sweep may allocate 1 / SWEEP_SHARE of emogi.max_memory in the backend */
#define EMOGI_COST_HIERARCHY_SWEEP_SHARE 8

/* ---- index searches: a row read takes a microsecond ---- */

#define EMOGI_COST_INDEX_VERTEX_US 16.0	/* a vertex reached, for the planner: rows and descents */

/*
 * A search may cost 1 / SHARE of a build, or as much as one if the graph of a table with conditions
 * would serve this call alone; if it is likely to be given up, because nothing bounds it or by
 * statistics, 1 / UNLIKELY_SHARE of that. A path search is not, because it is expected to read few
 * edges around both ends. Nor is a search with conditions for this call alone by statistics, which
 * ignore the conditions.
 */
#define EMOGI_COST_INDEX_SHARE 4
#define EMOGI_COST_INDEX_UNLIKELY_SHARE 4
#define EMOGI_COST_INDEX_MIN_US 1024	/* min limit: building even a tiny graph takes as long */
/* min accumulated cost before a build, for small tables */
#define EMOGI_COST_INDEX_MIN_PRICE_US 16384
/* limit of a search that runs while other calls bring its graph up to date */
#define EMOGI_COST_INDEX_REFRESHING_US 2000
/*
 * Pages that a refresh checks (their headers, or the visibility map) per microsecond.
 */
#define EMOGI_COST_PAGES_PER_US 8
#define EMOGI_COST_INDEX_BYTES_PER_ROW 64	/* memory of a search */
#define EMOGI_COST_INDEX_BYTES_PER_COLLECTED 160	/* ... of a collection, with its graph */
/* while other calls bring a graph up to date, 1/n of the minimum table size suffices */
#define EMOGI_COST_INDEX_WAIT_SHARE 64.0

#endif							/* EMOGI_ANSWER_COST_H */
