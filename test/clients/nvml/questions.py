"""Asks NVML everything that monitors ask of a device, by nvidia-ml-py, and prints the answers as JSON."""
import json

import pynvml as nvml


def ask(function, *arguments):
    try:
        answer = function(*arguments)
    except nvml.NVMLError as error:
        return str(error)
    if hasattr(answer, "_fields_"):
        return {name: plain(getattr(answer, name)) for name, _ in answer._fields_}
    return [plain(item) for item in answer] if isinstance(answer, (list, tuple)) else plain(answer)


def plain(value):
    value = getattr(value, "value", value)  # some functions of nvidia-ml-py return the ctypes object
    return value.decode() if isinstance(value, bytes) else value


nvml.nvmlInit()
device = nvml.nvmlDeviceGetHandleByIndex(0)
OF_DEVICE = {
    "name": (nvml.nvmlDeviceGetName,),
    "brand": (nvml.nvmlDeviceGetBrand,),
    "architecture": (nvml.nvmlDeviceGetArchitecture,),
    "computeCapability": (nvml.nvmlDeviceGetCudaComputeCapability,),
    "cores": (nvml.nvmlDeviceGetNumGpuCores,),
    "memoryBusWidth": (nvml.nvmlDeviceGetMemoryBusWidth,),
    "serial": (nvml.nvmlDeviceGetSerial,),
    "vbios": (nvml.nvmlDeviceGetVbiosVersion,),
    "minor": (nvml.nvmlDeviceGetMinorNumber,),
    "board": (nvml.nvmlDeviceGetBoardId,),
    "severalOnBoard": (nvml.nvmlDeviceGetMultiGpuBoard,),
    "memory": (nvml.nvmlDeviceGetMemoryInfo,),
    "memoryV2": (nvml.nvmlDeviceGetMemoryInfo, nvml.nvmlMemory_v2),
    "bar1": (nvml.nvmlDeviceGetBAR1MemoryInfo,),
    "utilization": (nvml.nvmlDeviceGetUtilizationRates,),
    "encoder": (nvml.nvmlDeviceGetEncoderUtilization,),
    "decoder": (nvml.nvmlDeviceGetDecoderUtilization,),
    "temperature": (nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU),
    "shutdown": (nvml.nvmlDeviceGetTemperatureThreshold, nvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
    "slowdown": (nvml.nvmlDeviceGetTemperatureThreshold, nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
    "gpuMax": (nvml.nvmlDeviceGetTemperatureThreshold, nvml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX),
    "memoryMax": (nvml.nvmlDeviceGetTemperatureThreshold, nvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX),
    "noThreshold": (nvml.nvmlDeviceGetTemperatureThreshold, 99),
    "fans": (nvml.nvmlDeviceGetNumFans,),
    "fan": (nvml.nvmlDeviceGetFanSpeed,),
    "fan0": (nvml.nvmlDeviceGetFanSpeed_v2, 0),
    "fan9": (nvml.nvmlDeviceGetFanSpeed_v2, 9),
    "power": (nvml.nvmlDeviceGetPowerUsage,),
    "powerManagement": (nvml.nvmlDeviceGetPowerManagementMode,),
    "limit": (nvml.nvmlDeviceGetPowerManagementLimit,),
    "defaultLimit": (nvml.nvmlDeviceGetPowerManagementDefaultLimit,),
    "enforcedLimit": (nvml.nvmlDeviceGetEnforcedPowerLimit,),
    "limits": (nvml.nvmlDeviceGetPowerManagementLimitConstraints,),
    "clock": (nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM),
    "memoryClock": (nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM),
    "clockReasons": (nvml.nvmlDeviceGetCurrentClocksThrottleReasons,),
    "performanceState": (nvml.nvmlDeviceGetPowerState,),
    "generation": (nvml.nvmlDeviceGetCurrPcieLinkGeneration,),
    "width": (nvml.nvmlDeviceGetCurrPcieLinkWidth,),
    "maxGeneration": (nvml.nvmlDeviceGetMaxPcieLinkGeneration,),
    "maxWidth": (nvml.nvmlDeviceGetMaxPcieLinkWidth,),
    "sent": (nvml.nvmlDeviceGetPcieThroughput, nvml.NVML_PCIE_UTIL_TX_BYTES),
    "received": (nvml.nvmlDeviceGetPcieThroughput, nvml.NVML_PCIE_UTIL_RX_BYTES),
    "noCounter": (nvml.nvmlDeviceGetPcieThroughput, 7),
    "nvlink": (nvml.nvmlDeviceGetNvLinkState, 0),
    "persistence": (nvml.nvmlDeviceGetPersistenceMode,),
    "computeMode": (nvml.nvmlDeviceGetComputeMode,),
    "displayMode": (nvml.nvmlDeviceGetDisplayMode,),
    "displayActive": (nvml.nvmlDeviceGetDisplayActive,),
    "driverModel": (nvml.nvmlDeviceGetDriverModel,),
    "ecc": (nvml.nvmlDeviceGetEccMode,),
    "eccErrors": (
        nvml.nvmlDeviceGetTotalEccErrors,
        nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
        nvml.NVML_VOLATILE_ECC,
    ),
    "mig": (nvml.nvmlDeviceGetMigMode,),
    "isMigInstance": (nvml.nvmlDeviceIsMigDeviceHandle,),
    "migInstances": (nvml.nvmlDeviceGetMaxMigDeviceCount,),
    "notSimulated": (nvml.nvmlDeviceGetTargetFanSpeed, 0),
}
answers = {key: ask(function, device, *rest) for key, (function, *rest) in OF_DEVICE.items()}
answers["driver"] = ask(nvml.nvmlSystemGetDriverVersion)
answers["pci"] = ask(nvml.nvmlDeviceGetPciInfo, device)
answers["byPci"] = ask(nvml.nvmlDeviceGetHandleByPciBusId, answers["pci"]["busId"]) is not None
answers["noDevice"] = ask(nvml.nvmlDeviceGetHandleByIndex, 7)
answers["field"] = nvml.nvmlDeviceGetFieldValues(device, [nvml.NVML_FI_DEV_MEMORY_TEMP])[0].nvmlReturn
answers["energyGrows"] = ask(nvml.nvmlDeviceGetTotalEnergyConsumption, device) >= 0
print(json.dumps(answers))
