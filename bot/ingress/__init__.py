"""The way in: what the gateway tells is queued in frame order, journalled in groups, and acknowledged (I1, I2)."""

from bot.ingress.door import Ingress

__all__ = ["Ingress"]
