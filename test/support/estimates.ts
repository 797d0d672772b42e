/** Parts of estimates for tests: a use with its defaults, and a model of which only the architecture is known. */
import type { Use } from '../../lib/models/estimate/use.ts';
import type { Architecture } from '../../lib/models/files/architecture.ts';
import { emptyModel, type ModelFacts } from '../../lib/models/files/model.ts';
import type { Quantization } from '../../lib/models/files/quantization.ts';

export function useOf(options: Partial<Use> = {}): Use & { context: number } {
  return {
    use: 'inference',
    program: null,
    sequences: 1,
    kvDtype: null,
    batchTokens: null,
    flashAttention: true,
    swaFull: false,
    kvUnified: true,
    mla: null,
    tensorParallel: 1,
    pipelineParallel: 1,
    decodeContextParallel: 1,
    mtp: false,
    languageModelOnly: false,
    mmap: true,
    method: 'breakdown',
    batch: 1,
    checkpointing: true,
    optimizer: 'adamw',
    dtype: null,
    mixedPrecision: false,
    loraRank: 16,
    loraTargets: 'all-linear',
    loraDropout: 0,
    fusedLoss: false,
    offload: [],
    maxJobs: 1,
    workers: 0,
    rolloutUtilization: 0.3,
    ...options,
    context: options.context ?? 4096,
  };
}

export function modelWith(architecture: Architecture | null, quantization: Quantization | null = null): ModelFacts {
  return { ...emptyModel('test', 'config'), architecture, quantization };
}
