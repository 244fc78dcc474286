"""Train the small network that says how likely a sentence is, with which the recogniser ranks its best hypotheses again.

Texts become pieces of words (learned as byte pairs, split by greedy longest match, so that a map is all that the service needs); a
causal transformer learns which piece comes next, utterance by utterance between a begin and an end mark.

    python rescorer.py prepare --texts DIR --made texts --speech DIR --english-speech DIR --out rescorer.npz
    python rescorer.py train --data rescorer.npz --out DIR --minutes 8 [--compile]

`prepare` wants bible, common-voice-sentences, general and parliament (.txt.xz) and prompts-mixed.tsv in the texts' DIR, what texts.py,
english.py, further.py, transplant.py and telephone.py wrote in --made, and the lists of the sets in --speech and --english-speech. No
sentence of a test or of a held-out clip is learned. `train` writes rescorer.safetensors (int8, what ships), rescorer16.pt and
rescorer.json (figures, and golden values for the tests).
"""

import argparse
import collections
import json
import lzma
import math
import time
import zlib
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from english import last_column, rows_of
from spelling import ALPHABET, spell

SOURCES = ("common-voice", "general", "broadcast", "bible", "parliament", "english-read", "english-wiki", "english-talk", "mixed", "telephone")
# What share of the pieces seen is drawn from each source.
SHARES = (0.135, 0.144, 0.036, 0.027, 0.153, 0.099, 0.117, 0.09, 0.099, 0.1)
SAMPLED = {"parliament": 4, "english-wiki": 8}  # pieces are chosen from one line in so many
HELD_OUT = {"swahili": ("common-voice", "general"), "broadcast": ("broadcast",), "english": ("english-read", "english-talk"), "mixed": ("mixed",), "telephone": ("telephone",)}
HELD_OUT_EVERY = 50
HELD_OUT_MAX = 1200
CLIPS_HELD_OUT_EVERY = 20
PIECES = 8000
BEGIN, END = 0, 1
# As in rescorer.rs: change both or neither.
HEAD_WIDTH = 64
POSITIONS = 128
ROW = 256  # pieces of several utterances side by side


# --- texts ---------------------------------------------------------------------------------------------------------


def read(path):
    if path.suffix == ".xz":
        with lzma.open(path, "rt", encoding="utf-8") as file:
            return file.read().splitlines()
    return path.read_text(encoding="utf-8").splitlines()


def learn_pieces(lines, count):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Metaspace(replacement="_", prepend_scheme="always")
    learner.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=count, show_progress=False))
    return [piece.replace("_", " ") for piece in learner.get_vocab() if len(piece) > 1]


class Splitter:
    """A word as the longest pieces from its beginning on; pieces that begin a word begin with a space."""

    def __init__(self, pieces):
        self.numbers = {piece: number for number, piece in enumerate(pieces)}
        self.longest = max(map(len, pieces))
        self.known = {}

    def word(self, word):
        found = self.known.get(word)
        if found is None:
            rest, found = " " + word, []
            while rest:
                size = next(n for n in range(min(self.longest, len(rest)), 0, -1) if rest[:n] in self.numbers)
                found.append(self.numbers[rest[:size]])
                rest = rest[size:]
            self.known[word] = found
        return found


def choose_pieces(lines_of):
    """More are learned than kept: some are only steps on the way to longer ones and are never used."""
    sample = [line for name, lines in lines_of.items() for line in lines[:: SAMPLED.get(name, 1)]]
    letters = ALPHABET.replace(" ", "")
    single = list(letters) + [" " + letter for letter in letters]
    marks = ["<", ">"]
    wide = Splitter(marks + single + [piece for piece in learn_pieces(sample, PIECES * 5 // 4) if piece not in single])
    words = collections.Counter(word for line in sample for word in line.split())
    used = collections.Counter()
    pieces = list(wide.numbers)
    for word, count in words.items():
        for number in wide.word(word):
            used[pieces[number]] += count
    kept = [piece for piece, _ in used.most_common() if piece not in single][: PIECES - len(marks) - len(single)]
    return marks + single + sorted(kept)


def prepare(args):
    excluded, broadcast, broadcast_held_out = set(), [], []
    lists = [args.speech / "common-voice-dev.tsv", args.speech / "broadcast-dev.tsv", args.english_speech / "english-dev.tsv"]
    for path in [*lists, args.texts / "prompts-mixed.tsv", *sorted(args.made.glob("*.tsv"))]:
        excluded |= {spell(text) for text in last_column(path)}
    for row in rows_of(args.speech / "broadcast.tsv"):
        (broadcast if int(Path(row[0]).stem) % CLIPS_HELD_OUT_EVERY else broadcast_held_out).append(row[-1])
    broadcast_held_out = [spell(line) for line in broadcast_held_out]
    excluded |= set(broadcast_held_out)

    raw = {
        "common-voice": read(args.texts / "common-voice-sentences.txt.xz"),
        "general": read(args.texts / "general.txt.xz") + read(args.made / "readers.txt") + read(args.made / "further.txt"),
        "broadcast": broadcast,
        "bible": read(args.texts / "bible.txt.xz"),
        "parliament": read(args.texts / "parliament.txt.xz"),
        "english-talk": read(args.made / "english-talk.txt") + read(args.made / "english-dialogues.txt"),
        "mixed": read(args.made / "mixed.txt") + read(args.made / "transplanted.txt"),
        "telephone": read(args.made / "commands.txt") + read(args.made / "telephone.txt"),
    }
    raw |= {name: read(args.made / f"{name}.txt") for name in SOURCES if name not in raw}
    lines_of, held_out = {}, {}
    for name in SOURCES:
        kept, aside = {}, []
        for line in raw[name]:
            text = spell(line)
            if not text or text in excluded:
                continue
            if zlib.crc32(line.encode()) % HELD_OUT_EVERY == 0 and name != "broadcast":
                aside.append(text)
            else:
                kept[text] = None
        lines_of[name], held_out[name] = list(kept), [text for text in aside if text not in kept][:HELD_OUT_MAX]
    held_out["broadcast"] = [text for text in broadcast_held_out if text][:HELD_OUT_MAX]
    # A held-out sentence of one source may stand in another.
    aside = {text for group in HELD_OUT.values() for name in group for text in held_out[name]}
    lines_of = {name: [text for text in lines if text not in aside] for name, lines in lines_of.items()}

    pieces = pieces_of(args.pieces) if args.pieces else choose_pieces(lines_of)
    splitter = Splitter(pieces)
    tokens, words, sentences, sources = [], [], [], []

    def add(source, lines):
        for line in lines:
            sentences.append(len(words))
            sources.append(source)
            for word in line.split():
                words.append(len(tokens))
                tokens.extend(splitter.word(word))

    for number, name in enumerate(SOURCES):
        before = len(words), len(tokens)
        add(number, lines_of[name])
        print(f"{name}: {len(lines_of[name])} sentences, {len(words) - before[0]} words, {len(tokens) - before[1]} pieces", flush=True)
    for number, (name, group) in enumerate(HELD_OUT.items()):
        lines = [text for source in group for text in held_out[source]]
        add(len(SOURCES) + number, lines)
        print(f"held out, {name}: {len(lines)} sentences", flush=True)
    lengths = np.diff(np.array([*words, len(tokens)], np.int32)).astype(np.uint8)
    counts = np.diff(np.array([*sentences, len(words)], np.int32)).astype(np.uint16)
    np.savez_compressed(args.out, tokens=np.array(tokens, np.int16), word_pieces=lengths, sentence_words=counts,
                        sources=np.array(sources, np.uint8), pieces=np.array("\n".join(pieces)))


def pieces_of(shipped):
    return load_file(shipped)["pieces"].tobytes().decode("ascii").split("\n")


# --- the network ---------------------------------------------------------------------------------------------------


def network(pieces, width, layers, dropout):
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
            self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.drop = nn.Dropout(dropout)

        def forward(self, x, seen):
            heads = lambda t: t.unflatten(-1, (-1, HEAD_WIDTH)).transpose(1, 2)
            h = self.norm1(x)
            h = F.scaled_dot_product_attention(heads(self.q(h)), heads(self.k(h)), heads(self.v(h)), attn_mask=seen)
            x = x + self.drop(self.out(h.transpose(1, 2).flatten(2)))
            return x + self.drop(self.fc2(F.gelu(self.fc1(self.norm2(x)))))

    class Rescorer(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Embedding(pieces, width)  # what comes in and, transposed, what goes out
            self.positions = nn.Embedding(POSITIONS, width)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm = nn.LayerNorm(width)
            self.drop = nn.Dropout(dropout)
            for name, value in self.named_parameters():
                if value.dim() > 1:
                    deep = name.endswith(("out.weight", "fc2.weight"))
                    nn.init.normal_(value, std=0.02 / math.sqrt(2 * layers) if deep else 0.02)
                elif name.endswith("bias"):
                    nn.init.zeros_(value)

        def forward(self, ids, places, utterances):
            """Rows of pieces; a piece sees those before it in its own utterance."""
            seen = (utterances[:, :, None] == utterances[:, None, :]).tril()[:, None]
            x = self.drop(self.head(ids) + self.positions(places))
            for layer in self.layers:
                x = layer(x, seen)
            return F.linear(self.norm(x), self.head.weight)

    return Rescorer()


def load(path, pieces):
    """A network that `train` wrote, as floats or as it ships."""
    import torch

    if path.suffix == ".safetensors":
        kept = restored(path)
    else:
        kept = torch.load(path, map_location="cpu")
    assert kept["size"]["pieces"] == pieces, f"{path} splits words into other pieces"
    net = network(**kept["size"], dropout=0.0).eval().requires_grad_(False)
    net.load_state_dict({name: value.float() for name, value in kept["state"].items()})
    return net


def restored(path):
    import torch

    shipped = load_file(path)
    state = {"positions.weight" if name == "positions" else name: value for name, value in shipped.items() if not name.endswith((".codes", ".scale")) and name != "pieces"}
    for name in (name.removesuffix(".codes") for name in shipped if name.endswith(".codes")):
        state[f"{name}.weight"] = shipped[f"{name}.codes"].T.astype(np.float32) * shipped[f"{name}.scale"][:, None]
    layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    size = dict(pieces=len(state["head.weight"]), width=state["head.weight"].shape[1], layers=layers)
    return {"size": size, "state": {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in state.items()}}


def train(args):
    import torch
    from torch.nn import functional as F

    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    if device.type == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)
        torch.set_float32_matmul_precision("high")
    autocast = lambda: torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")
    args.out.mkdir(parents=True, exist_ok=True)
    data = np.load(args.data)
    pieces = str(data["pieces"]).split("\n")
    TOKENS = torch.from_numpy(data["tokens"]).to(device)
    WORDS = torch.from_numpy(np.concatenate([[0], np.cumsum(data["word_pieces"], dtype=np.int64)])).to(device)
    starts = np.concatenate([[0], np.cumsum(data["sentence_words"], dtype=np.int64)])
    SENTENCES = torch.from_numpy(starts).to(device)
    sources = data["sources"]
    spans = [np.searchsorted(sources, [number, number + 1]) for number in range(len(SOURCES) + len(HELD_OUT))]
    # Sentences are drawn so that each source has its share of the pieces.
    shares = np.array(args.shares)
    pieces_a_sentence = np.array([(WORDS[starts[b]] - WORDS[starts[a]]).item() / max(1, b - a) + 2 for a, b in spans[: len(SOURCES)]])
    chances = torch.tensor(shares / pieces_a_sentence, device=device, dtype=torch.float32)
    firsts, lasts = (torch.tensor([int(span[n]) for span in spans[: len(SOURCES)]], device=device) for n in (0, 1))
    trained = int(WORDS[starts[spans[len(SOURCES) - 1][1]]])
    print(f"{trained / 1e6:.1f} M pieces to learn from, {len(pieces)} different ones", flush=True)

    def lay(begin, end, at, total):
        """Utterances of words begin..end, laid side by side from `at` on: pieces, places, utterances, what comes next."""
        start = WORDS[begin]
        length = WORDS[end] - start + 2
        index = torch.arange(total, device=device)
        which = torch.searchsorted(at, index, right=True) - 1
        place = index - at[which]
        known = place < length[which]
        inner = (place > 0) & (place < length[which] - 1)
        ids = torch.where(inner, TOKENS[(start[which] + place - 1).clamp(0, len(TOKENS) - 1)].long(), torch.where(place == 0, BEGIN, END))
        nexts = torch.cat([ids[1:], ids[:1]])
        whole = at[which] // ROW == index // ROW  # not cut by the end of a row
        nexts = torch.where(known & (place < length[which] - 1) & whole & (index % ROW != ROW - 1), nexts, -100)
        rows = lambda t: t.view(-1, ROW)
        return rows(ids), rows(place.clamp(max=POSITIONS - 1)), rows(which), rows(nexts)

    def draw(total):
        """Sentences with some of their neighbours; now and then the first or the last words are not there."""
        count = total // 6
        chance = lambda: torch.rand(count, device=device)
        source = torch.multinomial(chances, count, replacement=True)
        first = firsts[source] + (chance() * (lasts - firsts)[source]).long()
        more = chance()
        last = torch.minimum(first + 1 + (more < args.join) + (more < args.join / 4), lasts[source])
        begin, end = SENTENCES[first], SENTENCES[last]
        size = end - begin
        begin = begin + torch.where(chance() < args.cut, (chance() * size).long(), 0)
        size = end - begin
        end = end - torch.where(chance() < args.cut, (chance() * size).long(), 0)
        end = torch.minimum(end, torch.searchsorted(WORDS, WORDS[begin] + POSITIONS - 2, right=True) - 1)
        length = WORDS[end] - WORDS[begin] + 2
        return lay(begin, end, torch.cumsum(length, 0) - length, total)

    @torch.no_grad()
    def perplexities(net):
        """A word's, for each held-out set, the end mark included."""
        net.eval()
        out = {}
        for number, name in enumerate(HELD_OUT, len(SOURCES)):
            sentences = torch.arange(*spans[number].tolist(), device=device)[: args.held_out]
            begin, end = SENTENCES[sentences], SENTENCES[sentences + 1]
            end = torch.minimum(end, torch.searchsorted(WORDS, WORDS[begin] + POSITIONS - 2, right=True) - 1)
            loss, words = 0.0, int((end - begin).sum())
            for part in range(0, len(sentences), 256):
                b, e = begin[part : part + 256], end[part : part + 256]
                *given, nexts = lay(b, e, torch.arange(len(b), device=device) * ROW, len(b) * ROW)
                with autocast():
                    logits = net(*given)
                loss += F.cross_entropy(logits.float().flatten(0, 1), nexts.flatten(), ignore_index=-100, reduction="sum").item()
            out[name] = round(math.exp(loss / max(1, words)), 2)
        return out

    size = dict(pieces=len(pieces), width=args.width, layers=args.layers)
    model, average = (network(**size, dropout=args.dropout).to(device) for _ in range(2))
    if args.begin:
        model.load_state_dict(load(args.begin, len(pieces)).state_dict())
    average.load_state_dict(model.state_dict())
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} M weights", flush=True)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": args.decay}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.98), fused=device.type == "cuda")
    teachers = [load(path, len(pieces)).to(device) for path in args.teachers]

    def loss_of(*given, nexts):
        with autocast():
            logits = model(*given).flatten(0, 1).float()
            if not teachers:
                return F.cross_entropy(logits, nexts.flatten(), ignore_index=-100)
            with torch.no_grad():
                likely = sum(teacher(*given).flatten(0, 1).float().softmax(-1) for teacher in teachers) / len(teachers)
        known = nexts.flatten() >= 0
        taught = (F.cross_entropy(logits, likely, reduction="none") * known).sum() / known.sum()
        return torch.lerp(taught, F.cross_entropy(logits, nexts.flatten(), ignore_index=-100), args.texts_too)

    if args.compile:
        loss_of = torch.compile(loss_of)
    step, best, asked, log = 0, math.inf, 0.0, []
    total = args.batch // ROW * ROW
    began = time.time()
    while True:
        fraction = (time.time() - began) / (60 * args.minutes)
        done = fraction >= 1
        if time.time() - asked > args.every or done:
            figures = perplexities(average)
            spent = time.time() - began
            log.append({"seconds": round(spent), "step": step, "perplexity": figures})
            seen = step * total / 1e6
            print(f"step {step}, {spent:.0f} s, {seen:.0f} M pieces ({seen * 1e6 / trained:.2f} epochs, {spent / 60 * trained / max(1, seen * 1e6):.1f} min each), "
                  f"perplexity {figures}", flush=True)
            mean = sum(math.log(figures[name]) for name in ("swahili", "broadcast", "english")) / 3
            if mean < best or args.begin:  # a network that goes on learns something else than these texts
                best = mean
                write(args.out, average, pieces, size, log)
            asked = time.time()
        if done:
            break
        rate = args.rate * min(1, (step + 1) / args.warm_up) * 0.5 * (1 + math.cos(math.pi * fraction))
        for group in optimiser.param_groups:
            group["lr"] = rate
        model.train()
        *given, nexts = draw(total)
        loss = loss_of(*given, nexts=nexts)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step += 1
        decay = min(0.9985, step / (step + 10))
        with torch.no_grad():
            torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 1 - decay)
        if step in (1, 10) or step % 500 == 0:
            print(f"step {step}, {time.time() - began:.0f} s, loss {loss.item():.3f}", flush=True)
    print(f"best mean perplexity {math.exp(best):.2f}")


# --- the file ------------------------------------------------------------------------------------------------------


def quantised(state):
    """What ships: matrices as codes [inputs, outputs] with a step for each output, as the encoder's; and the same as floats."""
    shipped, restored = {}, {}
    for name, value in state.items():
        restored[name] = value
        if value.ndim == 1:
            shipped[name] = value
        elif name == "positions.weight":
            shipped["positions"] = value
        else:
            step = np.maximum(np.abs(value).max(1), 1e-8) / 127
            codes = np.clip(np.round(value / step[:, None]), -127, 127).astype(np.int8)
            short = name.removesuffix(".weight")
            shipped[f"{short}.codes"], shipped[f"{short}.scale"] = np.ascontiguousarray(codes.T), step.astype(np.float32)
            restored[name] = (codes * step[:, None]).astype(np.float32)
    return shipped, restored


def blend(args):
    """The middle between a shipped network and one that went on from it."""
    import torch

    first, second = restored(args.first), restored(args.second)
    pieces = pieces_of(args.first)
    assert pieces == pieces_of(args.second), "they split words into other pieces"
    model = network(**first["size"], dropout=0.0)
    model.load_state_dict({name: torch.lerp(value.float(), second["state"][name].float(), args.share) for name, value in first["state"].items()})
    args.out.mkdir(parents=True, exist_ok=True)
    write(args.out, model, pieces, first["size"], [])


GOLDEN = ("habari za leo ndugu zangu", "welcome to customer care", "nataka kuomba refund ya ticket yangu")


def write(folder, model, pieces, size, log):
    import torch
    from readable import write_safetensors

    state = {name: value.detach().float().cpu().numpy() for name, value in model.state_dict().items()}
    shipped, restored = quantised(state)
    text = "\n".join(pieces).encode("ascii")
    shipped["pieces"] = np.frombuffer(text, np.int8)
    write_safetensors(folder / "rescorer.safetensors", shipped)
    torch.save({"size": size, "pieces": pieces, "state": {name: torch.from_numpy(value).half() for name, value in state.items()}}, folder / "rescorer16.pt")
    net = network(**size, dropout=0.0).eval()
    net.load_state_dict({name: torch.from_numpy(value) for name, value in restored.items()})
    splitter, golden = Splitter(pieces), []
    for sentence in GOLDEN:
        ids = [BEGIN, *(number for word in sentence.split() for number in splitter.word(word)), END]
        given = torch.tensor([ids[:-1]])
        with torch.no_grad():
            scores = net(given, torch.arange(len(ids) - 1)[None], torch.zeros_like(given)).log_softmax(-1)[0]
        golden.append({"text": sentence, "pieces": ids, "scores": [round(scores[i, n].item(), 4) for i, n in enumerate(ids[1:])]})
    (folder / "rescorer.json").write_text(json.dumps({"golden": golden, "log": log}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    one = steps.add_parser("prepare")
    one.add_argument("--texts", type=Path, required=True)
    one.add_argument("--made", type=Path, required=True, help="what texts.py, english.py, further.py, transplant.py and telephone.py wrote")
    one.add_argument("--speech", type=Path, required=True)
    one.add_argument("--english-speech", type=Path, required=True, help="where english-dev.tsv is")
    one.add_argument("--pieces", type=Path, help="a rescorer.safetensors whose pieces are used, to go on from it")
    one.add_argument("--out", type=Path, required=True)
    one.set_defaults(run=prepare)
    two = steps.add_parser("train")
    two.add_argument("--data", type=Path, required=True)
    two.add_argument("--out", type=Path, required=True)
    two.add_argument("--minutes", type=float, default=8.0)
    two.add_argument("--device", default="cuda")
    two.add_argument("--width", type=int, default=384, help=f"a multiple of {HEAD_WIDTH}")
    two.add_argument("--layers", type=int, default=6)
    two.add_argument("--dropout", type=float, default=0.1)
    two.add_argument("--batch", type=int, default=65536, help="pieces in a step")
    two.add_argument("--rate", type=float, default=2e-3)
    two.add_argument("--decay", type=float, default=0.1)
    two.add_argument("--join", type=float, default=0.25, help="how often a neighbouring sentence is added")
    two.add_argument("--cut", type=float, default=0.2, help="how often the beginning, and the end, is cut off")
    two.add_argument("--every", type=float, default=30, help="seconds between figures")
    two.add_argument("--shares", type=lambda text: [float(x) for x in text.split(",")], default=SHARES, help=",".join(SOURCES))
    two.add_argument("--held-out", type=int, default=HELD_OUT_MAX, help="sentences of each kind that figures are from")
    two.add_argument("--teachers", type=Path, nargs="*", default=[], help="rescorer16.pt or rescorer.safetensors of networks whose mean is learned instead of the texts")
    two.add_argument("--texts-too", type=float, default=0.0, help="share of the loss that comes from the texts beside --teachers")
    two.add_argument("--begin", type=Path, help="rescorer16.pt or rescorer.safetensors of a network of this size to go on from")
    two.add_argument("--warm-up", type=int, default=300, help="steps until the rate is whole")
    two.add_argument("--seed", type=int, default=16)
    two.add_argument("--compile", action="store_true")
    two.set_defaults(run=train)
    three = steps.add_parser("blend")
    three.add_argument("--first", type=Path, required=True, help="rescorer.safetensors")
    three.add_argument("--second", type=Path, required=True, help="rescorer.safetensors of a network that went on from it (--begin)")
    three.add_argument("--share", type=float, default=0.5, help="of the second")
    three.add_argument("--out", type=Path, required=True)
    three.set_defaults(run=blend)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
