/*
 * slot.h: a slot: where a call and the engine worker meet. The call writes its request there and
 * queues the slot, the worker takes it, computes, and writes its reply.
 */
#ifndef EMOGI_SLOT_H
#define EMOGI_SLOT_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "utils/timestamp.h"

#include "cpu/msbfs.h"
#include "cpu/path_search.h"
#include "graph/coo.h"
#include "graph/merge.h"
#include "keys/keys.h"
#include "base/fault.h"
#include "base/settings.h"

/* Who calls what, for those who look: emogi_progress and emogi_runs. */
typedef struct EmogiCaller
{
	int			pid;			/* the backend */
	Oid			userid;
	Oid			database;
	TimestampTz started;
	char		function[32];
	char		source[256];	/* the graph argument, cut off */
} EmogiCaller;

/*
 * Life of a slot: FREE -> HELD (a backend's) -> QUEUED -> RUNNING -> DONE or FAILED -> HELD or
 * FREE.
 */
typedef enum EmogiSlotState
{
	EMOGI_SLOT_FREE = 0,
	EMOGI_SLOT_HELD,			/* its backend fills it; the worker leaves it alone */
	EMOGI_SLOT_QUEUED,			/* a request waits for the worker */
	EMOGI_SLOT_RUNNING,			/* the worker has it; nobody else touches request, reply or the
								 * Region behind it */
	EMOGI_SLOT_DONE,			/* reply is there */
	EMOGI_SLOT_FAILED,			/* the worker ended while it ran */
	EMOGI_SLOT_ORPHAN			/* RUNNING, but its backend has gone: the worker frees it when it
								 * has finished */
} EmogiSlotState;

typedef enum EmogiRequestKind
{
	EMOGI_REQUEST_DICTIONARY,	/* that of the slot's key table, and its codes for the ends of the
								 * slot's edges */
	EMOGI_REQUEST_KEYS,			/* the vertices of the slot's edges */
	EMOGI_REQUEST_CSR,			/* the Graph of the slot's edges */
	EMOGI_REQUEST_EXPAND,		/* the edges of a Graph, into the slot's chunks */
	EMOGI_REQUEST_PACK,			/* a COO of the slot's edges */
	EMOGI_REQUEST_UNPACK,		/* the edges of a COO, into the slot's chunks */
	EMOGI_REQUEST_SPLICE,		/* a Graph from another and the changes of its edges */
	EMOGI_REQUEST_RUN,			/* from here on: a Query on a Graph */
	EMOGI_REQUEST_MSBFS,		/* BFS from each of query.sources by itself, on the CPU */
	EMOGI_REQUEST_PATH,			/* one path between two vertices, on the CPU */
	EMOGI_REQUEST_KINDS
} EmogiRequestKind;

/*
 * What a backend asks of the worker. Pointers lead into the Region, which every process maps at one
 * address.
 */
typedef struct EmogiRequest
{
	EmogiRequestKind kind;
	EmogiWorkerFault fault;		/* for tests; filled in by emogi_call_request */
	int			fault_at;

	/* DICTIONARY, with scratch below */
	EmogiDictionaryInput dictionary;	/* but for its edges and scratch */

	/*
	 * KEYS, CSR and PACK; the edges are the slot's chunks. EXPAND and UNPACK: the chunks are there
	 * and empty, `graph` is the donor
	 */
	EmogiKeyPlan plan;
	EmogiKeyNumbers	keys;			/* in for CSR, out of KEYS through the reply */
	EmogiDirection direction;
	bool		with_backward;
	void	   *memory;			/* CSR: the Graph's block */
	void	   *scratch;

	/* PACK: its form and its arrays. UNPACK: the COO, and */
	EmogiCoo	coo;
	uint64		nruns;
	const EmogiCooRun *runs;	/* [nruns] */

	/* SPLICE: `graph` is the old one, and */
	EmogiMergeInput splice;	/* but for its graph and where its derivation goes */
	uint64		derived_id;		/* that the new Graph will have: the GPU, which may have copies of
								 * the old one, is to derive its own; 0 = it is not */

	/* RUN */
	EmogiEngineChoice engine;
	EmogiGraph	graph;			/* its id is that of the cached Graph, or 0 */
	EmogiQuery	query;
	EmogiResult result;			/* arrays in; counters out through the reply */

	/* MSBFS: RUN's graph and query, and */
	EmogiMsbfsResult batch;		/* memory in */

	/* PATH: RUN's graph, query.sources[0] and query.targets[0], and */
	uint64		max_edges;		/* give up after so many list entries, */
	uint64		max_vertices;	/* or so many vertices */
	uint32	   *path;			/* [nvertices] */
	double	   *path_distance;	/* [nvertices] */
} EmogiRequest;

typedef struct EmogiReply
{
	EmogiStatus status;
	EmogiError	error;
	EmogiDictionary *dictionary;	/* DICTIONARY */
	EmogiKeyNumbers	keys;			/* KEYS */
	EmogiGraph	graph;			/* CSR, SPLICE */
	EmogiCoo	coo;			/* PACK, with */
	EmogiMisfitCounts misfits;
	EmogiResult result;			/* RUN; the counters also of MSBFS and PATH */
	EmogiMsbfsResult batch;		/* MSBFS */
	EmogiPathOutcome path_outcome;	/* PATH */
	uint64		path_length;	/* PATH: vertices */
	uint64		path_settled;	/* PATH: vertices that the search has settled */
	char		engine[8];		/* RUN, MSBFS, PATH: which one answered */
	int			device;			/* number of the GPU that did, as the driver counts; -1 = none */
	char		reason[256];	/* RUN: why `auto` took the CPU; else empty */
	double		started_ms;		/* by emogi_pool_now_ms; 0 = not started; set under
								 * EmogiShared.lock, with RUNNING */
	double		wait_ms;		/* between request and start; the owner's */
	double		busy_ms;		/* of a computing thread's time */
	bool		no_device;		/* RUN: engine = cuda was asked for and there is none; error says
								 * why */
} EmogiReply;

typedef struct EmogiSlot
{
	/* under EmogiShared.lock */
	EmogiSlotState state;
	uint64		token;			/* random; proves to parallel workers whose edges they add */
	uint64		load;			/* random; proves the same to _emogi_sink, while the executor runs
								 * the query of the edges; 0 = it does not */
	bool		load_vertices;	/* that has a column of vertices beside edges */
	uint64		ticket;			/* order of service among QUEUED of equal vtime_ms */
	double		vtime_ms;		/* fair share: see worker.c */
	EmogiWeights weights;		/* of the edges being gathered; UNUSED where the Source has none */
	EmogiKeyType keys;			/* of the ends of the edges that are being gathered */
	EmogiKeyTable *key_table;	/* ... whose numbers the ends are for now; NULL = they are keys, or
								 * codes: */
	int			dictionary;		/* index of the dictionary whose codes the edges have, or the call's
								 * own Graph; -1 = none */
	int			old_dictionary; /* ... of another Graph of the call's; -1 = none */
	/* all that a build has given the dictionary occur among the edges */
	bool		all_codes;
	bool		out_of_codes;	/* a scan has met a key to which the dictionary could give none */
	int			graph;			/* index of the cached Graph that the call has pinned, or builds; -1
								 * = none. Its backend's, without a lock: others read it once */
	int			donor;			/* ... of that whose edges it builds from; -1 = none */
	int			live_state;		/* ... of the live state that it holds; -1 = none */
	int			awaited_state;	/* ... of the live state that it waits for; -1 = none */
	/* ... of that whose build by another call it waits for; -1 = none */
	int			awaited_graph;
	bool		waits_for_room; /* until Graphs that are evicted have given their memory back */

	EmogiCaller caller;			/* pid: 0 = its backend has gone */
	pg_atomic_uint64 nskipped;	/* rows with a NULL end, so far; then those of the call's Graph, as
								 * its snapshot sees them */

	ConditionVariable answered; /* broadcast when state becomes DONE or FAILED */

	/*
	 * written by the owner while HELD, read by the worker while RUNNING; reply the other way round
	 */
	EmogiRequest request;
	EmogiReply	reply;

	/* no lock: see engine.h */
	EmogiControl control;
} EmogiSlot;

#endif							/* EMOGI_SLOT_H */
