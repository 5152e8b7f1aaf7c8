"""`tokens`: the tokens of a prompt, counted as the model's own tokenizer does."""

import cuecard
from cuecard.tokens import find_counter

counter = find_counter("auto")
assert counter.exact, counter
prompt = cuecard.Template("hello {{ place }}").trace(place="world").with_counter(counter)
assert prompt.count(prompt.text) == 2
