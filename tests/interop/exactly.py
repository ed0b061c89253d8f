"""Whether arrays are equal to the last bit: NaN by its bits, zero by its sign, whatever is null."""
import pyarrow as pa
import pyarrow.compute as pc

BITS = {pa.float16(): pa.uint16(), pa.float32(): pa.uint32(), pa.float64(): pa.uint64()}


def parts(got):
    """What lies below an array that has no nulls, with the name of each."""
    kind = got.type
    if pa.types.is_struct(kind):
        return [(kind.field(i).name, got.field(i)) for i in range(kind.num_fields)]
    if pa.types.is_map(kind):
        first, last = (got.offsets[0].as_py(), got.offsets[-1].as_py()) if len(got) else (0, 0)
        return [("key", got.keys.slice(first, last - first)),
                ("value", got.items.slice(first, last - first))]
    return [("item", got.flatten())]


def has_parts(kind):
    return pa.types.is_nested(kind) and not pa.types.is_union(kind)


def differ(got, want, where):
    """None, or where two arrays of one type first differ."""
    if got.type != want.type:
        return f"{where}: {got.type} instead of {want.type}"
    if len(got) != len(want):
        return f"{where}: {len(got)} instead of {len(want)} values"
    if isinstance(got.type, pa.BaseExtensionType):
        return differ(got.storage, want.storage, where)
    if not pa.types.is_null(got.type):
        if not got.is_null().equals(want.is_null()):
            at = pc.index(pc.not_equal(got.is_null(), want.is_null()), True).as_py()
            return f"{where}: value {at} is {got[at]!r:.99} instead of {want[at]!r:.99}"
        got, want = got.drop_null(), want.drop_null()
    if has_parts(got.type):
        if not pa.types.is_struct(got.type) and not pa.types.is_fixed_size_list(got.type):
            sizes = [pc.subtract(a.offsets.slice(1), a.offsets.slice(0, len(a)))
                     for a in (got, want)]
            if not sizes[0].equals(sizes[1]):
                return f"{where}: sizes of lists"
        for (name, left), (_, right) in zip(parts(got), parts(want), strict=True):
            found = differ(left, right, f"{where}.{name}")
            if found:
                return found
        return None
    if got.type in BITS:
        got, want = got.view(BITS[got.type]), want.view(BITS[want.type])
    if got.equals(want):
        return None
    for at, (left, right) in enumerate(zip(got, want)):
        if not left.equals(right):
            return f"{where}: value {at} is {left!r:.99} instead of {right!r:.99}"
    return f"{where}: differs"


def without_keys(field):
    """The field with the values of dictionaries in their place, and nulls under null structs."""
    kind = field.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    elif pa.types.is_struct(kind):
        kind = pa.struct([without_keys(below) for below in kind])
    elif pa.types.is_map(kind):
        kind = pa.map_(kind.key_field, without_keys(kind.item_field))
    elif pa.types.is_fixed_size_list(kind):
        kind = pa.list_(without_keys(kind.value_field), kind.list_size)
    elif pa.types.is_large_list(kind):
        kind = pa.large_list(without_keys(kind.value_field))
    elif pa.types.is_list(kind):
        kind = pa.list_(without_keys(kind.value_field))
    return field.with_type(kind).with_nullable(True)


def joined(column):
    """One array of the chunks, which may have dictionaries of their own: they are decoded."""
    if "dictionary<" not in str(column.type):
        return column.combine_chunks()
    kind = without_keys(pa.field("", column.type)).type
    return pa.chunked_array([chunk.cast(kind) for chunk in column.chunks], kind).combine_chunks()


def tables(got, want, what=""):
    """None, or the first difference of two tables, their schemas with the metadata."""
    if not got.schema.equals(want.schema, check_metadata=True):
        return f"{what}: {got.schema.to_string()} instead of {want.schema.to_string()}"
    if got.num_rows != want.num_rows:
        return f"{what}: {got.num_rows} instead of {want.num_rows} rows"
    for name, left, right in zip(want.column_names, got.columns, want.columns):
        found = differ(joined(left), joined(right), f"{what} {name}")
        if found:
            return found
    return None
