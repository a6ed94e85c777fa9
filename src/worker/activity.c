/*
 * activity.c: what the engine worker shows of itself in pg_stat_activity: the requests that its threads have in hand.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "pgstat.h"

#include "worker/activity.h"

/* Work that is in hand. A caller may be gone before it is done, and its slot another's. */
typedef struct Doing
{
	EmogiWorkKind kind;
	const EmogiSlot *slot;		/* of a request */
	EmogiRequestKind step;
	int			pid;			/* of the session */
	char		function[sizeof ((EmogiCaller *) 0)->function];
} Doing;

static Doing doing[EMOGI_WORKER_THREADS];
static int	ndoing = 0;
static bool changed = false;

/* Describe work that is in hand. */
static void
describe(const Doing *work, StringInfo text)
{
	static const char *const steps[] = {
		[EMOGI_REQUEST_DICTIONARY] = "keys",
		[EMOGI_REQUEST_KEYS] = "keys",
		[EMOGI_REQUEST_CSR] = "csr",
		[EMOGI_REQUEST_EXPAND] = "edges",
		[EMOGI_REQUEST_PACK] = "pack",
		[EMOGI_REQUEST_UNPACK] = "edges",
		[EMOGI_REQUEST_SPLICE] = "splice",
		[EMOGI_REQUEST_RUN] = "run",
		[EMOGI_REQUEST_MSBFS] = "run",
		[EMOGI_REQUEST_PATH] = "run"
	};

	switch (work->kind)
	{
		case EMOGI_WORK_OPEN:
			appendStringInfoString(text, "opens the engines");
			break;
		case EMOGI_WORK_REQUEST:
			appendStringInfo(text, "%s for process %d: %s", work->function, work->pid, steps[work->step]);
			break;
		case EMOGI_WORK_FORGET:
			appendStringInfoString(text, "gives memory of a GPU back");
			break;
		case EMOGI_WORK_CONTRACT:
			appendStringInfoString(text, "prepares a graph for far paths");
			break;
	}
}

/* Note that a thread begins with some work. */
void
emogi_activity_begin(const EmogiWork *work)
{
	Doing	   *next = &doing[ndoing++];

	Assert(ndoing <= EMOGI_WORKER_THREADS);
	memset(next, 0, sizeof *next);
	next->kind = work->kind;
	changed = true;
	if (work->kind != EMOGI_WORK_REQUEST)
		return;
	next->slot = work->slot;
	next->step = work->request.kind;
	next->pid = work->slot->caller.pid;
	strlcpy(next->function, work->slot->caller.function, sizeof next->function);
}

/* Note that some work is done with. */
void
emogi_activity_end(const EmogiWork *work)
{
	for (int i = 0; i < ndoing; i++)
		if (doing[i].kind == work->kind && (work->kind != EMOGI_WORK_REQUEST || doing[i].slot == work->slot))
		{
			doing[i] = doing[--ndoing];
			changed = true;
			return;
		}
}

/* Show it, if it has changed. */
void
emogi_activity_report(void)
{
	static StringInfoData text;

	if (!changed)
		return;
	changed = false;
	if (text.data == NULL)
		initStringInfo(&text);
	resetStringInfo(&text);
	for (int i = 0; i < ndoing; i++)
	{
		appendStringInfoString(&text, i > 0 ? "; " : "");
		describe(&doing[i], &text);
	}
	if (ndoing > 0)
		pgstat_report_activity(STATE_RUNNING, text.data);
	else
		pgstat_report_activity(STATE_IDLE, "waits for calls");
}
