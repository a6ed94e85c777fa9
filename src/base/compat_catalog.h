/*
 * compat_catalog.h: differences between PostgreSQL 14 .. 19: privileges, columns and collations
 *
 * A comment's leading number is the major version that introduced the change.
 */
#ifndef EMOGI_COMPAT_CATALOG_H
#define EMOGI_COMPAT_CATALOG_H

#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/rel.h"

/* 18: the locale has a flag. Does a collation order strings as memcmp does? */
static inline bool
emogi_compat_collates_bytes(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/* 16: one aclcheck function for all kinds of objects. Check USAGE on a schema. */
static inline AclResult
emogi_compat_schema_usage(Oid schema)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(NamespaceRelationId, schema, GetUserId(), ACL_USAGE);
#else
	return pg_namespace_aclcheck(schema, GetUserId(), ACL_USAGE);
#endif
}

/*
 * 16: one ownercheck function for all kinds of objects. Is the current user the owner of a
 * relation?
 */
static inline bool
emogi_compat_owns_relation(Oid relid)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relid, GetUserId());
#else
	return pg_class_ownercheck(relid, GetUserId());
#endif
}

/* 18: a generated column may be virtual. Is a column stored in the tuple? */
static inline bool
emogi_compat_is_stored(Form_pg_attribute attribute)
{
#if PG_VERSION_NUM >= 180000
	return attribute->attgenerated != ATTRIBUTE_GENERATED_VIRTUAL;
#else
	(void) attribute;
	return true;
#endif
}

/*
 * 18: generated columns may be virtual. Return the expression of a virtual column; NULL = it is
 * stored.
 */
static inline Node *
emogi_compat_virtual_expression(Relation rel, AttrNumber attnum)
{
#if PG_VERSION_NUM >= 180000
	if (!emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel), attnum - 1)))
		return build_generation_expression(rel, attnum);
#endif
	return NULL;
}

/*
 * 18: NOT NULL may be NOT VALID, which the relation cache alone knows. Is no value of a relation's
 * column NULL?
 */
static inline bool
emogi_compat_has_no_null(Relation rel, AttrNumber attnum)
{
#if PG_VERSION_NUM >= 180000
	return TupleDescCompactAttr(RelationGetDescr(rel), attnum - 1)->attnullability ==
		ATTNULLABLE_VALID;
#else
	return TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attnotnull;
#endif
}

/* 16: one aclcheck function for all kinds of objects. Check EXECUTE on a function. */
static inline AclResult
emogi_compat_may_execute(Oid function)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE);
#else
	return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE);
#endif
}

/*
 * Write at most `size` bytes of a string's sort key in a collation. Return the key's length; if it
 * exceeds `size`, the written bytes are undefined. 0 = no sort key available. 16: pg_strxfrm, used
 * for ICU only because PostgreSQL does not trust the C library. 19: the provider is private to the
 * locale; all of them have pg_strxfrm.
 */
static inline size_t
emogi_compat_sort_key(char *to, const char *string, size_t size, Oid collation)
{
	pg_locale_t locale = pg_newlocale_from_collation(collation);

#if PG_VERSION_NUM >= 190000
	return locale->collate_is_c ? 0 : pg_strxfrm(to, string, size, locale);
#else
	if (locale == NULL)
		return strxfrm(to, string, size);
	if (locale->provider == COLLPROVIDER_LIBC)
		return strxfrm_l(to, string, size, locale->info.lt);
#if PG_VERSION_NUM >= 160000
	if (locale->provider == COLLPROVIDER_ICU)
		return pg_strxfrm(to, string, size, locale);
#endif
	return 0;
#endif
}

#endif							/* EMOGI_COMPAT_CATALOG_H */
