"""`llama-index`: a prompt template that LlamaIndex's own model is asked with."""

from typing import Any

from llama_index.core.llms.mock import MockFunctionCallingLLM

import cuecard
from cuecard.adapters.llama_index import CuecardPromptTemplate

renderer = cuecard.PromptRenderer(zone="UTC")
made = CuecardPromptTemplate("You help {{ user_id }} in {{ shop }}.", renderer=renderer)
prompt: Any = made.with_session("s1", "ann")
assert prompt.partial_format(shop="Spoke").format() == "You help ann in Spoke."
answer = MockFunctionCallingLLM().predict(prompt, shop="Spoke")
assert "You help ann in Spoke." in answer, answer
