/*
 * fault.h: trouble on demand, for tests (emogi.fault, superusers only); see fault.c.
 */
#ifndef EMOGI_FAULT_H
#define EMOGI_FAULT_H

/* Places where a process can be made to sleep. */
typedef enum EmogiFaultPoint
{
	EMOGI_AT_PRE_COMMIT,		/* a writer has been noted and is about to commit */
	EMOGI_AT_COMMITTED,			/* a writer has left the running transactions */
	EMOGI_AT_REGISTERING,		/* writers have been asked for, running transactions have not */
	EMOGI_AT_REGISTERED,		/* a table is tracked, the build has not begun */
	EMOGI_AT_BUILT,				/* a Graph stands and is not yet published */
	EMOGI_AT_PUBLISHED,
	EMOGI_AT_FOUND,				/* a cached Graph is pinned and the run has not begun */
	EMOGI_AT_LIVE_MAP,			/* a refresh is about to read the visibility map */
	EMOGI_AT_LIVE_PAGES,		/* ... the pages */
	EMOGI_AT_LIVE_LOOK,			/* a page has been looked at */
	EMOGI_AT_LIVE_STORE,		/* what a refresh has found is about to be stored */
	EMOGI_AT_FAR_MEASURED,		/* the pages of a server's tables are known, and none has been read */
	EMOGI_AT_GRAPH_FREED,		/* the memory of a Graph has been given back, and its entry has not */
	EMOGI_AT_GRAPHS_COPIED,		/* entries have been copied, and their texts have not */
	EMOGI_FAULT_POINTS
} EmogiFaultPoint;

/* Rules of live states that can be dropped one by one: the negative controls of their tests. */
typedef enum EmogiTrackerRule
{
	EMOGI_LIVE_UNDECIDED,		/* pages with transactions that have not ended are looked at again */
	EMOGI_LIVE_MAP_LSN,			/* the map vouches only while its LSN is the same, ... */
	EMOGI_LIVE_VACUUMS,			/* ... or no VACUUM has been at work */
	EMOGI_LIVE_BY_LSN,			/* without this one only by the second: no rule, but what the first would hide shows */
	EMOGI_LIVE_CONTAINS,		/* a newer snapshot is one that sees all as ended that the base does */
	EMOGI_LIVE_PAGE_LSN,		/* a page's LSN is compared */
	EMOGI_LIVE_SNAPSHOT,		/* the snapshot is older than what is read */
	EMOGI_LIVE_NEWEST,			/* older snapshots look at pages with transactions that they may not see */
	EMOGI_LIVE_LSN_LOCKED,		/* the LSN is read under the page's lock */
	EMOGI_LIVE_DISTRUST,		/* the map is not believed where the page does not say the same */
	EMOGI_LIVE_OWN_ROLLBACK,	/* what is kept of the own transaction's changes goes when a part of it is rolled back, ... */
	EMOGI_LIVE_OWN_COMMAND,		/* ... is not for older commands, nor for newer ones that may see more of a page, ... */
	EMOGI_LIVE_OWN_OTHERS,		/* ... nor where another transaction on a page has ended */
	EMOGI_LIVE_RULES
} EmogiTrackerRule;

/* Rules of the graphs of queries that can be dropped one by one, likewise. */
typedef enum EmogiAnalysisRule
{
	EMOGI_TREE_LEAVES,			/* all tables are asked for their writers, not the first alone */
	EMOGI_TREE_OWN,				/* what the own transaction has changed is not shared */
	EMOGI_TREE_ROWS,			/* the rows of functions in the catalogs are part of the key */
	EMOGI_TREE_SETTINGS,		/* settings are part of the key */
	EMOGI_TREE_FOLD,			/* what is one value for a call is part of the key */
	EMOGI_TREE_DEFAULTS,		/* defaults of arguments are part of the tree */
	EMOGI_TREE_CHILDREN,		/* children of tables are leaves */
	EMOGI_TREE_RIGHTS,			/* the caller's rights are asked for */
	EMOGI_TREE_PUBLISH,			/* published only if the plan read nothing else, and nothing was replaced on the way */
	EMOGI_TREE_TYPES,			/* the definitions of types are part of the key */
	EMOGI_TREE_AGAIN,			/* a key with a value of the call's is shared when it is asked for a second time */
	EMOGI_TREE_DROP,			/* graphs of queries that no call can use any more go */
	EMOGI_TREE_STATE,			/* the live state of a filtered table is found by the fingerprint, not by the columns alone */
	EMOGI_TREE_LOOKS,			/* its conditions are evaluated when pages are looked at again */
	EMOGI_TREE_PLACES,			/* a leaf whose columns for them have changed places is new */
	EMOGI_TREE_WALKS,			/* searches over indexes evaluate its conditions */
	EMOGI_TREE_RULES
} EmogiAnalysisRule;

/* How the worker is to end when it comes to a request of a certain kind. */
typedef enum EmogiWorkerFault
{
	EMOGI_WORKER_LIVES = 0,
	EMOGI_WORKER_EXITS,			/* proc_exit(1) */
	EMOGI_WORKER_CRASHES		/* SIGKILL: the server restarts */
} EmogiWorkerFault;

typedef struct EmogiFaults
{
	int			allocation;		/* the n-th allocation in the Region by this process fails; counts down; 0 = none */
	int			engine_allocation;	/* see EmogiControl */
	int			device_allocation;
	int			device_call;
	EmogiWorkerFault worker;
	int			worker_at;		/* EmogiRequestKind at whose start, or EMOGI_REQUEST_KINDS: at the end of any */
	int			sleep_us[EMOGI_FAULT_POINTS];
	bool		random_sleeps;	/* sleep between 0 and sleep_us */
	bool		no_registration_rule;	/* the negative control of the cache's tests */
	bool		no_snapshot_rule;	/* ... and of those of snapshot.c */
	bool		known_load;		/* the load of _emogi_sink is 1 */
	int			idle_ms;		/* after which graphs of queries go that older snapshots alone can use, + 1; 0 = as ever */
	uint64		pair_edges;		/* list entries that searches for pairs may look at, + 1; 0 = as many as pay */
	bool		live[EMOGI_LIVE_RULES]; /* this rule is dropped */
	bool		tree[EMOGI_TREE_RULES]; /* likewise */
} EmogiFaults;

extern EmogiFaults emogi_faults;

extern void emogi_fault_define(void);
extern void emogi_fault_sleep(EmogiFaultPoint point);
extern bool emogi_fault_allocation(void);

#endif							/* EMOGI_FAULT_H */
