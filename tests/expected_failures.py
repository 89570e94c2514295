"""Which of scikit-learn's checks fail for what they send or want, with the reason: for this version of it."""

import sklearn
from sklearn.utils.fixes import parse_version

OLDEST = parse_version(sklearn.__version__) < parse_version("1.7")
TO_SEVEN_DIGITS = "compares two fits to seven digits, more than the default tolerance promises"
OF_LEVELS = {
    "check_classifiers_train": "wants the likeliest level predicted, and least absolute error is at the median",
    "check_classifiers_classes": "gives strings as levels, whose order is not known",
}
TWO_VALUES = "sends columns with the values 1 and 2, which are no indicators"
ONE_DIMENSION = "sends a target of one dimension"

EQUIVALENCE = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), TO_SEVEN_DIGITS
)
OF_LABEL_SETS = {
    "check_classifiers_classes": ONE_DIMENSION,
    "check_classifiers_train": "wants predictions of one dimension",
    "check_classifiers_regression_target": ONE_DIMENSION,
    "check_class_weight_classifiers": ONE_DIMENSION,
    "check_classifier_not_supporting_multiclass": ONE_DIMENSION,
    "check_supervised_y_no_nan": "sends NaN, which stands for what is not known",
    **dict.fromkeys(
        (
            "check_estimators_dtypes", "check_sample_weights_not_an_array", "check_sample_weights_shape",
            "check_sample_weights_not_overwritten", "check_classifier_data_not_an_array", "check_fit2d_1feature",
            "check_sample_weights_pandas_series",
        ),
        TWO_VALUES,
    ),
}  # fmt: skip
OF_LABEL_SETS_OLDEST = dict.fromkeys(
    (
        "check_estimators_overwrite_params", "check_dont_overwrite_parameters", "check_estimators_fit_returns_self",
        "check_readonly_memmap_input", "check_dtype_object",
        "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data",
        "check_pipeline_consistency", "check_estimator_sparse_array", "check_estimator_sparse_matrix",
        "check_estimators_pickle", "check_f_contiguous_array_estimator", "check_methods_sample_order_invariance",
        "check_methods_subset_invariance", "check_dict_unchanged", "check_fit_check_is_fitted",
        "check_fit2d_predict1d",
    ),
    TWO_VALUES,
)  # fmt: skip
if OLDEST:
    OF_LABEL_SETS |= OF_LABEL_SETS_OLDEST
