/** Expectations of reports about a program that holds GPU memory: one set for the simulator and for a real GPU. */
import { expect } from 'vitest';
import type { LaunchReceipt, RecordedProcessCourse, RecordedSession } from '../../lib/types/index.ts';
import { GiB } from './units.ts';

/** The most that a CUDA context and the program itself take besides. */
const BESIDES = 2 * GiB;

/** Processes of other PID namespaces are not listed by NVML: then it is not known, and never 0. */
function expectGpuBytes(bytes: number | null | undefined, taken: number, isKnown: boolean): void {
  if (!isKnown && bytes === null) return;
  expect(bytes).toBeGreaterThanOrEqual(taken);
  expect(bytes).toBeLessThan(taken + BESIDES);
}

/** @param isKnown whether NVML lists processes for certain. */
export function expectGpuReceipt(receipt: LaunchReceipt | null, taken: number, isKnown: boolean): void {
  expect(receipt).not.toBeNull();
  expectGpuBytes(receipt?.own.gpuBytes, taken, isKnown);
  expect(receipt?.own.bytes).toBeGreaterThan(0);
  expect(receipt?.after).not.toBeNull();
}

/** @param isOurs whether a process is the program or one of its descendants. */
export function expectGpuCourse(
  { processSeries }: RecordedSession,
  isOurs: (course: RecordedProcessCourse) => boolean,
  taken: number,
  isKnown: boolean,
): void {
  const course = processSeries.processes
    .filter(isOurs)
    .sort((a, b) => (b.highestGpuBytes ?? 0) - (a.highestGpuBytes ?? 0))[0];
  expect(course).toBeDefined();
  expectGpuBytes(course?.highestGpuBytes, taken, isKnown);
  // A list before or after the program has nothing of it.
  const known = (course?.gpuBytes ?? []).filter((bytes) => bytes !== null);
  if (known.length > 0) expect(Math.max(...known)).toBe(course?.highestGpuBytes);
}
