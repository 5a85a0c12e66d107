"""What node-health reads of a machine: trees of files stand for /proc and /sys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from runner.contract.health import CHECKS_OF
from runner.endings import CannotRun
from runner.executors.node_health import PROBES, WATCHES, answer, look
from runner.probes import (
    boot_log,
    counters,
    devices,
    filesystems,
    kernel_log,
    node,
    processes,
    processors,
    settings,
    tools,
)
from runner.probes.node import Node
from runner.tests.given import workspace_in, write_tool

Machine = Callable[[Mapping[str, str]], Node]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """Make a machine of which these files can be read."""
    work = tmp_path / "work"
    work.mkdir()
    workspace = workspace_in(work)

    def make(files: Mapping[str, str]) -> Node:
        for name, text in files.items():
            (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "root" / name).write_text(text)
        return Node(tmp_path / "root", workspace, filesystems=("/tmp",))

    yield make
    workspace.close()


def change(looked_at: Node, name: str, text: str) -> None:
    (looked_at.root / name).write_text(text)


def test_every_section_has_one_way_to_be_read() -> None:
    ways = [*WATCHES, *PROBES, *tools.COMMANDS]

    assert sorted(ways) == sorted(CHECKS_OF)


PORT = "sys/class/infiniband/mlx5_0/ports/1"
COUNTERS = {f"{PORT}/counters/{name}": "3\n" for name in counters.RDMA_COUNTERS}


def test_counters_of_a_port_are_read_at_both_ends(machine: Machine) -> None:
    port = machine(COUNTERS)

    end = counters.watch_rdma(port)
    change(port, f"{PORT}/counters/symbol_error", "8\n")
    found = end()

    assert found["before"]["mlx5_0/ports/1"]["symbol_error"] == 3
    assert found["after"]["mlx5_0/ports/1"]["symbol_error"] == 8


@pytest.mark.parametrize("text", ["", "many\n"])
def test_a_counter_that_is_no_number_is_an_error(machine: Machine, text: str) -> None:
    port = machine({**COUNTERS, f"{PORT}/counters/symbol_error": text})

    with pytest.raises(CannotRun, match="holds no whole number"):
        counters.watch_rdma(port)


@pytest.mark.parametrize(
    ("watch", "words"),
    [
        (counters.watch_rdma, "there is no RDMA port below"),
        (counters.watch_memory, "load the EDAC driver"),
        (counters.watch_network, "there is no network device below"),
        (processes.watch, "lists no process"),
        (processors.sockets, "do not tell their socket"),
        (processors.cores, "do not tell their siblings"),
        (processors.clocks, "cpuinfo cannot be read"),
        (processors.governors, "has a frequency governor"),
        (processors.clock_source, "current_clocksource cannot be read"),
        (settings.arrays, "mdstat cannot be read"),
        (settings.free_blocks, "buddyinfo cannot be read"),
        (settings.kernel, "osrelease cannot be read"),
        (settings.iommu, "sys/kernel cannot be read"),
        (devices.bios, "bios_vendor cannot be read"),
        (devices.network_settings, "is up"),
        (devices.nvme_drives, "sys/class cannot be read"),
        (devices.amd_ras, "there is no GPU of AMD below"),
        (tools.ask_mlxlink, "there is no RDMA device below"),
        (tools.ask_nvme, "there is no NVMe drive below"),
        (tools.ask_supplicants, "there is no interface named rdma"),
        (tools.ask_last, "uptime cannot be read"),
    ],
)
def test_what_is_not_there_is_an_error_and_not_nothing(
    machine: Machine, watch: object, words: str
) -> None:
    bare = machine({})

    found = answer(lambda: watch(bare))  # type: ignore[operator]

    assert words in found["error"]


def test_memory_controllers_tell_both_kinds_of_errors(machine: Machine) -> None:
    edac = "sys/devices/system/edac/mc/mc0"
    board = machine({f"{edac}/ue_count": "0\n", f"{edac}/ce_count": "4\n"})

    assert counters.watch_memory(board)()["after"] == {"mc0": {"ue_count": 0, "ce_count": 4}}


def interface(name: str, *, device: bool = True) -> dict[str, str]:
    files = {"flags": "0x1003\n", "operstate": "up\n", "carrier_down_count": "2\n"}
    files |= {"device/vendor": "0x15b3\n"} if device else {}
    return {f"sys/class/net/{name}/{file}": text for file, text in files.items()}


def test_only_interfaces_with_a_device_behind_them_have_a_cable(machine: Machine) -> None:
    links = machine({**interface("eth0"), **interface("br0", device=False)})

    found = counters.watch_network(links)()["after"]

    assert found == {"eth0": {"flags": 0x1003, "state": "up", "carrier_down_count": 2}}


def test_sockets_governors_and_clock_are_read(machine: Machine) -> None:
    cpus = "sys/devices/system/cpu"
    seated = {f"{cpus}/cpu{at}/topology/physical_package_id": f"{at % 2}\n" for at in range(4)}
    clocked = {f"{cpus}/cpu1/cpufreq/scaling_governor": "powersave\n"}
    board = machine({**seated, **clocked, processors.CLOCK_SOURCE: "tsc\n"})

    assert processors.sockets(board) == {"count": 2}
    assert processors.governors(board) == {"cpu1": "powersave"}
    assert processors.clock_source(board) == {"name": "tsc"}


def test_settings_are_read_as_the_kernel_writes_them(machine: Machine) -> None:
    zone = "Node 0, zone   Normal      1      1      1      0      2      1      1      0      1"
    kernel = machine(
        {
            "proc/buddyinfo": f"{zone}      1      3\n{zone}      0      4\n",
            "proc/swaps": "Filename  Type  Size\n/swapfile file 1\n",
            "proc/modules": "ext4 1 0 - Live 0x0\ngdrdrv 2 0 - Live 0x0\n",
            "proc/sys/kernel/numa_balancing": "1\n",
            "proc/uptime": "12.5 3.2\n",
        },
    )

    assert settings.free_blocks(kernel) == {"count": 8}
    assert settings.swap(kernel) == {"devices": ["/swapfile"]}
    assert settings.modules(kernel) == {"loaded": ["ext4", "gdrdrv"]}
    assert settings.numa_balancing(kernel) == {"count": 1}
    assert settings.uptime(kernel) == {"text": "12.5 3.2\n"}


def test_limits_of_the_job_itself_are_told(machine: Machine) -> None:
    here = machine({})

    assert set(settings.locked_memory(here)) == {"limit_bytes"}
    assert settings.shared_memory(here)["bytes"] > 0


def test_drives_are_listed_with_their_state(machine: Machine) -> None:
    told = {"state": "live\n", "model": "P5520  \n", "firmware_rev": "9CV10200\n"}
    drive = {f"sys/class/nvme/nvme0/{word}": text for word, text in told.items()}

    found = devices.nvme_drives(machine(drive))

    assert found == {"nvme0": {"state": "live", "model": "P5520", "firmware_rev": "9CV10200"}}


def test_a_kernel_without_nvme_has_no_drives(machine: Machine) -> None:
    assert devices.nvme_drives(machine({"sys/class/net/lo/mtu": "1"})) == {}


def test_counts_of_an_amd_gpu_are_passed_on_in_the_drivers_words(machine: Machine) -> None:
    card = "sys/class/drm/card1/device"
    files = {
        f"{card}/vendor": "0x1002\n",
        f"{card}/ras/umc_err_count": "ue: 0\nce: 2\n",
        f"{card}/ras/gpu_vram_bad_pages": "",
        "sys/class/drm/card0/device/vendor": "0x1a03\n",  # the board's own display
    }

    found = devices.amd_ras(machine(files))

    assert found == {"card1": {"blocks": {"umc": "ue: 0\nce: 2\n"}, "bad_pages": ""}}


def process(pid: int, state: str, started: int) -> dict[str, str]:
    rest = " ".join(str(number) for number in range(4, 22))
    return {f"proc/{pid}/stat": f"{pid} (a (b) c) {state} {rest} {started} 0\n"}


def test_only_what_is_stuck_at_both_ends_is_stuck(machine: Machine) -> None:
    kernel = machine({**process(7, "D", 100), **process(8, "Z", 100), **process(9, "R", 100)})

    end = processes.watch(kernel)
    change(kernel, "proc/8/stat", process(8, "D", 200)["proc/8/stat"])  # the pid came back
    change(kernel, "proc/9/stat", process(9, "D", 100)["proc/9/stat"])

    assert end() == {"processes": ["a (b) c (pid 7, state D)"]}


def test_a_tools_output_is_kept_whatever_its_exit(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "ibstat", "echo output; echo trouble >&2; exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    host = machine({})

    found = tools.ask(host, "rdma_ports")

    assert found == {"exit_code": 3, "hung_s": None, "words": "trouble"}
    assert (tmp_path / "work/results/rdma_ports.txt").read_text() == "output\n"


def test_a_tool_that_hangs_is_ended_and_that_is_a_finding(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "nvidia-smi", "exec sleep 1000")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setattr(node, "ANSWER_S", 0.1)

    found = tools.ask(machine({}), "nvidia_smi")

    assert 0.1 <= found["hung_s"] < 60


def test_a_missing_tool_is_named_for_its_own_check_only(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/none")
    host = machine({"proc/uptime": "1.0 1.0\n"})

    found = look(host, {"nvidia_smi_growth", "nvidia_smi", "uptime"}, 0)

    assert found["uptime"] == {"text": "1.0 1.0\n"}
    for section in ("nvidia_smi", "nvidia_smi_growth"):
        assert found[section]["error"].startswith("nvidia-smi is not installed on node n1")


def test_every_rdma_device_is_asked_for_its_signal(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "mlxlink", 'echo "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")

    found = tools.ask_mlxlink(machine(COUNTERS))

    assert found["mlx5_0"]["exit_code"] == 0
    report = tmp_path / "work/results/rdma_signal-mlx5_0.txt"
    assert report.read_text() == "-d mlx5_0 -m -c -e\n"


def test_what_a_machine_started_with_is_read_as_the_kernel_writes_it(machine: Machine) -> None:
    cpu = "sys/devices/system/cpu"
    started = machine(
        {
            "proc/sys/kernel/osrelease": "6.1.0-13-amd64\n",
            "proc/cmdline": "root=/dev/sda quiet intel_iommu=on iommu=pt\n",
            "proc/cpuinfo": "processor : 0\ncpu MHz\t\t: 1996.248\n",
            "sys/kernel/iommu_groups/0/type": "identity\n",
            "sys/class/dmi/id/bios_vendor": "Dell Inc.\n",
            "sys/class/dmi/id/bios_version": "2.5.6\n",
            "sys/class/dmi/id/bios_date": "10/01/2025\n",
            f"{cpu}/cpu0/topology/thread_siblings_list": "0,1\n",
            f"{cpu}/cpu1/topology/thread_siblings_list": "0,1\n",
        }
    )

    assert settings.kernel(started) == {"text": "6.1.0-13-amd64\n"}
    assert settings.iommu(started) == {"groups": 1, "arguments": ["intel_iommu=on", "iommu=pt"]}
    assert processors.clocks(started) == {"clocks": ["1996.248"]}
    assert processors.cores(started) == {"siblings": ["0,1", "0,1"]}
    assert devices.bios(started)["bios_version"] == "2.5.6"


def test_only_interfaces_that_are_up_have_a_speed(machine: Machine) -> None:
    def at(name: str) -> dict[str, str]:
        told = {"speed": "25000\n", "mtu": "9000\n"}
        return {f"sys/class/net/{name}/{word}": text for word, text in told.items()}

    down = {**interface("eth1"), "sys/class/net/eth1/operstate": "down\n"}
    links = machine({**interface("eth0"), **at("eth0"), **down})

    assert devices.network_settings(links) == {"eth0": {"speed": "25000", "mtu": "9000"}}


def test_a_directory_is_mounted_where_the_kernel_says_so(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda / ext4 rw 0 0\n/dev/sdb /my\\040tmp ext4 rw 0 0\n/dev/sdc /données ext4 rw 0 0\n"
    )
    monkeypatch.setattr(filesystems, "MOUNTS", mounts)
    host = machine({})
    host.filesystems = ("/my tmp/", "/données", "/scratch")

    assert filesystems.mounted(host) == {"/my tmp/": True, "/données": True, "/scratch": False}


def boot(directory: Path, monkeypatch: pytest.MonkeyPatch, *records: str) -> None:
    """Let the kernel's log hold these records, one a read."""
    device = directory / "kmsg"
    device.write_text("".join(f"{record:<99}\n" for record in records))
    monkeypatch.setattr(kernel_log, "DEVICE", str(device))
    monkeypatch.setattr(kernel_log, "RECORD_BYTES", 100)


def test_links_that_the_kernel_found_slow_at_boot_are_told_in_its_words(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = f"pci 0000:05:00.0: 4.000 Gb/s {boot_log.LIMITED} 5.0 GT/s PCIe x1"
    boot(tmp_path, monkeypatch, "6,0,0,-;Linux version 6.1", f"6,7,9,-;{words}")

    found = boot_log.limited_links(machine({}))

    assert [line.strip() for line in found["lines"]] == [words]


def test_a_log_that_lost_its_beginning_shows_no_sound_boot(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot(tmp_path, monkeypatch, "6,41,0,-;usb 1-1: new device")
    with pytest.raises(CannotRun, match="its first record is 41"):
        boot_log.limited_links(machine({}))
    (tmp_path / "kmsg").write_text("")
    with pytest.raises(CannotRun, match="its first record is none"):
        boot_log.limited_links(machine({}))
    (tmp_path / "kmsg").unlink()
    with pytest.raises(CannotRun, match="kmsg cannot be read: No such file"):
        boot_log.limited_links(machine({}))


@pytest.mark.parametrize("section", ["reboots", "lost_carriers", "nvme_health"])
def test_every_tool_that_a_function_asks_is_named_where_it_is_missing(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/none")
    host = machine({"proc/uptime": "1.0 1.0\n", "sys/class/nvme/nvme0/state": "live\n"})

    assert "is not installed on node n1" in look(host, {section}, 0)[section]["error"]
