"""Machines of a small cluster as network namespaces on one bridge, each of which can be cut off."""

import os
import signal
import subprocess
import time


def ip(*words, check=True):
    return subprocess.run(["ip", *map(str, words)], check=check, capture_output=True, text=True)


class Network:
    """A bridge with the first address; whoever loads the cluster stands there."""

    def __init__(self):
        number = os.getpid() % 60000
        self.name = f"sb{number}"
        self.subnet = f"10.213.{number % 250}"
        self.machines = []
        ip("link", "add", self.name, "address", self.mac(1), "type", "bridge")
        ip("addr", "add", f"{self.subnet}.1/24", "dev", self.name)
        ip("link", "set", self.name, "up")

    @staticmethod
    def mac(place):
        return f"02:00:00:5a:00:{place:02x}"

    def machine(self, name):
        made = Machine(self, name, 10 + len(self.machines))
        # Addresses are known for good: else a line that was cut would be noticed by the kernel, and not by the programs.
        ip("neigh", "replace", made.address, "lladdr", self.mac(made.place), "dev", self.name, "nud", "permanent")
        made.knows(f"{self.subnet}.1", self.mac(1))
        for other in self.machines:
            made.knows(other.address, self.mac(other.place))
            other.knows(made.address, self.mac(made.place))
        self.machines.append(made)
        return made

    def remove(self):
        for machine in self.machines:
            machine.remove()
        ip("link", "del", self.name, check=False)


class Machine:
    def __init__(self, network, name, place):
        self.network, self.place = network, place
        self.space = f"{network.name}-{name}"
        self.cable = f"{network.name}v{place}"
        self.address = f"{network.subnet}.{place}"
        ip("netns", "add", self.space)
        ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "address", network.mac(place), "netns", self.space)
        ip("-n", self.space, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", self.space, "link", "set", device, "up")
        ip("link", "set", self.cable, "up")
        self.join()

    def knows(self, address, mac):
        ip("-n", self.space, "neigh", "replace", address, "lladdr", mac, "dev", "eth0", "nud", "permanent")

    def cut(self):
        """Every packet to and from it is lost, and nobody is told."""
        ip("link", "set", self.cable, "nomaster")

    def join(self):
        ip("link", "set", self.cable, "master", self.network.name)

    def run(self, command, **more):
        return subprocess.Popen(["ip", "netns", "exec", self.space, *map(str, command)], **more)

    def pids(self):
        return [int(pid) for pid in ip("netns", "pids", self.space, check=False).stdout.split()]

    def kill(self):
        """As if the power went: SIGKILL for everything on it."""
        while pids := self.pids():
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)

    def remove(self):
        self.kill()
        ip("netns", "del", self.space, check=False)
        ip("link", "del", self.cable, check=False)
