"""What people say in numbers on a telephone, in Swahili and with English words: money, times, dates, digits, quantities.

    python telephone.py --exclude list.tsv --out texts/telephone.txt

A sentence a line, for the language model and the rescorer; sentences.py has more of them said, with a ~ before each English word.
"""

import argparse
import random
from pathlib import Path

from english import NAMES, PLACES, cardinal, filled, last_column, marked
from english import UNITS as ENGLISH_UNITS
from spelling import UNITS, number_words, spell

ENGLISH_DIGITS = ENGLISH_UNITS[:10]
DAYS = "Jumatatu Jumanne Jumatano Alhamisi Ijumaa Jumamosi Jumapili leo kesho jana".split()
MONTHS = "Januari Februari Machi Aprili Mei Juni Julai Agosti Septemba Oktoba Novemba Desemba".split()
PARTS = "asubuhi asubuhi mchana mchana alasiri jioni jioni usiku usiku alfajiri".split()
GOODS = "mahindi maharage mchele sukari unga viazi nyanya vitunguu kahawa chai samaki nyama mbolea saruji mafuta maziwa".split()
# As often as each kind: alone, as an answer is given; and in sentences.
FORMS = (
    (10, "{money} | {amount} | {amount} tu | {money} tu | ni {money} | kama {money} hivi | karibu {money} | {money} na {money}"),
    (14, """Nataka kutuma {money}. | Nimetuma {money} kwa {name}. | Umepokea {money} kutoka kwa {name} {name}. | Salio lako ni {money}. | Deni ni {money}.
Nimelipa {money} {day}. | Bei yake ni {money}. | Nauli ya {place} ni {money}. | Naomba mkopo wa {money}. | Tumetumia {money}. | Mshahara wangu ni {money}.
Toa {money} kwa wakala. | {money} zimetumwa kwa {name}. | {money} zimepotea. | Serikali imetenga {money} kwa mwaka huu. | Faida ilikuwa {money}.
Karo ya shule ni {money}. | Ada ni {money} kwa mwezi. | Weka {money} kwenye akaunti yangu. | Nilikopa {money} mwezi uliopita. | Inagharimu {money}.
Kodi ya nyumba ni {money}. | Zaidi ya {money} zimekusanywa. | {amount} wameathirika. | Watu {amount} walipiga kura. | Bajeti ni {money}.
~Confirmed, umetuma {money} kwa {name}. | ~Balance yangu ni {money}. | Nitumie {money} kwa ~M-Pesa. | Ninunulie ~airtime ya {money}. | Ni {english} ~bob."""),
    (8, """{digits} | {phone} | Nambari yangu ni {phone}. | Namba yangu ya simu ni {phone}. | Piga simu {phone}. | Bonyeza {digit}. | Nambari ya siri ni {digits}.
Akaunti namba {digits}. | Nambari ya kitambulisho ni {digits}. | Namba ya wakala ni {digits}. | ~Code ni {digits}. | Namba ya ~account ni {digits}."""),
    (7, """{clock} | {clock} | Basi linaondoka {clock}. | Mkutano unaanza {clock}. | Njoo {day} {clock}. | Tutaonana {clock}. | Daktari anafika {clock}.
Nimesubiri tangu {clock}. | Duka hufungwa {clock}. | Kuanzia {clock} hadi {clock}. | Sasa ni {clock}. | Amka {clock}. | Taarifa ya habari ni {clock}.
Treni ya {place} inafika {clock}. | Kliniki inafunguliwa {clock}. | ~Meeting ni {clock}. | Nitafika {clock} {day}."""),
    (5, """{date} | Nilizaliwa {date}. | Mkutano utafanyika {date}. | Miadi yako ni {day}, {date}. | Mwisho wa kulipa ni {date}. | Kuanzia {date} hadi {date}.
Shule zitafunguliwa {date}. | Ilitokea mwaka {year}. | Tangu mwaka {year}. | ~Deadline ni {date}."""),
    (7, """kilo {small} za {goods} | {small} | Nina magunia {small} ya {goods}. | Mtoto ana miaka {small}. | Mtoto ana miezi {tiny}. | Asilimia {small} ya watu.
Ni kilomita {small} kutoka {place} hadi {place}. | Lita {small} za maziwa. | Lita {tiny} na nusu. | Kipimo ni {decimal}. | Joto ni nyuzi {decimal}.
Shamba la ekari {tiny} na robo. | Tunahitaji watu {small}. | Meza mara {tiny} kwa siku. | Chumba namba {small}. | Ukurasa wa {small}. | Riba ni asilimia {decimal}.
Nusu kilo ya {goods}. | Robo lita. | Robo tatu. | Kilo {tiny} na nusu za {goods}. | Kwa {goods} tunalipwa {money}."""),
    (4, """ndiyo | ndio | hapana | la | sawa | sawa sawa | naam | ndiyo, sawa | hapana, asante | sijui | rudia | tafadhali rudia | msaada | salio
nataka kuzungumza na mhudumu"""),
)


def rounded(dice: random.Random, figures_max: int) -> int:
    """Of any size, and mostly round."""
    figures = dice.randint(1, figures_max)
    known = min(figures, dice.choice((1, 1, 2, 2, 3, 6)))
    return dice.randrange(10 ** (known - 1), 10**known) * 10 ** (figures - known)


def amount(dice: random.Random) -> str:
    form = dice.random()
    if form < 0.72:
        return number_words(rounded(dice, 10))
    great = dice.choice(("laki", "milioni", "milioni", "bilioni", "bilioni"))
    count = number_words(dice.choice((dice.randint(1, 10), dice.randint(1, 999))))
    if form < 0.82:
        return f"{great} {count} na nusu" if dice.random() < 0.7 else f"{dice.choice(('elfu', 'mia'))} {dice.choice(UNITS[1:])} na nusu"
    if form < 0.9:
        return f"{great} {count} {dice.choice(('nukta', 'nukta', 'pointi'))} {dice.choice(UNITS[1:])}"
    if form < 0.95:
        return f"{count} {dice.choice(('elfu', 'milioni'))}"
    return f"{great} {count} na {dice.choice(('laki', 'elfu', 'mia'))} {dice.choice(UNITS[1:])}"


def english_amount(dice: random.Random) -> str:
    return marked(cardinal(rounded(dice, 7), dice))


def money(dice: random.Random) -> str:
    form = dice.random()
    if form < 0.4:
        return f"shilingi {amount(dice)}"
    if form < 0.72:
        return amount(dice)
    if form < 0.8:
        return f"{amount(dice)} {dice.choice(('shilingi', 'za Kenya', 'za Tanzania', 'taslimu'))}"
    if form < 0.86:
        return f"dola {amount(dice)}"
    if form < 0.92:
        return f"shilingi {amount(dice)} na senti {number_words(dice.randrange(5, 100, 5))}"
    return english_amount(dice) + dice.choice((" ~shillings", " ~bob", ""))


def digits(dice: random.Random, count: int | None = None) -> str:
    count = count or dice.choice((1, 2, 3, 4, 4, 5, 6, 7, 8))
    if dice.random() < 0.15:
        return marked(" ".join(dice.choice(ENGLISH_DIGITS) for _ in range(count)))
    return " ".join(dice.choice(UNITS) for _ in range(count))


def phone(dice: random.Random) -> str:
    form = dice.random()
    if form < 0.5:
        return ", ".join((f"sifuri saba {digits(dice, 2)}", digits(dice, 3), digits(dice, 3)))
    if form < 0.7:  # in pairs
        return "sifuri saba " + ", ".join(number_words(dice.randrange(10, 100)) for _ in range(4))
    if form < 0.85:
        return marked("zero seven " + " ".join(dice.choice(("double ", "")) + dice.choice(ENGLISH_DIGITS) for _ in range(7)))
    return "mbili tano " + dice.choice(("nne ", "tano ")) + digits(dice, 9)


def clock(dice: random.Random) -> str:
    hour = number_words(dice.randint(1, 12))
    past = dice.choice(("", "", "kamili", "na nusu", "na nusu", "na robo", "kasorobo", "kasorobo", "minutes", "minutes to"))
    if past.startswith("minutes"):
        minutes = number_words(dice.choice((5, 10, 20, 25, dice.randint(1, 29))))
        past = dice.choice((f"kasoro dakika {minutes}", f"kasoro {minutes}")) if past.endswith("to") else f"na dakika {minutes}"
    part = dice.choice(PARTS) if dice.random() < 0.7 else ""
    return " ".join(f"saa {hour} {past} {part}".split())


def date(dice: random.Random) -> str:
    day = "mosi" if (number := dice.randint(1, 31)) == 1 else number_words(number)
    month = dice.choice((dice.choice(MONTHS), f"mwezi wa {number_words(dice.randint(1, 12))}"))
    return f"tarehe {day} {month}" + (f" {year(dice)}" if dice.random() < 0.3 else "")


def year(dice: random.Random) -> str:
    return number_words(dice.choice((dice.randint(1940, 1999), dice.randint(2000, 2032))))


def decimal(dice: random.Random) -> str:
    return f"{number_words(dice.randint(0, 40))} nukta {' '.join(dice.choice(UNITS) for _ in range(dice.choice((1, 1, 2))))}"


def line(dice: random.Random) -> str:
    fill = {
        "amount": lambda: amount(dice), "money": lambda: money(dice), "english": lambda: english_amount(dice), "digits": lambda: digits(dice),
        "digit": lambda: digits(dice, 1), "phone": lambda: phone(dice), "clock": lambda: clock(dice), "date": lambda: date(dice), "year": lambda: year(dice),
        "small": lambda: number_words(dice.randint(1, 120)), "tiny": lambda: number_words(dice.randint(1, 12)), "decimal": lambda: decimal(dice),
        "name": lambda: dice.choice(NAMES), "place": lambda: dice.choice(PLACES), "day": lambda: dice.choice(DAYS), "goods": lambda: dice.choice(GOODS),
    }
    weights, forms = zip(*FORMS)
    form = dice.choice(dice.choices(forms, weights)[0].replace("\n", " | ").split(" | ")).strip()
    return filled(form, fill)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--exclude", type=Path, action="append", default=[])
    args.add_argument("--count", type=int, default=60_000)
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    dice = random.Random(18)
    excluded = {spell(text) for path in args.exclude for text in last_column(path)}
    lines = [line(dice).replace("~", "") for _ in range(args.count)]
    lines = [line for line in lines if spell(line) not in excluded]
    args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} sentences, {sum(len(line.split()) for line in lines)} words")


if __name__ == "__main__":
    main()
