/*
 * pool.c: a thread pool that runs one task at a time, and populating of mapped memory.
 *
 * A new epoch announces a step. A thread that sees no new epoch spins briefly, because consecutive
 * levels of a BFS are microseconds apart, and then sleeps in a futex on the epoch. The caller waits
 * for `running` to reach zero in the same way. If there are more threads than processors, no thread
 * spins, because the others need the processor.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pool.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define SPIN_NS 30000			/* about the cost of a sleep and a wake-up */
#define PAUSES_PER_CLOCK_READ 32		/* between two reads of the clock */
#define STACK_BYTES ((size_t) 1 << 20)

typedef struct PoolThread
{
	EmogiPool  *pool;
	int			number;
	pthread_t	handle;
} PoolThread;

struct EmogiPool
{
	int			nthreads;
	int64_t		spin_ns;
	PoolThread *threads;		/* [nthreads]; entry 0 is the caller and has no handle */
	EmogiPoolTask task;			/* task, arg, stop: written by the caller before it changes the
								 * epoch */
	void	   *arg;
	bool		stop;
	_Alignas(EMOGI_LINE_BYTES) uint32_t epoch;	/* futex: number of the announced step */
	uint32_t	sleepers;		/* threads that sleep on epoch or are about to */
	_Alignas(EMOGI_LINE_BYTES) uint32_t running;	/* futex: threads that have not finished the
													 * step */
	uint32_t	caller_sleeps;
};

/* Get the monotonic time in nanoseconds. */
static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Hint to the processor that this is a spin loop. */
static inline void
pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* Sleep while *word == expected; may return early. */
static void
futex_wait(uint32_t *word, uint32_t expected)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

/* Wake all threads that sleep on word. */
static void
futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Spin up to spin_ns until *word differs from `from`; false if it does not. */
static bool
spin_while_equal(uint32_t *word, uint32_t from, int64_t spin_ns)
{
	int64_t		end;

	if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != from)
		return true;
	if (spin_ns == 0)
		return false;
	end = now_ns() + spin_ns;
	do
	{
		for (int i = 0; i < PAUSES_PER_CLOCK_READ; i++)
		{
			if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != from)
				return true;
			pause_briefly();
		}
	} while (now_ns() < end);
	return false;
}

/* Run steps until the pool stops: the main function of threads 1 .. nthreads-1. */
static void *
thread_main(void *arg)
{
	PoolThread *thread = arg;
	EmogiPool  *pool = thread->pool;
	uint32_t	seen = 0;

	for (;;)
	{
		if (!spin_while_equal(&pool->epoch, seen, pool->spin_ns))
		{
			__atomic_fetch_add(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
			while (__atomic_load_n(&pool->epoch, __ATOMIC_SEQ_CST) == seen)
				futex_wait(&pool->epoch, seen);
			__atomic_fetch_sub(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
		}
		seen++;
		if (pool->stop)
			return NULL;
		pool->task(pool->arg, thread->number, pool->nthreads);
		if (__atomic_sub_fetch(&pool->running, 1, __ATOMIC_SEQ_CST) == 0 &&
			__atomic_load_n(&pool->caller_sleeps, __ATOMIC_SEQ_CST) != 0)
			futex_wake(&pool->running);
	}
}

/* Publish a new epoch and wake sleeping threads. */
static void
announce(EmogiPool *pool)
{
	__atomic_fetch_add(&pool->epoch, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&pool->sleepers, __ATOMIC_SEQ_CST) != 0)
		futex_wake(&pool->epoch);
}

/* Stop and join the threads 1 .. nstarted, and free the pool. */
static void
dismantle(EmogiPool *pool, int nstarted)
{
	pool->stop = true;
	announce(pool);
	for (int i = 1; i <= nstarted; i++)
		pthread_join(pool->threads[i].handle, NULL);
	free(pool->threads);
	free(pool);
}

/* Get the number of processors that this process may use. */
static int
count_processors(void)
{
	cpu_set_t	set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return CPU_COUNT(&set);
	return (int) sysconf(_SC_NPROCESSORS_ONLN);
}

/* Start the threads with all signals blocked; return how many were started. */
static int
start_threads(EmogiPool *pool)
{
	pthread_attr_t attributes;
	sigset_t	all,
				before;
	int			nstarted = 0;

	if (pthread_attr_init(&attributes) != 0)
		return 0;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 1; i < pool->nthreads; i++)
	{
		pool->threads[i] = (PoolThread) {.pool = pool, .number = i};
		if (pthread_create(&pool->threads[i].handle, &attributes, thread_main, &pool->threads[i]) !=
			0)
			break;
		nstarted++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return nstarted;
}

EmogiPool *
emogi_pool_create(int nthreads)
{
	EmogiPool  *pool = NULL;
	int			nstarted;

	if (nthreads < 1 || posix_memalign((void **) &pool, EMOGI_LINE_BYTES, sizeof(EmogiPool)) != 0)
		return NULL;
	*pool = (EmogiPool) {.nthreads = nthreads};
	pool->spin_ns = nthreads <= count_processors() ? SPIN_NS : 0;
	pool->threads = calloc((size_t) nthreads, sizeof(PoolThread));
	if (pool->threads == NULL)
	{
		free(pool);
		return NULL;
	}
	nstarted = start_threads(pool);
	if (nstarted < nthreads - 1)
	{
		dismantle(pool, nstarted);
		return NULL;
	}
	return pool;
}

void
emogi_pool_destroy(EmogiPool *pool)
{
	if (pool != NULL)
		dismantle(pool, pool->nthreads - 1);
}

int
emogi_pool_size(const EmogiPool *pool)
{
	return pool->nthreads;
}

void
emogi_pool_run(EmogiPool *pool, EmogiPoolTask task, void *arg)
{
	uint32_t	running;

	if (pool->nthreads == 1)
	{
		task(arg, 0, 1);
		return;
	}
	pool->task = task;
	pool->arg = arg;
	__atomic_store_n(&pool->running, (uint32_t) pool->nthreads - 1, __ATOMIC_RELAXED);
	announce(pool);
	task(arg, 0, pool->nthreads);

	while ((running = __atomic_load_n(&pool->running, __ATOMIC_SEQ_CST)) != 0)
	{
		if (spin_while_equal(&pool->running, running, pool->spin_ns))
			continue;
		__atomic_store_n(&pool->caller_sleeps, 1, __ATOMIC_SEQ_CST);
		while ((running = __atomic_load_n(&pool->running, __ATOMIC_SEQ_CST)) != 0)
			futex_wait(&pool->running, running);
		__atomic_store_n(&pool->caller_sleeps, 0, __ATOMIC_SEQ_CST);
	}
}

bool
emogi_pool_populate(void *start, size_t bytes)
{
	uintptr_t	page = (uintptr_t) sysconf(_SC_PAGESIZE);
	uintptr_t	first = (uintptr_t) start & ~(page - 1);
	uintptr_t	end = ((uintptr_t) start + bytes + page - 1) & ~(page - 1);

	if (bytes == 0)
		return true;
	while (madvise((void *) first, end - first, MADV_POPULATE_WRITE) != 0)
	{
		if (errno == EINVAL)
			return true;		/* not supported by this kernel */
		if (errno != EAGAIN && errno != EINTR)
			return false;
	}
	return true;
}

double
emogi_pool_now_ms(void)
{
	return (double) now_ns() / 1e6;
}
