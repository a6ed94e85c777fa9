/*
 * runs.c: what has been run: the last runs, in shared memory, for emogi_runs.
 */
#include "emogi.h"

Size
emogi_runs_shmem_size(void)
{
	return 0;
}

void
emogi_runs_shmem_startup(bool found)
{
}

void
emogi_runs_record(const EmogiRunEntry *run)
{
}
