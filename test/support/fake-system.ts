/** A machine for the actions on the cache that says what it is asked to say, and remembers what was done to it. */

import type { Failure } from '../../lib/base/errors.ts';
import type { CommandResult, System } from '../../lib/cache/system.ts';
import type { NativeBinding, NativeWalkBatch, NativeWalkOptions } from '../../lib/native/contract.ts';
import type { Snapshot } from '../../lib/types/index.ts';
import { snapshotOf } from './snapshots.ts';

export interface FakeOptions {
  /** Readings one after the other; the last one stays. */
  looks?: Snapshot[];
  uid?: number;
  simulated?: string | null;
  /** What the kernel answers to a write. */
  write?: Failure | null;
  /** What access(2) answers before it. */
  mayWrite?: string | null;
  sync?: Failure | null;
  ran?: CommandResult;
  /** What sudo answers when it is asked whether it would. */
  permitted?: CommandResult;
  /** Texts of kernel files; any other is ENOENT. */
  files?: Record<string, string>;
}

export interface Fake {
  machine: System;
  /** "sync", "write /proc/sys/vm/drop_caches 3", "run /usr/bin/sudo …", in order. */
  done: string[];
}

export function kernelFailure(name: string, call = 'write'): Failure {
  return { failed: true, source: 'kernel', call, status: 1, name, message: '' };
}

export function timeout(call: string): Failure {
  return { failed: true, source: 'umaprobe', call, status: null, name: 'TIMEOUT', message: 'no answer in time' };
}

export function fakeMachine(options: FakeOptions = {}): Fake {
  const done: string[] = [];
  const looks = [...(options.looks ?? [snapshotOf()])];
  // Only what the actions call; anything else is a mistake that must show.
  const binding = {
    async syncAll() {
      done.push('sync');
      return options.sync ?? { durationMs: 5 };
    },
    async writeFile(path: string, data: string) {
      done.push(`write ${path} ${data}`);
      return options.write ?? { durationMs: 2 };
    },
    readFiles: (paths: string[]) =>
      paths.map((path) => options.files?.[path] ?? kernelFailure('ENOENT', `read ${path}`)),
  } as unknown as NativeBinding;
  return {
    done,
    machine: {
      binding,
      simulated: options.simulated ?? null,
      env: { HOME: '/nowhere', SUDO_USER: '' },
      uid: options.uid ?? 0,
      host: () => (looks[0] as Snapshot).host,
      takeSnapshot: async () => (looks.length > 1 ? (looks.shift() as Snapshot) : (looks[0] as Snapshot)),
      mayWrite: async () => options.mayWrite ?? null,
      executable: () => true,
      async run(file, args) {
        done.push(`run ${file} ${args.join(' ')}`);
        const fine = { code: 0, stderr: '', timedOut: false };
        return (args.includes('-l') ? options.permitted : options.ran) ?? fine;
      },
    },
  };
}

export function batch(parts: Partial<NativeWalkBatch> = {}): NativeWalkBatch {
  return {
    method: 'cachestat',
    entries: [],
    inodes: new Float64Array(),
    files: 0,
    directories: 0,
    links: 0,
    special: 0,
    problems: 0,
    vanished: 0,
    pseudo: 0,
    unseen: 0,
    unseenBytes: 0,
    bytes: 0,
    cached: 0,
    memory: 0,
    dirty: 0,
    writeback: 0,
    cachedAfter: 0,
    syncMs: 0,
    path: '/',
    done: true,
    ...parts,
  };
}

/** A binding whose walks give these batches, and whose mappings are these. */
export function walkingBinding(
  batches: NativeWalkBatch[],
  mappings: { dev: number; ino: number; pid: number; locked: boolean }[] = [],
): { binding: NativeBinding; asked: { paths: string[]; options: NativeWalkOptions }[]; ended: number[] } {
  const asked: { paths: string[]; options: NativeWalkOptions }[] = [];
  const ended: number[] = [];
  const left = [...batches];
  const binding = {
    cacheWalk(paths: string[], options: NativeWalkOptions) {
      asked.push({ paths, options });
      return asked.length;
    },
    cacheNext: async () => left.shift() ?? batch(),
    cacheEnd: (id: number) => void ended.push(id),
    mappings: async () => ({
      files: Float64Array.from(mappings.flatMap(({ dev, ino, pid, locked }) => [dev, ino, pid, Number(locked)])),
      unreadable: 0,
    }),
    readFiles: (paths: string[]) =>
      paths.map((path) => (path.endsWith('/comm') ? `name-of-${path.split('/')[2]}\n` : kernelFailure('ENOENT', path))),
    pageSize: () => 4096,
  } as unknown as NativeBinding;
  return { binding, asked, ended };
}
