"""How each provider caches what requests begin with: one table, with sources. The figures are the providers' own words
where they give any; where they do not, what their servers are seen to do."""

from __future__ import annotations

from dataclasses import dataclass, replace

ANTHROPIC_DOCS = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
OPENAI_DOCS = "https://developers.openai.com/api/docs/guides/prompt-caching"
GOOGLE_DOCS = "https://ai.google.dev/gemini-api/docs/caching"
LLAMA_DOCS = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (cache_prompt)"


@dataclass(frozen=True, slots=True)
class CacheRules:
    """minimum: tokens below which nothing is cached. lifetime: seconds an unused entry stays, None while the server
    runs. step: what is read is a multiple of so many tokens. breakpoints: how many places of a request may be marked
    (0: the provider finds the longest prefix itself). lookback: blocks before a mark in which older entries are found.
    read_price, write_price: times the price of an uncached token. tools_first: tools stand before the system text.
    keeps_last: whether the newest block goes into the cache too."""

    name: str
    minimum: int
    lifetime: float | None
    step: int
    breakpoints: int
    lookback: int
    read_price: float
    write_price: float
    tools_first: bool
    source: str
    keeps_last: bool = True

    @property
    def words(self) -> str:
        """The rules in a line for people."""
        lives = "while the server runs" if self.lifetime is None else f"{self.lifetime / 60:g} min"
        found = f"{self.breakpoints} marks" if self.breakpoints else f"steps of {self.step}"
        least = f"from {self.minimum:,} tokens, " if self.minimum > 1 else ""
        costs = f"read {self.read_price:g}, write {self.write_price:g}"
        return f"{self.name}: {least}{found}, {lives}; costs: {costs}"


ANTHROPIC = CacheRules("Anthropic", 1024, 300, 1, 4, 20, 0.1, 1.25, True, ANTHROPIC_DOCS)
# Models differ in the discount, which the price list knows; the lifetime is 5 to 10 minutes, so the longer one.
OPENAI = CacheRules("OpenAI", 1024, 600, 128, 0, 0, 0.1, 1.0, False, OPENAI_DOCS)
# Google names no lifetime, only "a short amount of time"; newer models need more tokens than 2.5 does.
GOOGLE = CacheRules("Google", 4096, 300, 1, 0, 0, 0.1, 1.0, False, GOOGLE_DOCS)
# llama.cpp, vLLM, Ollama and LM Studio keep the prefix of the last request; what one's own machine does is free.
PREFIX = CacheRules("prefix cache of the server", 1, None, 1, 0, 0, 0.0, 1.0, False, LLAMA_DOCS)
SCRIPT = CacheRules(
    "scripted model", 1, None, 1, 0, 0, 0.0, 1.0, False, "engine/models/script_usage.py", keeps_last=False
)

# The most specific beginning of a model's name first.
ANTHROPIC_MINIMUM = (
    ("claude-opus-5", 512),
    ("claude-opus-4-5", 4096),
    ("claude-opus-4-6", 4096),
    ("claude-opus-4-7", 4096),
    ("claude-haiku-4-5", 4096),
    ("claude-3-5-haiku", 2048),
    ("claude-3-haiku", 2048),
)


def rules_for(spec: str) -> CacheRules:
    """The rules for ``provider/model``; a provider that is not in the table is taken for a server of one's own."""
    provider, _, model = spec.partition("/")
    if provider == "anthropic":
        least = next((n for begins, n in ANTHROPIC_MINIMUM if model.startswith(begins)), ANTHROPIC.minimum)
        return replace(ANTHROPIC, minimum=least)
    return {"openai": OPENAI, "google": GOOGLE, "script": SCRIPT}.get(provider, PREFIX)
