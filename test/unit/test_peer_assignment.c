/*
 * test_peer_assignment.c: who reads which piece of an array in the memory of several GPUs: everybody as much as the others, and of its own what it may.
 */
#include <stdlib.h>

#include "cuda/multi_gpu/peer_assignment.h"
#include "check.h"

#define MOST_PIECES 128
#define MOST_MEMBERS 16
#define ROUNDS 20000

int
main(void)
{
	srand(1);
	for (int round = 0; round < ROUNDS; round++)
	{
		const int	nmembers = 1 + rand() % MOST_MEMBERS;
		const int	npieces = 1 + rand() % MOST_PIECES;
		const int	most = (npieces + nmembers - 1) / nmembers;
		int			held[MOST_MEMBERS] = {0};
		int			load[MOST_MEMBERS] = {0};
		int			near[MOST_MEMBERS] = {0};
		uint8_t		holder[MOST_PIECES];
		uint8_t		reader[MOST_PIECES];

		for (int i = 0; i < npieces; i++)
		{
			holder[i] = (uint8_t) (rand() % 8 == 0 ? PEER_NONE : rand() % nmembers * (rand() % 3 != 0));
			if (holder[i] != PEER_NONE)
				held[holder[i]]++;
		}
		assign_pieces(holder, npieces, nmembers, reader);
		for (int i = 0; i < npieces; i++)
		{
			CHECK(reader[i] < nmembers, "piece %d of %d: reader %d of %d", i, npieces, reader[i], nmembers);
			load[reader[i] % MOST_MEMBERS]++;
			near[reader[i] % MOST_MEMBERS] += reader[i] == holder[i];
		}
		for (int member = 0; member < nmembers; member++)
		{
			CHECK(load[member] <= most, "member %d of %d has %d of %d pieces", member, nmembers, load[member], npieces);
			CHECK(near[member] >= (held[member] < most ? held[member] : most), "member %d reads %d of its own %d", member, near[member], held[member]);
		}
	}
	return check_report("test_peer_assignment");
}
