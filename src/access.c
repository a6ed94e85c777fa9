/*
 * access.c: may the caller read this Source? Asked on every call, before anything of the Source is read.
 *
 * The same rights as SELECT of the same columns: USAGE on the schema, SELECT on exactly the columns read, row
 * security. The relation stays locked with AccessShareLock to the end of the transaction.
 */
#include "emogi.h"

#include "access/sysattr.h"
#include "nodes/bitmapset.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

/*
 * Check the caller's rights on a relation. Raises 42501. Returns true when row security applies, so that the rows
 * must come through the executor, which knows the policies.
 */
bool
emogi_access_check(Relation rel, const EmogiSource *source)
{
	Oid			schema = RelationGetNamespace(rel);
	AclResult	usage = emogi_compat_schema_usage(schema);
	Bitmapset  *columns = NULL;

	if (usage != ACLCHECK_OK)
		aclcheck_error(usage, OBJECT_SCHEMA, get_namespace_name(schema));
	columns = bms_add_member(columns, source->src - FirstLowInvalidHeapAttributeNumber);
	columns = bms_add_member(columns, source->dst - FirstLowInvalidHeapAttributeNumber);
	if (source->weight > 0)
		columns = bms_add_member(columns, source->weight - FirstLowInvalidHeapAttributeNumber);
	emogi_compat_check_select(rel, columns);
	return check_enable_rls(RelationGetRelid(rel), InvalidOid, false) == RLS_ENABLED;
}
