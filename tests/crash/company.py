"""The people of a crash test: they talk, edit and delete as a seed has it, whether Muninn lives or not."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

from sandbox.discord import Channel, Member, Message, Place
from sandbox.model import ChatRequest, Completion, call, calls, say
from sandbox.model.practice import heard
from tests.harness.stage import Stage

Wish = Literal["short", "long", "react", "search", "work", "card"]
WISHES: Final[Sequence[Wish]] = ("short", "short", "long", "react", "search", "work", "card")
CONFIRMED: Final = "as confirmed"
"""Stands in what is posted because somebody pressed a card's button, and in the card's question."""

_TAG: Final = re.compile(r"\bq\d+\b")
_LONG_LINES: Final = 14


@dataclass(slots=True)
class Company:
    """Who speaks where, everything drawn from `rng`; and what the model answers them.

    Each question has a tag, which stands in every line of its answer; each time that the model is asked it says
    something else, so that an answer that was made twice shows.
    """

    stage: Stage
    rng: Random
    people: Sequence[Member] = field(init=False)
    quiet: Channel = field(init=False)
    places: list[Place] = field(init=False)
    questions: dict[str, Message] = field(default_factory=dict[str, Message])
    askers: dict[str, Member] = field(default_factory=dict[str, Member])
    answers: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    _said: list[tuple[Member, Message]] = field(default_factory=list[tuple[Member, Message]])

    def __post_init__(self) -> None:
        guild = self.stage.guild
        self.people = (self.stage.ada, self.stage.bob, guild.add_member("Cleo"))
        self.quiet = guild.create_channel("quiet")
        self.places = [self.stage.general]
        self.stage.model.default(self._answer)

    async def introduce(self) -> None:
        """Cleo writes the bot a DM, so that it is one that Muninn can know, and the others say something."""
        cleo = self.people[2]
        await self.ask("short", cleo, cleo)
        await self.ask("short", self.people[0], self.stage.general)

    async def ask(self, wish: Wish, who: Member | None = None, place: Place | None = None) -> None:
        """Somebody asks the bot something, by mention, by DM, or in reply to something it said."""
        tag = f"q{len(self.questions) + 1}"
        place = place or self._place()
        who = place if isinstance(place, Member) else who or self.rng.choice(self.people)
        earlier = self.stage.discord.bot_messages(place)
        if isinstance(place, Member):
            message = await who.says(place, f"{tag} {wish} please")
        elif earlier and self.rng.random() < 0.3:
            message = await who.says(place, f"{tag} {wish}, and then?", reply_to=self.rng.choice(earlier))
        else:
            message = await who.says(place, f"{self.stage.discord.bot.mention} {tag} {wish} please")
        self.questions[tag], self.askers[tag] = message, who
        self._said.append((who, message))

    async def chat(self) -> None:
        """Somebody does something: asks, talks to the others, edits or deletes what they said before."""
        dice = self.rng.random()
        mine = [(who, message) for who, message in self._said if not message.deleted]
        if dice < 0.15 and await self.press():
            return
        if dice < 0.4 or len(mine) < 3:
            await self.ask(self.rng.choice(WISHES))
        elif dice < 0.6:
            await self.talk(self._place())
        elif dice < 0.85:
            who, message = self.rng.choice(mine)
            await who.edits(message, f"{message.content} (edited)")
        else:
            who, message = self.rng.choice(mine)
            await who.deletes(message)

    async def press(self) -> bool:
        """Somebody presses a button of a card that is open to them, if there is one: mostly to have it done."""
        discord = self.stage.discord
        cards = [m for m in discord.bot_messages() if m.components and CONFIRMED in m.content]
        if not cards:
            return False
        card = self.rng.choice(cards)
        await self.askers[self.tag_of(card.content)].press(card, "Do it" if self.rng.random() < 0.8 else "No")
        return True

    async def talk(self, place: Place) -> None:
        """Somebody says something that is not for the bot (in a DM everything is)."""
        if isinstance(place, Member):
            await self.ask("short", place, place)
            return
        who = self.rng.choice(self.people)
        self._said.append((who, await who.says(place, f"by the way, {self.rng.randrange(1000)}")))

    async def while_down(self) -> None:
        """What people do while nobody listens: in places that Muninn knows, and in new ones."""
        await self.ask(self.rng.choice(WISHES), place=self.stage.general)
        await self.talk(self.stage.general)
        await self.ask("short", place=self.people[2])
        news = self.rng.choice(("quiet", "thread", "channel", "none"))
        if news == "quiet" and self.quiet not in self.places:
            self.places.append(self.quiet)
        elif news == "thread":
            self.places.append(await self.people[0].starts_thread(self.stage.general, f"on {len(self.places)}"))
        elif news == "channel":
            self.places.append(self.stage.guild.create_channel(f"new-{len(self.places)}"))
        if news != "none":
            await self.ask(self.rng.choice(WISHES), place=self.places[-1])
        for _ in range(self.rng.randint(1, 4)):
            await self.chat()

    def tag_of(self, text: str) -> str:
        """The tag of a question, or of a part of its answer."""
        found = _TAG.search(text)
        assert found is not None, f"nobody asked for this: {text[:80]!r}"
        return found[0]

    def _place(self) -> Place:
        return self.rng.choice((*self.places, *self.places, self.people[2]))

    def _answer(self, request: ChatRequest) -> Completion:
        words = heard(request).words
        tag = self.tag_of(words)
        if "work" in words and (calling := self._working(request)) is not None:
            return calling
        if not request.tool_results:
            if "react" in words:
                return call("discord_react", emoji="👍")
            if "card" in words:
                return call("discord_send_message", content=f"{tag} {CONFIRMED}")
            if "search" in words:
                return call("memory_search", query="way")
        head = f"{tag}, said {request.number}"
        text = "\n".join(f"{head}: line {n} {'.' * 280}" for n in range(_LONG_LINES)) if "long" in words else head
        self.answers[tag].add(text)
        return say(text)

    def _working(self, request: ChatRequest) -> Completion | None:
        """Reads beside each other, a write between them, and a second step; None once all of it is done."""
        made = sum(len(message.tool_calls) for message in request.messages)
        searches = [call("memory_search", query=f"way {number}") for number in range(4)]
        if made == 0:
            return calls(searches[0], searches[1], call("discord_react", emoji="👍"), searches[2])
        return searches[3] if made == 4 else None
