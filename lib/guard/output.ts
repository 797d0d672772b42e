/** Output of the program that goes through this process: as events, or onwards to where it would have gone. */

import type { ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { LineSplitter } from './lines.ts';
import type { Settings } from './settings.ts';

export function isPiped({ stdio, ready }: Pick<Settings, 'stdio' | 'ready'>): boolean {
  return stdio === 'pipe' || ready !== null;
}

/** Reads both outputs, line by line, and passes every byte on unless the caller takes the lines. */
export function forwardOutput(
  child: ChildProcess,
  settings: Settings,
  onLine: (stream: 'stdout' | 'stderr', line: string) => void,
): void {
  if (!isPiped(settings)) return;
  const { stderr, stdout } = process;
  const onwards = { stdout: settings.stdio === 'stderr' ? stderr : stdout, stderr };
  for (const name of ['stdout', 'stderr'] as const) {
    const source = child[name];
    if (source === null) continue;
    const decoder = new StringDecoder('utf8');
    const lines = new LineSplitter((line) => onLine(name, line));
    source.on('data', (chunk: Buffer) => lines.write(decoder.write(chunk)));
    source.on('end', () => lines.end());
    source.on('error', () => undefined);
    // Slow readers slow the program down, as without the guard.
    if (settings.stdio !== 'pipe') source.pipe(onwards[name], { end: false });
  }
}
