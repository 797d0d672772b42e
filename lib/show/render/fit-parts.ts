/** Pictures of `fit`, in the terminal and on a page: the parts of the pool, and their names. */
import { clean, formatBytes, formatCount } from '../../base/format.ts';
import type {
  FitLargest,
  FitPool,
  FitReport,
  FitSolution,
  FitTogether,
  FitTogetherModel,
  FitVerdict,
} from '../../types/index.ts';
import { type KindStyle, lettersOf, styleAt } from './kinds.ts';

/** Look of a verdict: capitals at the prompt, and its severity. */
export const VERDICTS: Readonly<
  Record<FitVerdict, readonly [label: string, style: 'ok' | 'notice' | 'warning' | 'danger']>
> = {
  fits: ['FITS', 'ok'],
  'fits-after': ['FITS AFTER', 'notice'],
  tight: ['TIGHT', 'warning'],
  'not-now': ['NOT NOW', 'danger'],
  no: ['NO', 'danger'],
  unknown: ['UNKNOWN', 'warning'],
};

/** Terms of an estimate in a reader's words; a name that is not here is shown as it is. */
export const TERM_LABELS: Readonly<Record<string, string>> = {
  weights: 'weights',
  'output-copy': 'copy of the embedding',
  'kv-cache': 'KV cache',
  'recurrent-state': 'recurrent states',
  'compute-buffer': 'compute buffer',
  'compute-buffer-host': 'host buffer',
  activations: 'activations',
  'cuda-graphs': 'CUDA graphs',
  runtime: 'the process itself',
  gradients: 'gradients',
  optimizer: 'optimizer',
  adapters: 'adapters',
  'adapter-slots': 'room for adapters',
  'control-vector': 'control vectors',
  projector: 'projector',
  'draft-weights': 'draft weights',
  'draft-output-copy': 'copy of the draft’s embedding',
  'draft-kv-cache': 'draft KV cache',
  'draft-recurrent-state': 'draft states',
  'draft-compute-buffer': 'draft compute buffer',
  'draft-compute-buffer-host': 'draft host buffer',
  'draft-activations': 'draft activations',
  logits: 'logits',
  'reference-model': 'reference model',
  'rollout-engine': 'rollout engine',
  'data-workers': 'data workers',
  'optimizer-step': 'optimizer’s step',
  'autocast-copies': 'autocast copies',
  workspace: 'cuBLAS workspaces',
  'allocator-slack': 'allocator slack',
  'cuda-context': 'CUDA context',
  'host-process': 'process on the host',
  'offloaded-parameters': 'offloaded weights',
  'offloaded-optimizer': 'offloaded optimizer',
  'offloaded-activations': 'offloaded activations',
  'checkpoint-copy': 'copy for a checkpoint',
  'page-cache': 'page cache of the files',
  staging: 'staging buffers',
  compilation: 'compilers of kernels',
  'encoder-profile': 'pictures of the profiling run',
  start: 'more for a while',
};

export interface FitPart {
  letter: string;
  style: KindStyle | 'unattributed' | 'free' | 'kernel';
  name: string;
  bytes: number;
}

/** Facts from which the picture of a pool is drawn. */
export type Pooled = Pick<FitReport, 'device' | 'limit' | 'need' | 'pool'>;

/** Bytes that the parts of a pool leave. */
export const loadableOf = ({ fragmented, kept, total, used }: FitPool): number => total - used - kept - fragmented;

/** Parts in the order of the bar: in use, the need by its terms, memory that stays, memory that cannot be loaded. */
export function fitParts({ device, need, pool }: Pooled): FitPart[] {
  if (pool === null) return [];
  const { fragmented, kept, used } = pool;
  const loadable = loadableOf(pool);
  const size = need.bytes;
  const eaten = Math.max(0, size - loadable);
  const names = need.terms.map(({ name }) => (name === 'bytes' ? 'need' : (TERM_LABELS[name] ?? clean(name))));
  const letters = lettersOf(['used', 'host', 'fragmented', ...names]).slice(3);
  const terms = need.terms.map(({ bytes }, index) => ({
    letter: letters[index] ?? '?',
    style: styleAt(index),
    name: names[index] ?? '',
    bytes,
  }));
  const keeper = device?.memoryModel === 'unified' ? 'kept for the host' : 'kept for its other users';
  return [
    { letter: 'U', style: 'unattributed', name: 'in use', bytes: used },
    ...terms,
    { letter: '.', style: 'free', name: 'can still be loaded', bytes: Math.max(0, loadable - size) },
    { letter: 'F', style: 'kernel', name: 'in blocks too small for a GPU', bytes: Math.max(0, fragmented - eaten) },
    { letter: 'H', style: 'kernel', name: keeper, bytes: Math.max(0, kept - Math.max(0, eaten - fragmented)) },
  ];
}

/** The most at any time beside memory that stays; null: nothing takes more for a while. */
export function peakParts({ need, serving }: FitReport): { peak: string; stays: string } | null {
  if (need.bytes <= serving.bytes && need.high <= serving.high) return null;
  const isTraining = need.terms.some(({ name }) => name === 'allocator-slack');
  return isTraining
    ? { peak: 'while a checkpoint is written', stays: 'while it trains' }
    : { peak: 'peak of the start', stays: 'while serving' };
}

/** Name of the whole pool. */
export function memoryName({ device }: Pick<FitReport, 'device'>): string {
  return device?.memoryModel === 'unified' ? 'total (MemTotal)' : 'total of the GPU';
}

/** The settings with which it fits, as lines; of one model with the flags of the first where a program was named. */
export function nearestTexts({
  nearest,
  verdict,
}: Pick<FitReport | FitTogether, 'nearest' | 'verdict'>): { text: string; flags: string | null }[] {
  if (nearest === null) return [];
  const now = verdict === 'fits-after' ? ' now' : '';
  if (nearest.none !== null) return [{ text: `no setting fits${now}: ${nearest.none}`, flags: null }];
  return nearest.settings.map(({ flags, need, text }) => ({
    text: `fits${now} with ${text}: at most ${formatBytes(need.high)}`,
    flags: typeof flags === 'string' ? flags : null,
  }));
}

const SETTINGS: Readonly<Record<FitSolution['setting'], string>> = {
  context: 'longest context that fits',
  slots: 'most sequences at a time that fit',
  batch: 'largest batch that fits',
};

const LIMITS: Readonly<Record<FitSolution['limitedBy'], string>> = {
  memory: 'memory is the limit',
  model: 'the model is made for no more',
  range: 'no more was tried',
};

/** "longest context that fits: 40,960 (the model is made for no more)". */
export function solutionText({ limitedBy, setting, value }: FitSolution): string {
  const found = value === null ? 'none, not even the smallest' : `${formatCount(value)} (${LIMITS[limitedBy]})`;
  return `${SETTINGS[setting]}: ${found}`;
}

export const LARGEST_USES: Readonly<Record<FitLargest['uses'][number], string>> = {
  inference: 'inference',
  lora: 'LoRA',
  full: 'full training',
};

/** "45.2B – 53.9B": for certain, and by the expected size; a dash where nobody uses it so. */
export function largestText(cell: FitLargest['rows'][number]['cells'][number]): string {
  if (cell === null) return '–';
  if (!cell.known) return 'unknown';
  const { expected, parameters } = cell;
  const least = parameters === null ? 'none' : billions(parameters);
  return expected === null || expected === parameters ? least : `${least} – ${billions(expected)}`;
}

function billions(parameters: number): string {
  return parameters < 1e9 ? `${Math.floor(parameters / 1e6)}M` : `${Math.floor(parameters / 1e8) / 10}B`;
}

export function largestNote({ batch, context, sequences }: FitLargest): string {
  return `Dense models of the shape of Llama 3: those that fit for certain, and those whose expected size fits. Inference of ${formatCount(context)} tokens × ${formatCount(sequences)}; training of ${formatCount(context)} tokens, batch ${formatCount(batch)}. LoRA on nf4 is QLoRA.`;
}

/** "1. Qwen3-8B". */
export function placeOf({ name }: FitTogetherModel, index: number): string {
  return `${index + 1}. ${clean(name)}`;
}
