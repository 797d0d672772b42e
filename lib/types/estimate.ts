/** Estimates of a model's memory, before anything is allocated. */

import type { ModelProgram } from './programs.ts';
import type { Amount, Integer, Natural, Positive } from './scalars.ts';

/** Programs whose own rules an estimate knows. */
export type EstimateProgram = ModelProgram;

/** `inference`, or a way to train: full fine-tuning, adapters, adapters on 4-bit weights, preferences (of all weights, of adapters), policy gradients. */
export const ESTIMATE_USES = ['inference', 'sft', 'lora', 'qlora', 'dpo', 'lora-dpo', 'grpo'] as const;
/** One of `ESTIMATE_USES`. */
export type EstimateUse = (typeof ESTIMATE_USES)[number];

/**
 * Optimizer of a training: its state for each trained parameter, and its step's needs. `adamw` is PyTorch's default
 * (foreach), `adamw-single` has foreach off; 8 bits and paged ones are those of bitsandbytes, 4 bits that of torchao.
 */
export const OPTIMIZERS = [
  'adamw',
  'adamw-fused',
  'adamw-single',
  'adamw-8bit',
  'adamw-4bit',
  'paged-adamw',
  'paged-adamw-8bit',
  'adafactor',
  'lion',
  'sgd',
] as const;
/** One of `OPTIMIZERS`. */
export type Optimizer = (typeof OPTIMIZERS)[number];

/** Parts of a training that the host's memory may keep. */
export const OFFLOADS = ['parameters', 'optimizer', 'activations'] as const;
/** One of `OFFLOADS`. */
export type Offload = (typeof OFFLOADS)[number];

/** Layers that get an adapter: every linear layer, those of attention, or queries and values alone. */
export const LORA_TARGETS = ['all-linear', 'attention', 'queries-values'] as const;
/** One of `LORA_TARGETS`. */
export type LoraTargets = (typeof LORA_TARGETS)[number];

/** Types in which a model is trained. */
export const TRAINING_DTYPES = ['bf16', 'fp16', 'fp32'] as const;
/** One of `TRAINING_DTYPES`. */
export type TrainingDtype = (typeof TRAINING_DTYPES)[number];

/**
 * Bytes, with the range in which the real value is expected: sums by the formula of each term. `low` ≤ `bytes` ≤
 * `high`.
 */
export interface EstimateRange {
  bytes: Natural;
  low: Natural;
  high: Natural;
}

export interface EstimateTerm extends EstimateRange {
  /** Stable name: "weights", "kv-cache". */
  name: string;
  /** The sum behind `bytes`, in the names of `inputs`. */
  formula: string;
  /**
   * Numbers of `formula`, each in the unit that it says (bytes, tokens, layers), from the model's files or the caller.
   */
  inputs: Record<string, number | string | boolean | null>;
}

/** Facts of a model, from its files or the caller's description as `source` says. Sizes in bytes. */
export interface EstimatedModel {
  name: string;
  /** The text that was read: headers of safetensors or GGUF files, a config.json, or only a number of parameters. */
  source: 'safetensors' | 'gguf' | 'config' | 'parameters';
  path: string | null;
  architecture: string | null;
  /** Layers of the main model. */
  layers: Positive | null;
  /** Further layers that predict later tokens; null: unknown. */
  mtpLayers: Natural | null;
  /** Number of attention heads, and the fewest heads of keys and values of a layer; null: unknown, or it has none. */
  heads: Integer | null;
  kvHeads: Integer | null;
  /** Number of parameters: the sum over the tensors, or as given. */
  parameters: Amount | null;
  /** Number and size of the weight files, bytes. */
  files: Natural;
  fileBytes: Natural;
  /** Longest context that the model was made for, in tokens. */
  maxContext: Positive | null;
  /** The same as SGLang reads it from the config. */
  maxContextSglang: Positive | null;
  /** "fp8", "awq", "nvfp4", …; null: not quantised, or a GGUF file, whose tensors say it one by one. */
  quantization: string | null;
  /** Sums of the bytes and parameters by data type of the tensors, largest first. */
  dtypes: { dtype: string; bytes: Natural; parameters: Amount }[];
}

/**
 * A model that `openModel()` has read: functions that take it open no file again. It does not change, and has other fields,
 * which are not part of the interface.
 */
export type Model = Readonly<Pick<EstimatedModel, 'name' | 'source' | 'path' | 'files' | 'fileBytes'>>;

/**
 * A model as functions take it: a folder, a .gguf, .safetensors or config.json file, a name in a model store ("org/name",
 * Ollama's "name:tag"), one on the Hugging Face Hub ("hf:org/name", "hf:org/name@revision:file.gguf"), a description, or one
 * that is open. Only a name with "hf:" is asked for over the network.
 */
export type ModelInput = string | ModelDescription | Model;

/** Progress of reading a model on the Hub: requests and bytes, counted since it began. */
export interface ModelProgress {
  requests: number;
  bytes: number;
}

/**
 * Options of the program that were estimated, as of `EstimateOptions` in the same units, from the caller. null: its own
 * default.
 */
export interface EstimatedSettings {
  kvDtype: string | null;
  /** Tokens that are processed at once. */
  batchTokens: Positive | null;
  flashAttention: boolean;
  swaFull: boolean;
  kvUnified: boolean;
  mla: boolean | null;
  /** Number of devices that share the weights. */
  tensorParallel: Positive;
  /** Number of ranks that have different layers. */
  pipelineParallel: Positive;
  /** Number of ranks that divide the tokens of the cache. */
  decodeContextParallel: Positive;
  mtp: boolean;
  languageModelOnly: boolean;
  mmap: boolean;
}

/** The use that was estimated, as given, with every default filled in. */
export interface EstimatedUse {
  use: EstimateUse;
  program: EstimateProgram | null;
  /** Tokens of one sequence. */
  context: Natural;
  /** Number of sequences at the same time. */
  sequences: Positive;
  /** Data type of the keys and of the values. */
  kvDtype: string;
  /** Training: number of sequences in one step of one device. */
  batch: Positive | null;
  settings: EstimatedSettings;
}

/** Memory that a model takes, term by term, with its uncertainty. Sizes in bytes. */
export interface EstimateReport {
  schema: 'umaprobe/estimate/1';
  model: EstimatedModel;
  use: EstimatedUse;
  /** `breakdown`: term by term. `rough`: the rule of thumb of a published method. */
  method: 'breakdown' | 'rough';
  /** Memory that the process holds while it works. */
  terms: EstimateTerm[];
  total: EstimateRange;
  /** Memory that only the start takes. `peak` is the most at any time, the start included. */
  loading: { terms: EstimateTerm[]; peak: EstimateRange };
  /**
   * Bytes that one more token of context takes in every layer that keeps all of them: the sum by the dimensions of the
   * model; null: the model has no cache.
   */
  kvBytesPerToken: Amount | null;
  /** Fields of the config that may change memory and are not understood: while there are any, it is not known what fits. */
  unread: string[];
  /** Assumptions and unknowns, as sentences. */
  notes: string[];
}

/**
 * A model that is not on this machine: a number of parameters, or the content of a config.json, given by the caller.
 */
export type ModelDescription =
  | {
      /** Number of parameters, 1 to 10^15. */
      params: number;
      /** Data type of the weights, default bf16. */
      dtype?: string;
      /** Hidden size, for the rough formulas of training. */
      hidden?: number;
    }
  | {
      /** The object of a config.json. */
      config: Record<string, unknown>;
      /** Bytes of the weights, where they are known. */
      weightBytes?: number;
      dtype?: string;
    };

/** Options of `estimate()`, given by the caller. Whole numbers are 1 or more where nothing else is said. */
export interface EstimateOptions {
  /** Default `inference`. */
  use?: EstimateUse;
  /** Default: none in particular; the range then covers all of them. */
  program?: EstimateProgram;
  /** Tokens of one sequence; default 4096, or the model's longest if that is less. */
  context?: number;
  /** Number of sequences at the same time; default 1. */
  sequences?: number;
  /** Type of the cache, or of keys and values apart: "f16", "fp8", "q8_0/q4_0". Default: that of the program. */
  kvDtype?: string;
  /** Tokens that are processed at once (llama.cpp's -ub, vLLM's --max-num-batched-tokens). */
  batchTokens?: number;
  /** false: llama.cpp without flash attention, transformers with eager attention, which keep the scores. Default true. */
  flashAttention?: boolean;
  /** llama.cpp --swa-full, and programs that do not shorten the cache of sliding windows. */
  swaFull?: boolean;
  /** llama.cpp --no-kv-unified: a cache for each sequence. Default unified: `context` tokens for each, in one pool. */
  kvUnified?: boolean;
  /** Latent attention (DeepSeek): keep the compressed vector. Default: as the file and the program do. */
  mla?: boolean;
  /**
   * Number of devices that share the weights (tensor parallelism, FSDP); the estimate is for one of them. Default 1.
   */
  tensorParallel?: number;
  /**
   * Number of ranks that have different layers (pipeline parallelism); the estimate is for the one that takes the most.
   * Default 1.
   */
  pipelineParallel?: number;
  /** vLLM, SGLang: number of ranks of `tensorParallel` that divide the tokens of the cache among them. Default 1. */
  decodeContextParallel?: number;
  /** Load the layers that predict further tokens, for speculative decoding. */
  mtp?: boolean;
  /** Leave out the parts for images and sound. */
  languageModelOnly?: boolean;
  /** llama.cpp: map the file instead of reading it. Default true. */
  mmap?: boolean;
  /** Training: default `breakdown`. */
  method?: 'breakdown' | 'rough';
  /** Training: number of sequences in one step; default 1. */
  batch?: number;
  /** Training: recompute activations in the backward pass. Default true. */
  checkpointing?: boolean;
  /** Training: default adamw. */
  optimizer?: Optimizer;
  /** Training: type of the weights. Default: bf16, or fp32 with `mixedPrecision` where the config says so. */
  dtype?: TrainingDtype;
  /** Training: FP32 weights, gradients and optimizer; products in 16 bits (autocast). Default false. */
  mixedPrecision?: boolean;
  /** Training: rank of the adapters, the number of their inner columns; default 16. */
  loraRank?: number;
  /** Training: layers with an adapter; default all-linear. */
  loraTargets?: LoraTargets;
  /** Training: dropout of the adapters, 0 to 1; default 0. Any other keeps a mask. */
  loraDropout?: number;
  /** Training: a loss that never has all logits at once (Liger, cut cross-entropy). Default false. */
  fusedLoss?: boolean;
  /** Training: parts that the host's memory keeps. It is the same memory on a unified machine. */
  offload?: readonly Offload[];
  /**
   * vLLM, SGLang: number of compilers at once in a first start, `MAX_JOBS` of its environment. Default 1, which is to
   * be set.
   */
  maxJobs?: number;
  /** Training: number of processes that load data; default 0, as of PyTorch's DataLoader. */
  workers?: number;
  /** GRPO: share of the machine's memory that the rollout engine takes; default 0.3. */
  rolloutUtilization?: number;
  /** Ends the reading of a model. */
  signal?: AbortSignal;
}

/** Weights of several sizes in several precisions: `parameters × bits / 8`, without cache and buffers. */
export interface EstimateTable {
  schema: 'umaprobe/estimate-table/1';
  /** Data types of the columns. */
  columns: string[];
  /** `bytes` in the order of `columns`: `parameters` (a count) × bits ÷ 8. */
  rows: { name: string; parameters: Positive; bytes: Natural[] }[];
}
