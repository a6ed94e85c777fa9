/*
 * call.h: a call of a SQL function, as its backend has it.
 *
 * emogi_call_begin (call.c) takes a slot for it (slot.c), if limits.c has nothing against it; everything that the call
 * allocates in the Region belongs to that slot. emogi_call_request (request.c) has the engine worker carry out what stands in
 * the slot. While its rows are read the call keeps a holding instead (held_results.c), and takes a slot again to go on. At its end,
 * well or not, it gives back what it has, is recorded for emogi_runs (run_log.c) and counted for emogi_stat_graphs (call_statistics.c).
 */
#ifndef EMOGI_CALL_H
#define EMOGI_CALL_H

#include "portability/instr_time.h"

#include "base/limits.h"
#include "source/source.h"

/* ---- call.c: the life of a call ---- */

/* One line of emogi_runs. Times in ms; 0 = did not happen. */
typedef struct EmogiCallRecord
{
	uint64		id;				/* 0 until it is recorded */
	EmogiCaller caller;
	Oid			relid;			/* that the graph argument names; 0 = a query, which is known by */
	uint64		query;			/* ... the hash of its text without constants */
	char		text[256];		/* that text, or the graph argument, cut off: for emogi_stat_graphs */
	bool		failed;			/* ended by an error or a cancel */
	char		cache[8];		/* hit, stale, built (and published), spliced (likewise), patched, private, index (there was none: index_search.h); empty = did not come so far */
	char		indexes[2 * NAMEDATALEN + 2];	/* that were walked over */
	char		why_private[256];	/* why the Graph of a query or view is not shared */
	char		engine[16];		/* cpu, cuda, or backend: local_search_call.c, or hierarchy: hierarchy_search.c; "backend, " and another: task_pairs.c */
	int			device;			/* number of the GPU; -1 = none */
	char		placement[8];	/* of a run on a GPU */
	char		mapping[16];	/* that a run on a GPU was asked for */
	char		reason[256];	/* why not the GPU */
	double		wait_ms;		/* for a slot, other calls' builds, room, and a free worker in all requests */
	double		scan_ms;
	double		keys_ms;
	double		csr_ms;
	double		transfer_ms;
	double		run_ms;			/* the engine's own time */
	double		rows_ms;
	double		total_ms;
	uint64		nvertices;
	uint64		nedges;			/* list entries */
	uint64		nreached;
	uint32		nlevels;
	uint64		edges_traversed;
	uint64		link_bytes;
	int			nlinks;
	int			nservers;		/* that foreign tables were read from */
	int			nconnections;	/* to them */
	uint64		nranges;		/* of their tables */
	uint64		network_bytes;	/* of rows that came from them */
	uint64		nrows;
	double		refresh_ms;		/* to find out what has changed */
	double		splice_ms;		/* to make a Graph of another and the changes */
	uint64		nlooked;		/* pages that were looked at */
	uint64		nby_map;		/* ... that the visibility map vouched for */
	uint64		nby_lsn;		/* ... their LSN */
	uint64		nchanges;		/* of edges that were found */
	double		age_ms;			/* stale: since the Graph was known to be exact */
} EmogiCallRecord;

typedef struct EmogiCall
{
	EmogiSlot  *slot;			/* NULL = given back, see emogi_call_hold */
	int			slot_index;
	int			holding;		/* index; -1 = none: with no slot either, it has nothing that others could want */
	int			waiter;			/* index, while it waits for its first slot; -1 = none */
	bool		limited;		/* no superuser's */
	uint64		token;
	void		(*rest) (void *arg);	/* gives back what is not needed until more rows are asked for; NULL = nothing is */
	void	   *rest_arg;
	bool		is_recorded;	/* in emogi_runs */
	bool		rows_are_local; /* its rows are read from memory of the backend's own */
	struct EmogiCall **holder;	/* of a call that may be ended at any time: who may come back for its result */
	Oid			function;		/* the SQL function that was called: its schema is the extension's */
	void	   *owner;			/* the ResourceOwner whose end frees the slot on any error */
	EmogiPhase	phase;			/* what the call is doing now, since `since` */
	instr_time	since;
	double		waited_since_ms;	/* what emogi_shared_waited_ms said then */
	double		phase_ms[EMOGI_NPHASES];
	EmogiCallRecord record;			/* filled in on the way; recorded when the call ends, well or not */
	struct EmogiCall *next;
} EmogiCall;

extern uint64 emogi_call_make_token(void);
extern EmogiCall *emogi_call_enter(Oid function, const char *name, const EmogiSource *source);
extern EmogiCall *emogi_call_begin(Oid function, const char *name, const EmogiSource *source);
extern void emogi_call_end(EmogiCall *call);
extern bool emogi_call_is_active(const EmogiCall *call);
extern bool emogi_call_hold(EmogiCall *call);
extern void emogi_call_take_slot(EmogiCall *call);
extern void emogi_call_leave(EmogiCall *call);
extern void emogi_call_init(void);
extern bool emogi_call_make_room(uint64 bytes);
extern void emogi_call_finish(EmogiCall *call, EmogiCall **holder);
extern void emogi_call_resume(EmogiCall *call);
extern void emogi_call_phase(EmogiCall *call, EmogiPhase phase);
extern void emogi_call_note_private(EmogiCall *call, const char *why);
extern void *emogi_call_alloc(EmogiCall *call, Size bytes);
extern void *emogi_call_alloc_any(EmogiCall *call, Size bytes);

/*
 * What calls keep in memory of their own, while nothing is asked of the engine, and not in the Region: so many bytes at most.
 * Copying them takes less than a tenth of the run before it.
 */
#define EMOGI_COPIED_BYTES (256 * 1024)

/* ---- slot.c: slots ---- */

extern EmogiLimit emogi_slot_take(EmogiCall *call);
extern void emogi_slot_leave(EmogiSlot *slot);
extern void emogi_slot_free(EmogiSlot *slot);
extern bool emogi_slot_edges(const EmogiSlot *slot, EmogiEdges *edges, void *(*allocate) (Size));

/* ---- request.c ---- */

extern void emogi_request_require_engine(void);
extern const EmogiReply *emogi_call_request(EmogiCall *call);
extern void emogi_request_abandon(const EmogiSlot *slot);

/* ---- held_results.c ---- */

extern int	emogi_held_results_take(EmogiSlot *slot);
extern void emogi_held_results_return(int index, EmogiSlot *slot);
extern void emogi_held_results_wait(int index, bool waits);
extern bool emogi_held_results_join(int index, uint64 token);
extern void emogi_held_results_leave(int index);
extern void emogi_held_results_finish(int index, bool finished);

/* ---- run_log.c: what has been run ---- */

extern Size emogi_run_log_shmem_size(void);
extern void emogi_run_log_shmem_startup(bool found);
extern void emogi_run_log_note(EmogiCallRecord *run, const EmogiRequest *request, const EmogiReply *reply);
extern void emogi_run_log_record(const EmogiCallRecord *run);
extern int	emogi_run_log_copy(EmogiCallRecord *entries);
extern void emogi_run_log_clear(void);

/* ---- call_statistics.c: how often what has been called ---- */

/* Whose calls of what are counted together. Zero where nothing stands: it is hashed and compared as bytes. */
typedef struct EmogiStatisticKey
{
	Oid			database;
	Oid			userid;
	Oid			relid;			/* 0 = a query */
	uint32		unused;
	uint64		query;			/* 0 = a relation */
	char		function[32];
} EmogiStatisticKey;

/* One line of emogi_stat_graphs. Times in ms. */
typedef struct EmogiStatistic
{
	EmogiStatisticKey key;
	char		source[256];	/* text of the query, or the first graph argument that named the relation; cut off */
	uint64		ncalls;
	uint64		nerrors;
	uint64		nhits;			/* the Graph was there */
	uint64		nsteps;			/* it was made of an older one, or that was used with what has changed */
	uint64		nbuilds;
	uint64		nprivate;		/* it was built for the call */
	uint64		nwalks;			/* there was none */
	uint64		nrows;
	uint64		edges_traversed;
	double		total_ms;
	double		min_ms;
	double		max_ms;
	double		build_ms;		/* from the table to the Graph, or from an older one */
	double		run_ms;
	double		wait_ms;
	double		use;			/* calls, those of long ago for less: who is least used makes room */
	TimestampTz since;			/* the beginning of the first call that is counted */
	TimestampTz last_call;		/* ... and of the one that ended last */
} EmogiStatistic;

extern Size emogi_call_statistics_shmem_size(void);
extern void emogi_call_statistics_shmem_startup(bool found);
extern void emogi_call_statistics_count(const EmogiCallRecord *run);
extern int	emogi_call_statistics_copy(EmogiStatistic *statistics, uint64 *ngone, TimestampTz *reset_at);
extern void emogi_call_statistics_reset(void);

#endif							/* EMOGI_CALL_H */
