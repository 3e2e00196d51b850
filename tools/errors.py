"""What can go wrong in a tool, by who must act.

ToolFault
├── Refused           (model) the call cannot be done as asked; code and message go back to it (I16)
└── ToolMisdeclared   (developer) a declaration that contradicts itself or another one
"""


class ToolFault(Exception):
    """The base of all of them."""


class Refused(ToolFault):
    """Raised by a tool: `code` is stable, `message` says to the model what it may do instead."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class ToolMisdeclared(ToolFault):
    """Raised while the tools are collected, before any of them can run."""
