/*
 * papers.h: the systems of the papers, as parameters of a query and figures of a result.
 *
 * They exist for comparison only. A query whose EmogiPapersQuery is all zeros, and whose placement
 * is not one of theirs, does not use them; the CPU engine ignores all fields declared here. All
 * systems give the same results, except for the rounding of sums.
 *
 * Their parts are: this header, with two fields and the placements in engine.h; cuda/papers/, the
 * module emogi_papers.so, which cuda/core/papers_module.cu loads; base/papers_settings.c on the
 * PostgreSQL side; options of emogi_bench; the unit test test_papers.
 */
#ifndef EMOGI_PAPERS_H
#define EMOGI_PAPERS_H

#include <stdbool.h>
#include <stdint.h>

/* Additional values of EmogiPlacement, which only the systems of the papers support. */
#define EMOGI_PAPERS_PLACEMENTS \
	EMOGI_PLACEMENT_MANAGED,	/* managed memory, migrated page by page, read-mostly (EMOGI's UVM \
								 * baseline); NO_MEMORY if the edges exceed free device memory */ \
	EMOGI_PLACEMENT_STAGED,		/* the adjacency lists of the active vertices, gathered and copied \
								 * in each iteration (Subway) */

/* Mapping of edges to GPU threads. All mappings except AUTO treat HYBRID placement as HOST. */
typedef enum EmogiMapping
{
	EMOGI_MAPPING_AUTO = 0,		/* emogi's own kernels; ALIGNED with MANAGED and STAGED placement,
								 * which these do not support */
	EMOGI_MAPPING_THREAD,		/* a thread per vertex (EMOGI, PVLDB 14(2) 2020: strided) */
	EMOGI_MAPPING_WARP,			/* a warp per vertex, its lanes on consecutive edges (EMOGI:
								 * merged) */
	EMOGI_MAPPING_ALIGNED,		/* likewise, from the start of a 128-byte line (EMOGI: merged and
								 * aligned) */
	EMOGI_MAPPING_VIRTUAL2,		/* 2 lanes per vertex (virtual warps: Hong et al., PPoPP 2011) */
	EMOGI_MAPPING_VIRTUAL4,
	EMOGI_MAPPING_VIRTUAL8,
	EMOGI_MAPPING_VIRTUAL16,
	EMOGI_MAPPING_DEGREE_CUT,	/* a thread for a few neighbors of a vertex (EtaGraph, IPDPS
								 * 2019) */
	EMOGI_MAPPING_SHARDS,		/* G-Shards (CuSha, HPDC 2014) */
	EMOGI_MAPPING_WINDOWS,		/* concatenated windows (CuSha) */
	EMOGI_NMAPPINGS
} EmogiMapping;

/* Parameters of a query; all zeros = do not use the systems of the papers. */
typedef struct EmogiPapersQuery
{
	EmogiMapping mapping;
	bool		prefetch;		/* MANAGED: copy all edges to the device before the run, instead of
								 * page by page on access */
	bool		asynchronous;	/* STAGED: process the copied lists until nothing changes among
								 * their vertices, instead of once (Subway, EuroSys 2020); for
								 * paths, not for sums, which have fixed iterations */
	bool		count_requests; /* fill in EmogiPapersCounts.requests, which costs time; mappings on
								 * CSR, HOST placement */
	uint32_t	id_bytes;		/* size of a target read by kernels: 4, or 8 from a copy made before
								 * the run (EMOGI, figure 12): only BFS, best paths and CC by
								 * THREAD, WARP, ALIGNED in HOST and DEVICE placement; 0 = 4 */
} EmogiPapersQuery;

/* Additional counters of a run by one of the systems; all zeros after any other run. */
typedef struct EmogiPapersCounts
{
	uint64_t	requests[4];	/* number of warp requests for 32, 64, 96 and 128 bytes of a line,
								 * some of which may have hit caches; 0 unless count_requests */
} EmogiPapersCounts;

#endif							/* EMOGI_PAPERS_H */
