/*
 * papers.h: the papers' systems beside our own kernels, as a query asks for them and a result tells of them.
 *
 * They are there to be compared with, and nothing needs them. A query whose EmogiPapersQuery is all 0, and whose placement is
 * none of theirs, has nothing to do with them; nor has the CPU engine, which ignores what stands here. Answers are the same
 * by every system, but for the rounding of sums.
 *
 * Their parts: this header, with two fields and the placements in engine.h; cuda/papers/, the module emogi_papers.so, which
 * cuda/core/papers_module.cu loads; on the PostgreSQL side base/papers_settings.c; options of emogi_bench; the unit test test_papers.
 */
#ifndef EMOGI_PAPERS_H
#define EMOGI_PAPERS_H

#include <stdbool.h>
#include <stdint.h>

/* Placements that no kernel of ours has, for EmogiPlacement. */
#define EMOGI_PAPERS_PLACEMENTS \
	EMOGI_PLACEMENT_MANAGED,	/* managed memory that the driver moves page by page, read-mostly (EMOGI's UVM baseline); \
								 * NO_MEMORY when the edges do not fit in the free device memory */ \
	EMOGI_PLACEMENT_STAGED,		/* the lists of the active vertices, gathered and copied iteration by iteration (Subway) */

/* How a GPU's threads take edges. HYBRID placement is HOST for all of them but AUTO. */
typedef enum EmogiMapping
{
	EMOGI_MAPPING_AUTO = 0,		/* our own kernels; ALIGNED with MANAGED and STAGED placement, for which there are none */
	EMOGI_MAPPING_THREAD,		/* a thread a vertex (EMOGI, PVLDB 14(2) 2020: strided) */
	EMOGI_MAPPING_WARP,			/* a warp a vertex, its lanes on consecutive entries (EMOGI: merged) */
	EMOGI_MAPPING_ALIGNED,		/* the same from the start of a 128-byte line (EMOGI: merged and aligned) */
	EMOGI_MAPPING_VIRTUAL2,		/* 2 lanes a vertex (virtual warps: Hong et al., PPoPP 2011) */
	EMOGI_MAPPING_VIRTUAL4,
	EMOGI_MAPPING_VIRTUAL8,
	EMOGI_MAPPING_VIRTUAL16,
	EMOGI_MAPPING_DEGREE_CUT,	/* a thread for a few neighbours of a vertex (EtaGraph, IPDPS 2019) */
	EMOGI_MAPPING_SHARDS,		/* G-Shards (CuSha, HPDC 2014) */
	EMOGI_MAPPING_WINDOWS,		/* concatenated windows (CuSha) */
	EMOGI_NMAPPINGS
} EmogiMapping;

/* What a query asks of them; all 0 = nothing. */
typedef struct EmogiPapersQuery
{
	EmogiMapping mapping;
	bool		prefetch;		/* MANAGED: bring all edges to the device before the run, not page by page as it reads them */
	bool		asynchronous;	/* STAGED: go on with the lists that were brought until nothing changes among their vertices,
								 * instead of once (Subway, EuroSys 2020); for paths, not for sums, which have fixed iterations */
	bool		count_requests; /* fill EmogiPapersCounts.requests, at the cost of time; mappings on CSR, HOST placement */
	uint32_t	id_bytes;		/* of a target as kernels read it: 4; or 8, from a copy that is made first (EMOGI, figure 12):
								 * BFS, best paths and CC by THREAD, WARP, ALIGNED in HOST and DEVICE placement alone; 0 = 4 */
} EmogiPapersQuery;

/* What a run by one of them has counted beside what every run counts; all 0 after any other. */
typedef struct EmogiPapersCounts
{
	uint64_t	requests[4];	/* that warps made for 32, 64, 96 and 128 bytes of a line, of which caches may have answered
								 * some; 0 unless count_requests */
} EmogiPapersCounts;

#endif							/* EMOGI_PAPERS_H */
