"""Ends of all kinds: told to end, restarted under load, killed; and copies of the data."""

import json
import random
import signal
import socket
import subprocess
import threading

from service import BINARY, STARTED, Service, until

SENTENCE = "Karibu tena, leo ni siku njema."


class Callers:
    """Threads that ask until told to stop, and remember what each was told."""

    def __init__(self, ask, count=4):
        self.ask, self.answers, self.failures = ask, [], []
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(count)]

    def work(self, number):
        turn = 0
        while not self.over.is_set():
            turn += 1
            try:
                self.answers.append(self.ask(f"{number}-{turn}"))
            except OSError as error:
                self.failures.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(120)


def test_a_restart_behind_a_held_socket_drops_no_caller(tmp_path):
    """What systemd does with sauti.socket: the socket outlives the process."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    service = Service(tmp_path)
    service.port = listener.getsockname()[1]
    # The shell puts the socket where systemd would, and becomes the program.
    service.prefix = ["sh", "-c", 'exec 3<&0 0</dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$0" "$@"']

    def start():
        with service.log_file.open("a") as log:
            command = [*service.prefix, *service.command("serve", "--demo")]
            service.process = subprocess.Popen(command, stdin=listener, stdout=log, stderr=subprocess.STDOUT, env=service.env)
            STARTED.append(service.process)

    start()
    until("ready", lambda: service.status("/readyz") == 200)
    service.key = until("a key", lambda: json.loads((service.data / "demo.json").read_text())["api_key"]
                        if (service.data / "demo.json").exists() else None)
    with Callers(lambda name: service.speak(f"{SENTENCE} {len(name)}")) as callers:
        for _ in range(2):
            seen = len(callers.answers)
            until("callers are served", lambda: len(callers.answers) >= seen + 20)
            service.process.send_signal(signal.SIGTERM)
            assert service.process.wait(60) == 0, service.log()[-2000:]
            start()
        seen = len(callers.answers)
        until("callers are served by the last", lambda: len(callers.answers) >= seen + 20)
    listener.close()
    refused = [answer[0] for answer in callers.answers if answer[0] != 200]
    assert not callers.failures and not refused, (callers.failures[:3], refused[:3])
    assert all(body[:4] == b"RIFF" and len(body) == int(headers["content-length"]) for _, headers, body in callers.answers)
    service.nothing_held()
    service.stop()
    assert service.log().count('"ready"') >= 3


def test_a_replica_that_leaves_says_so_before_it_refuses(tmp_path):
    service = Service(tmp_path, {"server.shutdown_delay_s": "2"}).start()
    service.process.send_signal(signal.SIGTERM)
    until("it says that it leaves", lambda: service.status("/readyz") == 503, 10)
    # Balancers that have not heard yet still send, and are served.
    assert service.speak(SENTENCE)[0] == 200
    assert service.process.wait(60) == 0
    service.nothing_held()


def test_killed_at_any_moment_nothing_is_lost_or_charged_twice(tmp_path):
    service = Service(tmp_path, {"cache.bytes_max": "0"}).start()
    first = service.balance()["available_micro"]
    told, in_flight = 0, 0
    chance = random.Random(7)
    for _ in range(3):
        with Callers(lambda name: service.speak(f"{SENTENCE} {name}")) as callers:
            wanted = chance.randrange(3, 12)
            until("some are served", lambda: len(callers.answers) >= wanted)
            service.kill()
        told += sum(int(headers["sauti-cost"]) for status, headers, _ in callers.answers if status == 200)
        in_flight += len(callers.threads)
        service.start()
        service.nothing_held()
    spent = first - service.balance()["available_micro"]
    dearest = 200_000
    # Who was answered was charged; beyond that only what was charged the moment before the answer was cut off.
    assert told <= spent <= told + in_flight * dearest, (told, spent)
    service.books()
    service.stop()


def test_killed_while_a_vocabulary_is_built_the_next_process_builds_it(tmp_path):
    service = Service(tmp_path, {"limits.vocabulary_bytes_max": "10000000"}).start()
    path = "/v1/vocabularies/majina"

    def put(text):
        status, _, body = service.ask("PUT", path, text.encode(), {"Content-Type": "text/plain"})
        assert status == 202, body

    def shown():
        return json.loads(service.ask("GET", path)[2])

    put("Tuma ujumbe kwa Zabunela.")
    until("the first version is built", lambda: shown()["state"] == "ready")
    # So much of it that no machine is done before it is killed.
    chance = random.Random(7)
    words = ["".join(chance.choice("bdgklmnpst") + chance.choice("aeiou") for _ in range(3)) for _ in range(5000)]
    put("\n".join(" ".join(chance.choices(words, k=12)) for _ in range(30_000)))
    begun = "a vocabulary is being built"
    until("the second version is begun", lambda: service.log().count(begun) == 2)
    service.kill()
    service.start()
    told = shown()
    assert (told["version"], told["state"]) == (2, "building"), told
    until("it is built after all", lambda: shown()["state"] == "ready", 300)
    assert service.log().count(begun) == 3 and shown() == {**told, "state": "ready"}
    service.stop()


def test_a_copy_made_under_load_restores_to_sound_books(tmp_path):
    service = Service(tmp_path).start()
    copy = tmp_path / "copy.db"
    with Callers(lambda name: service.speak(f"{SENTENCE} {name}")) as callers:
        until("some are served", lambda: len(callers.answers) >= 5)
        made = service.run("backup", str(copy))
        assert made.returncode == 0 and copy.exists(), made.stderr
        assert service.run("backup", str(copy)).returncode == 1, "a copy was overwritten"
        # A database in use is not replaced.
        busy = service.run("restore", str(copy))
        assert busy.returncode == 1 and "stop it first" in busy.stderr, busy.stderr
        until("more are served", lambda: len(callers.answers) >= 10)
    after = service.balance()["available_micro"]
    service.stop()
    broken = tmp_path / "broken.db"
    broken.write_bytes(copy.read_bytes()[:-5000])
    assert service.run("restore", str(broken)).returncode == 1
    restored = service.run("restore", str(copy))
    assert restored.returncode == 0 and "the books add up" in restored.stdout, restored.stdout + restored.stderr
    assert service.books()["open_reservations"] == 0
    with service:
        assert service.balance()["available_micro"] > after, "the copy is from before the last charges"
        assert service.speak(SENTENCE)[0] == 200


def test_the_audit_trail_is_exported(tmp_path):
    with Service(tmp_path) as service:
        service.ask("POST", "/v1/keys", {"name": "mpya", "permissions": ["voices"]})
        lines = service.run("audit", "export").stdout.splitlines()
        assert "key.created" in {json.loads(line)["action"] for line in lines}
        csv = service.run("audit", "export", "--format", "csv").stdout.splitlines()
        assert csv[0].startswith("id,created_us") and len(csv) == len(lines) + 1
        assert service.run("audit", "export", "--from", "2999-01-01").stdout == ""
        assert service.run("audit", "export", "--workspace", "ws_none").returncode == 1


def test_the_health_command_needs_no_other_program(tmp_path):
    with Service(tmp_path) as service:
        address = f"127.0.0.1:{service.port}"
        assert service.run("health", "--listen", address).returncode == 0
        assert service.run("health", "--alive", "--listen", address).returncode == 0
    assert subprocess.run([BINARY, "health", "--listen", address], capture_output=True).returncode == 1
