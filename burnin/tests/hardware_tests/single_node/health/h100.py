"""What the tools print on a healthy node of eight H100, in the tools' formats."""

from __future__ import annotations

GPUS = 8

GPU_XML = """\
	<gpu id="00000000:{at:02X}:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<persistence_mode>Enabled</persistence_mode>
		<uuid>GPU-{at}</uuid>
		<vbios_version>96.00.89.00.01</vbios_version>
		<fabric><state>Completed</state><status>Success</status></fabric>
		<pci>
			<pci_gpu_link_info>
				<pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>5</current_link_gen></pcie_gen>
				<link_widths><max_link_width>16x</max_link_width><current_link_width>16x</current_link_width></link_widths>
			</pci_gpu_link_info>
			<replay_counter>7</replay_counter>
		</pci>
		<clocks_event_reasons>
			<clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
			<clocks_event_reason_sw_power_cap>Not Active</clocks_event_reason_sw_power_cap>
			<clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown>
		</clocks_event_reasons>
		<ecc_mode><current_ecc>Enabled</current_ecc><pending_ecc>Enabled</pending_ecc></ecc_mode>
		<ecc_errors>
			<volatile>
				<sram_correctable>0</sram_correctable>
				<sram_uncorrectable_parity>0</sram_uncorrectable_parity>
				<dram_correctable>3</dram_correctable>
				<dram_uncorrectable>0</dram_uncorrectable>
			</volatile>
		</ecc_errors>
		<remapped_rows>
			<remapped_row_corr>0</remapped_row_corr>
			<remapped_row_unc>1</remapped_row_unc>
			<remapped_row_pending>No</remapped_row_pending>
			<remapped_row_failure>No</remapped_row_failure>
		</remapped_rows>
		<retired_pages>
			<multiple_single_bit_retirement><retired_count>2</retired_count></multiple_single_bit_retirement>
			<double_bit_retirement><retired_count>1</retired_count></double_bit_retirement>
			<pending_retirement>No</pending_retirement>
		</retired_pages>
		<applications_clocks>
			<graphics_clock>1980 MHz</graphics_clock><mem_clock>2619 MHz</mem_clock>
		</applications_clocks>
		<max_clocks>
			<graphics_clock>1980 MHz</graphics_clock><mem_clock>2619 MHz</mem_clock>
		</max_clocks>
		<temperature><gpu_temp>41 C</gpu_temp></temperature>
		<processes></processes>
	</gpu>
"""
XML = (
    '<?xml version="1.0" ?>\n<nvidia_smi_log>\n'
    f"\t<driver_version>550.54.15</driver_version>\n\t<attached_gpus>{GPUS}</attached_gpus>\n"
    + "".join(GPU_XML.format(at=at) for at in range(GPUS))
    + "</nvidia_smi_log>\n"
)
TABLE = "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |\n"
NAMES = [f"GPU {at}: NVIDIA H100 80GB HBM3 (UUID: GPU-{at})\n" for at in range(GPUS)]


def _way(one: str, other: str) -> str:
    """Say how one device reaches another: each GPU has an adapter at its PCIe switch."""
    if one == other:
        return " X "
    if one[:3] == other[:3] == "GPU":
        return "NV18"
    return "PIX" if one[3:] == other[3:] else "SYS"


LINKS = "".join(
    name + "".join(f"\t Link {link}: 26.562 GB/s\n" for link in range(18)) for name in NAMES
)
LINK_ERRORS = "".join(
    name + "".join(f"\t Link {link}: CRC Errors: 0\n" for link in range(18)) for name in NAMES
)
_DEVICES = [f"{kind}{at}" for kind in ("GPU", "NIC") for at in range(GPUS)]
TOPOLOGY = ("\t" + "\t".join(_DEVICES) + "\tCPU Affinity\n") + "".join(
    f"{one}\t" + "\t".join(_way(one, other) for other in _DEVICES) + "\t0-55\n" for one in _DEVICES
)
IMEX = """\
Connectivity Table Legend:
C - Connected - Ready for operation

Nodes:
Node #0   - 172.16.1.81   - READY                - Version: 570.133.20
Node #1   - 172.16.1.82   - READY                - Version: 570.133.20

Domain State: UP
"""
IBSTAT = "".join(
    f"""CA 'mlx5_{at}'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Hardware version: 0
	Node GUID: 0x1
	System image GUID: 0x1
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 4{at}
		LMC: 0
		SM lid: 1
		Capability mask: 0xa651e848
		Port GUID: 0x1
		Link layer: InfiniBand
"""
    for at in range(GPUS)
)
MLXLINK = """
Troubleshooting Info
--------------------
Status Opcode                      : 0
Recommendation                     : \x1b[32mNo issue was observed\x1b[0m

Physical Counters and BER Info
------------------------------
Effective Physical BER             : 15E-255
Raw Physical BER                   : 3E-10
"""
LSPCI = """\
00:01.0 PCI bridge: Intel Corporation Device 352a (rev 11)
	Capabilities: [100 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+
		ACSCtl:	SrcValid- TransBlk-

18:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
		DevCtl:	CorrErr- NonFatalErr+ FatalErr+ UnsupReq-
			RlxdOrd- ExtTag+ PhantFunc- AuxPwr- NoSnoop-
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16

19:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]
		DevCtl:	CorrErr- NonFatalErr+ FatalErr+ UnsupReq-
			RlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 32GT/s, Width x16

"""
DMIDECODE = """\
# dmidecode 3.4
Handle 0x1100, DMI type 17, 92 bytes
Memory Device
	Array Handle: 0x1000
	Size: 64 GB
	Locator: A1

Handle 0x1101, DMI type 17, 92 bytes
Memory Device
	Array Handle: 0x1000
	Size: No Module Installed
	Locator: A2

"""
CHRONYC = (
    "0A000001,10.0.0.1,3,1700000000.123,-0.000012345,0.000003,0.00001,-12.1,0.0,0.1,"
    "0.0005,0.0001,64.2,Normal\n"
)
SEL = """\
   1 | 11/30/2026 | 01:02:03 | Event Logging Disabled SEL | Log area reset/cleared | Asserted
   2 | 11/30/2026 | 01:05:03 | System ACPI Power State | S0/G0: working | Asserted
"""
SENSORS = "FAN1             | 5000 RPM          | ok\nPSU2 Status      | 0x01              | ok\n"
SCONTROL = "NodeName=n1 Arch=x86_64 State=ALLOCATED ThreadsPerCore=2 TmpDisk=0\n"
OFED = "MLNX_OFED_LINUX-23.10-0.5.5.0:\n"
WPA = "wpa_state=COMPLETED\nSupplicant PAE state=AUTHENTICATED\nEAP state=SUCCESS\n"
BMC = """\
Device ID                 : 32
Firmware Revision         : 1.73
Manufacturer Name         : Supermicro
"""
RASDAEMON = "No Memory errors.\n\nNo PCIe AER errors.\n\nNo MCE errors.\n"
BOOTS = (
    "reboot   system boot  6.1.0-13-amd64   2026-11-30T01:02:03+00:00   still running\n\n"
    "wtmp begins 2026-11-01T00:00:00+00:00\n"
)
SMART = (
    '{"critical_warning":0,"temperature":312,"avail_spare":100,"spare_thresh":10,"percent_used":3,'
    '"media_errors":0,"num_err_log_entries":0,"unsafe_shutdowns":1,"power_on_hours":9,'
    '"data_units_read":1,"data_units_written":1}\n'
)
