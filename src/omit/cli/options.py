"""Every option of the command line, once, and what the texts of options stand for.

An option is one line here: its type, and its help, which says what it is, its unit and its default.
Commands annotate their parameters with it. Typer makes options of annotations, so annotations are
evaluated here and not kept as text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

import typer

from omit.errors import InvalidInput

PUBLISHED_RUNS = "paper"

Commands: TypeAlias = Mapping[str, Callable[..., None]]


class Relation(StrEnum):
    """The neighbour relations that a guarantee can be asked for."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"


class BoundName(StrEnum):
    """The bounds of outlier-score suppression."""

    MIXTURE = "mixture"
    PUBLISHED = "published"


class Distance(StrEnum):
    """The distances that outlier scores can be made of."""

    ABSOLUTE = "absolute"
    DISCRETE = "discrete"
    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"


class Numbers(tuple[float, ...]):
    """The numbers of an option, separated by commas."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str | Self) -> Self:
        """Return the numbers of a text, or refuse it; a default is returned as it is.

        Examples
        --------
        >>> Numbers.parse("0.1,0.2")
        (0.1, 0.2)
        """
        if isinstance(text, cls):
            return text
        try:
            return cls(float(part) for part in str(text).split(","))
        except ValueError as error:
            raise typer.BadParameter(
                f"{text!r} is not a list of numbers such as 0.1,0.2"
            ) from error

    @staticmethod
    def joined(lists: "Sequence[Numbers] | None") -> tuple[float, ...]:
        """Return the numbers of an option that was given several times, or not at all.

        Examples
        --------
        >>> Numbers.joined([Numbers((0.1, 0.2)), Numbers((0.3,))]), Numbers.joined(None)
        ((0.1, 0.2, 0.3), ())
        """
        return tuple(number for numbers in lists or () for number in numbers)


def _option(text: str, *names: str, default: str | bool = True, **settings: Any) -> Any:
    """Return an option with this help; `default` says there what holds if nothing is given."""
    return typer.Option(*names, help=text, show_default=default, **settings)


def _numbers(text: str, *names: str, default: str | bool = False, form: str = "NUMBER,...") -> Any:
    """Return an option of one or more numbers, separated by commas or given several times."""
    return _option(text, *names, default=default, metavar=form, parser=Numbers.parse)


def _interval(text: str, *names: str, default: str) -> Any:
    """Return an option of two numbers, typed as two words."""
    return _option(text, *names, default=default, metavar="LOWER UPPER")


def _clustering(text: str, *names: str, default: str | bool = True) -> Any:
    """Return an option that only clusterings have."""
    return _option(text, *names, default=default, rich_help_panel="Clusterings")


# Data.
Source = Annotated[
    str,
    typer.Argument(
        help="A CSV or Parquet file, a folder or a pattern of several, - for the standard input, a "
        "DuckDB database, or a registered data set."
    ),
]
DatasetName = Annotated[
    str | None,
    typer.Argument(help="A registered data set, whose columns are listed; by default all sets."),
]
ColumnName = Annotated[
    str | None, _option("Name of the column.", "--column", default="the registered one")
]
TableName = Annotated[
    str | None,
    _option("Name of the table, if the source is a database.", "--table", default="the only one"),
]
Bounds = Annotated[
    str | None,
    _interval(
        "Declared smallest and largest value, or from-data, which is not private.",
        default="the registered ones",
    ),
]
DeclaredBounds = Annotated[
    str | None,
    _interval("Declared smallest and largest value.", "--bounds", default="the registered ones"),
]
Categories = Annotated[
    str | None,
    _option("Comma-separated declared categories of a text column.", default="the registered ones"),
]
By = Annotated[
    str | None,
    _option(
        "Comma-separated columns whose labels put every record into one group: the same question "
        "is asked in each.",
        "--by",
        default="no groups",
    ),
]
GroupLabels = Annotated[
    list[str] | None,
    _option(
        "All labels that there can be: a list, one for each column of --by, a CSV file with these "
        "columns, a registered data set, or from-data, which is not private.",
        "--groups",
        default="the registered ones",
        metavar="LABELS",
    ),
]
FixedLabels = Annotated[
    bool,
    _option(
        "With --by under replace: labels cannot change, and the sizes of groups are public.",
        "--fixed-labels",
    ),
]
Weight = Annotated[
    str | None,
    _option(
        "For a mean: name of a column with the weight of every record.",
        "--weight",
        default="all records count alike",
    ),
]
WeightBounds = Annotated[
    str | None,
    _interval("Zero and the declared largest weight.", "--weight-bounds", default="none"),
]
Step = Annotated[
    float | None,
    _option(
        "What all values are multiples of, above the lower bound: 1 for whole numbers.",
        default="the registered one, else continuous; for quantiles under add-remove at least "
        "10,000 where bounds are whole",
    ),
]
Bins = Annotated[
    int | None,
    _option(
        "Into how many bins the bounds are divided for a mean, a sum or a count; 0 for none.",
        default="16,384 for more than 200,000 different values",
    ),
]
MissingValue = Annotated[
    list[str] | None,
    _option(
        "A text or number that stands for no value, such as N; repeat for several.", default=False
    ),
]

# Statistics and mechanisms.
Statistic = Annotated[
    str,
    _option(
        "mean, mode, count, sum, variance, proportion:VALUE, median, quantile:SHARE, kmeans, "
        "kmedian, or all: mean and mode, each with the whole guarantee. In a list such as "
        "mean,median they share it."
    ),
]
Mechanism = Annotated[
    str,
    _option(
        "laplace, gaussian, for the mean also laplace-sum-and-count, gaussian-sum-and-count, "
        "laplace-published and gaussian-published, for the mode also exponential, gumbel, "
        "exponential-published and gumbel-published, or all; for quantiles permute-and-flip (on "
        "columns with a step, where it is the default), smooth-laplace, smooth-laplace-tight, "
        "smooth-student, global-laplace, exponential, propose-test-release, "
        "smooth-laplace-unpadded (NOT private) or all."
    ),
]
Metric = Annotated[
    str | None,
    _option(
        "mse or relative, for all numbers; for clusterings the records whose distances "
        "count: all, kept, or kept-sum.",
        default="mse for quantiles, all for clusterings, else relative",
    ),
]
StatisticNeighbours = Annotated[
    str | None,
    _option(
        "Neighbour relation: add-remove or replace.",
        "--neighbours",
        default="replace for --metric mse and most quantiles, else add-remove",
    ),
]
StatisticDelta = Annotated[
    float, _option("Delta of the release, in [0, 1); Gaussian noise requires delta > 0.", "--delta")
]
K = Annotated[
    int | None, _clustering("Number of clusters.", "--k", default="5 for kmeans, 4 for kmedian")
]
Columns = Annotated[
    str | None, _clustering("Comma-separated columns.", default="all registered columns")
]
Iterations = Annotated[int, _clustering("For kmeans: number of iterations.")]
Budget = Annotated[
    str, _clustering("For kmeans: su, published, or composed, which requires delta > 0.")
]
Start = Annotated[str, _clustering("For kmeans: spread or uniform first centres.")]
Candidates = Annotated[
    int, _clustering("For kmedian: number of values per column that a centre can have.")
]

# Accuracy.
Epsilon = Annotated[float, _option("Epsilon of the release, at least 0.")]
Delta = Annotated[float, _option("Delta of the release, in [0, 1).")]
Omissions = Annotated[
    list[str] | None,
    _option(
        "Omission, such as poisson:0.1, outlier-score:0.1,0.3, rule:0,100 or fixed-size:1000; "
        "one after another with a plus, rule:0,100+poisson:0.1; repeat for several.",
        default="the usual ones",
    ),
]
OneOmission = Annotated[str, _option("Omission, such as poisson:0.1.")]
SampledFrom = Annotated[
    int | None,
    _option(
        "Size of the population of which the data are a secret simple random sample; the "
        "guarantee is then for the population.",
    ),
]
NoNoiseReduction = Annotated[
    bool,
    _option(
        "Run the same mechanism in every row; the privacy that an omission adds is not used for "
        "less noise.",
        "--no-noise-reduction",
    ),
]
Truth = Annotated[
    str | None, _option("A known value to compare with.", default="the statistic of the data")
]
WantedError = Annotated[float, _option("The expected error to reach (% where it is relative).")]
Method = Annotated[str, _option("auto, exact or simulated.")]
Runs = Annotated[
    str,
    _option(
        "Number of simulated runs (a maximum for clusterings), or paper for the number used in "
        "the paper."
    ),
]
Seed = Annotated[int, _option("Seed of what is simulated.")]
Seconds = Annotated[
    float | None,
    _option("Time after which the best so far is given.", default="as long as it takes"),
]

# Jobs.
FailUnless = Annotated[
    list[str] | None,
    _option(
        "Exit with 3 unless this holds of the answer, such as 'epsilon<=1'; repeat for several.",
        metavar="CONDITION",
        default=False,
    ),
]
Verbose = Annotated[
    int,
    _option(
        "Say what is done, and when; -vv says more.", "--verbose", "-v", count=True, default=False
    ),
]

# Output.
Public = Annotated[
    bool,
    _option("The data are public: no warning, and files that everybody may read.", "--public"),
]
Json = Annotated[bool, _option("Print one JSON object instead of a table.", "--json")]
Report = Annotated[Path | None, _option("Path of the HTML report.", default="omit-report.html")]
AskedReport = Annotated[
    Path | None,
    _option("Path of a report, a page of HTML that needs no other file.", default="none"),
]
NoDate = Annotated[
    bool,
    _option(
        "Leave date and time taken out of the report, so that pages can be compared.", "--no-date"
    ),
]
NoReport = Annotated[bool, _option("Write no report.", "--no-report")]
FigureFile = Annotated[Path, _option("Path of the figure; the ending decides: .svg, .png or .pdf.")]
FigureWidth = Annotated[
    float | None,
    _option(
        "Width of the figure in inches, such as 3.3 for a column of a journal.", default="as needed"
    ),
]
NoFigure = Annotated[bool, _option("Draw nothing.", "--no-figure")]

# Privacy.
Neighbours = Annotated[
    Relation | None, _option("Neighbour relation.", default="that of the omission")
]
StatedUnder = Annotated[
    Relation | None,
    _option(
        "Neighbour relation to state the release under, converted from that of the mechanism.",
        default="that of the mechanism",
    ),
]
BaseEpsilon = Annotated[float, _option("Epsilon of the mechanism, at least 0.")]
BaseDelta = Annotated[float, _option("Delta of the mechanism, in [0, 1).")]
Suppression = Annotated[
    str,
    typer.Argument(
        help="MODULE:FUNCTION or FILE.py:FUNCTION, which is given a tuple of records and returns "
        "what is kept, keep probabilities, or a mapping from what may be kept to its "
        "probability; an omission in a module, or one by its short form, is held to its word.",
        metavar="MODULE:FUNCTION",
    ),
]
Universe = Annotated[
    str | None,
    _option(
        "All records that there can be, such as young,old,rich, or MODULE:NAME.",
        metavar="RECORD,...",
        default=False,
    ),
]
UpTo = Annotated[int | None, _option("The largest number of records of a database.", default=False)]
CheckedEpsilon = Annotated[
    float | None, _option("Epsilon of the mechanism, at least 0.", default=False)
]
Returns = Annotated[
    str | None,
    _option(
        "What the function returns: kept, probabilities or subsets.", default="what it looks like"
    ),
]
Claim = Annotated[
    str | None,
    _option(
        "What states the epsilon of a release, to be held to its word: an omission, or "
        "MODULE:FUNCTION of epsilon.",
        default="that of an omission",
    ),
]
WitnessFile = Annotated[
    Path | None,
    _option(
        "File for the mechanism that loses most, and the proof that none loses more.",
        default="none",
    ),
]
ReplayFile = Annotated[
    Path | None,
    _option("Check such a file again instead, without solving anything.", default="none"),
]
CheckSeconds = Annotated[float, _option("The longest estimated time that is begun, in seconds.")]
CheckStore = Annotated[
    Path | None,
    _option("Folder of results to resume an interrupted check from.", default="none"),
]
Releases = Annotated[int, _option("Number of such statistics computed on the same sample.")]
RowsPerPerson = Annotated[int, _option("Largest number of records of one person.")]
Rates = Annotated[
    list[Numbers],
    _numbers(
        "Probability of keeping a record, in (0, 1]; several for several kinds of records.",
        form="RATE,...",
    ),
]
NarrowedBounds = Annotated[
    str | None,
    _interval(
        "Declared smallest and largest value, to see how the omission narrows them.",
        "--bounds",
        default="none",
    ),
]
RatesByValue = Annotated[
    str,
    _option(
        "Probability of keeping a record by its value: young=0.5,0..40=0.9, and otherwise=1.",
        metavar="VALUE=RATE,...",
    ),
]
SampleSize = Annotated[int, _option("Number of records that are drawn.")]
Population = Annotated[int, _option("Number of records to draw from.")]
FormPopulation = Annotated[int | None, _option("Number of records to draw from, for fixed-size.")]
Keep = Annotated[str | None, _interval("Keep only values in this interval.", default="all")]
Sensitivity = Annotated[
    int, _option("Number of records by which the outputs of neighbours can differ.")
]
SmallestDeletion = Annotated[float, _option("Smallest probability of deletion, in [0, 1].", "--m")]
LargestDeletion = Annotated[float, _option("Largest probability of deletion, in [0, 1].", "--M")]
ScoreDistance = Annotated[
    Distance | None,
    _option(
        "Distance that makes the scores; privacy is the same for all.",
        default="that of the statistic",
    ),
]
ScoreBound = Annotated[
    BoundName, _option("Proved in the documentation (mixture), or Theorem 5.4 (published).")
]
Threshold = Annotated[
    float, _option("Largest mean distance from the others that is kept, in (0, 1).")
]
TopShare = Annotated[float, _option("Share of the records to delete, in (0, 0.5].")]
Deviations = Annotated[
    float, _option("Largest distance from the mean that is kept, in standard deviations.")
]
Ranges = Annotated[
    float,
    _option("Largest distance from the quartiles that is kept, in distances between the two."),
]
ShortForm = Annotated[
    str, typer.Argument(metavar="NAME:NUMBERS", help="The short form, such as poisson:0.1.")
]
DeletionBefore = Annotated[
    list[Numbers], _numbers("Deletion probabilities of the records of D.", form="P,...")
]
DeletionAfter = Annotated[
    list[Numbers],
    _numbers("Those of the same records in D + y, in the same order.", form="P,..."),
]
DeletionAdded = Annotated[float, _option("Deletion probability of y in D + y.")]
SubsetsFile = Annotated[
    Path,
    typer.Argument(
        help='JSON: {"database": [...], "record": ..., "without": [{"kept": [...], '
        '"probability": p}, ...], "with_record": [...]}.'
    ),
]

# Statistical privacy.
Entries = Annotated[int, _option("Number of entries of the database.", "--n")]
AnyEntries = Annotated[int | None, _option("Number of entries of the database.", "--n")]
Probability = Annotated[float, _option("Probability of the property.", "--p")]
AnyProbability = Annotated[float | None, _option("Probability of the property.", "--p")]
Groups = Annotated[
    list[str] | None,
    _option("SIZE:P, entries that are not alike; repeat, instead of --n and --p."),
]
Known = Annotated[int, _option("Number of other entries that the adversary knows.")]
Noise = Annotated[
    str | None,
    _option(
        "Noise on the answer: laplace:S, gaussian:S or discrete-gaussian:S.", default="no noise"
    ),
]
CurveEpsilons = Annotated[
    list[Numbers] | None,
    _numbers(
        "Values of epsilon at which delta is printed.", "--epsilon", default="a few over the curve"
    ),
]
Values = Annotated[str | None, _option("The distribution as VALUE:P,VALUE:P,...")]
DistributionFile = Annotated[
    Path | None, _option("The same as a CSV file with columns value, probability.")
]
Technique = Annotated[
    str, _option("without-replacement:SIZE, poisson:RATE or with-replacement:SIZE.", "--sample")
]
PlanEpsilon = Annotated[float, _option("Epsilon, above 0.")]
PlanDelta = Annotated[
    float | None,
    _option(
        "Plan the largest number of queries that Theorem 5.1 allows at this delta (instead of "
        "--queries)."
    ),
]
QueryCount = Annotated[int | None, _option("Number of queries.")]
QueryProbabilities = Annotated[
    list[Numbers],
    _numbers("Probability of the property, or one per query.", "--p", default="0.5"),
]
Importance = Annotated[
    list[Numbers] | None,
    _numbers("Weights of the squared errors, one per query.", default="all equal"),
]
SameProperty = Annotated[
    bool,
    _option(
        "All queries ask for one and the same property: delta is known exactly.",
        "--same-property",
    ),
]
Queries = Annotated[
    list[str], _option("mean, sum, median, share:>=X, share:<=X or share:=X; repeat.")
]
AnswerEpsilon = Annotated[float | None, _option("For a guarantee: epsilon.")]
AnswerProbabilities = Annotated[
    list[Numbers] | None,
    _numbers("For a guarantee: declared probabilities of the shares.", "--p"),
]
SecretSeed = Annotated[int | None, _option("For tests only: whoever knows it knows the partition.")]

# Papers.
PaperName = Annotated[
    str | None,
    typer.Argument(
        help="accuracy-gains, disclosure-control, omitting-records or statistical-privacy; none "
        "for the claims of all.",
        show_default=False,
    ),
]
Claims = Annotated[
    bool,
    _option(
        "Only the claims, with the standing of every one: computed at once if it takes seconds or "
        "its figure is asked for, else by what is stored.",
        "--claims",
    ),
]
FigureNumbers = Annotated[list[int] | None, _option("Number of a figure; repeat for several.")]
TableNumbers = Annotated[list[int] | None, _option("Number of a table; repeat for several.")]
ExhibitNames = Annotated[
    list[str] | None,
    _option("Name of a figure or table, also of one beyond the paper; repeat for several."),
]
Exact = Annotated[
    bool, _option("Exact errors where possible, or all simulated.", "--exact/--simulated")
]
PaperRuns = Annotated[
    str, _option('Repetitions of what is simulated, or "paper" for as many as there.')
]
PaperEpsilons = Annotated[
    list[float] | None,
    _option("Epsilon; repeat for several.", "--epsilon", default="those of the paper"),
]
OwnSource = Annotated[
    str | None,
    _option("File or registered data set to ask the paper's question of.", "--data"),
]
ArtefactFolder = Annotated[
    Path | None,
    _option(
        "Folder with the averages that the authors published, to lay over (omitting-records).",
        "--artefact",
        default="none",
    ),
]
Where = Annotated[
    str,
    _option(
        "Where to compute: process, cores, cores:N, local:N (a Dask cluster of N workers) or the "
        "address of a Dask scheduler."
    ),
]
PageFolder = Annotated[
    Path | None, _option("Folder for the page, figures and numbers.", default="the paper's name")
]
StoreFolder = Annotated[
    Path | None, _option("Folder of results to resume from.", default="study in NAME")
]
LargestDatabase = Annotated[
    float, _option("Largest number of records to try; inf includes the limit.")
]
Cases = Annotated[
    int, _option("Number of linear programs per check; cheap checks take 100 times more.")
]
RandomCases = Annotated[int, _option("Number of random cases per check; few are all listed.")]
GainStatistic = Annotated[str, _option("mean, median or quantile:SHARE.")]
GainMechanism = Annotated[
    str, _option("As for omit compare; smooth-laplace for quantiles by default.")
]
GridStep = Annotated[float, _option("Distance between values of m and of M.")]
GridEpsilons = Annotated[
    list[float] | None,
    _option("Epsilon to check; repeat for several.", "--epsilon", default="the paper's 371"),
]
ColumnEpsilons = Annotated[
    list[float] | None, _option("Epsilon of a column; repeat for several.", "--epsilon")
]
DrawnOmissions = Annotated[
    list[str] | None,
    _option(
        "Draw this omission instead, by its short form such as poisson:0.1; repeat for several.",
        "--omit",
        default=False,
    ),
]
RowEpsilons = Annotated[
    list[float] | None, _option("Epsilon of a row; repeat for several.", "--epsilon")
]
ColumnRates = Annotated[
    list[float] | None, _option("Sampling rate of a column; repeat for several.", "--rate")
]
Workers = Annotated[int, _option("Number of threads.")]
GainRuns = Annotated[int, _option("Number of samples per cell, where any are drawn.")]


@contextmanager
def expected(form: str, text: str) -> Iterator[None]:
    """Refuse a text whose parts do not have the form of its option, such as ``--noise KIND:SCALE``.

    What a part means is checked by the library, whose own refusals pass.
    """
    try:
        yield
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput(f"Expected {form}, got {text!r}.") from error


def pair_of_numbers(text: str, option: str = "--bounds") -> tuple[float, float]:
    """Return the two numbers of a text, or refuse it.

    Examples
    --------
    >>> pair_of_numbers("0,125")
    (0.0, 125.0)
    """
    with expected(f"{option} LOWER UPPER", text):
        lower, upper = map(float, text.split(","))
    return lower, upper


def pairs_of_numbers(text: str) -> tuple[float, float] | list[tuple[float, float]]:
    """Return the pair of numbers of a text, or the list of pairs of a longer one, or refuse it.

    Examples
    --------
    >>> pairs_of_numbers("0,125,0,100")
    [(0.0, 125.0), (0.0, 100.0)]
    """
    parts = text.split(",")
    if len(parts) % 2:
        raise InvalidInput(f"Expected --bounds to give pairs of numbers, got {text!r}.")
    pairs = [pair_of_numbers(",".join(parts[at : at + 2])) for at in range(0, len(parts), 2)]
    return pairs[0] if len(pairs) == 1 else pairs


def declared(bounds: str | None, parse: Callable[[str], Any] = pair_of_numbers) -> Any:
    """Return the bounds that are declared, None, or from-data."""
    return bounds if bounds is None or bounds == "from-data" else parse(bounds)


def names(text: str | None) -> list[str] | None:
    """Return the names of a comma-separated text; None if there is none.

    Examples
    --------
    >>> names("age, hours-per-week")
    ['age', 'hours-per-week']
    """
    return None if text is None else [part.strip() for part in text.split(",")]


def runs_asked_for(text: str) -> int | None:
    """Return how many runs are asked for, None for as many as were published, or refuse the text.

    Examples
    --------
    >>> runs_asked_for("2000"), runs_asked_for("paper")
    (2000, None)
    """
    from omit import _validate

    if text == PUBLISHED_RUNS:
        return None
    try:
        count = int(text)
    except ValueError as error:
        raise InvalidInput(
            f"Expected --runs {_validate.shown(text)} to be a whole number or {PUBLISHED_RUNS}."
        ) from error
    return _validate.runs(count)
