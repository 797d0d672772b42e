/** Programs that draw on a terminal: run in tmux, and read from its screen. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findTool } from '../../scripts/run.mjs';
import { unsanitizedEnvironment } from './clients.ts';
import { waitFor } from './wait.ts';

/** The reason why no program can be given a terminal; null: it can. */
export const missingTerminal = findTool('tmux') === null ? 'no tmux (Debian: apt-get install tmux)' : null;

let terminals = 0;

export type Tmux = (...args: string[]) => SpawnSyncReturns<string>;

/** A shell without startup files. */
export const BASH = ['bash', '--norc', '--noprofile', '-i'];

/**
 * Starts a command in a terminal of its own, and answers what calls tmux for that terminal.
 *
 * @param inherited the environment to which `env` is added.
 */
export function openTerminal(
  command: readonly string[],
  env: Record<string, string>,
  { columns, rows }: { columns: number; rows: number },
  inherited = unsanitizedEnvironment(),
): Tmux {
  const socket = `umaprobe-${process.pid}-${terminals++}`;
  const tmux: Tmux = (...args) =>
    spawnSync('tmux', ['-u', '-L', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...inherited, TERM: 'screen-256color', LANG: 'C.UTF-8' },
    });
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const size = ['-x', String(columns), '-y', String(rows)];
  const started = tmux('new-session', '-d', ...size, ...variables, ...command);
  if (started.status !== 0) throw new Error(`tmux: ${started.stderr}`);
  return tmux;
}

/** All lines since the terminal was cleared. */
export const screenOn = (tmux: Tmux): string => tmux('capture-pane', '-p', '-S', '-').stdout;

/** Waits until the lines of a terminal match. */
export const shows = (tmux: Tmux, pattern: RegExp): Promise<string> =>
  waitFor(
    `${pattern} on the screen`,
    () => screenOn(tmux),
    (text) => pattern.test(text),
  );

/**
 * Runs a program in a terminal of its own until the screen matches, or for 50 s; answers the lines of the screen.
 *
 * @param env variables of the program, besides those of this process.
 */
export async function screenOf(
  command: readonly string[],
  env: Record<string, string>,
  shows: RegExp,
  { columns = 110, rows = 30 }: { columns?: number; rows?: number } = {},
): Promise<string[]> {
  const tmux = openTerminal(command, env, { columns, rows });
  try {
    let screen = '';
    await waitFor(
      `${shows} on the screen of ${command.join(' ')}`,
      () => {
        const captured = tmux('capture-pane', '-p');
        // A program that has ended takes its terminal along; its last screen is kept.
        if (captured.status === 0) screen = captured.stdout;
        return captured.status === 0 ? screen : null;
      },
      (seen) => seen === null || shows.test(seen),
    );
    return screen.split('\n').map((line) => line.trimEnd());
  } finally {
    tmux('kill-server');
  }
}

/** A program on a terminal, for a test that types. */
export interface LiveScreen {
  lines(): Promise<string>;
  /** Waits until the screen matches. */
  until(pattern: RegExp): Promise<string>;
  /** Keys as tmux names them: "Down", "Enter", "k". */
  type(...keys: string[]): Promise<void>;
  resize(size: { columns: number; rows: number }): void;
  /** True if the bell has rung. */
  hasRung(): boolean;
  /** Waits until the program has ended. */
  ended(): Promise<void>;
  close(): void;
}

export async function openScreen(
  command: readonly string[],
  env: Record<string, string>,
  size: { columns: number; rows: number },
): Promise<LiveScreen> {
  const tmux = openTerminal(command, env, size);
  tmux('set-option', '-g', 'monitor-bell', 'on');
  tmux('set-option', '-g', 'window-size', 'manual');
  const lines = async (): Promise<string> =>
    tmux('capture-pane', '-p')
      .stdout.split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
  return {
    lines,
    until: (pattern) => waitFor(`${pattern} on the screen`, lines, (screen) => pattern.test(screen)),
    async type(...keys) {
      // One after the other, as a person types: the program reads them one by one.
      for (const key of keys) {
        tmux('send-keys', ...(key.length === 1 ? ['-l'] : []), key);
        await sleep(20);
      }
    },
    resize: ({ columns, rows }) => void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    hasRung: () => tmux('display-message', '-p', '#{window_bell_flag}').stdout.trim() === '1',
    async ended() {
      await waitFor(
        `the end of ${command.join(' ')}`,
        () => tmux('has-session').status !== 0 || tmux('capture-pane', '-p').stdout,
        (seen) => seen === true,
      );
    },
    close: () => void tmux('kill-server'),
  };
}

/** A screen as a person sees it, and whether it scrolled or wrapped on the way there. */
export interface Screen {
  /** The lines of the window, without blank ones at the end. */
  lines: string[];
  /** Every line since the command was typed. */
  all: string[];
  /** Lines that the terminal had to wrap. */
  wrapped: string[];
}

/** The title of the window once a command has ended. */
const endOf = (index: number): string => `screen-${index}-is-complete`;

/**
 * Runs commands of sh one after the other in one terminal, and answers the screen of each at its end. A command that draws
 * in place is one that ends by itself.
 */
export async function screensOf(
  commands: readonly string[],
  env: Record<string, string>,
  { columns, rows }: { columns: number; rows: number },
): Promise<Screen[]> {
  // The window title tells the end without a line on the screen; a key lets the next command begin.
  const steps = commands.map((command, at) => `${command}; printf '\\033]2;${endOf(at)}\\033\\\\'; read -r _`);
  const script = `stty -echo; ${steps.join(`; printf '\\033[H\\033[2J\\033[3J'; `)}`;
  const tmux = openTerminal(['sh', '-c', script], env, { columns, rows });
  const linesOf = (...args: string[]) =>
    tmux('capture-pane', '-p', ...args)
      .stdout.replace(/\s+$/, '')
      .split('\n')
      .map((line) => line.trimEnd());
  try {
    const screens: Screen[] = [];
    for (const [at, command] of commands.entries()) {
      const title = () => tmux('display-message', '-p', '#{pane_title}').stdout.trim();
      await waitFor(
        `the end of ${command}`,
        () => title() === endOf(at) || linesOf(),
        (seen) => seen === true,
      );
      const all = linesOf('-S', '-');
      const wrapped = linesOf('-J', '-S', '-').filter((line) => line.length > columns);
      screens.push({ lines: linesOf(), all, wrapped });
      tmux('clear-history');
      tmux('send-keys', 'Enter');
    }
    return screens;
  } finally {
    tmux('kill-server');
  }
}
