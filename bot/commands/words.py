"""What Discord shows of the commands in other languages: one table a language, by the English words themselves.

Discord picks by the language that a member's client is set to. Descriptions, what is to choose from and the names in
menus are translated; the names of commands and options stay English, so that what one member tells another can be
typed. A table holds all that Discord is told and nothing else, which a test sees to.
"""

from collections.abc import Mapping
from typing import Final

GERMAN: Final[Mapping[str, str]] = {
    # In menus, under Apps.
    "Ban": "Bannen",
    "Delete message": "Nachricht löschen",
    "Kick": "Hinauswerfen",
    "Moderation history": "Moderationsverlauf",
    "Remember this": "Merk dir das",
    "Time out": "Auszeit geben",
    "Time out author": "Autor Auszeit geben",
    "Why this answer?": "Warum diese Antwort?",
    # Memory.
    "What I remember of you, of this channel and of this server.": (
        "Woran ich mich erinnere: von dir, von diesem Kanal und von diesem Server."
    ),
    "Show what I remember.": "Zeige, woran ich mich erinnere.",
    "Search what I remember, by words.": "Durchsuche, woran ich mich erinnere, nach Wörtern.",
    "Have me remember something.": "Lass mich mir etwas merken.",
    "Change a memory.": "Ändere eine Erinnerung.",
    "Have me forget a memory.": "Lass mich eine Erinnerung vergessen.",
    "Let a memory stand out, or no longer.": "Hebe eine Erinnerung hervor, oder nicht mehr.",
    "Why I remember it: what it rests on.": "Warum ich mich daran erinnere: worauf es beruht.",
    "How a memory came to be as it is.": "Wie eine Erinnerung wurde, was sie ist.",
    "Bring back a forgotten memory, or a former version.": (
        "Hole eine vergessene Erinnerung oder eine frühere Fassung zurück."
    ),
    "Get what I remember as a file.": "Erhalte als Datei, woran ich mich erinnere.",
    "Show the exchanges of yours that I keep for a while.": "Zeige, was du gefragt hast und ich eine Weile aufhebe.",
    "Have me delete one of them for good.": "Lass mich davon etwas endgültig löschen.",
    "Whose memories; yours if left out.": "Wessen Erinnerungen; ohne Angabe deine.",
    "mine": "meine",
    "this channel's": "die dieses Kanals",
    "this server's": "die dieses Servers",
    "Words that it holds, or its key.": "Wörter, die darin stehen, oder der Schlüssel.",
    "What I shall remember, in a sentence.": "Was ich mir merken soll, in einem Satz.",
    "What it shall say instead.": "Was stattdessen da stehen soll.",
    "What kind of memory it is.": "Welche Art von Erinnerung es ist.",
    "profile": "Profil",
    "preference": "Vorliebe",
    "fact": "Tatsache",
    "decision": "Entscheidung",
    "project": "Projekt",
    "relationship": "Beziehung",
    "commitment": "Zusage",
    "event": "Ereignis",
    "skill": "Können",
    "correction": "Berichtigung",
    "A stable name, such as preference.editor; the same key replaces.": (
        "Ein fester Name wie preference.editor; derselbe Schlüssel ersetzt."
    ),
    "How much it matters, from 0 to 1.": "Wie wichtig es ist, von 0 bis 1.",
    "Which one: its number or its key.": "Welche: ihre Nummer oder ihr Schlüssel.",
    "Which one: its number.": "Welche: ihre Nummer.",
    "Which former version; see /memory history.": "Welche frühere Fassung; siehe /memory history.",
    "False takes the pin away.": "Nein nimmt die Hervorhebung weg.",
    "Its number, from /memory episodes.": "Die Nummer, aus /memory episodes.",
    # Oneself, and the conversation.
    "What I can do, and how to ask for it.": "Was ich kann, und wie man darum bittet.",
    "One command, to see all of it.": "Ein Befehl, um alles darüber zu sehen.",
    "Begin a fresh conversation here; what I remember stays as it is.": (
        "Beginne hier ein neues Gespräch; woran ich mich erinnere, bleibt."
    ),
    "What you used of my language model today and this week, and what is left.": (
        "Was du heute und diese Woche von meinem Sprachmodell gebraucht hast, und was übrig ist."
    ),
    "Why I answered as I did: what it was made from, and what was done.": (
        "Warum ich so geantwortet habe: woraus es gemacht ist, und was getan wurde."
    ),
    "A link to the answer, or its number; your newest one here if left out.": (
        "Ein Link zur Antwort oder ihre Nummer; ohne Angabe die neueste an dich hier."
    ),
    "Stop what I am working on for you here; nothing more is said or done for it.": (
        "Beende, woran ich hier für dich arbeite; dazu wird nichts mehr gesagt oder getan."
    ),
    # Privacy.
    "What I keep of you, and what you want of that.": "Was ich von dir aufhebe, und was du davon willst.",
    "See what I keep of you, who reads it, and choose.": "Sieh, was ich von dir aufhebe und wer es liest, und wähle.",
    "Get all that I keep of you, as a file for you alone.": "Erhalte alles, was ich von dir aufhebe, als Datei.",
    "Delete everything that I keep of you, everywhere.": "Lösche alles, was ich von dir aufhebe, überall.",
    "See what became of a deletion.": "Sieh, was aus einer Löschung wurde.",
    "The receipt that you were given.": "Die Quittung, die du bekommen hast.",
    "Tell me where you live, for dates and hours.": "Sag mir, wo du lebst, für Daten und Uhrzeiten.",
    "A place of the tz database, such as Europe/Berlin.": "Ein Ort der tz-Datenbank wie Europe/Berlin.",
    "Delete what I keep of a channel or of a former member.": (
        "Lösche, was ich von einem Kanal oder einem früheren Mitglied aufhebe."
    ),
    "Delete what I keep of a channel.": "Lösche, was ich von einem Kanal aufhebe.",
    "Delete what I keep of a former member.": "Lösche, was ich von einem früheren Mitglied aufhebe.",
    "Which channel.": "Welcher Kanal.",
    "Whom; they need not be here any more.": "Wen; wer es ist, muss nicht mehr hier sein.",
    # How the bot is in a server.
    "Who I am here, and what I am to do.": "Wer ich hier bin, und was ich tun soll.",
    "See the rules that I follow.": "Sieh die Regeln, denen ich folge.",
    "Write the rules that I follow.": "Schreibe die Regeln, denen ich folge.",
    "See what the newest version changed.": "Sieh, was die neueste Fassung geändert hat.",
    "Let an earlier version count again.": "Lass eine frühere Fassung wieder gelten.",
    "Which version counts again.": "Welche Fassung wieder gilt.",
    "For one channel; left out: for the whole server.": "Für einen Kanal; ohne Angabe für den ganzen Server.",
    "How I behave in this server.": "Wie ich mich auf diesem Server verhalte.",
    "See and change how I behave here.": "Sieh und ändere, wie ich mich hier verhalte.",
    "How long messages are kept.": "Wie lange Nachrichten aufgehoben werden.",
    "Days; 0: as long as who runs me keeps them.": "Tage; 0: so lange, wie wer mich betreibt sie aufhebt.",
    "Where cases of moderation are told.": "Wo Fälle der Moderation gemeldet werden.",
    "Where cases of moderation are told; left out: nowhere.": (
        "Wo Fälle der Moderation gemeldet werden; ohne Angabe nirgends."
    ),
    "Name a role, or take it back.": "Benenne eine Rolle, oder nimm sie zurück.",
    "Who may do with me what administrators may.": "Wer mit mir tun darf, was Administratoren dürfen.",
    "The language that I answer in.": "Die Sprache, in der ich antworte.",
    "Such as de or pt-BR; left out: that of who asks.": "Etwa de oder pt-BR; ohne Angabe die dessen, der fragt.",
    "What may be spent here in a day.": "Was hier an einem Tag verbraucht werden darf.",
    "Tokens a day for the server; 0: the operator's.": "Token am Tag für den Server; 0: was der Betreiber erlaubt.",
    "Tokens a day for each member; 0: the operator's.": "Token am Tag je Mitglied; 0: was der Betreiber erlaubt.",
    "Who changed what, and when.": "Wer was geändert hat, und wann.",
    # Reactions.
    "What reactions do here.": "Was Reaktionen hier tun.",
    "Show what reactions do here.": "Zeige, was Reaktionen hier tun.",
    "Let a reaction to a message give a role.": "Lass eine Reaktion auf eine Nachricht eine Rolle geben.",
    "Let it give no role any more.": "Lass sie keine Rolle mehr geben.",
    "Let an emoji do something on any message.": "Lass ein Emoji auf jeder Nachricht etwas tun.",
    "Let it do nothing any more.": "Lass es nichts mehr tun.",
    "A link to the message in this channel, or its number.": (
        "Ein Link zur Nachricht in diesem Kanal, oder ihre Nummer."
    ),
    "The emoji.": "Das Emoji.",
    "The role that who reacts so has.": "Die Rolle, die hat, wer so reagiert.",
    "What it does.": "Was es tut.",
    "remember": "merken",
    "pin": "anpinnen",
    # For the people who run the bot.
    "For the people who run me.": "Für die Leute, die mich betreiben.",
    "List what is remembered in a server, whoever's it is.": "Liste auf, was ein Server weiß, wessen es auch ist.",
    "Delete a memory for good, in any server.": "Lösche eine Erinnerung endgültig, auf jedem Server.",
    "List the newest runs of my language model in a server.": (
        "Liste die neuesten Läufe meines Sprachmodells auf einem Server auf."
    ),
    "Look into a run.": "Sieh in einen Lauf hinein.",
    "The number of a server, or of a direct conversation; this one if left out.": (
        "Die Nummer eines Servers oder direkten Gesprächs; ohne Angabe diese."
    ),
    "Words that it holds, or the number of the member whose it is.": (
        "Wörter, die darin stehen, oder die Nummer des Mitglieds, dem es gehört."
    ),
    "Its number.": "Die Nummer.",
    # Moderation.
    "Moderation: every action shows a card first, and leaves a case.": (
        "Moderation: jede Handlung zeigt erst eine Karte und hinterlässt einen Fall."
    ),
    "Channel": "Kanal",
    "Role": "Rolle",
    "Ban somebody, here or not, for a time or for good.": (
        "Banne jemanden, ob hier oder nicht, auf Zeit oder für immer."
    ),
    "Lift a ban.": "Hebe einen Bann auf.",
    "Remove a member.": "Wirf ein Mitglied hinaus.",
    "Let a member be silent for a while.": "Lass ein Mitglied eine Weile schweigen.",
    "End a timeout.": "Beende eine Auszeit.",
    "Warn a member by direct message.": "Verwarne ein Mitglied per Direktnachricht.",
    "Keep a note about somebody; they are not told.": ("Halte etwas über jemanden fest; wer es ist, erfährt es nicht."),
    "Delete the last messages, of everybody or of one.": "Lösche die letzten Nachrichten, von allen oder von jemandem.",
    "Set the slow mode of a channel.": "Stelle den Langsam-Modus eines Kanals ein.",
    "Let nobody write in a channel, for a time or for good.": (
        "Lass niemanden in einem Kanal schreiben, auf Zeit oder auf Dauer."
    ),
    "Let people write in a channel again.": "Lass in einem Kanal wieder schreiben.",
    "Give a member a role, for a time or for good.": "Gib einem Mitglied eine Rolle, auf Zeit oder auf Dauer.",
    "Take a role from a member.": "Nimm einem Mitglied eine Rolle.",
    "Give a member another nickname, or none.": "Gib einem Mitglied einen anderen Spitznamen, oder keinen.",
    "Make a channel.": "Lege einen Kanal an.",
    "Change a channel.": "Ändere einen Kanal.",
    "Delete a channel.": "Lösche einen Kanal.",
    "What happened to somebody here.": "Was mit jemandem hier geschah.",
    "Show a case.": "Zeige einen Fall.",
    "Give a case another reason.": "Gib einem Fall eine andere Begründung.",
    "Undo what a case did, where that can be.": "Mach rückgängig, was ein Fall tat, wo das geht.",
    "Whom it is about.": "Um wen es geht.",
    "Whom it is about; also by id, when they are not here.": "Um wen es geht; auch als Nummer, wenn er nicht hier ist.",
    "Why; it stands in the case and in the audit log.": "Warum; es steht im Fall und im Audit-Log.",
    "Why; they read it.": "Warum; der Betroffene liest es.",
    "For how long: 10m, 2h, 7d. Without it: for good.": "Wie lange: 10m, 2h, 7d. Ohne Angabe: auf Dauer.",
    "For how long: 10m, 2h, 7d (28d at most). Without it: an hour.": (
        "Wie lange: 10m, 2h, 7d (höchstens 28d). Ohne Angabe: eine Stunde."
    ),
    "Delete their messages of the last: 1h, 1d, 7d (at most).": (
        "Lösche die Nachrichten der letzten: 1h, 1d, 7d (höchstens)."
    ),
    "Links to messages.": "Links zu Nachrichten.",
    "Further members, as mentions or ids.": "Weitere Mitglieder, als Erwähnungen oder Nummern.",
    "The number of the case.": "Die Nummer des Falls.",
    "Its name.": "Der Name.",
    "Another name.": "Ein anderer Name.",
    "What kind of channel.": "Welche Art von Kanal.",
    "text": "Text",
    "voice": "Sprache",
    "category": "Kategorie",
    "announcement": "Ankündigungen",
    "forum": "Forum",
    "What it is about.": "Worum es darin geht.",
    "Between two messages of one member: 5s, 1m; 0 is off.": (
        "Zwischen zwei Nachrichten eines Mitglieds: 5s, 1m; 0 ist aus."
    ),
    "Which channel or thread; without it, this one.": "Welcher Kanal oder Thread; ohne Angabe dieser.",
    "The new nickname; without it, it is taken away.": "Der neue Spitzname; ohne Angabe wird er weggenommen.",
    "How many of the last messages.": "Wie viele der letzten Nachrichten.",
    "Only those of this member.": "Nur die dieses Mitglieds.",
    "Which role.": "Welche Rolle.",
}

LOCALES: Final[Mapping[str, Mapping[str, str]]] = {"de": GERMAN}


def localised(english: str) -> Mapping[str, str]:
    """The same in other languages, by Discord's locale."""
    return {locale: words[english] for locale, words in LOCALES.items() if english in words}
