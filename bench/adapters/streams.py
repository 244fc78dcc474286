"""How many streams a peer holds at real time: runs inside the worker, against the peer loaded there.

Listening: every stream brings a clip as soon as its last one would have been spoken to the end; it is held while each
text is there before the next clip is. Speaking: every stream asks for the next sentence when the last one has been played;
it is held while no listener runs out of sound after the first piece, and the first piece comes within a second.

More streams than the peer can run at once wait in line, as callers of a service would.
"""

import threading
import time

FIRST_SOUND_SECONDS_MAX = 1.0
# More are not tried.
COUNT_MAX = 64


def hold(peer, task):
    """`count` streams for `seconds`: {"held", "worst", "done"}; `worst` is the worst lateness in seconds, above 0 where not held."""
    gate = threading.Semaphore(peer.parallel)
    play = listen_once if task["kind"] == "recognisers" else speak_once
    items = prepared(task)
    late, done, errors = [], [], []
    end = time.monotonic() + task["seconds"]

    def stream(number):
        # Callers do not come in step.
        time.sleep(number * items[0]["seconds"] / task["count"] if task["kind"] == "recognisers" else 0.05 * number)
        turn = number
        while time.monotonic() < end and not errors and not (late and max(late) > 0):
            try:
                lateness, pause = play(peer, gate, items[turn % len(items)])
            except Exception as error:  # refused or broken: not held
                errors.append(repr(error))
                return
            late.append(lateness)
            done.append(turn)
            time.sleep(max(0.0, pause))
            turn += 1

    threads = [threading.Thread(target=stream, args=(number,)) for number in range(task["count"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = not errors and len(done) >= task["count"] and max(late) <= 0
    return {"held": held, "worst_s": max(late, default=0.0), "done": len(done), "errors": errors[:1]}


def prepared(task):
    if task["kind"] == "voices":
        return [{"text": text, "seconds": 1.0} for text in task["texts"]]
    from adapters.worker import load_clip

    sounds = [load_clip(file) for file in task["files"]]
    return [{"samples": sound, "seconds": len(sound) / 16_000} for sound in sounds]


def listen_once(peer, gate, item):
    """Lateness against the length of the clip, and how long until the next clip is due."""
    begun = time.monotonic()
    with gate:
        peer.transcribe(item["samples"])
    took = time.monotonic() - begun
    return took - item["seconds"], item["seconds"] - took


def speak_once(peer, gate, item):
    """The worst moment at which a listener would have waited for sound, and how long the rest still plays."""
    begun, first, heard, worst = time.monotonic(), None, 0.0, -FIRST_SOUND_SECONDS_MAX
    with gate:
        for piece in peer.speak(item["text"]):
            now = time.monotonic()
            if first is None:
                first = now
                worst = first - begun - FIRST_SOUND_SECONDS_MAX
            else:
                worst = max(worst, now - (first + heard))
            heard += len(piece) / peer.rate_hz
    if first is None:
        raise ValueError("no sound came")
    return worst, first + heard - time.monotonic()


def most_held(ask, limit=COUNT_MAX):
    """The largest count up to `limit` for which `ask(count)` says held: doubling, then halving the gap."""
    low, high = 0, 1
    while high <= limit and ask(high)["held"]:
        low, high = high, high * 2
    high = min(high, limit + 1)
    while high - low > max(1, low // 8):
        middle = (low + high) // 2
        low, high = (middle, high) if ask(middle)["held"] else (low, middle)
    return low
