/** The verdict for each precision of the weights. */

import { exactly, sumOf } from '../../core/memory/range.ts';
import type { EstimateOptions, EstimateReport, FitTable, FitTerm, Model, Snapshot } from '../../types/index.ts';
import { estimate, estimateTable } from '../estimate/index.ts';
import { checkEstimate, needOfBytes } from './options.ts';
import { type CheckedOptions, fitReport } from './report.ts';

/** Scales and layers that stay in 16 bits: published quantised models are up to this much larger than their bits. */
const QUANTISED_MORE = 1.2;

export interface TableQuestion {
  /** null: 7, 13 and 70 billion parameters of a typical model. */
  model: Model | null;
  use: EstimateOptions;
  machine: Snapshot;
  options: CheckedOptions;
}

/** Cache and buffers are those of the estimate. */
export async function tableOf({ machine, model, options, use }: TableQuestion): Promise<FitTable> {
  const table = await (model === null ? estimateTable() : estimateTable(model));
  const estimates = await Promise.all(table.rows.map(({ parameters: params }) => estimate(model ?? { params }, use)));
  const cellOf = (
    { terms, unread }: EstimateReport,
    dtype: string,
    bytes: number,
  ): FitTable['rows'][number]['cells'][number] => {
    const isQuantised = dtype === 'int8' || dtype === 'int4';
    const high = Math.ceil(bytes * (isQuantised ? QUANTISED_MORE : 1));
    const rest = terms.filter(({ name }) => name !== 'weights');
    const parts: FitTerm[] = [{ ...exactly(bytes), name: 'weights', high }, ...rest];
    const whole = checkEstimate({ total: sumOf(parts), terms: parts, unread });
    const { expectedFits, headroom, need, verdict } = fitReport(whole, machine, options);
    const { terms: _, ...size } = need;
    return { dtype, weights: bytes, need: size, verdict, expectedFits, headroom };
  };
  return {
    schema: 'umaprobe/fit-table/1',
    at: machine.at,
    simulated: machine.simulated,
    limit: fitReport(needOfBytes(1), machine, options).limit.bytes,
    program: options.program,
    rows: table.rows.flatMap(({ bytes, name, parameters }, row) => {
      const estimated = estimates[row];
      if (estimated === undefined) return [];
      const cells = table.columns.map((dtype, index) => cellOf(estimated, dtype, bytes[index] ?? 0));
      return [{ name, parameters, cells }];
    }),
  };
}
