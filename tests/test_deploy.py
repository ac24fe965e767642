"""What `deploy/` names is there: files, ports, settings, commands and metrics.

No engine of containers and no cluster is needed. What a tool of its own must judge is skipped where
the tool is missing; promtool and hadolint must be there on CI.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import kubernetes_validate
import pytest
import typer
import yaml

from stream_dedup import __version__
from stream_dedup.cli.app import app
from stream_dedup.config import Settings
from stream_dedup.metrics import METRICS
from stream_dedup.overrides import load
from stream_dedup.quantities import Size
from tests.deployment import (
    ALERTS,
    DASHBOARD,
    DEPLOY,
    ROOT,
    RULES,
    exposed,
    names_in,
    output,
    panel_expressions,
    tool,
)

KUBERNETES = DEPLOY / "kubernetes"
YAML = sorted(DEPLOY.glob("**/*.y*ml"))
JSON = sorted(DEPLOY.glob("**/*.json"))
# What the command line raises; typer brings click under a name of its own.
USAGE_ERROR = typer.BadParameter.__base__ or Exception
OPEN_PATHS = {"/livez", "/readyz", "/metrics"}
# The oldest that the project supports still, and the newest that the schemas are there for.
KUBERNETES_VERSIONS = ("1.30", kubernetes_validate.latest_version())
PROCESS_BYTES = 300 * 1024**2  # beside index.memory_bytes_max
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
UNIT = (DEPLOY / "systemd" / "stream-dedup.service").read_text(encoding="utf-8")

# Metrics that no panel shows, and why.
NOT_ON_THE_DASHBOARD = {
    "stream_dedup_log_purged_offset": "an offset alone says nothing; the window is shown in time",
}


@cache
def manifests() -> list[dict[str, Any]]:
    """Return all objects of the base, as they are written."""
    names = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    texts = ((KUBERNETES / name).read_text(encoding="utf-8") for name in names)
    return [found for text in texts for found in yaml.safe_load_all(text)]


def objects(kind: str) -> dict[str, dict[str, Any]]:
    """Return the objects of a kind, by name."""
    return {found["metadata"]["name"]: found for found in manifests() if found["kind"] == kind}


def pods() -> dict[str, dict[str, Any]]:
    """Return what pods are made of, by role."""
    found = {**objects("StatefulSet"), **objects("Deployment")}
    return {name: controller["spec"]["template"] for name, controller in found.items()}


def container(role: str) -> dict[str, Any]:
    """Return the one container of a pod."""
    (only,) = pods()[role]["spec"]["containers"]
    return dict(only)


def settings_of(environment: Mapping[str, str], path: Path | None = None) -> Settings:
    """Load settings as the service does: an unknown name is an error."""
    return load(path, environment).settings


def cluster_settings(role: str) -> Settings:
    """Load what the service has in a pod."""
    given = {entry["name"]: entry.get("value", "text") for entry in container(role)["env"]}
    return settings_of(image_environment() | given, KUBERNETES / "stream-dedup.toml")


def image_environment() -> dict[str, str]:
    """Return the environment of the image that runs."""
    last = DOCKERFILE.rpartition("\nFROM ")[2].replace("\\\n", " ")
    lines = re.findall(r"^ENV (.+)$", last, re.MULTILINE)
    return dict(word.split("=", 1) for line in lines for word in shlex.split(line))


def check_command(words: list[str]) -> None:
    """Read a command as the command line does, and run nothing; a wrong one raises."""
    command: Any = typer.main.get_command(app)
    context = None
    while hasattr(command, "resolve_command"):
        context = command.make_context("stream-dedup", [*words], parent=context)
        _, command, words = command.resolve_command(context, words)
    command.make_context("stream-dedup", list(words), parent=context)


def in_place(words: list[str]) -> list[str]:
    """Name the file of settings where it lies here."""
    path = str(KUBERNETES / "stream-dedup.toml")
    return [path if word.startswith("/etc/stream-dedup/") else word for word in words]


@pytest.mark.parametrize("path", [*YAML, *JSON], ids=lambda path: str(path.relative_to(DEPLOY)))
def test_a_file_can_be_read(path: Path) -> None:
    """Every YAML and JSON file is one, and says something."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        assert json.loads(text)
    else:
        assert any(yaml.safe_load_all(text))


# The image.


def test_the_dockerfile_is_without_reproach() -> None:
    """Hadolint has nothing to say of the Dockerfile."""
    output(tool("hadolint"), DEPLOY / "Dockerfile")


def test_the_image_is_made_of_files_that_are_there() -> None:
    """What is copied from the repository exists, and .dockerignore lets it through, no more."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    files = {name for line in copied for name in line.split()}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    assert [name for name in files if not (ROOT / name).exists()] == []
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == files
    assert "*" in ignored


def test_the_image_runs_without_rights() -> None:
    """A user by number, known to the manifests; constraints; a check of its own on /livez.

    Nobody installs anything into a container: what a setting needs is there.
    """
    user = re.search(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)
    context = pods()["match"]["spec"]["securityContext"]
    health = re.search(r"^HEALTHCHECK (?:.*\\\n)*.*CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)

    assert user
    assert (int(user[1]), int(user[2])) == (context["runAsUser"], context["runAsGroup"])
    assert context["fsGroup"] == context["runAsGroup"]
    assert len(re.findall(r"pip install (.*)", DOCKERFILE)) == 2
    assert all("-c constraints.txt" in line for line in re.findall(r"pip install .*", DOCKERFILE))
    assert '.whl)[tracing]"' in DOCKERFILE, "tracing.endpoint is a setting of the image too"
    assert health
    program, flag, check = json.loads(health[1])
    assert (program, flag) == ("python", "-c")
    assert "/livez" in check
    compile(check, "HEALTHCHECK", "exec")
    assert str(Settings().http.port) in check
    assert re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.M) == [str(Settings().http.port)]


def test_the_image_has_settings_of_its_own_that_exist() -> None:
    """The environment of the image names settings, and the index is on its volume."""
    settings = settings_of(image_environment())
    volume = re.findall(r"^VOLUME (.+)$", DOCKERFILE, re.MULTILINE)

    assert [settings.index.directory.startswith(f"{path}/") for path in volume] == [True]


def test_every_demo_that_warms_the_cache_is_a_command() -> None:
    """The kernels of the image are compiled by commands that exist, with settings that exist."""
    loop = re.search(r"for setting in (.+?); do .*?stream-dedup (.+?) >", DOCKERFILE, re.DOTALL)

    assert loop
    for setting in loop[1].replace("\\", " ").split():
        check_command(shlex.split(loop[2].replace("$setting", setting)))
        key, value = setting.split("=")
        section, name = key.split(".")
        assert str(getattr(getattr(load(None, {}, [setting]).settings, section), name)) == value


def test_compiled_kernels_are_found_where_they_may_be_written(tmp_path: Path) -> None:
    """The entry point gives numba the kernels of the image in a place of its own."""
    baked, taken = tmp_path / "baked", tmp_path / "user" / "kernels"
    program = (
        "import numpy; from stream_dedup.similarity import compiled;"
        "compiled.mix64(numpy.uint64(1)); stats = compiled.mix64.stats;"
        "print(compiled._CACHE_DIRECTORY, sum(stats.cache_hits.values()))"
    )

    def run(*entry: Path, **environment: str) -> str:
        command = [*map(str, entry), sys.executable, "-c", program]
        given = os.environ | environment | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=given,
            text=True,
            timeout=60,
            check=True,
        ).stdout

    entry = DEPLOY / "entrypoint.sh"
    assert run(NUMBA_CACHE_DIR=str(baked)).endswith(" 0\n")
    said = run(entry, STREAM_DEDUP_KERNELS=str(baked), NUMBA_CACHE_DIR=str(taken))
    assert said.endswith(" 1\n")
    assert said.startswith(str(taken))


# Compose.


def test_compose_names_files_and_volumes_that_are_there() -> None:
    """Whatever is mounted exists, and lies where the program in the container looks for it."""
    for name, service in COMPOSE["services"].items():
        for mount in service.get("volumes", []):
            source = mount.split(":")[0]
            there = (DEPLOY / source).exists() if source[0] == "." else source in COMPOSE["volumes"]
            assert there, (name, mount)
        for config in service.get("configs", []):
            assert config["source"] in COMPOSE["configs"]
        for other in service.get("depends_on", []):
            assert other in COMPOSE["services"]
    build = COMPOSE["x-service"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).exists()


def test_compose_gives_settings_that_exist() -> None:
    """The service finds the broker, its token and its volume, and answers on the port published."""
    service = COMPOSE["services"]["stream-dedup"]
    settings = settings_of(image_environment() | service["environment"])

    assert settings.kafka.bootstrap_servers in listeners(COMPOSE["services"]["kafka"])
    assert settings.http.allow_open, "no token, so only to this machine"
    assert service["ports"] == [f"127.0.0.1:{settings.http.port}:{settings.http.port}"]
    assert settings.index.directory.startswith(service["volumes"][0].split(":")[1])
    assert seconds(service["stop_grace_period"]) > settings.kafka.shutdown_timeout_seconds


def listeners(kafka: Mapping[str, Any]) -> list[str]:
    """Return the addresses a broker is known under."""
    advertised = kafka["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    return [address.partition("://")[2] for address in advertised.split(",")]


def seconds(text: str) -> int:
    """Read a time as compose and systemd write it."""
    assert text.endswith("s"), text
    return int(text[:-1])


def test_compose_runs_the_broker_that_is_tested() -> None:
    """The image has the version that the tests run with."""
    version = ElementTree.parse(DEPLOY / "kafka-local" / "pom.xml").findtext("version")

    assert COMPOSE["services"]["kafka"]["image"] == f"apache/kafka:{version}"


def test_the_producer_of_compose_takes_its_arguments() -> None:
    """The demo producer understands what compose gives it, and writes to the broker there is."""
    producer = COMPOSE["services"]["producer"]
    program = ROOT / "deploy" / Path(producer["entrypoint"][1]).name
    arguments = producer["command"]

    assert arguments[arguments.index("--bootstrap-servers") + 1] in listeners(
        COMPOSE["services"]["kafka"]
    )
    assert f"/opt/stream-dedup/{program.name}" == producer["entrypoint"][1]
    usage = output(sys.executable, program, *arguments, "--help")
    assert all(word in usage for word in arguments if word.startswith("--"))


def test_prometheus_and_grafana_of_compose_find_each_other() -> None:
    """Prometheus scrapes the service's port, and Grafana asks Prometheus and has the dashboard."""
    scrape = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (job,) = scrape["scrape_configs"]
    folder = DEPLOY / "grafana" / "provisioning"
    (source,) = yaml.safe_load((folder / "datasources" / "prometheus.yml").read_text())[
        "datasources"
    ]
    (board,) = yaml.safe_load((folder / "dashboards" / "stream-dedup.yml").read_text())["providers"]
    port = COMPOSE["services"]["stream-dedup"]["environment"]["STREAM_DEDUP_HTTP__PORT"]

    assert job["static_configs"] == [{"targets": [f"stream-dedup:{port}"]}]
    assert source["url"] == "http://prometheus:9090"
    assert source["jsonData"]["timeInterval"] == scrape["global"]["scrape_interval"]
    mounts = [mount.split(":")[1] for mount in COMPOSE["services"]["grafana"]["volumes"]]
    assert f"{board['options']['path']}/dashboard.json" in mounts


# Kubernetes.


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_manifests_keep_the_schemas_of_kubernetes(version: str) -> None:
    """Every object is as its schema says, without a field that the schema does not know."""
    found = [one for one in manifests() if not one["apiVersion"].startswith("monitoring.")]
    found.append(yaml.safe_load((KUBERNETES / "secret.example.yaml").read_text()))

    assert len(found) >= 9
    for manifest in found:
        kubernetes_validate.validate(manifest, version, strict=True)


def test_what_the_prometheus_operator_reads_has_its_fields() -> None:
    """No index has the operator's schemas: fields are held against those of its API that we use.

    The rules themselves are those that promtool reads.
    """
    (monitor,) = objects("ServiceMonitor").values()
    (rule,) = objects("PrometheusRule").values()
    (endpoint,) = monitor["spec"]["endpoints"]
    (relabeling,) = endpoint["relabelings"]

    assert set(monitor["spec"]) == {"jobLabel", "selector", "endpoints"}
    assert set(monitor["spec"]["selector"]) == {"matchLabels", "matchExpressions"}
    assert set(endpoint) == {"port", "path", "interval", "relabelings"}
    assert re.fullmatch(r"\d+s", endpoint["interval"])
    assert set(relabeling) == {"sourceLabels", "targetLabel"}
    assert set(rule["spec"]) == {"groups"}
    assert {monitor["apiVersion"], rule["apiVersion"]} == {"monitoring.coreos.com/v1"}


def test_a_wrong_manifest_is_seen() -> None:
    """A misspelt field fails."""
    stateful = deepcopy(objects("StatefulSet")["match"])
    stateful["spec"]["podManagmentPolicy"] = "Parallel"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(stateful, KUBERNETES_VERSIONS[0], strict=True)


def test_the_base_names_files_settings_and_image() -> None:
    """The kustomization has every file of the folder, and pods use what it makes."""
    base = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    (settings,), (image,) = base["configMapGenerator"], base["images"]
    named = {*base["resources"], *settings["files"], "kustomization.yaml", "secret.example.yaml"}

    assert {path.name for path in KUBERNETES.iterdir()} == named
    assert image["newTag"] == __version__
    for role, pod in pods().items():
        (volume,) = (one for one in pod["spec"]["volumes"] if one["name"] == "settings")
        assert volume["configMap"]["name"] == settings["name"]
        assert container(role)["image"] == image["name"] == COMPOSE["x-service"]["image"]


def test_kustomize_builds_the_base() -> None:
    """Kustomize takes the base and gives the settings to the pods, under a name with a hash."""
    built = list(
        yaml.safe_load_all(output(tool("kubectl", is_optional=True), "kustomize", KUBERNETES))
    )
    (settings,) = (one for one in built if one["kind"] == "ConfigMap")

    assert len(built) == len(manifests()) + 1
    assert settings["metadata"]["name"] != "stream-dedup"
    assert tomllib.loads(settings["data"]["stream-dedup.toml"])
    assert json.dumps(built).count(f'"{settings["metadata"]["name"]}"') == 3


@pytest.mark.parametrize("role", ["match", "sign"])
def test_a_pod_runs_a_command_with_settings_that_exist(role: str) -> None:
    """The arguments are those of `run`, and files are mounted where the settings say.

    Sign has no index, and yet writes beside it what it tries: that has to outlive the container.
    """
    pod = container(role)
    settings = cluster_settings(role)
    mounts = {mount["name"]: mount["mountPath"] for mount in pod["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pods()[role]["spec"]["volumes"]}
    secrets = {item["path"] for item in volumes["secrets"]["secret"]["items"]}

    check_command(in_place(pod["args"]))
    assert pod["args"][:3] == ["run", "--role", role]
    assert pod["args"][-1] == f"{mounts['settings']}/stream-dedup.toml"
    assert settings.kafka.client["sasl.username"] == "text"
    for path in (settings.http.token_file, str(settings.kafka.client["ssl.ca.location"])):
        folder, _, name = path.rpartition("/")
        assert (folder, name in secrets) == (mounts["secrets"], True)
    assert str(Path(settings.index.directory).parent) in mounts.values()
    assert image_environment()["NUMBA_CACHE_DIR"].startswith(mounts["tmp"])


def test_the_secret_has_every_key_that_is_used() -> None:
    """The example of the Secret names what pods take from it, nothing else."""
    example = yaml.safe_load((KUBERNETES / "secret.example.yaml").read_text())
    used = set()
    for role in pods():
        for entry in container(role)["env"]:
            if "secretKeyRef" in entry["valueFrom"]:
                reference = entry["valueFrom"]["secretKeyRef"]
                assert reference["name"] == example["metadata"]["name"]
                used.add(reference["key"])
        for volume in pods()[role]["spec"]["volumes"]:
            used |= {item["key"] for item in volume.get("secret", {}).get("items", [])}

    assert used == set(example["stringData"])


@pytest.mark.parametrize("role", ["match", "sign"])
def test_a_process_is_named_after_its_pod(role: str) -> None:
    """`kafka.instance` differs from pod to pod: two of one name would fence each other off."""
    (instance,) = (
        entry for entry in container(role)["env"] if entry["name"] == "STREAM_DEDUP_KAFKA__INSTANCE"
    )

    assert instance["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}


@pytest.mark.parametrize("role", ["match", "sign"])
def test_probes_ask_what_is_served(role: str) -> None:
    """Liveness asks /livez and readiness /readyz, on the port that the settings name."""
    pod = container(role)
    (port,) = pod["ports"]
    asked = {
        probe: pod[f"{probe}Probe"]["httpGet"]["path"]
        for probe in ("startup", "liveness", "readiness")
    }

    assert port["containerPort"] == cluster_settings(role).http.port
    assert asked == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}
    assert {pod[f"{probe}Probe"]["httpGet"]["port"] for probe in asked} == {port["name"]}


@pytest.mark.parametrize("role", ["match", "sign"])
def test_a_pod_stops_in_time_and_has_room(role: str) -> None:
    """It is not killed while it stops, and its memory holds what the settings allow."""
    settings = cluster_settings(role)
    requests = container(role)["resources"]["requests"]
    index = settings.index.memory_bytes_max if role == "match" else 0

    grace = pods()[role]["spec"]["terminationGracePeriodSeconds"]
    assert grace > settings.kafka.shutdown_timeout_seconds
    assert Size.parse(f"{requests['memory']}B") >= index + PROCESS_BYTES
    assert "cpu" not in container(role)["resources"]["limits"]


@pytest.mark.parametrize("role", ["match", "sign"])
def test_a_pod_keeps_the_restricted_standard(role: str) -> None:
    """Pods pass the restricted security standard of Kubernetes, with a read-only root."""
    pod, own = pods()[role]["spec"]["securityContext"], container(role)["securityContext"]

    assert pod["runAsNonRoot"]
    assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not pods()[role]["spec"]["automountServiceAccountToken"]


def test_selectors_select_what_there_is() -> None:
    """Services, budgets, the policy and the monitor choose pods and services that exist."""
    labels = [pod["metadata"]["labels"] for pod in pods().values()]
    ports = {port["name"] for role in pods() for port in container(role)["ports"]}
    chosen = [service["spec"]["selector"] for service in objects("Service").values()]
    chosen += [
        one["spec"]["selector"]["matchLabels"] for one in objects("PodDisruptionBudget").values()
    ]
    chosen += [
        one["spec"]["podSelector"]["matchLabels"] for one in objects("NetworkPolicy").values()
    ]

    assert len(chosen) == 6
    for selector in chosen:
        assert any(selector.items() <= found.items() for found in labels), selector
    for service in objects("Service").values():
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    (match,) = objects("StatefulSet").values()
    assert match["spec"]["serviceName"] in objects("Service")


def test_each_pod_is_scraped_once() -> None:
    """The monitor chooses the headless services and names the job as the alerts do."""
    (monitor,) = (one["spec"] for one in objects("ServiceMonitor").values())
    (condition,) = monitor["selector"]["matchExpressions"]
    services = {name: one["metadata"]["labels"] for name, one in objects("Service").items()}
    scraped = {
        name for name, own in services.items() if own[condition["key"]] in condition["values"]
    }
    jobs = {services[name][monitor["jobLabel"]] for name in scraped}
    (endpoint,) = monitor["endpoints"]

    assert scraped == set(pods())
    assert jobs == set(re.findall(r'job="([\w-]+)"', json.dumps(RULES).replace("\\", "")))
    assert endpoint["path"] in OPEN_PATHS
    for name in scraped:
        assert endpoint["port"] in {
            port["name"] for port in objects("Service")[name]["spec"]["ports"]
        }


def test_the_policy_lets_through_what_is_needed() -> None:
    """In to the port of HTTP, out to the port of the broker."""
    (policy,) = (one["spec"] for one in objects("NetworkPolicy").values())
    broker = cluster_settings("match").kafka.bootstrap_servers.rpartition(":")[2]

    assert [port["port"] for rule in policy["ingress"] for port in rule["ports"]] == ["http"]
    assert int(broker) in [port["port"] for rule in policy["egress"] for port in rule["ports"]]


# systemd.


def unit(name: str) -> list[str]:
    """Return what the unit says under a name."""
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


def test_the_unit_runs_a_command_with_settings_that_exist() -> None:
    """Arguments and environment are those of the service, and it has time to stop."""
    (command,) = unit("ExecStart")
    given = dict(entry.split("=", 1) for entry in unit("Environment"))
    (timeout,) = unit("TimeoutStopSec")
    settings = settings_of(given)
    (memory,) = unit("MemoryHigh")

    check_command(in_place(shlex.split(command)[1:]))
    assert settings.index.directory == f"%S/{unit('StateDirectory')[0]}/index"
    assert settings.http.token_file == f"%d/{unit('LoadCredential')[0].partition(':')[0]}"
    assert seconds(timeout) > settings.kafka.shutdown_timeout_seconds
    assert Size.parse(f"{memory}iB") >= settings.index.memory_bytes_max + PROCESS_BYTES


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """Systemd finds nothing wrong with the unit, and little that it is exposed to."""
    program = tool("systemd-analyze", is_optional=True)
    path = tmp_path / "stream-dedup.service"
    (command,) = unit("ExecStart")
    path.write_text(UNIT.replace(command.split()[0], tool("stream-dedup")), encoding="utf-8")

    assert output(program, "verify", path) == ""
    output(program, "security", "--offline=yes", "--threshold=15", path)


# Prometheus and Grafana.


def questions() -> list[str]:
    """Return all that Prometheus is asked, by the dashboard and by the alerts."""
    chosen = [one["query"] for one in DASHBOARD["templating"]["list"]]
    return [*chosen, *panel_expressions(), *(rule["expr"] for rule in RULES)]


def test_dashboard_and_alerts_name_metrics_that_exist() -> None:
    """Every name is that of a metric, with the suffix of its kind."""
    named = [names_in(text) for text in questions()]

    assert set().union(*named) - set(exposed()) == set()


def test_every_metric_is_on_the_dashboard_or_left_out_on_purpose() -> None:
    """No metric is forgotten, and what is left out is not shown."""
    shown = {exposed()[name] for text in panel_expressions() for name in names_in(text)}

    assert {metric.name for metric in METRICS} - shown == set(NOT_ON_THE_DASHBOARD)


def test_labels_are_those_of_the_metrics() -> None:
    """What is chosen or grouped by is a label of the metric, or one that Prometheus adds."""
    labels = {metric.name: set(metric.labels) for metric in METRICS}
    added = {"job", "instance", "namespace", "le"}
    for text in questions():
        known = set().union(added, *(labels[exposed()[name]] for name in names_in(text)))
        used = {
            name for group in re.findall(r"\bby \(([^)]*)\)", text) for name in group.split(", ")
        }
        used |= set(re.findall(r"(\w+)=~?\"", text))
        assert used <= known, text


def test_the_dashboard_is_what_its_panels_say(tmp_path: Path) -> None:
    """The file that Grafana reads is what the script makes of panels.yaml."""
    folder = shutil.copytree(DEPLOY / "grafana", tmp_path / "grafana")
    (folder / "dashboard.json").unlink()

    output(sys.executable, folder / "dashboard.py")

    assert json.loads((folder / "dashboard.json").read_text(encoding="utf-8")) == DASHBOARD


def test_panels_lie_beside_each_other() -> None:
    """Rows are those an operator looks for; no panel covers another, and each is explained."""
    rows = [panel["title"] for panel in DASHBOARD["panels"] if panel["type"] == "row"]
    covered: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & covered
        assert max(x for x, _ in cells) < 24
        covered |= cells
        assert panel["type"] == "row" or (panel["description"] and panel["targets"])

    assert rows == ["Traffic", "Quality", "Latency and lag", "Index", "Kafka", "Host"]
    identities = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(identities)) == len(identities)


def test_the_rules_of_the_operator_are_those_of_prometheus() -> None:
    """What the cluster watches is what promtool tested."""
    (rule,) = objects("PrometheusRule").values()

    assert rule["spec"] == ALERTS


def test_promtool_takes_the_configuration() -> None:
    """Prometheus' own tool finds configuration and rules in order."""
    folder = DEPLOY / "prometheus"

    assert f"{len(RULES)} rules found" in output(
        tool("promtool"), "check", "rules", folder / "alerts.yml"
    )
    output(tool("promtool"), "check", "config", folder / "prometheus.yml")


def test_each_alert_fires_where_it_should_and_nowhere_else() -> None:
    """The scenarios hold: each alert fires in one, and not for what only looks like it."""
    path = DEPLOY / "prometheus" / "alerts_test.yml"
    output(tool("promtool"), "test", "rules", path)
    fires: set[str] = set()
    series: dict[str, int] = {}
    for scenario in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
        for check in scenario["alert_rule_test"]:
            name = check["alertname"]
            series[name] = series.get(name, 0) + len(scenario["input_series"])
            fires |= {name} if check.get("exp_alerts") else set()

    assert fires == {rule["alert"] for rule in RULES}
    assert min(series.values()) >= 2, series


def test_each_alert_has_its_page_in_the_runbook() -> None:
    """An alert links to a heading of the runbook, which says what it means and what to do."""
    text = (DEPLOY / "RUNBOOK.md").read_text(encoding="utf-8")
    pages = {
        page.split("\n", 1)[0].lower(): page for page in re.split(r"^## ", text, flags=re.M)[1:]
    }

    assert set(pages) == {rule["alert"].lower() for rule in RULES}
    for rule in RULES:
        document, _, anchor = rule["annotations"]["runbook_url"].rpartition("#")
        assert (DEPLOY / document).exists()
        assert anchor == rule["alert"].lower()
        assert all(part in pages[anchor] for part in ("**It means**", "**Look at**", "**Do**")), (
            anchor
        )


# Documents.


@pytest.mark.parametrize("name", ["README.md", "RUNBOOK.md"])
def test_a_document_names_what_exists(name: str, tmp_path: Path) -> None:
    """Links lead to files, commands are read by the command line, settings are settings."""
    text = (DEPLOY / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)", text)
    commands = re.findall(r"^(?:kubectl exec \S+ -- )?stream-dedup (.+)$", text, re.MULTILINE)
    commands += re.findall(r"docker run --rm stream-dedup (.+)$", text, re.MULTILINE)
    settings = re.findall(
        r"`((?:similarity|events|index|matching|kafka|http|log)\.[a-z_]+)\b", text
    )

    assert [link for link in links if not (DEPLOY / link).exists()] == []
    assert commands
    assert settings
    for command in commands:
        check_command(in_place(shlex.split(command)))
    for setting in settings:
        section, key = setting.split(".")
        assert hasattr(getattr(Settings(), section), key), setting
    for block in re.findall(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        (tmp_path / "settings.toml").write_text(block, encoding="utf-8")
        settings_of({}, tmp_path / "settings.toml")


def test_a_document_names_panels_that_exist() -> None:
    """What the runbook sends an operator to look at is on the dashboard."""
    text = (DEPLOY / "RUNBOOK.md").read_text(encoding="utf-8")
    titles = {panel["title"] for panel in DASHBOARD["panels"]}
    named = {
        re.sub(r"\s+", " ", words)
        for words in re.findall(r"(?<![*\w])\*([A-Z][^*]+)\*(?!\*)", text)
    }

    assert named
    assert named - titles == set()


@pytest.mark.parametrize(
    "words",
    [["run", "--roll", "match"], ["index", "stats"], ["topics", "plan", "--comands"], ["check"]],
)
def test_a_wrong_command_is_seen(words: list[str]) -> None:
    """What the command line would refuse is refused here."""
    with pytest.raises(USAGE_ERROR):
        check_command(words)
