"""scikit-learn's checks of every estimator on arrays, as it is by default: what fails is listed, with the reason.

`LabelRanker` is not among them: the checks send a number for each row, which is no ranking.
"""

import pytest

from expected_failures import EQUIVALENCE, OF_LABEL_SETS, OF_LEVELS
from maximand import MulticlassClassifier, MultilabelClassifier, OrdinalClassifier, RegularizationCV
from thinning import EVERYTHING, scikit_learn_checks

DENSE = "check_sample_weight_equivalence_on_dense_data"


def expected_failures(estimator):
    if isinstance(estimator, MultilabelClassifier):
        return {DENSE: EQUIVALENCE[DENSE]} | OF_LABEL_SETS
    if isinstance(estimator, RegularizationCV):  # of OrdinalClassifier
        return OF_LEVELS
    return EQUIVALENCE | (OF_LEVELS if isinstance(estimator, OrdinalClassifier) else {})


@scikit_learn_checks(
    [
        OrdinalClassifier(),
        RegularizationCV(OrdinalClassifier()),
        # The hinge takes a minute on features of very different sizes; elsewhere these are checked with other settings.
        *([MulticlassClassifier(), MultilabelClassifier()] if EVERYTHING else []),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
