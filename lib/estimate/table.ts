/** Weights by precision. */

import { invalidArgument } from '../base/arguments.ts';
import type { EstimateTable, ModelDescription } from '../types/index.ts';
import { checkEstimateOptions } from './options.ts';
import { runEstimate } from './run.ts';
import { parameterTerm } from './weights.ts';

/** NVFP4 and INT4 are half a byte each, without their scales; FP8 and INT8 one byte. */
const COLUMNS = ['fp32', 'fp16', 'int8', 'int4'];
const SIZES = [7e9, 13e9, 70e9];

export async function tableOf(model: string | ModelDescription | null): Promise<EstimateTable> {
  const models =
    model === null ? SIZES.map((parameters) => ({ name: `${parameters / 1e9}B`, parameters })) : [await sizeOf(model)];
  const rows = models.map(({ name, parameters }) => ({
    name,
    parameters,
    bytes: COLUMNS.map((dtype) => parameterTerm(parameters, dtype).bytes),
  }));
  return { schema: 'umaprobe/estimate-table/1', columns: COLUMNS, rows };
}

async function sizeOf(model: string | ModelDescription): Promise<{ name: string; parameters: number }> {
  const { model: found } = await runEstimate(model, checkEstimateOptions({}));
  if (found.parameters === null)
    throw invalidArgument(`The parameters of ${found.name} are not known: they cannot be counted from its files.`);
  const name = found.source === 'parameters' ? `${Number((found.parameters / 1e9).toPrecision(4))}B` : found.name;
  return { name, parameters: found.parameters };
}
