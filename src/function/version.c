/*
 * version.c: emogi_version() -> text: the version of the library; and emogi_script, with which each
 * script of the extension begins
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "base/shared.h"
#include "base/sql_version.h"

PG_FUNCTION_INFO_V1(emogi_version);
PG_FUNCTION_INFO_V1(emogi_script);

/* Does not check the version of the SQL: it is used when the two differ. */
Datum
emogi_version(PG_FUNCTION_ARGS)
{
	emogi_shared_require();
	PG_RETURN_TEXT_P(cstring_to_text(EMOGI_VERSION));
}

/*
 * emogi_script(version text) -> void: raises 55000 if the script that calls it is newer than the
 * library. Works with or without preloading.
 */
Datum
emogi_script(PG_FUNCTION_ARGS)
{
	emogi_sql_version_refuse_newer(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}
