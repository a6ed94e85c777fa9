/*
 * token.c: random numbers by which other processes of a session find its objects in shared memory
 */
#include "postgres.h"

#include "call/call.h"

#define EMOGI_TOKENS_AT_ONCE 128

/*
 * Return an unguessable random number that identifies a call or a part of it. They are drawn in
 * batches, because drawing one costs a tenth of a one-hop search.
 */
uint64
emogi_call_make_token(void)
{
	static uint64 drawn[EMOGI_TOKENS_AT_ONCE];
	static int	ndrawn = 0;

	if (ndrawn == 0)
	{
		if (!pg_strong_random(drawn, sizeof drawn))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate a random number")));
		ndrawn = EMOGI_TOKENS_AT_ONCE;
	}
	return (drawn[--ndrawn] & PG_INT64_MAX) | 1;
}

/*
 * Draw a token for an object in shared memory that this session owns. Others compare it under
 * EmogiShared.lock.
 */
void
emogi_call_set_token(uint64 *token)
{
	const uint64 drawn = emogi_call_make_token();

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	*token = drawn;
	LWLockRelease(emogi_shared->lock);
}
