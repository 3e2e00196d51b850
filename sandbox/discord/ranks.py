"""Who stands above whom.

Source: https://discord.com/developers/docs/topics/permissions#permission-hierarchy. The owner stands above everybody,
then the position of a member's highest role decides. An administrator is not exempt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .people import Member, Role

Rank = tuple[int, int]


def of_role(role: Role) -> Rank:
    """For comparing; roles of the same position are sorted by id, the older one above."""
    return role.position, -role.id


def highest_role(member: Member) -> Role:
    """@everyone for whoever has no other."""
    return max([member.guild.everyone, *member.roles], key=of_role)


def above_role(member: Member, role: Role) -> bool:
    """Whether a member may give, take, edit, sort or delete a role, as far as its place goes."""
    return member.id == member.guild.owner_id or of_role(highest_role(member)) > of_role(role)


def above_member(member: Member, other: Member) -> bool:
    """Whether a member may kick, ban, rename or time out another, as far as their roles go. Nobody is above himself."""
    owner_id = member.guild.owner_id
    if member is other or other.id == owner_id:
        return False
    return member.id == owner_id or of_role(highest_role(member)) > of_role(highest_role(other))
