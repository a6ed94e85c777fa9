/*
 * attempt.c: work that may fail without ending the call, for what is nice to know and for what has
 * another way.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/resowner.h"

#include "base/attempt.h"

/*
 * Do work in a subtransaction and in the current memory context. Get NULL when it is done, or else
 * its error, with all its effects undone; it is the caller's to raise again. Not in parallel mode,
 * which has no subtransactions.
 */
ErrorData *
emogi_attempt(void (*work) (void *), void *context)
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

/* Was work ended by somebody who wants the whole call to end? */
bool
emogi_attempt_was_stopped(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
		error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN;
}
