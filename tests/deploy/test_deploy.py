"""What is in deploy/ against the program itself: settings it must know, metrics it must show, files that must be there."""

import json
import os
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm/sauti"
HELM = ROOT / ".venv/bin/helm"
BINARY = os.environ["SAUTI_BINARY"]
DATABASE = ["--set", "database.url=postgres://sauti:secret@db/sauti"]
METRIC = re.compile(r"\bsauti_[a-z_]+")


def config_check(variables):
    """Whether the program takes these variables as settings; hands back what it says."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SAUTI_")}
    return subprocess.run([BINARY, "config", "check"], env={**own, **variables}, capture_output=True, text=True)


def render(*arguments):
    command = [HELM, "template", "voice", CHART, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def only(documents, kind):
    (found,) = [document for document in documents if document["kind"] == kind]
    return found


# Chart


@pytest.mark.parametrize("values", [
    [],
    ["--set", "autoscaling.enabled=true,ingress.enabled=true,ingress.tlsSecret=tls,ingress.className=nginx"],
    ["--set", "serviceMonitor.enabled=true,prometheusRule.enabled=true,serviceAccount.name=own,podDisruptionBudget.enabled=false"],
])
def test_the_chart_passes_lint(values):
    done = subprocess.run([HELM, "lint", "--strict", CHART, *DATABASE, *values], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_replicas_without_a_common_database_are_refused():
    command = [HELM, "template", "voice", CHART, "--set", "replicas=2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "PostgreSQL" in done.stderr
    assert render("--set", "replicas=1")
    assert render("--set", "existingSecret=mine")


def test_a_wrong_value_is_refused_by_the_schema():
    for wrong in ["database.url=mysql://x", "replicas=0", "replicsa=3", "nats.url=http://x"]:
        done = subprocess.run([HELM, "template", "voice", CHART, *DATABASE, "--set", wrong], capture_output=True, text=True)
        assert done.returncode != 0, wrong


def test_the_program_knows_every_setting_that_the_chart_sets():
    extra = ["--set", "settings.limits.upload_bytes_max=50000000,settings.prices.cached_fraction=0.25",
             "--set", "settings.server.trusted_proxies={10.0.0.0/8,fd00::/8}",
             "--set", "valkey.url=redis://valkey:6379,nats.url=nats://sauti:secret@nats:4222,settings.nats.replicas=3"]
    documents = render(*DATABASE, *extra)
    variables = {**only(documents, "ConfigMap")["data"], **only(documents, "Secret")["stringData"]}
    assert variables["SAUTI_NATS__URL"] == "nats://sauti:secret@nats:4222" and "secret" not in str(only(documents, "ConfigMap"))
    assert variables["SAUTI_LIMITS__UPLOAD_BYTES_MAX"] == "50000000"
    done = config_check(variables)
    assert done.returncode == 0, done.stderr
    # The check can fail.
    assert config_check({**variables, "SAUTI_LIMITS__NO_SUCH": "1"}).returncode == 1


def test_pods_run_without_rights_and_end_later_than_their_requests():
    pod = only(render(*DATABASE), "Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    settings = only(render(*DATABASE), "ConfigMap")["data"]
    needed = int(settings["SAUTI_SERVER__SHUTDOWN_DELAY_S"]) + int(settings["SAUTI_SERVER__SHUTDOWN_GRACE_S"])
    assert pod["terminationGracePeriodSeconds"] > needed


def test_the_autoscaler_and_the_budget_point_at_the_deployment():
    documents = render(*DATABASE, "--set", "autoscaling.enabled=true")
    deployment, scaler = only(documents, "Deployment"), only(documents, "HorizontalPodAutoscaler")
    assert "replicas" not in deployment["spec"]
    assert scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert scaler["spec"]["metrics"][0]["pods"]["metric"]["name"] == "sauti_queue_depth"
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    for document in (only(documents, "PodDisruptionBudget"), only(documents, "Service")):
        selector = document["spec"]["selector"]
        assert selector.get("matchLabels", selector).items() <= labels


# Containers


def instructions():
    text = re.sub(r"\\\n", " ", (DEPLOY / "docker/Dockerfile").read_text())
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [line.split(None, 1) for line in lines]


def test_the_dockerfile_copies_what_is_there_and_what_is_not_ignored():
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [rest.split() for word, rest in instructions() if word == "COPY" and "--from" not in rest]
    sources = {source for words in copied for source in words[:-1]}
    assert sources <= let_in, sources - let_in
    for source in sources:
        assert (ROOT / source).exists(), source


def test_the_image_runs_as_nobody_in_particular_and_says_how_it_is():
    words = dict(instructions())
    assert re.match(r"[1-9]\d*:[1-9]\d*$", words["USER"])
    assert json.loads(words["ENTRYPOINT"]) == ["/usr/local/bin/sauti"]
    command = json.loads(words["HEALTHCHECK"].split("CMD", 1)[1])
    assert subprocess.run([BINARY, *command[1:], "--help"], capture_output=True).returncode == 0
    settings = dict(pair.split("=", 1) for pair in words["ENV"].split())
    done = config_check(settings)
    assert done.returncode == 0, done.stderr


def test_the_compose_file_gives_the_program_settings_that_it_knows():
    services = yaml.safe_load((DEPLOY / "docker/compose.yaml").read_text())["services"]
    assert {"sauti", "postgres"} <= set(services)
    for name in services["sauti"]["depends_on"]:
        assert "healthcheck" in services[name], f"nobody can wait for {name}"
    raw = services["sauti"]["environment"]
    values = {key: re.sub(r"\$\{(\w+):-([^}]*)\}", r"\2", re.sub(r"\$\{\w+:\?[^}]*\}", "secret", value)) for key, value in raw.items()}
    done = config_check(values)
    assert done.returncode == 0, done.stderr
    context = (DEPLOY / "docker" / services["sauti"]["build"]["context"]).resolve()
    assert (context / services["sauti"]["build"]["dockerfile"]).exists()


# systemd


def test_systemd_takes_the_units(tmp_path):
    analyse = shutil.which("systemd-analyze")
    assert analyse, "systemd-analyze is missing"
    unit = (DEPLOY / "systemd/sauti.service").read_text().replace("/usr/local/bin/sauti", BINARY)
    (tmp_path / "sauti.service").write_text(unit)
    shutil.copy(DEPLOY / "systemd/sauti.socket", tmp_path)
    done = subprocess.run([analyse, "verify", "--man=no", tmp_path / "sauti.service", tmp_path / "sauti.socket"],
                          capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "sauti" in line]
    assert done.returncode == 0 and not ours, done.stderr
    scored = subprocess.run([analyse, "security", "--offline=yes", "--threshold=20", tmp_path / "sauti.service"],
                            capture_output=True, text=True)
    assert scored.returncode == 0, scored.stdout[-2000:]


# Monitoring


@pytest.fixture(scope="module")
def shown():
    """The names and labels on /metrics after one request of each kind."""
    url, key = os.environ["SAUTI_URL"], os.environ["SAUTI_KEY"]

    def post(body):
        request = urllib.request.Request(f"{url}/v1/audio/speech", json.dumps(body).encode(),
                                         {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    text = "Habari za leo, karibu tena."
    wav = post({"text": text, "voice_id": "asha"})
    post({"text": text, "voice_id": "asha", "stream": "audio", "speed": 1.1})
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n' + wav + b"\r\n--b--\r\n"
    request = urllib.request.Request(f"{url}/v1/audio/transcriptions", form,
                                     {"Authorization": f"Bearer {key}", "Content-Type": "multipart/form-data; boundary=b"})
    urllib.request.urlopen(request, timeout=60).read()
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        return answer.read().decode()


def names(text):
    return {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line and not line.startswith("#")}


def alerts():
    return [rule for group in yaml.safe_load((DEPLOY / "monitoring/alerts.yaml").read_text())["groups"] for rule in group["rules"]]


def expressions():
    for rule in alerts():
        yield rule["alert"], rule["expr"]
    dashboard = json.loads((DEPLOY / "monitoring/grafana.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]


def test_every_metric_that_is_watched_is_shown(shown):
    there = names(shown)
    for where, expression in expressions():
        missing = set(METRIC.findall(expression)) - there
        assert not missing, f"{where} asks for {missing}"


def test_every_label_that_is_asked_for_is_shown(shown):
    for where, expression in expressions():
        for metric, inside in re.findall(r"(sauti_[a-z_]+)\{([^}]*)\}", expression):
            lines = [line for line in shown.splitlines() if line.startswith(metric + "{") or line.startswith(metric + " ")]
            for label in set(re.findall(r"(\w+)\s*[=!]~?", inside)) - {"instance", "job"}:
                assert any(f'{label}="' in line for line in lines), f"{where}: {metric} has no label {label}"


def test_every_metric_is_described_in_the_operators_page(shown):
    described = set(METRIC.findall((ROOT / "docs/OPERATIONS.md").read_text()))
    for name in names(shown):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        assert name in described or base in described, f"{name} is not in docs/OPERATIONS.md"


def test_prometheus_takes_the_rules():
    done = subprocess.run(["promtool", "check", "rules", DEPLOY / "monitoring/alerts.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for rule in alerts():
        assert {"summary", "action"} <= set(rule["annotations"]), rule["alert"]
