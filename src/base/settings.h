/*
 * settings.h: the settings emogi.*; see settings.c
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

#define EMOGI_MAX_STAT_ENTRIES 100000

/*
 * Flags of all settings (compat.h). Without preloading the library may be loaded in a parallel
 * query, which then takes their values from the configuration.
 */
#define EMOGI_SETTING_FLAGS EMOGI_ALLOW_IN_PARALLEL

/* Settings that all processes with an arena must agree on, because it was laid out with them. */
typedef struct EmogiArenaSettings
{
	int			max_memory_mb;
	int			runs_entries;
	int			stat_max;
} EmogiArenaSettings;

extern bool emogi_trial_is_on;		/* emogi runs without shared_preload_libraries (trial.c) */
extern int	emogi_engine;			/* EmogiEngineChoice */
extern int	emogi_placement;		/* EmogiPlacement */
extern int	emogi_max_memory_mb;	/* budget of the arena */
extern int	emogi_huge_pages;		/* EmogiHugePages, as configured */
extern bool emogi_huge_pages_status;	/* the arena uses the system's huge pages; fixed before the
										 * postmaster forks */
extern int	emogi_device_memory_mb; /* limit on each GPU, 0 = none */
extern uint32 emogi_device_set;	/* GPUs to use, bits by the driver's numbers; 0 = all */
extern int	emogi_cpu_threads;		/* of the CPU engine, >= 1 once the server is up */
extern int	emogi_build_workers;	/* parallel workers of a scan, -1 =
									 * max_parallel_workers_per_gather */
extern int	emogi_server_connections;	/* to each server of foreign tables; 0 = postgres_fdw reads
										 * them */
extern bool emogi_enable_cache;			/* share graphs of tables between calls and sessions */
extern bool emogi_enable_incremental;			/* update cached graphs incrementally */
extern int	emogi_max_staleness_ms; /* age up to which a stale graph may be used */
extern int	emogi_incremental_min_size_kb;	/* minimum size of tables with a change tracker */
extern bool emogi_enable_scan;		/* stream rows of functions in FROM */
extern bool emogi_enable_batch;		/* search from many outer rows of a LATERAL join at once */
extern bool emogi_enable_aggregates;	/* compute aggregates of one call's rows from its result
										 * arrays */
extern bool emogi_enable_topk;		/* pick the top rows of an order from the result arrays */
extern bool emogi_enable_join_lookup;	/* joins look up the vertices of outer rows in the result */
extern bool emogi_enable_contraction;	/* use contraction hierarchies for distant pairs in
										 * road-like graphs */
extern int	emogi_contraction_min_calls;	/* distant searches before a hierarchy is built; -1
											 * = when
										 * it pays off */
extern bool emogi_enable_local_search;			/* run small searches in the backend */
extern bool emogi_enable_property_columns;	/* answer calls with a condition on edges by the graph of
											 * the whole table and its property columns */
extern bool emogi_enable_index_search;	/* run small searches over table indexes if there is no
										 * graph */
extern int	emogi_index_search_min_size_kb;	/* minimum size of tables for index searches */
extern bool emogi_notice_missing_source;	/* report a source vertex that the graph does not
											 * contain */
extern bool emogi_notice_trial; /* report once a session that emogi was not preloaded */
extern int	emogi_runs_entries;		/* calls that emogi_runs keeps */
extern int	emogi_stat_max;		/* rows that emogi_stat_graphs keeps, at most
									 * EMOGI_MAX_STAT_ENTRIES */

extern void emogi_settings_define(void);
extern const EmogiArenaSettings *emogi_settings_of_new_arena(void);
extern void emogi_settings_use(const EmogiArenaSettings *settings);
extern const char *emogi_settings_option_name(const struct config_enum_entry *options, int value);
extern const char *emogi_settings_placement_name(EmogiPlacement placement);
extern uint64 emogi_settings_spare_bytes(void);

#endif							/* EMOGI_SETTINGS_H */
