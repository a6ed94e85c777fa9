/*
 * settings.h: the settings, emogi.*; see settings.c.
 */
#ifndef EMOGI_SETTINGS_H
#define EMOGI_SETTINGS_H

#include "utils/guc.h"

#include "contract/engine.h"

typedef enum EmogiEngineChoice
{
	EMOGI_ENGINE_AUTO,
	EMOGI_ENGINE_CPU,
	EMOGI_ENGINE_CUDA
} EmogiEngineChoice;

typedef enum EmogiHugePages
{
	EMOGI_HUGE_PAGES_OFF,
	EMOGI_HUGE_PAGES_ON,
	EMOGI_HUGE_PAGES_TRY
} EmogiHugePages;

#define EMOGI_MOST_STAT_ENTRIES 100000

extern int	emogi_engine;			/* EmogiEngineChoice */
extern int	emogi_placement;		/* EmogiPlacement */
extern int	emogi_max_memory_mb;	/* budget of the Region */
extern int	emogi_huge_pages;		/* EmogiHugePages: what is asked for */
extern bool emogi_huge_pages_status;	/* the Region is made of the system's huge pages; fixed
										 * before the postmaster forks */
extern int	emogi_device_memory_mb; /* cap on each GPU, 0 = none */
extern uint32 emogi_device_set;	/* GPUs that are used, bits by the numbers of the driver; 0 = all */
extern int	emogi_cpu_threads;		/* of the CPU engine, >= 1 once the server is up */
extern int	emogi_build_workers;	/* parallel workers of a scan, -1 =
									 * max_parallel_workers_per_gather */
extern int	emogi_server_connections;	/* to each server of foreign tables; 0 = postgres_fdw reads
										 * them */
extern bool emogi_enable_cache;			/* Graphs of tables are shared between calls and sessions */
extern bool emogi_enable_live;			/* Graphs follow their tables */
extern int	emogi_max_staleness_ms; /* so long ago a Graph may have been exact */
extern int	emogi_live_min_size_kb;		/* of a table that is followed */
extern bool emogi_enable_scan;		/* rows of functions in FROM are streamed */
extern bool emogi_enable_batch;		/* ... and in a LATERAL join searched from many outer rows at
									 * once */
extern bool emogi_enable_aggregates;	/* aggregates of one call's rows are computed where its
										 * result lies */
extern bool emogi_enable_topk;		/* ... and the first rows in an order are picked there */
extern bool emogi_enable_lookup;	/* outer rows of a join look their vertices up */
extern bool emogi_enable_contraction;	/* far paths of road-like graphs are found by hierarchies */
extern int	emogi_contraction_after;	/* far paths before one is made; -1 = as it pays */
extern bool emogi_enable_near;			/* searches that reach little are made in the backend */
extern bool emogi_enable_index_walk;	/* searches that reach little walk over indexes where there
										 * is no Graph */
extern int	emogi_index_walk_min_size_kb;	/* of a table whose indexes are walked over */
extern bool emogi_notice_missing_source;	/* a source that the graph does not have is told of */
extern int	emogi_course_entries;		/* calls that emogi_runs keeps */
extern int	emogi_stat_entries;		/* rows that emogi_stat_graphs keeps, at most
									 * EMOGI_MOST_STAT_ENTRIES */

extern void emogi_settings_define(void);
extern const char *emogi_settings_option_name(const struct config_enum_entry *options, int value);
extern const char *emogi_settings_placement_name(EmogiPlacement placement);
extern uint64 emogi_settings_spare_bytes(void);

#endif							/* EMOGI_SETTINGS_H */
