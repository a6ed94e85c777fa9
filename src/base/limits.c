/*
 * limits.c: limits per session and per role on calls, slots, and arena memory
 *
 * All users share EMOGI_NSLOTS slots, EMOGI_NHELD_RESULTS held results and one memory budget, and
 * anybody may call a function on the edges of a query. To keep one user from taking everything,
 * each slot and each held result has an account: its session and role, and the number of its
 * extents, which extents.c updates when extents are allocated, transferred and freed. Limits apply
 * to the sums over the accounts in use, which are few. Superusers are not limited.
 *
 * Cached graphs are shared, but pinned ones cannot be evicted. Therefore the graphs that a role's
 * other calls have pinned count as memory of the role, each once. The graph pinned by the call
 * itself does not count: every call may use what is cached. Unpinned graphs can be evicted, first
 * those of roles above their memory limit (cache/cache_share.c).
 *
 * Defaults: 64 calls per session, which is far more than a plan needs and half of the slots; half
 * of the held results and three quarters of the slots per role, because slots are occupied only
 * during a request, so that a quarter serves many other roles; three quarters of the memory for
 * both, because with less a role could not build a large graph that fits the arena.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"

#include "base/compat.h"
#include "base/limits.h"
#include "base/arena.h"
#include "base/settings.h"

/* The default (-1) of the memory limits, as a share of the budget. */
#define DEFAULT_MEMORY_SHARE 0.75

/* A single object in a backend may take 1 / BACKEND_SHARE of the budget. */
#define BACKEND_SHARE 4

/* Gets the bytes of a cached graph by its index; set by the cache. */
static uint64 (*graph_bytes) (int graph);

/* The settings; 0 = no limit; memory: -1 = DEFAULT_MEMORY_SHARE. */
static int	session_calls = 64;
static int	role_calls = EMOGI_NHELD_RESULTS / 2;
static int	role_slots = EMOGI_NSLOTS / 4 * 3;
static int	session_memory_mb = -1;
static int	role_memory_mb = -1;
static int	max_server_connections = 16;

/* Define the settings of limits; called once, in the postmaster. */
void
emogi_limits_define(void)
{
	DefineCustomIntVariable("emogi.session_calls",
							"Sets the maximum number of concurrent calls per session.",
							"0 disables the limit. Superusers are exempt.",
							&session_calls, 64, 0, EMOGI_NACCOUNTS,
							PGC_SUSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.role_calls",
							"Sets the maximum number of concurrent calls per role.",
							"0 disables the limit. Superusers are exempt.",
							&role_calls, EMOGI_NHELD_RESULTS / 2, 0, EMOGI_NACCOUNTS,
							PGC_SUSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.role_slots",
							"Sets the maximum number of calls per role that use the engine at the "
							"same time; further calls wait.",
							"0 disables the limit. Superusers are exempt.",
							&role_slots, EMOGI_NSLOTS / 4 * 3, 0, EMOGI_NSLOTS,
							PGC_SUSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.session_memory",
							"Sets the maximum shared memory of the calls of a session.",
							"-1 means three quarters of emogi.max_memory; 0 disables the limit. "
							"Superusers are exempt.",
							&session_memory_mb, -1, -1, INT_MAX / 2,
							PGC_SUSET, EMOGI_SETTING_FLAGS | GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.role_memory",
							"Sets the maximum shared memory of the calls of a role.",
							"-1 means three quarters of emogi.max_memory; 0 disables the limit. "
							"Superusers are exempt.",
							&role_memory_mb, -1, -1, INT_MAX / 2,
							PGC_SUSET, EMOGI_SETTING_FLAGS | GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.max_server_connections",
							"Sets the maximum of emogi.server_connections for roles that are not "
							"superusers.",
							"Superusers can use 64.",
							&max_server_connections, 16, 1, 64,
							PGC_SUSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
}

/*
 * Set the cache's callback for the size of its graphs, because the cache is a higher layer. Called
 * once, in the postmaster.
 */
void
emogi_limits_set_size_callback(uint64 (*bytes) (int graph))
{
	graph_bytes = bytes;
}

/* ---- accounts; caller holds EmogiShared.lock ---- */

/* Open the account of a slot or a held result that has no memory yet. */
void
emogi_limits_open_account(int index, int pid, Oid userid, bool limited)
{
	EmogiAccount *account = &emogi_shared->accounts[index];

	memset(account, 0, sizeof *account);
	account->pid = pid;
	account->userid = userid;
	account->limited = limited;
	emogi_shared->accounts_end = Max(emogi_shared->accounts_end, index + 1);
}

/* Close an account that has no memory left. */
void
emogi_limits_close_account(int index)
{
	emogi_shared->accounts[index].pid = 0;
	while (emogi_shared->accounts_end > 0 &&
		   emogi_shared->accounts[emogi_shared->accounts_end - 1].pid == 0)
		emogi_shared->accounts_end--;
}

/*
 * Get the index of the cached graph that an account keeps pinned; -1 = none. Read it only once: its
 * owner may change it at any time.
 */
static int
pinned_graph(int index)
{
	const volatile int *graph = index < EMOGI_NSLOTS ? &emogi_shared->slots[index].graph :
		&emogi_shared->held_results[index - EMOGI_NSLOTS].graph;

	return *graph;
}

/* As pid: all sessions. */
#define ALL_SESSIONS (-1)

/* Does an account belong to a session (pid), to any, or to a role (pid = 0)? */
static inline bool
counts(const EmogiAccount *account, int pid, Oid userid)
{
	if (pid == ALL_SESSIONS)
		return account->pid != 0;
	return pid != 0 ? account->pid == pid :
		account->pid != 0 && account->userid == userid && account->limited;
}

/* Count the calls of a session or a role among the first naccounts accounts. */
static int
count_calls(int naccounts, int pid, Oid userid)
{
	int			n = 0;

	for (int i = 0; i < Min(naccounts, emogi_shared->accounts_end); i++)
		n += counts(&emogi_shared->accounts[i], pid, userid);
	return n;
}

/* Graphs counted so far; all false between two counts. */
static bool seen[EMOGI_MAX_GRAPHS];

/*
 * Add a graph to the list of counted graphs unless it is there already; -1 = none. Get its extents,
 * or 0 if it was counted before.
 */
static uint64
count_graph(int graph, int *counted, int *ncounted)
{
	if (graph < 0 || seen[graph])
		return 0;
	seen[graph] = true;
	counted[(*ncounted)++] = graph;
	return graph_bytes(graph) / EMOGI_EXTENT_BYTES;
}

/*
 * Sum the extents of a session or a role: those of its calls, and of the graphs they have pinned
 * except one.
 */
static uint64
count_extents(int pid, Oid userid, int without_graph)
{
	static int	counted[EMOGI_NACCOUNTS];
	int			ncounted = 0;
	uint64		n = 0;

	if (without_graph >= 0)
		seen[without_graph] = true;
	for (int i = 0; i < emogi_shared->accounts_end; i++)
	{
		const EmogiAccount *account = &emogi_shared->accounts[i];

		if (counts(account, pid, userid))
			n += account->nchunks + account->nothers +
				count_graph(pinned_graph(i), counted, &ncounted);
	}
	while (ncounted > 0)
		seen[counted[--ncounted]] = false;
	if (without_graph >= 0)
		seen[without_graph] = false;
	return n;
}

/* Get a memory setting in extents, rounded up; 0 = no limit. */
static uint64
memory_limit(int setting_mb)
{
	if (setting_mb < 0)
		return Max((uint64) (emogi_arena_budget_bytes() * DEFAULT_MEMORY_SHARE /
							 EMOGI_EXTENT_BYTES), 1);
	return ((uint64) setting_mb * 1024 * 1024 + EMOGI_EXTENT_BYTES - 1) / EMOGI_EXTENT_BYTES;
}

/* Would one more call exceed the limits of its session or role? */
EmogiLimit
emogi_limits_check_calls(int pid, Oid userid)
{
	if (session_calls > 0 && count_calls(EMOGI_NACCOUNTS, pid, InvalidOid) >= session_calls)
		return EMOGI_LIMIT_SESSION_CALLS;
	if (role_calls > 0 && count_calls(EMOGI_NACCOUNTS, 0, userid) >= role_calls)
		return EMOGI_LIMIT_ROLE_CALLS;
	return EMOGI_WITHIN_LIMITS;
}

/* Would one more slot exceed the limit of a role? */
EmogiLimit
emogi_limits_check_slots(Oid userid)
{
	if (role_slots > 0 && count_calls(EMOGI_NSLOTS, 0, userid) >= role_slots)
		return EMOGI_LIMIT_ROLE_SLOTS;
	return EMOGI_WITHIN_LIMITS;
}

/* Would this many more extents in an account exceed the limits of its session or role? */
EmogiLimit
emogi_limits_check_memory(const EmogiAccount *account, uint64 nextents)
{
	uint64		session_limit = memory_limit(session_memory_mb);
	uint64		role_limit = memory_limit(role_memory_mb);
	int			graph = pinned_graph((int) (account - emogi_shared->accounts));

	if (!account->limited)
		return EMOGI_WITHIN_LIMITS;
	if (session_memory_mb != 0 &&
		count_extents(account->pid, InvalidOid, graph) + nextents > session_limit)
		return EMOGI_LIMIT_SESSION_MEMORY;
	if (role_memory_mb != 0 && count_extents(0, account->userid, graph) + nextents > role_limit)
		return EMOGI_LIMIT_ROLE_MEMORY;
	return EMOGI_WITHIN_LIMITS;
}

/* ---- without lock ---- */

/*
 * Get the bytes of other sessions' calls and of the graphs that only they have pinned. What no call
 * uses is nobody's: extents of small allocations, and what the worker keeps.
 */
uint64
emogi_limits_others_bytes(void)
{
	/* a parallel worker's session is that of its leader */
	const int	own = MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader->pid : MyProcPid;
	uint64		n;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	n = count_extents(ALL_SESSIONS, InvalidOid, -1) - count_extents(own, InvalidOid, -1);
	LWLockRelease(emogi_shared->lock);
	return n * EMOGI_EXTENT_BYTES;
}

/* Get the bytes of a role's calls, without the graphs they have pinned. */
uint64
emogi_limits_bytes_of_calls(Oid userid)
{
	uint64		n = 0;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	for (int i = 0; i < emogi_shared->accounts_end; i++)
		if (counts(&emogi_shared->accounts[i], 0, userid))
			n += emogi_shared->accounts[i].nchunks + emogi_shared->accounts[i].nothers;
	LWLockRelease(emogi_shared->lock);
	return n * EMOGI_EXTENT_BYTES;
}

/* Get the bytes that calls of the current user may use: at most emogi.max_memory. */
uint64
emogi_limits_allowed_bytes(void)
{
	uint64		allowed = emogi_arena_budget_bytes();

	if (superuser())
		return allowed;
	if (session_memory_mb != 0)
		allowed = Min(allowed, memory_limit(session_memory_mb) * EMOGI_EXTENT_BYTES);
	if (role_memory_mb != 0)
		allowed = Min(allowed, memory_limit(role_memory_mb) * EMOGI_EXTENT_BYTES);
	return allowed;
}

/*
 * Get the bytes that a single object of a call may take in its backend: a quarter of
 * emogi.max_memory, but no more than the current user's calls may use.
 */
uint64
emogi_limits_backend_bytes(void)
{
	return Min(emogi_arena_budget_bytes() / BACKEND_SHARE, emogi_limits_allowed_bytes());
}

/*
 * Get the bytes that the current user's cached graphs may take before they evict each other;
 * PG_UINT64_MAX = no limit.
 */
uint64
emogi_limits_role_bytes(void)
{
	return role_memory_mb == 0 ? PG_UINT64_MAX : memory_limit(role_memory_mb) * EMOGI_EXTENT_BYTES;
}

/*
 * Get the number of connections that a call of the current user may open to each server; 0 =
 * postgres_fdw reads it.
 */
int
emogi_limits_server_connections(void)
{
	return superuser() ? emogi_server_connections :
		Min(emogi_server_connections, max_server_connections);
}

/* Raise 53400 for a limit on the number of calls. */
static void
report_calls(const char *whose, const char *what, const char *setting, int limit)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("too many concurrent emogi calls of this %s", whose),
			 errdetail("It has %d %s, the maximum that %s allows.", limit, what, setting),
			 errhint("Close cursors over emogi's functions, or have a superuser raise %s.",
					 setting)));
}

/* Raise 53400 for a memory limit. */
static void
report_memory(const char *whose, const char *setting, int setting_mb)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("the emogi calls of this %s take too much memory", whose),
			 errdetail("%s allows %llu bytes for their graphs and results.", setting,
					   (unsigned long long) (memory_limit(setting_mb) * EMOGI_EXTENT_BYTES)),
			 errhint("Select fewer edges, close cursors over emogi's functions, or have a "
					 "superuser raise %s.", setting)));
}

/* Raise 53400 for the limit that was reached, or 53000 if all slots are in use. */
void
emogi_limits_report(EmogiLimit limit)
{
	switch (limit)
	{
		case EMOGI_WITHIN_LIMITS:
			return;
		case EMOGI_LIMIT_SLOTS:
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("more than %d emogi calls are in progress", EMOGI_NSLOTS),
					 errhint("Close cursors over emogi's functions, or try again when fewer "
							 "sessions use them.")));
			break;
		case EMOGI_LIMIT_ROLE_SLOTS:
			report_calls("role", "calls with the engine", "emogi.role_slots", role_slots);
			break;
		case EMOGI_LIMIT_SESSION_CALLS:
			report_calls("session", "calls", "emogi.session_calls", session_calls);
			break;
		case EMOGI_LIMIT_ROLE_CALLS:
			report_calls("role", "calls", "emogi.role_calls", role_calls);
			break;
		case EMOGI_LIMIT_SESSION_MEMORY:
			report_memory("session", "emogi.session_memory", session_memory_mb);
			break;
		case EMOGI_LIMIT_ROLE_MEMORY:
			report_memory("role", "emogi.role_memory", role_memory_mb);
			break;
	}
}
