/** A fake system for the actions on the cache: it gives the answers that a test chose and records each action. */

import { existsSync, realpathSync } from 'node:fs';
import type { Failure } from '../../lib/base/errors.ts';
import type { CommandResult, System } from '../../lib/core/cache/system.ts';
import type { NativeBinding, NativeWalkBatch, NativeWalkOptions } from '../../lib/core/native/contract.ts';
import type { Snapshot } from '../../lib/types/index.ts';
import { kernelFailure } from './failures.ts';
import { textsOf } from './kernel-files.ts';
import { snapshotOf } from './snapshots.ts';

export interface FakeOptions {
  /** Snapshots, in the order of the readings; the last one is repeated. */
  looks?: Snapshot[];
  uid?: number;
  simulated?: string | null;
  /** The kernel's answer to a write. */
  write?: Failure | null;
  /** The answer of access(2) before a write. */
  mayWrite?: string | null;
  sync?: Failure | null;
  ran?: CommandResult;
  /** The answer of `sudo -l`. */
  permitted?: CommandResult;
  /** Texts of kernel files; any other file is ENOENT. */
  files?: Record<string, string>;
}

export interface Fake {
  machine: System;
  /** "sync", "write /proc/sys/vm/drop_caches 3", "run /usr/bin/sudo …", in order. */
  done: string[];
}

export function fakeMachine(options: FakeOptions = {}): Fake {
  const done: string[] = [];
  const looks = [...(options.looks ?? [snapshotOf()])];
  // Has only the functions that the actions call; a call of any other throws.
  const binding = {
    async syncAll() {
      done.push('sync');
      return options.sync ?? { durationMs: 5 };
    },
    async writeFile(path: string, data: string) {
      done.push(`write ${path} ${data}`);
      return options.write ?? { durationMs: 2 };
    },
    readFilesWithin: async (paths: string[]) => textsOf(options.files ?? {})(paths),
  } as unknown as NativeBinding;
  return {
    done,
    machine: {
      binding,
      simulated: options.simulated ?? null,
      env: { HOME: '/nowhere', SUDO_USER: '' },
      uid: options.uid ?? 0,
      host: async () => (looks[0] as Snapshot).host,
      takeSnapshot: async () => (looks.length > 1 ? (looks.shift() as Snapshot) : (looks[0] as Snapshot)),
      mayWrite: async () => options.mayWrite ?? null,
      resolvePath: async (path) => (existsSync(path) ? { path: realpathSync(path), directory: true } : null),
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

/** A binding with these batches as its walks and these mappings. */
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
    readFilesWithin: async (paths: string[]) =>
      paths.map((path) => (path.endsWith('/comm') ? `name-of-${path.split('/')[2]}\n` : kernelFailure('ENOENT', path))),
    pageSize: () => 4096,
  } as unknown as NativeBinding;
  return { binding, asked, ended };
}
