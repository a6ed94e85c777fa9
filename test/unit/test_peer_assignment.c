/*
 * test_peer_assignment.c: test of the assignment of an array's pieces in the memory of several GPUs
 * to readers: loads are balanced, and each reader gets as many of its own pieces as possible
 */
#include <stdlib.h>

#include "cuda/multi_gpu/peer_assignment.h"
#include "check.h"

#define MAX_PIECES 128
#define MAX_MEMBERS 16
#define ROUNDS 20000

int
main(void)
{
	srand(1);
	for (int round = 0; round < ROUNDS; round++)
	{
		const int	nmembers = 1 + rand() % MAX_MEMBERS;
		const int	npieces = 1 + rand() % MAX_PIECES;
		const int	max_load = (npieces + nmembers - 1) / nmembers;
		int			held[MAX_MEMBERS] = {0};
		int			load[MAX_MEMBERS] = {0};
		int			nlocal[MAX_MEMBERS] = {0};
		uint8_t		holder[MAX_PIECES];
		uint8_t		reader[MAX_PIECES];

		for (int i = 0; i < npieces; i++)
		{
			holder[i] = (uint8_t) (rand() % 8 == 0 ? PEER_NONE : rand() % nmembers *
								   (rand() % 3 != 0));
			if (holder[i] != PEER_NONE)
				held[holder[i]]++;
		}
		assign_pieces(holder, npieces, nmembers, reader);
		for (int i = 0; i < npieces; i++)
		{
			CHECK(reader[i] < nmembers, "piece %d of %d: reader %d of %d", i, npieces, reader[i],
				  nmembers);
			load[reader[i] % MAX_MEMBERS]++;
			nlocal[reader[i] % MAX_MEMBERS] += reader[i] == holder[i];
		}
		for (int member = 0; member < nmembers; member++)
		{
			CHECK(load[member] <= max_load, "member %d of %d has %d of %d pieces", member, nmembers,
				  load[member], npieces);
			CHECK(nlocal[member] >= (held[member] < max_load ? held[member] : max_load),
				  "member %d reads %d of its own %d", member, nlocal[member], held[member]);
		}
	}
	return check_report("test_peer_assignment");
}
