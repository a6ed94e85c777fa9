/*
 * fault.h: fault injection for tests (emogi.fault, superusers only); see fault.c.
 */
#ifndef EMOGI_FAULT_H
#define EMOGI_FAULT_H

/* Points where a process can be made to sleep. */
typedef enum EmogiFaultPoint
{
	EMOGI_FAULT_AT_PRE_COMMIT,	/* a writer has been registered and is about to commit */
	EMOGI_FAULT_AT_COMMITTED,	/* a writer is no longer a running transaction */
	EMOGI_FAULT_AT_REGISTERING,	/* writers have been read, running transactions have not */
	EMOGI_FAULT_AT_REGISTERED,	/* a table is tracked, the build has not begun */
	EMOGI_FAULT_AT_BUILT,		/* a graph is built and not yet published */
	EMOGI_FAULT_AT_PUBLISHED,
	EMOGI_FAULT_AT_FOUND,		/* a cached graph is pinned and the run has not begun */
	EMOGI_FAULT_AT_REFRESH_MAP,	/* a refresh is about to read the visibility map */
	EMOGI_FAULT_AT_REFRESH_PAGES,	/* a refresh is about to read the pages */
	EMOGI_FAULT_AT_PAGE_RESCANNED,	/* a page has been rescanned */
	EMOGI_FAULT_AT_REFRESH_STORE,	/* a refresh is about to store the changes it found */
	EMOGI_FAULT_AT_REMOTE_MEASURED,	/* the page counts of a server's tables are known, and none has
								 * been read */
	EMOGI_FAULT_AT_GRAPH_FREED,	/* the memory of a graph has been freed, its entry has not */
	EMOGI_FAULT_AT_GRAPHS_COPIED,	/* entries have been copied, their texts have not */
	EMOGI_FAULT_POINTS
} EmogiFaultPoint;

/*
 * Rules of the change tracker that can be disabled one by one, as negative controls of their tests.
 */
typedef enum EmogiTrackerRule
{
	EMOGI_TRACKER_UNDECIDED,	/* pages with transactions in progress are rescanned */
	EMOGI_TRACKER_MAP_LSN,		/* the visibility map is trusted only while its LSN is unchanged,
								 * ... */
	EMOGI_TRACKER_VACUUMS,		/* ... or no VACUUM has run */
	EMOGI_TRACKER_BY_LSN,		/* not a rule: disables the first condition, so that failures of
								 * the second show */
	EMOGI_TRACKER_CONTAINS,		/* a newer snapshot must see as ended all transactions that the
								 * base sees so */
	EMOGI_TRACKER_PAGE_LSN,		/* a page's LSN is compared */
	EMOGI_TRACKER_SNAPSHOT,		/* the snapshot is taken before the data is read */
	EMOGI_TRACKER_NEWEST,		/* older snapshots rescan pages with transactions that they may
								 * not see */
	EMOGI_TRACKER_LSN_LOCKED,	/* the LSN is read under the page's lock */
	EMOGI_TRACKER_DISTRUST,		/* the visibility map is not trusted if the page disagrees */
	EMOGI_TRACKER_OWN_ROLLBACK,	/* kept changes of the own transaction are dropped if a part of
								 * it is rolled back, ... */
	EMOGI_TRACKER_OWN_COMMAND,	/* ... not used by older commands, nor by newer ones that may see
								 * more of a page, ... */
	EMOGI_TRACKER_OWN_OTHERS,	/* ... nor used if another transaction on a page has ended */
	EMOGI_TRACKER_CARRIED,		/* changes of an ended transaction are used only if nobody else has
								 * written */
	EMOGI_TRACKER_RULES
} EmogiTrackerRule;

/* Rules of the graphs of queries that can be disabled one by one, for the same purpose. */
typedef enum EmogiAnalysisRule
{
	EMOGI_ANALYSIS_BASE_TABLES,	/* the writers of all tables are checked, not only of the first */
	EMOGI_ANALYSIS_OWN,			/* changes of the own transaction are not shared */
	EMOGI_ANALYSIS_FUNCTION_ROWS,	/* the catalog rows of functions are part of the key */
	EMOGI_ANALYSIS_SETTINGS,	/* settings are part of the key */
	EMOGI_ANALYSIS_FOLD,		/* expressions folded to a constant for a call are part of the
								 * key */
	EMOGI_ANALYSIS_DEFAULTS,	/* defaults of arguments are part of the query tree */
	EMOGI_ANALYSIS_CHILDREN,	/* children of tables are base tables */
	EMOGI_ANALYSIS_PRIVILEGES,	/* the caller's privileges are checked */
	EMOGI_ANALYSIS_PUBLISH,		/* published only if the plan read nothing else, and nothing was
								 * replaced meanwhile */
	EMOGI_ANALYSIS_TYPES,		/* the definitions of types are part of the key */
	EMOGI_ANALYSIS_SECOND_LOOKUP,	/* a key with a call-specific value is shared from the second
								 * lookup on */
	EMOGI_ANALYSIS_DROP,		/* graphs of queries that no call can use any more are evicted */
	EMOGI_ANALYSIS_TRACKER,		/* the tracker state of a filtered table is found by the
								 * fingerprint, not by the columns only */
	EMOGI_ANALYSIS_RESCANS,		/* its conditions are evaluated when pages are rescanned */
	EMOGI_ANALYSIS_COLUMNS,		/* a base table whose columns used by conditions have moved is
								 * new */
	EMOGI_ANALYSIS_INDEX_SEARCHES,	/* index searches evaluate its conditions */
	EMOGI_ANALYSIS_RULES
} EmogiAnalysisRule;

/* How the worker ends when it reaches a request of a certain kind. */
typedef enum EmogiWorkerFault
{
	EMOGI_WORKER_LIVES = 0,
	EMOGI_WORKER_EXITS,			/* proc_exit(1) */
	EMOGI_WORKER_CRASHES		/* SIGKILL: the server restarts */
} EmogiWorkerFault;

typedef struct EmogiFaults
{
	int			allocation;		/* the n-th allocation in the arena by this process fails; counts
								 * down; 0 = none */
	int			engine_allocation;	/* see EmogiControl */
	int			device_allocation;
	int			device_call;
	EmogiWorkerFault worker;
	int			worker_at;		/* EmogiRequestKind at whose start, or EMOGI_REQUEST_KINDS: at
								 * the end of any */
	int			sleep_us[EMOGI_FAULT_POINTS];
	bool		random_sleeps;	/* sleep between 0 and sleep_us */
	bool		no_registration_rule;	/* negative control of the cache's tests */
	bool		trusts_rings;	/* negative control of the tests without preloading */
	bool		no_snapshot_rule;	/* negative control of the tests of snapshot.c */
	bool		fingerprint;	/* computing it fails, as if memory ran out */
	bool		known_load;		/* the load of _emogi_sink is 1 */
	int			idle_ms;		/* idle time after which graphs of queries that only older
								 * snapshots can use are evicted, + 1; 0 = default */
	uint64		pair_edges;		/* edges that searches for pairs may scan, + 1; 0 = as many as
								 * pay */
	bool		tracker[EMOGI_TRACKER_RULES]; /* the rule is disabled */
	bool		analysis[EMOGI_ANALYSIS_RULES]; /* the rule is disabled */
} EmogiFaults;

extern EmogiFaults emogi_faults;

extern void emogi_fault_define(void);
extern void emogi_fault_sleep_now(EmogiFaultPoint point);
extern bool emogi_fault_allocation(void);

/* Sleep at a point, if set. */
static inline void
emogi_fault_sleep(EmogiFaultPoint point)
{
	if (emogi_faults.sleep_us[point] != 0)
		emogi_fault_sleep_now(point);
}

#endif							/* EMOGI_FAULT_H */
