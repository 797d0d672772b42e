/** Starting a program with everything around it: does it fit, room, a guard, a recording, a receipt. */

import type { ClusterState } from './cluster.ts';
import type { EstimateOptions, EstimateRange } from './estimate.ts';
import type { FitLlamaOptions, FitReport, FitVerdict } from './fit.ts';
import type { GuardEvent, GuardReport } from './guard.ts';
import type { Judgement } from './judgement.ts';
import type { PrepareReport } from './prepare.ts';
import type { ModelProgram } from './programs.ts';
import type { Amount, Integer, Natural, Positive, Timestamp } from './scalars.ts';

/**
 * A part of a command line whose memory the estimate does not know. `effect`: whether it takes more memory than estimated,
 * less, or either. A yes of `fit` is not believed where something takes more, nor a no where something takes less.
 */
export interface UnreadPart {
  /** A sentence: "--speculative-config loads a second model." */
  text: string;
  /** What it leaves open. Who names the program or the model answers that part. */
  part: 'program' | 'model' | 'option';
  effect: 'more' | 'less' | 'either';
}

/** Something that a command loads besides its model. */
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
  /** Which GGUF file of a repository, as `modelFile` of the command. */
  modelFile: string | null;
  /** What it is used with, where that differs from the model: its cache's type, its context in tokens of one sequence. */
  use: Pick<EstimateOptions, 'kvDtype' | 'context'>;
}

/** A command line as far as it is understood. Nothing is run or read for it. */
export interface RecognisedCommand {
  /** null: it is none of the known programs, or it does not say what it starts. */
  program: ModelProgram | null;
  /** What the program is started with: "docker run", "env", "uv run"; outermost first. */
  wrappers: string[];
  /** Path or name of the model, on this machine; null: the command does not say. */
  model: string | null;
  /** Which GGUF file of a repository: a quantisation ("Q8_0") or a file name; null: the first choice of the program. */
  modelFile: string | null;
  /** Tokens of one sequence, or of all together with `contextIsShared`; null: the longest that the model was made for. */
  context: Integer | null;
  /** llama.cpp: the context is divided among the sequences. */
  contextIsShared: boolean;
  /** The command says so; otherwise `context` is the program's default, and at most the model's longest. */
  contextIsGiven: boolean;
  /** Sequences at the same time for which memory must be there at the start. */
  sequences: Positive;
  /** vLLM's `--max-num-seqs`, SGLang's `--max-running-requests`: what is left of their share serves up to so many; null: not said. */
  mostSequences: Positive | null;
  /** Options for `estimate()` that the command line names, besides context and sequences. */
  use: EstimateOptions;
  /** vLLM's `--gpu-memory-utilization`, SGLang's `--mem-fraction-static`, or their default; null: other programs. */
  utilization: number | null;
  /** vLLM's `--kv-cache-memory-bytes`. */
  kvCacheBytes: Integer | null;
  /** Models and files that are loaded besides the model. */
  extras: ExtraModel[];
  /** vLLM's `--enable-lora`: room for so many adapters of this rank; null: none. */
  adapterSlots: { adapters: Positive; rank: Positive } | null;
  /** What llama.cpp is told about fitting the model to the device by itself; null: other programs. */
  llama: FitLlamaOptions | null;
  /** Options with a meaning for memory, as they were read. */
  understood: { option: string; value: string }[];
  /** Defaults that were assumed, as sentences. */
  assumed: string[];
  unread: UnreadPart[];
  /** What the guard cannot do for this command, as sentences. */
  limits: string[];
  /** Machines that `mpirun -H` or `srun --nodelist` names; empty: none. */
  hosts: string[];
  /** File of `mpirun --hostfile` with such names; null: none. */
  hostfile: string | null;
}

/** A part of a launch, planned or done. */
export interface LaunchStep {
  step: 'fit' | 'hosts' | 'prepare' | 'guard' | 'record';
  state: 'planned' | 'done' | 'skipped' | 'failed';
  /** What it does, did, or why not, as a sentence. */
  text: string;
}

/** What a launch is going to do. */
export interface LaunchPlan {
  /** Name of the simulated machine; null: real hardware. */
  simulated: string | null;
  command: string[];
  recognised: RecognisedCommand;
  /** Of the machine: that of its snapshot. */
  judgement: Judgement;
  /** `unknown` also where the command is not understood well enough: the program then runs under the guard alone. */
  verdict: FitVerdict;
  /** The verdict as a sentence. */
  summary: string;
  /** What the model takes; null: there is no estimate. */
  expected: LaunchExpectation | null;
  /** null: it was not asked. */
  fit: FitReport | null;
  /** Flags that would fit where those of the command do not; null: there are none, or they fit. */
  flags: LaunchFlags | null;
  /** The other machines; empty: it starts on this one alone. */
  ranks: LaunchRank[];
  steps: LaunchStep[];
}

/** Another machine of a launch, asked before anything is started. */
export interface LaunchRank {
  host: string;
  state: ClusterState;
  /** Whether a rank fits there, as for this machine; null: it gave no usable answer. */
  verdict: FitVerdict | null;
  /** Whether nothing is started because of it. */
  refuses: boolean;
  /** The verdict, or why there is no answer, as a sentence. */
  summary: string;
  /** What to do there, as a clause; null: nothing. */
  next: string | null;
}

/** What the estimate says, in bytes. */
export interface LaunchExpectation {
  /** Name of the model. */
  model: string;
  weights: Natural;
  /** What `fit` judges: the most at any time, of the memory that the GPU uses. */
  total: EstimateRange;
  /** Of the host's memory besides, where the GPU has memory of its own; null: it shares that of the host. */
  host: EstimateRange | null;
  /** Bytes that one more token of context takes; null: unknown, or none. */
  kvBytesPerToken: Integer | null;
  /** Tokens of one sequence. */
  context: Positive;
  sequences: Positive;
  /** What is loaded besides the model; all of it is in `total` and `host`. */
  extras: LaunchExtra[];
}

/** What something takes that is loaded besides the model, in bytes: weights, cache and buffers together. */
export interface LaunchExtra extends EstimateRange {
  /** The option that names it: "--mmproj". */
  option: string;
  /** Path or name. */
  name: string;
}

/** Memory of the machine at one time of a launch, in bytes. */
export interface LaunchReading {
  at: string;
  available: number;
  free: number;
}

/** Memory that stayed the same for a while, as what the launch had taken then. */
export interface LaunchPlateau {
  from: Timestamp;
  to: Timestamp;
  /** What was available before the start less its mean here, in bytes. */
  taken: Integer;
}

/** Memory of a GPU that has its own, before, during and after a launch, by NVML, in bytes. Other programs are in it as well. */
export interface LaunchGpu {
  /** As in the snapshot. */
  index: Natural;
  name: string | null;
  /** What programs can use. */
  total: Natural;
  before: Natural;
  /** The most that was in use; null: NVML did not answer while it ran. */
  peak: Natural | null;
  /** The least that was left; null: NVML did not answer while it ran. */
  left: Integer | null;
  /** In use after the end; null: NVML did not answer. */
  after: Natural | null;
}

/**
 * What a launch took and gave back, in bytes: what was available before (MemAvailable, and the free pages in the processors'
 * lists) less what was while it ran. What other programs took or gave back meanwhile is in these numbers as well.
 */
export interface LaunchReceipt {
  before: { available: Natural; free: Natural };
  took: {
    /** The weights: the plateau that is nearest to what the estimate says. null: no plateau is near, or no estimate. */
    weights: Integer | null;
    /** When the load phase ended; null: it was not told. */
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
  /** Why the memory of a GPU is not in `gpus`, as a sentence; null: there is none, or all were read. */
  gpuProblem: string | null;
  /** What the estimate said; null: there was none. */
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
    /** What came back at the end: what is available less the least in the last second of the program. */
    returned: Integer;
    /** What is not back: what was available before the start less now; 0: everything. */
    missing: Natural;
  } | null;
  flags: LaunchFlags | null;
}

/** Flags that keep the floor. */
export interface LaunchFlags {
  /** To put into the command line instead of its own; null: those that it had kept the floor. */
  safe: string | null;
  /** How they were found, as a sentence. */
  from: string;
}

/** What happens in a launch, besides the events of the guard. Times are ISO 8601, UTC. */
export type LaunchEvent =
  /** These machines are asked by ssh, before there is a plan: each has 15 s. */
  | { type: 'hosts'; at: string; hosts: string[] }
  | { type: 'plan'; at: string; plan: LaunchPlan }
  /** A part is done, skipped or has failed. */
  | { type: 'step'; at: string; step: LaunchStep }
  | GuardEvent;

/** What a launch did. */
export interface LaunchReport {
  schema: 'umaprobe/launch/1';
  /** Start of the launch, ISO 8601, UTC. */
  at: Timestamp;
  /** Name of the simulated machine; null: real hardware. */
  simulated: string | null;
  /**
   * `planned`: a dry run. `refused`: `fit` or the machine says no, and nothing was started. `exited`: the program ended by itself.
   * `stopped`: the guard stopped it. `aborted`: by the signal.
   */
  outcome: 'planned' | 'refused' | 'exited' | 'stopped' | 'aborted';
  /** The outcome as a sentence. */
  summary: string;
  /** What was planned; its steps are those of the end. */
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
  durationMs: Amount;
}
