/** Weights by precision. */

import { invalidArgument } from '../../base/arguments.ts';
import type { EstimateTable } from '../../types/index.ts';
import type { ModelFacts } from '../files/model.ts';
import { estimatedModel } from './inference.ts';
import { parameterTerm } from './weights.ts';

/** NVFP4 and INT4 are half a byte each, without their scales; FP8 and INT8 one byte. */
const COLUMNS = ['fp32', 'fp16', 'int8', 'int4'];
const SIZES = [7e9, 13e9, 70e9];

/** @param model null: of some sizes. */
export function tableOf(model: ModelFacts | null): EstimateTable {
  const models =
    model === null ? SIZES.map((parameters) => ({ name: `${parameters / 1e9}B`, parameters })) : [sizeOf(model)];
  const rows = models.map(({ name, parameters }) => ({
    name,
    parameters,
    bytes: COLUMNS.map((dtype) => parameterTerm(parameters, dtype).bytes),
  }));
  return { schema: 'umaprobe/estimate-table/1', columns: COLUMNS, rows };
}

function sizeOf(model: ModelFacts): { name: string; parameters: number } {
  const { name, parameters, source } = estimatedModel(model);
  if (parameters === null)
    throw invalidArgument(`The parameters of ${name} are not known: they cannot be counted from its files.`);
  return { name: source === 'parameters' ? `${Number((parameters / 1e9).toPrecision(4))}B` : name, parameters };
}
