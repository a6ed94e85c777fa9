/*
 * heap.h: a d-ary heap in an array: its operations for one type of elements
 *
 * As with PostgreSQL's lib/simplehash.h, the includer defines parameters, which are undefined again
 * at the end, and may include the file several times:
 *
 *	HEAP_PREFIX					prefix of the functions
 *	HEAP_ELEMENT				type of an element
 *	HEAP_BEFORE(heap, a, b)		true if element a is to be popped before b
 *	HEAP_FANOUT					children of a node (2)
 *	HEAP_TYPE					type of the argument `heap` (HEAP_ELEMENT *)
 *	HEAP_GET(heap, i)			element i (heap[i])
 *	HEAP_SET(heap, i, element)	store element i
 *
 * The functions:
 *
 *	void PREFIX_push(heap, &count, element)		into an array that has room
 *	HEAP_ELEMENT PREFIX_pop(heap, &count)		the first one, of a heap that is not empty
 *	void PREFIX_sift_down(heap, count, i, element)		store an element at node i or below
 */
#ifndef HEAP_FANOUT
#define HEAP_FANOUT 2
#endif
#ifndef HEAP_TYPE
#define HEAP_TYPE HEAP_ELEMENT *
#endif
#ifndef HEAP_GET
#define HEAP_GET(heap, i) (heap)[i]
#define HEAP_SET(heap, i, element) ((heap)[i] = (element))
#endif
#define HEAP_JOIN_(prefix, name) prefix##_##name
#define HEAP_JOIN(prefix, name) HEAP_JOIN_(prefix, name)
#define HEAP_NAME(name) HEAP_JOIN(HEAP_PREFIX, name)

static inline void
HEAP_NAME(sift_down)(HEAP_TYPE heap, uint64_t count, uint64_t i, HEAP_ELEMENT element)
{
	while (HEAP_FANOUT * i + 1 < count)
	{
		const uint64_t first = HEAP_FANOUT * i + 1;
		uint64_t	child = first;

		for (uint64_t other = first + 1; other < first + HEAP_FANOUT && other < count; other++)
			if (HEAP_BEFORE(heap, HEAP_GET(heap, other), HEAP_GET(heap, child)))
				child = other;
		if (!HEAP_BEFORE(heap, HEAP_GET(heap, child), element))
			break;
		HEAP_SET(heap, i, HEAP_GET(heap, child));
		i = child;
	}
	HEAP_SET(heap, i, element);
}

static inline void
HEAP_NAME(push)(HEAP_TYPE heap, uint64_t *count, HEAP_ELEMENT element)
{
	uint64_t	i = (*count)++;

	for (; i > 0; i = (i - 1) / HEAP_FANOUT)
	{
		const HEAP_ELEMENT parent = HEAP_GET(heap, (i - 1) / HEAP_FANOUT);

		if (!HEAP_BEFORE(heap, element, parent))
			break;
		HEAP_SET(heap, i, parent);
	}
	HEAP_SET(heap, i, element);
}

static inline HEAP_ELEMENT
HEAP_NAME(pop)(HEAP_TYPE heap, uint64_t *count)
{
	const uint64_t left = --(*count);
	const HEAP_ELEMENT first = HEAP_GET(heap, 0);
	const HEAP_ELEMENT last = HEAP_GET(heap, left);

	HEAP_NAME(sift_down)(heap, left, 0, last);
	return first;
}

#undef HEAP_PREFIX
#undef HEAP_ELEMENT
#undef HEAP_BEFORE
#undef HEAP_FANOUT
#undef HEAP_TYPE
#undef HEAP_GET
#undef HEAP_SET
#undef HEAP_JOIN_
#undef HEAP_JOIN
#undef HEAP_NAME
