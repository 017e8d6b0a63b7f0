"""Tables that their own library groups: frames of pandas, Polars, Dask, Ibis, PySpark and others.

Narwhals gives all of them one language and loads none of them. A lazy frame is not computed but for
the groups, and nothing is copied from one library to another but these.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from omit._numeric import as_array
from omit._text import one_line
from omit.data.tables import NO_CODES, Bins, Groups, Key, Steps, Table, Values, Within
from omit.data.values import AnyArray, MissingCodes, numbers_among, objects, raw_array, row_columns
from omit.errors import InvalidInput

if TYPE_CHECKING:
    import narwhals as nw

_NEITHER = ("Array", "Binary", "List", "Struct")


@dataclass(frozen=True)
class Frame(Table):
    """A frame that Narwhals knows; `spelt` are its columns as the library calls them.

    Examples
    --------
    >>> import pandas
    >>> people = frame_of(pandas.DataFrame({"age": [39, 25, 39]}))
    >>> values, counts = people.tally(0)
    >>> dict(zip(values.tolist(), counts.tolist()))
    {39: 2, 25: 1}
    """

    spelt: tuple[str, ...]
    frame: nw.LazyFrame[Any]
    schema: Mapping[str, Any]
    library: str = ""

    @property
    def origin(self) -> str:
        """What a result says about its data."""
        if not self.library:
            return "values in memory"
        return f"{'an' if self.library[0] in 'aeiou' else 'a'} {self.library} object"

    def grouped(
        self,
        keys: Sequence[Key],
        *,
        sums: Sequence[int] = (),
        ends: Sequence[int] = (),
        codes: MissingCodes = NO_CODES,
    ) -> Groups:
        """Group the records, as every `Table` does."""
        import narwhals as nw

        columns: dict[str, Any] = {}
        for number, key in enumerate(keys):
            column = self._column(key.position)
            columns[f"k{number}"] = column
            if not isinstance(key, Values) and self._is_number(key.position):
                floats, fits = self._number(key.position, codes)
                columns[f"k{number}"] = nw.when(fits).then(_bin(key, floats))
                columns[f"u{number}"] = nw.when(~fits).then(column)
        summed: dict[str, Any] = {}
        for at in {*sums, *ends}:
            if self._is_number(at):
                floats, fits = self._number(at, codes)
                summed[f"s{at}"] = nw.when(fits).then(floats)
            else:  # texts, of which some say numbers: they are added up below
                columns[f"t{at}"] = self._column(at)
        aggregates = [nw.len().alias("records")]
        for name in summed:
            aggregates.append(nw.col(name).sum())
            if int(name[1:]) in ends:
                aggregates += [nw.col(name).min().alias(f"l{name[1:]}")]
                aggregates += [nw.col(name).max().alias(f"h{name[1:]}")]
        with _running(self.label):
            groups = (
                self.frame.select(**columns, **summed)
                .group_by(*columns, drop_null_keys=False)
                .agg(*aggregates)
                .collect()
            )
            arrays = {name: _array(groups[name]) for name in groups.columns}
        binned: list[AnyArray] = []
        unread: list[AnyArray | None] = []
        for number, key in enumerate(keys):
            values, left = arrays[f"k{number}"], arrays.get(f"u{number}")
            if not isinstance(key, Values) and left is None:  # texts, of which some say numbers
                numbers, left = numbers_among(values, codes)
                values = np.where(np.isnan(numbers), np.nan, key.index(numbers))
            elif not isinstance(key, Values):
                values = values.astype(np.float64)
            binned.append(values)
            unread.append(left)
        counts = arrays["records"].astype(np.int64)
        said = {
            at: numbers_among(arrays[f"t{at}"], codes)[0]
            for at in {*sums, *ends}
            if f"t{at}" in arrays
        }
        totals = [
            np.nan_to_num(said[at]) * counts if at in said else np.nan_to_num(arrays[f"s{at}"])
            for at in sums
        ]
        lows, highs = (
            [said[at] if at in said else as_array(arrays[f"{end}{at}"]) for at in ends]
            for end in "lh"
        )
        return Groups(binned, unread, counts, totals, lows, highs)

    def some(self, records: int) -> Frame:
        """Return the table of some records, as every `Table` does."""
        return replace(self, frame=self.frame.head(records))

    def columns(self, positions: Sequence[int]) -> list[AnyArray]:
        """Return some columns, as every `Table` does."""
        chosen = {f"c{position}": self._column(position) for position in positions}
        with _running(self.label):
            records = self.frame.select(**chosen).collect()
            return [_array(records[name]) for name in chosen]

    def _column(self, position: int) -> nw.Expr:
        import narwhals as nw

        kind = self.schema[self.spelt[position]]
        if type(kind).__name__ in _NEITHER:
            what = "bytes" if str(kind) == "Binary" else "several values in one"
            raise InvalidInput(
                f"Column {self.names[position]!r} of {self.label} holds {what}, neither numbers "
                "nor text; convert them first."
            )
        return nw.col(self.spelt[position])

    def _is_number(self, position: int) -> bool:
        kind = self.schema[self.spelt[position]]
        return bool(kind.is_numeric()) or str(kind) == "Boolean"

    def _number(self, position: int, codes: MissingCodes) -> tuple[nw.Expr, nw.Expr]:
        """Return a column as floats, and whether they are finite and stand for a value."""
        import narwhals as nw

        floats = self._column(position).cast(nw.Float64)
        fits = floats.is_finite()
        if codes.numbers and self.schema[self.spelt[position]].is_numeric():
            fits = fits & ~floats.is_in(list(codes.numbers))
        return floats, fits


def _bin(key: Bins | Steps | Within, number: nw.Expr) -> nw.Expr:
    """Return the bin of a number."""
    import narwhals as nw

    if isinstance(key, Within):
        bins = ((number - key.lower) / key.width).floor().clip(0, key.count - 1) + 1
        for beyond, position in (
            (number <= key.lower, 0.0),
            (number < key.lower, -1.0),
            (number >= key.upper, key.count + 1.0),
            (number > key.upper, key.count + 2.0),
        ):
            bins = nw.when(beyond).then(nw.lit(position)).otherwise(bins)
        return bins
    if isinstance(key, Steps):
        return ((number - key.lower) / key.width).floor().clip(-1, key.count)
    reached = nw.lit(0.0)
    for edge in key.edges:
        reached = reached + (number >= edge).cast(nw.Float64)
    return reached


def _array(values: nw.Series[Any]) -> AnyArray:
    """Return values as an array of numbers, or of objects as they are, with None for none."""
    kind = values.dtype
    is_whole = kind.is_integer() or str(kind) == "Boolean"
    if kind.is_float() or (is_whole and not values.null_count()):
        return np.asarray(values.to_numpy())
    return objects(values.to_list())


@contextmanager
def _running(label: str) -> Iterator[None]:
    """Turn the errors of whatever library has the frame into one sentence."""
    try:
        yield
    except (InvalidInput, MemoryError):
        raise
    except Exception as error:
        if "unhashable" in str(error):
            raise InvalidInput(
                f"Expected {label} to hold numbers or text where it is read, not several values "
                "in one."
            ) from error
        raise InvalidInput(f"Cannot read {label}: {one_line(error)}.") from error


def is_frame(source: Any) -> bool:
    """Return whether Narwhals knows a source as a frame or a series.

    Examples
    --------
    >>> import pandas
    >>> is_frame(pandas.Series([39])), is_frame([39])
    (True, False)
    """
    if type(source).__module__.split(".")[0] in ("builtins", "numpy"):
        return False
    import narwhals as nw
    from narwhals.dependencies import is_pandas_dataframe

    if is_pandas_dataframe(source):  # whatever its columns are called
        return True
    made = nw.from_native(source, pass_through=True, allow_series=True)
    return isinstance(made, nw.DataFrame | nw.LazyFrame | nw.Series)


def frame_of(source: Any, name: str | None = None) -> Frame:
    """Return a frame or a series as a table; a series may be given a name."""
    import narwhals as nw
    from narwhals.dependencies import is_pandas_dataframe, is_pandas_series

    label, library = f"the {type(source).__name__}", type(source).__module__.split(".")[0]
    with _running(label):
        if is_pandas_series(source):
            name, source = name or _series_name(source.name), source.to_frame("c0")
            names: tuple[str, ...] = (name,)
        elif is_pandas_dataframe(source):  # whose names may be numbers, or the same twice
            names = tuple(map(str, source.columns))
            source = source.set_axis([f"c{position}" for position in range(len(names))], axis=1)
        else:
            made = nw.from_native(source, allow_series=True)
            if isinstance(made, nw.Series):
                made = made.alias(name or _series_name(made.name)).to_frame()
            names, source = tuple(made.collect_schema().names()), made
        frame = nw.from_native(source).lazy()
        schema = frame.collect_schema()
    return Frame(label, names, tuple(schema.names()), frame, schema, library)


def frame_of_values(values: Any, name: str | None = None) -> Frame | None:
    """Return a list or an array of values, or of rows, as a table; None if it is neither.

    Examples
    --------
    >>> frame_of_values([39, 25, None], "age").names
    ('age',)
    >>> frame_of_values([[39, 40], [25, 20]]).names
    ('x1', 'x2')
    """
    if not isinstance(values, np.ndarray | list | tuple | range | array):
        return None
    if isinstance(values, np.ndarray) and values.ndim == 0:
        return None
    import pandas

    if isinstance(values, np.ndarray) and values.dtype.names:
        columns = {field: values[field] for field in values.dtype.names}
    elif len(values) and isinstance(values[0], list | tuple | np.ndarray):
        columns = {f"x{number}": column for number, column in enumerate(row_columns(values), 1)}
        if not columns:
            raise InvalidInput("Expected rows of values, all of the same length.")
    else:
        columns = {name or "values": values}
    arrays = [raw_array(title, column) for title, column in columns.items()]
    made = frame_of(pandas.DataFrame(dict(enumerate(arrays)), copy=False))
    label = "the values in memory"
    return replace(made, label=label, names=tuple(columns), library="")


def _series_name(name: object) -> str:
    """Return what a series is called, which may be nothing."""
    return "values" if name is None or not str(name).strip() else str(name)
