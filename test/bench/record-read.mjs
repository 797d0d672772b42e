/** What does it take to read a ring of 1 GiB? Its frames are made here: nine days of 100 ms. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { limit, temporaryFolder } from './measure.mjs';

const SEGMENT = 16 * 2 ** 20;
const RECORD = 120;
const FRAME_US = 100_000;

const folder = join(temporaryFolder(), 'ring');
mkdirSync(folder);
let bootUs = 0;
for (let number = 1; number <= 64; number++)
  writeFileSync(join(folder, `${String(number).padStart(8, '0')}.umarec`), segment(number));

for (const [what, args, atMost] of [
  ['all of it', ['--points', '5000'], 60],
  ['its last minute', ['--last', '1m'], 3],
]) {
  const { maxRssMiB, seconds, sessions } = read(args);
  if (sessions !== 1) throw new Error(`the ring has one session, and ${sessions} were read`);
  limit({ question: `record show, a ring of 1 GiB, ${what}: largest RSS`, value: maxRssMiB, unit: 'MiB', atMost: 200 });
  limit({ question: `record show, a ring of 1 GiB, ${what}`, value: seconds, unit: 's', atMost });
}

function read(args) {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
  const from = performance.now();
  // The largest RSS of a process is known to itself when it ends.
  const code = `process.on('exit', () => require('node:fs').writeSync(2, 'RSS ' + process.resourceUsage().maxRSS));`;
  const script = join(temporaryFolder(), 'rss.cjs');
  writeFileSync(script, code);
  const { stderr, stdout } = spawnSync(
    process.execPath,
    ['--require', script, cli, 'record', 'show', '--folder', folder, '--json', ...args],
    { encoding: 'utf8', maxBuffer: 2 ** 28 },
  );
  const seconds = (performance.now() - from) / 1000;
  const maxRssMiB = Number(/RSS (\d+)/.exec(stderr)?.[1]) / 1024;
  return { maxRssMiB, seconds, sessions: JSON.parse(stdout).sessions.length };
}

function segment(number) {
  const bytes = Buffer.alloc(SEGMENT);
  const header = Buffer.from(JSON.stringify(headerOf(number)));
  bytes.write('UMAREC1\n', 'latin1');
  bytes.writeUInt32LE(header.length, 8);
  bytes.writeUInt32LE(crc32(header), 12);
  header.copy(bytes, 16);
  for (let at = Math.ceil((16 + header.length) / 8) * 8; at + RECORD <= SEGMENT; at += RECORD, bootUs += FRAME_US)
    writeFrame(bytes, at);
  return bytes;
}

function headerOf(number) {
  return {
    session: 'ring',
    bootId: null,
    simulated: null,
    hostName: 'ring',
    memoryModel: 'unified',
    total: 120 * 2 ** 30,
    swapTotal: 16 * 2 ** 30,
    floor: 8 * 2 ** 30,
    intervalMs: 10,
    frameMs: 100,
    segment: number,
    bootUs,
    wallUs: 1.7e15 + bootUs,
  };
}

/** A frame as native/run/record/format.h has it; MemFree goes up and down by 60 GiB in an hour. */
function writeFrame(bytes, at) {
  bytes.writeUInt32LE(1, at);
  bytes.writeUInt32LE(104, at + 4);
  const payload = bytes.subarray(at + 16, at + 120);
  const free = Math.round((70 + 30 * Math.sin(bootUs / 573e6)) * 2 ** 30);
  int64(payload, bootUs, 0);
  payload.writeUInt32LE(FRAME_US, 8);
  payload.writeUInt32LE(10, 12);
  for (let place = 16; place < 64; place += 8) int64(payload, free, place);
  for (let place = 72; place < 104; place += 8) int64(payload, 0, place);
  bytes.writeUInt32LE(crc32(payload, crc32(bytes.subarray(at, at + 8))), at + 8);
}

function int64(bytes, value, at) {
  bytes.writeUInt32LE(value % 2 ** 32, at);
  bytes.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
}
