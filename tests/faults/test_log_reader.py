"""Whoever reads the log may stop reading: a paused terminal, a pipe whose other end hangs. The service must not."""

import subprocess

from service import Service

# A line each, several times what a pipe and the lines that may wait hold together.
QUESTIONS = 12_000


def test_a_log_that_nobody_reads_stops_nobody(tmp_path):
    service = Service(tmp_path)
    service.start(stderr=subprocess.PIPE)
    try:
        with service.connect() as stream:
            for _ in range(QUESTIONS // 100):
                stream.sendall(b"GET /v1/voices HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
                answers = b""
                while answers.count(b"HTTP/1.1 ") < 100:
                    part = stream.recv(1 << 16)
                    assert part, "the service hung up"
                    answers += part
        assert service.speak("Habari ya leo.")[0] == 200
        figures = service.ask("GET", "/metrics")[2].decode()
        lost = next(int(line.split()[1]) for line in figures.splitlines() if line.startswith("sauti_log_lines_lost_total"))
        assert lost > 0, "the log was never full, so nothing was shown"
    finally:
        service.process.terminate()
        log = service.process.communicate(timeout=60)[1].decode()
    assert service.process.returncode == 0 and "nobody read them in time" in log, log[-500:]
