/** The arguments of the functions of the page cache, checked. */

import {
  checkBoolean,
  checkBytes,
  checkFunction,
  checkInteger,
  checkKeys,
  checkMilliseconds,
  checkSignal,
  invalidType,
  invalidValue,
  type Keys,
} from '../../base/arguments.ts';
import { ANY_BYTES, LIMITS, SOME_BYTES } from '../../base/limits.ts';
import type {
  CacheStatusOptions,
  CompactOptions,
  ContiguityGate,
  DropOptions,
  EvictOptions,
  PrepareOptions,
  ReclaimOptions,
} from '../../types/index.ts';
import type { CheckedDropOptions } from './drop.ts';

const STATUS_KEYS: Keys<CacheStatusOptions> = { top: true, signal: true, onEvent: true };
const EVICT_KEYS: Keys<EvictOptions> = { sync: true, ...STATUS_KEYS };
const DROP_KEYS: Keys<DropOptions> = {
  level: true,
  sync: true,
  syncLimitMs: true,
  sudo: true,
  force: true,
  signal: true,
};
const COMPACT_KEYS: Keys<CompactOptions> = { gate: true, always: true, sudo: true, signal: true };
const GATE_KEYS: Keys<ContiguityGate> = { availableBytes: true, blockBytes: true, blocks: true };
const RECLAIM_KEYS: Keys<ReclaimOptions> = { bytes: true, cgroup: true, signal: true };
const PREPARE_KEYS: Keys<PrepareOptions> = {
  bytes: true,
  paths: true,
  dryRun: true,
  floorBytes: true,
  sudo: true,
  signal: true,
};

export function checkStatusOptions(paths: unknown, options: CacheStatusOptions): void {
  if (paths !== undefined) checkPaths(paths);
  checkKeys('cacheStatus()', options, STATUS_KEYS);
  checkWalk(options);
}

export function checkEvictOptions(paths: unknown, options: EvictOptions): void {
  checkPaths(paths);
  checkKeys('evictFiles()', options, EVICT_KEYS);
  checkWalk(options);
  checkBoolean('sync', options.sync);
}

export function checkDropOptions(options: DropOptions): CheckedDropOptions {
  checkKeys('dropCaches()', options, DROP_KEYS);
  const { level = 3, sync = true, sudo = false, force = false } = options;
  if (level !== 1 && level !== 2 && level !== 3) throw invalidValue('level', '1, 2 or 3', level);
  for (const [name, value] of Object.entries({ sync, sudo, force })) checkBoolean(name, value);
  const signal = checkSignal(options.signal);
  const syncLimitMs = checkMilliseconds('syncLimitMs', options.syncLimitMs ?? 60_000, LIMITS.syncLimitMs);
  return { level, sync, syncLimitMs, sudo, force, signal };
}

export function checkCompactOptions(options: CompactOptions): AbortSignal | undefined {
  checkKeys('compact()', options, COMPACT_KEYS);
  const { gate = {}, always, sudo } = options;
  checkKeys('gate', gate, GATE_KEYS);
  const signal = checkSignal(options.signal);
  checkBoolean('always', always);
  checkBoolean('sudo', sudo);
  if (gate.availableBytes !== undefined) checkBytes('gate.availableBytes', gate.availableBytes, ANY_BYTES);
  if (gate.blockBytes !== undefined) checkBytes('gate.blockBytes', gate.blockBytes, LIMITS.gateBlockBytes);
  if (gate.blocks !== undefined) checkInteger('gate.blocks', gate.blocks, LIMITS.gateBlocks);
  return signal;
}

export function checkReclaimOptions(options: ReclaimOptions) {
  checkKeys('reclaim()', options, RECLAIM_KEYS);
  const bytes = checkBytes('bytes', options.bytes, SOME_BYTES);
  const { cgroup } = options;
  const signal = checkSignal(options.signal);
  if (cgroup !== undefined && typeof cgroup !== 'string') throw invalidType('cgroup', 'a path', cgroup);
  return { bytes, cgroup, signal };
}

export function checkPrepareOptions(options: PrepareOptions) {
  checkKeys('prepare()', options, PREPARE_KEYS);
  const bytes = checkBytes('bytes', options.bytes, SOME_BYTES);
  const { paths, dryRun = false, sudo = false } = options;
  if (paths !== undefined) checkPaths(paths);
  const signal = checkSignal(options.signal);
  checkBoolean('dryRun', dryRun);
  checkBoolean('sudo', sudo);
  const floor = options.floorBytes === undefined ? null : checkBytes('floorBytes', options.floorBytes, ANY_BYTES);
  return { bytes, paths, dryRun, floor, sudo, signal };
}

function checkPaths(paths: unknown): asserts paths is readonly string[] {
  if (!Array.isArray(paths)) throw invalidType('paths', 'an array of paths', paths);
  if (paths.length === 0) throw invalidValue('paths', 'at least one path', paths);
  for (const [index, path] of paths.entries()) {
    if (typeof path !== 'string') throw invalidType(`paths[${index}]`, 'a path', path);
    if (path === '' || path.includes('\0')) throw invalidValue(`paths[${index}]`, 'a path', path);
  }
}

function checkWalk({ top, signal, onEvent }: CacheStatusOptions): void {
  if (top !== undefined) checkInteger('top', top, LIMITS.top);
  checkSignal(signal);
  checkFunction('onEvent', onEvent);
}
