/*
 * peer_assignment.h: assignment of the pieces of an array in peer memory to the GPUs that read
 * them. Plain C, tested without a GPU.
 */
#ifndef EMOGI_PEER_ASSIGNMENT_H
#define EMOGI_PEER_ASSIGNMENT_H

#include <stdint.h>

#define PEER_NONE UINT8_MAX

/*
 * Assign each of npieces pieces of equal size to one of `nmembers` readers (1 .. 16), such that
 * none has more than ceil(npieces / nmembers). A piece goes to the reader in whose memory it is,
 * holder[piece], while that has no full share, and otherwise to the reader with the fewest pieces.
 * Pieces in other memory, PEER_NONE, also go to the reader with the fewest pieces.
 */
static inline void
assign_pieces(const uint8_t *holder, int npieces, int nmembers, uint8_t *reader)
{
	const int	max_load = (npieces + nmembers - 1) / nmembers;
	int			load[UINT8_MAX] = {0};

	for (int i = 0; i < npieces; i++)
	{
		const int	member = holder[i];

		reader[i] = PEER_NONE;
		if (member < nmembers && load[member] < max_load)
		{
			reader[i] = (uint8_t) member;
			load[member]++;
		}
	}
	for (int i = 0; i < npieces; i++)
	{
		int			lightest = 0;

		if (reader[i] != PEER_NONE)
			continue;
		for (int member = 1; member < nmembers; member++)
			if (load[member] < load[lightest])
				lightest = member;
		reader[i] = (uint8_t) lightest;
		load[lightest]++;
	}
}

#endif							/* EMOGI_PEER_ASSIGNMENT_H */
