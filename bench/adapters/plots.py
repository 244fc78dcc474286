"""The figures as a picture: quality against cost, and streams held. `python -m adapters.plots peers.json FOLDER`"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

OURS, OTHERS = "#0b7a5b", "#8a8f98"


def scatter(axes, peers, quality, label):
    for at, (name, figures) in enumerate(peers.items()):
        if figures[quality] is None:
            continue
        color = OURS if name == "sauti" else OTHERS
        axes.scatter(figures["rtf_cpu"], figures[quality], s=70, color=color, zorder=3)
        axes.annotate(name, (figures["rtf_cpu"], figures[quality]), textcoords="offset points", xytext=(7, -14 if at % 2 else 5), fontsize=9)
    axes.set_xscale("log")
    axes.margins(0.25)
    axes.set_xlabel("processor seconds for a second of sound, one core")
    axes.set_ylabel(label)
    axes.grid(alpha=0.25, which="both")


def bars(axes, peers, title):
    held = {name: figures["streams"] for name, figures in peers.items() if figures.get("streams") is not None}
    if not held:
        axes.set_axis_off()
        return
    colors = [OURS if name == "sauti" else OTHERS for name in held]
    shown = axes.barh(list(held), list(held.values()), color=colors)
    axes.bar_label(shown, padding=3, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel(title)
    axes.margins(x=0.15)


def main(source, folder):
    results = json.loads(Path(source).read_text())
    ran = {kind: {name: f for name, f in results[kind].items() if "failed" not in f} for kind in ("recognisers", "voices")}
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
    scatter(axes[0][0], ran["recognisers"], "wer", "word errors, % (lower is better)")
    scatter(axes[0][1], ran["voices"], "mos", "DistillMOS (higher is better)")
    bars(axes[1][0], ran["recognisers"], "streams heard at real time on two cores")
    bars(axes[1][1], ran["voices"], "streams spoken at real time on two cores")
    for row in axes:
        for each in row:
            each.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(folder) / "peers.svg")
    figure.savefig(Path(folder) / "peers.png", dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:3])
