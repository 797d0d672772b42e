/**
 * Kills a recorder with SIGKILL at random moments, again and again, and reads what is left: how much of its end is lost,
 * whether each acknowledged mark is there, and whether anything is damaged.
 *   node test/soak/record-kills.mjs [SECONDS] [SEED]
 * Prints one line of JSON. Exit 1: more than the last second was lost, a mark, or a whole record.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mark, readRecord } from 'umaprobe/run';

const [seconds = 600, seed = 1] = process.argv.slice(2).map(Number);
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'umaprobe-kills-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Beyond the second: the clock of this process and the one of the recorder's frames are read at different moments. */
const ALLOWED_MS = 1000;
/** A recorder lives for at most so long. */
const LIFE_MS = 5000;
/** Between two marks. */
const MARK_MS = 100;

/** xorshift32: a run can be repeated. */
let state = seed;
function random() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

const lostMs = [];
const result = { seconds, seed, kills: 0, frames: 0, marks: 0, lostMarks: 0, problems: 0, wrongEnds: 0 };
const until = performance.now() + seconds * 1000;
while (performance.now() < until) {
  // A mark is written at once with all that waits: half of the recorders get none.
  const acknowledged = await lifeOfARecorder(random() * LIFE_MS, result.kills % 2 === 1);
  const killedAt = Date.now();
  const { problems, sessions } = await readRecord({ folder, sessions: 1 });
  const session = sessions[0];
  const written = new Set(session.marks.map(({ text }) => text));
  result.kills++;
  result.frames += session.frames;
  result.marks += acknowledged.length;
  result.lostMarks += acknowledged.filter((text) => !written.has(text)).length;
  result.problems += problems.length;
  if (session.end !== 'lost') result.wrongEnds++;
  lostMs.push(killedAt - Date.parse(session.lastAt));
}
lostMs.sort((a, b) => a - b);
result.medianLostMs = lostMs[Math.floor(lostMs.length / 2)];
result.mostLostMs = lostMs.at(-1);
console.log(JSON.stringify(result));
const { lostMarks, mostLostMs, problems, wrongEnds } = result;
process.exitCode = lostMarks + problems + wrongEnds === 0 && mostLostMs <= ALLOWED_MS ? 0 : 1;

/** Starts a recorder, sets marks or waits for so long, and kills it. Returns the marks that it acknowledged. */
async function lifeOfARecorder(forMs, withMarks) {
  const args = ['record', '--folder', folder, '--processes', '0s', '--max-size', '16MiB'];
  const child = spawn(process.execPath, [cli, ...args], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const acknowledged = [];
  await answering();
  const killAt = performance.now() + forMs;
  const killed = sleep(forMs).then(() => child.kill('SIGKILL'));
  for (let number = 0; withMarks && performance.now() < killAt; number++, await sleep(MARK_MS * random())) {
    const text = `mark ${result.kills}.${number}`;
    // The one that the kill interrupts fails.
    if (
      await mark(text, { folder }).then(
        () => true,
        () => false,
      )
    )
      acknowledged.push(text);
  }
  await killed;
  await exited;
  return acknowledged;
}

async function answering() {
  for (let tries = 0; tries < 400; tries++, await sleep(25)) {
    if (
      existsSync(join(folder, 'mark.sock')) &&
      (await mark('begin', { folder }).then(
        () => true,
        () => false,
      ))
    )
      return;
  }
  throw new Error('the recorder did not start within 10 s');
}
