/*
 * type_identity.c: the definition of a type, down to the types that it consists of.
 *
 * ALTER TYPE changes the attributes of a composite type, and thereby which of its values are equal,
 * without locking the tables that have columns of the type. Therefore the definition is part of
 * everything that is shared by the name of a type: the type of vertex keys, and the fingerprint of
 * a query (Q12). It is read from the catalog caches on each call. A recursive visit includes each
 * type once, however many paths lead to it.
 *
 * A type that contains an anonymous row, at any depth, cannot be shared, because only the session
 * that created the row knows its attributes.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/array.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "keys/keys.h"
#include "base/compat.h"

/* Append a number or an OID to a definition. */
static void
append_number(StringInfo to, int64 number)
{
	appendBinaryStringInfo(to, (char *) &number, sizeof number);
}

/* Append text to a definition, including the terminating zero. */
static void
append_text(StringInfo to, const char *text)
{
	appendBinaryStringInfo(to, text, (int) strlen(text) + 1);
}

/*
 * Append the operators and functions that compare and hash elements of a type; list the functions
 * that are not built in.
 */
static void
describe_comparisons(Oid type, EmogiTypeWalk *walk)
{
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC |
											  TYPECACHE_HASH_PROC | TYPECACHE_HASH_EXTENDED_PROC);
	const Oid	functions[] = {
		OidIsValid(entry->eq_opr) ? get_opcode(entry->eq_opr) : InvalidOid, entry->cmp_proc,
		entry->hash_proc, entry->hash_extended_proc
	};

	append_number(&walk->definition, entry->btree_opf);
	append_number(&walk->definition, entry->hash_opf);
	append_number(&walk->definition, entry->eq_opr);
	for (int i = 0; i < (int) lengthof(functions); i++)
	{
		append_number(&walk->definition, functions[i]);
		if (functions[i] >= FirstNormalObjectId)
			walk->functions = list_append_unique_oid(walk->functions, functions[i]);
	}
}

/*
 * Append the attributes of a composite type. Dropped ones count, because attribute numbers are
 * never reused.
 */
static void
describe_columns(Oid type, EmogiTypeWalk *walk)
{
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);

	append_number(&walk->definition, desc->natts);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		append_number(&walk->definition, attribute->attisdropped);
		if (attribute->attisdropped)
			continue;
		append_text(&walk->definition, NameStr(attribute->attname));
		append_number(&walk->definition, attribute->atttypid);
		append_number(&walk->definition, attribute->atttypmod);
		append_number(&walk->definition, attribute->attcollation);
		emogi_type_walk(attribute->atttypid, walk);
	}
	FreeTupleDesc(desc);
}

/* Append the values of an enum, by OID and label. The order of existing values never changes. */
static void
describe_labels(Oid type, EmogiTypeWalk *walk)
{
	CatCList   *labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
	uint64		sum = 0;

	for (int i = 0; i < labels->n_members; i++)
	{
		Form_pg_enum label = (Form_pg_enum) GETSTRUCT(&labels->members[i]->tuple);

		/* a sum, because the list has no particular order */
		sum += hash_bytes_extended((const unsigned char *) NameStr(label->enumlabel),
								   (int) strlen(NameStr(label->enumlabel)), label->oid);
	}
	append_number(&walk->definition, labels->n_members);
	append_number(&walk->definition, (int64) sum);
	ReleaseSysCacheList(labels);
}

/* Append the subtype of a range type, and how its bounds are compared and canonicalized. */
static void
describe_range(Oid type, EmogiTypeWalk *walk)
{
	HeapTuple	row = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
	FormData_pg_range range;

	if (!HeapTupleIsValid(row))
		elog(ERROR, "cache lookup failed for range type %u", type);
	range = *(Form_pg_range) GETSTRUCT(row);
	ReleaseSysCache(row);
	append_number(&walk->definition, range.rngsubtype);
	append_number(&walk->definition, range.rngcollation);
	append_number(&walk->definition, range.rngsubopc);
	append_number(&walk->definition, range.rngcanonical);
	if (range.rngcanonical >= FirstNormalObjectId)
		walk->functions = list_append_unique_oid(walk->functions, range.rngcanonical);
	emogi_type_walk(range.rngsubtype, walk);
}

/*
 * Append the constraints of a domain, including those of the domains that it is based on, and its
 * base type.
 */
static void
describe_domain(Oid type, EmogiTypeWalk *walk)
{
	DomainConstraintRef *conditions = palloc(sizeof *conditions);	/* referenced by the memory
																	 * context until its end */
	ListCell   *cell;

	InitDomainConstraintRef(type, conditions, CurrentMemoryContext, false);
	foreach(cell, conditions->constraints)
	{
		const DomainConstraintState *condition = lfirst(cell);

		append_number(&walk->definition, condition->constrainttype);
		append_text(&walk->definition,
					condition->check_expr != NULL ? nodeToString(condition->check_expr) : "");
	}
	emogi_type_walk(getBaseType(type), walk);
}

/* Append the parts of a type. */
static void
describe_parts(Form_pg_type type, EmogiTypeWalk *walk)
{
	switch (type->typtype)
	{
		case TYPTYPE_COMPOSITE:
			describe_columns(type->oid, walk);
			break;
		case TYPTYPE_DOMAIN:
			describe_domain(type->oid, walk);
			break;
		case TYPTYPE_ENUM:
			describe_labels(type->oid, walk);
			break;
		case TYPTYPE_RANGE:
			describe_range(type->oid, walk);
			break;
		case TYPTYPE_MULTIRANGE:
			emogi_type_walk(get_multirange_range(type->oid), walk);
			break;
		case TYPTYPE_PSEUDO:
			walk->has_pseudo_type = true;
			break;
		default:
			if (OidIsValid(type->typelem))
				emogi_type_walk(type->typelem, walk);
			break;
	}
}

/*
 * Append the definitions of a type and of all types that it consists of, unless already visited.
 * Allocates in the current memory context.
 */
void
emogi_type_walk(Oid type, EmogiTypeWalk *walk)
{
	HeapTuple	row;
	FormData_pg_type fixed;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (list_member_oid(walk->types, type))
		return;
	walk->types = lappend_oid(walk->types, type);
	row = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(row))
		elog(ERROR, "cache lookup failed for type %u", type);
	fixed = *(Form_pg_type) GETSTRUCT(row);
	ReleaseSysCache(row);
	append_number(&walk->definition, type);
	append_number(&walk->definition, fixed.typtype);
	append_number(&walk->definition, fixed.typlen);
	append_number(&walk->definition, fixed.typcollation);
	if (fixed.typtype != TYPTYPE_PSEUDO)
		describe_comparisons(type, walk);
	describe_parts(&fixed, walk);
}

/* Append a function's whole row of pg_proc, because CREATE OR REPLACE keeps the OID. */
static void
append_function(StringInfo to, Oid function)
{
	HeapTuple	row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	const Size	skip = offsetof(HeapTupleHeaderData, t_bits);

	if (!HeapTupleIsValid(row))
		elog(ERROR, "cache lookup failed for function %u", function);
	appendBinaryStringInfo(to, (char *) row->t_data + skip, (int) (row->t_len - skip));
	ReleaseSysCache(row);
}

/*
 * Check whether a type, its elements and their operator class are built in, so that nothing of it
 * can be altered.
 */
static bool
is_fixed(Oid type)
{
	const Oid	element = get_element_type(type);
	const Oid	part = OidIsValid(element) ? element : type;
	const Oid	family = lookup_type_cache(part, TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	return type < FirstNormalObjectId && part < FirstNormalObjectId && OidIsValid(family) &&
		family < FirstNormalObjectId &&
		get_typtype(part) == TYPTYPE_BASE;
}

/*
 * Compute a hash of a type's definition, 0 if it cannot be altered. Returns false if the type
 * contains an anonymous row or another pseudo-type.
 */
bool
emogi_type_identify(Oid type, uint64 *identity)
{
	MemoryContext context;
	MemoryContext old;
	EmogiTypeWalk walk = {0};
	ListCell   *cell;

	*identity = 0;
	if (is_fixed(type))
		return true;
	context = AllocSetContextCreate(CurrentMemoryContext, "emogi definition of a type",
									ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	initStringInfo(&walk.definition);
	emogi_type_walk(type, &walk);
	foreach(cell, walk.functions)
		append_function(&walk.definition, lfirst_oid(cell));
	*identity = hash_bytes_extended((unsigned char *) walk.definition.data, walk.definition.len, 0);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return !walk.has_pseudo_type;
}
