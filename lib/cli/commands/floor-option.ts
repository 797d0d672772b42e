/** `--floor` of every command that lets a program take memory, by the one rule of lib/core/memory. */

import { GiB } from '../../base/format.ts';
import { ANY_BYTES } from '../../base/limits.ts';
import { DEFAULT_FLOOR_TEXT, MIN_FLOOR } from '../../core/memory/floor.ts';
import type { OptionTable, OptionValues } from '../core/command.ts';
import { flag, size, text } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';

const ACCEPT = 'i-accept-a-frozen-machine';

/** @param also what else is accepted with a small floor. */
export function floorOptions(also = ''): OptionTable {
  return {
    floor: {
      type: 'string',
      placeholder: '<size>',
      summary: `Memory to leave the host (default ${DEFAULT_FLOOR_TEXT}; at least ${MIN_FLOOR / GiB}GiB)`,
    },
    [ACCEPT]: { type: 'boolean', summary: `Accept a floor below ${MIN_FLOOR / GiB}GiB${also}` },
  };
}

/** Checked here, so that the message names the option as it was typed. */
export function floorOf(values: OptionValues, command: string): { floorBytes?: number; acceptAFrozenMachine?: true } {
  const accept = flag(values, ACCEPT);
  const floor = size(values, 'floor', command, ANY_BYTES);
  if (floor !== undefined && floor < MIN_FLOOR && !accept)
    throw new UsageError(
      `--floor "${text(values, 'floor')}" is below ${MIN_FLOOR / GiB}GiB: a host that runs out of memory freezes instead of failing. ` +
        `Give a larger floor, or add --${ACCEPT}.`,
      command,
    );
  return { ...(floor === undefined ? {} : { floorBytes: floor }), ...(accept ? { acceptAFrozenMachine: true } : {}) };
}
