"""What lets the bot act, put together: judgement, cards, interactions and commands. bot.app runs its loops."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redis.asyncio import Redis

from bot.actions import TurnActions
from bot.addressing import Identity
from bot.asking import Asking, CardSettings
from bot.commands.sync import CommandSync
from bot.drafting import PREFIX as DRAFT
from bot.effects import Effects
from bot.erasure.worker import Eraser
from bot.fresh import NEW, Fresh
from bot.governing import Governing
from bot.guild_rules import RulesDesk, RulesDoor
from bot.guild_settings import GuildSettingsDoor
from bot.help import HELP, Help
from bot.interactions import Interactions
from bot.interactions.late import LateAnswers
from bot.judgement import Judgement
from bot.memories.assembly import offer_memories
from bot.moderation.assembly import Moderation, assemble_moderation
from bot.operators import Operators
from bot.pages import Pages
from bot.privacy.assembly import assemble_privacy
from bot.questions import PREFIX
from bot.reactions.answers import Answers
from bot.reactions.defining import Defining
from bot.reactions.shortcuts import Shortcuts
from bot.reactions.worker import ReactionWorker
from bot.remembering.workers import caps_of
from bot.responses import Responses
from bot.rest import Reads, Rest
from bot.settings import Settings
from bot.settings_card import SettingsCard
from bot.sight import Policy, Sights
from bot.standing import Standing
from bot.stopping import STOP, Stopping
from bot.turns import Turn
from bot.usage import USAGE, Usage
from bot.why import WHY, WHY_HERE, Why
from bot.writes import Writes
from memory.database import Pool
from memory.ids import TurnId, UserId


@dataclass(frozen=True, slots=True)
class Agency:
    """The parts by which the bot acts and is acted upon."""

    judgement: Judgement
    asking: Asking
    interactions: Interactions
    commands: CommandSync
    moderation: Moderation
    eraser: Eraser
    reactions: ReactionWorker

    def actions(self, turn: Turn, author_name: str) -> TurnActions:
        """What the tools of a turn may have done."""
        return TurnActions(self.judgement, self.asking, turn, author_name)


def assemble(
    settings: Settings,
    pool: Pool,
    redis: Redis | None,
    rest: Rest,
    writes: Writes,
    me: Identity,
    guild_settings: GuildSettingsDoor,
    guild_rules: RulesDoor,
    *,
    cancel: Callable[[Sequence[TurnId]], None],
) -> Agency:
    """Make and wire the parts. `cancel` stops turns that run in this process."""
    reads, standing = Reads(rest), Standing(rest, me.user_id)
    policy = Policy(settings.actions, settings.ids("actions_off_in"), settings.ids("owner_ids"))
    effects = Effects(pool, writes, standing, me, caps_of(settings))
    judgement = Judgement(Sights(pool, reads, me, policy), effects)
    asking = Asking(
        pool,
        redis,
        f"muninn:{me.application_id}:",
        writes,
        effects,
        judgement,
        CardSettings(settings.card_s, lease_s=3 * settings.turn_lease_s, poll_s=settings.poll_s),
    )
    interactions = Interactions(Responses(rest, me.application_id), LateAnswers(pool, writes, effects))
    interactions.on_press(PREFIX, asking.pressed)
    why = Why(pool, reads, me, policy)
    interactions.on_command(WHY, why.asked)
    interactions.on_command(WHY_HERE, why.asked_in_words)
    stopping = Stopping(pool, cancel)
    interactions.on_command(STOP, stopping.asked)
    interactions.on_press(DRAFT, stopping.pressed)
    moderation = assemble_moderation(
        pool,
        reads,
        writes,
        effects,
        asking,
        interactions,
        guild_settings,
        me,
        poll_s=settings.poll_s,
        reconcile_s=settings.reconcile_s,
    )
    governing = Governing(pool, reads, me, policy.owners)
    pages = Pages(interactions)
    eyes, changing = offer_memories(interactions, pages, pool, governing, caps_of(settings))
    answers = Answers(pool, writes, effects, why, eyes, changing)
    answers.register(interactions)
    Defining(pool, governing, UserId(me.user_id)).register(interactions)
    shortcuts = Shortcuts(pool, writes, governing, caps_of(settings))
    reactions = ReactionWorker(pool, answers, shortcuts, UserId(me.user_id), poll_s=settings.poll_s)
    Operators(pool, pages, policy.owners, caps_of(settings)).register(interactions)
    interactions.on_command(NEW, Fresh(pool).asked)
    interactions.on_command(USAGE, Usage(pool, governing, guild_settings).asked)
    guide = Help(lambda: interactions.declared, pages)
    interactions.on_command(HELP, guide.asked, suggester=guide.suggest)
    RulesDesk(pool, guild_rules, governing).open(interactions)
    SettingsCard(pool, guild_settings, governing, pages).open(interactions)
    eraser = assemble_privacy(settings, pool, redis, interactions, guild_settings, governing, me, cancel=cancel)
    commands = CommandSync(pool, writes, me.application_id, interactions.bodies())
    return Agency(judgement, asking, interactions, commands, moderation, eraser, reactions)
