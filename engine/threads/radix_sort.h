/*
 * radix_sort.h: the body of a radix sort; radix.c includes it once for each type of KEY.
 *
 * KEY = uint32_t or uint64_t; NAME(x) generates the names of the functions of each type.
 */

/* Sort few keys by insertion. */
static void
NAME(insertion) (KEY *keys, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		KEY			key = keys[i];
		size_t		j = i;

		for (; j > 0 && keys[j - 1] > key; j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
	}
}

/* Get the bits in which the keys differ from the pattern. */
static KEY
NAME(varying_bits) (const KEY *keys, size_t count, KEY pattern)
{
	KEY			varying = 0;

	for (size_t i = 0; i < count; i++)
		varying |= keys[i] ^ pattern;
	return varying;
}

/* Count the keys by the digit at shift; adds to counts[mask + 1]. */
static void
NAME(count_digits) (const KEY *keys, size_t count, int shift, KEY mask, size_t *counts)
{
	for (size_t i = 0; i < count; i++)
		counts[(keys[i] >> shift) & mask]++;
}

/*
 * Sort by digits from low to high (LSD), alternating between keys and scratch; the result is in
 * keys.
 */
static void
NAME(low_to_high) (KEY *keys, size_t count, KEY *scratch, KEY varying)
{
	size_t		starts[1 << MAX_DIGIT_BITS];
	int			low = count_trailing(varying);
	int			nbits = 64 - count_leading(varying) - low;
	int			max = digit_bits(count);
	int			npasses = (nbits + max - 1) / max;
	int			width = (nbits + npasses - 1) / npasses;
	KEY			mask = ((KEY) 1 << width) - 1;
	KEY		   *from = keys,
			   *to = scratch;

	for (int pass = 0; pass < npasses; pass++)
	{
		int			shift = low + pass * width;
		KEY		   *was = from;

		memset(starts, 0, ((size_t) mask + 1) * sizeof(*starts));
		NAME(count_digits) (from, count, shift, mask, starts);
		if (starts[(from[0] >> shift) & mask] == count)
			continue;
		counts_to_starts(starts, (size_t) mask + 1);
		for (size_t i = 0; i < count; i++)
			to[starts[(from[i] >> shift) & mask]++] = from[i];
		from = to;
		to = was;
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof(KEY));
}

/* Sort keys that fit the scratch. */
static void
NAME(sort_short) (KEY *keys, size_t count, KEY *scratch)
{
	KEY			varying;

	if (count <= INSERTION_MAX)
	{
		NAME(insertion) (keys, count);
		return;
	}
	varying = NAME(varying_bits) (keys, count, keys[0]);
	if (varying != 0)
		NAME(low_to_high) (keys, count, scratch, varying);
}

/*
 * Move each key to the part of its digit at shift, in place (MSD); ends[256] receives the ends of
 * the parts.
 */
static bool
NAME(split) (KEY *keys, size_t count, int shift, size_t *ends, EmogiJob *job)
{
	size_t		starts[256] = {0};
	size_t		moved = 0;

	for (size_t i = 0; i < count; i += POLL_KEYS)
	{
		if (emogi_job_stopped(job))
			return false;
		NAME(count_digits) (keys + i, count - i < POLL_KEYS ? count - i : POLL_KEYS, shift, 255,
							starts);
	}
	counts_to_starts(starts, 256);
	for (int d = 0; d < 256; d++)
		ends[d] = d < 255 ? starts[d + 1] : count;
	for (int d = 0; d < 256; d++)
	{
		while (starts[d] < ends[d])
		{
			size_t		hole = starts[d];
			KEY			key = keys[hole];
			size_t		place;

			do
			{
				KEY			other;

				place = starts[(key >> shift) & 255]++;
				other = keys[place];
				keys[place] = key;
				key = other;
				if ((++moved & (POLL_KEYS - 1)) == 0 && emogi_job_stopped(job))
					return false;
			} while (place != hole);
		}
	}
	return true;
}

/*
 * Sort more keys than the scratch holds: split in place by the highest digit, then sort each part.
 */
static void
NAME(sort_long) (KEY *keys, size_t count, KEY *scratch, size_t scratch_count, EmogiJob *job)
{
	size_t		ends[256];
	size_t		start = 0;
	KEY			varying = 0;
	int			high;

	for (size_t i = 0; i < count; i += POLL_KEYS)
	{
		if (emogi_job_stopped(job))
			return;
		varying |= NAME(varying_bits) (keys + i, count - i < POLL_KEYS ? count - i : POLL_KEYS,
									   keys[0]);
	}
	if (varying == 0)
		return;
	high = 64 - count_leading(varying);
	if (!NAME(split) (keys, count, high > 8 ? high - 8 : 0, ends, job))
		return;
	for (int d = 0; d < 256 && !emogi_job_stopped(job); start = ends[d++])
	{
		if (ends[d] - start > scratch_count)
			NAME(sort_long) (keys + start, ends[d] - start, scratch, scratch_count, job);
		else
			NAME(sort_short) (keys + start, ends[d] - start, scratch);
	}
}
