"""A Discord on loopback, strict where Discord is strict, to which an unmodified client library connects.

Start with ``Discord``; ``docs/how-to/write-a-test.md`` shows how a test is written with it.
"""

from .api import Discord, Offline
from .clock import Clock
from .errors import Misuse, NotPermitted, SandboxError
from .events import ALL_INTENTS, PRIVILEGED, Intent
from .faults import Faults, GatewayFault, RestFault
from .interactions import Callback, Choice, Interaction, Modal
from .messages import File, Message, Ping, Pings
from .people import Member, Role, User, Webhook
from .permissions import Permission
from .places import Channel, Guild, Kind, Place, Thread
from .requests import Request
from .uses import Use
from .workshop import Workshop, workshop
from .world import Typing

__all__ = [
    "ALL_INTENTS",
    "PRIVILEGED",
    "Callback",
    "Channel",
    "Choice",
    "Clock",
    "Discord",
    "Faults",
    "File",
    "GatewayFault",
    "Guild",
    "Intent",
    "Interaction",
    "Kind",
    "Member",
    "Message",
    "Misuse",
    "Modal",
    "NotPermitted",
    "Offline",
    "Permission",
    "Ping",
    "Pings",
    "Place",
    "Request",
    "RestFault",
    "Role",
    "SandboxError",
    "Thread",
    "Typing",
    "Use",
    "User",
    "Webhook",
    "Workshop",
    "workshop",
]
