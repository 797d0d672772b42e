/** What does a scrape of `umaprobe serve` cost? The CPU time of its process, which does nothing else. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { limit } from './measure.mjs';

const cli = join(fileURLToPath(import.meta.url), '../../../dist/cli.js');
const server = spawn(process.execPath, [cli, 'serve', '--listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const url = await new Promise((resolve) =>
  server.stdout.once('data', (text) => resolve(/http:\S+/.exec(String(text))[0])),
);
const agent = new Agent({ keepAlive: true });
const scrape = () =>
  new Promise((resolve, reject) => {
    get(`${url}metrics`, { agent }, (response) => response.resume().once('end', resolve)).once('error', reject);
  });
/** Milliseconds: the kernel counts hundredths of a second. */
const cpuMs = () => {
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
const SCRAPES = 1000;
for (let each = 0; each < 300; each++) await scrape();
const before = cpuMs();
for (let each = 0; each < SCRAPES; each++) await scrape();
limit({ question: 'a scrape, warm: CPU time', value: (cpuMs() - before) / SCRAPES, unit: 'ms', atMost: 5 });
agent.destroy();
server.kill();
