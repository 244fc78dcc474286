"""Asterisk for the tests: the machine's own, else Debian's packages unpacked into a folder. Debian 12 carries none, 11 does."""

import os
import shutil
import subprocess
from pathlib import Path

import tools

FOLDER = tools.VENV / "asterisk"
SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bullseye main"
# What the modules below need, beside the C library.
PACKAGES = (
    "asterisk asterisk-modules asterisk-voicemail asterisk-core-sounds-en asterisk-core-sounds-en-gsm libgsm1 libssl1.1 libjansson4 libxml2 "
    "libicu67 libsqlite3-0 liburiparser1 libedit2 libbsd0 libmd0 libcap2 libxslt1.1 libuuid1 libtinfo6 liblzma5 zlib1g libpopt0"
).split()
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib")
MODULES = (
    "res_timing_timerfd pbx_config app_playback app_record app_voicemail codec_ulaw codec_alaw codec_gsm codec_resample "
    "format_pcm format_wav format_sln format_gsm bridge_simple bridge_builtin_features res_clioriginate func_channel func_callerid app_verbose"
).split()


def need_asterisk():
    """The folder that holds usr/sbin/asterisk."""
    if shutil.which("asterisk"):
        return Path("/")
    if not (FOLDER / "done").exists():
        unpack()
    return FOLDER


def unpack():
    apt = FOLDER / "apt"
    for part in ("state/lists/partial", "cache/archives/partial", "etc/preferences.d", "debs"):
        (apt / part).mkdir(parents=True, exist_ok=True)
    (apt / "etc/sources.list").write_text(SOURCE + "\n")
    (apt / "status").write_text("")
    # Its own lists and sources: the machine's packages are not touched, and nobody need be root.
    options = {
        "Dir::State": apt / "state", "Dir::State::status": apt / "status", "Dir::Cache": apt / "cache", "Dir::Etc": apt / "etc",
        "Acquire::Languages": "none", "APT::Sandbox::User": "root",
    }
    get = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    tools.say([*get, "update"])
    subprocess.run([*map(str, get), "download", *PACKAGES], check=True, cwd=apt / "debs", stdout=subprocess.DEVNULL)
    for package in (apt / "debs").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, FOLDER], check=True)
    shutil.rmtree(apt)
    (FOLDER / "done").write_text("")


class Asterisk:
    """One running Asterisk with its own folders, configured with the recipe's own files."""

    def __init__(self, root, folder, environment=None):
        self.root, self.folder = root, folder
        libraries = ":".join(str(root / place) for place in LIBRARIES)
        own = {} if root == Path("/") else {"LD_LIBRARY_PATH": libraries}
        self.environment = {**os.environ, **own, **(environment or {})}
        self.etc, self.data, self.spool = folder / "etc", folder / "data", folder / "spool"
        for place in ("etc", "data/sounds", "spool", "run", "log", "db", "keys", "agi"):
            (folder / place).mkdir(parents=True, exist_ok=True)
        self.program = root / "usr/sbin/asterisk"
        self.process = None

    def configure(self):
        shared = self.root / "usr/share/asterisk"
        # The beep and the rest of Asterisk's own sounds; the packages' own link to them is made when they are installed.
        for link, part in (("documentation", "documentation"), ("sounds/en", "sounds/en_US_f_Allison")):
            if not (self.data / link).exists():
                (self.data / link).symlink_to(shared / part)
        modules = next(path for path in (self.root / "usr/lib").rglob("app_playback.so")).parent
        places = {
            "astetcdir": self.etc, "astmoddir": modules, "astvarlibdir": self.data, "astdatadir": self.data, "astspooldir": self.spool,
            "astrundir": self.folder / "run", "astlogdir": self.folder / "log", "astdbdir": self.folder / "db",
            "astkeydir": self.folder / "keys", "astagidir": self.folder / "agi",
        }
        # A telephone sends sound all the time; a channel that only records would not.
        lines = ["[directories]", *(f"{name} => {place}" for name, place in places.items())]
        (self.etc / "asterisk.conf").write_text("\n".join([*lines, "[options]", "transmit_silence = yes", ""]))
        (self.etc / "modules.conf").write_text("\n".join(["[modules]", "autoload = no", *(f"load = {name}.so" for name in MODULES), ""]))
        (self.etc / "logger.conf").write_text("[logfiles]\nfull => notice,warning,error,verbose\n")

    def start(self):
        self.configure()
        command = [self.program, "-f", "-v", "-C", self.etc / "asterisk.conf"]
        output = (self.folder / "log/console").open("w")
        self.process = subprocess.Popen(command, env=self.environment, stdout=output, stderr=subprocess.STDOUT)

    def ask(self, line):
        """A line of the command line; its answer."""
        command = [self.program, "-C", self.etc / "asterisk.conf", "-rx", line]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=30)

    def log(self):
        return "\n".join(path.read_text(errors="replace")[-6000:] for path in (self.folder / "log").iterdir() if path.is_file())

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
