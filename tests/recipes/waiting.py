import time


def wait_for(what, seconds_max, explain=lambda: ""):
    """The first true answer of `what()`; fails with the explanation where none comes."""
    give_up = time.monotonic() + seconds_max
    while time.monotonic() < give_up:
        answer = what()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"nothing came in {seconds_max} s\n{explain()}")
