/** Completions, typed into real shells on a terminal: what stands in the line after the Tab key. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTool } from '../../../scripts/run.mjs';
import { runUmaprobe } from '../../support/cli.ts';
import { unsanitizedEnvironment } from '../../support/clients.ts';
import { missingTerminal } from '../../support/screen.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait.ts';

/** How each shell starts without a user's settings, and how it gets the script. */
const SHELLS = {
  bash: {
    start: ['bash', '--noprofile', '--norc', '-i'],
    load: 'PS1="ready> "; source ./umaprobe.bash',
    file: 'umaprobe.bash',
  },
  zsh: {
    start: ['zsh', '-f', '-i'],
    load: 'PROMPT="ready> "; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep',
    file: '_umaprobe',
  },
  fish: {
    start: ['fish', '--no-config', '-i'],
    load: "set -g fish_autosuggestion_enabled 0; function fish_prompt; echo -n 'ready> '; end; source ./umaprobe.fish",
    file: 'umaprobe.fish',
  },
} as const;

/** What is typed before Tab, and what the line has then. */
const TYPED: readonly (readonly [typed: string, line: string])[] = [
  ['umaprobe sn', 'umaprobe snapshot'],
  ['umaprobe cache ev', 'umaprobe cache evict'],
  ['umaprobe stress --ki', 'umaprobe stress --kind'],
  ['umaprobe stress --kind ma', 'umaprobe stress --kind managed'],
  ['umaprobe sweep --kind device,pi', 'umaprobe sweep --kind device,pinned'],
  ['umaprobe --sim gb10-fr', 'umaprobe --sim gb10-fragmented'],
  ['umaprobe --sim gb10 doc', 'umaprobe --sim gb10 doctor'],
  ['umaprobe doctor --only library.n', 'umaprobe doctor --only library.nvml'],
  ['umaprobe cache drop --le', 'umaprobe cache drop --level'],
  ['umaprobe sim show gh2', 'umaprobe sim show gh200'],
  ['umaprobe cache status uniq', 'umaprobe cache status unique-file'],
  ['umaprobe record sh', 'umaprobe record show'],
  ['umaprobe completion z', 'umaprobe completion zsh'],
  ['umaprobe --memg', 'umaprobe --memgetinfo'],
  ['umaprobe fit --for vl', 'umaprobe fit --for vllm'],
  ['umaprobe estimate --use lo', 'umaprobe estimate --use lora'],
  ['umaprobe estimate --dtype bfl', 'umaprobe estimate --dtype bfloat16'],
];

const folder = temporaryFolder('completion');

/** A shell on a terminal of its own. */
class ShellInTerminal {
  readonly #socket = `umaprobe-completion-${process.pid}-${Math.random().toString(36).slice(2)}`;

  constructor(start: readonly string[]) {
    // No startup files of this user, and a history that starts empty.
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    this.#tmux(
      'new-session',
      '-d',
      '-x',
      '120',
      '-y',
      '40',
      '-c',
      folder,
      '-e',
      `HOME=${home}`,
      '-e',
      `ZDOTDIR=${home}`,
      ...start,
    );
  }

  #tmux(...args: string[]): string {
    const env = { ...unsanitizedEnvironment(), TERM: 'screen-256color', LANG: 'C.UTF-8' };
    const ran = spawnSync('tmux', ['-u', '-L', this.#socket, '-f', '/dev/null', ...args], { encoding: 'utf8', env });
    if (ran.status !== 0) throw new Error(`tmux ${args[0]}: ${ran.stderr}`);
    return ran.stdout;
  }

  type(text: string): void {
    this.#tmux('send-keys', '-l', text);
  }

  key(name: string): void {
    this.#tmux('send-keys', name);
  }

  /** The last line with a prompt, without it, once it is as expected. */
  line(isExpected: (line: string) => boolean): Promise<string> {
    const read = (): string =>
      this.#tmux('capture-pane', '-p')
        .split('\n')
        .findLast((each) => each.startsWith('ready> ') || each.trimEnd() === 'ready>')
        ?.slice(7)
        .trimEnd() ?? 'no prompt';
    return waitFor('the line of the shell', read, isExpected);
  }

  close(): void {
    this.#tmux('kill-server');
  }
}

for (const [name, { file, load, start }] of Object.entries(SHELLS)) {
  const missing = missingTerminal ?? (findTool(name) === null ? `no ${name} (Debian: apt-get install ${name})` : null);
  describe.skipIf(missing !== null)(`completion in ${name}${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
    let shell: ShellInTerminal;
    beforeAll(async () => {
      const script = runUmaprobe(['completion', name]);
      expect(script).toMatchObject({ code: 0, stderr: '' });
      writeFileSync(join(folder, file), script.stdout);
      writeFileSync(join(folder, 'unique-file'), '');
      shell = new ShellInTerminal(start);
      shell.type(load);
      shell.key('Enter');
      expect(await shell.line((line) => line === '')).toBe('');
    }, 60_000);
    afterAll(() => shell?.close());

    it.each(TYPED)('%s', { timeout: 30_000 }, async (typed, line) => {
      shell.key('C-u');
      shell.key('C-l');
      expect(await shell.line((each) => each === '')).toBe('');
      shell.type(typed);
      expect(await shell.line((each) => each === typed)).toBe(typed);
      shell.key('Tab');
      // zsh goes on with "=" where a value follows, and with a comma in a list.
      const plain = (each: string): string => each.replace(/[=,]$/, '');
      expect(plain(await shell.line((each) => plain(each) === line))).toBe(line);
    });
  });
}
