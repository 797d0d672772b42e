/** One question about a model that is open, and its answer. */

import type { EstimateOptions, EstimateReport, FitReport, Model, Snapshot } from '../../types/index.ts';
import { estimate } from '../estimate/index.ts';
import { checkEstimate, type FitSettings } from './options.ts';
import { fitReport } from './report.ts';

/** Question about a model that is open: a search asks many times. */
export interface Question {
  model: Model;
  use: EstimateOptions;
  machine: Snapshot;
  options: FitSettings;
}

export interface ModelAnswer {
  report: FitReport;
  estimated: EstimateReport;
}

/** Asks with one estimate. */
export async function ask({ machine, model, options, use }: Question): Promise<ModelAnswer> {
  const estimated = await estimate(model, use);
  const report = fitReport(checkEstimate(estimated), machine, options);
  return { estimated, report: { ...report, notes: [...report.notes, ...estimated.notes] } };
}
