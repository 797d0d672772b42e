/** An ssh on PATH whose hosts are scripts of bash: what each prints, and how it ends. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Snapshot } from '../../lib/types/index.ts';
import { type MachineFixture, snapshotOf } from './snapshots.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface FakeSsh {
  /** A folder for the front of PATH. */
  folder: string;
  /** Script of a host: the line for its shell is "$1". */
  host(name: string, script: string): void;
  /** The arguments of each call, a line for each. */
  calls(): string[];
}

export function fakeSsh(): FakeSsh {
  const folder = temporaryFolder('fake-ssh');
  const hosts = join(folder, 'hosts');
  mkdirSync(hosts);
  const calls = join(folder, 'calls');
  const write = (path: string, text: string): void => {
    writeFileSync(path, text);
    chmodSync(path, 0o755);
  };
  write(
    join(folder, 'ssh'),
    `#!/bin/bash
printf '%s\\n' "\${*//$'\\n'/ }" >> ${calls}
while [[ $1 != -- ]]; do shift; done
exec ${hosts}/"\${2##*[@/]}" "$3"
`,
  );
  return {
    folder,
    host: (name, script) => write(join(hosts, name), `#!/bin/bash\n${script}\n`),
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []),
  };
}

/** One that is on PATH while the tests of this file run. */
export function fakeSshOnPath(): FakeSsh {
  const ssh = fakeSsh();
  const before = process.env.PATH;
  beforeAll(() => {
    process.env.PATH = `${ssh.folder}:${before}`;
  });
  afterAll(() => {
    process.env.PATH = before;
  });
  return ssh;
}

let boots = 0;

/** A snapshot that a machine would send now. */
export function sentSnapshot(hostName: string, fixture: MachineFixture = {}, overrides: object = {}): Snapshot {
  boots += 1;
  const bootId = `0b5e7a2c-0000-4000-8000-${String(boots).padStart(12, '0')}`;
  return { ...snapshotOf(fixture), hostName, bootId, at: new Date().toISOString(), ...overrides };
}

/** A script that prints it. */
export function printing(document: object | string, indent = 2): string {
  const text = typeof document === 'string' ? document : JSON.stringify(document, null, indent);
  return `cat <<'SENT'\n${text}\nSENT`;
}
