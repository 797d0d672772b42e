/** The options of launch(), checked. */

import { invalidArgument } from '../../base/arguments.ts';
import { SOME_BYTES } from '../../base/limits.ts';
import {
  bytes,
  type CheckedOf,
  callback,
  checkOptions,
  custom,
  flag,
  needed,
  type OptionsOf,
  oneOf,
  pick,
  signal,
} from '../../base/options.ts';
import { checkCommand, checkUtilization } from '../../base/program-arguments.ts';
import { PREPARE } from '../../core/cache/options.ts';
import type { EstimateOptions, LaunchEvent, ModelInput } from '../../types/index.ts';
import { MODEL_PROGRAM_NAMES } from '../../types/programs.ts';
import { hostsRow } from '../cluster/hosts.ts';
import { GUARD, type GuardOptions } from '../guard/options.ts';
import { folder } from '../record/options.ts';

/** Options of `launch()`. Those of the guard are as for `guard()`. */
export interface LaunchOptions extends OptionsOf<typeof OWN>, Pick<GuardOptions, (typeof OF_GUARD)[number]> {}

/** Options that are passed on to the guard. */
const OF_GUARD = [
  ...(['cwd', 'env', 'stdio', 'floorBytes', 'killBelowBytes', 'acceptAFrozenMachine'] as const),
  ...(['intervalMs', 'graceMs', 'loadActions', 'ready', 'notify', 'forwardSignals'] as const),
] as const;

const OWN = {
  /** Program and its arguments: an array, never a shell. */
  command: needed(custom<readonly string[]>((_, value) => checkCommand(value), {})),
  /** Plan only: nothing is started or changed. Default `false`. */
  dryRun: flag({ help: 'Show the plan; start and change nothing' }),
  /** Start it even if `fit` says no, or nothing can be loaded now. Default `false`. */
  anyway: flag({ help: 'Start it even if it does not fit, or nothing can be loaded now' }),
  /** The program whose rules decide, where the command line does not say it or says it wrongly. */
  program: oneOf(MODEL_PROGRAM_NAMES, {
    flag: 'for',
    placeholder: '<program>',
    help: `By the rules of ${MODEL_PROGRAM_NAMES.join(', ')}`,
    usually: 'as the command line says',
  }),
  /** The model, as for `estimate()`. Default: the one of the command line. */
  model: custom<ModelInput>((_, value) => value as ModelInput, {
    placeholder: '<model>',
    help: 'The model, where the command line does not say it',
  }),
  /** A size in bytes instead of a model, 1 or more. */
  bytes: bytes({ ...SOME_BYTES, help: 'A size to load instead of a model' }),
  /**
   * Other machines that the command starts a rank on, as of `cluster()`: each is asked first, and nothing is started unless
   * a rank fits there. Default: those that `mpirun -H`, `mpirun --hostfile` or `srun --nodelist` name.
   */
  hosts: {
    ...hostsRow,
    help: 'Other machines that get a rank: nothing is started unless it fits there, too (default: those of mpirun and srun)',
  },
  /** The use of the model. It goes before what the command line says. */
  use: custom<EstimateOptions>((_, value) => value as EstimateOptions, {}),
  /** vLLM's `--gpu-memory-utilization`, SGLang's `--mem-fraction-static`: above 0, up to 1. Default: that of the command line. */
  utilization: custom((_, value) => checkUtilization(value) as number, {
    form: 'share',
    range: { min: 0, max: 1 },
    help: 'Share that vLLM or SGLang takes',
    usually: 'as the command line says',
  }),
  /** Make room before the start. Default `true`. */
  prepare: flag({ default: true, flag: 'no-prepare', help: 'Make no room' }),
  /** Steps of `prepare` that need root, with `sudo -n`. Default `false`. */
  sudo: PREPARE.sudo,
  /** Record the memory of the machine meanwhile. Default `true`. */
  record: flag({ default: true, flag: 'no-record', help: 'Record nothing' }),
  /** Folder of the recording; default as for `record()`. */
  folder: folder(),
  /** Called with each event. If it throws or rejects, the program is stopped, and `launch()` rejects with that error. */
  onEvent: callback<(event: LaunchEvent) => void | Promise<void>>(),
  /** Aborted before the start: rejects with its reason. Later: the program is stopped, and the outcome is `aborted`. */
  signal,
};
export const LAUNCH = { ...pick(GUARD, OF_GUARD), ...OWN };

export interface LaunchSettings extends Omit<CheckedOf<typeof LAUNCH>, 'onEvent'> {
  onEvent: (event: LaunchEvent) => void | Promise<void>;
  /** The options as they were given: the guard checks them. */
  guard: Partial<GuardOptions>;
}

export function checkLaunchOptions(options: LaunchOptions): LaunchSettings {
  const checked = checkOptions('launch()', options, LAUNCH);
  const { bytes: size, model, use } = checked;
  if (model !== undefined && size !== undefined)
    throw invalidArgument('model and bytes both say what is loaded: give one of them');
  if (size !== undefined && use !== undefined)
    throw invalidArgument('use says how a model is used, and bytes is a size without one: give one of them');
  return { ...checked, onEvent: checked.onEvent ?? (() => undefined), guard: pick(options, OF_GUARD) };
}
