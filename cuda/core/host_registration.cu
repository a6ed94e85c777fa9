/*
 * host_registration.cu: the table of registered host blocks. A block is registered once per
 * process, as portable memory: for the contexts of all devices.
 */
#include "cuda/core/host_registration.cuh"

#include <pthread.h>
#include <stdlib.h>

typedef struct HostRegistration
{
	const void *block;
	uint64_t	bytes;
	int			nusers;
	struct HostRegistration *next;
} HostRegistration;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static HostRegistration *registrations;	/* protected by mutex */

/* Find a block's link in the list, or the end of the list. Caller holds mutex. */
static HostRegistration **
find_block(const void *block)
{
	HostRegistration **at = &registrations;

	while (*at != NULL && (*at)->block != block)
		at = &(*at)->next;
	return at;
}

/* Return whether CUDA already knows the whole block as pinned host memory. */
static bool
is_pinned(const void *block, uint64_t bytes)
{
	cudaPointerAttributes first;
	cudaPointerAttributes last;
	const bool	pinned = cudaPointerGetAttributes(&first, block) == cudaSuccess &&
		cudaPointerGetAttributes(&last, (const char *) block + bytes - 1) == cudaSuccess &&
		first.type == cudaMemoryTypeHost && last.type == cudaMemoryTypeHost;

	(void) cudaGetLastError();
	return pinned;
}

/* Register a block, as read-only if the devices support it. */
static cudaError_t
register_block(const void *block, uint64_t bytes, bool read_only)
{
	const unsigned flags = cudaHostRegisterMapped | cudaHostRegisterPortable;
	cudaError_t code = cudaErrorNotSupported;

	if (read_only)
		code = cudaHostRegister(const_cast<void *>(block), bytes, flags | cudaHostRegisterReadOnly);
	if (code != cudaSuccess)
	{
		(void) cudaGetLastError();
		code = cudaHostRegister(const_cast<void *>(block), bytes, flags);
	}
	return code;
}

/* Register an unused block and append it to the list. Caller holds mutex. */
static cudaError_t
add_block(HostRegistration **at, const void *block, uint64_t bytes, bool read_only)
{
	HostRegistration *added = (HostRegistration *) malloc(sizeof *added);
	cudaError_t code;

	if (added == NULL)
		return cudaErrorMemoryAllocation;
	code = register_block(block, bytes, read_only);
	if (code != cudaSuccess)
	{
		free(added);
		return code;
	}
	*added = HostRegistration{block, bytes, 1, NULL};
	*at = added;
	return cudaSuccess;
}

cudaError_t
emogi_host_registration_use(const void *block, uint64_t bytes, bool read_only)
{
	cudaError_t code = cudaSuccess;
	HostRegistration **at;

	pthread_mutex_lock(&mutex);
	at = find_block(block);
	if (*at == NULL)
		code = is_pinned(block, bytes) ? cudaSuccess : add_block(at, block, bytes, read_only);
	else if ((*at)->bytes == bytes)
		(*at)->nusers++;
	else
		code = cudaErrorHostMemoryAlreadyRegistered;
	pthread_mutex_unlock(&mutex);
	return code;
}

void
emogi_host_registration_release(const void *block)
{
	HostRegistration **at;
	HostRegistration *one;

	pthread_mutex_lock(&mutex);
	at = find_block(block);
	one = *at;
	if (one != NULL && --one->nusers == 0)
	{
		(void) cudaHostUnregister(const_cast<void *>(block));
		(void) cudaGetLastError();
		*at = one->next;
		free(one);
	}
	pthread_mutex_unlock(&mutex);
}
