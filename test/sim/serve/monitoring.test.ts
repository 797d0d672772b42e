/** The scripts of monitoring/, on simulated machines: what each says and does, with a scontrol that notes what it is told. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../../support/cli.ts';
import { kubernetesDocuments } from '../../support/kubernetes.ts';
import { ROOT } from '../../support/root.ts';
import { get, startServing } from '../../support/serving.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MONITORING = join(ROOT, 'monitoring');
const folder = temporaryFolder('monitoring');

const odd = (name: string): string => join(ROOT, `test/agree/machines/${name}.json`);
/** A Spark whose tasks cannot run, with swap that is full. */
const STALLED = odd('stall38');

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a script of the folder where `umaprobe` is this one on that machine; null: a umaprobe that fails. */
function run(script: string, machine: string | null, args: string[] = [], programs: Record<string, string> = {}): Run {
  const bin = mkdtempSync(join(folder, 'bin-'));
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('umaprobe', machine === null ? 'exit 5' : `exec ${process.execPath} ${CLI} "$@" --sim ${machine}`);
  for (const [name, text] of Object.entries(programs)) program(name, text);
  const { status, stderr, stdout } = spawnSync(join(MONITORING, script), args, {
    encoding: 'utf8',
    env: cliEnvironment({ PATH: `${bin}:${process.env.PATH}`, SLURMD_NODENAME: 'n1' }),
  });
  return { code: status, stdout, stderr };
}

describe('umaprobe-health, the plugin of node-problem-detector (simulated)', () => {
  it.each([
    ['gb10', 0, 'umaprobe: no failure'],
    // A model is loaded: full is not ill.
    ['gb10-resting', 0, 'umaprobe: no failure'],
    ['gb10-kho', 0, 'umaprobe: no failure'],
    ['no-driver', 0, 'umaprobe: no failure'],
    [STALLED, 1, 'umaprobe: pressure swap.full'],
    [odd('lost'), 1, 'umaprobe: library.cuda'],
    ['gb10-hang', 1, 'umaprobe: library.nvml'],
    [null, 2, 'umaprobe metrics failed: not known'],
  ])('of %s ends with %d', (machine, code, line) => {
    const ran = run('umaprobe-health', machine);
    expect(ran).toEqual({ code, stdout: `${line}\n`, stderr: '' });
    expect(Buffer.byteLength(ran.stdout.trimEnd())).toBeLessThanOrEqual(80);
  });

  it('says no more than 80 bytes, whatever fails', () => {
    const fails = Array.from({ length: 9 }, (_, index) => `fail     some.finding.${'abcdefghi'[index]}  words`).join(
      '\n',
    );
    const fake = { umaprobe: `[ "$1" = metrics ] && exit 0\necho "${fails}"; exit 7` };
    const { code, stdout } = run('umaprobe-health', 'gb10', [], fake);
    expect([code, stdout.trimEnd().length]).toEqual([1, 80]);
    expect(stdout).toMatch(/^umaprobe: some\.finding\.a some\.finding\.b /);
  });

  it('is what its configuration names, with the limits of node-problem-detector', () => {
    const { conditions, pluginConfig, rules } = JSON.parse(
      readFileSync(join(MONITORING, 'umaprobe-npd.json'), 'utf8'),
    ) as {
      conditions: { type: string; message: string }[];
      pluginConfig: Record<string, unknown>;
      rules: { condition: string; path: string; timeout: string }[];
    };
    expect(pluginConfig).toMatchObject({ timeout: '5s', max_output_length: 80 });
    expect(rules.map(({ condition }) => condition)).toEqual(conditions.map(({ type }) => type));
    for (const { path, timeout } of rules) {
      expect(existsSync(join(MONITORING, path.split('/').at(-1) ?? ''))).toBe(true);
      expect(timeout).toBe('5s');
    }
    expect(run('umaprobe-health', 'gb10').stdout).toBe(`${conditions[0]?.message}\n`);
  });
});

describe('slurm-health-check (simulated)', () => {
  const REASON = '[node_problem] umaprobe: pressure swap.full';
  const answers = mkdtempSync(join(folder, 'answers-'));
  /** A umaprobe that answers on a machine what it answered before: what Slurm says of the node differs, and not the machine. */
  const remembered = (machine: string): string => `
answer='${answers}/${basename(machine)}'-$(echo "$*" | tr -c 'a-z\n' -)
if [ ! -e "$answer.code" ]; then
  ${process.execPath} ${CLI} "$@" --sim ${machine} > "$answer"
  echo $? > "$answer.code"
fi
cat "$answer"
exit "$(cat "$answer.code")"`;
  /** What it tells Slurm of a node in this state. */
  function told(machine: string | null, state: string, reason = ''): { code: number | null; said: string } {
    const notes = join(folder, 'told');
    rmSync(notes, { force: true });
    const shown = `NodeName=n1 Arch=x86_64 State=${state} ThreadsPerCore=1 Partitions=p${reason === '' ? '' : ` Reason=${reason} [root@2026-11-27T02:00:00]`}`;
    const scontrol = `if [ "$1" = --oneliner ]; then echo '${shown}'; else for word; do printf '%s|' "$word" >> ${notes}; done; fi`;
    const fakes = machine === null ? { scontrol } : { scontrol, umaprobe: remembered(machine) };
    const { code } = run('slurm-health-check', machine, [], fakes);
    return { code, said: existsSync(notes) ? readFileSync(notes, 'utf8') : '' };
  }

  it.each([
    ['drains a node with a failure', STALLED, 'IDLE', '', `update|NodeName=n1|State=DRAIN|Reason=${REASON}|`],
    ['drains one that works', STALLED, 'MIXED', '', `update|NodeName=n1|State=DRAIN|Reason=${REASON}|`],
    ['whatever its last reason was', STALLED, 'IDLE', 'was DRAIN', `update|NodeName=n1|State=DRAIN|Reason=${REASON}|`],
    ['drains it once', STALLED, 'IDLE+DRAIN', REASON, ''],
    ['leaves the reason of somebody else', STALLED, 'IDLE+DRAIN', 'disk', ''],
    ['resumes what it has drained', 'gb10', 'IDLE+DRAIN', REASON, 'update|NodeName=n1|State=RESUME|'],
    ['resumes what still drains', 'gb10', 'MIXED+DRAIN', REASON, 'update|NodeName=n1|State=RESUME|'],
    ['does not resume what somebody else has drained', 'gb10', 'IDLE+DRAIN', 'maintenance', ''],
    ['nor what was drained without a reason', 'gb10', 'IDLE+DRAIN', '', ''],
    ['nor one whose reason only mentions it', 'gb10', 'IDLE+DRAIN', `after ${REASON}`, ''],
    ['tells nothing of a node that is well', 'gb10', 'IDLE', '', ''],
    ['nor of one that was drained before and is not any more', 'gb10', 'IDLE', REASON, ''],
    ['nor of one at rest with a model loaded', 'gb10-resting', 'MIXED', '', ''],
  ])('%s', (_, machine, state, reason, said) => {
    expect(told(machine, state, reason)).toEqual({ code: 0, said });
  });

  it.each(['IDLE', 'IDLE+DRAIN'])('what is not known changes nothing: %s', (state) => {
    expect(told(null, state, REASON)).toEqual({ code: 2, said: '' });
  });

  it('fails where Slurm does not answer', () => {
    expect(run('slurm-health-check', 'gb10', [], { scontrol: 'exit 1' }).code).toBe(1);
  });
});

describe('nfd-features (simulated)', () => {
  const features = join(folder, 'nfd/features.d');
  const write = (machine: string | null): Run => {
    mkdirSync(features, { recursive: true });
    return run('nfd-features', machine, [features]);
  };
  const file = join(features, 'umaprobe');

  it('writes what the DRA driver says of unified memory, whole and readable for all', () => {
    expect(write('gb10')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(file, 'utf8')).toBe('umaprobe.memoryType=unified\n');
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(readdirSync(features)).toEqual(['umaprobe']);
    expect(readdirSync(join(folder, 'nfd'))).toEqual(['features.d']);
  });

  it('leaves it where no GPU answers, and takes it away where GPUs have memory of their own', () => {
    write('gb10');
    for (const machine of [null, 'no-driver'])
      expect(write(machine)).toMatchObject({ code: 1, stderr: expect.stringContaining('no GPU answers') });
    expect(existsSync(file)).toBe(true);
    expect(write('h200').code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });
});

const documents = kubernetesDocuments();

describe.skipIf(documents === null)(`the pod${documents === null ? ' (skipped: no python3-yaml here)' : ''}`, () => {
  if (documents === null) return;
  const [set, monitor] = documents;
  const { spec } = set.spec.template;
  const [container] = spec.containers;

  it('sees the processes of the machine, and has no privilege and nothing to write', () => {
    expect([set.kind, monitor.kind, spec.hostPID, spec.hostNetwork]).toEqual([
      'DaemonSet',
      'PodMonitor',
      true,
      undefined,
    ]);
    expect(container.securityContext).toMatchObject({
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.volumeMounts.every(({ readOnly }) => readOnly === true)).toBe(true);
    const mounted = container.volumeMounts.map(({ name }) => name);
    expect(mounted).toEqual(spec.volumes.map(({ name }) => name));
  });

  it('is what the monitor looks for, at its port and with its token', () => {
    for (const selector of [set.spec.selector, monitor.spec.selector])
      expect(set.spec.template.metadata.labels).toEqual(selector.matchLabels);
    const [endpoint] = monitor.spec.podMetricsEndpoints;
    expect(container.ports.map(({ name }) => name)).toContain(endpoint.port);
    expect(endpoint.authorization).toMatchObject({ type: 'Bearer', credentials: { key: 'token' } });
  });

  it('answers its probes without the token, and a scrape with it (simulated)', async () => {
    const token = 'a-token-of-this-test';
    const file = join(folder, 'token');
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    const mount = container.volumeMounts.find(({ name }) => name === 'token');
    // startServing() begins as these do, with a port that is free.
    const args = container.args.map((word) =>
      word === mount?.mountPath ? file : word.replace('$(POD_IP)', '127.0.0.1').replace(/:\d+$/, ':0'),
    );
    expect(args).toEqual(['serve', '--listen', '127.0.0.1:0', '--token-file', file]);
    expect(container.args[2]).toBe(`$(POD_IP):${container.ports[0]?.containerPort}`);
    const { child, port } = await startServing([...args.slice(3), '--sim', 'gb10']);
    const status = async (path: string, headers: Record<string, string> = {}) =>
      (await get(port, path, headers)).status;
    try {
      for (const { httpGet } of [container.readinessProbe, container.livenessProbe])
        await expect.poll(() => status(httpGet.path), { timeout: 10_000 }).toBe(200);
      expect(await status('/metrics')).toBe(401);
      expect(await status('/metrics', { authorization: `Bearer ${token}` })).toBe(200);
    } finally {
      child.kill();
    }
  });
});
