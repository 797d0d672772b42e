/** A model as functions take it, checked and opened: a path, a name, a description, or one that is open. */

import { checkInteger, checkKeys, invalidType, invalidValue, outOfRange } from '../../base/arguments.ts';
import { LIMITS, SOME_BYTES } from '../../base/limits.ts';
import { MOST_PARAMETERS } from '../../core/memory/tensors.ts';
import { emptyModel, type ModelFacts } from './model.ts';
import type { JsonObject } from './model-file.ts';
import { type OpenOptions, openModel } from './open.ts';
import { modelOfConfig } from './open-folder.ts';
import { quantizationOf } from './quantization.ts';
import { WEIGHT_FORMATS, weightFormat } from './weight-formats.ts';

const OPEN = new WeakSet<ModelFacts>();

/** @returns the same for a model that is open. */
export async function opened(model: unknown, options: OpenOptions = {}): Promise<ModelFacts> {
  if (isOpen(model)) return model;
  const facts = Object.freeze(
    typeof model === 'string' ? await openModel(checkPath(model), options) : describedModel(model),
  );
  OPEN.add(facts);
  return facts;
}

function isOpen(model: unknown): model is ModelFacts {
  return typeof model === 'object' && model !== null && OPEN.has(model as ModelFacts);
}

function checkPath(model: string): string {
  if (model === '' || model.includes('\0')) throw invalidValue('model', 'a path or a name', model);
  return model;
}

function describedModel(model: unknown): ModelFacts {
  if (typeof model !== 'object' || model === null)
    throw invalidType('model', 'a path, a name or a description, or what openModel() returned', model);
  return 'config' in model ? configModel(model) : parametersModel(model);
}

/** Facts of a model of which only the number of parameters is known. */
function parametersModel(model: object): ModelFacts {
  checkKeys('model', model, { params: true, dtype: true, hidden: true });
  const { dtype, hidden, params } = model as Record<string, unknown>;
  if (typeof params !== 'number') throw invalidType('params', 'a number of parameters', params);
  if (!(params >= 1 && params <= MOST_PARAMETERS)) throw outOfRange('params', '1 to 10^15 parameters', params);
  const type = dtype === undefined ? 'bf16' : checkDtype(dtype);
  return {
    ...emptyModel(`${params.toLocaleString('en-US')} parameters in ${type}`, 'parameters'),
    parameters: params,
    dtype: type,
    hidden: hidden === undefined ? null : checkInteger('hidden', hidden, LIMITS.hidden),
  };
}

/** A config that the caller holds. */
function configModel(model: object): ModelFacts {
  checkKeys('model', model, { config: true, weightBytes: true, dtype: true });
  const { config, dtype, weightBytes } = model as Record<string, unknown>;
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw invalidType('config', 'the object of a config.json', config);
  const document = config as JsonObject;
  const file = { document, path: 'config', quantization: quantizationOf(document, null) };
  return {
    ...modelOfConfig(file, String(document.model_type ?? 'config')),
    path: null,
    ...(weightBytes === undefined
      ? {}
      : { weightBytes: checkInteger('weightBytes', weightBytes, SOME_BYTES), uncounted: [] }),
    ...(dtype === undefined ? {} : { dtype: checkDtype(dtype), quantization: null }),
  };
}

function checkDtype(value: unknown): string {
  if (typeof value !== 'string') throw invalidType('dtype', 'the name of a data type', value);
  if (weightFormat(value) === null) throw invalidValue('dtype', `one of ${WEIGHT_FORMATS.join(', ')}`, value);
  return value.toLowerCase();
}
