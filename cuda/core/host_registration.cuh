/*
 * host_registration.cuh: blocks of host memory that are registered with CUDA, for all devices at once, and how many engines use each.
 */
#ifndef EMOGI_HOST_REGISTRATION_CUH
#define EMOGI_HOST_REGISTRATION_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/*
 * Begin to use a block as registered memory: register it, for reading alone if that is given, unless another engine has done so, or it is pinned by
 * somebody else. Each success is followed by emogi_host_registration_release. Gets what cudaHostRegister says. For any thread.
 */
extern cudaError_t emogi_host_registration_use(const void *block, uint64_t bytes, bool read_only);

/* End using it; the last unregisters it. No kernel of the caller's reads it any more. For any thread. */
extern void emogi_host_registration_release(const void *block);

#endif							/* EMOGI_HOST_REGISTRATION_CUH */
