/**
 * The contract of every snapshot on any machine: checked on the simulated machines (test/sim), the real host, and a real
 * GPU (test/gpu).
 */

import { expect } from 'vitest';
import type { Snapshot } from '../../lib/types/index.ts';

export function expectContract(snapshot: Snapshot): void {
  expect(snapshot.schema).toBe('umaprobe/snapshot/1');
  expectLedger(snapshot);
  expectNumbers(snapshot, 'snapshot');
  expectReasons(snapshot);
  for (const [index, device] of snapshot.devices.entries()) {
    expect(device.index).toBe(index);
    expectDevice(snapshot, index);
  }
  if (snapshot.devices.length === 0) expect(snapshot.noDevices).toMatch(/\w/);
  else expect(snapshot.noDevices).toBeNull();
}

function expectLedger({ host, ledger }: Snapshot): void {
  expect(ledger.total).toBe(host.total);
  expect(ledger.entries.reduce((sum, entry) => sum + entry.bytes, 0)).toBe(host.total);
  for (const entry of ledger.entries) {
    expect(entry.from).toMatch(/\w/);
    if (entry.label !== 'unattributed') expect(entry.bytes).toBeGreaterThanOrEqual(0);
  }
}

/** No NaN, Infinity or undefined; negative numbers only in the ledger's remainder and where −1 is a value. */
function expectNumbers(value: unknown, path: string): void {
  if (typeof value === 'number') {
    expect(Number.isFinite(value), path).toBe(true);
    if (!/ledger|hostNumaId/.test(path)) expect(value, path).toBeGreaterThanOrEqual(0);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) expectNumbers(inner, `${path}.${key}`);
  } else {
    expect(value, path).not.toBeUndefined();
  }
}

/** Each null of the host has its reason. */
function expectReasons(snapshot: Snapshot): void {
  for (const [field, value] of Object.entries(snapshot.host)) {
    if (value === null) expect(snapshot.from[`host.${field}`], field).toMatch(/\w/);
  }
  for (const path of ['bootId', 'pressure', 'contiguity', 'kernel.freeInCpuLists', 'cgroup'] as const) {
    expect(snapshot.from[path], path).toMatch(/\w/);
  }
  for (const library of [snapshot.libraries.cuda, snapshot.libraries.nvml]) {
    if (library.state !== 'loaded') expect(library.reason).toMatch(/^ERR_UMA_/);
    else expect(library.reason).toBeNull();
  }
}

const SINGLE = [
  'cuda',
  'nvml',
  'processes',
  'memoryModel',
  'addressingMode',
  'migMode',
  'utilizationPercent',
  'temperatureC',
  'powerW',
  'smClockMHz',
  'name',
  'uuid',
  'pciBusId',
] as const;

function expectDevice(snapshot: Snapshot, index: number): void {
  const device = snapshot.devices[index] as Snapshot['devices'][number];
  for (const path of SINGLE) expect(device.from[path], `devices.${index}.${path}`).toMatch(/\w/);
  for (const name of Object.keys(device.views)) expect(device.from[`views.${name}`], name).toMatch(/\w/);
  for (const name of Object.keys(device.attributes)) expect(device.from[`attributes.${name}`], name).toMatch(/\w/);
  if (device.cuda !== null) expect(device.cuda.free).toBeLessThanOrEqual(device.cuda.total);
  if (device.nvml !== null) expect(device.nvml.free + device.nvml.used).toBeLessThanOrEqual(device.nvml.total);
  const { immediate, afterReclaim } = device.allocatable;
  if (immediate !== null && afterReclaim !== null)
    expect(afterReclaim).toBeGreaterThanOrEqual(immediate * 0.99 - 64 * 2 ** 20);
  if (device.memoryModel === 'unified') {
    // Neither swap nor huge pages are GPU memory: the allocatable memory is never more than the pool.
    expect(afterReclaim ?? 0).toBeLessThanOrEqual(snapshot.host.total);
    expect(device.attributes.integrated === 1 || device.addressingMode === 'ATS').toBe(true);
  }
}
