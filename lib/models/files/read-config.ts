/** All that a config.json says: the architecture, the parameters, and what of it was not understood. */

import type { Architecture } from './architecture.ts';
import { architectureOf, languageConfig } from './architecture-config.ts';
import { harmless } from './config-fields.ts';
import { isKnownType } from './known-types.ts';
import { ModelConfig, type UnreadField } from './model-config.ts';
import type { JsonObject } from './model-file.ts';
import { parametersOf } from './parameters.ts';
import { QUANTIZATION_FIELDS } from './quantization.ts';
import { isTower, TOWER_DETAILS, towerParameters } from './towers.ts';
import type { ParameterCounts } from './weights.ts';

export interface ReadConfig {
  architecture: Architecture;
  /** null: the shape is not known well enough. */
  counts: ParameterCounts | null;
  /** Data type of the weights that are not quantised; null: unknown. */
  dtype: string | null;
  /** Fields and values that no rule understands, and that may change memory. */
  unread: string[];
  /** The same for fields that change the weights alone. */
  uncounted: string[];
}

/** @throws UmaError ERR_UMA_MODEL for a field that is absurd, and for a config without layers. */
export function readConfig(document: JsonObject, path: string): ReadConfig {
  const whole = new ModelConfig(document, path);
  const config = languageConfig(whole);
  const architecture = architectureOf(config);
  const counts = parametersOf(config, architecture);
  const dtype = config.text('torch_dtype') ?? config.text('dtype');
  const { odd, parameters } = towerParameters(whole);
  const fields = whole.unread().filter(isUnread);
  const type = [...new Set([whole, config])]
    .filter((part) => !isKnownType(part))
    .map((part) => `model_type ${JSON.stringify(part.text('model_type'))}`);
  return {
    architecture,
    counts: counts === null ? null : { ...counts, vision: parameters },
    dtype,
    unread: [...new Set(type), ...config.odd(), ...fields.filter(({ path }) => !isTower(path)).map(({ path }) => path)],
    uncounted: [...odd, ...fields.filter(({ path }) => isTower(path)).map(({ path }) => path)],
  };
}

function isUnread({ name, path, value }: UnreadField): boolean {
  if (QUANTIZATION_FIELDS.includes(name) || harmless(name, value) !== null) return false;
  return !(isTower(path) && TOWER_DETAILS.test(name));
}
