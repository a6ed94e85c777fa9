/*
 * device.cu: driver errors, waiting and copying.
 */
#include "cuda/core/device.cuh"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* 5 ms on the link; below 50 ms for unpinned memory */
#define COPY_PIECE_BYTES (UINT64_C(256) << 20)
#define SPIN_MS 20.0			/* wait this long without sleeping: most levels are over by then */
#define SLEEP_US 100

/* The driver call to fail in this thread's run, 1 = the next; 0 = none (EmogiControl). */
static __thread uint32_t fail_call;

void
emogi_device_set_fault(uint32_t call)
{
	fail_call = call;
}

cudaError_t
emogi_cuda_fault(void)
{
	return fail_call > 0 && --fail_call == 0 ? cudaErrorUnknown : cudaSuccess;
}

EmogiStatus
emogi_device_fail(EmogiError *error, EmogiStatus status, const char *message, const char *detail,
				  ...)
{
	va_list		args;

	snprintf(error->message, sizeof error->message, "%s", message);
	va_start(args, detail);
	vsnprintf(error->detail, sizeof error->detail, detail, args);
	va_end(args);
	return status;
}

EmogiStatus
emogi_cuda_fail(EmogiError *error, cudaError_t code, const char *what)
{
	(void) cudaGetLastError();	/* so that the next check does not see it again */
	if (code == cudaErrorMemoryAllocation)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory on the GPU", "%.160s: %s",
								 what, cudaGetErrorString(code));
	return emogi_device_fail(error, EMOGI_DEVICE_ERROR, "the GPU or its driver failed",
							 "%.120s: %s (%s)", what, cudaGetErrorString(code),
							 cudaGetErrorName(code));
}

void
emogi_device_exclude_helper(EmogiResult *result, const EmogiEngineState *helper, EmogiStatus status,
							const EmogiError *why)
{
	snprintf(result->left_out, sizeof result->left_out, "GPU %d: %.180s", helper->device,
			 why->message);
	result->helper_lost = result->helper_lost || status == EMOGI_DEVICE_ERROR;
}

double
emogi_device_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec * 1e-6;
}

/* Make the kernels of a run return as soon as they can, including those on helper GPUs. */
static void
stop_kernels(EmogiEngineState *state)
{
	*state->stop = 1;
	for (int i = 0; i < state->nhelpers; i++)
		*state->helper[i]->stop = 1;
}

/* Ensure that no helper GPU has failed. */
static EmogiStatus
check_helpers(const EmogiEngineState *state, EmogiError *error)
{
	for (int i = 0; i < state->nhelpers; i++)
	{
		const cudaError_t code = cudaStreamQuery(state->helper[i]->stream);

		if (code != cudaSuccess && code != cudaErrorNotReady)
			return emogi_cuda_fail(error, code, "waiting for a helping GPU");
	}
	return EMOGI_OK;
}

/*
 * Poll instead of calling cudaStreamSynchronize, so that a cancel reaches the kernels in the middle
 * of a level: they read *stop, and a stopped level ends within a few milliseconds.
 */
EmogiStatus
emogi_cuda_wait(EmogiEngineState *state, EmogiControl *control, EmogiError *error)
{
	const double since = emogi_device_now_ms();

	for (;;)
	{
		const cudaError_t code = cudaStreamQuery(state->stream);

		if (code == cudaSuccess)
			break;
		if (code != cudaErrorNotReady)
			return emogi_cuda_fail(error, code, "waiting for the device");
		if (control->cancel)
			stop_kernels(state);
		if (emogi_device_now_ms() - since <= SPIN_MS)
			continue;
		TRY(check_helpers(state, error));	/* the awaited work may never finish */
		usleep(SLEEP_US);
	}
	(void) cudaGetLastError();	/* cudaErrorNotReady is remembered, although it is no error */
	CUDA_TRY(cudaSuccess);		/* lets a test make the wait fail */
	return control->cancel ? EMOGI_CANCELED : EMOGI_OK;
}

EmogiStatus
emogi_cuda_copy(EmogiEngineState *state, void *to, const void *from, uint64_t bytes,
				cudaMemcpyKind kind, EmogiControl *control, EmogiError *error)
{
	for (uint64_t done = 0; done < bytes; done += COPY_PIECE_BYTES)
	{
		const uint64_t piece = bytes - done < COPY_PIECE_BYTES ? bytes - done : COPY_PIECE_BYTES;

		CUDA_TRY(cudaMemcpyAsync((char *) to + done, (const char *) from + done, piece, kind,
								 state->stream));
		TRY(emogi_cuda_wait(state, control, error));
	}
	return EMOGI_OK;
}
