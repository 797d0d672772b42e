/** Exports of each door of the package, as lib has them. */

import * as core from '../../lib/index.ts';
import * as models from '../../lib/models.ts';
import * as report from '../../lib/report.ts';
import * as run from '../../lib/run.ts';
import * as serve from '../../lib/serve.ts';
import * as sim from '../../lib/sim.ts';

export const DOORS = {
  umaprobe: core,
  'umaprobe/models': models,
  'umaprobe/report': report,
  'umaprobe/run': run,
  'umaprobe/serve': serve,
  'umaprobe/sim': sim,
} as const;

/** Every function of the package, by its name. */
export const LIBRARY = { ...core, ...models, ...report, ...run, ...serve, ...sim };
