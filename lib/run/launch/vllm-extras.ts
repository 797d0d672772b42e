/** Models that vLLM loads besides the main one: draft models for speculation, adapters. Pure. */

import { objectIn } from '../../base/objects.ts';
import { wholeNumber } from './command-line.ts';
import type { Draft, Given } from './draft.ts';
import type { Unwrapped } from './unwrapped.ts';

export function vllmExtras(
  values: Given,
  every: ReadonlyMap<string, readonly string[]>,
  hostPath: Unwrapped['hostPath'],
  draft: Draft,
): void {
  speculation(values, every.get('--speculative-config') ?? [], hostPath, draft);
  adapters(values, every.get('--lora-modules') ?? [], hostPath, draft);
}

/** Methods that look tokens up in the text so far, and load nothing. */
const LOOKS_UP = new Set(['ngram', 'ngram_gpu', 'suffix', '[ngram]']);

function speculation(values: Given, configs: readonly string[], hostPath: Unwrapped['hostPath'], draft: Draft): void {
  const option = '--speculative-config';
  if (configs.length === 0) {
    // Each setting was an option before 0.9.
    const model = values.get('--speculative-model');
    if (model === undefined || LOOKS_UP.has(model)) return;
    draft.extra({ kind: 'draft', option: '--speculative-model', model }, hostPath);
    return;
  }
  const parts = configs.map(objectIn);
  const config = parts.includes(null) ? null : (Object.assign({}, ...parts) as Record<string, unknown>);
  if (config === null) {
    draft.unread('more', `${option} is not one JSON object; it may load a second model.`);
    return;
  }
  const { max_model_len: longest, method, model } = config;
  const name = typeof method === 'string' ? method : '';
  draft.understand(option, name === '' ? String(model ?? '') : name);
  if (LOOKS_UP.has(name)) return;
  if (/(^|_)mtp$/.test(name) && typeof model !== 'string') draft.use({ mtp: true });
  else if (typeof model === 'string' && model !== '') {
    const context = wholeNumber(String(longest ?? ''), 1);
    const use = context === null ? {} : { context };
    draft.extra({ kind: 'draft', option, model, use }, hostPath);
  } else draft.unread('more', `${option} ${name} names no model, and may load one.`);
}

/** Defaults of vLLM's --max-loras and --max-lora-rank. */
const MAX_LORAS = 1;
const MAX_RANK = 16;

function adapters(values: Given, modules: readonly string[], hostPath: Unwrapped['hostPath'], draft: Draft): void {
  const isOn = values.has('--enable-lora') && values.get('--enable-lora') !== 'no';
  if (!isOn && modules.length === 0) return;
  const count = draft.read(values, '--max-loras', (text) => wholeNumber(text, 1)) ?? MAX_LORAS;
  const rank = draft.read(values, '--max-lora-rank', (text) => wholeNumber(text, 1)) ?? MAX_RANK;
  draft.set({ adapterSlots: { adapters: count, rank } });
  for (const module of modules) {
    const path = pathOf(module);
    if (path === null) draft.unread('more', `--lora-modules "${module}" is not understood.`);
    else draft.extra({ kind: 'adapter', option: '--lora-modules', model: path }, hostPath);
  }
}

/** "name=path", or an object with a path. */
function pathOf(module: string): string | null {
  if (!module.trimStart().startsWith('{')) return /^[^=]+=(.+)$/s.exec(module)?.[1] ?? null;
  const path = objectIn(module)?.path;
  return typeof path === 'string' && path !== '' ? path : null;
}
