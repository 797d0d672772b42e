/** Starting a program with everything around it: does it fit, room, a guard, a recording, a receipt. */

import type { ClusterState } from './cluster.ts';
import type { EstimateOptions, EstimateRange } from './estimate.ts';
import type { FitLlamaOptions, FitReport, FitVerdict } from './fit.ts';
import type { GuardEvent, GuardReport } from './guard.ts';
import type { Judgement } from './judgement.ts';
import type { PrepareReport } from './prepare.ts';
import type { ModelProgram } from './programs.ts';
import type { PlanState, ProgramEnd, ResultWord } from './results.ts';
import type { Amount, Integer, Natural, OfMachine, Positive, Timestamp } from './scalars.ts';

/**
 * A part of a command line whose memory the estimate does not know. `effect`: whether it takes more memory than estimated,
 * less, or either. A yes of `fit` is not believed where something takes more, nor a no where something takes less.
 */
export interface UnreadPart {
  /** A sentence: "--speculative-config loads a second model." */
  text: string;
  /** The open part. A caller who names the program or the model answers it. */
  part: 'program' | 'model' | 'option';
  effect: 'more' | 'less' | 'either';
}

/** A model that a command loads besides its main one. */
export interface ExtraModel {
  /**
   * `draft`: a small model that proposes tokens, with a cache and buffers of its own. `projector`: what sees and hears for
   * the model. `adapter`: LoRA. `control-vector`: one vector for each layer.
   */
  kind: 'draft' | 'projector' | 'adapter' | 'control-vector';
  /** The option that names it: "--mmproj". */
  option: string;
  /** Path or name, on this machine. */
  model: string;
  /** The GGUF file of a repository, as `modelFile` of the command. */
  modelFile: string | null;
  /** Options that differ from the model's: its cache's type, its context in tokens of one sequence. */
  use: Pick<EstimateOptions, 'kvDtype' | 'context'>;
}

/**
 * The understood part of a command line, whose numbers are those given there or the program's defaults. Nothing is run
 * or read for it.
 */
export interface RecognisedCommand {
  /** null: it is none of the known programs, or it does not say what it starts. */
  program: ModelProgram | null;
  /** Commands that start the program: "docker run", "env", "uv run"; outermost first. */
  wrappers: string[];
  /** Path or name of the model, on this machine; null: the command does not say. */
  model: string | null;
  /** The GGUF file of a repository: a quantisation ("Q8_0") or a file name; null: the first choice of the program. */
  modelFile: string | null;
  /** Tokens of one sequence, or of all together with `contextIsShared`; null: the longest that the model was made for. */
  context: Integer | null;
  /** llama.cpp: the context is divided among the sequences. */
  contextIsShared: boolean;
  /** The command says so; otherwise `context` is the program's default, and at most the model's longest. */
  contextIsGiven: boolean;
  /** Number of sequences at the same time for which memory must be there at the start. */
  sequences: Positive;
  /** vLLM's `--max-num-seqs`, SGLang's `--max-running-requests`: what is left of their share serves up to so many; null: not said. */
  mostSequences: Positive | null;
  /** Options for `estimate()` that the command line names, besides context and sequences. */
  use: EstimateOptions;
  /**
   * Share of memory, 0 to 1: vLLM's `--gpu-memory-utilization`, SGLang's `--mem-fraction-static`, or their default;
   * null: other programs.
   */
  utilization: number | null;
  /** vLLM's `--kv-cache-memory-bytes`. */
  kvCacheBytes: Integer | null;
  /** Models and files that are loaded besides the model. */
  extras: ExtraModel[];
  /** vLLM's `--enable-lora`: room for that number of adapters of this rank; null: none. */
  adapterSlots: { adapters: Positive; rank: Positive } | null;
  /** Options by which llama.cpp fits the model to the device by itself; null: other programs. */
  llama: FitLlamaOptions | null;
  /** Options with a meaning for memory, as they were read. */
  understood: { option: string; value: string }[];
  /** Defaults that were assumed, as sentences. */
  assumed: string[];
  unread: UnreadPart[];
  /** Limits of the guard for this command, as sentences. */
  limits: string[];
  /** Machines that `mpirun -H` or `srun --nodelist` names; empty: none. */
  hosts: string[];
  /** File of `mpirun --hostfile` with such names; null: none. */
  hostfile: string | null;
}

/** A part of a launch, planned or done. */
export interface LaunchStep {
  step: 'fit' | 'hosts' | 'prepare' | 'guard' | 'record';
  state: PlanState;
  /** The step, its result, or the reason against it, as a sentence. */
  text: string;
}

/** The plan of a launch. */
export interface LaunchPlan extends OfMachine {
  command: string[];
  recognised: RecognisedCommand;
  /** Judgement of the machine's snapshot. */
  judgement: Judgement;
  /** `unknown` also where the command is not understood well enough: the program then runs under the guard alone. */
  verdict: FitVerdict;
  /** The verdict as a sentence. */
  summary: string;
  /** Memory that the model takes; null: there is no estimate. */
  expected: LaunchExpectation | null;
  /** null: it was not asked. */
  fit: FitReport | null;
  /** Flags that would fit if the command's do not; null: there are none, or they fit. */
  flags: LaunchFlags | null;
  /** The other machines; empty: it starts on this one alone. */
  ranks: LaunchRank[];
  steps: LaunchStep[];
}

/** Another machine of a launch, asked before anything is started. */
export interface LaunchRank {
  host: string;
  state: ClusterState;
  /** The verdict on a rank there, as for this machine; null: it gave no usable answer. */
  verdict: FitVerdict | null;
  /** True if nothing is started because of it. */
  refuses: boolean;
  /** The verdict, or why there is no answer, as a sentence. */
  summary: string;
  /** The step to do there, as a clause; null: nothing. */
  next: string | null;
}

/** The estimate's answer, in bytes: sums of the terms of `estimate()`. */
export interface LaunchExpectation {
  /** Name of the model. */
  model: string;
  weights: Natural;
  /** The amount that `fit` judges: the most at any time, of the memory that the GPU uses. */
  total: EstimateRange;
  /** Host memory besides, if the GPU has memory of its own; null: it shares that of the host. */
  host: EstimateRange | null;
  /** Bytes that one more token of context takes; null: unknown, or none. */
  kvBytesPerToken: Integer | null;
  /** Tokens of one sequence. */
  context: Positive;
  /** Number of sequences at the same time. */
  sequences: Positive;
  /** Models that are loaded besides it; all of it is in `total` and `host`. */
  extras: LaunchExtra[];
}

/** Memory of a model that is loaded besides the main one, in bytes: weights, cache and buffers together. */
export interface LaunchExtra extends EstimateRange {
  /** The option that names it: "--mmproj". */
  option: string;
  /** Path or name. */
  name: string;
}

/**
 * Memory of the machine at one time of a launch, in bytes: MemFree, and as `available` MemAvailable and the free pages
 * in the processors' lists.
 */
export interface LaunchReading {
  at: string;
  available: number;
  free: number;
}

/** Memory that the launch had taken and that stayed the same for a while. */
export interface LaunchPlateau {
  from: Timestamp;
  to: Timestamp;
  /** Memory available before the start less its mean here, in bytes. */
  taken: Integer;
}

/** Memory of a GPU that has its own, before, during and after a launch, by NVML, in bytes. Other programs are in it as well. */
export interface LaunchGpu {
  /** Index in the snapshot. */
  index: Natural;
  name: string | null;
  /** Memory that programs can use. */
  total: Natural;
  before: Natural;
  /** The most that was in use; null: NVML did not answer while it ran. */
  peak: Natural | null;
  /** The least that was left; null: NVML did not answer while it ran. */
  left: Integer | null;
  /** Memory in use after the end; null: NVML did not answer. */
  after: Natural | null;
}

/**
 * Memory that a launch took and gave back, in bytes: available memory (MemAvailable, and the free pages in the
 * processors' lists) before the start less that while it ran. Changes of other programs are included.
 */
export interface LaunchReceipt {
  before: { available: Natural; free: Natural };
  took: {
    /** The weights: the plateau that is nearest to the estimate's number. null: no plateau is near, or no estimate. */
    weights: Integer | null;
    /** Amount when the load phase ended; null: the end was not told. */
    loaded: Integer | null;
    /** The most at any time. */
    peak: Natural;
    /** The longest plateau; null: memory was never the same for 2 s. */
    plateau: Integer | null;
    /** All plateaus, in the order of time. */
    plateaus: LaunchPlateau[];
  };
  /** GPUs with memory of their own on which memory was taken, the fullest first. Everything else is of the host. */
  gpus: LaunchGpu[];
  /** The reason why a GPU's memory is not in `gpus`, as a sentence; null: there is none, or all were read. */
  gpuProblem: string | null;
  /** Memory that the estimate expected; null: there was none. */
  expected: LaunchExpectation | null;
  /** The most that the processes of the command held themselves; null: not read. */
  own: { bytes: Integer | null; gpuBytes: Integer | null };
  /** The least that was available less the floor: below 0 the host had less than it needs. */
  headroom: Integer;
  floor: { bytes: Natural; from: string };
  /** null: it was not read after the end. */
  after: {
    available: Natural;
    free: Natural;
    /** Memory that came back at the end: available memory less its least in the last second of the program. */
    returned: Integer;
    /** Memory that is not back: available memory before the start less that now; 0: all is back. */
    missing: Natural;
  } | null;
  flags: LaunchFlags | null;
}

/** Flags that keep the floor. */
export interface LaunchFlags {
  /** Flags for the command line instead of its own; null: its own kept the floor. */
  safe: string | null;
  /** Source of the flags, as a sentence. */
  from: string;
}

/** Events of a launch, besides those of the guard. Times are ISO 8601, UTC. */
export type LaunchEvent =
  /** These machines are asked by ssh, before there is a plan: each has 15 s. */
  | { type: 'hosts'; at: string; hosts: string[] }
  | { type: 'plan'; at: string; plan: LaunchPlan }
  /** A part is done, skipped or has failed. */
  | { type: 'step'; at: string; step: LaunchStep }
  | GuardEvent;

/** Result of a launch. */
export interface LaunchReport extends OfMachine {
  schema: 'umaprobe/launch/1';
  /** Start of the launch, ISO 8601, UTC. */
  at: Timestamp;
  /** `refused`: `fit` or the machine says no, and nothing was started. */
  outcome: ProgramEnd | Extract<ResultWord, 'planned' | 'refused'>;
  /** The outcome as a sentence. */
  summary: string;
  /** The plan; its steps are those of the end. */
  plan: LaunchPlan;
  /** null: no room was made. */
  prepare: PrepareReport | null;
  /** null: nothing was started. */
  guard: GuardReport | null;
  /**
   * The recording: its folder, null where nothing was recorded, and why nothing or not everything was, null where all is on disk.
   * null: it was not wanted, nothing was started, or a recorder ran already.
   */
  record: { folder: string | null; failure: string | null } | null;
  /** null: nothing was started, or MemAvailable could not be read. */
  receipt: LaunchReceipt | null;
  /** Duration of the call by the monotonic clock. */
  durationMs: Amount;
}
