/**
 * Debian's Prometheus scrapes `umaprobe serve`, and its Alertmanager calls a webhook: for a simulated machine that wedges, also
 * where the freeze ends the scrape, and not for one that is healthy and looks like it. A minute of the rules is 4 s here. What node_exporter would say comes from this test.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientsFolder } from '../../scripts/debian-clients.mjs';
import { clientPath, missingClients } from '../support/debian.ts';
import { ROOT } from '../support/root.ts';
import { type Served, startServing } from '../support/serving.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GiB } from '../support/units.ts';

const folder = temporaryFolder('alerting');
const ends: (() => void)[] = [];
afterAll(() => {
  for (const end of ends.reverse()) end();
});

/** Seconds of this test for a minute of the rules. */
const MINUTE = 4;

/** The rules that ship, in this test's time. */
function fasterRules(): string {
  const rules = readFileSync(join(ROOT, 'monitoring/umaprobe.rules.yml'), 'utf8');
  return rules
    .replace('[10m:15s]', `[${10 * MINUTE}s:1s]`)
    .replaceAll('[1m]', `[${MINUTE}s]`)
    .replace(
      /^( +(?:keep_firing_)?for: )(\d+)m$/gm,
      (_, name: string, minutes: string) => `${name}${Number(minutes) * MINUTE}s`,
    );
}

/** The rule of node_exporter's mixin that fires at 90 % in use, and waits for 15 minutes. */
const MIXIN = `groups:
  - name: node-exporter
    rules:
      - alert: NodeMemoryHighUtilization
        expr: 100 - node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes * 100 > 90
        for: ${2 * MINUTE}s
`;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** What node_exporter would say: seconds in which all tasks waited, after so many seconds, and MemAvailable. */
async function nodeExporter(stalled: (seconds: number) => number, available: number): Promise<[Server, number]> {
  const started = performance.now();
  const server = createServer((_, response) => {
    const seconds = stalled((performance.now() - started) / 1000);
    response.end(
      `# TYPE node_pressure_memory_stalled_seconds_total counter\nnode_pressure_memory_stalled_seconds_total ${seconds}\n` +
        `# TYPE node_memory_MemAvailable_bytes gauge\nnode_memory_MemAvailable_bytes ${available}\n` +
        `# TYPE node_memory_MemTotal_bytes gauge\nnode_memory_MemTotal_bytes ${120 * GiB}\n`,
    );
  });
  return [server, await listen(server)];
}

function start(program: string, args: readonly string[]): void {
  const child = spawn(program, args, { stdio: 'ignore' });
  ends.push(() => child.kill('SIGKILL'));
}

/** Alertmanager of Debian opens its template below /usr/share, where only an installed one has it. */
const UNSHARE = ['--user', '--map-root-user', '--mount'];
const ITS_SHARE = [
  'sh',
  '-c',
  'mount --bind "$0" /usr/share && exec "$@"',
  join(clientsFolder('bookworm'), 'usr/share'),
];
const missing =
  missingClients('bookworm') ??
  (spawnSync('unshare', [...UNSHARE, 'true']).status === 0 ? null : 'this user may not make a mount namespace');

/** A port that was free a moment ago: these programs cannot be asked which one they took. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.skipIf(missing !== null)(
  `Prometheus and Alertmanager${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    const fired = new Set<string>();
    let prometheus = '';
    /** Both exporters of the machine that wedges are gone. */
    let freeze: () => void = () => undefined;

    beforeAll(async () => {
      const wedged: Served = await startServing(['--sim', writeWedged()]);
      const resting: Served = await startServing(['--sim', 'gb10-resting']);
      ends.push(
        () => wedged.child.kill(),
        () => resting.child.kill(),
      );
      const [dying, wedgedNode] = await nodeExporter((seconds) => 0.6 * seconds, 1.5 * GiB);
      // A healthy load: 98 % for two minutes of the rules.
      const [, restingNode] = await nodeExporter((seconds) => 0.98 * Math.min(seconds, 2 * MINUTE), 4.9 * GiB);
      // As full as the others, and without umaprobe.
      const [, plainNode] = await nodeExporter(() => 0, 4.9 * GiB);
      freeze = () => {
        wedged.child.kill('SIGKILL');
        dying.closeAllConnections();
        dying.close();
      };
      const webhook = createServer((request, response) => {
        let body = '';
        request.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        request.once('end', () => {
          const { alerts } = JSON.parse(body) as { alerts: { status: string; labels: Record<string, string> }[] };
          for (const { labels, status } of alerts)
            if (status === 'firing') fired.add(`${labels.instance} ${labels.alertname}`);
          response.end();
        });
      });
      const webhookPort = await listen(webhook);
      const [alertPort, port] = [await freePort(), await freePort()];
      const write = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      };
      write('rules.yml', fasterRules());
      write('mixin.yml', MIXIN);
      const target = (name: string, ...ports: number[]): string =>
        ports.map((each) => `      - {targets: ['127.0.0.1:${each}'], labels: {instance: ${name}}}\n`).join('');
      const config = write(
        'prometheus.yml',
        `global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [rules.yml, mixin.yml]\n` +
          `alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:${alertPort}']}]}]}\nscrape_configs:\n` +
          `  - job_name: umaprobe\n    static_configs:\n${target('wedged', wedged.port)}${target('resting', resting.port)}` +
          `  - job_name: node\n    static_configs:\n${target('wedged', wedgedNode)}${target('resting', restingNode)}${target('plain', plainNode)}`,
      );
      const alertConfig = write(
        'alertmanager.yml',
        readFileSync(join(ROOT, 'monitoring/alertmanager-inhibit.yml'), 'utf8')
          .replace(
            'receiver: default # yours',
            "receiver: default\n  group_by: ['...']\n  group_wait: 0s\n  group_interval: 1s",
          )
          .replace(
            'name: default # yours',
            `name: default\n    webhook_configs: [{url: 'http://127.0.0.1:${webhookPort}/'}]`,
          ),
      );
      start('unshare', [
        ...UNSHARE,
        ...ITS_SHARE,
        clientPath('bookworm', 'prometheus-alertmanager'),
        `--config.file=${alertConfig}`,
        `--storage.path=${join(folder, 'alerts')}`,
        `--web.listen-address=127.0.0.1:${alertPort}`,
        '--cluster.listen-address=',
      ]);
      start(clientPath('bookworm', 'prometheus'), [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'series')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]);
      prometheus = `http://127.0.0.1:${port}/api/v1/query?query=`;
    }, 60_000);

    async function query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
      const response = await fetch(prometheus + encodeURIComponent(expression)).catch(() => null);
      if (response === null || !response.ok) return [];
      return ((await response.json()) as { data: { result: [] } }).data.result;
    }

    it('the server is scraped in the format that Prometheus prefers', async () => {
      await expect.poll(() => query('up{job="umaprobe"} == 1'), { timeout: 20_000 }).toHaveLength(2);
      const [info] = await query('umaprobe_machine_info{instance="resting"}');
      expect(info?.metric.simulated).toBe('gb10-resting');
      const [safe] = await query('umaprobe_may_load{instance="resting"}');
      expect(safe?.value[1]).toBe('0');
      const [parts] = await query('sum(umaprobe_memory_part_bytes{instance="resting"})');
      expect(Number(parts?.value[1])).toBe(128_518_619_136);
    });

    it('every query of the dashboard is understood, and answered where there is something to say', async () => {
      const { panels } = JSON.parse(readFileSync(join(ROOT, 'monitoring/umaprobe.dashboard.json'), 'utf8')) as {
        panels: { title: string; targets: { expr: string }[] }[];
      };
      const silent = async (): Promise<string[]> => {
        const found: string[] = [];
        for (const { targets, title } of panels)
          for (const { expr } of targets) {
            const expression = expr.replaceAll('$host', 'resting|wedged').replaceAll('$__rate_interval', '4s');
            expect((await fetch(prometheus + encodeURIComponent(expression))).ok, `${title}: ${expression}`).toBe(true);
            if ((await query(expression)).length === 0) found.push(expr.replace(/\{.*/, ''));
          }
        return found;
      };
      // This driver keeps no pools, and the machine's GPU has no memory of its own. A rate takes two scrapes.
      const expected = ['umaprobe_driver_pool_bytes', 'umaprobe_gpu_memory_bytes'];
      await expect.poll(silent, { timeout: 20_000, interval: 500 }).toEqual(expected);
    });

    it('a machine that wedges and freezes is told, and one that rests is not', async () => {
      const firing = () => [...fired].map((name) => name.replace(/^wedged Umaprobe/, '')).sort();
      const all = { timeout: 60_000, interval: 250 };
      await expect.poll(firing, all).toEqual(expect.arrayContaining(['Danger', 'NearlyOut']));
      freeze();
      await expect.poll(firing, all).toContain('Wedging');
      await expect.poll(() => fired.has('plain NodeMemoryHighUtilization'), all).toBe(true);
      // Of machines with unified memory the mixin says nothing, and nothing is said of their being unified.
      expect([...fired].filter((name) => name.startsWith('resting') || /Unified|High/.test(name))).toEqual([
        'plain NodeMemoryHighUtilization',
      ]);
    }, 120_000);
  },
);

/** A machine whose tasks all wait for memory, of which 1.5 GiB are left. */
function writeWedged(): string {
  const path = join(folder, 'wedged.json');
  const machine = {
    extends: 'gb10',
    name: 'wedged',
    description: 'A GB10 that wedges.',
    events: [{ atMs: 0, what: 'pressure', percent: 60, overMs: 600_000 }],
    processes: [{ name: 'python3', pid: 4_200_017, gpuBytes: 101 * GiB, anonBytes: 6 * GiB }],
  };
  writeFileSync(path, JSON.stringify(machine));
  return path;
}
