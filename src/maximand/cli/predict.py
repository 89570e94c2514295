"""maximand predict: outputs of a model for a data file."""

from __future__ import annotations

import argparse

from maximand.cards.steps import predictor_of, transformed
from maximand.cli.data import add_data_options, format_of, given, load_model
from maximand.cli.output import add_common_options
from maximand.files.atomic import check_other
from maximand.formats.sources import open_writer
from maximand.losses import named

PROBA = """add the probability of each predicted tag or label, of all labels where there are sets of them, of all
levels, of the labels of nodes, or of the positions of ranked labels (losses crf, euclidean and entropic)"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model")
    parser.add_argument("data", help="data, - for standard input; labels in it are ignored")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    parser.add_argument("--proba", action="store_true", help=PROBA)
    add_data_options(parser)
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the prediction for each example: the columns of a sentence with their tags; else an output in each line."""
    check_other(options.output, options.model, "the model")
    model, card, known = load_model(options.model)
    predictor = predictor_of(model)
    if options.proba and not hasattr(predictor, card.soft):
        raise ValueError(
            f"The loss {named(predictor.loss).name} models no probabilities; fit with --loss {card.soft_loss}."
        )
    form = format_of(options, known)
    with open_writer(options.output) as file:
        for unlabelled in form.batches(options.data, known, given(options, form)):
            answers = model.predict(unlabelled.X)
            means = [None] * len(answers)
            if options.proba:
                means = getattr(predictor, card.soft)(transformed(model, unlabelled.X))
            for line in card.lines(predictor, unlabelled, answers, means, options.json):
                print(line, file=file)
    return 0
