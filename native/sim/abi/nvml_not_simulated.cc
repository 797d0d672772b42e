// NVML: the functions of CUDA 12.4's nvml.h that the simulated machine does not model. A program
// that looks all of them up before it uses any finds them, and a call answers that it is not
// supported. All share one signature, because no argument is read.
#include "sim/abi/nvml.h"

// clang-format off
#define UMASIM_NOT_SIMULATED(X) \
  X(nvmlComputeInstanceDestroy) X(nvmlComputeInstanceGetInfo) X(nvmlComputeInstanceGetInfo_v2)     \
  X(nvmlDeviceClearAccountingPids) X(nvmlDeviceClearCpuAffinity) X(nvmlDeviceClearEccErrorCounts)  \
  X(nvmlDeviceClearFieldValues) X(nvmlDeviceCreateGpuInstance)                                     \
  X(nvmlDeviceCreateGpuInstanceWithPlacement) X(nvmlDeviceDiscoverGpus)                            \
  X(nvmlDeviceFreezeNvLinkUtilizationCounter) X(nvmlDeviceGetAPIRestriction)                       \
  X(nvmlDeviceGetAccountingBufferSize) X(nvmlDeviceGetAccountingMode)                              \
  X(nvmlDeviceGetAccountingPids) X(nvmlDeviceGetAccountingStats) X(nvmlDeviceGetActiveVgpus)       \
  X(nvmlDeviceGetAdaptiveClockInfoStatus) X(nvmlDeviceGetApplicationsClock)                        \
  X(nvmlDeviceGetAttributes) X(nvmlDeviceGetAttributes_v2)                                         \
  X(nvmlDeviceGetAutoBoostedClocksEnabled) X(nvmlDeviceGetBoardPartNumber)                         \
  X(nvmlDeviceGetBridgeChipInfo) X(nvmlDeviceGetBusType) X(nvmlDeviceGetC2cModeInfoV)              \
  X(nvmlDeviceGetClkMonStatus) X(nvmlDeviceGetClock) X(nvmlDeviceGetComputeInstanceId)             \
  X(nvmlDeviceGetConfComputeGpuAttestationReport) X(nvmlDeviceGetConfComputeGpuCertificate)        \
  X(nvmlDeviceGetConfComputeMemSizeInfo) X(nvmlDeviceGetConfComputeProtectedMemoryUsage)           \
  X(nvmlDeviceGetCpuAffinity) X(nvmlDeviceGetCpuAffinityWithinScope)                               \
  X(nvmlDeviceGetCreatableVgpus) X(nvmlDeviceGetDefaultApplicationsClock)                          \
  X(nvmlDeviceGetDefaultEccMode) X(nvmlDeviceGetDetailedEccErrors)                                 \
  X(nvmlDeviceGetDeviceHandleFromMigDeviceHandle) X(nvmlDeviceGetDynamicPstatesInfo)               \
  X(nvmlDeviceGetEncoderCapacity) X(nvmlDeviceGetEncoderSessions) X(nvmlDeviceGetEncoderStats)     \
  X(nvmlDeviceGetFBCSessions) X(nvmlDeviceGetFBCStats) X(nvmlDeviceGetFanControlPolicy_v2)         \
  X(nvmlDeviceGetGpcClkMinMaxVfOffset) X(nvmlDeviceGetGpcClkVfOffset)                              \
  X(nvmlDeviceGetGpuFabricInfo) X(nvmlDeviceGetGpuFabricInfoV) X(nvmlDeviceGetGpuInstanceById)     \
  X(nvmlDeviceGetGpuInstanceId) X(nvmlDeviceGetGpuInstancePossiblePlacements)                      \
  X(nvmlDeviceGetGpuInstancePossiblePlacements_v2) X(nvmlDeviceGetGpuInstanceProfileInfo)          \
  X(nvmlDeviceGetGpuInstanceProfileInfoV) X(nvmlDeviceGetGpuInstanceRemainingCapacity)             \
  X(nvmlDeviceGetGpuInstances) X(nvmlDeviceGetGpuOperationMode)                                    \
  X(nvmlDeviceGetGridLicensableFeatures) X(nvmlDeviceGetGridLicensableFeatures_v2)                 \
  X(nvmlDeviceGetGridLicensableFeatures_v3) X(nvmlDeviceGetGridLicensableFeatures_v4)              \
  X(nvmlDeviceGetGspFirmwareMode) X(nvmlDeviceGetGspFirmwareVersion) X(nvmlDeviceGetHostVgpuMode)  \
  X(nvmlDeviceGetInforomConfigurationChecksum) X(nvmlDeviceGetInforomImageVersion)                 \
  X(nvmlDeviceGetInforomVersion) X(nvmlDeviceGetIrqNum) X(nvmlDeviceGetJpgUtilization)             \
  X(nvmlDeviceGetLastBBXFlushTime) X(nvmlDeviceGetMaxCustomerBoostClock)                           \
  X(nvmlDeviceGetMemClkMinMaxVfOffset) X(nvmlDeviceGetMemClkVfOffset)                              \
  X(nvmlDeviceGetMemoryAffinity) X(nvmlDeviceGetMemoryErrorCounter)                                \
  X(nvmlDeviceGetMigDeviceHandleByIndex) X(nvmlDeviceGetMinMaxClockOfPState)                       \
  X(nvmlDeviceGetMinMaxFanSpeed) X(nvmlDeviceGetModuleId) X(nvmlDeviceGetNumaNodeId)               \
  X(nvmlDeviceGetNvLinkCapability) X(nvmlDeviceGetNvLinkErrorCounter)                              \
  X(nvmlDeviceGetNvLinkRemotePciInfo) X(nvmlDeviceGetNvLinkUtilizationControl)                     \
  X(nvmlDeviceGetNvLinkUtilizationCounter) X(nvmlDeviceGetOfaUtilization)                          \
  X(nvmlDeviceGetP2PStatus) X(nvmlDeviceGetPciInfoExt) X(nvmlDeviceGetPcieLinkMaxSpeed)            \
  X(nvmlDeviceGetPcieReplayCounter) X(nvmlDeviceGetPcieSpeed) X(nvmlDeviceGetPgpuMetadataString)   \
  X(nvmlDeviceGetPowerSource) X(nvmlDeviceGetProcessesUtilizationInfo)                             \
  X(nvmlDeviceGetRemappedRows) X(nvmlDeviceGetRetiredPages)                                        \
  X(nvmlDeviceGetRetiredPagesPendingStatus) X(nvmlDeviceGetRetiredPages_v2)                        \
  X(nvmlDeviceGetRowRemapperHistogram) X(nvmlDeviceGetRunningProcessDetailList)                    \
  X(nvmlDeviceGetSamples) X(nvmlDeviceGetSramEccErrorStatus)                                       \
  X(nvmlDeviceGetSupportedClocksEventReasons) X(nvmlDeviceGetSupportedClocksThrottleReasons)       \
  X(nvmlDeviceGetSupportedEventTypes) X(nvmlDeviceGetSupportedGraphicsClocks)                      \
  X(nvmlDeviceGetSupportedMemoryClocks) X(nvmlDeviceGetSupportedPerformanceStates)                 \
  X(nvmlDeviceGetSupportedVgpus) X(nvmlDeviceGetTargetFanSpeed) X(nvmlDeviceGetThermalSettings)    \
  X(nvmlDeviceGetTopologyCommonAncestor) X(nvmlDeviceGetTopologyNearestGpus)                       \
  X(nvmlDeviceGetVgpuCapabilities) X(nvmlDeviceGetVgpuHeterogeneousMode)                           \
  X(nvmlDeviceGetVgpuInstancesUtilizationInfo) X(nvmlDeviceGetVgpuMetadata)                        \
  X(nvmlDeviceGetVgpuProcessUtilization) X(nvmlDeviceGetVgpuProcessesUtilizationInfo)              \
  X(nvmlDeviceGetVgpuSchedulerCapabilities) X(nvmlDeviceGetVgpuSchedulerLog)                       \
  X(nvmlDeviceGetVgpuSchedulerState) X(nvmlDeviceGetVgpuTypeCreatablePlacements)                   \
  X(nvmlDeviceGetVgpuTypeSupportedPlacements) X(nvmlDeviceGetVgpuUtilization)                      \
  X(nvmlDeviceGetViolationStatus) X(nvmlDeviceGetVirtualizationMode)                               \
  X(nvmlDeviceModifyDrainState) X(nvmlDeviceOnSameBoard) X(nvmlDeviceQueryDrainState)              \
  X(nvmlDeviceRegisterEvents) X(nvmlDeviceRemoveGpu) X(nvmlDeviceRemoveGpu_v2)                     \
  X(nvmlDeviceResetApplicationsClocks) X(nvmlDeviceResetGpuLockedClocks)                           \
  X(nvmlDeviceResetMemoryLockedClocks) X(nvmlDeviceResetNvLinkErrorCounters)                       \
  X(nvmlDeviceResetNvLinkUtilizationCounter) X(nvmlDeviceSetAPIRestriction)                        \
  X(nvmlDeviceSetAccountingMode) X(nvmlDeviceSetApplicationsClocks)                                \
  X(nvmlDeviceSetAutoBoostedClocksEnabled) X(nvmlDeviceSetComputeMode)                             \
  X(nvmlDeviceSetConfComputeUnprotectedMemSize) X(nvmlDeviceSetCpuAffinity)                        \
  X(nvmlDeviceSetDefaultAutoBoostedClocksEnabled) X(nvmlDeviceSetDefaultFanSpeed_v2)               \
  X(nvmlDeviceSetDriverModel) X(nvmlDeviceSetEccMode) X(nvmlDeviceSetFanControlPolicy)             \
  X(nvmlDeviceSetFanSpeed_v2) X(nvmlDeviceSetGpcClkVfOffset) X(nvmlDeviceSetGpuLockedClocks)       \
  X(nvmlDeviceSetGpuOperationMode) X(nvmlDeviceSetMemClkVfOffset)                                  \
  X(nvmlDeviceSetMemoryLockedClocks) X(nvmlDeviceSetMigMode)                                       \
  X(nvmlDeviceSetNvLinkDeviceLowPowerThreshold) X(nvmlDeviceSetNvLinkUtilizationControl)           \
  X(nvmlDeviceSetPersistenceMode) X(nvmlDeviceSetPowerManagementLimit)                             \
  X(nvmlDeviceSetPowerManagementLimit_v2) X(nvmlDeviceSetTemperatureThreshold)                     \
  X(nvmlDeviceSetVgpuCapabilities) X(nvmlDeviceSetVgpuHeterogeneousMode)                           \
  X(nvmlDeviceSetVgpuSchedulerState) X(nvmlDeviceSetVirtualizationMode)                            \
  X(nvmlDeviceValidateInforom) X(nvmlEventSetCreate) X(nvmlEventSetFree) X(nvmlEventSetWait)       \
  X(nvmlEventSetWait_v2) X(nvmlGetExcludedDeviceCount) X(nvmlGetExcludedDeviceInfoByIndex)         \
  X(nvmlGetVgpuCompatibility) X(nvmlGetVgpuDriverCapabilities) X(nvmlGetVgpuVersion)               \
  X(nvmlGpmMetricsGet) X(nvmlGpmMigSampleGet) X(nvmlGpmQueryDeviceSupport)                         \
  X(nvmlGpmQueryIfStreamingEnabled) X(nvmlGpmSampleAlloc) X(nvmlGpmSampleFree)                     \
  X(nvmlGpmSampleGet) X(nvmlGpmSetStreamingEnabled) X(nvmlGpuInstanceCreateComputeInstance)        \
  X(nvmlGpuInstanceCreateComputeInstanceWithPlacement) X(nvmlGpuInstanceDestroy)                   \
  X(nvmlGpuInstanceGetComputeInstanceById) X(nvmlGpuInstanceGetComputeInstancePossiblePlacements)  \
  X(nvmlGpuInstanceGetComputeInstanceProfileInfo)                                                  \
  X(nvmlGpuInstanceGetComputeInstanceProfileInfoV)                                                 \
  X(nvmlGpuInstanceGetComputeInstanceRemainingCapacity) X(nvmlGpuInstanceGetComputeInstances)      \
  X(nvmlGpuInstanceGetInfo) X(nvmlSetVgpuVersion) X(nvmlSystemGetConfComputeCapabilities)          \
  X(nvmlSystemGetConfComputeGpusReadyState) X(nvmlSystemGetConfComputeKeyRotationThresholdInfo)    \
  X(nvmlSystemGetConfComputeSettings) X(nvmlSystemGetConfComputeState) X(nvmlSystemGetHicVersion)  \
  X(nvmlSystemGetNvlinkBwMode) X(nvmlSystemGetTopologyGpuSet)                                      \
  X(nvmlSystemSetConfComputeGpusReadyState) X(nvmlSystemSetConfComputeKeyRotationThresholdInfo)    \
  X(nvmlSystemSetNvlinkBwMode) X(nvmlUnitGetCount) X(nvmlUnitGetDevices)                           \
  X(nvmlUnitGetFanSpeedInfo) X(nvmlUnitGetHandleByIndex) X(nvmlUnitGetLedState)                    \
  X(nvmlUnitGetPsuInfo) X(nvmlUnitGetTemperature) X(nvmlUnitGetUnitInfo) X(nvmlUnitSetLedState)    \
  X(nvmlVgpuInstanceClearAccountingPids) X(nvmlVgpuInstanceGetAccountingMode)                      \
  X(nvmlVgpuInstanceGetAccountingPids) X(nvmlVgpuInstanceGetAccountingStats)                       \
  X(nvmlVgpuInstanceGetEccMode) X(nvmlVgpuInstanceGetEncoderCapacity)                              \
  X(nvmlVgpuInstanceGetEncoderSessions) X(nvmlVgpuInstanceGetEncoderStats)                         \
  X(nvmlVgpuInstanceGetFBCSessions) X(nvmlVgpuInstanceGetFBCStats) X(nvmlVgpuInstanceGetFbUsage)   \
  X(nvmlVgpuInstanceGetFrameRateLimit) X(nvmlVgpuInstanceGetGpuInstanceId)                         \
  X(nvmlVgpuInstanceGetGpuPciId) X(nvmlVgpuInstanceGetLicenseInfo)                                 \
  X(nvmlVgpuInstanceGetLicenseInfo_v2) X(nvmlVgpuInstanceGetLicenseStatus)                         \
  X(nvmlVgpuInstanceGetMdevUUID) X(nvmlVgpuInstanceGetMetadata) X(nvmlVgpuInstanceGetPlacementId)  \
  X(nvmlVgpuInstanceGetType) X(nvmlVgpuInstanceGetUUID) X(nvmlVgpuInstanceGetVmDriverVersion)      \
  X(nvmlVgpuInstanceGetVmID) X(nvmlVgpuInstanceSetEncoderCapacity) X(nvmlVgpuTypeGetCapabilities)  \
  X(nvmlVgpuTypeGetClass) X(nvmlVgpuTypeGetDeviceID) X(nvmlVgpuTypeGetFbReservation)               \
  X(nvmlVgpuTypeGetFrameRateLimit) X(nvmlVgpuTypeGetFramebufferSize)                               \
  X(nvmlVgpuTypeGetGpuInstanceProfileId) X(nvmlVgpuTypeGetGspHeapSize) X(nvmlVgpuTypeGetLicense)   \
  X(nvmlVgpuTypeGetMaxInstances) X(nvmlVgpuTypeGetMaxInstancesPerVm) X(nvmlVgpuTypeGetName)        \
  X(nvmlVgpuTypeGetNumDisplayHeads) X(nvmlVgpuTypeGetResolution)
// clang-format on

namespace umasim {
namespace {

nvmlReturn_t not_simulated(const char* name) {
  return nvml(name, [](const Call&) { return int{umaprobe::kNvmlNotSupported}; });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

#define UMASIM_REFUSE(name) \
  UMASIM_API nvmlReturn_t name() noexcept { return not_simulated(#name); }
UMASIM_NOT_SIMULATED(UMASIM_REFUSE)
