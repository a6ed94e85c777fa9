/*
 * deal.h: who reads which piece of an array that lies in the memory of several GPUs. Plain C, tested without a GPU.
 */
#ifndef EMOGI_PEER_ASSIGNMENT_H
#define EMOGI_PEER_ASSIGNMENT_H

#include <stdint.h>

#define DEAL_NOBODY UINT8_MAX

/*
 * Give each of some pieces of one size to one of `nmembers` readers (1 .. 16), such that none has more than an equal share, rounded up: to the one in whose
 * memory it is, holder[piece], while that has no share yet, else to who has least. Pieces of others, DEAL_NOBODY, go to who has least, too.
 */
static inline void
deal_pieces(const uint8_t *holder, int npieces, int nmembers, uint8_t *reader)
{
	const int	most = (npieces + nmembers - 1) / nmembers;
	int			load[UINT8_MAX] = {0};

	for (int i = 0; i < npieces; i++)
	{
		const int	member = holder[i];

		reader[i] = DEAL_NOBODY;
		if (member < nmembers && load[member] < most)
		{
			reader[i] = (uint8_t) member;
			load[member]++;
		}
	}
	for (int i = 0; i < npieces; i++)
	{
		int			least = 0;

		if (reader[i] != DEAL_NOBODY)
			continue;
		for (int member = 1; member < nmembers; member++)
			if (load[member] < load[least])
				least = member;
		reader[i] = (uint8_t) least;
		load[least]++;
	}
}

#endif							/* EMOGI_PEER_ASSIGNMENT_H */
