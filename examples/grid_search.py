"""Choose loss and regularisation by cross-validation, with scikit-learn's own tools."""

from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from maximand import MulticlassClassifier

X, y = load_wine(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)

# The scaler is fitted anew on the training part of every fold.
model = Pipeline([("scale", StandardScaler()), ("classify", MulticlassClassifier())])
grid = {"classify__loss": ["hinge", "crf", "ramp"], "classify__regularization": [1e-1, 1e-2, 1e-3]}
search = GridSearchCV(model, grid, cv=5).fit(X, y)

print("best:", search.best_params_)
print(f"accuracy in cross-validation {search.best_score_:.3f}, on test data {search.score(X_test, y_test):.3f}")
