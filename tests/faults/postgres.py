"""A private PostgreSQL server of a test's own."""

import os
import subprocess
from pathlib import Path

from service import free_port


def program(name):
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    assert found, f"{name} is missing"
    return str(found[-1])


class Postgres:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir()
        # The server refuses to run as root.
        self.user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"] if os.geteuid() == 0 else []
        if self.user:
            subprocess.run(["chown", "postgres", self.folder], check=True)
        self.run("initdb", "-D", self.folder / "db", "-U", "sauti", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        port = free_port()
        self.url = f"postgres://sauti@{str(self.folder).replace('/', '%2F')}/postgres?port={port}"
        self.port = port
        self.tcp_url = f"postgres://sauti@127.0.0.1:{self.port}/postgres"

    def let_in(self):
        """The server's user into the test's folder. Every time: another pytest that starts meanwhile shuts the folder of them all again."""
        for parent in [self.folder, *self.folder.parents][:4] if self.user else []:
            parent.chmod(parent.stat().st_mode | 0o055) if parent != Path("/tmp") else None

    def run(self, name, *words, **more):
        self.let_in()
        return subprocess.run([*self.user, program(name), *map(str, words)], check=True, capture_output=True, cwd=self.folder, **more)

    def start(self):
        self.let_in()
        subprocess.run([*self.user, program("pg_ctl"), "-D", self.folder / "db", "-l", self.folder / "pg.log", "-w", "-o",
                        f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self.folder}", "start"],
                       check=True, cwd=self.folder, stdout=subprocess.DEVNULL)

    def stop(self):
        self.run("pg_ctl", "-D", self.folder / "db", "-m", "immediate", "-w", "stop")
