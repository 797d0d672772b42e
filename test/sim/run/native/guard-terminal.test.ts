/** Job control: in a terminal, a guarded program is as one that runs bare. */

import { afterEach, beforeEach, describe, it } from 'vitest';
import { guardProgram } from '../../../../lib/core/native/binding.ts';
import { guardWords, HARMLESS } from '../../../support/guard-program.ts';
import { BASH, missingTerminal, openTerminal, screenOn, shows, type Tmux } from '../../../support/screen.ts';
import { waitFor } from '../../../support/wait.ts';

let tmux: Tmux;

/** Types a line, or a key such as C-c, and waits until the screen matches. */
async function type(keys: string, pattern: RegExp): Promise<void> {
  tmux('send-keys', ...(/^C-.$/.test(keys) ? [keys] : [keys, 'Enter']));
  await shows(tmux, pattern);
}

/** A shell function `g`: what umaprobe is to the shell, with the guard below it. Ctrl-C does not end it. */
const guarded = [guardProgram().file, ...guardWords(HARMLESS), '--program=tty,parent:$$', '--'].join(' ');
const FUNCTION = `g() { sh -c 'trap : INT QUIT; ${guarded} "$@"; exit $?' sh "$@"; }`;

describe('a guarded program in a terminal', () => {
  beforeEach(async (context) => {
    if (missingTerminal !== null) return context.skip(missingTerminal);
    tmux = openTerminal(BASH, {}, { columns: 100, rows: 50 }, process.env);
    await type(`${FUNCTION}; PS1='$ '; clear; echo rea''dy`, /^ready/m);
  });
  afterEach(() => void tmux?.('kill-server'));

  it('gets keys, Ctrl-C and Ctrl-Z, goes on with fg, and has its exit code', async () => {
    await type('g python3 -q', />>>\s*$/);
    await type('print(6 * 7)', /^42$/m);
    await type('C-c', /KeyboardInterrupt/);
    await type('C-z', /Stopped/);
    await type('echo in-$((5 + 6))', /^in-11$/m);
    tmux('send-keys', 'fg', 'Enter');
    await type('print(7 * 7)', /^49$/m);
    tmux('send-keys', 'exit(5)', 'Enter');
    await type('echo code=$?', /^code=5$/m);
  });

  it('is interrupted, stopped and continued in the background, and stopped when it reads there', async () => {
    await type("g sh -c 'echo first; exec sleep 100'", /^first$/m);
    await type('C-c', /\^C/);
    await type('echo code=$?', /^code=130$/m);
    await type('g cat &', /\[1\] \d+/);
    await waitFor(
      'a job that is stopped',
      async () => {
        await type('clear; jobs', /Running|Stopped/);
        return screenOn(tmux);
      },
      (text) => /Stopped/.test(text),
    );
    await type('fg', /fg\n/);
    await type('to-cat', /^to-cat\nto-cat$/m);
    tmux('send-keys', 'C-d');
    await type('echo code=$?', /^code=0$/m);
    await type("clear; g sh -c 'echo second; exec sleep 30'", /^second$/m);
    await type('C-z', /Stopped/);
    await type('bg; clear', /\$\s*$/);
    await type('jobs', /Running/);
    await type('kill %1; wait %1; echo code=$?', /^code=143$/m);
  });

  it('sees the size of the terminal change', async () => {
    await type(`g bash -c 'trap "stty size" WINCH; echo up; while sleep 0.1; do :; done'`, /^up$/m);
    tmux('resize-window', '-x', '90', '-y', '40');
    await type('', /^40 90$/m);
    tmux('send-keys', 'C-c');
  });

  it('leaves the terminal to the shell when the guard stops it', async () => {
    const critical = guarded
      .replace('--floorBytes=0', `--floorBytes=${2 ** 50}`)
      .replace('--killBelowBytes=0', `--killBelowBytes=${2 ** 49}`);
    await type(`c() { sh -c '${critical} "$@"; exit $?' sh "$@"; }; clear; echo rea''dy`, /^ready/m);
    await type('c python3 -q; echo code=$?', /^code=6$/m);
    await type('echo shell-has-$((1 + 1))', /^shell-has-2$/m);
  });
});
