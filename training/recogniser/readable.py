"""Train the small model that puts capitals and marks into words as they were heard.

Texts become words and labels, two blocks of lines in twenty kept aside (for fitting, for the figures); the model sees words (as hashed
pieces of letters, so that a name nobody has seen still has a beginning and an end) and the pause after each.

    python readable.py prepare --texts DIR --english FILE --greetings FILE --out data.npz --held-out DIR
    python readable.py train --data data.npz --out DIR [--minutes 3.5] [--device cpu --steps 20]

`prepare` wants general, bible, parliament and common-voice-sentences (.txt.xz) and prompts.tsv in DIR. `train`
writes readable.safetensors (int8, what ships), readable-float.safetensors and readable.json (figures).
"""
import argparse
import collections
import json
import lzma
import math
import pathlib
import random
import struct
import threading
import queue
import time

import numpy as np

SOURCES = ["general", "bible", "parliament", "common-voice", "english", "greetings", "prompts", "common-voice-case"]
# How often a source's lines are drawn, for each of its words.
WEIGHTS = {"general": 2.0, "bible": 0.7, "parliament": 0.3, "common-voice": 4.0, "english": 1.5, "greetings": 20.0,
           "common-voice-case": 0.7}
TRAIN, DEV, TEST = 0, 1, 2
BLOCK_LINES = 50
PARLIAMENT_EVERY = 2
HELD_OUT_LINES_MAX = 4000

NONE, COMMA, STOP, QUESTION, UNKNOWN = 0, 1, 2, 3, 7
LOWER, CAPITAL, UPPER = 0, 1, 2

# As in readable.rs: change both or neither.
TABLE_ROWS = 16000
WIDTH = 128
STATE = 256
PIECES_MAX = 48
PAUSE_STEPS_MS = [100, 180, 280, 400, 560, 800, 1200]
END = len(PAUSE_STEPS_MS) + 1
SHORTEST, NO_PAUSE_MS, CLAUSE_PAUSE_MS, SENTENCE_PAUSE_MS = 0, 40, 400, 800

WINDOW_WORDS_MAX = 128
BATCH_WORDS = 32768


# --- texts ---------------------------------------------------------------------------------------------------------

def bare(token):
    start, end = 0, len(token)
    while start < end and not token[start].isalnum():
        start += 1
    while end > start and not token[end - 1].isalnum():
        end -= 1
    return token[start:end]


def mark_of(token):
    token = token.rstrip("\"”'’)")
    last = token[-1:]
    return {".": STOP, "!": STOP, "…": STOP, "?": QUESTION, ",": COMMA, ";": COMMA, ":": COMMA}.get(last, NONE)


def case_of(word):
    if not word[0].isupper():
        return LOWER
    letters = [c for c in word if c.isalpha()]
    if word == "BWANA":  # one translation's way to write God's name
        return CAPITAL
    return UPPER if len(letters) > 1 and all(c.isupper() for c in letters) else CAPITAL


def label_line(line):
    """(lower word, mark, case, opens) of each word."""
    out, opens = [], True
    for token in line.split():
        word = bare(token)
        if not word:
            continue
        mark = mark_of(token)
        out.append((word.lower(), mark, case_of(word), opens))
        opens = mark in (STOP, QUESTION)
    return out


def fit_to_learn(words):
    large = sum(case == UPPER for _, _, case, _ in words)
    titled = sum(case != LOWER for _, _, case, _ in words)
    return 1 <= len(words) <= WINDOW_WORDS_MAX and (len(words) < 4 or (large <= len(words) / 3 and titled <= 0.8 * len(words)))


def read_xz(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file]


def split_of(index):
    return {9: DEV, 19: TEST}.get(index // BLOCK_LINES % 20, TRAIN)


def prepare(args):
    texts = pathlib.Path(args.texts)
    rows = []  # (source, split, words)
    held_out = collections.defaultdict(list)
    prompts = [line.split("\t")[1].strip() for line in (texts / "prompts.tsv").read_text().splitlines()[1:]]
    files = {
        "general": read_xz(texts / "general.txt.xz"),
        "bible": read_xz(texts / "bible.txt.xz"),
        "parliament": read_xz(texts / "parliament.txt.xz"),
        "common-voice": read_xz(texts / "common-voice-sentences.txt.xz"),
        "english": [line.strip() for line in open(args.english, encoding="utf-8")],
        "greetings": [line.strip() for line in open(args.greetings, encoding="utf-8")],
        "prompts": prompts,
    }
    key = lambda words: " ".join(word for word, *_ in words)
    known = set()
    pending = []
    for source, lines in files.items():
        for index, line in enumerate(lines):
            words = label_line(line)
            if not words:
                continue
            split = TEST if source == "prompts" else TRAIN if source == "greetings" else split_of(index)
            ends = words[-1][1] in (STOP, QUESTION)
            if split != TRAIN:
                if ends and len(held_out[source, split]) < HELD_OUT_LINES_MAX:
                    held_out[source, split].append(line)
                    known.add(key(words))
                    rows.append((source, split, words))
                continue
            pending.append((source, index, words, ends))
    for source, index, words, ends in pending:
        if key(words) in known or not fit_to_learn(words):
            continue
        if source == "parliament" and index % PARLIAMENT_EVERY:
            continue
        if ends:
            rows.append((source, TRAIN, words))
        elif source == "common-voice" and words[0][2] == CAPITAL and len(words) >= 4 and all(m == NONE for _, m, _, _ in words):
            rows.append(("common-voice-case", TRAIN, [(w, UNKNOWN, c, o) for w, _, c, o in words]))
    counts = collections.Counter(word for _, _, words in rows for word, *_ in words)
    vocabulary = [word for word, _ in counts.most_common()]
    ids = {word: i for i, word in enumerate(vocabulary)}
    flat = np.array([ids[w] for _, _, words in rows for w, *_ in words], np.uint32)
    labels = np.array([mark | case << 3 | opens << 5 for _, _, words in rows for _, mark, case, opens in words], np.uint8)
    lengths = np.array([len(words) for _, _, words in rows], np.uint16)
    labels = without_shouting(flat, labels, np.repeat([split == TRAIN for _, split, _ in rows], lengths))
    np.savez_compressed(
        args.out, low=(flat & 0xFFFF).astype(np.uint16), high=(flat >> 16).astype(np.uint8), labels=labels, lengths=lengths,
        source=np.array([SOURCES.index(s) for s, _, _ in rows], np.uint8), split=np.array([s for _, s, _ in rows], np.uint8),
        vocabulary=np.frombuffer(lzma.compress("\n".join(vocabulary).encode()), np.uint8))
    for source, split in held_out:
        if split == TEST:
            path = pathlib.Path(args.held_out) / f"{source}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(held_out[source, split]) + "\n")
    for source in SOURCES:
        parts = [(split, sum(1 for s, p, _ in rows if s == source and p == split),
                  sum(len(w) for s, p, w in rows if s == source and p == split)) for split in (TRAIN, DEV, TEST)]
        print(source, parts)
    print(len(vocabulary), "different words,", len(flat), "words,", pathlib.Path(args.out).stat().st_size, "bytes")


def without_shouting(ids, labels, train):
    """A word in capitals that is mostly written otherwise stood in a heading: it gets its usual case."""
    case, opens = labels >> 3 & 3, labels >> 5 & 1
    count = lambda chosen: np.bincount(ids[chosen & train], minlength=ids.max() + 1)
    upper, capital, lower = (count((case == kind) & (opens == 0)) for kind in (UPPER, CAPITAL, LOWER))
    shouted = train & (case == UPPER) & (upper < 0.4 * (upper + capital + lower))[ids]
    usual = np.where(capital > lower, CAPITAL, LOWER)[ids].astype(np.uint8)
    return np.where(shouted, labels & ~np.uint8(0x18) | usual << 3, labels).astype(np.uint8)


# --- words as pieces -----------------------------------------------------------------------------------------------

def fnv(text, seed):
    value = 0x811C9DC5 ^ seed
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    # The low bits of FNV mix badly.
    return (value ^ value >> 15) % TABLE_ROWS


def pieces(word, cache={}):
    """Rows of the table: twice the whole word, then its runs of three to five letters; a digit is a digit."""
    word = "".join("0" if c.isdigit() else c for c in word)
    edged = "<" + word + ">"
    rows = [fnv(edged, 1), fnv(edged, 2)]
    for size in (3, 4, 5):
        for start in range(len(edged) - size + 1):
            piece = edged[start:start + size]
            row = cache.get(piece)
            if row is None:
                row = cache[piece] = fnv(piece, 0)
            rows.append(row)
    return rows[:PIECES_MAX]


# --- training ------------------------------------------------------------------------------------------------------

def train(args):
    import torch
    import torch.nn as nn
    import torch.nn.functional as F

    torch.manual_seed(7)
    rng = np.random.default_rng(7)
    device = torch.device(args.device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    if args.threads:
        torch.set_num_threads(args.threads)

    data = np.load(args.data)
    words = lzma.decompress(data["vocabulary"].tobytes()).decode().split("\n")
    flat = data["low"].astype(np.int64) | data["high"].astype(np.int64) << 16
    lengths = data["lengths"].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    source, split = data["source"], data["split"]
    started = time.time()
    table = np.full((len(words), PIECES_MAX), TABLE_ROWS, np.int32)
    for i, word in enumerate(words):
        rows = pieces(word)
        table[i, :len(rows)] = rows
    print(f"{len(words)} words in pieces, {time.time() - started:.0f} s", flush=True)
    TABLE = torch.from_numpy(table).to(device)
    COUNT = torch.from_numpy((table < TABLE_ROWS).sum(1).astype(np.float32)).to(device)
    IDS = torch.from_numpy(flat).to(device)
    LABELS = torch.from_numpy(data["labels"]).to(device).long()

    class Readable(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.randn(TABLE_ROWS + 1, WIDTH) * 0.05)
            self.pause = nn.Parameter(torch.randn(END + 1, WIDTH) * 0.3)
            self.gru = nn.GRU(WIDTH, STATE, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2)
            self.marks = nn.Linear(2 * STATE, 4)
            self.case = nn.Linear(2 * STATE, 3)

        def forward(self, ids, pauses, hide=None):
            distinct, back = torch.unique(ids, return_inverse=True)
            rows = TABLE[distinct]
            table = torch.cat([self.table[:-1], torch.zeros_like(self.table[:1])])
            whole = F.embedding(rows[:, :2], table).sum(1)
            parts = F.embedding_bag(rows[:, 2:], table, mode="sum", padding_idx=TABLE_ROWS)
            parts = parts / (COUNT[distinct] - 2).clamp(min=1).sqrt()[:, None]
            x, p = F.embedding(back, whole), F.embedding(back, parts)
            if hide is not None:
                x = x * (hide > 0.2)[..., None]   # a word never seen
                p = p * (hide < 0.98)[..., None]  # a word heard wrongly
                x = x * (hide < 0.98)[..., None]
            x = F.dropout(x + p + self.pause[pauses], 0.1, self.training)
            x = F.dropout(self.gru(x)[0], 0.2, self.training)
            return self.marks(x), self.case(x)

    model = Readable().to(device)
    print(sum(p.numel() for p in model.parameters()), "parameters", flush=True)

    # Lines are drawn by source, one to six together; groups of one length become batches, so nothing is padded.
    chosen = np.flatnonzero(split == TRAIN)
    weight = np.array([WEIGHTS.get(name, 0.0) for name in SOURCES])[source[chosen]]
    weight = weight / weight.sum()
    case_only = SOURCES.index("common-voice-case")

    def super_batch():
        count = 150_000 if not args.steps else 4_000
        lines = rng.choice(chosen, count, p=weight)
        size = lengths[lines]
        index = np.repeat(starts[lines] - np.concatenate([[0], np.cumsum(size)[:-1]]), size) + np.arange(size.sum())
        ends = np.cumsum(size)
        groups, line = [], 0
        draws = rng.random((count, 4))
        many = rng.integers(2, 8, count)
        while line < count:
            a, b, c, d = draws[line]
            wanted = 1 if a < 0.45 else many[line]
            last = line
            while last + 1 < count and last + 1 - line < wanted and ends[last + 1] - (ends[line] - size[line]) <= WINDOW_WORDS_MAX:
                last += 1
            start, end = ends[line] - size[line], ends[last]
            ended = source[lines[last]] != case_only
            if b < 0.35 and end - start > 3:
                end, ended = end - int(c * min(end - start - 2, 30)) - 1, False
            if d < 0.25 and end - start > 3:
                start += int(d * 4 * (end - start - 2))
            groups.append((end - start, start, ended))
            line = last + 1
        groups.sort(key=lambda g: g[0])
        batches, at = [], 0
        while at < len(groups):
            length = groups[at][0]
            stop = at
            while stop < len(groups) and groups[stop][0] == length and (stop - at + 1) * length <= args.batch_words:
                stop += 1
            stop = max(stop, at + 1)
            batches.append((length, np.array([g[1] for g in groups[at:stop]]), np.array([g[2] for g in groups[at:stop]])))
            at = stop
        order = rng.permutation(len(batches))
        return index, [batches[i] for i in order if batches[i][0] * len(batches[i][1]) * 8 >= args.batch_words or args.steps]

    made = queue.Queue(maxsize=2)
    threading.Thread(target=lambda: [made.put(super_batch()) for _ in iter(int, 1)], daemon=True).start()

    boundaries = torch.tensor(PAUSE_STEPS_MS, device=device, dtype=torch.float32)

    def spoken_pauses(marks, ended):
        """Pauses as people make them: none told for a third, else by marks with each speaker's own pace and faults."""
        rows, columns = marks.shape
        uniform = lambda *shape: torch.rand(shape, device=device)
        normal = lambda *shape: torch.randn(shape, device=device)
        pace = torch.exp(0.35 * normal(rows, 1))
        ms = 90 * uniform(rows, columns)
        comma, stop = marks == COMMA, (marks == STOP) | (marks == QUESTION)
        unknown = marks == UNKNOWN
        heeds_commas = 0.3 + 0.7 * uniform(rows, 1)
        heeds_stops = 0.75 + 0.25 * uniform(rows, 1)
        clause = 330 * pace * torch.exp(0.4 * normal(rows, columns))
        sentence = 680 * pace * torch.exp(0.4 * normal(rows, columns))
        hesitates = 0.05 * uniform(rows, 1) ** 2
        hesitation = 300 * torch.exp(0.7 * normal(rows, columns))
        paused = uniform(rows, columns)
        ms = torch.where(comma & (paused < heeds_commas), clause, ms)
        ms = torch.where(stop & (paused < heeds_stops), sentence, ms)
        ms = torch.where(~comma & ~stop & (paused < hesitates + 0.1 * unknown), hesitation, ms)
        ms = torch.where(uniform(rows, 1) < 0.35, torch.full_like(ms, NO_PAUSE_MS), ms)
        bucket = torch.bucketize(ms, boundaries, right=True)
        bucket[:, -1] = torch.where(ended, END, bucket[:, -1])
        return bucket

    # --- held-out lines ---
    def evaluation_lines(which):
        sets = {}
        for number, name in enumerate(SOURCES):
            lines = np.flatnonzero((split == which) & (source == number))
            if args.steps:
                lines = lines[:60]
            if len(lines):
                sets[name] = lines
        return sets

    @torch.no_grad()
    def logits_of(net, lines, with_pauses):
        """Marks and case logits with labels, over lines of equal length together; END is the last word's pause."""
        net.eval()
        parts = []
        for length in np.unique(lengths[lines]):
            these = lines[lengths[lines] == length]
            for chunk in np.array_split(these, max(1, len(these) * int(length) // args.batch_words)):
                index = torch.from_numpy(starts[chunk][:, None] + np.arange(length)).to(device)
                labels = LABELS[index]
                mark = labels & 7
                ms = torch.full(mark.shape, float(NO_PAUSE_MS), device=device)
                if with_pauses:
                    heeded = torch.arange(int(length), device=device)[None] % 4 != 0
                    ms = torch.where((mark == COMMA) & heeded, float(CLAUSE_PAUSE_MS), ms)
                    ms = torch.where((mark == STOP) | (mark == QUESTION), float(SENTENCE_PAUSE_MS), ms)
                pauses = torch.bucketize(ms, boundaries, right=True)
                pauses[:, -1] = END
                marks, case = net(IDS[index], pauses)
                last = torch.zeros_like(mark, dtype=torch.bool)
                last[:, -1] = True
                parts.append([t.flatten(0, 1).float().cpu().numpy() for t in (marks, case, labels, last)] )
        marks, case, labels, last = (np.concatenate(p) for p in zip(*parts))
        return marks, case, labels.astype(np.int64), last.astype(bool)

    def decide(marks, case, last, bias):
        marks = marks + np.array([0, bias[0], bias[1], bias[2]])
        marks[last, NONE] = marks[last, COMMA] = -1e9
        case = case + np.array([0, bias[3], bias[3]])
        return marks.argmax(1), case.argmax(1)

    def f1(wanted, got):
        right, both = (wanted & got).sum(), wanted.sum() + got.sum()
        return {"f1": round(100 * 2 * right / max(1, both), 1), "precision": round(100 * right / max(1, got.sum()), 1),
                "recall": round(100 * right / max(1, wanted.sum()), 1), "count": int(wanted.sum())}

    def figures(result, bias):
        marks, case, labels, last = result
        mark, kind = decide(marks, case, last, bias)
        wanted, wanted_kind, opens = labels & 7, labels >> 3 & 3, (labels >> 5).astype(bool)
        begins = np.concatenate([[True], (mark[:-1] >= STOP)])
        large = (kind > 0) | begins
        within = ~opens
        return {"words": len(mark), "case_right": round(100 * float(((wanted_kind > 0) == large).mean()), 2),
                "capitals": f1(wanted_kind > 0, large), "within": f1((wanted_kind > 0)[within], large[within]),
                "upper": f1(wanted_kind[within] == UPPER, kind[within] == UPPER), "stops": f1(wanted == STOP, mark == STOP),
                "commas": f1(wanted == COMMA, mark == COMMA), "questions": f1(wanted == QUESTION, mark == QUESTION)}

    def fit_bias(results):
        """What to add to comma, stop, question and capital for the best F1 over all development lines."""
        pooled = tuple(np.concatenate(part) for part in zip(*results))

        def goodness(bias):
            f = figures(pooled, bias)
            return sum(f[name]["f1"] for name in ("commas", "questions", "stops", "within"))
        bias = [0.0] * 4
        best = goodness(bias)
        for place in (0, 2, 3, 1, 0, 2):
            start = bias[place]
            for step in (-0.8, -0.5, -0.25, 0.25, 0.5, 0.8):
                trial = bias[:place] + [start + step] + bias[place + 1:]
                value = goodness(trial)
                if value > best:
                    best, bias = value, trial
        return [round(b, 3) for b in bias]

    # --- the run ---
    if args.weights:
        model.load_state_dict({name: torch.from_numpy(value) for name, value in read_floats(args.weights).items()})
    ema = {name: value.detach().clone() for name, value in model.state_dict().items()}
    matrices = [p for p in model.parameters()]
    optimiser = torch.optim.AdamW(matrices, lr=args.rate, weight_decay=0.01, betas=(0.9, 0.98))
    began, step, losses, seen = time.time(), 0, [], 0
    done = False
    model.train()
    while not done:
        index, batches = made.get()
        INDEX = torch.from_numpy(index).to(device)
        for length, begin, ended in batches:
            fraction = step / args.steps if args.steps else (time.time() - began) / max(60 * args.minutes, 1e-3)
            if fraction >= 1:
                done = True
                break
            rate = args.rate * min(1, (step + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * fraction) + 0.01)
            for group in optimiser.param_groups:
                group["lr"] = rate
            at = torch.from_numpy(begin).to(device)[:, None] + torch.arange(int(length), device=device)[None]
            position = INDEX[at]
            ids, labels = IDS[position], LABELS[position]
            mark, case, opens = labels & 7, labels >> 3 & 3, labels >> 5
            pauses = spoken_pauses(mark, torch.from_numpy(ended).to(device))
            mark_logits, case_logits = model(ids, pauses, torch.rand(ids.shape, device=device))
            mark_loss = F.cross_entropy(mark_logits.flatten(0, 1), torch.where(mark == UNKNOWN, -100, mark).flatten())
            # The first word of a sentence tells nothing about its own case.
            case_loss = F.cross_entropy(case_logits.flatten(0, 1), torch.where(opens == 1, -100, case).flatten())
            loss = sum(part for part in (mark_loss, case_loss) if torch.isfinite(part))
            if not isinstance(loss, torch.Tensor):
                continue
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(matrices, 1.0)
            optimiser.step()
            step += 1
            seen += ids.numel()
            decay = min(0.999, step / (step + 10))
            with torch.no_grad():
                for name, value in model.state_dict().items():
                    ema[name].lerp_(value, 1 - decay)
            if step % 100 == 0 or args.steps:
                losses.append((step, round(mark_loss.item(), 4), round(case_loss.item(), 4)))
                if step % 500 == 0 or args.steps:
                    print(f"step {step} {time.time() - began:.0f} s, {seen / 1e6:.0f} M words, marks {losses[-1][1]}, case {losses[-1][2]}", flush=True)
    model.load_state_dict(ema)

    dev = [logits_of(model, lines, p) for lines in evaluation_lines(DEV).values() for p in (False, True)]
    bias = fit_bias(dev)
    print("bias", bias, flush=True)
    with torch.no_grad():
        model.marks.bias += torch.tensor([0, bias[0], bias[1], bias[2]], device=device)
        model.case.bias += torch.tensor([0, bias[3], bias[3]], device=device)
    zero = [0.0] * 4
    report = {"steps": step, "words_seen": seen, "seconds": round(time.time() - began), "bias": bias, "losses": losses, "figures": {}}
    state = {name: value.detach().float().cpu().numpy() for name, value in model.state_dict().items()}
    state["table"] = state["table"][:TABLE_ROWS]
    write_safetensors(out / "readable-float.safetensors", {k: v.astype(np.float16) for k, v in state.items()})

    shipped, restored = quantised(state)
    write_safetensors(out / "readable.safetensors", shipped)
    rounded = Readable().to(device)
    restored["table"] = np.concatenate([restored["table"], np.zeros((1, WIDTH), np.float32)])
    rounded.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in restored.items()})
    rounded.to(device)
    for name, lines in evaluation_lines(TEST).items():
        for p in (False, True):
            label = f"{name}, {'pauses at marks' if p else 'words alone'}"
            report["figures"][label] = figures(logits_of(rounded, lines, p), zero)
            report["figures"][label + ", float"] = figures(logits_of(model, lines, p), zero)
            f = report["figures"][label]
            print(f"{label}: case {f['case_right']} capitals {f['capitals']['f1']} within {f['within']['f1']} stops {f['stops']['f1']} "
                  f"commas {f['commas']['f1']} questions {f['questions']['f1']}", flush=True)

    # A golden answer for the service's own arithmetic.
    sentence = "habari za leo karibu nairobi asha aliuliza je unakwenda wapi".split()
    known = {word: i for i, word in enumerate(words)}
    if all(word in known for word in sentence):
        rounded.eval()
        ids = torch.tensor([[known[w] for w in sentence]], device=device)
        pauses = torch.tensor([[0, 0, 6, 0, 4, 0, 5, 0, 0, END]], device=device)
        with torch.no_grad():
            marks, case = rounded(ids, pauses)
        report["golden"] = {"words": sentence, "pauses": pauses[0].tolist(), "marks": marks[0].cpu().numpy().round(4).tolist(),
                            "case": case[0].cpu().numpy().round(4).tolist()}
    (out / "readable.json").write_text(json.dumps(report, indent=1))
    for path in sorted(out.iterdir()):
        print(path.name, path.stat().st_size)


def quantised(state):
    """What ships: matrices as int8 codes [inputs, outputs] with a step for each output; the table with a step for each row."""
    shipped, restored = {}, {}
    codes = lambda value, step: np.clip(np.round(value / step), -127, 127).astype(np.int8)
    for name, value in state.items():
        if name == "table":
            step = np.maximum(np.abs(value).max(1, keepdims=True), 1e-8) / 127
            shipped["table.codes"], shipped["table.scale"] = codes(value, step), step[:, 0].astype(np.float32)
            restored[name] = shipped["table.codes"] * step
        elif name.startswith("gru.weight"):
            step = np.maximum(np.abs(value).max(1, keepdims=True), 1e-8) / 127
            short = name.removeprefix("gru.weight_")
            shipped[f"gru.{short}.codes"] = np.ascontiguousarray(codes(value, step).T)
            shipped[f"gru.{short}.scale"] = step[:, 0].astype(np.float32)
            restored[name] = codes(value, step) * step
        elif name.startswith("gru.bias"):
            shipped[f"gru.{name.removeprefix('gru.bias_')}.bias"] = value.astype(np.float32)
            restored[name] = value
        else:
            shipped[name] = restored[name] = value.astype(np.float32)
    return shipped, {name: value.astype(np.float32) for name, value in restored.items()}


def read_floats(path):
    """The state of readable-float.safetensors, with the table's empty row."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    state = {}
    for name, info in json.loads(data[8:8 + size]).items():
        start, end = info["data_offsets"]
        state[name] = np.frombuffer(data[8 + size + start:8 + size + end], np.float16).reshape(info["shape"]).astype(np.float32)
    state["table"] = np.concatenate([state["table"], np.zeros((1, WIDTH), np.float32)])
    return state


def write_safetensors(path, tensors):
    kinds = {"float32": "F32", "float16": "F16", "int8": "I8"}
    # Wide types first, so that each tensor is aligned.
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    header, at = {}, 0
    for name in order:
        size = tensors[name].nbytes
        header[name] = {"dtype": kinds[tensors[name].dtype.name], "shape": list(tensors[name].shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            file.write(np.ascontiguousarray(tensors[name]).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    one = steps.add_parser("prepare")
    one.add_argument("--texts", required=True)
    one.add_argument("--english", required=True, help="English sentences, one a line")
    one.add_argument("--greetings", required=True, help="short everyday sentences, one or more a line")
    one.add_argument("--out", required=True)
    one.add_argument("--held-out", required=True, help="folder for the test lines, for `sauti eval readable`")
    one.set_defaults(run=prepare)
    two = steps.add_parser("train")
    two.add_argument("--data", required=True)
    two.add_argument("--out", required=True)
    two.add_argument("--device", default="cuda")
    two.add_argument("--minutes", type=float, default=3.5)
    two.add_argument("--weights", help="start from a readable-float.safetensors; with --minutes 0 only fit the biases and write")
    two.add_argument("--steps", type=int, default=0, help="stop after so many steps instead: a trial")
    two.add_argument("--rate", type=float, default=2e-3)
    two.add_argument("--batch-words", type=int, default=BATCH_WORDS)
    two.add_argument("--threads", type=int, default=0)
    two.set_defaults(run=train)
    args = parser.parse_args()
    random.seed(7)
    args.run(args)


if __name__ == "__main__":
    main()
