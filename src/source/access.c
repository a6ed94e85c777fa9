/*
 * access.c: privilege checks for a source, made on every call before the source is read
 *
 * They equal those of SELECT of the same columns: USAGE on the schema, SELECT on exactly the
 * columns read, and row security. The relation stays locked with AccessShareLock until the end of
 * the transaction.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "base/compat.h"
#include "source/source.h"

/*
 * Check the caller's privileges on a relation. Raises 42501. Returns true if row security applies;
 * the rows must then come through the executor, which applies the policies.
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
	if (source->reverse > 0)
		columns = bms_add_member(columns, source->reverse - FirstLowInvalidHeapAttributeNumber);
	emogi_compat_check_select(rel, columns);
	return check_enable_rls(RelationGetRelid(rel), InvalidOid, false) == RLS_ENABLED;
}

/* Return true if the caller may read the columns of a relation. */
bool
emogi_access_may_select(const EmogiSource *source)
{
	const AttrNumber columns[] = {source->src, source->dst, source->weight, source->reverse};

	if (pg_class_aclcheck(source->relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	for (int i = 0; i < (int) lengthof(columns); i++)
		if (columns[i] > 0 && pg_attribute_aclcheck(source->relid, columns[i], GetUserId(),
													ACL_SELECT) != ACLCHECK_OK)
			return false;
	return true;
}

/*
 * Return true if emogi_access_check would let the caller read this relation, and without row
 * security. Raises nothing.
 */
bool
emogi_access_peek(const EmogiSource *source)
{
	Oid			schema = get_rel_namespace(source->relid);

	return OidIsValid(schema) && emogi_compat_schema_usage(schema) == ACLCHECK_OK &&
		check_enable_rls(source->relid, InvalidOid, true) != RLS_ENABLED &&
		emogi_access_may_select(source);
}
