// CUDA driver: the functions of versions 11.8, 12.4 and 13.0 that the simulated machine lacks, with
// those for OpenGL, EGL and VDPAU. A program that is linked with the driver, or that insists on
// finding all functions before it uses any, starts nevertheless, and a call answers that it is not
// supported. All share one signature, because no argument is read.
#include "sim/abi/cudrv.h"

// clang-format off
#define UMASIM_NOT_SIMULATED(X) \
  X(cuArray3DCreate) X(cuArray3DCreate_v2) X(cuArray3DGetDescriptor) X(cuArray3DGetDescriptor_v2)  \
  X(cuArrayCreate) X(cuArrayCreate_v2) X(cuArrayDestroy) X(cuArrayGetDescriptor)                   \
  X(cuArrayGetDescriptor_v2) X(cuArrayGetMemoryRequirements) X(cuArrayGetPlane)                    \
  X(cuArrayGetSparseProperties) X(cuCheckpointProcessCheckpoint)                                   \
  X(cuCheckpointProcessGetRestoreThreadId) X(cuCheckpointProcessGetState)                          \
  X(cuCheckpointProcessLock) X(cuCheckpointProcessRestore) X(cuCheckpointProcessUnlock)            \
  X(cuCoredumpGetAttribute) X(cuCoredumpGetAttributeGlobal) X(cuCoredumpSetAttribute)              \
  X(cuCoredumpSetAttributeGlobal) X(cuCtxAttach) X(cuCtxCreate_v3) X(cuCtxDisablePeerAccess)       \
  X(cuCtxEnablePeerAccess) X(cuCtxFromGreenCtx) X(cuCtxGetCacheConfig) X(cuCtxGetDevResource)      \
  X(cuCtxGetDevice_v2) X(cuCtxGetExecAffinity) X(cuCtxGetFlags) X(cuCtxGetId) X(cuCtxGetLimit)     \
  X(cuCtxGetSharedMemConfig) X(cuCtxGetStreamPriorityRange) X(cuCtxRecordEvent)                    \
  X(cuCtxResetPersistingL2Cache) X(cuCtxSetCacheConfig) X(cuCtxSetFlags) X(cuCtxSetLimit)          \
  X(cuCtxSetSharedMemConfig) X(cuCtxSynchronize_v2) X(cuCtxWaitEvent) X(cuDestroyExternalMemory)   \
  X(cuDestroyExternalSemaphore) X(cuDevResourceGenerateDesc) X(cuDevSmResourceSplitByCount)        \
  X(cuDeviceGetDefaultMemPool) X(cuDeviceGetDevResource) X(cuDeviceGetExecAffinitySupport)         \
  X(cuDeviceGetGraphMemAttribute) X(cuDeviceGetHostAtomicCapabilities) X(cuDeviceGetLuid)          \
  X(cuDeviceGetMemPool) X(cuDeviceGetNvSciSyncAttributes) X(cuDeviceGetP2PAtomicCapabilities)      \
  X(cuDeviceGetProperties) X(cuDeviceGetTexture1DLinearMaxWidth) X(cuDeviceGraphMemTrim)           \
  X(cuDevicePrimaryCtxReset) X(cuDevicePrimaryCtxReset_v2) X(cuDevicePrimaryCtxSetFlags)           \
  X(cuDevicePrimaryCtxSetFlags_v2) X(cuDeviceRegisterAsyncNotification)                            \
  X(cuDeviceSetGraphMemAttribute) X(cuDeviceSetMemPool) X(cuDeviceTotalMem)                        \
  X(cuDeviceUnregisterAsyncNotification) X(cuEGLStreamConsumerAcquireFrame)                        \
  X(cuEGLStreamConsumerConnect) X(cuEGLStreamConsumerConnectWithFlags)                             \
  X(cuEGLStreamConsumerDisconnect) X(cuEGLStreamConsumerReleaseFrame)                              \
  X(cuEGLStreamProducerConnect) X(cuEGLStreamProducerDisconnect)                                   \
  X(cuEGLStreamProducerPresentFrame) X(cuEGLStreamProducerReturnFrame) X(cuEventCreateFromEGLSync) \
  X(cuEventDestroy) X(cuEventElapsedTime_v2) X(cuEventRecordWithFlags)                             \
  X(cuEventRecordWithFlags_ptsz) X(cuExternalMemoryGetMappedBuffer)                                \
  X(cuExternalMemoryGetMappedMipmappedArray) X(cuFlushGPUDirectRDMAWrites) X(cuFuncGetModule)      \
  X(cuFuncGetName) X(cuFuncGetParamInfo) X(cuFuncIsLoaded) X(cuFuncLoad) X(cuFuncSetAttribute)     \
  X(cuFuncSetBlockShape) X(cuFuncSetCacheConfig) X(cuFuncSetSharedMemConfig)                       \
  X(cuFuncSetSharedSize) X(cuGLCtxCreate) X(cuGLCtxCreate_v2) X(cuGLGetDevices)                    \
  X(cuGLGetDevices_v2) X(cuGLInit) X(cuGLMapBufferObject) X(cuGLMapBufferObjectAsync)              \
  X(cuGLMapBufferObjectAsync_v2) X(cuGLMapBufferObjectAsync_v2_ptsz) X(cuGLMapBufferObject_v2)     \
  X(cuGLMapBufferObject_v2_ptds) X(cuGLRegisterBufferObject) X(cuGLSetBufferObjectMapFlags)        \
  X(cuGLUnmapBufferObject) X(cuGLUnmapBufferObjectAsync) X(cuGLUnregisterBufferObject)             \
  X(cuGetProcAddress_ptsz) X(cuGetProcAddress_v2_ptsz) X(cuGraphAddBatchMemOpNode)                 \
  X(cuGraphAddChildGraphNode) X(cuGraphAddDependencies) X(cuGraphAddDependencies_v2)               \
  X(cuGraphAddEmptyNode) X(cuGraphAddEventRecordNode) X(cuGraphAddEventWaitNode)                   \
  X(cuGraphAddExternalSemaphoresSignalNode) X(cuGraphAddExternalSemaphoresWaitNode)                \
  X(cuGraphAddHostNode) X(cuGraphAddKernelNode) X(cuGraphAddKernelNode_v2)                         \
  X(cuGraphAddMemAllocNode) X(cuGraphAddMemFreeNode) X(cuGraphAddMemcpyNode)                       \
  X(cuGraphAddMemsetNode) X(cuGraphAddNode) X(cuGraphAddNode_v2) X(cuGraphBatchMemOpNodeGetParams) \
  X(cuGraphBatchMemOpNodeSetParams) X(cuGraphChildGraphNodeGetGraph) X(cuGraphClone)               \
  X(cuGraphConditionalHandleCreate) X(cuGraphCreate) X(cuGraphDebugDotPrint) X(cuGraphDestroy)     \
  X(cuGraphDestroyNode) X(cuGraphEventRecordNodeGetEvent) X(cuGraphEventRecordNodeSetEvent)        \
  X(cuGraphEventWaitNodeGetEvent) X(cuGraphEventWaitNodeSetEvent)                                  \
  X(cuGraphExecBatchMemOpNodeSetParams) X(cuGraphExecChildGraphNodeSetParams)                      \
  X(cuGraphExecDestroy) X(cuGraphExecEventRecordNodeSetEvent) X(cuGraphExecEventWaitNodeSetEvent)  \
  X(cuGraphExecExternalSemaphoresSignalNodeSetParams)                                              \
  X(cuGraphExecExternalSemaphoresWaitNodeSetParams) X(cuGraphExecGetFlags)                         \
  X(cuGraphExecHostNodeSetParams) X(cuGraphExecKernelNodeSetParams)                                \
  X(cuGraphExecKernelNodeSetParams_v2) X(cuGraphExecMemcpyNodeSetParams)                           \
  X(cuGraphExecMemsetNodeSetParams) X(cuGraphExecNodeSetParams) X(cuGraphExecUpdate)               \
  X(cuGraphExecUpdate_v2) X(cuGraphExternalSemaphoresSignalNodeGetParams)                          \
  X(cuGraphExternalSemaphoresSignalNodeSetParams) X(cuGraphExternalSemaphoresWaitNodeGetParams)    \
  X(cuGraphExternalSemaphoresWaitNodeSetParams) X(cuGraphGetEdges) X(cuGraphGetEdges_v2)           \
  X(cuGraphGetNodes) X(cuGraphGetRootNodes) X(cuGraphHostNodeGetParams)                            \
  X(cuGraphHostNodeSetParams) X(cuGraphInstantiate) X(cuGraphInstantiateWithFlags)                 \
  X(cuGraphInstantiateWithParams) X(cuGraphInstantiateWithParams_ptsz) X(cuGraphInstantiate_v2)    \
  X(cuGraphKernelNodeCopyAttributes) X(cuGraphKernelNodeGetAttribute)                              \
  X(cuGraphKernelNodeGetParams) X(cuGraphKernelNodeGetParams_v2) X(cuGraphKernelNodeSetAttribute)  \
  X(cuGraphKernelNodeSetParams) X(cuGraphKernelNodeSetParams_v2) X(cuGraphLaunch)                  \
  X(cuGraphLaunch_ptsz) X(cuGraphMemAllocNodeGetParams) X(cuGraphMemFreeNodeGetParams)             \
  X(cuGraphMemcpyNodeGetParams) X(cuGraphMemcpyNodeSetParams) X(cuGraphMemsetNodeGetParams)        \
  X(cuGraphMemsetNodeSetParams) X(cuGraphNodeFindInClone) X(cuGraphNodeGetDependencies)            \
  X(cuGraphNodeGetDependencies_v2) X(cuGraphNodeGetDependentNodes)                                 \
  X(cuGraphNodeGetDependentNodes_v2) X(cuGraphNodeGetEnabled) X(cuGraphNodeGetType)                \
  X(cuGraphNodeSetEnabled) X(cuGraphNodeSetParams) X(cuGraphReleaseUserObject)                     \
  X(cuGraphRemoveDependencies) X(cuGraphRemoveDependencies_v2) X(cuGraphRetainUserObject)          \
  X(cuGraphUpload) X(cuGraphUpload_ptsz) X(cuGraphicsEGLRegisterImage)                             \
  X(cuGraphicsGLRegisterBuffer) X(cuGraphicsGLRegisterImage) X(cuGraphicsMapResources)             \
  X(cuGraphicsMapResources_ptsz) X(cuGraphicsResourceGetMappedEglFrame)                            \
  X(cuGraphicsResourceGetMappedMipmappedArray) X(cuGraphicsResourceGetMappedPointer)               \
  X(cuGraphicsResourceGetMappedPointer_v2) X(cuGraphicsResourceSetMapFlags)                        \
  X(cuGraphicsResourceSetMapFlags_v2) X(cuGraphicsSubResourceGetMappedArray)                       \
  X(cuGraphicsUnmapResources) X(cuGraphicsUnmapResources_ptsz) X(cuGraphicsUnregisterResource)     \
  X(cuGraphicsVDPAURegisterOutputSurface) X(cuGraphicsVDPAURegisterVideoSurface)                   \
  X(cuGreenCtxCreate) X(cuGreenCtxDestroy) X(cuGreenCtxGetDevResource) X(cuGreenCtxGetId)          \
  X(cuGreenCtxRecordEvent) X(cuGreenCtxStreamCreate) X(cuGreenCtxWaitEvent)                        \
  X(cuImportExternalMemory) X(cuImportExternalSemaphore) X(cuIpcCloseMemHandle)                    \
  X(cuIpcGetEventHandle) X(cuIpcGetMemHandle) X(cuIpcOpenEventHandle) X(cuIpcOpenMemHandle)        \
  X(cuIpcOpenMemHandle_v2) X(cuKernelGetAttribute) X(cuKernelGetFunction) X(cuKernelGetLibrary)    \
  X(cuKernelGetName) X(cuKernelGetParamInfo) X(cuKernelSetAttribute) X(cuKernelSetCacheConfig)     \
  X(cuLaunch) X(cuLaunchCooperativeKernel) X(cuLaunchCooperativeKernelMultiDevice)                 \
  X(cuLaunchCooperativeKernel_ptsz) X(cuLaunchGrid) X(cuLaunchGridAsync) X(cuLaunchHostFunc)       \
  X(cuLaunchHostFunc_ptsz) X(cuLaunchKernelEx) X(cuLaunchKernelEx_ptsz)                            \
  X(cuLibraryEnumerateKernels) X(cuLibraryGetGlobal) X(cuLibraryGetKernel)                         \
  X(cuLibraryGetKernelCount) X(cuLibraryGetManaged) X(cuLibraryGetModule)                          \
  X(cuLibraryGetUnifiedFunction) X(cuLibraryLoadData) X(cuLibraryLoadFromFile) X(cuLibraryUnload)  \
  X(cuLinkAddData) X(cuLinkAddData_v2) X(cuLinkAddFile) X(cuLinkAddFile_v2) X(cuLinkComplete)      \
  X(cuLinkCreate) X(cuLinkCreate_v2) X(cuLinkDestroy) X(cuLogsCurrent) X(cuLogsDumpToFile)         \
  X(cuLogsDumpToMemory) X(cuLogsRegisterCallback) X(cuLogsUnregisterCallback) X(cuMemAddressFree)  \
  X(cuMemAddressReserve) X(cuMemAdvise) X(cuMemAdvise_v2) X(cuMemAlloc) X(cuMemAllocAsync)         \
  X(cuMemAllocAsync_ptsz) X(cuMemAllocFromPoolAsync) X(cuMemAllocFromPoolAsync_ptsz)               \
  X(cuMemAllocHost) X(cuMemAllocPitch) X(cuMemAllocPitch_v2) X(cuMemBatchDecompressAsync)          \
  X(cuMemBatchDecompressAsync_ptsz) X(cuMemCreate) X(cuMemDiscardAndPrefetchBatchAsync)            \
  X(cuMemDiscardAndPrefetchBatchAsync_ptsz) X(cuMemDiscardBatchAsync)                              \
  X(cuMemDiscardBatchAsync_ptsz) X(cuMemExportToShareableHandle) X(cuMemFree) X(cuMemFreeAsync)    \
  X(cuMemFreeAsync_ptsz) X(cuMemGetAccess) X(cuMemGetAddressRange) X(cuMemGetAddressRange_v2)      \
  X(cuMemGetAllocationGranularity) X(cuMemGetAllocationPropertiesFromHandle)                       \
  X(cuMemGetDefaultMemPool) X(cuMemGetHandleForAddressRange) X(cuMemGetInfo) X(cuMemGetMemPool)    \
  X(cuMemHostGetDevicePointer) X(cuMemHostGetFlags) X(cuMemHostRegister) X(cuMemHostRegister_v2)   \
  X(cuMemHostUnregister) X(cuMemImportFromShareableHandle) X(cuMemMap) X(cuMemMapArrayAsync)       \
  X(cuMemMapArrayAsync_ptsz) X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolExportPointer)      \
  X(cuMemPoolExportToShareableHandle) X(cuMemPoolGetAccess) X(cuMemPoolGetAttribute)               \
  X(cuMemPoolImportFromShareableHandle) X(cuMemPoolImportPointer) X(cuMemPoolSetAccess)            \
  X(cuMemPoolSetAttribute) X(cuMemPoolTrimTo) X(cuMemPrefetchAsync) X(cuMemPrefetchAsync_ptsz)     \
  X(cuMemPrefetchAsync_v2) X(cuMemPrefetchAsync_v2_ptsz) X(cuMemPrefetchBatchAsync)                \
  X(cuMemPrefetchBatchAsync_ptsz) X(cuMemRangeGetAttribute) X(cuMemRangeGetAttributes)             \
  X(cuMemRelease) X(cuMemRetainAllocationHandle) X(cuMemSetAccess) X(cuMemSetMemPool)              \
  X(cuMemUnmap) X(cuMemcpy2D) X(cuMemcpy2DAsync) X(cuMemcpy2DAsync_v2) X(cuMemcpy2DAsync_v2_ptsz)  \
  X(cuMemcpy2DUnaligned) X(cuMemcpy2DUnaligned_v2) X(cuMemcpy2DUnaligned_v2_ptds) X(cuMemcpy2D_v2) \
  X(cuMemcpy2D_v2_ptds) X(cuMemcpy3D) X(cuMemcpy3DAsync) X(cuMemcpy3DAsync_v2)                     \
  X(cuMemcpy3DAsync_v2_ptsz) X(cuMemcpy3DBatchAsync) X(cuMemcpy3DBatchAsync_ptsz)                  \
  X(cuMemcpy3DBatchAsync_v2) X(cuMemcpy3DBatchAsync_v2_ptsz) X(cuMemcpy3DPeer)                     \
  X(cuMemcpy3DPeerAsync) X(cuMemcpy3DPeerAsync_ptsz) X(cuMemcpy3DPeer_ptds) X(cuMemcpy3D_v2)       \
  X(cuMemcpy3D_v2_ptds) X(cuMemcpyAtoA) X(cuMemcpyAtoA_v2) X(cuMemcpyAtoA_v2_ptds) X(cuMemcpyAtoD) \
  X(cuMemcpyAtoD_v2) X(cuMemcpyAtoD_v2_ptds) X(cuMemcpyAtoH) X(cuMemcpyAtoHAsync)                  \
  X(cuMemcpyAtoHAsync_v2) X(cuMemcpyAtoHAsync_v2_ptsz) X(cuMemcpyAtoH_v2) X(cuMemcpyAtoH_v2_ptds)  \
  X(cuMemcpyBatchAsync) X(cuMemcpyBatchAsync_ptsz) X(cuMemcpyBatchAsync_v2)                        \
  X(cuMemcpyBatchAsync_v2_ptsz) X(cuMemcpyDtoA) X(cuMemcpyDtoA_v2) X(cuMemcpyDtoA_v2_ptds)         \
  X(cuMemcpyDtoD) X(cuMemcpyDtoDAsync) X(cuMemcpyDtoH) X(cuMemcpyDtoHAsync) X(cuMemcpyHtoA)        \
  X(cuMemcpyHtoAAsync) X(cuMemcpyHtoAAsync_v2) X(cuMemcpyHtoAAsync_v2_ptsz) X(cuMemcpyHtoA_v2)     \
  X(cuMemcpyHtoA_v2_ptds) X(cuMemcpyHtoD) X(cuMemcpyHtoDAsync) X(cuMemcpyPeer)                     \
  X(cuMemcpyPeerAsync) X(cuMemcpyPeerAsync_ptsz) X(cuMemcpyPeer_ptds) X(cuMemsetD16)               \
  X(cuMemsetD16Async) X(cuMemsetD16Async_ptsz) X(cuMemsetD16_v2) X(cuMemsetD16_v2_ptds)            \
  X(cuMemsetD2D16) X(cuMemsetD2D16Async) X(cuMemsetD2D16Async_ptsz) X(cuMemsetD2D16_v2)            \
  X(cuMemsetD2D16_v2_ptds) X(cuMemsetD2D32) X(cuMemsetD2D32Async) X(cuMemsetD2D32Async_ptsz)       \
  X(cuMemsetD2D32_v2) X(cuMemsetD2D32_v2_ptds) X(cuMemsetD2D8) X(cuMemsetD2D8Async)                \
  X(cuMemsetD2D8Async_ptsz) X(cuMemsetD2D8_v2) X(cuMemsetD2D8_v2_ptds) X(cuMemsetD32)              \
  X(cuMemsetD8) X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy) X(cuMipmappedArrayGetLevel)   \
  X(cuMipmappedArrayGetMemoryRequirements) X(cuMipmappedArrayGetSparseProperties)                  \
  X(cuModuleEnumerateFunctions) X(cuModuleGetFunctionCount) X(cuModuleGetGlobal)                   \
  X(cuModuleGetGlobal_v2) X(cuModuleGetLoadingMode) X(cuModuleGetSurfRef) X(cuModuleGetTexRef)     \
  X(cuModuleLoad) X(cuModuleLoadFatBinary) X(cuMulticastAddDevice) X(cuMulticastBindAddr)          \
  X(cuMulticastBindMem) X(cuMulticastCreate) X(cuMulticastGetGranularity) X(cuMulticastUnbind)     \
  X(cuOccupancyAvailableDynamicSMemPerBlock) X(cuOccupancyMaxActiveBlocksPerMultiprocessor)        \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(cuOccupancyMaxActiveClusters)          \
  X(cuOccupancyMaxPotentialBlockSize) X(cuOccupancyMaxPotentialBlockSizeWithFlags)                 \
  X(cuOccupancyMaxPotentialClusterSize) X(cuParamSetSize) X(cuParamSetTexRef) X(cuParamSetf)       \
  X(cuParamSeti) X(cuParamSetv) X(cuPointerGetAttribute) X(cuPointerGetAttributes)                 \
  X(cuPointerSetAttribute) X(cuProfilerInitialize) X(cuProfilerStart) X(cuProfilerStop)            \
  X(cuSignalExternalSemaphoresAsync) X(cuSignalExternalSemaphoresAsync_ptsz)                       \
  X(cuStreamAddCallback) X(cuStreamAddCallback_ptsz) X(cuStreamAttachMemAsync)                     \
  X(cuStreamAttachMemAsync_ptsz) X(cuStreamBatchMemOp) X(cuStreamBatchMemOp_ptsz)                  \
  X(cuStreamBatchMemOp_v2) X(cuStreamBatchMemOp_v2_ptsz) X(cuStreamBeginCapture)                   \
  X(cuStreamBeginCaptureToGraph) X(cuStreamBeginCaptureToGraph_ptsz) X(cuStreamBeginCapture_ptsz)  \
  X(cuStreamBeginCapture_v2) X(cuStreamBeginCapture_v2_ptsz) X(cuStreamCopyAttributes)             \
  X(cuStreamCopyAttributes_ptsz) X(cuStreamDestroy) X(cuStreamEndCapture)                          \
  X(cuStreamEndCapture_ptsz) X(cuStreamGetAttribute) X(cuStreamGetAttribute_ptsz)                  \
  X(cuStreamGetCaptureInfo) X(cuStreamGetCaptureInfo_ptsz) X(cuStreamGetCaptureInfo_v2)            \
  X(cuStreamGetCaptureInfo_v2_ptsz) X(cuStreamGetCaptureInfo_v3) X(cuStreamGetCaptureInfo_v3_ptsz) \
  X(cuStreamGetCtx) X(cuStreamGetCtx_ptsz) X(cuStreamGetCtx_v2) X(cuStreamGetCtx_v2_ptsz)          \
  X(cuStreamGetDevice) X(cuStreamGetDevice_ptsz) X(cuStreamGetFlags) X(cuStreamGetFlags_ptsz)      \
  X(cuStreamGetGreenCtx) X(cuStreamGetId) X(cuStreamGetId_ptsz) X(cuStreamGetPriority)             \
  X(cuStreamGetPriority_ptsz) X(cuStreamSetAttribute) X(cuStreamSetAttribute_ptsz)                 \
  X(cuStreamUpdateCaptureDependencies) X(cuStreamUpdateCaptureDependencies_ptsz)                   \
  X(cuStreamUpdateCaptureDependencies_v2) X(cuStreamUpdateCaptureDependencies_v2_ptsz)             \
  X(cuStreamWaitValue32) X(cuStreamWaitValue32_ptsz) X(cuStreamWaitValue32_v2)                     \
  X(cuStreamWaitValue32_v2_ptsz) X(cuStreamWaitValue64) X(cuStreamWaitValue64_ptsz)                \
  X(cuStreamWaitValue64_v2) X(cuStreamWaitValue64_v2_ptsz) X(cuStreamWriteValue32)                 \
  X(cuStreamWriteValue32_ptsz) X(cuStreamWriteValue32_v2) X(cuStreamWriteValue32_v2_ptsz)          \
  X(cuStreamWriteValue64) X(cuStreamWriteValue64_ptsz) X(cuStreamWriteValue64_v2)                  \
  X(cuStreamWriteValue64_v2_ptsz) X(cuSurfObjectCreate) X(cuSurfObjectDestroy)                     \
  X(cuSurfObjectGetResourceDesc) X(cuSurfRefGetArray) X(cuSurfRefSetArray)                         \
  X(cuTensorMapEncodeIm2col) X(cuTensorMapEncodeIm2colWide) X(cuTensorMapEncodeTiled)              \
  X(cuTensorMapReplaceAddress) X(cuTexObjectCreate) X(cuTexObjectDestroy)                          \
  X(cuTexObjectGetResourceDesc) X(cuTexObjectGetResourceViewDesc) X(cuTexObjectGetTextureDesc)     \
  X(cuTexRefCreate) X(cuTexRefDestroy) X(cuTexRefGetAddress) X(cuTexRefGetAddressMode)             \
  X(cuTexRefGetAddress_v2) X(cuTexRefGetArray) X(cuTexRefGetBorderColor) X(cuTexRefGetFilterMode)  \
  X(cuTexRefGetFlags) X(cuTexRefGetFormat) X(cuTexRefGetMaxAnisotropy)                             \
  X(cuTexRefGetMipmapFilterMode) X(cuTexRefGetMipmapLevelBias) X(cuTexRefGetMipmapLevelClamp)      \
  X(cuTexRefGetMipmappedArray) X(cuTexRefSetAddress) X(cuTexRefSetAddress2D)                       \
  X(cuTexRefSetAddress2D_v2) X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode)                  \
  X(cuTexRefSetAddress_v2) X(cuTexRefSetArray) X(cuTexRefSetBorderColor) X(cuTexRefSetFilterMode)  \
  X(cuTexRefSetFlags) X(cuTexRefSetFormat) X(cuTexRefSetMaxAnisotropy)                             \
  X(cuTexRefSetMipmapFilterMode) X(cuTexRefSetMipmapLevelBias) X(cuTexRefSetMipmapLevelClamp)      \
  X(cuTexRefSetMipmappedArray) X(cuUserObjectCreate) X(cuUserObjectRelease) X(cuUserObjectRetain)  \
  X(cuVDPAUCtxCreate) X(cuVDPAUCtxCreate_v2) X(cuVDPAUGetDevice) X(cuWGLGetDevice)                 \
  X(cuWaitExternalSemaphoresAsync) X(cuWaitExternalSemaphoresAsync_ptsz)
// clang-format on

namespace umasim {
namespace {

CUresult not_simulated(const char* name) {
  return driver(name, [](const Call&) { return int{umaprobe::kCudaNotSupported}; });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

#define UMASIM_REFUSE(name) \
  UMASIM_API CUresult name() noexcept { return not_simulated(#name); }
UMASIM_NOT_SIMULATED(UMASIM_REFUSE)
