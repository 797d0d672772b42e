/** Root writes where another user puts links, hard links, FIFOs and folders in the place of each name: nothing of root's changes. */

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliOptions, runInShell, runUmaprobe } from '../../support/cli.ts';
import { compileC } from '../../support/clients.ts';
import { asNobody, isRoot, nobody } from '../../support/real-files.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const base = temporaryFolder('others');
chmodSync(base, 0o755);
const SWAPPER = join(base, 'swap_names');
compileC(join(ROOT, 'test/kernel/swap_names.c'), SWAPPER);

/** What the user of a folder would like another one to write into: that one's own files. */
function filesOf(victim: number, folder: string): () => string[] {
  const tempting = join(folder, 'roots');
  mkdirSync(tempting, { mode: 0o755 });
  for (const name of ['canary', 'lock', 'mark.sock', '00000001.umarec', 'journal.jsonl', 'page.html', 'record.json'])
    writeFileSync(join(tempting, name), `${name} of the victim\n`, { mode: 0o644 });
  for (const path of [tempting, ...readdirSync(tempting).map((name) => join(tempting, name))])
    chownSync(path, victim, victim);
  return () =>
    readdirSync(tempting)
      .sort()
      .map((name) => {
        const { gid, ino, mode, mtimeMs, uid } = lstatSync(join(tempting, name));
        return [name, ino, mode, uid, gid, mtimeMs, readFileSync(join(tempting, name), 'utf8')].join(' ');
      });
}

interface Scene {
  folder: string;
  /** Of the other user, with `inner` in it. */
  hers: string;
  /** What the files of the victim look like. */
  state(): string[];
  /** As the other user, until the answer is called: puts decoys in the place of these names in `folder`. */
  swap(folder: string, ...names: string[]): Promise<() => Promise<number>>;
}

let scenes = 0;
function scene(owner: number, mode: number, victim = 0): Scene {
  const folder = join(base, String(scenes++));
  const hers = join(folder, 'hers');
  const decoys = join(folder, 'decoys');
  for (const path of [folder, hers, join(hers, 'inner'), decoys]) mkdirSync(path, { mode: 0o755 });
  const state = filesOf(victim, folder);
  const canary = join(folder, 'roots/canary');
  symlinkSync(canary, join(decoys, 'link'));
  // As where fs.protected_hardlinks is 0.
  linkSync(canary, join(decoys, 'hard-link'));
  symlinkSync(join(folder, 'roots'), join(decoys, 'link-to-folder'));
  execFileSync('mkfifo', ['-m', '666', join(decoys, 'fifo')]);
  mkdirSync(join(decoys, 'folder'));
  for (const path of [decoys, join(decoys, 'folder'), join(decoys, 'fifo'), join(hers, 'inner')])
    chownSync(path, nobody, nobody);
  chownSync(hers, owner, owner);
  chmodSync(hers, mode);
  return {
    folder,
    hers,
    state,
    swap: (place, ...names) =>
      new Promise((resolve, reject) => {
        const child = spawn(SWAPPER, [place, decoys, ...names], { ...asNobody, stdio: ['pipe', 'pipe', 'inherit'] });
        let text = '';
        const ended = new Promise<number>((done) => child.once('close', () => done(Number(text.split('\n')[1]))));
        const end = () => {
          child.stdin.end();
          return ended;
        };
        child.stdout.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
          if (text === 'ready\n') resolve(end);
        });
        child.once('error', reject);
      }),
  };
}

const RECORD = ['record', '--duration', '1s', '--processes', '0s', '--max-size', '16MiB', '--folder'];
const LAUNCH = ['launch', '--sim', 'gb10', '--bytes', '1GiB', '--no-prepare'];
const STRESS = ['stress', '--sim', 'gb10', '--max', '2GiB'];
const SWEEP = ['sweep', '--sim', 'gb10', '--sizes', '1MiB'];

/** What root runs with a path in the other user's folder, and the names in there that it uses. */
const RUNS: readonly (readonly [string, (folder: string) => string[], readonly string[]])[] = [
  ['record', (folder) => [...RECORD, folder], ['lock', 'mark.sock', '00000001.umarec', '00000002.umarec']],
  [
    'launch',
    (folder) => [...LAUNCH, '--folder', folder, '--', 'true'],
    ['lock', 'mark.sock', '00000001.umarec', '00000002.umarec'],
  ],
  ['stress --journal', (folder) => [...STRESS, '--journal', join(folder, 'journal.jsonl')], ['journal.jsonl']],
  ['sweep --html', (folder) => [...SWEEP, '--html', join(folder, 'page.html')], ['page.html']],
  [
    'profile --journal',
    (folder) => [
      'profile',
      '--sim',
      'gb10',
      '--journal',
      join(folder, 'journal.jsonl'),
      '--vary',
      'x=1',
      '--',
      'sleep',
      '{x}',
    ],
    ['journal.jsonl'],
  ],
  [
    'sim run --report',
    (folder) => ['sim', 'run', 'gb10', '--report', join(folder, 'record.json'), '--', 'true'],
    ['record.json'],
  ],
];

const TURNS = 6;
/** An ordinary user. */
const VICTIM = 60_001;

describe.skipIf(!isRoot)('what root writes (skipped: needs root)', { retry: 0, timeout: 240_000 }, () => {
  async function attack(
    args: readonly string[],
    { state }: Scene,
    stop: () => Promise<number>,
    { atLeast = 50, ...options }: CliOptions & { atLeast?: number } = {},
  ): Promise<void> {
    const before = state();
    const said: string[] = [];
    try {
      for (let turn = 0; turn < TURNS; turn++) {
        // A run that waits for a FIFO is killed after 25 s, and throws.
        const { stderr } = runUmaprobe(args, options);
        said.push(stderr);
        expect(state()).toEqual(before);
      }
    } finally {
      expect(await stop()).toBeGreaterThanOrEqual(atLeast);
    }
    expect(said.join('')).not.toContain('looks like a bug');
  }

  it.each(RUNS)("%s in another user's folder", async (_, args, names) => {
    const theirs = scene(nobody, 0o755);
    await attack(args(theirs.hers), theirs, await theirs.swap(theirs.hers, ...names));
  });

  it.each(RUNS)('%s in a folder that another user replaces', async (_, args) => {
    const theirs = scene(nobody, 0o755);
    await attack(args(join(theirs.hers, 'inner')), theirs, await theirs.swap(theirs.hers, 'inner'));
  });

  it.each(RUNS)('%s in a folder for all, as /tmp is', async (_, args, names) => {
    const theirs = scene(0, 0o1777);
    // A hard link to a file of root's cannot be taken back from there.
    await attack(args(theirs.hers), theirs, await theirs.swap(theirs.hers, ...names), { atLeast: 1 });
  });

  it.each(RUNS)("%s of an ordinary user in another one's folder for all", async (_, args, names) => {
    const theirs = scene(nobody, 0o777, VICTIM);
    mkdirSync(join(theirs.folder, 'state'), { mode: 0o777 });
    chownSync(join(theirs.folder, 'state'), VICTIM, VICTIM);
    const options = { uid: VICTIM, gid: VICTIM, env: { XDG_STATE_HOME: join(theirs.folder, 'state') } };
    await attack(args(theirs.hers), theirs, await theirs.swap(theirs.hers, ...names), options);
  });

  it('root of a user namespace, to whom / and /tmp are nobody’s, writes in its folders', (context) => {
    const { folder } = scene(VICTIM, 0o755, VICTIM);
    const state = join(folder, 'state');
    mkdirSync(state);
    chownSync(state, VICTIM, VICTIM);
    const { code, stderr } = runInShell(
      `unshare -r true || exit 77; exec unshare -r "$0" "$1" ${STRESS.join(' ')} --html ${state}/page.html`,
      { uid: VICTIM, gid: VICTIM, env: { XDG_STATE_HOME: state } },
    );
    if (code === 77) return context.skip(`no user namespaces here: ${stderr}`);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('uid 65534')]);
    expect(readdirSync(state).sort()).toEqual(['page.html', 'umaprobe']);
  });

  it('removes nothing of a simulated machine in a folder for temporary files that is another user’s', () => {
    const { hers } = scene(nobody, 0o755);
    // Of a process that has ended: no process has this id.
    const [number = ''] = /\d+/.exec(readlinkSync('/proc/self/ns/pid')) ?? [];
    const stale = join(hers, `umaprobe-sim-${number}-4194304-stale`);
    mkdirSync(stale);
    const { stderr } = runUmaprobe(['snapshot', '--sim', 'gb10'], { env: { TMPDIR: hers, XDG_RUNTIME_DIR: '' } });
    expect(stderr).toContain('FOREIGN_FOLDER');
    expect(readdirSync(hers)).toContain(basename(stale));
  });

  it.each(RUNS)('%s where a link of another user leads to a folder of root', (name, args) => {
    const { folder, hers, state } = scene(nobody, 0o755);
    symlinkSync(join(folder, 'roots'), join(hers, 'link'));
    lchownSync(join(hers, 'link'), nobody, nobody);
    const before = state();
    const { code, stderr } = runUmaprobe(args(join(hers, 'link')));
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(/uid 65534.*use a folder of root, or run as that user/);
    // What launch cannot record is said, and its program runs.
    if (name === 'launch') expect(code).toBe(0);
    else expect(code).not.toBe(0);
    expect(state()).toEqual(before);
  });
});
