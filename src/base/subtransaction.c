/*
 * subtransaction.c: work that may fail without failing the call: optional information, and work
 * that has a fallback
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/resowner.h"

#include "base/subtransaction.h"

/*
 * Run work in a subtransaction, in the current memory context. Return NULL if it succeeds;
 * otherwise return its error with all its effects rolled back, for the caller to rethrow if it
 * wants to. Not allowed in parallel mode, which has no subtransactions.
 */
ErrorData *
emogi_subtransaction_run(void (*work) (void *), void *context)
{
	MemoryContext memory = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(memory);
	PG_TRY();
	{
		work(context);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(memory);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(memory);
	CurrentResourceOwner = owner;
	return error;
}

/* Was the work interrupted by a request to end the whole call? */
bool
emogi_subtransaction_was_stopped(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
		error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN;
}

/*
 * Return true if work has succeeded, which ended with this error or NULL; free the error. Raises a
 * request to end the whole call.
 */
bool
emogi_subtransaction_has_succeeded(ErrorData *error)
{
	if (error == NULL)
		return true;
	if (emogi_subtransaction_was_stopped(error))
		ReThrowError(error);
	FreeErrorData(error);
	return false;
}

/*
 * Run work in a subtransaction; return false if it failed. Raises a request to end the whole call.
 */
bool
emogi_subtransaction_try(void (*work) (void *), void *context)
{
	return emogi_subtransaction_has_succeeded(emogi_subtransaction_run(work, context));
}
