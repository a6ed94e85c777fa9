/*
 * activity.c: the engine worker's entry in pg_stat_activity: the requests that its threads process.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "pgstat.h"

#include "worker/activity.h"

/* Work in progress. The caller may exit before it finishes, and its slot may be reused. */
typedef struct Activity
{
	EmogiWorkKind kind;
	const EmogiSlot *slot;		/* slot of a request */
	EmogiRequestKind step;
	int			pid;			/* of the session */
	char		function[sizeof ((EmogiCaller *) 0)->function];
} Activity;

static Activity activities[EMOGI_WORKER_THREADS];
static int	nactivities = 0;
static bool changed = false;

/* Describe work in progress. */
static void
describe(const Activity *work, StringInfo text)
{
	static const char *const steps[] = {
		[EMOGI_REQUEST_DICTIONARY] = "keys",
		[EMOGI_REQUEST_BUILD] = "keys",
		[EMOGI_REQUEST_CSR] = "csr",
		[EMOGI_REQUEST_EXPAND] = "edges",
		[EMOGI_REQUEST_PACK] = "pack",
		[EMOGI_REQUEST_UNPACK] = "edges",
		[EMOGI_REQUEST_MERGE] = "merge",
		[EMOGI_REQUEST_COLUMNS] = "columns",
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
			appendStringInfo(text, "%s for process %d: %s", work->function, work->pid,
							 steps[work->step]);
			break;
		case EMOGI_WORK_FORGET:
			appendStringInfoString(text, "frees memory of a GPU");
			break;
		case EMOGI_WORK_CONTRACT:
			appendStringInfoString(text, "builds a contraction hierarchy");
			break;
	}
}

/* Record that a thread starts some work. */
void
emogi_activity_begin(const EmogiWork *work)
{
	Activity   *next = &activities[nactivities++];

	Assert(nactivities <= EMOGI_WORKER_THREADS);
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

/* Record that some work has ended. */
void
emogi_activity_end(const EmogiWork *work)
{
	for (int i = 0; i < nactivities; i++)
		if (activities[i].kind == work->kind &&
			(work->kind != EMOGI_WORK_REQUEST || activities[i].slot == work->slot))
		{
			activities[i] = activities[--nactivities];
			changed = true;
			return;
		}
}

/* Report the activity if it has changed. */
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
	for (int i = 0; i < nactivities; i++)
	{
		appendStringInfoString(&text, i > 0 ? "; " : "");
		describe(&activities[i], &text);
	}
	if (nactivities > 0)
		pgstat_report_activity(STATE_RUNNING, text.data);
	else
		pgstat_report_activity(STATE_IDLE, "waits for calls");
}
