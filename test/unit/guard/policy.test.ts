/** What `guard --system` may stop, and in which order. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { candidates, checkPolicy } from '../../../lib/guard/policy.ts';
import type { GuardPolicy, ProcessesReport } from '../../../lib/types/index.ts';
import { ROOT } from '../../support/root.ts';
import { parseDocument } from '../../support/schemas.ts';
import { GiB } from '../../support/units.ts';

type Report = Pick<ProcessesReport, 'groups' | 'processes'>;
let next = 100;

/** A group with one process of this name. */
function group(id: string, gpuGiB: number | null, heldGiB: number, process = 'python3') {
  const pid = next++;
  const [kind = '', name = ''] = id.split(/:(.*)/);
  const gpuBytes = gpuGiB === null ? null : gpuGiB * GiB;
  const sizes = { held: heldGiB * GiB, gpuBytes };
  return {
    group: {
      id,
      kind: kind === 'unit' || kind === 'tree' ? kind : 'container',
      name,
      rootPid: pid,
      pids: [pid],
      ...sizes,
    },
    process: { pid, name: process, ...sizes },
  };
}
function reportOf(...groups: ReturnType<typeof group>[]): Report {
  return {
    groups: groups.map((one) => one.group),
    processes: groups.map((one) => one.process),
  } as unknown as Report;
}
const names = (report: Report, policy: GuardPolicy = {}, self = 1) =>
  candidates(report, policy, self).map(({ name }) => name);

const machine = reportOf(
  group('unit:ollama.service', 10, 2),
  group('unit:vllm@a.service', 60, 5),
  group('docker:3f4e0c1b2a9d', 30, 40),
  group('unit:postgresql.service', null, 20, 'postgres'),
  group('unit:gdm.service', 1, 1, 'gdm-x-session'),
  group('unit:my-desktop.service', 2, 1, 'gnome-shell'),
  group('unit:ssh.service', 0, 1, 'sshd'),
  group('unit:systemd-journald.service', 0, 1, 'systemd-journal'),
  group('tree:4711', 50, 50),
);

describe('what may be stopped', () => {
  it('without a policy: units and containers with GPU memory, the largest first; no desktop, no login session', () => {
    expect(names(machine)).toEqual(['vllm@a.service', '3f4e0c1b2a9d', 'ollama.service']);
  });

  it('with one: what it names, in its order', () => {
    const mayStop = ['ollama.service', 'docker:*', 'vllm@*'];
    expect(names(machine, { mayStop, order: 'listed' })).toEqual(['ollama.service', '3f4e0c1b2a9d', 'vllm@a.service']);
    expect(names(machine, { mayStop, order: 'memory' })).toEqual(['3f4e0c1b2a9d', 'vllm@a.service', 'ollama.service']);
    expect(names(machine, { mayStop: ['postgresql.service'] })).toEqual(['postgresql.service']);
    expect(names(machine, { mayStop: [] })).toEqual([]);
    expect(names(machine, { never: ['vllm*.service'] })).toEqual(['3f4e0c1b2a9d', 'ollama.service']);
  });

  it('never what keeps the machine usable, whatever a policy says', () => {
    const units = [
      'systemd-logind',
      'dbus-broker',
      'sshd',
      'NetworkManager',
      'gdm3',
      'umaprobe-record',
      'docker',
      'polkit',
    ];
    const report = reportOf(...units.map((name) => group(`unit:${name}.service`, 50, 50)));
    expect(names(report, { mayStop: ['*'] })).toEqual([]);
    expect(names(reportOf(group('unit:renamed.service', 50, 50, 'sshd')), { mayStop: ['*'] })).toEqual([]);
  });

  it('never the unit of the guard itself', () => {
    const own = group('unit:tools.service', 5, 5);
    expect(names(reportOf(own), { mayStop: ['*'] }, own.process.pid)).toEqual([]);
  });
});

describe('a policy', () => {
  it('that the page shows is one', () => {
    const page = readFileSync(join(ROOT, 'docs/guard.md'), 'utf8');
    const shown = /```json\n(.*?)```/s.exec(page)?.[1] ?? '';
    expect(checkPolicy(parseDocument(shown))).toMatchObject({ order: 'gpu' });
  });

  it.each([
    [{ maystop: [] }, 'policy has no option "maystop". Did you mean mayStop?'],
    [{ mayStop: 'vllm' }, 'mayStop is "vllm"; expected an array of names, such as ["vllm*.service"]'],
    [{ never: ['a/b'] }, 'never[0] is "a/b"; expected a name, such as "vllm*.service"'],
    [{ order: 'rss' }, 'order is "rss"; expected one of gpu, memory, listed'],
    [{ schema: 'umaprobe/guard-policy/2' }, 'schema is "umaprobe/guard-policy/2"; expected umaprobe/guard-policy/1'],
    [[], 'policy is an array; expected an object with schema, mayStop, never, order'],
  ])('%j is refused', (policy, message) => {
    expect(() => checkPolicy(policy)).toThrow(message);
  });
});
