"""What tokens cost, where an operator has said so."""

from dataclasses import dataclass
from decimal import Decimal

from agent.contracts import Usage

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Prices:
    """For a million tokens, in whatever currency the operator counts in. Those of the model that is asked first."""

    prompt: Decimal
    completion: Decimal

    def cost(self, usage: Usage) -> Decimal:
        """Of these tokens."""
        return (self.prompt * usage.prompt_tokens + self.completion * usage.completion_tokens) / _MILLION
