/** The verdict for each precision of the weights. */

import { estimate, estimateTable } from '../estimate/index.ts';
import { exactly, sumOf } from '../memory/range.ts';
import type { EstimateOptions, FitTable, FitTerm, Model, Snapshot } from '../types/index.ts';
import { checkNeed } from './options.ts';
import { type CheckedOptions, fitReport } from './report.ts';

/** Scales and layers that stay in 16 bits: published quantised models are up to this much larger than their bits. */
const QUANTISED_MORE = 1.2;

export interface TableQuestion {
  /** null: 7, 13 and 70 billion parameters, of which only the weights are known. */
  model: Model | null;
  use: EstimateOptions;
  machine: Snapshot;
  options: CheckedOptions;
}

/** Of a model, cache and buffers are those of its estimate. */
export async function tableOf({ machine, model, options, use }: TableQuestion): Promise<FitTable> {
  const table = await (model === null ? estimateTable() : estimateTable(model));
  const terms = model === null ? [] : (await estimate(model, use)).terms;
  const rest = terms.filter(({ name }) => name !== 'weights');
  const cellOf = (dtype: string, bytes: number): FitTable['rows'][number]['cells'][number] => {
    const isQuantised = dtype === 'int8' || dtype === 'int4';
    const high = Math.ceil(bytes * (isQuantised && model !== null ? QUANTISED_MORE : 1));
    const parts: FitTerm[] = [{ ...exactly(bytes), name: 'weights', high }, ...rest];
    const whole = checkNeed({ total: sumOf(parts), terms: parts });
    const { expectedFits, headroom, need, verdict } = fitReport(whole, machine, options);
    const { terms: _, ...size } = need;
    return { dtype, weights: bytes, need: size, verdict, expectedFits, headroom };
  };
  return {
    schema: 'umaprobe/fit-table/1',
    at: machine.at,
    simulated: machine.simulated,
    limit: fitReport(checkNeed({ bytes: 1 }), machine, options).limit.bytes,
    program: options.program,
    rows: table.rows.map(({ bytes, name, parameters }) => ({
      name,
      parameters,
      cells: table.columns.map((dtype, index) => cellOf(dtype, bytes[index] ?? 0)),
    })),
  };
}
