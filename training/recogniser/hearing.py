"""What a model hears in a clip: posteriors, and the letters read off them greedily."""

import torch

from spelling import ALPHABET

WINDOW, MARGIN = 14 * 16_000, 16_000  # long clips are heard in windows, whose margins are heard twice and dropped


def greedy(logprobs, lengths):
    texts = []
    for row, length in zip(logprobs.argmax(-1).tolist(), lengths.tolist()):
        text, last = "", 0
        for symbol in row[:length]:
            if symbol and symbol != last:
                text += ALPHABET[symbol - 1]
            last = symbol
        texts.append(" ".join(text.split()))
    return texts


def batches_of(clips, device, seconds=900):
    """Clips of like length side by side, at one loudness: which ones, their waves and their frames."""
    order, at = sorted(range(len(clips)), key=lambda i: len(clips[i])), 0
    while at < len(order):
        count = 1
        while at + count < len(order) and (count + 1) * len(clips[order[at + count]]) < seconds * 16_000:
            count += 1
        rows = order[at : at + count]
        at += count
        size = (len(clips[rows[-1]]) + 639) // 640 * 640
        waves = torch.zeros(count, size)
        for wave, row in zip(waves, rows):
            wave[: len(clips[row])] = torch.from_numpy(clips[row]).float() / 32768
        waves = (waves / waves.abs().amax(1, keepdim=True).clamp(min=1e-4) * 0.5).to(device)
        yield rows, waves, torch.tensor([(len(clips[row]) + 639) // 640 * 4 for row in rows], device=device)


@torch.no_grad()
def posteriors_of_batch(model, mel_of, clips, device, amp):
    """Log-probabilities of many clips of at most 25 s, several at a time; each is heard as if alone, but for rounding."""
    out = [None] * len(clips)
    for rows, waves, frames in batches_of(clips, device):
        with amp():
            logprobs, lengths = model(mel_of(waves), frames)
        for row, found, length in zip(rows, logprobs, lengths.tolist()):
            out[row] = found[:length]
    return out


def posteriors_of(model, mel_of, samples, device, amp):
    """Log-probabilities of one clip of any length, as the service hears it."""
    if len(samples) <= 25 * 16_000:
        return posteriors_of_batch(model, mel_of, [samples], device, amp)[0]
    step = WINDOW - 2 * MARGIN
    starts = range(0, len(samples) - 2 * MARGIN, step)
    windows = [posteriors_of(model, mel_of, samples[start : start + WINDOW], device, amp) for start in starts]
    parts = [part[MARGIN // 640 if start else 0 : (WINDOW - MARGIN) // 640] for start, part in zip(starts[:-1], windows)]
    return torch.cat([*parts, windows[-1][MARGIN // 640 if starts[-1] else 0 :]])


def recognise(model, mel_of, clips, device, amp):
    """Greedy texts and posteriors."""
    model.eval()
    short = [i for i, (samples, _) in enumerate(clips) if len(samples) <= 25 * 16_000]
    posteriors = dict(zip(short, posteriors_of_batch(model, mel_of, [clips[i][0] for i in short], device, amp)))
    posteriors = [posteriors[i] if i in posteriors else posteriors_of(model, mel_of, samples, device, amp) for i, (samples, _) in enumerate(clips)]
    model.train()
    texts = [greedy(rows[None], torch.tensor([len(rows)]))[0] for rows in posteriors]
    return texts, [rows.half().cpu().numpy() for rows in posteriors]
