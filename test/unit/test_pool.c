/*
 * test_pool.c: tests of the thread pool: all threads run all steps, with their numbers, and only
 * the caller receives signals
 */
#include "check.h"
#include "threads/pool.h"
#include "torn.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_THREADS 16

typedef struct Step
{
	uint32_t	calls[MAX_THREADS];
	uint32_t	unblocked;		/* atomic: calls of worker threads that could receive a signal */
	pthread_t	caller;
	int			nthreads;
	bool		sleep;
} Step;

/* Record a call. */
static void
record_call(void *arg, int thread, int nthreads)
{
	Step	   *step = arg;
	sigset_t	blocked;

	step->calls[thread]++;
	if (nthreads != step->nthreads)
		step->calls[thread] += 1000;
	if (thread == 0 && !pthread_equal(pthread_self(), step->caller))
		step->calls[0] += 1000;
	if (thread > 0)
	{
		pthread_sigmask(SIG_SETMASK, NULL, &blocked);
		if (!sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGUSR1))
			__atomic_fetch_add(&step->unblocked, 1, __ATOMIC_RELAXED);
	}
	if (step->sleep && thread % 2 == 1)
		usleep(300);
}

/* Run many steps in a pool of nthreads threads. */
static void
check_pool(int nthreads)
{
	EmogiPool  *pool = emogi_pool_create(nthreads);
	Step		step = {.caller = pthread_self(), .nthreads = nthreads};
	uint32_t	nsteps = 2000;

	CHECK(pool != NULL, "%d threads", nthreads);
	if (pool == NULL)
		return;
	CHECK(emogi_pool_size(pool) == nthreads, "%d", emogi_pool_size(pool));
	for (uint32_t i = 0; i < nsteps; i++)
	{
		step.sleep = i % 50 == 0;
		if (i % 100 == 0)
			usleep(200);		/* let the threads go to sleep */
		emogi_pool_run(pool, record_call, &step);
	}
	for (int t = 0; t < nthreads; t++)
		CHECK(step.calls[t] == nsteps, "thread %d of %d was called %u times", t, nthreads,
			  step.calls[t]);
	CHECK(step.unblocked == 0, "%u calls with signals", step.unblocked);
	emogi_pool_destroy(pool);
}

/* Check that pools can be destroyed without having run a step. */
static void
check_idle_pools(void)
{
	for (int i = 0; i < 50; i++)
	{
		EmogiPool  *pool = emogi_pool_create(1 + i % 5);

		CHECK(pool != NULL, "pool %d", i);
		emogi_pool_destroy(pool);
	}
	emogi_pool_destroy(NULL);
	CHECK(emogi_pool_create(0) == NULL, "a pool without threads");
}

/*
 * Check that populating memory preserves contents, accepts any range, and reports pages that cannot
 * be mapped.
 */
static void
check_populate(void)
{
	size_t		bytes = 1 << 20;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memory[5000] = 7;
	CHECK(emogi_pool_populate(memory + 4999, 10), "a few bytes");
	CHECK(emogi_pool_populate(memory, bytes), "all");
	CHECK(emogi_pool_populate(memory, 0), "nothing");
	CHECK(memory[5000] == 7 && memory[0] == 0, "contents");
	munmap(memory, bytes);
	CHECK(!is_torn_noticed() || !emogi_pool_populate(memory, bytes), "an unmapped range");
}

int
main(void)
{
	double		start = emogi_pool_now_ms();

	check_pool(1);
	check_pool(2);
	check_pool(5);
	check_pool(MAX_THREADS);
	check_idle_pools();
	check_populate();
	CHECK(emogi_pool_now_ms() > start, "the clock does not advance");
	return check_report("test_pool");
}
