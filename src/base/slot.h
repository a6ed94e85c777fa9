/*
 * slot.h: slots, through which calls send requests to the engine worker
 *
 * The call writes its request into the slot and queues it; the worker takes it, computes, and
 * writes the reply.
 */
#ifndef EMOGI_SLOT_H
#define EMOGI_SLOT_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "utils/timestamp.h"

#include "contract/coo.h"
#include "contract/dictionary.h"
#include "contract/merge.h"
#include "contract/msbfs.h"
#include "contract/path_search.h"
#include "contract/pool.h"
#include "contract/property_load.h"
#include "base/fault.h"
#include "base/key_type.h"
#include "base/settings.h"

/* The caller of a function, shown in emogi_progress and emogi_runs. */
typedef struct EmogiCaller
{
	int			pid;			/* the backend */
	Oid			userid;
	Oid			database;
	TimestampTz started;
	char		function[32];
	char		source[256];	/* the graph argument, truncated */
} EmogiCaller;

/* Copy a text of less than `room` bytes, without the bytes behind it. */
static inline void
emogi_text_copy(char *to, const char *from, Size room)
{
	const Size	length = strnlen(from, room - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

/* Copy a caller, without the bytes behind its texts. */
static inline void
emogi_caller_copy(EmogiCaller *to, const EmogiCaller *from)
{
	memcpy(to, from, offsetof(EmogiCaller, source));
	emogi_text_copy(to->source, from->source, sizeof to->source);
}

/* What a call reads of the component labels of its graph until it releases its pin. */
typedef enum EmogiLabelsRead
{
	EMOGI_LABELS_UNREAD = 0,
	EMOGI_LABELS_ALONE,
	EMOGI_LABELS_AND_MEMBERS
} EmogiLabelsRead;

/*
 * States of a slot: FREE -> HELD (by a backend) -> QUEUED -> RUNNING -> DONE or FAILED -> HELD or
 * FREE.
 */
typedef enum EmogiSlotState
{
	EMOGI_SLOT_FREE = 0,
	EMOGI_SLOT_HELD,			/* its backend fills it in; the worker does not touch it */
	EMOGI_SLOT_QUEUED,			/* a request waits for the worker */
	EMOGI_SLOT_RUNNING,			/* the worker runs it; no other process touches the request, the
								 * reply or the arena memory behind them */
	EMOGI_SLOT_DONE,			/* the reply is complete */
	EMOGI_SLOT_FAILED,			/* the worker ended while it ran */
	EMOGI_SLOT_ORPHAN			/* RUNNING, but its backend has exited: the worker frees it when it
								 * has finished */
} EmogiSlotState;

typedef enum EmogiRequestKind
{
	EMOGI_REQUEST_DICTIONARY,	/* dictionary of the slot's key table, and codes for the ends of the
								 * slot's edges */
	EMOGI_REQUEST_BUILD,		/* the graph of the slot's edges: their vertices, then CSR, unless
								 * the arena has no memory at hand for that; with the steps DICTIONARY
								 * and PACK before and RUN after that, if they are requested */
	EMOGI_REQUEST_CSR,			/* the graph of the slot's edges, whose vertices are known */
	EMOGI_REQUEST_EXPAND,		/* the edges of a graph, into the slot's chunks */
	EMOGI_REQUEST_PACK,			/* a COO of the slot's edges: only as a step of BUILD */
	EMOGI_REQUEST_UNPACK,		/* the edges of a COO, into the slot's chunks */
	EMOGI_REQUEST_MERGE,		/* a graph from another graph and a delta of its edges */
	EMOGI_REQUEST_COLUMNS,		/* property columns for a graph */
	EMOGI_REQUEST_RUN,			/* from here on: a query on a graph */
	EMOGI_REQUEST_MSBFS,		/* separate BFS from each of query.sources, on the CPU */
	EMOGI_REQUEST_PATH,			/* one path between two vertices, on the CPU */
	EMOGI_REQUEST_KINDS
} EmogiRequestKind;

/*
 * The sources of a query that is requested together with its graph, as keys: ids, or bytes of the
 * graph's dictionary. All arrays are in the arena.
 */
typedef struct EmogiChainedSources
{
	uint64		count;
	const int64 *ids;			/* [count]; NULL = the keys are bytes: */
	const EmogiKeyBytes *keys;	/* [count], and */
	const EmogiDictionary *dictionary;	/* their dictionary; NULL = that of the request */
	uint32	   *numbers;		/* [count]: room for the numbers of those in the graph */
} EmogiChainedSources;

/*
 * A backend's request to the worker. Pointers point into the arena, which every process maps at the
 * same address.
 */
typedef struct EmogiRequest
{
	EmogiRequestKind kind;
	EmogiWorkerFault fault;		/* for tests; filled in by emogi_call_request */
	int			fault_at;

	/* DICTIONARY */
	EmogiDictionaryInput dictionary;	/* except its edges */

	/*
	 * BUILD and CSR: the edges are the slot's chunks. EXPAND and UNPACK: the chunks are allocated
	 * and empty, `graph` is the base graph.
	 */
	bool		makes_dictionary;	/* BUILD: first make `dictionary`, of which the plan follows */
	bool		packs;			/* BUILD: also fill `coo` */
	bool		chains;			/* BUILD: then run `query` on the graph, from the vertices of */
	EmogiChainedSources sources;	/* these keys, if the CPU may run it and has memory at hand */
	EmogiKeyPlan plan;			/* BUILD, with its scratch memory */
	bool		only_keys;		/* BUILD: for tests; allocate no memory for CSR */
	EmogiKeyNumbers	keys;			/* input of CSR; output of BUILD, through the reply */
	EmogiDirection direction;
	bool		with_backward;
	void	   *memory;			/* CSR: memory for the graph */
	void	   *scratch;

	/* PACK and BUILD: its layout and arrays. UNPACK: the COO, and these runs: */
	EmogiCoo	coo;
	uint64		nruns;
	const EmogiCooRun *runs;	/* [nruns] */

	/* MERGE: `graph` is the old graph, and */
	EmogiMergeInput merge;	/* except its graph and the memory of its derivation */
	uint64		derived_id;		/* ID of the new graph, so that the GPU can derive its copy from a
								 * copy of the old graph; 0 = do not */

	/* COLUMNS: for `graph` */
	EmogiPropertyLoad columns;	/* its arrays are in the arena */

	/* RUN */
	EmogiEngineChoice engine;
	EmogiGraph	graph;			/* its id is that of the cached graph, or 0 */
	EmogiQuery	query;
	EmogiResult result;			/* arrays are input; counters are returned in the reply */

	/* MSBFS: graph and query as for RUN, and */
	EmogiMsbfsResult batch;		/* its memory is input */

	/* PATH: graph as for RUN, query.sources[0] and query.targets[0], and */
	uint64		max_edges;		/* give up after scanning this many edges, */
	uint64		max_vertices;	/* or settling this many vertices */
	uint32	   *path;			/* [nvertices] */
	double	   *path_distance;	/* [nvertices] */
} EmogiRequest;

typedef struct EmogiReply
{
	EmogiStatus status;
	EmogiError	error;
	EmogiDictionary *dictionary;	/* DICTIONARY, BUILD */
	EmogiKeyNumbers	keys;			/* BUILD, with */
	double		keys_done_ms;	/* on the clock of emogi_pool_now_ms, and */
	void	   *scratch;		/* [scratch_bytes], which the worker has allocated for CSR */
	Size		scratch_bytes;
	EmogiGraph	graph;			/* BUILD, CSR, MERGE; without memory: BUILD has made the keys only */
	EmogiCoo	coo;			/* BUILD that packs, with */
	EmogiMisfitCounts misfits;
	EmogiResult result;			/* RUN; the counters also of MSBFS and PATH. Of a chained run, the
								 * worker has allocated its columns for the slot */
	EmogiMsbfsResult batch;		/* MSBFS */
	EmogiPathOutcome path_outcome;	/* PATH */
	uint64		path_length;	/* PATH: vertices */
	uint64		path_settled;	/* PATH: vertices settled by the search */
	char		engine[8];		/* RUN, MSBFS, PATH: the engine that ran it */
	int			device;			/* the driver's number of the GPU that ran it; -1 = none */
	char		reason[256];	/* RUN: why `auto` chose the CPU, or empty */
	double		started_ms;		/* on the clock of emogi_pool_now_ms; 0 = not started; set under
								 * EmogiShared.lock, together with RUNNING */
	double		wait_ms;		/* between request and start; written by the owner */
	double		busy_ms;		/* time of one computing thread */
	bool		no_device;		/* RUN: engine = cuda was requested but there is no GPU; error has
								 * the reason */
} EmogiReply;

typedef struct EmogiSlot
{
	/* under EmogiShared.lock */
	EmogiSlotState state;
	uint64		token;			/* random; parallel workers use it to prove whose edges they add */
	uint64		load;			/* random; the same for _emogi_sink, while the executor runs the
								 * query of the edges; 0 = no such query is running */
	bool		load_vertices;	/* that query has a column of vertices beside the edges */
	bool		load_both_ways; /* that query has a weight for each direction */
	uint64		ticket;			/* order of service among QUEUED slots with equal vtime_ms */
	double		vtime_ms;		/* fair share: see worker/schedule.c */
	EmogiWeights weights;		/* of the edges being scanned; UNUSED if the source has none */
	EmogiKeyType keys;			/* type of the ends of the edges being scanned */
	/* the ends are its numbers for now; NULL = they are keys, or codes: */
	EmogiKeyTable *key_table;
	int			dictionary;		/* index of the dictionary that the edges' codes are from, or of the
								 * call's own graph; -1 = none */
	int			old_dictionary; /* dictionary of another graph of the call; -1 = none */
	/* all codes that a build has added to the dictionary occur among the edges */
	bool		all_codes;
	/* a scan has found a key for which the dictionary has no code left */
	bool		out_of_codes;
	/* because its room is full; a new one is to have room for so many keys; 0 = as usual */
	uint64		room_keys;
	int			graph;			/* index of the cached graph that the call has pinned or builds; -1
								 * = none. Written by its backend without a lock: other processes
								 * read it once */
	int			base_graph;		/* index of the base graph of its build; -1 = none */
	int			held_tracker;	/* index of the change tracker that it holds; -1 = none */
	int			awaited_tracker;	/* index of the change tracker that it waits for; -1 = none */
	/* index of the graph it waits for while another call builds it; -1 = none */
	int			awaited_graph;
	EmogiLabelsRead labels_read;	/* of `graph`, as the result of the call */
	struct EmogiColumns *columns;	/* of `graph`, that the call reads; NULL = none */
	bool		loads_columns;	/* of `graph`: others wait for that */
	bool		waits_for_room; /* waits until evicted graphs have freed their memory */

	EmogiCaller caller;			/* pid: 0 = its backend has exited */
	pg_atomic_uint64 nskipped;	/* rows with a NULL end found so far by the scan; afterwards those
								 * of the call's graph, as its snapshot sees them */

	ConditionVariable answered; /* broadcast when state becomes DONE or FAILED */

	/* written by the owner while HELD, read by the worker while RUNNING; vice versa for reply */
	EmogiRequest request;
	EmogiReply	reply;

	/*
	 * While the chained run of a BUILD is RUNNING: the graph is complete, and so is this reply of
	 * the build, which the owner may read. Under EmogiShared.lock.
	 */
	bool		is_built;
	EmogiReply	built;

	/* no lock: see engine.h */
	EmogiControl control;
} EmogiSlot;

#endif							/* EMOGI_SLOT_H */
