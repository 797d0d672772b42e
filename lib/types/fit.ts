/** The answer whether something fits into a machine, and each program's own decision there. */

import type {
  EstimatedModel,
  EstimatedSettings,
  EstimateOptions,
  EstimateRange,
  EstimateUse,
  ModelInput,
} from './estimate.ts';
import type { Remedy } from './judgement.ts';
import type { ModelProgram } from './programs.ts';
import type { Amount, Factor, Natural, OfMachine, Positive, Timestamp } from './scalars.ts';
import type { Snapshot } from './snapshot.ts';

/** Programs whose own rule is known. */
export type FitProgram = ModelProgram;

/** The range of an estimate. */
export type FitRange = EstimateRange;

export interface FitTerm extends FitRange {
  /** "weights", "kv-cache". */
  name: string;
}

/** A model and its use. */
export interface FitModel {
  model: ModelInput;
  /** Options of `estimate()`; the program is that of `fit()`. */
  use?: EstimateOptions;
}

/** The terms of an estimate, given by the caller: a report of `estimate()` is one. */
export interface FitEstimate {
  total: FitRange;
  terms: readonly FitTerm[];
  /** Bytes that one more token of context takes; null: unknown, or the model keeps no cache. */
  kvBytesPerToken?: number | null;
  /** `rough`: the total is a rule of thumb, and never becomes a yes. */
  method?: 'breakdown' | 'rough';
  /** The most at any time while it is loaded. */
  loading?: { peak: FitRange };
  use?: {
    /** Tokens of one sequence. */
    context: number;
    /** Number of sequences at the same time. */
    sequences: number;
    /** Use of the model. Default: inference. */
    use?: EstimateUse;
    /** Options of the program, which its flags have to say. Default: not known. */
    settings?: EstimatedSettings;
  };
  model?: Pick<EstimatedModel, 'layers'> &
    Partial<Pick<EstimatedModel, 'source' | 'heads' | 'kvHeads' | 'maxContext' | 'maxContextSglang' | 'mtpLayers'>>;
  /** Fields of its config that may change memory and are not understood: with any it never becomes a yes. */
  unread?: readonly string[];
}

/** The load, given by the caller. A model is estimated for each program; one estimate is used for all. */
export type FitNeed =
  | {
      /** Bytes, 1 or more. */
      bytes: number;
    }
  | FitModel
  | { estimate: FitEstimate };

/**
 * Options by which llama.cpp fits a model to the device by itself (`--fit`), as given on its command line. The defaults
 * are its own.
 */
export interface FitLlamaOptions {
  /** `-fit off` is false: it allocates what it was told, without asking. Default true. */
  fit?: boolean;
  /** `--fit-target`: bytes that it leaves free on the device, 0 or more. Default 1 GiB. */
  targetBytes?: Natural;
  /** `--fit-ctx`: the shortest context that it reduces to, in tokens, 1 or more. Default 4096. */
  leastContext?: Positive;
  /** True if it may reduce the context, as it does without `-c`. Default: not known. */
  mayShorten?: boolean;
  /** `-ngl` is given as a number or "all": it moves no layers to the CPU. Default false. */
  layersAreGiven?: boolean;
}

/** Options that judge a need, given by the caller. */
export interface FitOptions {
  /** The verdict is that of the machine and of this program. Default: of the machine alone. */
  program?: FitProgram;
  /** Version of the program: "0.20.1". Default: the newest rule that is known. */
  programVersion?: string;
  /**
   * Share of memory that the program is started with: vLLM's `--gpu-memory-utilization`, SGLang's
   * `--mem-fraction-static`. Above 0, up to 1. Default: the smallest that holds the need.
   */
  utilization?: number;
  /** CUDA ordinal of the GPU. Default: the one that shares the host's memory, else the first. */
  device?: number;
  /** Options of llama.cpp. */
  llama?: FitLlamaOptions;
  /** Setting to solve for: the report is that of its largest value that fits, or of the smallest if none does. */
  solve?: FitSetting;
  /** True: `solve` also takes a value whose expected size fits now. Default false. */
  acceptTight?: boolean;
  /** Ends the reading of a model. */
  signal?: AbortSignal;
}

/** The machine that is asked about. */
export interface FitMachine {
  /** Result of `snapshot()`. */
  snapshot: Snapshot;
}

/** The question whether a need fits. */
export type FitQuestion = FitNeed & FitOptions & FitMachine;

/** The question which precisions fit: of a model, or of 7, 13 and 70 billion parameters. */
export interface FitTableQuestion extends Partial<FitModel>, Omit<FitOptions, 'solve' | 'acceptTight'>, FitMachine {
  table: true;
}

/** The question for the largest model that fits, by precision, for inference, adapters and full fine-tuning. */
export interface FitLargestQuestion extends Pick<FitOptions, 'program' | 'device' | 'signal'>, FitMachine {
  largest: true;
  /** Options of `estimate()`: context, sequences, batch, optimizer. */
  use?: Omit<EstimateOptions, 'use' | 'program'>;
}

/** Programs of which several may run beside each other: what each takes is known at its start, and does not grow later. */
export const TOGETHER_PROGRAMS = ['vllm', 'llama.cpp', 'ollama'] as const satisfies readonly ModelProgram[];
/** One of `TOGETHER_PROGRAMS`. */
export type TogetherProgram = (typeof TOGETHER_PROGRAMS)[number];

/**
 * The question whether several models fit at the same time, in which order to start them, and with which share, cache
 * and context each, so that the last still starts. Each is judged beside what those before it keep.
 */
export interface FitTogetherQuestion extends Pick<FitOptions, 'programVersion' | 'device' | 'signal'>, FitMachine {
  /** 2 to 16. */
  together: readonly FitModel[];
  /** All models are started with it. */
  program: TogetherProgram;
}

/** `slots`: sequences at the same time. */
export const FIT_SETTINGS = ['context', 'slots', 'batch'] as const;
/** One of `FIT_SETTINGS`. */
export type FitSetting = (typeof FIT_SETTINGS)[number];

/**
 * - `fits`: even the upper end of the range fits.
 * - `fits-after`: the upper end fits once the remedies are done.
 * - `tight`: the expected size fits, now or once the remedies are done; the upper end of the range never does.
 * - `not-now`: a finding says that nothing should be loaded now, whatever the size.
 * - `no`: not even the expected size fits, whatever is done.
 * - `unknown`: a number that decides is missing. Never read this as "fits".
 */
export type FitVerdict = 'fits' | 'fits-after' | 'tight' | 'not-now' | 'no' | 'unknown';

/** A comparison with both sides, in bytes: calculated by `rule` from the need and the snapshot. */
export interface FitInequality {
  left: { name: string; bytes: number };
  /** Relation of the two. */
  relation: '<=' | '>';
  right: { name: string; bytes: number };
  /** The rule in words: "free ≥ ceil(total × 0.92)". */
  rule: string;
}

/** A step after which it fits. */
export interface FitRemedy extends Omit<Remedy, 'gains'> {
  /** Bytes that can be loaded afterwards in addition, by the counters of the snapshot; null: unknown. */
  gains: number | null;
}

/** Decision of a program, by its own rule on its own reading. */
export interface FitProgramReport {
  program: FitProgram;
  /** Versions that the rule applies to: "0.21 and newer". */
  versions: string;
  verdict: FitVerdict;
  /** True if the expected size fits now, without any step; null: unknown. */
  expectedFits: boolean | null;
  /** Bytes that it reads as free, calculated from the snapshot as `from` says; null: unknown. */
  reads: number | null;
  /** Source of that reading. */
  from: string;
  inequality: FitInequality | null;
  /** The program's decision, in one sentence. */
  decision: string;
  /** The line that it prints when it refuses; null: it does not, or prints none. */
  message: string | null;
  /** Its own numbers, in bytes or tokens, calculated by its rule: "requested", "kvCache", "kvTokens". */
  numbers: Record<string, number>;
  /** All that was judged, to paste into its command line, environment or code; null: see `aboutFlags`. */
  flags: string | null;
  /** The reason for missing flags, or for what they leave open, as sentences. */
  aboutFlags: string[];
  remedies: FitRemedy[];
  /** Limits of its rule, as sentences. */
  notes: string[];
}

/**
 * Division of the memory, in bytes, by the counters of the snapshot. The rest of `total` can be loaded, or could be if
 * nothing refused it.
 */
export interface FitPool {
  /** MemTotal, or the memory of the GPU. */
  total: Natural;
  /** Memory in use that cannot be reclaimed. */
  used: Natural;
  /** Free or reclaimable, and not to be loaded: the host's floor, the share of the GPU's other users. */
  kept: Natural;
  /** Free in blocks that are too small for allocations of the GPU. */
  fragmented: Natural;
}

/** The answer whether it fits, and each program's decision. */
export interface FitReport extends OfMachine {
  schema: 'umaprobe/fit/1';
  /** Time of the snapshot, ISO 8601, UTC. */
  at: Timestamp;
  verdict: FitVerdict;
  /** True if the expected size fits now, without any step; null: unknown. `fits-after` and `tight` do not tell. */
  expectedFits: boolean | null;
  /** The verdict in one sentence. */
  summary: string;
  /** The limit that decides: the machine's, or that of a program; null: unknown. */
  binding: 'machine' | FitProgram | null;
  /** The comparison of that limit; null: unknown. */
  inequality: FitInequality | null;
  /** Bytes that are missing: the need less the limit; 0: none; null: unknown. */
  shortBy: Amount | null;
  /**
   * Bytes that could be loaded besides the expected need: the limit less the need; null: it does not fit, or unknown.
   */
  headroom: Amount | null;
  /** The most at any time, the start included, of the memory that the GPU uses: the verdict is about it. */
  need: FitRange & { terms: FitTerm[] };
  /** Part that stays while it serves; less than `need` if the start has the peak. */
  serving: FitRange;
  /** Host memory needed besides, if the GPU has memory of its own; null: it shares that of the host. */
  hostNeed: FitRange | null;
  /** The GPU that is asked about; `index` is its position in the snapshot. null: there is none. */
  device: { index: Natural; name: string | null; memoryModel: 'unified' | 'coherent' | 'discrete' | 'unknown' } | null;
  pool: FitPool | null;
  /**
   * `allocatable.safe` of the snapshot in bytes, and the rule behind it, or why it is unknown. `after`: what can be
   * loaded once the machine's own remedies are done, in bytes, without those whose gain is unknown; null: there are
   * none.
   */
  limit: { bytes: Natural | null; after: Amount | null; from: string };
  /** Steps in the order in which to try them. */
  remedies: FitRemedy[];
  /** Unknowns and steps that were not tried, as sentences. */
  notes: string[];
  /** Settings with which a model fits that does not as asked; null: it fits, or has no settings to change. */
  nearest: FitNearest | null;
  /** The answer to the option `solve`; null: nothing was to be solved. */
  solved: FitSolution | null;
  /** All programs; with the option `program` that one alone. */
  programs: FitProgramReport[];
}

/** The nearest settings with which a model fits: each one change of the question, or one change of several together. */
export interface FitNearest {
  settings: FitNearestSetting[];
  /** Need of the smallest setting, as a sentence, if none fits; null: some fit. */
  none: string | null;
}

/** One setting, or several together, with which the model fits. */
export interface FitNearestSetting {
  /** Setting in place of the one given, calculated by `fit()`. */
  change: {
    /** Number of sequences at the same time. */
    sequences?: Positive;
    /** Tokens of one sequence. */
    context?: Positive;
    kvDtype?: string;
    /**
     * Share of memory of vLLM or SGLang, above 0, up to 1.
     * @exclusiveMinimum 0
     * @maximum 1
     */
    utilization?: number;
    /** Training: number of sequences in one step. */
    batch?: Positive;
  };
  /** "4 sequences". */
  text: string;
  /** Bytes that it takes then. */
  need: FitRange;
  /** Flags of the option `program` for that; null: it has none. */
  flags: string | null;
}

/** The largest value of one setting for which the verdict is still the same kind of yes. */
export interface FitSolution {
  setting: FitSetting;
  /** Tokens or sequences of `setting`: the largest that was calculated to fit; null: not even the smallest fits. */
  value: Positive | null;
  /** `model`: the model was made for no more. `range`: no larger value was tried. */
  limitedBy: 'memory' | 'model' | 'range';
}

/** A table of sizes. */
interface FitOfSizes extends OfMachine {
  /** Time of the snapshot, ISO 8601, UTC. */
  at: Timestamp;
  /** Bytes that can be loaded, by `allocatable.safe` of the snapshot; null: unknown. */
  limit: number | null;
  /** The program whose verdict it is, too; null: the machine's alone. */
  program: FitProgram | null;
}

/** Sizes that fit in each precision: weights, and what else was given. */
export interface FitTable extends FitOfSizes {
  schema: 'umaprobe/fit-table/1';
  /**
   * A row for each size, with its number of parameters, as given; weights, need and headroom (limit less need) in
   * bytes, calculated.
   */
  rows: {
    name: string;
    parameters: number;
    cells: {
      dtype: string;
      weights: Amount;
      need: FitRange;
      verdict: FitVerdict;
      /** True if the expected size fits now, without any step; null: unknown. */
      expectedFits: boolean | null;
      headroom: number | null;
    }[];
  }[];
}

/**
 * The largest model that fits, for each precision and use: dense models of the shape of Llama 3. Sizes in bytes,
 * numbers calculated.
 */
export interface FitLargest extends FitOfSizes {
  schema: 'umaprobe/fit-largest/1';
  /**
   * Tokens of one sequence, and number of sequences at the same time; in training the length and the batch. Given by
   * the caller.
   */
  context: Positive;
  /** Number of sequences, given by the caller. */
  sequences: Positive;
  /** Sequences in one step, given by the caller. */
  batch: Positive;
  /** `full`: full fine-tuning. */
  uses: ('inference' | 'lora' | 'full')[];
  rows: {
    dtype: string;
    /** Bytes with scales, by the format of `dtype`. */
    bytesPerWeight: Factor;
    /** Cells in the order of `uses`; null: nobody uses weights of this type so. */
    cells: ({
      /** Number of parameters of the largest of which even the upper end of the range fits; null: none. */
      parameters: number | null;
      /** The same number, of the expected size. */
      expected: number | null;
      /** Need of `parameters`; null: none fits. */
      need: FitRange | null;
      /** True if the answer is known; false: a number that decides is missing, or nothing can be loaded now. */
      known: boolean;
    } | null)[];
  }[];
}

/** One of several models on one machine. Sizes in bytes, calculated. */
export interface FitTogetherModel {
  name: string;
  /** Its place among the models that were given, from 0. */
  given: Natural;
  /** Bytes that the models before it keep. */
  beside: Amount;
  /** Memory that it keeps while it serves: vLLM's whole share, else the need. */
  holds: FitRange;
  /** The answer of `fit()` beside those before it: its verdict, its peak, its flags. */
  fit: FitReport;
}

/** Answer whether several models fit into one machine at the same time, with the start of each. Sizes in bytes. */
export interface FitTogether
  extends Pick<
    FitReport,
    | 'at'
    | 'simulated'
    | 'verdict'
    | 'expectedFits'
    | 'summary'
    | 'shortBy'
    | 'headroom'
    | 'device'
    | 'pool'
    | 'limit'
    | 'remedies'
    | 'notes'
  > {
  schema: 'umaprobe/fit-together/1';
  program: TogetherProgram;
  /** Memory that all of them hold at the same time; the terms are the models. */
  need: FitRange & { terms: FitTerm[] };
  /**
   * Models in the order of their start: each begins once the one before it serves.
   * @minItems 2
   */
  models: FitTogetherModel[];
  /** Changes with which they fit; null: they fit without, or that is not known. */
  nearest: { settings: FitTogetherSetting[]; none: string | null } | null;
}

/** A change with which several models fit. */
export interface FitTogetherSetting {
  /** Setting in place of the one given, calculated by `fit()`. */
  change: {
    /** The most tokens of one sequence, of each. */
    context?: Positive;
    /** Number of sequences of each. */
    sequences?: Positive;
    /** Position of the model that is left out, among those that were given. */
    without?: Natural;
  };
  /** "at most 8,192 tokens each". */
  text: string;
  /** Memory that they hold then. */
  need: FitRange;
  /** Flags of each model that is started, in that order; null: it has none. */
  flags: (string | null)[];
}
