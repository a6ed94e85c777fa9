/*
 * check.c: parallel checks over all elements, and parallel searches.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ELEMENTS_PER_PART 2048
#define VISIT_CHUNK 32
#define SMALL_ROUND 256			/* vertices that one thread visits faster than many threads start */
#define SPARSE_ROUND 64			/* a round of fewer than 1 / SPARSE_ROUND of all vertices is visited
								 * in the order of the queue */

/* A check of all elements, divided into parts. */
typedef struct Parts
{
	EmogiCheck *check;
	EmogiCheckPart part;
	void	   *arg;
	uint64_t	count;
	uint64_t	next;			/* atomic: next element */
} Parts;

bool
emogi_check_wrong(EmogiCheck *check, const char *format, ...)
{
	va_list		args;

	if (__atomic_exchange_n(&check->wrong, 1, __ATOMIC_RELAXED) != 0)
		return false;
	va_start(args, format);
	vsnprintf(check->error->message, sizeof(check->error->message), format, args);
	va_end(args);
	check->error->detail[0] = '\0';
	return false;
}

bool
emogi_check_stop(EmogiCheck *check)
{
	const EmogiQuery *query = check->query;
	const EmogiResult *result = check->result;

	if (result->nlevels < 1 || result->nlevels > query->max_iterations)
		return emogi_check_wrong(check, "%u iterations of at most %lld", result->nlevels,
								 (long long) query->max_iterations);
	if (result->nlevels < query->max_iterations && !(result->change < query->tolerance))
		return emogi_check_wrong(check, "stopped after %u iterations with a change of %.17g",
								 result->nlevels, result->change);
	return true;
}

uint64_t *
emogi_check_bits(uint64_t nvertices)
{
	return calloc(nvertices / 64 + 1, sizeof(uint64_t));
}

/* Check parts until none is left. */
static void
take_parts(void *arg, int thread, int nthreads)
{
	Parts	   *parts = arg;
	uint64_t	first;

	while (emogi_check_ok(parts->check) &&
		   (first = emogi_job_claim(&parts->next, ELEMENTS_PER_PART)) < parts->count)
	{
		uint64_t	rest = parts->count - first;

		parts->part(parts->arg, first,
					first + (rest < ELEMENTS_PER_PART ? rest : ELEMENTS_PER_PART));
	}
}

bool
emogi_check_parts(EmogiCheck *check, EmogiCheckPart part, void *arg, uint64_t count)
{
	Parts		parts = {.check = check, .part = part, .arg = arg, .count = count};

	if (check->pool == NULL || count <= ELEMENTS_PER_PART)
		take_parts(&parts, 0, 1);
	else
		emogi_pool_run(check->pool, take_parts, &parts);
	return emogi_check_ok(check);
}

void
emogi_check_queue_buffer_flush(EmogiCheckQueueBuffer *found)
{
	uint64_t	at = emogi_job_claim(&found->queue->tail, found->count);

	for (uint32_t i = 0; i < found->count; i++)
		found->queue->items[at + i] = found->items[i];
	found->count = 0;
}

bool
emogi_check_queue_init(EmogiCheckQueue *queue, EmogiCheck *check,
					   void (*visit) (void *arg, EmogiCheckQueueBuffer *found, uint32_t v),
					   void *arg)
{
	*queue = (EmogiCheckQueue) {.check = check, .visit = visit, .arg = arg};
	queue->items = malloc((check->graph->nvertices + 1) * sizeof(uint32_t));
	queue->round = emogi_check_bits(check->graph->nvertices);
	return queue->items != NULL && queue->round != NULL;
}

void
emogi_check_queue_free(EmogiCheckQueue *queue)
{
	free(queue->items);
	free(queue->round);
}

/* Visit the items of the round in queue order. */
static void
visit_items(void *arg, int thread, int nthreads)
{
	EmogiCheckQueue *queue = arg;
	EmogiCheckQueueBuffer	found;
	uint64_t	first;

	found.queue = queue;
	found.count = 0;
	while (emogi_check_ok(queue->check) &&
		   (first = emogi_job_claim(&queue->next, VISIT_CHUNK)) < queue->end)
	{
		uint64_t	end = first + VISIT_CHUNK < queue->end ? first + VISIT_CHUNK : queue->end;

		for (uint64_t i = first; i < end; i++)
			queue->visit(queue->arg, &found, queue->items[i]);
	}
	emogi_check_queue_buffer_flush(&found);
}

/* Mark the items of the round. */
static void
mark_items(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheckQueue *queue = arg;

	for (uint64_t i = first; i < end; i++)
		emogi_add_bit(queue->round, queue->items[queue->head + i]);
}

/* Visit the marked vertices in order, and clear the marks. */
static void
visit_marked(void *arg, int thread, int nthreads)
{
	EmogiCheckQueue *queue = arg;
	const uint64_t nwords = queue->check->graph->nvertices / 64 + 1;
	EmogiCheckQueueBuffer	found;
	uint64_t	first;

	found.queue = queue;
	found.count = 0;
	while (emogi_check_ok(queue->check) &&
		   (first = emogi_job_claim(&queue->next, VISIT_CHUNK)) < nwords)
	{
		for (uint64_t w = first; w < first + VISIT_CHUNK && w < nwords; w++)
		{
			for (uint64_t word = queue->round[w]; word != 0; word &= word - 1)
				queue->visit(queue->arg, &found,
							 (uint32_t) (w * 64 + (uint64_t) __builtin_ctzll(word)));
			queue->round[w] = 0;
		}
	}
	emogi_check_queue_buffer_flush(&found);
}

/* Run a step of a round, on all threads if the round is large. */
static void
run_round(EmogiCheckQueue *queue, EmogiPoolTask task, uint64_t from)
{
	queue->next = from;
	if (queue->check->pool == NULL || queue->end - queue->head <= SMALL_ROUND)
		task(queue, 0, 1);
	else
		emogi_pool_run(queue->check->pool, task, queue);
}

/*
 * A large round reads the adjacency lists in order, because reading them at random would cost
 * additional cache lines.
 */
bool
emogi_check_search(EmogiCheckQueue *queue)
{
	EmogiCheck *check = queue->check;

	for (queue->head = 0; queue->head < queue->tail && emogi_check_ok(check);
		 queue->head = queue->end)
	{
		queue->end = queue->tail;
		if (queue->end - queue->head <= check->graph->nvertices / SPARSE_ROUND)
			run_round(queue, visit_items, queue->head);
		else if (emogi_check_parts(check, mark_items, queue, queue->end - queue->head))
			run_round(queue, visit_marked, 0);
	}
	return emogi_check_ok(check);
}
