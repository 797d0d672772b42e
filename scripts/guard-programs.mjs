// Results of `umaprobe guard` and earlyoom beside real programs on this kernel: some take all memory, some are healthy.
// docs/guard-outcomes.md has the table. It takes gigabytes of memory for the better part of an hour: run it on a machine at rest.
//
//   node scripts/bootstrap.mjs && sudo node scripts/guard-programs.mjs --times 10 [--only NAME|Healthy]        prints the table
//
// Each run is in a PID namespace of its own, in which earlyoom sees no other program. Both guards have the same floor. A program that
// nobody stops is ended 2 GiB below it.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findTool, isMain, main, root } from './run.mjs';

const MiB = 2 ** 20;
const GiB = 2 ** 30;
/** Other programs move the same counter meanwhile. */
const OTHERS = 64 * MiB;
const LIMIT_MS = 90_000;
const USER = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

/** `room`: GiB from what is available to the floor. `$T` is the folder of the run, with `taker` and `storm` of test/kernel. */
const TAKERS = [
  { name: '`tail /dev/zero`', room: 2, script: 'tail /dev/zero' },
  { name: 'SIGTERM is ignored', room: 2, script: "trap '' TERM; $T/taker private 400 9000" },
  {
    name: '64 allocators in sessions of their own',
    room: 2,
    script: 'for i in $(seq 64); do setsid $T/taker private 20 140 & done; wait',
  },
  { name: 'a file in a tmpfs', room: 2, script: 'dd if=/dev/zero of=/dev/shm/umaprobe-outcome bs=1M count=9000' },
  { name: 'memfd', room: 2, script: '$T/taker memfd 800 9000' },
  { name: 'buffers of pipes', room: 2, script: '$T/taker pipe 800 9000' },
  { name: 'shared mappings', room: 2, script: '$T/taker shared 800 9000' },
  { name: 'a fork storm', room: 2, script: '$T/storm 4 3000' },
  { name: '20 MiB/s', room: 0.3, script: '$T/taker private 20 4000' },
  { name: '150 MiB/s', room: 1, script: '$T/taker private 150 6000' },
  {
    name: '`stress-ng --bigheap`',
    room: 2,
    script: 'stress-ng --quiet --temp-path $T --bigheap 2 --timeout 60',
    needs: 'stress-ng',
  },
  { name: 'Node: buffers', room: 2, script: `node -e 'const a = []; for (;;) a.push(Buffer.alloc(8 << 20, 1))'` },
  {
    name: 'Python: a list',
    room: 2,
    script: `python3 -c 'a = []\nwhile True: a.append(bytearray(1 << 20))'`,
    needs: 'python3',
  },
  {
    name: 'Perl: a string that doubles',
    room: 2,
    script: `perl -e '$a = "x" x 1048576; $a .= $a while 1'`,
    needs: 'perl',
  },
  { name: 'awk: an array', room: 1, script: `awk 'BEGIN { for (;;) a[i++] = "a value of an array" i }'` },
  {
    name: '`stress-ng --vm 2`',
    room: 2,
    script: 'stress-ng --quiet --temp-path $T --vm 2 --vm-bytes 9g --vm-keep --timeout 60',
    needs: 'stress-ng',
  },
];

const HEALTHY = [
  {
    name: '`make -j8` of redis',
    room: 4,
    script: 'cp -r "$REDIS" $T/redis && make -s -C $T/redis -j8 MALLOC=libc',
    needs: 'REDIS',
  },
  {
    name: '`stress-ng --vm 2 --vm-bytes 25%`',
    room: 12,
    script: 'stress-ng --quiet --temp-path $T --vm 2 --vm-bytes 25% --timeout 15',
    needs: 'stress-ng',
  },
  {
    name: 'chromium',
    room: 4,
    script: 'chromium --headless --no-sandbox --disable-gpu --user-data-dir=$T/c --dump-dom about:blank',
    needs: 'chromium',
  },
  {
    name: '`npm ci`',
    room: 4,
    script: 'cp "$ROOT"/package*.json $T && cd $T && npm ci --ignore-scripts --silent --cache $T/npm',
    needs: 'npm',
  },
  { name: '`vim`', room: 2, script: `vim -es -u NONE -c 'r /etc/services' -c 'wq! '"$T/v"`, needs: 'vim' },
  {
    name: '`ssh`',
    room: 2,
    script: 'ssh -o BatchMode=yes -o ConnectTimeout=2 -p 1 127.0.0.1 true; test $? = 255',
    needs: 'ssh',
  },
  {
    name: 'reads a file of 2 GB',
    room: 3,
    script: 'head -c 2000000000 /dev/zero > $T/f; cat $T/f $T/f | md5sum; rm $T/f',
  },
  {
    name: 'takes half of what is left, for 10 s',
    room: 3,
    script: 'timeout 10 $T/taker private 2000 1500; test $? = 124',
  },
  { name: '300 short processes', room: 2, script: 'for i in $(seq 300); do /bin/true; done' },
  {
    name: 'a load of 1.5 GiB, ten times',
    room: 3,
    script: 'for i in 1 2 3 4 5 6 7 8 9 10; do timeout 1 $T/taker private 3000 1500; done; true',
  },
];

const lineOf = (name) =>
  Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(readFileSync('/proc/meminfo', 'latin1'))?.[1]) * 1024;
/** Pages that a program freed lie in the processors' lists for minutes, outside MemAvailable: up to an eighth of memory. */
const inLists = () =>
  [...readFileSync('/proc/zoneinfo', 'latin1').matchAll(/^ +count: +(\d+)/gm)].reduce(
    (sum, [, pages]) => sum + pages * 4096,
    0,
  );
const available = () => lineOf('MemAvailable') + inLists();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The command line of a guarded script, by the guard. `user`: as an ordinary user. */
function commandOf(guard, floor, script, user) {
  const who = user ? USER : [];
  const kill = floor - GiB;
  if (guard === 'umaprobe') {
    const options = ['-q', '--floor', `${floor}B`, '--kill-below', `${kill}B`];
    return [...who, process.execPath, join(root, 'dist/cli.js'), 'guard', ...options, '--', 'sh', '-c', script];
  }
  const limits = `${Math.round(floor / 1024)},${Math.round(kill / 1024)}`;
  // earlyoom acts where memory and swap are low, so here swap always is. It runs as root, as its service does.
  const swap = lineOf('SwapTotal') / 1024;
  const always = swap === 0 ? '' : `-S ${swap},${swap}`;
  const watched = `earlyoom -r 0 -M ${limits} ${always} > /dev/null 2>&1 & exec "$@"`;
  return ['sh', '-c', watched, 'sh', ...who, 'sh', '-c', script];
}

/** One run: how low memory went against the floor, in bytes, how it ended, and after which signal. */
async function runOne(guard, { room, script }, user, env) {
  const floor = Math.round(available() - room * GiB);
  const args = ['--pid', '--fork', '--kill-child', '--mount-proc', ...commandOf(guard, floor, script, user)];
  const child = spawn('unshare', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  let [lowest, end] = [Number.POSITIVE_INFINITY, null];
  child.once('exit', (code, signal) => (end = signal ?? code));
  for (const until = performance.now() + LIMIT_MS; end === null; await sleep(5)) {
    lowest = Math.min(lowest, available());
    if (lowest < floor - 2 * GiB || performance.now() > until) child.kill('SIGKILL');
  }
  rmSync('/dev/shm/umaprobe-outcome', { force: true });
  await settled(floor + 0.8 * room * GiB);
  return { end, above: lowest - floor, signal: /SIG(TERM|KILL)/.exec(said)?.[0] ?? null };
}

/** Waits until the memory of the last run is back. */
async function settled(bytes) {
  for (let tries = 0; tries < 200 && available() < bytes; tries++) await sleep(50);
}

async function rowOf(program, times, isHealthy, env) {
  const cells = [];
  for (const [guard, user] of [
    ['umaprobe', false],
    ['umaprobe', true],
    ['earlyoom', true],
  ]) {
    if (guard === 'earlyoom' && findTool('earlyoom') === null) {
      cells.push('not run');
      continue;
    }
    const runs = [];
    for (let at = 0; at < times; at++) {
      const folder = mkdtempSync(join(tmpdir(), 'umaprobe-outcome-'));
      chmodSync(folder, 0o777);
      for (const name of ['taker', 'storm']) {
        writeFileSync(join(folder, name), readFileSync(join(env.BUILT, name)));
        chmodSync(join(folder, name), 0o755);
      }
      runs.push(await runOne(guard, program, user, { ...env, T: folder, HOME: folder }));
      rmSync(folder, { recursive: true, force: true });
    }
    console.error(
      JSON.stringify({
        program: program.name,
        guard,
        user,
        runs: runs.map((run) => ({ ...run, above: Math.round(run.above / MiB) })),
      }),
    );
    cells.push(isHealthy ? healthyCell(runs) : takerCell(runs, guard));
  }
  return `| ${[program.name, ...cells].join(' | ')} |`;
}

/** Runs that held the floor, the lowest of all in MiB above it, and what `umaprobe guard` sent unless that was SIGTERM. */
function takerCell(runs, guard) {
  const held = runs.filter(({ above }) => above > -OTHERS).length;
  const lowest = Math.min(...runs.map(({ above }) => above));
  const by = ['SIGTERM', 'SIGKILL'].filter((name) => runs.some(({ signal }) => signal === name)).join(', ');
  const count = `${held}/${runs.length}`;
  const other = guard === 'earlyoom' || by === 'SIGTERM' ? '' : `, ${by === '' ? 'no signal' : by}`;
  return `${held === runs.length ? count : `**${count}**`}, ${Math.round(lowest / MiB)}${other}`;
}

function healthyCell(runs) {
  const ended = runs.filter(({ end }) => end === 0).length;
  return ended === runs.length ? `${ended} of ${runs.length}` : `**${ended} of ${runs.length}**`;
}

if (isMain(import.meta.url)) {
  await main(async () => {
    const { values } = parseArgs({ options: { times: { type: 'string', default: '1' }, only: { type: 'string' } } });
    if (process.getuid?.() !== 0) throw new Error('a PID namespace and another user need root');
    const built = mkdtempSync(join(tmpdir(), 'umaprobe-outcomes-'));
    for (const name of ['taker', 'storm']) {
      const { status } = spawnSync('cc', ['-O1', '-o', join(built, name), join(root, `test/kernel/${name}.c`)], {
        stdio: 'inherit',
      });
      if (status !== 0) throw new Error(`${name}.c was not compiled`);
    }
    const env = { ...process.env, BUILT: built, ROOT: root };
    for (const [title, programs, isHealthy] of [
      ['Takes all memory', TAKERS, false],
      ['Healthy', HEALTHY, true],
    ]) {
      const isWanted = ({ name }) => values.only === undefined || `${title} ${name}`.includes(values.only);
      if (!programs.some(isWanted)) continue;
      console.log(`| ${title} | guard, as root | guard, as another user | earlyoom |\n|---|---|---|---|`);
      for (const program of programs) {
        if (!isWanted(program)) continue;
        const { needs = 'sh' } = program;
        if (findTool(needs) === null && env[needs] === undefined)
          console.log(`| ${program.name} | not run: no ${needs} | | |`);
        else console.log(await rowOf(program, Number(values.times), isHealthy, env));
      }
    }
    rmSync(built, { recursive: true });
  });
}
