"""How the documentation is built: sphinx-build -W --keep-going -b html docs docs/_build/html."""

import re

import numpy as np

import maximand
from maximand import formats
from maximand.capabilities import Can
from maximand.cards import all_cards
from maximand.cli.model_options import own_options
from maximand.inference import BeliefPropagation, LinearProgram, Structure, Tree
from maximand.losses import LOSSES
from maximand.one_versus_all import OneVersusAll
from maximand.oracles import Euclidean, Larger, Over, Projection, Rescaled
from maximand.sets import Everything
from maximand.spaces import (
    Chain,
    Choice,
    Choices,
    Graph,
    Matching,
    OracleSpace,
    Ordinal,
    Product,
    Ranking,
    Subset,
)
from maximand.tasks.tracks.event_features import BIAS, EventFeatures
from maximand.tasks.tracks.events import Happening
from maximand.tasks.tracks.movies import SIZES

project = "maximand"
author = copyright = "The maximand developers"
version = release = maximand.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "alabaster"
html_theme_options = {"description": "Structured prediction with guarantees", "page_width": "1080px"}
html_copy_source = False

default_role = "py:obj"
maximum_signature_line_length = 100
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("Array", "Ints", "Bools", "Source", "Target", "Token")}
numpydoc_show_class_members = False
autosummary_context = {
    # Where the list of inherited members ends, and what scikit-learn adds to every estimator.
    "foundations": "BaseEstimator,ClassifierMixin,TransformerMixin,_MetadataRequester,_SetOutputMixin,Enum,ValueError",
    "routing": "set_fit_request,set_predict_request,set_score_request,set_decision_function_request,"
    "set_predict_proba_request,set_transform_request",
}

myst_enable_extensions = ["substitution"]
myst_heading_anchors = 2


def shown(oracle):
    """Return an oracle in words."""
    if oracle is None:
        return "0"
    if isinstance(oracle, Larger):
        margin = f" + {oracle.margin:g}" if oracle.margin else ""
        return f"the larger of: {shown(oracle.first)}{margin}; {shown(oracle.second)}"
    if isinstance(oracle, OneVersusAll):
        return "l(mean score over Y\\*) + sum over Y° of l(−score), l(a) = max(0, 1 − a)"
    if isinstance(oracle, Rescaled):
        return "max over Y of cost · (1 + score − score(y\\*))"
    over = oracle.over.value.replace("*", chr(92) + "*")
    if isinstance(oracle, Projection):
        kind = "½ u · u" if isinstance(oracle, Euclidean) else "u · log u"
        everything = isinstance(oracle.onto, Everything) and oracle.over is Over.ALL
        return f"max over {'all u' if everything else f'u in the hull of {over}'} of theta · u − {kind}"
    visible, hidden = ("log-sum-exp" if heat else "max" for heat in oracle.heats)
    kind = visible if visible == hidden else f"{visible} over visible of {hidden} over hidden slots"
    cost = {0: "", 1: " + cost", -1: " − cost"}[oracle.cost]
    return f"{kind} over {over} of score{cost}"


def losses_table():
    """Return all losses as a table."""
    lines = ["| loss | penalty | reward | convex on full / partial annotations | smooth |", "|---|---|---|---|---|"]
    for loss in LOSSES.values():
        partial = "refused" if isinstance(loss.penalty, Rescaled) else "yes" if loss.convex(full=False) else "no"
        convex = f"{'yes' if loss.convex(full=True) else 'no'} / {partial}"
        smooth = "yes" if loss.smooth(full=True) else "no"
        lines.append(f"| `{loss.name}` | {shown(loss.penalty)} | {shown(loss.reward)} | {convex} | {smooth} |")
    return "\n".join(lines)


def formats_table():
    """Return the table in the docstring of maximand.formats, with links to the functions and records."""

    def linked(name):
        return f"{{py:obj}}`~maximand.formats.{name[0]}`" if name[0] in formats.__all__ else name[0]

    table = re.search(r"^\| format .*?(?=\n\n)", formats.__doc__, re.MULTILINE | re.DOTALL)[0]
    head, rule, *rows = table.splitlines()
    return "\n".join([head, rule, *(re.sub(r"\w+", linked, row).replace("*", r"\*") for row in rows)])


def files_table():
    """Return which data files the estimators take on the command line."""
    lines = ["| data | `--format` | names, each also with `.gz` | model |", "|---|---|---|---|"]
    for card in all_cards():
        for form in card.formats:
            names = ", ".join(f"`{suffix}`" for suffix in form.suffixes) or "say `--format` to `fit` and `doctor`"
            options = "".join(f", `{option.flag}`" for option in form.options)
            lines.append(f"| {form.content} | `{form.name}`{options} | {names} | `{card.estimator.__name__}` |")
    return "\n".join(lines)


def options_table():
    """Return the options of `fit` that some estimators have only."""
    lines = ["| option | for | what it does |", "|---|---|---|"]
    for option, cards in own_options().items():
        owners = ", ".join(f"`{card.estimator.__name__}`" for card in cards)
        choices = f": {', '.join(f'`{choice}`' for choice in option.choices)}" if option.choices else ""
        what = re.sub(r"--[\w-]+", r"`\g<0>`", option.help)
        lines.append(f"| `{option.flag}`{choices} | {owners} | {what} |")
    return "\n".join(lines)


def capabilities_table():
    """Return what spaces can do of what may be missing."""
    chain, pair = Chain(np.array([3]), 2), [Structure.of([2, 2], [(0, 1)])]
    spaces = {
        "`Choice`": (Choice(1, 3),),
        "`Choices`, `Subset`, `Ordinal`": (Choices(1, 2, 3), Subset(1, 4), Ordinal(1, 4)),
        "`Matching`, `Ranking`": (Matching(1, 3), Ranking(1, 3)),
        "`Chain`": (chain,),
        "`Graph` with `Tree()`": (Graph(pair, Tree()),),
        "`Graph` with `LinearProgram()`": (Graph(pair, LinearProgram()),),
        "`Graph` with `BeliefPropagation()` and hidden nodes": (
            Graph(pair, BeliefPropagation(), hidden=np.array([False, True])),
        ),
        "`OracleSpace`": (OracleSpace(None, [None], [4]),),
        "`OracleSpace` with `outputs=`": (OracleSpace(None, [None], [4], outputs=list),),
        "`Product` of a `Chain` and a `Matching`": (Product(chain, Matching(1, 3)),),
    }
    used = [flag for flag in Can if any(flag in space.can for group in spaces.values() for space in group)]
    lines = [f"| space | {' | '.join(flag.words for flag in used)} |", "|---" * (len(used) + 1) + "|"]
    for name, group in spaces.items():
        (can,) = {space.can for space in group}
        lines.append(f"| {name} | {' | '.join('yes' if flag in can else '' for flag in used)} |")
    return "\n".join(lines)


def event_features_table():
    """Return the features of each kind of events that a tracker scores."""
    lines = ["| event | by positions | of each measure | of sizes too |", "|---|---|---|---|"]
    for kind in Happening:
        geometry, every, sizes = (
            [name for _, name, _ in EventFeatures((kind,), measures).columns if name != BIAS]
            for measures in ((), ("*measure*",), SIZES[:1])
        )
        every = [name for name in every if name not in geometry]
        sizes = [name.replace(SIZES[0], "*size*") for name in sizes if name not in geometry]
        alike = {name.replace("*measure*", "*size*") for name in every}
        columns = (geometry, every, [name for name in sizes if name not in alike])
        lines.append(f"| `{kind.name.lower()}` | {' | '.join('; '.join(names) for names in columns)} |")
    return "\n".join(lines)


myst_substitutions = {
    "event_features_table": event_features_table(),
    "capabilities_table": capabilities_table(),
    "losses_table": losses_table(),
    "formats_table": formats_table(),
    "files_table": files_table(),
    "options_table": options_table(),
}


def without_markup(app, what, name, obj, options, lines):
    """Leave |w| in docstrings as it is, a norm and no substitution, and *arguments too, which are not emphasised."""
    lines[:] = [re.sub(r"([(,] ?)\*(?=\w)", r"\1\*", line.replace("|", r"\|")) for line in lines]


def setup(app):
    """Connect what happens to docstrings."""
    app.connect("autodoc-process-docstring", without_markup, priority=100)
