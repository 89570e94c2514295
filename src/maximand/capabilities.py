"""What a space can do, and what losses need."""

from __future__ import annotations

from enum import Flag, auto


class Can(Flag):
    """What may be missing: everything else every space can do."""

    MARGINALS = auto()  # soft maxima at one temperature
    MIXED = auto()  # soft maxima over visible slots of those over hidden slots
    HIDDEN = auto()  # slots that are never annotated nor predicted
    OTHER = auto()  # maxima over the outputs that contradict an annotation
    PROJECTIONS = auto()  # onto the hull of the outputs
    DIRECT_PROJECTIONS = auto()  # which take no search over outputs
    K_BEST = auto()
    SAMPLING = auto()
    LISTS = auto()  # of all outputs of an example

    @property
    def words(self) -> str:
        """What is meant, in words; of several, the first."""
        return next(words for flag, words in WORDS.items() if flag in self)


MOST_LISTED = 4096  # outputs of an example
NOTHING = Can(0)
USUAL = Can.OTHER | Can.PROJECTIONS  # what follows from an argmax
WORDS = {
    Can.MARGINALS: "marginals",
    Can.MIXED: "marginals at two temperatures",
    Can.HIDDEN: "hidden slots",
    Can.OTHER: "maxima over what contradicts an annotation",
    Can.PROJECTIONS: "projections",
    Can.DIRECT_PROJECTIONS: "projections without a search",
    Can.K_BEST: "k best outputs",
    Can.SAMPLING: "samples",
    Can.LISTS: "lists of all outputs",
}
CURES = {
    Can.MARGINALS: "use a loss made of maxima or projections, such as hinge or euclidean",
    Can.MIXED: "use one temperature for outputs and hidden slots, as crf and hinge do, or a space that has them: "
    "Chain, Choice or Graph",
    Can.HIDDEN: "leave the slots open in the annotation instead",
    Can.OTHER: "use hinge or ramp",
    Can.PROJECTIONS: "use a loss made of maxima, such as hinge",
    Can.DIRECT_PROJECTIONS: "use a solver for maxima, such as BlockFrankWolfe()",
    Can.K_BEST: "use argmax",
    Can.SAMPLING: "use argmax",
    Can.LISTS: f"use hinge or pair: outputs are listed where it is known that an example has at most {MOST_LISTED}",
}


def sentence(who: str, missing: Can, cures: dict[Can, str] | None = None) -> str:
    """Say what is missing and what to do about it."""
    flag = next(flag for flag in WORDS if flag in missing)
    return f"{who} has no {flag.words}; {(cures or {}).get(flag, CURES[flag])}."
