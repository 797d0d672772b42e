/** The configuration that was judged, in the spelling of each program. Pure. */

import type { EstimatedSettings, FitProgram, FitProgramReport } from '../../types/index.ts';
import { MODEL_PROGRAMS } from '../../types/programs.ts';
import type { JudgedUse } from './options.ts';
import { isAtLeast, isWeightsAlone, type ProgramInput } from './program.ts';

export type Flags = Pick<FitProgramReport, 'flags' | 'aboutFlags'>;

/** Words of a command line; a sentence where the program cannot be told this way. */
type Said = readonly string[] | string;

/** Settings besides the context, the sequences and the cache's type. */
type Setting = Exclude<keyof EstimatedSettings, 'kvDtype'>;

interface Spelling {
  length(use: JudgedUse): readonly string[];
  /** Flags for the types of keys and of values, in lower case. */
  cacheType(key: string, value: string, settings: EstimatedSettings): Said;
  /** Settings that are counted for this program. The others change nothing there. */
  settings: Partial<Record<Setting, (settings: EstimatedSettings, version: string | null) => Said>>;
}

/**
 * Types of a cache that a program knows.
 *
 * @param others its name of a type: the names that are given for it.
 * @param same types that it calls as they are given.
 */
function typesOf(others: Readonly<Record<string, string>>, same: string): ReadonlyMap<string, string> {
  const named = Object.entries(others).flatMap(([type, names]) =>
    names.split(' ').map((name) => [name, type] as const),
  );
  return new Map([...named, ...same.split(' ').map((name) => [name, name] as const)]);
}

const HALF = 'f16 fp16 float16';
const BRAIN = 'bf16 bfloat16';
const VLLM_TYPES = typesOf({ float16: HALF, bfloat16: BRAIN }, 'fp8 fp8_e4m3 fp8_e5m2 nvfp4');
const SGLANG_TYPES = typesOf({ bfloat16: BRAIN, fp8_e4m3: 'fp8 fp8_e4m3' }, 'fp8_e5m2 fp4_e2m1');
const TRTLLM_TYPES = typesOf({ fp8: 'fp8 fp8_e4m3' }, 'nvfp4');
const LLAMA_TYPES = typesOf({ f32: 'f32 fp32 float32', f16: HALF, bf16: BRAIN }, 'q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl');
const OLLAMA_TYPES = typesOf({ f16: HALF }, 'q8_0 q4_0');

/** Build of llama.cpp that removed --no-mmap (PR 28334, 2026-09-09). */
const WITHOUT_NO_MMAP = '10875';
/** --batch-size of llama.cpp, which limits --ubatch-size. */
const LLAMA_BATCH = 2048;

const SPELLINGS: Readonly<Partial<Record<FitProgram, Spelling>>> = {
  vllm: {
    length: ({ context, sequences }) => ['--max-model-len', `${context}`, '--max-num-seqs', `${sequences}`],
    cacheType: (key, value) => oneType('--kv-cache-dtype', VLLM_TYPES, key, value),
    settings: {
      batchTokens: ({ batchTokens }) => ['--max-num-batched-tokens', `${batchTokens}`],
      swaFull: () => ['--disable-hybrid-kv-cache-manager'],
      mla: ({ mla }) =>
        mla === true ? [] : 'latent attention is switched off by the variable VLLM_MLA_DISABLE=1 alone',
      tensorParallel: ({ tensorParallel }) => ['--tensor-parallel-size', `${tensorParallel}`],
      pipelineParallel: ({ pipelineParallel }) => ['--pipeline-parallel-size', `${pipelineParallel}`],
      decodeContextParallel: ({ decodeContextParallel }) => [
        '--decode-context-parallel-size',
        `${decodeContextParallel}`,
      ],
      // A shell would take the braces and quotes of JSON.
      mtp: () => ['--speculative-config.method', 'mtp', '--speculative-config.num_speculative_tokens', '1'],
      languageModelOnly: () => ['--language-model-only'],
    },
  },
  sglang: {
    length: ({ context, sequences }) => ['--context-length', `${context}`, '--max-running-requests', `${sequences}`],
    cacheType: (key, value) => oneType('--kv-cache-dtype', SGLANG_TYPES, key, value),
    settings: {
      batchTokens: ({ batchTokens }) => ['--chunked-prefill-size', `${batchTokens}`],
      swaFull: () => ['--disable-hybrid-swa-memory'],
      mla: ({ mla }) => (mla === true ? [] : 'there is no flag that switches latent attention off'),
      tensorParallel: ({ tensorParallel }) => ['--tp-size', `${tensorParallel}`],
      pipelineParallel: ({ pipelineParallel }) => ['--pp-size', `${pipelineParallel}`],
      decodeContextParallel: ({ decodeContextParallel }) => ['--dcp-size', `${decodeContextParallel}`],
      mtp: () => ['--speculative-algorithm', 'NEXTN'],
      languageModelOnly: () => 'there is no flag that leaves out the parts for images and sound',
    },
  },
  trtllm: {
    length: ({ context, sequences }) => ['--max_seq_len', `${context}`, '--max_batch_size', `${sequences}`],
    cacheType: (key, value) => oneType('--kv_cache_dtype', TRTLLM_TYPES, key, value),
    settings: {
      batchTokens: ({ batchTokens }) => ['--max_num_tokens', `${batchTokens}`],
      swaFull: () => 'whether windows keep every token is max_attention_window of a file for --config',
      mla: ({ mla }) => (mla === true ? [] : 'there is no flag that switches latent attention off'),
      tensorParallel: ({ tensorParallel }) => ['--tp_size', `${tensorParallel}`],
      pipelineParallel: ({ pipelineParallel }) => ['--pp_size', `${pipelineParallel}`],
      decodeContextParallel: () => 'there is no flag that divides the tokens of the cache in decoding alone',
      mtp: () => 'layers for speculation are speculative_config of a file for --config',
      languageModelOnly: () => 'there is no flag that leaves out the parts for images and sound',
    },
  },
  'llama.cpp': {
    // It has a pool for each sequence with -np, unless it is told otherwise.
    length: ({ context, sequences, settings }) => [
      ...['-c', `${context * sequences}`, '-np', `${sequences}`],
      ...(sequences > 1 && settings?.kvUnified !== false ? ['--kv-unified'] : []),
    ],
    cacheType(key, value, { flashAttention }) {
      const [keys, values] = [LLAMA_TYPES.get(key), LLAMA_TYPES.get(value)];
      if (keys === undefined || values === undefined) return noType([key, value], LLAMA_TYPES);
      if (!flashAttention && isQuantised(values)) return 'a quantised cache of values needs flash attention';
      return ['-ctk', keys, '-ctv', values];
    },
    settings: {
      batchTokens: ({ batchTokens }) =>
        (batchTokens ?? 0) > LLAMA_BATCH
          ? ['-b', `${batchTokens}`, '-ub', `${batchTokens}`]
          : ['-ub', `${batchTokens}`],
      flashAttention: () => ['-fa', 'off'],
      swaFull: () => ['--swa-full'],
      kvUnified: () => ['--no-kv-unified'],
      mla: () => 'whether latent attention is expanded is decided by the file',
      tensorParallel: () => 'there is no flag for a number of devices that share each layer',
      pipelineParallel: () => 'layers on other machines are told by --rpc and their addresses',
      decodeContextParallel: () => 'there is no flag that divides the tokens of the cache',
      mtp: () => ['--spec-type', 'draft-mtp'],
      languageModelOnly: () => ['--no-mmproj'],
      mmap: (_, version) => (isAtLeast(version, WITHOUT_NO_MMAP) ? ['--load-mode', 'none'] : ['--no-mmap']),
    },
  },
  ollama: {
    length: ({ context, sequences }) => [`OLLAMA_CONTEXT_LENGTH=${context}`, `OLLAMA_NUM_PARALLEL=${sequences}`],
    cacheType(key, value, { flashAttention }) {
      const said = oneType('OLLAMA_KV_CACHE_TYPE', OLLAMA_TYPES, key, value);
      if (typeof said === 'string') return said;
      const [name, type = ''] = said;
      if (!isQuantised(type)) return [`${name}=${type}`];
      // Older builds ignore the type without flash attention.
      return flashAttention
        ? ['OLLAMA_FLASH_ATTENTION=1', `${name}=${type}`]
        : 'a quantised cache needs flash attention';
    },
    settings: {
      batchTokens: ({ batchTokens }) =>
        `the tokens of a step are a parameter of the Modelfile: PARAMETER num_batch ${batchTokens}`,
      flashAttention: () => ['OLLAMA_FLASH_ATTENTION=0'],
      swaFull: () => 'there is no variable that keeps every token of a sliding window',
      kvUnified: () => 'there is no variable that gives each sequence a cache of its own',
      mla: () => 'whether latent attention is expanded is decided by the file',
      tensorParallel: () => 'there is no variable for a number of devices that share each layer',
      pipelineParallel: () => 'there is no variable for layers on other machines',
      decodeContextParallel: () => 'there is no variable that divides the tokens of the cache',
      mtp: () => 'there is no variable that loads layers for speculation',
      languageModelOnly: () => 'there is no variable that leaves out the parts for images and sound',
      mmap: () => 'whether the file is mapped is a parameter of the Modelfile: PARAMETER use_mmap false',
    },
  },
};

/** Tells whether a setting differs from the program's default, and how a person writes it. */
const GIVEN: Readonly<Record<Setting, { is(settings: EstimatedSettings): boolean; option: string }>> = {
  batchTokens: { is: ({ batchTokens }) => batchTokens !== null, option: '--batch-tokens' },
  flashAttention: { is: ({ flashAttention }) => !flashAttention, option: '--no-flash-attn' },
  swaFull: { is: ({ swaFull }) => swaFull, option: '--swa-full' },
  kvUnified: { is: ({ kvUnified }) => !kvUnified, option: '--no-kv-unified' },
  mla: { is: ({ mla }) => mla !== null, option: '--no-mla' },
  tensorParallel: { is: ({ tensorParallel }) => tensorParallel > 1, option: '--tensor-parallel' },
  pipelineParallel: { is: ({ pipelineParallel }) => pipelineParallel > 1, option: '--pipeline-parallel' },
  decodeContextParallel: {
    is: ({ decodeContextParallel }) => decodeContextParallel > 1,
    option: '--decode-context-parallel',
  },
  mtp: { is: ({ mtp }) => mtp, option: '--mtp' },
  languageModelOnly: { is: ({ languageModelOnly }) => languageModelOnly, option: '--language-model-only' },
  mmap: { is: ({ mmap }) => !mmap, option: '--no-mmap' },
};

/**
 * The flags with which a program starts the judged model. There are none if a judged option has no flag: a start
 * without it would take another amount of memory.
 *
 * @param own decisions of its rule: its share, the place of its layers.
 */
export function flagsFor(program: FitProgram, input: ProgramInput, own: readonly string[]): Flags {
  const { need, version } = input;
  const spelling = SPELLINGS[program];
  const name = MODEL_PROGRAMS[program];
  if (spelling === undefined) return none(`${name} has no command line: its settings are in your code.`);
  if (isWeightsAlone(need)) return none('Its KV cache is not counted, so its flags are not known.');
  const { use } = need;
  if (use === null) {
    const takesShare = program === 'vllm' || program === 'sglang';
    return takesShare ? some(own, []) : none(`${name} is told a context, which a size in bytes does not say.`);
  }
  if (use.purpose !== 'inference') return none(`${name} does not train.`);
  const said = [spelling.length(use), ...settingsOf(spelling, use, version)];
  const cannot = said.find((words) => typeof words === 'string');
  if (cannot !== undefined) return none(`${name} cannot be told by flags what was judged: ${cannot}.`);
  return some([...own, ...said.flat()], leftOpen(program, spelling, use.settings, version));
}

function settingsOf({ cacheType, settings: spelled }: Spelling, use: JudgedUse, version: string | null): Said[] {
  const { settings } = use;
  if (settings === null) return [];
  const [key, value = key] = settings.kvDtype?.split('/') ?? [];
  return [
    ...(key === undefined || value === undefined ? [] : [cacheType(key, value, settings)]),
    ...(Object.keys(GIVEN) as Setting[]).flatMap((setting) =>
      GIVEN[setting].is(settings) ? [spelled[setting]?.(settings, version) ?? []] : [],
    ),
  ];
}

/** Settings that are judged and not counted, and builds that want another spelling. */
function leftOpen(
  program: FitProgram,
  spelling: Spelling,
  settings: EstimatedSettings | null,
  version: string | null,
): string[] {
  if (settings === null) return [];
  const ignored = (Object.keys(GIVEN) as Setting[]).filter(
    (setting) => GIVEN[setting].is(settings) && spelling.settings[setting] === undefined,
  );
  const options = ignored.map((setting) => GIVEN[setting].option).join(', ');
  return [
    ...(ignored.length === 0
      ? []
      : [`${MODEL_PROGRAMS[program]} has no flag for ${options}, and nothing is counted for it.`]),
    ...(settings.tensorParallel * settings.pipelineParallel > 1 ? [RANKS] : []),
    ...(program === 'llama.cpp' && version === null && !settings.mmap ? [LOAD_MODE] : []),
  ];
}

const RANKS =
  'What was judged is one rank. The flags are the same on each machine; its rank and the address of the first are yours to add.';
const LOAD_MODE = `Builds before the end of July 2026 know --no-mmap instead of --load-mode none, and since b${WITHOUT_NO_MMAP} the other is refused: name yours with --program-version.`;

/** Programs with one type for keys and values. */
function oneType(option: string, types: ReadonlyMap<string, string>, key: string, value: string): Said {
  const [keys, values] = [types.get(key), types.get(value)];
  if (keys === undefined || values === undefined) return noType([key, value], types);
  return keys === values ? [option, keys] : `keys and values have one type, and not ${key} and ${value}`;
}

function noType(names: readonly string[], types: ReadonlyMap<string, string>): string {
  const unknown = names.find((name) => !types.has(name));
  return `there is no cache of the type ${unknown}, but ${[...new Set(types.values())].join(', ')}`;
}

function isQuantised(type: string): boolean {
  return /^i?q\d/.test(type);
}

function some(words: readonly string[], aboutFlags: string[]): Flags {
  return { flags: words.join(' '), aboutFlags };
}

/** @param why as a sentence. */
export function none(why: string): Flags {
  return { flags: null, aboutFlags: [why] };
}
