/** A process without free descriptors: an UmaError or a null with its reason, never a stack trace or a dead caller. */

import { describe, expect, it } from 'vitest';
import { runInShell } from '../../../support/cli.ts';
import { evaluateOnMachine } from '../../../support/package-on-machine.ts';

describe('the command (simulated)', () => {
  // Below 20 Node itself cannot open the command's file.
  it.each([20, 22, 24, 26, 28, 30, 34, 40])('answers, or says in one line why not: ulimit -n %d', (limit) => {
    const { code, stderr, stdout } = runInShell(`ulimit -n ${limit}; "$0" "$1" --sim gb10`);
    expect(stderr).not.toMatch(/^ {4}at |node:|looks like a bug/m);
    if (code === 0) expect(stdout).toContain('SIMULATED');
    else expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^umaprobe: .*EMFILE[^\n]*\n$/) });
  });
});

describe('a program that catches errors (simulated)', () => {
  /** Defines `starved(free, use)`: runs `use` with so many free descriptors. */
  const STARVED = `
    const { closeSync, openSync } = process.getBuiltinModule('node:fs');
    const starved = async (free, use) => {
      const opened = [];
      try { for (;;) opened.push(openSync('/dev/null')); } catch {}
      for (const descriptor of opened.splice(0, free)) closeSync(descriptor);
      try { return await use().catch(caught); } finally { for (const descriptor of opened) closeSync(descriptor); }
    };`;

  it('lives on, and the next call works', async () => {
    const answers = await evaluateOnMachine<Record<string, unknown>>(
      'gb10',
      `${STARVED}
      const few = [];
      for (const free of [0, 1, 3, 6, 8]) {
        few.push(await starved(free, () => umaprobe.sweep({ sizes: [1e6], journal })));
        few.push(await starved(free, () => umaprobe.snapshot({ memGetInfo: 'child' })));
      }
      const snapshot = await umaprobe.snapshot({ memGetInfo: 'child' });
      const inChild = await starved(2, () => umaprobe.snapshot({ memGetInfo: 'child' }));
      const sweep = await umaprobe.sweep({ sizes: [1e6], journal });
      const again = await starved(4, () => umaprobe.sweep({ sizes: [1e6], journal }));
      const last = await umaprobe.sweep({ sizes: [1e6], journal });
      return { few, cuda: snapshot.devices[0].cuda, inChild: inChild.thrown ?? inChild.devices[0].from,
        states: [sweep.state, last.state], again };`,
    );
    const { few, ...rest } = answers as { few: { thrown?: { code: string } }[] };
    expect(few.map(({ thrown }) => thrown?.code ?? 'answer').filter((code) => code !== 'answer')).toEqual(
      expect.arrayContaining(['ERR_UMA_CALL_FAILED']),
    );
    for (const { thrown } of few) if (thrown !== undefined) expect(thrown.code).toMatch(/^ERR_UMA_/);
    expect(rest).toMatchObject({ states: ['complete', 'complete'], again: { thrown: { name: 'UmaError' } } });
    expect(JSON.stringify(rest)).toMatch(/ERR_UMA_CALL_FAILED: start [^"]*could not be started: too many open files/);
  });
});
