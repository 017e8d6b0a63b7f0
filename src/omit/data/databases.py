"""The tables of a DuckDB database, and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omit._text import listed, nearest
from omit._validate import shown
from omit.data.relations import Relation, explained, quoted
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


def connection_table(
    connection: DuckDBPyConnection,
    table: str | None = None,
    where: str = " in the database",
    catalog: str | None = None,
) -> Relation:
    """Return a table of an open DuckDB connection; the only one if no name is given.

    The name may have its schema, or its database and schema, in front. `where` is how a sentence
    about the table goes on, and `catalog` is one of the connection's databases, by default all.
    `InvalidInput` is raised if there is no such table, or there are several.

    Examples
    --------
    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE people (age INTEGER, sex TEXT)")
    >>> connection_table(connection, "people").names
    ('age', 'sex')
    """
    if table is not None and not isinstance(table, str):
        raise InvalidInput(f"Expected table={shown(table)} to be the name of a table.")
    with explained(f"the tables{where}"):
        every = connection.sql(
            "SELECT table_catalog, table_schema, table_name FROM system.information_schema.tables "
            "ORDER BY ALL"
        ).fetchall()
        (here,) = connection.sql(
            "SELECT system.main.current_database(), system.main.current_schema()"
        ).fetchall()
    tables = [identifier for identifier in every if catalog in (None, identifier[0])]
    names = sorted({identifier[2] for identifier in tables})
    if table is None and len(tables) != 1:
        raise InvalidInput(
            f"Expected table=... to choose a table{where}; there are {listed(names) or 'none'}."
        )
    chosen = names[0] if table is None else table
    meant = [
        identifier
        for identifier in tables
        if chosen in (".".join(identifier[start:]) for start in range(3))
    ]
    if not meant:
        raise InvalidInput(f"There is no table {chosen!r}{where}; {nearest(chosen, names)}.")
    if len(meant) > 1:  # as in SQL, the schema in use comes first
        meant = [identifier for identifier in meant if identifier[:2] == here] or meant
    if len(meant) > 1:
        full = listed(".".join(identifier) for identifier in meant)
        raise InvalidInput(f"Several tables{where} are called {chosen!r}; give one of {full}.")
    with explained(f"table {chosen!r}{where}"):
        relation = connection.sql(f"SELECT * FROM {'.'.join(map(quoted, meant[0]))}")
    return Relation(f"table {chosen!r}{where}", tuple(relation.columns), relation, connection)


def relation_table(relation: DuckDBPyRelation) -> Relation:
    """Return a DuckDB relation as a table."""
    with explained("the relation"):
        return Relation("the relation", tuple(relation.columns), relation)
