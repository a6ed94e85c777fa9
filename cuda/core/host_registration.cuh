/*
 * host_registration.cuh: blocks of host memory registered with CUDA for all devices at once, with
 * reference counts by engine.
 */
#ifndef EMOGI_HOST_REGISTRATION_CUH
#define EMOGI_HOST_REGISTRATION_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/*
 * Begin to use a block as registered memory. Register it, as read-only if requested, unless another
 * engine has done so or other code has pinned it. Each success must be paired with
 * emogi_host_registration_release. Returns the code of cudaHostRegister. Thread-safe.
 */
extern cudaError_t emogi_host_registration_use(const void *block, uint64_t bytes, bool read_only);

/*
 * End the use of a block; the last user unregisters it. None of the caller's kernels may still read
 * it. Thread-safe.
 */
extern void emogi_host_registration_release(const void *block);

#endif							/* EMOGI_HOST_REGISTRATION_CUH */
