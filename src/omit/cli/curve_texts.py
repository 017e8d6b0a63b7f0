"""What the texts of `omit curve` stand for: noise, groups, distributions and ways to sample."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omit.laws.distribution import Distribution
    from omit.statistical.noise import AddedNoise
    from omit.statistical.sampling import SamplingTechnique


def parse_noise(text: str | None) -> "AddedNoise | None":
    """Return the noise of a text such as `laplace:2`."""
    from omit import _validate
    from omit.errors import InvalidInput
    from omit.statistical.noise import added_noise

    if text is None:
        return None
    kind, _, scale = text.partition(":")
    try:
        number = float(scale)
    except ValueError as error:
        raise InvalidInput(f"Expected --noise KIND:SCALE, got {text!r}.") from error
    return added_noise(
        kind,  # type: ignore[arg-type]  # any text: added_noise refuses the rest
        _validate.finite("scale", number),
    )


def parse_group(text: str) -> tuple[int, float]:
    """Return the size and the probability of a text such as `100:0.2`."""
    from omit.errors import InvalidInput
    from omit.laws.distribution import checked_entries, property_probability

    try:
        size, chance = text.split(":")
        number, probability = int(size), float(chance)
    except ValueError as error:
        raise InvalidInput(f"Expected --group SIZE:P, got {text!r}.") from error
    return checked_entries(number, 0)[0], property_probability(probability)


def parse_distribution(values: str | None, file: Path | None) -> "Distribution":
    """Return the distribution of a text such as `0:0.5,1:0.5`, or of a file."""
    import pandas as pd

    from omit.errors import InvalidInput
    from omit.laws.distribution import Distribution

    if (values is None) == (file is None):
        raise InvalidInput("Expected either --values VALUE:P,... or --distribution FILE.")
    if values is not None:
        try:
            pairs = [part.split(":") for part in values.split(",")]
            return Distribution([float(v) for v, _ in pairs], [float(w) for _, w in pairs])
        except InvalidInput:
            raise
        except ValueError as error:
            raise InvalidInput(f"Expected --values VALUE:P,VALUE:P, got {values!r}.") from error
    try:
        table = pd.read_csv(file)
        return Distribution(table["value"], table["probability"])
    except InvalidInput:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(
            f"Cannot read {file}: expected a CSV file with columns value and probability."
        ) from error


def parse_technique(text: str) -> "SamplingTechnique":
    """Return the way to sample of a text such as `poisson:0.1`."""
    from omit.errors import InvalidInput
    from omit.statistical.sampling import Poisson, WithoutReplacement, WithReplacement

    name, _, number = text.partition(":")
    try:
        if name == "poisson":
            return Poisson(float(number))
        if name == "with-replacement":
            return WithReplacement(int(number))
        if name == "without-replacement":
            return WithoutReplacement(int(number))
        raise ValueError(name)
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput(
            "Expected --sample without-replacement:SIZE, poisson:RATE or with-replacement:SIZE, "
            f"got {text!r}."
        ) from error
