"""Named entities from words: WindowVectorizer and SequenceTagger in a Pipeline, with BIO tags.

The vectoriser makes features of each word and of its neighbours. The scheme forbids tags that may not follow one
another, so the predicted tags always mark whole spans.
"""

import random

from sklearn.pipeline import make_pipeline

from maximand import SequenceTagger, WindowVectorizer

FIRST = ["Ada", "Emmy", "Kurt", "Alan", "Grace", "Paul", "Sofia", "Henri", "Maryam", "Leonhard"]
LAST = ["Lovelace", "Noether", "Turing", "Hopper", "Erdos", "Kovalevskaya", "Poincare", "Mirzakhani", "Euler"]
CITIES = ["London", "Paris", "Basel", "New York", "Budapest", "San Marino", "Stockholm", "Tehran"]


def sentence(rng, first, last, cities):
    """Return the words and the tags of a sentence about a person and a city."""
    person = [rng.choice(first)] + ([rng.choice(last)] if rng.random() < 0.7 else [])
    city = rng.choice(cities).split()
    person = list(zip(person, ["B-PER", "I-PER"], strict=False))
    city = list(zip(city, ["B-LOC", "I-LOC"], strict=False))
    plain = lambda words: [(word, "O") for word in words.split()]  # noqa: E731
    shape = rng.randrange(3)
    if shape == 0:
        pairs = [*person, *plain("lives in"), *city, *plain(".")]
    elif shape == 1:
        pairs = [*plain("In"), *city, *plain("people still talk about"), *person, *plain(".")]
    else:
        pairs = [*plain("The train to"), *city, *plain("was late , said"), *person, *plain(".")]
    return [word for word, _ in pairs], [tag for _, tag in pairs]


rng = random.Random(0)
# The names of the test sentences do not occur in training.
train = [sentence(rng, FIRST[:7], LAST[:6], CITIES[:5]) for _ in range(150)]
test = [sentence(rng, FIRST[7:], LAST[6:], CITIES[5:]) for _ in range(50)]

tagger = make_pipeline(WindowVectorizer(window=2, affixes=3), SequenceTagger(loss="crf", scheme="BIO"))
tagger.fit([words for words, _ in train], [tags for _, tags in train])

X_test, Y_test = [words for words, _ in test], [tags for _, tags in test]
print(*(f"{word}/{tag}" for word, tag in zip(X_test[0], tagger.predict(X_test)[0], strict=True)))
print(f"share of right tags on names not seen in training: {tagger.score(X_test, Y_test):.3f}")
