/** umaprobe explain as a child process: files, pipes, exit codes, documents. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInShell, runUmaprobe } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('explain');
const log = join(folder, 'vllm.log');
writeFileSync(
  log,
  'INFO loading\nValueError: Free memory on device cuda:0 (2.6/119.69 GiB) on startup is less than desired GPU memory utilization (0.9, 107.72 GiB)\n',
);

const NO_PSI = machineFile('no-psi', { files: [{ path: '/proc/pressure/memory', missing: true }] });

describe('explain', () => {
  const findingsOn = (machine: string) => {
    const { code, stdout } = runUmaprobe(['explain', '--sim', machine, '--json']);
    const { findings } = parseDocument(stdout) as unknown as { findings: { id: string }[] };
    return [code, ...findings.map(({ id }) => id)];
  };

  it('has no finding on a healthy machine', () => expect(findingsOn('gb10')).toEqual([0]));

  it('names the cache of a full machine, with its bytes and the command', () => {
    const { code, stdout } = runUmaprobe(['explain', '--sim', 'gb10-cached']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('page.cache · 105.8 GiB')]);
    expect(stdout).toContain('echo 1 | sudo tee /proc/sys/vm/drop_caches');
  });

  it.each([
    ['gb10-hugepages', ['hugepages']],
    ['gb10-590-pools', ['driver.pools']],
    ['gb10-kho', ['cma.phantom']],
    ['gb10-fragmented', ['fragmentation']],
    ['gb10-busy', ['page.cache', 'gpu.programs']],
    ['h200', ['host.smaller']],
  ])('on %s finds %j', (machine, ids) => expect(findingsOn(machine)).toEqual([0, ...ids]));

  it('says that it does not know, where NVML hangs', () => {
    const { stdout } = runUmaprobe(['explain', '--sim', 'gb10-hang']);
    expect(stdout).toContain('Which processes hold GPU memory is not known here');
    expect(stdout).not.toContain('Nothing hides memory');
  });

  it('says what could not be judged: a kernel without PSI, on a GPU that shares its memory', () => {
    const { stdout } = runUmaprobe(['explain', '--sim', NO_PSI]);
    expect(stdout).toContain('Not known: ');
    expect(stdout).not.toContain('Nothing hides memory');
  });
});

describe('explain --error', () => {
  it('recognises a log, compares it with the machine, and ends with 0', () => {
    const { code, stdout } = runUmaprobe(['explain', '--error', log, '--sim', 'gb10-cached', '--json']);
    const { errors, simulated } = parseDocument(stdout) as unknown as {
      errors: { code: string; firstLine: number; now: string }[];
      simulated: string;
    };
    expect([code, simulated, errors.length]).toEqual([0, 'gb10-cached', 1]);
    expect(errors[0]).toMatchObject({ code: 'vllm-startup-free-memory', firstLine: 2 });
    expect(errors[0]?.now).toMatch(
      /^vLLM would read 112\.\d GiB free here now, and need 107\.7 GiB: it would start\.$/,
    );
  });

  it('reads a pipe, and ends with 1 where nothing is known', () => {
    const piped = runInShell(`cat '${log}' | "$0" "$1" explain --error - --sim gb10`);
    expect([piped.code, piped.stdout]).toEqual([0, expect.stringContaining('vllm-startup-free-memory')]);
    const unknown = runInShell('echo all is well | "$0" "$1" explain --error - --json');
    expect(unknown.code).toBe(1);
    expect(parseDocument(unknown.stdout)).toMatchObject({ errors: [], input: { bytes: 12, lines: 1 } });
    const empty = runInShell('"$0" "$1" explain --error - < /dev/null');
    expect([empty.code, empty.stdout]).toEqual([1, 'The text is empty.\n']);
  });
});
