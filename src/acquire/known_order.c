/*
 * known_order.c: sort the keys of a scan by the order of a dictionary that has most of them
 *
 * Codes ascend as keys do, in every dictionary of a type. So when a graph is rebuilt because its
 * dictionary is full, the keys that were in it are sorted by their codes, which takes no
 * comparison by the type. The others are merged.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "acquire/acquire.h"

/* Do not use a dictionary that lacks more than 1 / MAX_UNKNOWN of the keys plus FEW_UNKNOWN. */
#define MAX_UNKNOWN 64
#define FEW_UNKNOWN 64

/* A key that the dictionary has. */
typedef struct KnownKey
{
	int64		code;
	uint64		index;			/* in the list of the scan's keys */
} KnownKey;

/* sort_known(keys, count): sort by code; may be canceled. */
#define ST_SORT sort_known
#define ST_ELEMENT_TYPE KnownKey
#define ST_COMPARE(a, b) ((a)->code < (b)->code ? -1 : (a)->code > (b)->code)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Look up keys in a dictionary: known[*nknown] receives those that it has, unknown[*nunknown] the
 * indexes of the others. Return false, with an incomplete result, if there are too many of them.
 */
static bool
look_up(const EmogiDictionary *dictionary, const EmogiTemporaryKey *listed, uint64 nkeys,
		KnownKey *known, uint64 *nknown, uint64 *unknown, uint64 *nunknown, uint64 max_unknown)
{
	EmogiKeyBytes batch[EMOGI_KEYS_IN_FLIGHT];
	int64		codes[EMOGI_KEYS_IN_FLIGHT];

	*nknown = *nunknown = 0;
	for (uint64 first = 0; first < nkeys; first += EMOGI_KEYS_IN_FLIGHT)
	{
		const int	count = (int) Min(nkeys - first, EMOGI_KEYS_IN_FLIGHT);

		CHECK_FOR_INTERRUPTS();
		if (*nunknown + count > max_unknown)
			return false;
		for (int i = 0; i < count; i++)
			batch[i] = listed[first + i].key;
		emogi_dictionary_find_many(dictionary, batch, count, codes);
		for (int i = 0; i < count; i++)
			if (codes[i] != EMOGI_NO_CODE)
				known[(*nknown)++] = (KnownKey) {codes[i], first + i};
			else
				unknown[(*nunknown)++] = first + i;
	}
	return true;
}

/* Get the number of keys of a list, in ascending order, that are less than another key. */
static uint64
count_less(const EmogiTemporaryKey *listed, const KnownKey *known, uint64 nknown,
		   EmogiKeyBytes key, EmogiKeyCoder *coder)
{
	uint64		low = 0;
	uint64		high = nknown;

	while (low < high)
	{
		const uint64 middle = low + (high - low) / 2;

		if (emogi_key_coder_compare(coder, listed[known[middle].index].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Merge keys that the dictionary has with `unknown` keys of the list, into `ordered`. Each of those
 * is inserted into the sorted ones before it, because they are few.
 */
static void
merge(const EmogiTemporaryKey *listed, const KnownKey *known, uint64 nknown, uint64 *unknown,
	  uint64 nunknown, EmogiKeyCoder *coder, EmogiTemporaryKey *ordered)
{
	uint64	   *places = palloc(Max(nunknown, 1) * sizeof *places);
	uint64		next = 0;

	for (uint64 i = 0; i < nunknown; i++)
	{
		const uint64 key = unknown[i];
		const uint64 place = count_less(listed, known, nknown, listed[key].key, coder);
		uint64		at = i;

		CHECK_FOR_INTERRUPTS();
		for (; at > 0 && (places[at - 1] > place ||
						  (places[at - 1] == place &&
						   emogi_key_coder_compare(coder, listed[unknown[at - 1]].key,
												   listed[key].key) > 0)); at--)
		{
			places[at] = places[at - 1];
			unknown[at] = unknown[at - 1];
		}
		places[at] = place;
		unknown[at] = key;
	}
	for (uint64 i = 0; i <= nknown; i++)
	{
		while (next < nunknown && places[next] == i)
			*ordered++ = listed[unknown[next++]];
		if (i < nknown)
			*ordered++ = listed[known[i].index];
	}
}

/*
 * Put keys into the order of a dictionary of their type, of which no different ones are equal.
 * Return false if it lacks too many of them; then `ordered` is undefined. Raises the errors of the
 * comparison.
 */
bool
emogi_known_order(const EmogiDictionary *dictionary, EmogiKeyCoder *coder,
				  const EmogiTemporaryKey *listed, uint64 nkeys, EmogiTemporaryKey *ordered)
{
	const uint64 max_unknown = nkeys / MAX_UNKNOWN + FEW_UNKNOWN;
	KnownKey   *known = palloc_extended(nkeys * sizeof *known, MCXT_ALLOC_HUGE);
	uint64	   *unknown = palloc_extended(max_unknown * sizeof *unknown, MCXT_ALLOC_HUGE);
	uint64		nknown;
	uint64		nunknown;
	bool		usable = look_up(dictionary, listed, nkeys, known, &nknown, unknown, &nunknown,
								 max_unknown);

	if (usable)
	{
		sort_known(known, nknown);
		merge(listed, known, nknown, unknown, nunknown, coder, ordered);
	}
	pfree(known);
	pfree(unknown);
	return usable;
}
