/**
 * What does `umaprobe serve` cost? The CPU time of its process, which does nothing else: for a scrape, and for an open page of 16
 * machines. The ssh of these is a script that prints a snapshot each second, in which free memory and pressure change.
 */

import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { snapshot } from 'umaprobe';
import { limit, temporaryFolder } from './measure.mjs';

const cli = join(fileURLToPath(import.meta.url), '../../../dist/cli.js');

async function serve(options = [], env = process.env) {
  const server = spawn(process.execPath, [cli, 'serve', '--listen', '127.0.0.1:0', ...options], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve) =>
    server.stdout.once('data', (text) => resolve(/http:\S+/.exec(String(text))[0])),
  );
  /** Milliseconds: the kernel counts hundredths of a second. */
  const cpuMs = () => {
    const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  return { server, url, cpuMs };
}

const { cpuMs, server, url } = await serve();
const agent = new Agent({ keepAlive: true });
const scrape = () =>
  new Promise((resolve, reject) => {
    get(`${url}metrics`, { agent }, (response) => response.resume().once('end', resolve)).once('error', reject);
  });
const SCRAPES = 1000;
for (let each = 0; each < 300; each++) await scrape();
const before = cpuMs();
for (let each = 0; each < SCRAPES; each++) await scrape();
limit({ question: 'a scrape, warm: CPU time', value: (cpuMs() - before) / SCRAPES, unit: 'ms', atMost: 5 });
agent.destroy();
server.kill();

const folder = temporaryFolder();
const [FREE, STALL] = [111_222_333_444, 11.22];
const reading = await snapshot({ memGetInfo: 'never' });
reading.host.free = FREE;
if (reading.pressure !== null) reading.pressure.some.avg10 = STALL;
writeFileSync(join(folder, 'sent.json'), JSON.stringify({ ...reading, at: '@AT', bootId: '@BOOT' }));
const ssh = join(folder, 'ssh');
writeFileSync(
  ssh,
  `#!/bin/bash
while [[ $1 != -- ]]; do shift; done
while :; do
  sed "s/@AT/$(date -u +%FT%T.%3NZ)/; s/@BOOT/$2/; s/${FREE}/$((60000000000 + RANDOM * 1000000))/; s/${STALL}/$((RANDOM % 30)).5/" ${folder}/sent.json
  echo
  sleep 1
done
`,
);
chmodSync(ssh, 0o755);
const hosts = Array.from({ length: 16 }, (_, at) => `spark-${at}`).join();
const several = await serve(['--hosts', hosts], { ...process.env, PATH: `${folder}:${process.env.PATH}` });
let readings = 0;
get(`${several.url}events`, (response) =>
  response.setEncoding('utf8').on('data', (text) => {
    readings += text.split('event: machine').length - 1;
  }),
).once('error', () => undefined);
while (readings < 480) await sleep(100);
const [from, started, seen] = [several.cpuMs(), performance.now(), readings];
await sleep(30_000);
const percent = (100 * (several.cpuMs() - from)) / (performance.now() - started);
console.log(`${((readings - seen) / 30).toFixed(1)} readings a second`);
limit({
  question: 'a page of 16 machines, a reading of each every second: of a core',
  value: percent,
  unit: '%',
  atMost: 2,
});
several.server.kill();
