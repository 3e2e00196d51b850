"""English."""

from bot.phrasings.language import Language

_THIS = r"(?:this|that|it|these|those|the|my|your|our|§link)"
_MSG = r"(?:message|msg|post|answer|reply|response|comment|text|note|one|line)"
_YOURS = rf"(?:your|that|this|the|§link)(?: \w+){{0,3}} {_MSG}s?"
_THREAD = r"(?:thread|post|it|this|that|topic|discussion)"

ENGLISH = Language(
    code="en",
    leads=(
        r"please|pls|plz|hey(?: there)?|hi(?: there)?|hello|yo|ok|okay|yes|yeah|yep|yup|sure|thanks?(?: you)?|thx|cool|"
        r"great|nice|perfect|good|awesome|so|now|then|and|also|just|well|alright|all right|right|muninn|bot|kindly|"
        r"quickly|quick|(?:can|could|would|will) (?:you|u|ya)(?: (?:please|just|maybe|kindly|also|go ahead and))*|"
        r"(?:i|we) (?:want|need|ask) you to|(?:i|we)(?:'d| would) (?:like|love) you to|do me a favou?r and|go ahead and|"
        r"would you be so kind as to|(?:be so kind|be kind enough) (?:as )?to|do|your task is to|hm+|uh+m*|oh|once more|again"
    ),
    polite=r"please|pls|plz|(?:can|could|would|will) (?:you|u|ya)|kindly",
    joints=r"\b(?:and then|and also|and|then|but)\b",
    frames=(
        r"if|unless|when(?:ever)?|once|until|till|after|before|as soon as|in case|whether|suppose|supposing|imagine|"
        r"pretend|hypothetically|hypothetical|what happens|for example|for instance|e\.?g\.?|would have|could have|"
        r"should i|should we|shall|maybe|perhaps|might|he|she|they|somebody|someone"
    ),
    negations=(
        r"\b(?:don'?t|do not|does not|doesn'?t|did not|didn'?t|never|not|no need|no longer|without|stop|avoid|refrain|"
        r"mustn'?t|shouldn'?t|shan'?t|can'?t|cannot|won'?t|wouldn'?t|couldn'?t|needn'?t|nobody|rather than|instead of|"
        r"forbid|forbidden|hold off|no)\b"
    ),
    postponed=r"\b(?:nothing|none|never|neither)\b",
    content=r"that|saying|which|who|to say|:",
    retracts=(
        r"(?:no|nope|nah|not|don'?t|do not|please don'?t|actually don'?t|stop|wait|never ?mind|nvm|cancel(?: that| it)?|"
        r"scratch that|forget (?:it|that)|just kidding|jk|kidding|just joking|joking|or not|not really|not now|not yet|"
        r"on second thoughts?|i (?:take|took) (?:it|that) back|actually no|no don'?t|better not|rather not|undo that)"
        r"(?: (?:please|don'?t|not|no|wait))*"
    ),
    keeps=r"(?:don'?t|do not|never) forget",
    harmless=r"what (?:you|i|we) (?:said|wrote|asked|told)|(?:that|which) (?:says|said)|so that (?:every|any)(?:one|body)",
    others=(
        r"summari[sz]e|sum up|translate|explain|tell|look|search|find|check|list|count|read|show|give|help|answer|have a "
        r"look|take a look|think|try|use|compare|describe|write|draft|make"
    ),
    asks={
        "pin": (
            rf"(?:pin|repin)(?: {_THIS}\b.*| please| pls)?|(?:put|place|stick) (?:a|the) pin (?:in|on|to) {_THIS}\b.*|"
            rf"(?:get|have|keep|make) {_THIS}(?: \w+)? pinned.*|add {_THIS}(?: \w+)? to the (?:pins|pinned messages).*"
        ),
        "unpin": (
            rf"un-?pin(?: {_THIS}\b.*| please| pls)?|(?:remove|take|get rid of) (?:the|that|this|its) pin\b.*|"
            rf"(?:remove|take) {_THIS}(?: \w+)? (?:from|off|out of) the (?:pins|pinned messages).*"
        ),
        "react": (
            rf"react(?: (?:to|on) {_THIS}\b.*| with .+| by .+| please)?|(?:add|leave|put|drop|give|throw) .*\breactions?\b.*|"
            rf"(?:give|put|leave|add|drop) .*(?:thumbs? ?up|thumbs? ?down|heart|check ?mark|§emoji|emoji).*"
        ),
        "unreact": (
            r"un-?react\b.*|(?:remove|take (?:back|away|off)|undo|delete|drop|clear|withdraw) "
            r"(?:your|the|that|this)(?: \S+){0,2} reactions?\b.*|take (?:your|the|that|this)(?: \S+){0,2} reactions? (?:back|away|off).*"
        ),
        "send": r"(?:send|post|write|say|announce|share|publish|drop|put up) \S.*",
        "send_to": (
            r"(?:send|post|write|say|announce|share|publish|drop|put|repeat|forward) (?:.*\b)?(?:in|into|to|on|at|over (?:in|to)|inside) "
            r"(?:the )?(?:channel |thread )?§channel.*|(?:tell|let|inform|notify|ask|greet) (?:the )?(?:everyone in |people in |folks in )?§channel.*"
        ),
        "reply": rf"(?:reply|respond|answer)(?: (?:back )?(?:to|on) (?:{_THIS}|§user|him|her|them)\b.*| (?:{_THIS}|§user|him|her|them)\b.*)",
        "thread": (
            r"(?:create|start|open|make|begin|spin up|set up|launch|add) (?:(?:a|an|the|another|one|us|me|new|separate|public|discussion) ?)*"
            r"(?:\S+ ){0,2}threads?\b.*|thread (?:this|that|it)\b.*|(?:move|take|turn|put|branch) (?:this|that|it)(?: \w+)? (?:in)?to (?:a|its own)(?: \w+)? thread.*"
        ),
        "rename": (
            rf"(?:rename|retitle) (?:(?:this|that|the|my|your)(?: \w+)? )?(?:{_THREAD}|§channel)\b.*|call (?:this|the|that) thread .*|"
            r"(?:change|set|update|edit) (?:the |this |that )?(?:threads?(?:'s|s)? )?(?:name|title)\b.*|"
            r"give (?:this|the|that) thread (?:the|a)(?: \w+)? (?:name|title).*"
        ),
        "archive": rf"(?:archive|close)(?: (?:this|that|the|it|my|your)\b(?: \w+)?(?: (?:{_THREAD}))?.*| §channel.*)",
        "unarchive": r"(?:un-?archive|re-?open)(?: (?:this|that|the|it|my|your)\b.*| §channel.*)",
        "lock": r"lock(?: (?:this|that|the|it|my|your)\b.*| §channel.*)",
        "unlock": r"un-?lock(?: (?:this|that|the|it|my|your)\b.*| §channel.*)",
        "slowmode": (
            r"(?:set|turn on|turn off|enable|disable|put|add|switch on|switch off|activate|deactivate|change|remove|raise|lower)"
            r" (?:.*\b)?slow ?mode\b.*|slow (?:this|the|that) (?:thread|channel|place) down.*|slow down (?:this|the|that) (?:thread|channel).*"
        ),
        "edit": (
            rf"(?:edit|change|update|correct|fix|rewrite|reword|rephrase|amend|modify|adjust|shorten) {_YOURS}\b.*|"
            r"edit (?:it|that|this)\b.*|(?:change|correct|fix|update) what you (?:said|wrote)\b.*"
        ),
        "delete": (
            rf"(?:delete|remove|erase|take down|get rid of) {_YOURS}\b.*|(?:delete|erase) (?:it|that|this|§link)\b(?! (?:file|folder|channel|role|thread|memory)).*|"
            r"(?:delete|remove|erase|take down) what you (?:said|wrote|posted)\b.*"
        ),
        "remember": (
            r"(?:please )?(?:don'?t|do not|never) forget (?:that|this|my|i|we|our|to|about|the|:)\b.*|"
            r"(?:remember|memori[sz]e|note(?: down)?|save|store|write down|jot down|keep in mind|record)(?: for (?:me|us|later))?(?: (?:that|this|it|my|i|i'm|we|our|the|§q|§user|he|she|they|to)\b.*|:? \S.*)|"
            r"(?:make|take) a (?:mental )?note\b.*"
        ),
        "forget": (
            r"(?:forget|unlearn) (?:that (?:i|we|my|our)|what i|what we|what you|everything|anything|all|about (?:me|my|our|the)|"
            r"my|our|the|i|this (?:fact|memory|note))\b.*|"
            r"(?:delete|erase|remove|clear|drop) (?:the|that|this|my|your|all)(?: \w+){0,3} (?:memor(?:y|ies)|notes?|facts?)\b.*|stop remembering .*"
        ),
    },
    stems={
        "pin": r"(?:re)?pin(?:s|ned|ning)?\b",
        "unpin": r"un-?pin|(?:remove|take|get rid of) .*\bpin",
        "react": r"react|(?:add|leave|put|drop|give|throw) .*(?:reaction|thumb|heart|emoji)",
        "unreact": r"un-?react|(?:remove|take|undo|delete|drop|clear|withdraw) .*reaction",
        "send": r"send|post|write|say|announce|share|publish|drop|put up",
        "send_to": r"send|post|write|say|announce|share|publish|drop|put|repeat|forward|tell|let|inform|notify|ask|greet",
        "reply": r"reply|respond|answer",
        "thread": r"thread",
        "rename": r"renam|retitl|call (?:this|the|that)|name|title",
        "archive": r"archiv|clos(?:e|ing)\b",
        "unarchive": r"un-?archiv|re-?open",
        "lock": r"lock",
        "unlock": r"un-?lock",
        "slowmode": r"slow",
        "edit": r"edit|chang|updat|correct|fix|rewrit|reword|rephras|amend|modif|adjust|shorten",
        "delete": r"delet|remov|eras|take down|get rid of",
        "remember": r"remember|memori[sz]|note|save|store|write down|jot down|keep in mind|record|forget",
        "forget": r"forget|unlearn|(?:delete|erase|remove|clear|drop) .*(?:memor|note|fact)|remembering",
    },
)
