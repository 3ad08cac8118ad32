"""Closed classes of English words that the rules share."""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FILLERS: Final = _words("uh um uhm er erm hmm hm mm mmm huh-uh uhhuh ahem")
"""Sounds of hesitation; they are dropped before any rule looks."""

OPENERS: Final = _words(
    "well so and but or oh yeah yes yep okay ok now because cause cuz then also like right hey plus ah alright anyway "
    "anyhow anyways see although whereas though huh sure gosh - hi hello therefore thus"
)
"""Words that only hook a sentence to the talk before it."""

INTERJECTIONS: Final = _words("well oh yeah yes yep okay ok so hey right hello hi gosh")
"""Openers that edited prose does not use."""

OPENER_PAIRS: Final = frozenset({("you", "know"), ("i", "mean"), ("you", "see"), ("all", "right"), ("i", "say")})

SPELLINGS: Final[dict[str, tuple[str, ...]]] = {
    "would've": ("would", "have"),
    "should've": ("should", "have"),
    "could've": ("could", "have"),
    "might've": ("might", "have"),
    "woulda": ("would", "have"),
    "shoulda": ("should", "have"),
    "coulda": ("could", "have"),
    "wanna": ("want", "to"),
    "gonna": ("going", "to"),
    "gotta": ("got", "to"),
    "lemme": ("let", "me"),
    "cannot": ("can", "not"),
    "dont": ("don't",),
    "doesnt": ("doesn't",),
    "didnt": ("didn't",),
    "cant": ("can't",),
    "wont": ("won't",),
    "isnt": ("isn't",),
    "arent": ("aren't",),
    "wasnt": ("wasn't",),
    "im": ("i'm",),
    "ive": ("i've",),
    "pls": ("please",),
    "plz": ("please",),
    "idk": ("i", "don't", "know"),
    "favourite": ("favorite",),
    "favourites": ("favorites",),
    "whats": ("what's",),
    "thats": ("that's",),
    "lets": ("let's",),
}

DIALOGUE: Final = _words("i i'm i'd i've i'll me my mine you your yours yourself let's lol gonna")
"""Words that show somebody speaking or spoken to; edited third-person prose has none."""

CONTRACTED: Final = ("n't", "'re", "'ll", "'ve", "he's", "who's")
"""Endings of contractions, which edited prose avoids."""

RESTARTED: Final = _words("i the a and it we you they to of in so but is that's it's he she what this there my if")
"""Words that are said twice in a row only by accident."""

WH: Final = _words("what who whom whose which where when why how what's who's where's why's how's when's")

AUXILIARIES: Final = _words(
    "do does did is are am was were have has had can could will would should shall may might must "
    "don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't can't couldn't won't wouldn't shouldn't"
)

NEGATIVE_AUXILIARIES: Final = frozenset(word for word in AUXILIARIES if word.endswith("n't"))

SUBJECTS: Final = _words(
    "i you he she it we they there this that these those anybody anyone everybody everyone somebody"
)

QUOTING: Final = _words("say says said saying go goes went going like ask asks asked asking told tell thinking example")
"""Words before reported speech, whose word order says nothing about the speaker's act."""

DETERMINERS: Final = _words("the a an my your his her its our their this that these those some any all both each no")

NUMBERS: Final = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half twice once"
)

DATES: Final = _words(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays "
    "sundays january february april june july august september october november december today tomorrow yesterday "
    "noon midnight"
)
"""Words for times; "march" and "may" are mostly other words."""

NEGATIONS: Final = NEGATIVE_AUXILIARIES | _words("not never no nothing nobody none neither nor without hardly")

POSITIVE: Final = _words(
    "love loving great amazing awesome fantastic wonderful excellent brilliant lovely fab fabulous nice perfect glad "
    "happy excited thrilled delighted honoured honored fun best favorite beautiful incredible superb cool congrats "
    "congratulations thanks thank yay hooray wow impressive genius splendid ideal enjoyable cute healing festive proud"
)

NEGATIVE: Final = _words(
    "sick tired exhausted dead dying die died cry crying cried broken broke broken-down crash crashed crashing fail "
    "failed failing lost losing late delayed delay cancelled canceled stuck awful terrible horrible worst hate hated "
    "wrong error errors bug bugs problem problems down pain hurt hurts sore ill ruined ruin missed noise loud rain "
    "raining cold freezing alone trash garbage rubbish shit crap fuck fucking damn ass poor useless mess disaster "
    "annoying anxiety stress stressed boring bored exam exams homework essay deadline deadlines traffic pandemic covid "
    "lockdown quarantine virus taxes debt bills fine refused ignored ignore sold sleep asleep awake wake woken 3am 4am "
    "hospital injury injured dislocated accident accidentally spider leaking leak leaks dripping flooded spilled "
    "racist sexist depression depressed sad angry mad upset waiting queue fight fighting closed shut"
)

IMPERATIVES: Final = _words(
    "add adjust allow apply ask assume attach avoid begin bring build bump buy calculate call cancel change check "
    "choose cite clean clear click close collect combine come commit compare compute configure confirm connect "
    "consider contact convert copy create cut define delete deploy describe disable discard do document "
    "don't download drag drop edit email enable ensure enter examine exclude explain export extract fetch fill find "
    "finish fix focus follow forget format generate get give go grab grow guess hand help hide hold ignore "
    "implement import include increase inform insert inspect install introduce invite join keep leave let limit list "
    "listen load log look mail make mark measure mention merge mind mix modify move multiply name never note notify "
    "open order organize pass pay perform pick place plan play post pour prefer prepare press print proceed process "
    "provide pull push put quote raise read rebuild recall record reduce refer refresh reject release remember remind "
    "remove rename repeat replace reply report request require reset respond restart return reuse review revise "
    "rewrite "
    "run save say scan schedule scoot scroll search select send set share shift show shut sign sit skip sort speak "
    "specify split stand start state stay stick stop store submit substitute subtract summarize support switch "
    "take talk tell test throw tie touch train transcribe translate treat trust try turn type undo update upload use "
    "validate verify visit wait wake walk wash watch wear work wrap write be"
)
"""Base forms that open an instruction when no subject stands before them."""

IMPERATIVE_OBJECTS: Final = _words(
    "the a an it them me us him her your my our this that these those some any all up out in on down off ahead to sure "
    "for with at only always never one two as if how what into over back away no not both each every everything "
    "everyone people more less by from about around through yourself here there myself away whatever least something "
    "anything nothing another between ourselves"
)
"""Words after an imperative that show it is a verb and not a noun."""
