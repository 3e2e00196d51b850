"""What people write, and whether it asks for an action in plain words. One line a message; `\\n` is a line break."""

from dataclasses import dataclass
from typing import Final

from bot.phrasings.language import Ask
from bot.wording import Verdict


@dataclass(frozen=True, slots=True)
class Said:
    """`text` judged for `ask` gives `verdict`."""

    language: str
    ask: Ask
    verdict: Verdict
    text: str


def _rows(language: str, ask: Ask, verdict: Verdict, lines: str) -> tuple[Said, ...]:
    return tuple(Said(language, ask, verdict, line.strip().replace("\\n", "\n")) for line in lines.strip().splitlines())


SAID: Final[tuple[Said, ...]] = (
    *_rows(
        "english",
        "pin",
        "asked",
        r"""
        pin this
        Pin this message please
        <@99> pin that
        <@99>, could you pin this?
        can you please pin it
        hey Muninn, please pin my last message
        I'd like you to pin this
        ok thanks, now pin that one
        Please pin https://discord.com/channels/1/2/3
        pin
        pin please
        Great. Pin it!
        put a pin in this
        keep this pinned
        would you kindly pin this message so that everybody finds it?
        summarise this and pin it
        pin this and don't ping anyone
        **Pin** this
        Pin this, please?
        PIN THIS NOW
        pin this message for me?! please
        """,
    ),
    *_rows(
        "english",
        "pin",
        "negated",
        r"""
        don't pin this
        Please do not pin this
        never pin this
        <@99> dont pin it
        you must not pin this
        stop pinning this
        pin this. no, don't
        Pin this. Never mind
        pin this - actually, never mind
        no need to pin this
        I said don't pin this
        Pin nothing
        I'd rather not pin this
        please pin this. just kidding.
        """,
    ),
    *_rows(
        "english",
        "pin",
        "unclear",
        r"""
        she said 'pin this'
        he told me "pin this"
        `pin this`
        ```\npin this\n```
        > pin this\nwhat do you think?
        If the vote passes, pin this
        what happens if you pin this?
        how do I pin this?
        can you pin messages?
        Should I pin this?
        did you pin this?
        I pinned this yesterday
        Bob, pin this
        <@5> pin this
        Bob: pin this
        the admin says pin this
        Bob said, pin this
        pin this, said Bob
        imagine I asked you to pin this
        why did you pin this?
        why don't you pin this?
        pin this?
        ||pin this||
        ~~pin this~~
        They should read it and pin it
        hello there
        pin this if Bob agrees
        once he's done pin this
        don't pin that, pin this
        pin that; no wait, pin this one
        “pin this” is what she wrote
        unpin this
        the pin this morning
        translate: pin this
        What does pin this mean?
        I will pin this
        let me pin this
        you could have pinned this
        ｐｉｎ messages like these
        """,
    ),
    *_rows(
        "english",
        "unpin",
        "asked",
        r"""
        unpin this
        please unpin that message
        take the pin off
        can you unpin it?
        remove this from the pins
        """,
    ),
    *_rows(
        "english",
        "unpin",
        "negated",
        r"""
        don't unpin this
        """,
    ),
    *_rows(
        "english",
        "unpin",
        "unclear",
        r"""
        pin this
        """,
    ),
    *_rows(
        "english",
        "react",
        "asked",
        r"""
        react to this with 🎉
        react with a thumbs up
        add a 🎉 reaction
        give this a thumbs up
        please leave a reaction on that
        react please
        """,
    ),
    *_rows(
        "english",
        "react",
        "negated",
        r"""
        don't react to this
        please no reactions, don't react
        """,
    ),
    *_rows(
        "english",
        "send_to",
        "asked",
        r"""
        post a summary in <#5>
        say hello in <#5>
        please send this to <#5>
        tell <#5> that the release is out
        can you announce in <#5> that I don't come?
        write hi in the channel <#5>
        """,
    ),
    *_rows(
        "english",
        "send_to",
        "unclear",
        r"""
        write a poem about <#5>
        she posted it in <#5>
        what did people say in <#5>?
        post hello
        """,
    ),
    *_rows(
        "english",
        "send_to",
        "negated",
        r"""
        don't post this in <#5>
        never write in <#5> again
        """,
    ),
    *_rows(
        "english",
        "send",
        "asked",
        r"""
        say hello
        send a message saying hi
        post the summary
        """,
    ),
    *_rows(
        "english",
        "reply",
        "asked",
        r"""
        reply to that message
        answer <@5>
        respond to this
        reply to https://discord.com/channels/1/2/3 with thanks
        """,
    ),
    *_rows(
        "english",
        "thread",
        "asked",
        r"""
        create a thread about cats
        start a new thread
        open a thread called "Release"
        make us a thread for this
        turn this into a thread
        could you start a discussion thread?
        please create a thread here named Plan
        """,
    ),
    *_rows(
        "english",
        "thread",
        "unclear",
        r"""
        is there a thread about cats?
        read this thread
        who created this thread?
        close this thread
        """,
    ),
    *_rows(
        "english",
        "thread",
        "negated",
        r"""
        don't create a thread
        please never start threads
        """,
    ),
    *_rows(
        "english",
        "rename",
        "asked",
        r"""
        rename this thread to Plan
        rename it to X
        change the title to Plan
        call this thread Plan
        change the thread's name to "Y"
        """,
    ),
    *_rows(
        "english",
        "archive",
        "asked",
        r"""
        archive this thread
        close this thread
        close the thread please
        archive it
        """,
    ),
    *_rows(
        "english",
        "archive",
        "negated",
        r"""
        don't close this thread
        """,
    ),
    *_rows(
        "english",
        "unarchive",
        "asked",
        r"""
        reopen this thread
        unarchive the thread
        """,
    ),
    *_rows(
        "english",
        "lock",
        "asked",
        r"""
        lock this thread
        lock it
        """,
    ),
    *_rows(
        "english",
        "lock",
        "unclear",
        r"""
        unlock this thread
        """,
    ),
    *_rows(
        "english",
        "unlock",
        "asked",
        r"""
        unlock this thread
        """,
    ),
    *_rows(
        "english",
        "slowmode",
        "asked",
        r"""
        set slowmode to 10 seconds
        turn on slow mode here
        disable slowmode
        """,
    ),
    *_rows(
        "english",
        "edit",
        "asked",
        r"""
        edit your last message to say hi
        edit that
        correct your answer
        change what you said
        """,
    ),
    *_rows(
        "english",
        "edit",
        "unclear",
        r"""
        fix the bug
        change the world
        edit files
        """,
    ),
    *_rows(
        "english",
        "edit",
        "negated",
        r"""
        don't edit your message
        """,
    ),
    *_rows(
        "english",
        "delete",
        "asked",
        r"""
        delete your last message
        delete that
        remove your answer please
        erase what you wrote
        delete it
        """,
    ),
    *_rows(
        "english",
        "delete",
        "unclear",
        r"""
        delete the channel
        delete that folder
        remove Bob
        delete your account
        """,
    ),
    *_rows(
        "english",
        "delete",
        "negated",
        r"""
        don't delete that
        never delete your messages
        """,
    ),
    *_rows(
        "english",
        "remember",
        "asked",
        r"""
        remember that I like tea
        please remember my birthday is 3 May
        don't forget that I live in Berlin
        note that we use Postgres
        remember I don't eat meat
        Remember that I never drink coffee
        remember: tea
        save this for later
        make a note that the door is open
        keep in mind that I am vegan
        """,
    ),
    *_rows(
        "english",
        "remember",
        "unclear",
        r"""
        do you remember me?
        what do you remember about me?
        if you remember that, good
        does she remember that?
        """,
    ),
    *_rows(
        "english",
        "remember",
        "negated",
        r"""
        don't remember this
        please do not save this
        never store my address
        """,
    ),
    *_rows(
        "english",
        "forget",
        "asked",
        r"""
        forget my birthday
        forget that I like tea
        forget everything about me
        please forget what I said about Bob
        delete my memories
        forget about my job
        """,
    ),
    *_rows(
        "english",
        "forget",
        "unclear",
        r"""
        forget it
        I forget things
        did you forget my name?
        """,
    ),
    *_rows(
        "english",
        "forget",
        "negated",
        r"""
        don't forget my birthday
        """,
    ),
    *_rows(
        "german",
        "pin",
        "asked",
        r"""
        pinne das an
        Pinn das bitte an
        Kannst du das bitte anpinnen?
        bitte diese Nachricht anpinnen
        <@99> hefte meine Nachricht an
        Ich möchte, dass du das anpinnst.
        könntest du diese nachricht fixieren?
        Diese Nachricht bitte anheften!
        pin das mal
        Bitte pinne diesen Beitrag an, danke
        """,
    ),
    *_rows(
        "german",
        "pin",
        "negated",
        r"""
        pinne das nicht an
        Bitte nicht anpinnen
        Pinn das bloß nicht an
        das bitte nicht anpinnen
        nie etwas anpinnen!
        Pinne das an. Nein, doch nicht.
        """,
    ),
    *_rows(
        "german",
        "pin",
        "unclear",
        r"""
        Bob sagt, du sollst das anpinnen
        Wenn Bob zustimmt, pinne das an
        Soll ich das anpinnen?
        „Pinne das an“ hat sie gesagt
        Warum hast du das angepinnt?
        Ich will das anpinnen
        wie kann man das anpinnen?
        Anna, pinne das an
        Pinne das an, hat Bob gesagt
        Er schreibt: pinne das an
        `pinne das an`
        Was bedeutet anpinnen?
        """,
    ),
    *_rows(
        "german",
        "unpin",
        "asked",
        r"""
        entpinne das bitte
        Löse den Pin
        kannst du das entpinnen?
        """,
    ),
    *_rows(
        "german",
        "react",
        "asked",
        r"""
        reagiere mit 🎉
        gib ihm einen Daumen hoch
        Kannst du auf das mit einem Herz reagieren?
        """,
    ),
    *_rows(
        "german",
        "send_to",
        "asked",
        r"""
        schreib in <#5> eine Zusammenfassung
        poste das bitte in <#5>
        Kannst du in <#5> Hallo sagen?
        Schreib in <#5>, dass ich nicht komme
        """,
    ),
    *_rows(
        "german",
        "send_to",
        "negated",
        r"""
        schreib nichts in <#5>
        schreib das nicht in <#5>
        """,
    ),
    *_rows(
        "german",
        "thread",
        "asked",
        r"""
        mach einen Thread dazu auf
        erstelle bitte einen neuen Thread
        kannst du dazu einen Thread aufmachen?
        Eröffne einen Thread namens „Plan“
        """,
    ),
    *_rows(
        "german",
        "thread",
        "negated",
        r"""
        mach keinen Thread auf
        """,
    ),
    *_rows(
        "german",
        "rename",
        "asked",
        r"""
        benenne den Thread um in Plan
        ändere den Titel in Plan
        kannst du den Thread in Plan umbenennen?
        nenn den Thread Plan
        """,
    ),
    *_rows(
        "german",
        "archive",
        "asked",
        r"""
        archiviere den Thread
        schließ diesen Thread
        mach den Thread zu
        kannst du den Thread schließen?
        """,
    ),
    *_rows(
        "german",
        "lock",
        "asked",
        r"""
        sperre den Thread
        kannst du diesen Thread sperren?
        """,
    ),
    *_rows(
        "german",
        "lock",
        "unclear",
        r"""
        entsperre den Thread
        kannst du diesen Thread entsperren?
        """,
    ),
    *_rows(
        "german",
        "unlock",
        "asked",
        r"""
        entsperre den Thread
        kannst du diesen Thread entsperren?
        """,
    ),
    *_rows(
        "german",
        "edit",
        "asked",
        r"""
        ändere deine letzte Nachricht
        bearbeite das
        kannst du deine Antwort korrigieren?
        """,
    ),
    *_rows(
        "german",
        "delete",
        "asked",
        r"""
        lösch deine letzte Nachricht
        lösche das
        kannst du deine Nachricht löschen?
        lösch das bitte wieder
        """,
    ),
    *_rows(
        "german",
        "delete",
        "unclear",
        r"""
        lösch die Datei
        kannst du den Kanal löschen?
        """,
    ),
    *_rows(
        "german",
        "delete",
        "negated",
        r"""
        lösch das nicht
        """,
    ),
    *_rows(
        "german",
        "remember",
        "asked",
        r"""
        merk dir, dass ich Tee mag
        Merk dir das
        notiere: Tee
        vergiss nicht, dass ich kein Fleisch esse
        Merke dir bitte meinen Geburtstag
        kannst du das speichern?
        Merk dir, dass ich nie Kaffee trinke
        """,
    ),
    *_rows(
        "german",
        "remember",
        "negated",
        r"""
        merk dir das nicht
        bitte nicht speichern
        """,
    ),
    *_rows(
        "german",
        "forget",
        "asked",
        r"""
        vergiss meinen Geburtstag
        vergiss, was ich gesagt habe
        vergiss alles über mich
        vergiss, dass ich Tee mag
        """,
    ),
    *_rows(
        "german",
        "forget",
        "negated",
        r"""
        vergiss das nicht
        vergiss meinen Geburtstag nicht
        """,
    ),
    *_rows(
        "french",
        "pin",
        "asked",
        r"""
        épingle ce message
        épingle ça s'il te plaît
        Peux-tu épingler ce message ?
        épingle-le
        tu peux l'épingler ?
        Pourrais-tu épingler mon message, stp ?
        merci d'épingler ce message
        J'aimerais que tu épingles ce message
        s'il te plaît, épingle ça
        Épinglez cette réponse
        epingle ce message
        """,
    ),
    *_rows(
        "french",
        "pin",
        "negated",
        r"""
        n'épingle pas ça
        ne l'épingle pas
        épingle pas ça
        n'épingle jamais ce message
        Épingle ça. Non, finalement non
        """,
    ),
    *_rows(
        "french",
        "pin",
        "unclear",
        r"""
        elle a dit d'épingler ce message
        « épingle ça »
        si Bob est d'accord, épingle ça
        pourquoi as-tu épinglé ça ?
        Bob, épingle ça
        comment épingler un message ?
        dois-je épingler ça ?
        je veux épingler ça
        Il faut que Paul épingle ça
        """,
    ),
    *_rows(
        "french",
        "react",
        "asked",
        r"""
        réagis avec 🎉
        mets un pouce
        ajoute une réaction
        """,
    ),
    *_rows(
        "french",
        "send_to",
        "asked",
        r"""
        envoie un résumé dans <#5>
        écris bonjour dans le salon <#5>
        Peux-tu dire dans <#5> que je ne viens pas ?
        poste ça sur <#5>
        """,
    ),
    *_rows(
        "french",
        "send_to",
        "negated",
        r"""
        n'écris pas dans <#5>
        ne poste rien dans <#5>
        """,
    ),
    *_rows(
        "french",
        "thread",
        "asked",
        r"""
        crée un fil
        ouvre un nouveau fil de discussion
        peux-tu créer un fil pour ça ?
        """,
    ),
    *_rows(
        "french",
        "thread",
        "negated",
        r"""
        ne crée pas de fil
        """,
    ),
    *_rows(
        "french",
        "rename",
        "asked",
        r"""
        renomme ce fil en Plan
        change le titre du fil en Plan
        """,
    ),
    *_rows(
        "french",
        "archive",
        "asked",
        r"""
        archive ce fil
        ferme ce fil
        peux-tu fermer ce fil ?
        """,
    ),
    *_rows(
        "french",
        "lock",
        "asked",
        r"""
        verrouille ce fil
        """,
    ),
    *_rows(
        "french",
        "unlock",
        "asked",
        r"""
        déverrouille ce fil
        """,
    ),
    *_rows(
        "french",
        "lock",
        "unclear",
        r"""
        déverrouille ce fil
        """,
    ),
    *_rows(
        "french",
        "edit",
        "asked",
        r"""
        modifie ton dernier message
        corrige ta réponse
        """,
    ),
    *_rows(
        "french",
        "delete",
        "asked",
        r"""
        supprime ton dernier message
        supprime ça
        efface-le
        peux-tu le supprimer ?
        """,
    ),
    *_rows(
        "french",
        "delete",
        "negated",
        r"""
        ne supprime pas ça
        """,
    ),
    *_rows(
        "french",
        "remember",
        "asked",
        r"""
        souviens-toi que j'aime le thé
        retiens que je ne mange pas de viande
        note que le code est 3
        n'oublie pas que je suis végétarien
        rappelle-toi de mon anniversaire
        """,
    ),
    *_rows(
        "french",
        "remember",
        "negated",
        r"""
        ne retiens pas ça
        ne note pas ça
        """,
    ),
    *_rows(
        "french",
        "forget",
        "asked",
        r"""
        oublie mon anniversaire
        oublie ce que j'ai dit
        oublie que j'aime le thé
        """,
    ),
    *_rows(
        "french",
        "forget",
        "negated",
        r"""
        n'oublie pas mon anniversaire
        """,
    ),
    *_rows(
        "spanish",
        "pin",
        "asked",
        r"""
        fija esto
        fíjalo por favor
        ¿Puedes fijar este mensaje?
        Por favor, fija este mensaje
        ancla este mensaje
        ¿podrías anclarlo?
        Quiero que fijes este mensaje
        pinea esto
        Hola, ¿me puedes fijar esto?
        sí, fija esto
        """,
    ),
    *_rows(
        "spanish",
        "pin",
        "negated",
        r"""
        no fijes esto
        no lo fijes
        nunca fijes mis mensajes
        no fijar
        Fija esto. No, mejor no.
        """,
    ),
    *_rows(
        "spanish",
        "pin",
        "unclear",
        r"""
        dijo que fijes esto
        si Bob quiere, fija esto
        «fija esto»
        Bob, fija esto
        ¿por qué fijaste esto?
        ¿cómo se fija un mensaje?
        quiero fijar esto
        ¿debo fijar esto?
        """,
    ),
    *_rows(
        "spanish",
        "send_to",
        "asked",
        r"""
        escribe hola en <#5>
        envía un resumen a <#5>
        ¿puedes publicar esto en <#5>?
        di en <#5> que no voy
        """,
    ),
    *_rows(
        "spanish",
        "send_to",
        "negated",
        r"""
        no escribas en <#5>
        no publiques esto en <#5>
        """,
    ),
    *_rows(
        "spanish",
        "thread",
        "asked",
        r"""
        crea un hilo
        abre un nuevo hilo sobre esto
        ¿puedes crear un hilo?
        """,
    ),
    *_rows(
        "spanish",
        "thread",
        "negated",
        r"""
        no crees un hilo
        no abras ningún hilo
        """,
    ),
    *_rows(
        "spanish",
        "rename",
        "asked",
        r"""
        renombra este hilo a Plan
        cambia el título a Plan
        """,
    ),
    *_rows(
        "spanish",
        "archive",
        "asked",
        r"""
        archiva este hilo
        cierra este hilo
        """,
    ),
    *_rows(
        "spanish",
        "lock",
        "asked",
        r"""
        bloquea este hilo
        """,
    ),
    *_rows(
        "spanish",
        "unlock",
        "asked",
        r"""
        desbloquea el hilo
        """,
    ),
    *_rows(
        "spanish",
        "edit",
        "asked",
        r"""
        edita tu último mensaje
        corrige tu respuesta
        """,
    ),
    *_rows(
        "spanish",
        "delete",
        "asked",
        r"""
        borra tu último mensaje
        bórralo
        elimina eso
        """,
    ),
    *_rows(
        "spanish",
        "delete",
        "unclear",
        r"""
        borra el canal
        """,
    ),
    *_rows(
        "spanish",
        "delete",
        "negated",
        r"""
        no borres eso
        """,
    ),
    *_rows(
        "spanish",
        "remember",
        "asked",
        r"""
        recuerda que me gusta el té
        recuerda que no como carne
        no olvides que soy vegano
        anota esto
        apunta que vivo en Madrid
        """,
    ),
    *_rows(
        "spanish",
        "remember",
        "negated",
        r"""
        no recuerdes esto
        no guardes esto
        """,
    ),
    *_rows(
        "spanish",
        "forget",
        "asked",
        r"""
        olvida mi cumpleaños
        olvida lo que dije
        olvida que me gusta el té
        """,
    ),
    *_rows(
        "spanish",
        "forget",
        "negated",
        r"""
        no olvides mi cumpleaños
        """,
    ),
    *_rows(
        "spanish",
        "react",
        "asked",
        r"""
        reacciona con 🎉
        ponle un corazón a esto
        """,
    ),
    *_rows(
        "spanish",
        "react",
        "negated",
        r"""
        no reacciones a esto
        """,
    ),
    *_rows(
        "portuguese",
        "pin",
        "asked",
        r"""
        fixa isto
        Fixe esta mensagem, por favor
        Podes fixar isto?
        você pode fixar essa mensagem?
        por favor, fixa a minha mensagem
        fixa-a
        Quero que fixes isto
        """,
    ),
    *_rows(
        "portuguese",
        "pin",
        "negated",
        r"""
        não fixes isto
        nunca fixe isso
        Não fixar
        fixa isto. não, melhor não
        """,
    ),
    *_rows(
        "portuguese",
        "pin",
        "unclear",
        r"""
        ele disse para fixar isto
        se o Bob quiser, fixa isto
        Bob, fixa isto
        devo fixar isto?
        “fixa isto”
        porque fixaste isto?
        """,
    ),
    *_rows(
        "portuguese",
        "send_to",
        "asked",
        r"""
        escreve olá em <#5>
        manda um resumo para <#5>
        podes dizer em <#5> que não vou?
        """,
    ),
    *_rows(
        "portuguese",
        "send_to",
        "negated",
        r"""
        não escrevas em <#5>
        """,
    ),
    *_rows(
        "portuguese",
        "thread",
        "asked",
        r"""
        cria um tópico
        abre um novo tópico
        """,
    ),
    *_rows(
        "portuguese",
        "thread",
        "negated",
        r"""
        não cries um tópico
        """,
    ),
    *_rows(
        "portuguese",
        "delete",
        "asked",
        r"""
        apaga a tua última mensagem
        apaga isso
        """,
    ),
    *_rows(
        "portuguese",
        "delete",
        "negated",
        r"""
        não apagues isso
        """,
    ),
    *_rows(
        "portuguese",
        "remember",
        "asked",
        r"""
        lembra-te que gosto de chá
        lembre que não como carne
        anota que moro no Porto
        não te esqueças que sou vegano
        """,
    ),
    *_rows(
        "portuguese",
        "forget",
        "asked",
        r"""
        esquece o meu aniversário
        """,
    ),
    *_rows(
        "portuguese",
        "forget",
        "negated",
        r"""
        não esqueças o meu aniversário
        """,
    ),
    *_rows(
        "portuguese",
        "edit",
        "asked",
        r"""
        edita a tua última mensagem
        """,
    ),
    *_rows(
        "portuguese",
        "archive",
        "asked",
        r"""
        arquiva este tópico
        fecha este tópico
        """,
    ),
    *_rows(
        "portuguese",
        "rename",
        "asked",
        r"""
        renomeia este tópico para Plano
        """,
    ),
    *_rows(
        "portuguese",
        "lock",
        "asked",
        r"""
        tranca este tópico
        """,
    ),
    *_rows(
        "portuguese",
        "unlock",
        "asked",
        r"""
        destranca este tópico
        """,
    ),
    *_rows(
        "portuguese",
        "react",
        "asked",
        r"""
        reage com 🎉
        põe um coração nisto
        """,
    ),
    *_rows(
        "italian",
        "pin",
        "asked",
        r"""
        fissa questo messaggio
        fissalo per favore
        Puoi fissare questo?
        potresti fissarlo?
        per favore, fissa il mio messaggio
        Vorrei che tu fissi questo
        """,
    ),
    *_rows(
        "italian",
        "pin",
        "negated",
        r"""
        non fissare questo
        non fissarlo
        non fissare mai i miei messaggi
        fissa questo. anzi no
        """,
    ),
    *_rows(
        "italian",
        "pin",
        "unclear",
        r"""
        ha detto di fissare questo
        se Bob vuole, fissa questo
        Bob, fissa questo
        devo fissare questo?
        «fissa questo»
        perché hai fissato questo?
        """,
    ),
    *_rows(
        "italian",
        "send_to",
        "asked",
        r"""
        scrivi ciao in <#5>
        manda un riassunto su <#5>
        puoi scrivere in <#5> che non vengo?
        """,
    ),
    *_rows(
        "italian",
        "send_to",
        "negated",
        r"""
        non scrivere in <#5>
        """,
    ),
    *_rows(
        "italian",
        "thread",
        "asked",
        r"""
        crea un thread
        apri una nuova discussione
        """,
    ),
    *_rows(
        "italian",
        "thread",
        "negated",
        r"""
        non creare un thread
        """,
    ),
    *_rows(
        "italian",
        "delete",
        "asked",
        r"""
        cancella il tuo ultimo messaggio
        eliminalo
        """,
    ),
    *_rows(
        "italian",
        "delete",
        "negated",
        r"""
        non cancellare quello
        """,
    ),
    *_rows(
        "italian",
        "remember",
        "asked",
        r"""
        ricorda che mi piace il tè
        ricordati che non mangio carne
        annota questo
        non dimenticare che sono vegano
        """,
    ),
    *_rows(
        "italian",
        "forget",
        "asked",
        r"""
        dimentica il mio compleanno
        """,
    ),
    *_rows(
        "italian",
        "forget",
        "negated",
        r"""
        non dimenticare il mio compleanno
        """,
    ),
    *_rows(
        "italian",
        "edit",
        "asked",
        r"""
        modifica il tuo ultimo messaggio
        """,
    ),
    *_rows(
        "italian",
        "archive",
        "asked",
        r"""
        archivia questo thread
        chiudi questa discussione
        """,
    ),
    *_rows(
        "italian",
        "rename",
        "asked",
        r"""
        rinomina questo thread in Piano
        """,
    ),
    *_rows(
        "italian",
        "lock",
        "asked",
        r"""
        blocca questo thread
        """,
    ),
    *_rows(
        "italian",
        "lock",
        "unclear",
        r"""
        sblocca questo thread
        """,
    ),
    *_rows(
        "italian",
        "unlock",
        "asked",
        r"""
        sblocca questo thread
        """,
    ),
    *_rows(
        "italian",
        "react",
        "asked",
        r"""
        reagisci con 🎉
        metti un cuore
        """,
    ),
    *_rows(
        "dutch",
        "pin",
        "asked",
        r"""
        pin dit
        Pin dit bericht alsjeblieft
        Kun je dit vastpinnen?
        kun je dit bericht even pinnen?
        ik wil dat je dit vastpint
        zet dit bericht vast
        """,
    ),
    *_rows(
        "dutch",
        "pin",
        "negated",
        r"""
        pin dit niet
        niet vastpinnen
        kun je dit niet vastpinnen.
        pin dit. nee, toch niet
        """,
    ),
    *_rows(
        "dutch",
        "pin",
        "unclear",
        r"""
        Bob zei dat je dit moet pinnen
        als Bob het wil, pin dit
        Bob, pin dit
        moet ik dit pinnen?
        waarom heb je dit gepind?
        """,
    ),
    *_rows(
        "dutch",
        "send_to",
        "asked",
        r"""
        schrijf hallo in <#5>
        stuur een samenvatting naar <#5>
        kun je in <#5> zeggen dat ik niet kom?
        """,
    ),
    *_rows(
        "dutch",
        "send_to",
        "negated",
        r"""
        schrijf niets in <#5>
        """,
    ),
    *_rows(
        "dutch",
        "thread",
        "asked",
        r"""
        maak een thread
        open een nieuwe thread hierover
        kun je een thread maken?
        """,
    ),
    *_rows(
        "dutch",
        "thread",
        "negated",
        r"""
        maak geen thread
        """,
    ),
    *_rows(
        "dutch",
        "delete",
        "asked",
        r"""
        verwijder je laatste bericht
        verwijder dat
        kun je je bericht verwijderen?
        """,
    ),
    *_rows(
        "dutch",
        "delete",
        "negated",
        r"""
        verwijder dat niet
        """,
    ),
    *_rows(
        "dutch",
        "remember",
        "asked",
        r"""
        onthoud dat ik van thee hou
        onthoud dat ik geen vlees eet
        noteer dit
        vergeet niet dat ik veganist ben
        """,
    ),
    *_rows(
        "dutch",
        "remember",
        "negated",
        r"""
        onthoud dit niet
        """,
    ),
    *_rows(
        "dutch",
        "forget",
        "asked",
        r"""
        vergeet mijn verjaardag
        """,
    ),
    *_rows(
        "dutch",
        "forget",
        "negated",
        r"""
        vergeet mijn verjaardag niet
        """,
    ),
    *_rows(
        "dutch",
        "edit",
        "asked",
        r"""
        bewerk je laatste bericht
        """,
    ),
    *_rows(
        "dutch",
        "archive",
        "asked",
        r"""
        archiveer deze thread
        sluit deze thread
        """,
    ),
    *_rows(
        "dutch",
        "rename",
        "asked",
        r"""
        hernoem deze thread naar Plan
        """,
    ),
    *_rows(
        "dutch",
        "lock",
        "asked",
        r"""
        vergrendel deze thread
        """,
    ),
    *_rows(
        "dutch",
        "unlock",
        "asked",
        r"""
        ontgrendel deze thread
        """,
    ),
    *_rows(
        "dutch",
        "react",
        "asked",
        r"""
        reageer met 🎉
        geef dit een duim omhoog
        """,
    ),
    *_rows(
        "russian",
        "pin",
        "asked",
        r"""
        закрепи это
        Закрепи это сообщение, пожалуйста
        можешь закрепить это?
        пожалуйста, закрепи моё сообщение
        мог бы ты закрепить это?
        закрепите этот пост
        Прошу закрепить это
        """,
    ),
    *_rows(
        "russian",
        "pin",
        "negated",
        r"""
        не закрепляй это
        никогда не закрепляй мои сообщения
        не надо это закреплять
        закрепи это. нет, не надо
        """,
    ),
    *_rows(
        "russian",
        "pin",
        "unclear",
        r"""
        он сказал закрепить это
        если Боб согласен, закрепи это
        «закрепи это»
        Боб, закрепи это
        зачем ты закрепил это?
        мне стоит закрепить это?
        как закрепить сообщение?
        я хочу закрепить это
        """,
    ),
    *_rows(
        "russian",
        "send_to",
        "asked",
        r"""
        напиши привет в <#5>
        отправь сводку в <#5>
        можешь написать в <#5>, что я не приду?
        """,
    ),
    *_rows(
        "russian",
        "send_to",
        "negated",
        r"""
        не пиши в <#5>
        ничего не пиши в <#5>
        """,
    ),
    *_rows(
        "russian",
        "thread",
        "asked",
        r"""
        создай ветку
        открой новый тред
        """,
    ),
    *_rows(
        "russian",
        "thread",
        "negated",
        r"""
        не создавай ветку
        """,
    ),
    *_rows(
        "russian",
        "delete",
        "asked",
        r"""
        удали своё последнее сообщение
        удали это
        """,
    ),
    *_rows(
        "russian",
        "delete",
        "negated",
        r"""
        не удаляй это
        """,
    ),
    *_rows(
        "russian",
        "remember",
        "asked",
        r"""
        запомни, что я люблю чай
        запомни что я не ем мясо
        запиши это
        не забудь, что я веган
        """,
    ),
    *_rows(
        "russian",
        "remember",
        "negated",
        r"""
        не запоминай это
        """,
    ),
    *_rows(
        "russian",
        "forget",
        "asked",
        r"""
        забудь мой день рождения
        забудь всё обо мне
        """,
    ),
    *_rows(
        "russian",
        "forget",
        "negated",
        r"""
        не забудь мой день рождения
        """,
    ),
    *_rows(
        "russian",
        "edit",
        "asked",
        r"""
        исправь своё последнее сообщение
        отредактируй это
        """,
    ),
    *_rows(
        "russian",
        "archive",
        "asked",
        r"""
        закрой эту ветку
        заархивируй тред
        """,
    ),
    *_rows(
        "russian",
        "rename",
        "asked",
        r"""
        переименуй ветку в План
        """,
    ),
    *_rows(
        "russian",
        "lock",
        "asked",
        r"""
        заблокируй эту ветку
        """,
    ),
    *_rows(
        "russian",
        "unlock",
        "asked",
        r"""
        разблокируй эту ветку
        """,
    ),
    *_rows(
        "russian",
        "lock",
        "unclear",
        r"""
        разблокируй эту ветку
        """,
    ),
    *_rows(
        "russian",
        "react",
        "asked",
        r"""
        поставь лайк
        отреагируй на это 🎉
        """,
    ),
    *_rows(
        "japanese",
        "pin",
        "asked",
        r"""
        これをピン留めして
        このメッセージをピン留めしてください
        これを固定してもらえますか？
        <@99> それをピン留めしてくれる？
        すみません、これをピン留めしてください
        ピン留めお願いします
        これピン留めして
        このメッセージのピン留めをお願いします
        さっきのメッセージを固定しておいて
        """,
    ),
    *_rows(
        "japanese",
        "pin",
        "negated",
        r"""
        これをピン留めしないで
        ピン留めしないでください
        これは固定しなくていいです
        ピン留めはやめて
        ピン留め禁止
        これをピン留めするな
        これをピン留めして。いや、やめて
        """,
    ),
    *_rows(
        "japanese",
        "pin",
        "unclear",
        r"""
        彼女は「これをピン留めして」と言った
        もしよければピン留めしてと言われた
        ピン留めしたほうがいい？
        なぜピン留めしたの？
        ボブがこれをピン留めしてと言った
        これをピン留めしましょうか？
        ピン留めのやり方を教えて
        ピン留めって何？
        """,
    ),
    *_rows(
        "japanese",
        "send_to",
        "asked",
        r"""
        <#5> に「こんにちは」と書いて
        <#5> にこんにちはと書いてください
        まとめを <#5> に投稿してください
        <#5>で伝えてください
        """,
    ),
    *_rows(
        "japanese",
        "send_to",
        "negated",
        r"""
        <#5> に書かないで
        <#5> に投稿しないでください
        """,
    ),
    *_rows(
        "japanese",
        "thread",
        "asked",
        r"""
        スレッドを作って
        新しいスレッドを立ててください
        """,
    ),
    *_rows(
        "japanese",
        "thread",
        "negated",
        r"""
        スレッドを作らないで
        """,
    ),
    *_rows(
        "japanese",
        "delete",
        "asked",
        r"""
        さっきのメッセージを消して
        それを削除してください
        """,
    ),
    *_rows(
        "japanese",
        "delete",
        "negated",
        r"""
        それを消さないで
        削除しないで
        """,
    ),
    *_rows(
        "japanese",
        "remember",
        "asked",
        r"""
        私は紅茶が好きだと覚えて
        私は紅茶が好きだと覚えておいて
        これをメモしてください
        私の誕生日を忘れないで
        """,
    ),
    *_rows(
        "japanese",
        "remember",
        "negated",
        r"""
        これは覚えなくていい
        メモしないで
        """,
    ),
    *_rows(
        "japanese",
        "forget",
        "asked",
        r"""
        私の誕生日を忘れて
        私のことは忘れてください
        """,
    ),
    *_rows(
        "japanese",
        "forget",
        "negated",
        r"""
        私の誕生日を忘れないで
        """,
    ),
    *_rows(
        "japanese",
        "edit",
        "asked",
        r"""
        さっきのメッセージを編集して
        回答を修正してください
        """,
    ),
    *_rows(
        "japanese",
        "archive",
        "asked",
        r"""
        このスレッドを閉じて
        """,
    ),
    *_rows(
        "japanese",
        "lock",
        "asked",
        r"""
        このスレッドをロックして
        """,
    ),
    *_rows(
        "japanese",
        "unlock",
        "asked",
        r"""
        このスレッドのロックを解除して
        """,
    ),
    *_rows(
        "japanese",
        "rename",
        "asked",
        r"""
        このスレッドの名前を計画に変えて
        """,
    ),
    *_rows(
        "japanese",
        "react",
        "asked",
        r"""
        これにリアクションを付けて
        """,
    ),
    *_rows(
        "chinese",
        "pin",
        "asked",
        r"""
        置顶这条消息
        请把这条消息置顶
        你能把这个置顶吗？
        麻烦把这条消息固定一下
        請釘選這條訊息
        帮我置顶这条消息
        能不能把它置顶？
        """,
    ),
    *_rows(
        "chinese",
        "pin",
        "negated",
        r"""
        不要置顶这条消息
        别把这个置顶
        千万别置顶它
        请勿置顶这条消息
        置顶这条消息。算了
        """,
    ),
    *_rows(
        "chinese",
        "pin",
        "unclear",
        r"""
        他说要置顶这条消息
        如果他同意，置顶这条消息
        “置顶这条消息”
        为什么置顶这条消息？
        怎么置顶消息？
        我该置顶这条消息吗？
        小王，置顶这条消息
        """,
    ),
    *_rows(
        "chinese",
        "send_to",
        "asked",
        r"""
        在 <#5> 发一条总结
        请把这个发到 <#5>
        在 <#5> 说你好
        """,
    ),
    *_rows(
        "chinese",
        "send_to",
        "negated",
        r"""
        不要在 <#5> 发消息
        """,
    ),
    *_rows(
        "chinese",
        "thread",
        "asked",
        r"""
        创建一个讨论串
        请开一个新的子区
        """,
    ),
    *_rows(
        "chinese",
        "thread",
        "negated",
        r"""
        不要创建讨论串
        """,
    ),
    *_rows(
        "chinese",
        "delete",
        "asked",
        r"""
        删除你的上一条消息
        把那条消息删掉
        """,
    ),
    *_rows(
        "chinese",
        "delete",
        "negated",
        r"""
        不要删除那条消息
        """,
    ),
    *_rows(
        "chinese",
        "remember",
        "asked",
        r"""
        记住我喜欢喝茶
        请记住我不吃肉
        别忘了我是素食者
        """,
    ),
    *_rows(
        "chinese",
        "remember",
        "negated",
        r"""
        不要记住这个
        """,
    ),
    *_rows(
        "chinese",
        "forget",
        "asked",
        r"""
        忘掉我的生日
        把我的生日忘掉
        """,
    ),
    *_rows(
        "chinese",
        "forget",
        "negated",
        r"""
        不要忘记我的生日
        """,
    ),
    *_rows(
        "chinese",
        "edit",
        "asked",
        r"""
        修改你的上一条消息
        """,
    ),
    *_rows(
        "chinese",
        "archive",
        "asked",
        r"""
        关闭这个讨论串
        把这个讨论串归档
        """,
    ),
    *_rows(
        "chinese",
        "lock",
        "asked",
        r"""
        锁定这个讨论串
        """,
    ),
    *_rows(
        "chinese",
        "unlock",
        "asked",
        r"""
        解锁这个讨论串
        """,
    ),
    *_rows(
        "chinese",
        "lock",
        "unclear",
        r"""
        解锁这个讨论串
        """,
    ),
    *_rows(
        "chinese",
        "rename",
        "asked",
        r"""
        把这个讨论串改名为计划
        """,
    ),
    *_rows(
        "chinese",
        "react",
        "asked",
        r"""
        给这条消息点个赞
        """,
    ),
)
