/*
 * version.c: emogi_version() -> text: of the library.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "server/shared.h"

PG_FUNCTION_INFO_V1(emogi_version);

Datum
emogi_version(PG_FUNCTION_ARGS)
{
	emogi_shared_require_preload();
	PG_RETURN_TEXT_P(cstring_to_text(EMOGI_VERSION));
}
