/** `umaprobe serve` on simulated machines, over HTTP. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LiveHistory } from '../../../lib/types/index.ts';
import { CLI, exitOf, runUmaprobe, snapshotJson, umaprobe } from '../../support/cli.ts';
import { fakeSsh } from '../../support/fake-ssh.ts';
import { get, type Served, startServing } from '../../support/serving.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { temporaryToken, tokenFile } from '../../support/tokens.ts';

const folder = temporaryFolder('serve');

describe('a server', () => {
  let served: Served;
  beforeAll(async () => {
    served = await startServing(['--sim', 'gb10-busy']);
  });
  afterAll(() => served.child.kill());

  it('answers the metrics that umaprobe metrics prints', async () => {
    const { body, headers, status } = await get(served.port, '/metrics');
    const { stdout } = await umaprobe(['metrics', '--sim', 'gb10-busy']);
    // Each reading has its own time, and that of the command creates a CUDA context.
    const names = (text: string) => text.match(/^# TYPE .*$/gm);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(names(body)).toEqual(names(stdout));
    expect(body).toContain('umaprobe_memory_part_bytes{part="gpu_processes"} 75283562496');
  });

  it('answers OpenMetrics to clients that prefer it', async () => {
    const { body, headers } = await get(served.port, '/metrics', { accept: 'application/openmetrics-text' });
    expect(headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(body).toMatch(/# EOF\n$/);
  });

  it('is healthy, and ready once the machine has been read', async () => {
    expect((await get(served.port, '/-/healthy')).status).toBe(200);
    await expect.poll(async () => (await get(served.port, '/-/ready')).status).toBe(200);
  });

  it('shows the machine under the name of its snapshot, as simulated', async () => {
    const { body } = await get(served.port, '/');
    const { hostName } = snapshotJson(['--sim', 'gb10-busy']);
    expect(hostName).toBe('gb10-busy');
    expect(body).toContain(`<h1>${hostName}</h1>`);
    expect(body).toContain(`<title>${hostName}: live (simulated)</title>`);
    expect(body).toContain(`SIMULATED · machine ${hostName}`);
    expect(body).toContain(`"hosts":["${hostName}"]`);
  });

  it('tells other pages nothing, and browsers to keep nothing', async () => {
    for (const path of ['/metrics', '/-/healthy', '/nothing']) {
      const { headers } = await get(served.port, path);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('shows a page that is opened later no processes of before', async () => {
    // The row of what no process holds is only in the list of all processes.
    const isWhole = (text: string) => text.includes('shared memory of no process');
    const stream = await fetch(`${served.url}events`);
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!isWhole(text)) text += new TextDecoder().decode((await reader.read()).value);
    expect(isWhole((await get(served.port, '/')).body)).toBe(true);
    await reader.cancel();
    await expect.poll(async () => isWhole((await get(served.port, '/')).body), { timeout: 10_000 }).toBe(false);
  });

  it.each([
    [{ host: 'evil.example' }, '/metrics', 403],
    [{}, '//metrics', 404],
    [{}, '/-/../metrics', 404],
    [{}, '/%2e%2e/metrics', 404],
    [{}, '/metrics?name=x', 404],
  ])('%j %s is refused', async (headers, path, status) => {
    const answered = await get(served.port, path, headers as Record<string, string>);
    expect(answered.status).toBe(status);
    expect(answered.body).not.toContain('umaprobe_');
  });

  it('answers only GET and HEAD', async () => {
    expect(await get(served.port, '/metrics', {}, 'POST')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    });
    expect(await get(served.port, '/metrics', {}, 'HEAD')).toMatchObject({ status: 200, body: '' });
  });

  it('a second one on the same port says so', () => {
    const { code, stderr } = runUmaprobe(['serve', '--sim', 'gb10', '--listen', `127.0.0.1:${served.port}`]);
    expect(stderr).toBe(
      `umaprobe: listen on 127.0.0.1:${served.port}: another program listens there; port 0 takes one that is free (EADDRINUSE)\n`,
    );
    expect(code).toBe(5);
  });
});

it('with --hosts each machine has the history of its own recorder, which is asked when a page is opened', async ({
  onTestFinished,
}) => {
  const record = join(folder, 'record');
  const recorded = await umaprobe(['record', '--sim', 'gb10-busy', '--folder', record, '--duration', '2s']);
  expect(recorded.code).toBe(0);
  const ssh = fakeSsh();
  ssh.host('spark-1', `eval "set -- $1"; exec ${process.execPath} ${CLI} "\${@:2}" --sim gb10-busy`);
  ssh.host('spark-2', 'echo "ssh: connect to host spark-2 port 22: Connection refused" >&2; exit 255');
  const { child, port } = await startServing(['--hosts', 'spark-1,spark-2', '--folder', record], {
    PATH: `${ssh.folder}:${process.env.PATH}`,
  });
  onTestFinished(() => void child.kill());
  expect(ssh.calls()).toEqual([]);
  const [first, second, third] = await Promise.all([0, 1, 2].map((index) => get(port, `/history/${index}`)));
  const { sessions, why } = JSON.parse(first?.body ?? '') as LiveHistory;
  expect([sessions.length, sessions[0]?.hostName, sessions[0]?.end, why]).toEqual([1, 'gb10-busy', 'complete', null]);
  expect(sessions[0]?.series.length).toBeGreaterThan(10);
  expect(JSON.parse(second?.body ?? '')).toEqual({
    sessions: [],
    why: 'Connect to host spark-2 port 22: Connection refused. Next: see whether it is on and sshd runs there.',
    isLate: false,
  });
  expect(third?.status).toBe(404);
  expect(ssh.calls().length).toBe(2);
});

it.each(['SIGTERM', 'SIGINT'] as const)('ends with %s, also while a client keeps its connection', async (signal) => {
  const { child, port } = await startServing(['--sim', 'gb10']);
  await get(port, '/metrics', { connection: 'keep-alive' });
  child.kill(signal);
  expect(await exitOf(child)).toBe(signal === 'SIGTERM' ? 143 : 130);
});

it('with a driver that hangs the scrape ends in time, what is unknown has no line, and scrapes share a reading', async () => {
  const { child, port } = await startServing(['--sim', 'gb10-hang', '--deadline', '500ms']);
  const all = await Promise.all(Array.from({ length: 10 }, () => get(port, '/metrics')));
  const { body, status } = all[0] as (typeof all)[0];
  expect(
    new Set(all.map((each) => /^umaprobe_reading_timestamp_seconds (\S+)$/m.exec(each.body)?.[1])).size,
  ).toBeLessThan(4);
  expect(status).toBe(200);
  expect(body).toContain('umaprobe_source_up{source="nvml"} 0');
  expect(body).not.toContain('umaprobe_gpu_processes_bytes');
  child.kill();
  await exitOf(child);
});

it('a token is asked for, and is never in what the command prints', async () => {
  const { path, token } = temporaryToken();
  const { child, port } = await startServing(['--sim', 'gb10', '--token-file', path]);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk));
  const refused = await get(port, '/metrics');
  expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.stringMatching(/^Basic /) } });
  expect((await get(port, '/metrics', { authorization: 'Bearer wrong-wrong-wrong-wrong' })).status).toBe(401);
  expect((await get(port, '/metrics', { authorization: `Bearer ${token}` })).status).toBe(200);
  expect((await get(port, '/-/healthy')).status).toBe(200);
  child.kill();
  await exitOf(child);
  expect(printed).not.toContain(token);
});

const open = tokenFile('0123456789abcdef', 0o644);
writeFileSync(join(folder, 'short'), 'short\n', { mode: 0o600 });

it.each([
  [['--json'], '--json does not apply'],
  [['--listen', '0.0.0.0:1'], '--listen "0.0.0.0" is reached from other machines: it needs a token (--token-file)'],
  [['--hosts', 'a,b c'], 'a name of --hosts is "b c"; expected a name of ~/.ssh/config'],
  [['--listen', '16121'], '--listen is "16121"; expected an address and a port, such as 127.0.0.1:16121'],
  [['--token-file', open], 'other users may read it: chmod 600 makes it private'],
  [['--token-file', join(folder, 'short')], 'expected one line of 16 to 512 printable characters'],
  [['--token-file', join(folder, 'none')], 'there is no such file'],
  [['--listen', '192.0.2.1:1', '--token-file', temporaryToken().path], 'this machine does not have the address'],
])('%j is one line that says what to do', (words, message) => {
  const { stderr, stdout } = runUmaprobe(['serve', '--sim', 'gb10', ...words]);
  expect(stderr + stdout).toContain(message);
  if (words[0] !== '--json') expect(stderr.trim().split('\n').length).toBe(1);
});
