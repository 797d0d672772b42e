/** Views: the free memory that each tool would report for a device. */

import type { DeviceSnapshot, HostMemory, MemoryModel, ResultWord, ViewName } from '../../types/index.ts';
import { hasOwnLimit } from './model.ts';

export interface ViewFacts {
  model: MemoryModel;
  host: HostMemory;
  cuda: DeviceSnapshot['cuda'];
  /**
   * Result of cudaMemGetInfo. `skipped`: its answer is not known to differ from MemFree on an integrated GPU. `failed`: it
   * or the context that it needs was refused. `missing`: CUDA cannot be used, so no program sees this device.
   */
  cudaState: Extract<ResultWord, 'ok' | 'skipped' | 'failed' | 'timeout' | 'missing'>;
  nvml: DeviceSnapshot['nvml'];
  /** Total that CUDA reports for the device, without a context (totalGlobalMem); null: unknown. */
  cudaTotal: number | null;
  /** The reason why `cuda` and `nvml` are null. */
  whyNoCuda: string;
  whyNoNvml: string;
  /** Environment of the process that would start the tool; ggml reads one variable. */
  environment: Record<string, string | undefined>;
}

type View = { bytes: number | null; from: string };

/**
 * The free memory that each tool would report for this device, by the rules in its source code (docs/snapshot.md lists
 * versions). umaprobe's own answer is `allocatable`, and none of these.
 */
export function views(facts: ViewFacts): { bytes: Record<ViewName, number | null>; from: Record<ViewName, string> } {
  const rows: Record<ViewName, View> = {
    cudaMemGetInfo: cudaMemGetInfo(facts),
    torch: torch(facts),
    vllm: psutilWhereIntegrated(facts, 'vLLM', 'cudaMemGetInfo'),
    sglang: psutilWhereIntegrated(facts, 'SGLang', 'cudaSetDevice'),
    llamaCpp: llamaCpp(facts),
    nvidiaGuidance: nvidiaGuidance(facts),
    nvidiaSmi:
      facts.nvml === null
        ? { bytes: null, from: facts.whyNoNvml }
        : { bytes: facts.nvml.free, from: 'NVML memory info, free' },
  };
  const bytes = {} as Record<ViewName, number | null>;
  const from = {} as Record<ViewName, string>;
  for (const name of Object.keys(rows) as ViewName[]) {
    bytes[name] = rows[name].bytes;
    from[name] = rows[name].from;
  }
  return { bytes, from };
}

/**
 * The answer of `cudaMemGetInfo` on an integrated GPU is MemFree, so it is known without a context, unless it fails, or
 * CUDA's total is not MemTotal.
 */
function cudaMemGetInfo({ model, host, cuda, cudaState, cudaTotal, whyNoCuda }: ViewFacts): View {
  if (cuda !== null) return { bytes: cuda.free, from: 'cudaMemGetInfo' };
  if (model === 'unified' && cudaState === 'skipped' && !hasOwnLimit(cudaTotal, host.total))
    return {
      bytes: host.free,
      from: 'MemFree, which is what cudaMemGetInfo reports on an integrated GPU (the call itself was not tried)',
    };
  return { bytes: null, from: whyNoCuda };
}

function torch(facts: ViewFacts): View {
  const { bytes, from } = cudaMemGetInfo(facts);
  const is = 'torch.cuda.mem_get_info is cudaMemGetInfo';
  return { bytes, from: facts.cuda === null ? `${is}: ${from}` : is };
}

/**
 * vLLM (PR 35356) and SGLang (#11287) use psutil, hence MemAvailable, on GPUs that CUDA calls integrated. Both need a
 * context before: vLLM's MemorySnapshot.measure calls torch.cuda.mem_get_info first, for the total; SGLang's
 * ModelRunner.init_torch_distributed calls torch.cuda.set_device and does not catch its error.
 */
function psutilWhereIntegrated(facts: ViewFacts, tool: string, needs: string): View {
  const { cudaState, host, model, whyNoCuda } = facts;
  if (model === 'unified' && cudaState === 'missing') return { bytes: null, from: whyNoCuda };
  if (model === 'unified' && (cudaState === 'failed' || cudaState === 'timeout'))
    return { bytes: null, from: `${tool} calls ${needs} before it takes MemAvailable: ${whyNoCuda}` };
  if (model === 'unified')
    return { bytes: host.available, from: `${tool} takes MemAvailable (psutil) on integrated GPUs` };
  const { bytes, from } = cudaMemGetInfo(facts);
  return { bytes, from: `${tool} takes cudaMemGetInfo on this device: ${from}` };
}

/**
 * ggml's CUDA backend (commit d99724f2): MemAvailable on integrated GPUs, but free huge pages once any are reserved.
 */
function llamaCpp(facts: ViewFacts): View {
  const { cudaState, model, host, whyNoCuda } = facts;
  // ggml_backend_cuda_device_get_memory clears the error, warns, and answers 0 of 0 (PR 25157). A call that does not
  // return leaves no answer.
  if (cudaState === 'failed')
    return { bytes: 0, from: `llama.cpp reports 0 bytes free of 0, because its cudaMemGetInfo fails: ${whyNoCuda}` };
  if (cudaState === 'missing') return { bytes: null, from: `llama.cpp finds no CUDA device: ${whyNoCuda}` };
  if (cudaState === 'timeout') return { bytes: null, from: `llama.cpp waits for cudaMemGetInfo: ${whyNoCuda}` };
  const cudaView = cudaMemGetInfo(facts);
  if (model !== 'unified' && facts.environment.GGML_CUDA_ENABLE_UNIFIED_MEMORY === undefined)
    return { bytes: cudaView.bytes, from: `llama.cpp takes cudaMemGetInfo on this device: ${cudaView.from}` };
  const exception =
    model === 'unified' ? '' : ' (GGML_CUDA_ENABLE_UNIFIED_MEMORY is set, so it treats this device as unified)';
  const { bytes, rule } = meminfoRule(host);
  if (bytes === null || bytes === 0) {
    return {
      bytes: cudaView.bytes,
      from: `llama.cpp found 0 by ${rule} and fell back to cudaMemGetInfo${exception}: ${cudaView.from}`,
    };
  }
  return { bytes, from: `llama.cpp takes ${rule}${exception}` };
}

/** NVIDIA's note on unified memory reporting: MemAvailable, with SwapFree as a separate second answer. */
function nvidiaGuidance({ model, host }: ViewFacts): View {
  if (model !== 'unified') return { bytes: null, from: "NVIDIA's guidance is for unified memory only" };
  const { bytes, rule } = meminfoRule(host);
  const swap =
    host.swapFree === null || hasHugePages(host)
      ? ''
      : `; SwapFree (${host.swapFree} bytes) is its separate second answer`;
  return { bytes, from: `NVIDIA's guidance takes ${rule}${swap}` };
}

function hasHugePages(host: HostMemory): boolean {
  return host.hugePagesTotal !== null && host.hugePagesTotal !== 0;
}

/** Shared by NVIDIA's guidance and ggml: 0 to 2 GiB on an idle machine with huge pages reserved for another purpose. */
function meminfoRule(host: HostMemory): { bytes: number | null; rule: string } {
  if (!hasHugePages(host)) return { bytes: host.available, rule: 'MemAvailable' };
  const bytes =
    host.hugePagesFree === null || host.hugePageSize === null ? null : host.hugePagesFree * host.hugePageSize;
  return { bytes, rule: 'HugePages_Free × Hugepagesize, because huge pages are reserved' };
}
