/** The options of launch(), checked. */

import {
  checkBoolean,
  checkBytes,
  checkChoice,
  checkFunction,
  checkKeys,
  checkSignal,
  invalidArgument,
  type Keys,
} from '../../base/arguments.ts';
import { SOME_BYTES } from '../../base/limits.ts';
import { checkCommand, checkPath, checkUtilization } from '../../base/program-arguments.ts';
import { checkFloor } from '../../core/memory/floor.ts';
import type { LaunchOptions } from '../../types/index.ts';
import { MODEL_PROGRAM_NAMES } from '../../types/programs.ts';
import { checkHosts } from '../cluster/hosts.ts';
import type { LaunchSettings } from './run.ts';

const KEYS: Keys<LaunchOptions> = {
  command: true,
  cwd: true,
  env: true,
  stdio: true,
  program: true,
  model: true,
  bytes: true,
  hosts: true,
  use: true,
  utilization: true,
  prepare: true,
  sudo: true,
  record: true,
  folder: true,
  anyway: true,
  dryRun: true,
  floorBytes: true,
  killBelowBytes: true,
  acceptAFrozenMachine: true,
  intervalMs: true,
  graceMs: true,
  loadActions: true,
  ready: true,
  notify: true,
  forwardSignals: true,
  onEvent: true,
  signal: true,
};

export function checkLaunchOptions(options: LaunchOptions): LaunchSettings {
  checkKeys('launch()', options, KEYS);
  const { anyway, bytes, dryRun, folder, hosts, model, program, record = true, sudo, use, utilization } = options;
  if (model !== undefined && bytes !== undefined)
    throw invalidArgument('model and bytes both say what is loaded: give one of them');
  if (bytes !== undefined && use !== undefined)
    throw invalidArgument('use says how a model is used, and bytes is a size without one: give one of them');
  checkFunction('onEvent', options.onEvent);
  checkUtilization(utilization);
  checkPath('folder', folder);
  const accept = checkBoolean('acceptAFrozenMachine', options.acceptAFrozenMachine);
  if (options.floorBytes !== undefined) checkFloor('floorBytes', options.floorBytes, { acceptAFrozenMachine: accept });
  return {
    ...options,
    command: checkCommand(options.command),
    ...(program === undefined ? {} : { program: checkChoice('program', MODEL_PROGRAM_NAMES, program) }),
    ...(hosts === undefined ? {} : { hosts: checkHosts(hosts) }),
    ...(bytes === undefined ? {} : { bytes: checkBytes('bytes', bytes, SOME_BYTES) }),
    prepare: checkBoolean('prepare', options.prepare ?? true),
    sudo: checkBoolean('sudo', sudo),
    record: checkBoolean('record', record),
    anyway: checkBoolean('anyway', anyway),
    dryRun: checkBoolean('dryRun', dryRun),
    onEvent: options.onEvent ?? (() => undefined),
    signal: checkSignal(options.signal),
  };
}
