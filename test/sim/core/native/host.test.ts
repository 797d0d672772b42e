/** The files of the real kernel and of a simulated one. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import { whyNull } from '../../../../lib/core/host/meminfo-lines.ts';
import { native } from '../../../../lib/core/native/binding.ts';
import { printedBy, printedOnMachine } from '../../../support/binary-on-machine.ts';
import { inheritance } from '../../../support/ending.ts';
import { withMachine } from '../../../support/machines.ts';
import { ODD_LINES } from '../../../support/odd-meminfo.ts';

const fields = native().hostMemoryFields();
const slot = (field: string) => fields.indexOf(field);

function parse(text: string): Record<string, number> {
  const out = new Float64Array(fields.length).fill(-1);
  native().parseMeminfo(text, out);
  return Object.fromEntries(fields.map((field, i) => [field, out[i] as number]));
}

describe('parseMeminfo', () => {
  it('converts kB to bytes, keeps counts, and ignores other lines', () => {
    const memory = parse('MemTotal:       24684092 kB\nActive(file):  7 kB\nHugePages_Total:    12\nMemFreeX:  3 kB\n');
    expect(memory).toMatchObject({ total: 24684092 * 1024, activeFile: 7168, hugePagesTotal: 12, free: Number.NaN });
  });

  it.each(['', '\n', ':', 'MemFree', 'MemFree:', 'MemFree: kB', 'MemFree: -1 kB', ':::\n:', 'MemFree:\tx'])(
    'finds nothing in %j',
    (text) => {
      expect(Object.values(parse(text)).every(Number.isNaN)).toBe(true);
    },
  );

  it('does not need a last newline after a unit', () => {
    expect(parse('MemTotal: 3 kB\nMemFree: 2 kB').free).toBe(2048);
  });

  it.each(ODD_LINES)('finds no number: $title', ({ text, field }) => {
    expect(parse(text)[field]).toBeNaN();
  });

  it('finds no number exactly where the text gives a reason (property)', () => {
    const part = fc.constantFrom(
      ...['1', '64194', '8796093022208', '8796093022209', '-1', '', '12\0'],
      ...['9'.repeat(400), '0x10', '1.5'],
    );
    const unit = fc.constantFrom(' kB', '', ' MB', '\tkB', ' kB\r', ' kB ', 'kB');
    const end = fc.constantFrom('\n', '');
    const key = fc.constantFrom('MemFree', 'SwapFree', 'HugePages_Free', 'MemFree: 1 kB\nMemFree');
    fc.assert(
      fc.property(key, part, unit, end, (name, number, suffix, last) => {
        const text = `MemTotal: 70000 kB\n${name}:  ${number}${suffix}${last}`;
        const memory = parse(text);
        for (const field of ['free', 'swapFree', 'hugePagesFree'] as const) {
          const why = whyNull(text, field);
          if (Number.isNaN(memory[field])) expect(why, text).not.toMatch(/a moment later/);
          else expect(why, text).toMatch(/a moment later/);
        }
      }),
      { numRuns: 1000 },
    );
  });

  const keys = ['MemTotal', 'MemFree', 'MemAvailable', 'Buffers', 'Cached', 'SwapCached', 'Shmem', 'Percpu', 'CmaFree'];
  const names = ['total', 'free', 'available', 'buffers', 'cached', 'swapCached', 'shmem', 'percpu', 'cmaFree'];

  it('reads any values in any order, exactly (property)', () => {
    const values = fc.array(fc.nat({ max: 2 ** 42 }), { minLength: keys.length, maxLength: keys.length });
    const orders = fc.shuffledSubarray([...keys.keys()]);
    fc.assert(
      fc.property(values, orders, (numbers, order) => {
        const memory = parse(order.map((i) => `${keys[i]}: ${numbers[i]} kB\n`).join('Other: 1 kB\n'));
        // Every line but MemTotal is a part of it.
        const total = order.includes(0) ? (numbers[0] as number) : Number.POSITIVE_INFINITY;
        for (const [i, name] of names.entries()) {
          const known = order.includes(i) && (numbers[i] as number) <= total;
          expect(memory[name]).toBe(known ? (numbers[i] as number) * 1024 : Number.NaN);
        }
      }),
    );
  });

  it('survives any text (property)', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'MemFr: 0123kB\n(\t'), maxLength: 400 }),
        (text) => void parse(text),
      ),
    );
  });
});

describe('the real kernel', () => {
  it('gives the numbers of /proc/meminfo', () => {
    const out = new Float64Array(fields.length);
    expect(native().hostMemory(out)).toBeNull();
    const text = parse(readFileSync('/proc/meminfo', 'utf8'));
    for (const field of ['total', 'swapTotal', 'hugePageSize', 'hugePagesTotal'])
      expect(out[slot(field)]).toBe(text[field]);
    expect([...out].map(Number.isNaN)).toEqual(Object.values(text).map(Number.isNaN));
  });

  it('generates the text of a file that is kept open anew, up to the requested length', async () => {
    const reread = (paths: string[], bytes: number) =>
      native().rereadFilesWithin(
        paths,
        paths.map(() => bytes),
        1000,
      );
    const lengths = async (bytes: number) =>
      (await reread(['/proc/self/stat', '/proc/meminfo'], bytes)).map((text) => String(text).length);
    const cpuTime = async () => Number(String((await reread(['/proc/self/schedstat'], 4096))[0]).split(' ')[0]);
    expect(await lengths(1 << 20)).toEqual([expect.any(Number), readFileSync('/proc/meminfo', 'utf8').length]);
    expect(await lengths(10)).toEqual([10, 10]);
    const before = await cpuTime();
    while ((await cpuTime()) === before);
    expect(await reread(['/proc/none', '/etc/hosts'], 10)).toMatchObject([{ name: 'ENOENT' }, { name: 'EINVAL' }]);
  });

  it('opens a kept file anew when it is gone', async () => {
    const [texts, open] = await printedBy(`
      const { readdirSync, readlinkSync } = await import('node:fs');
      const { spawn } = await import('node:child_process');
      const { once } = await import('node:events');
      const child = spawn('sleep', ['1000']);
      const comm = '/proc/' + child.pid + '/comm';
      const read = async () => (await b.rereadFilesWithin([comm], [100], 1000)).map((text) => text.name ?? text);
      const texts = [await read(), await read()];
      child.kill('SIGKILL');
      await once(child, 'exit');
      texts.push(await read(), await read());
      print(texts.flat());
      print(readdirSync('/proc/self/fd').filter((fd) => { try { return readlinkSync('/proc/self/fd/' + fd).endsWith('/comm'); } catch { return false; } }).length);`);
    expect(texts).toEqual(['sleep\n', 'sleep\n', 'ENOENT', 'ENOENT']);
    expect(open).toBe(0);
  });

  it('is read through one descriptor, which children do not inherit', async () => {
    const [open] = await printedBy(`
      const { readdirSync, readFileSync, readlinkSync } = await import('node:fs');
      for (let i = 0; i < 1000; i++) b.hostMemory(new Float64Array(35));
      const fds = readdirSync('/proc/self/fd').filter((fd) => { try { return readlinkSync('/proc/self/fd/' + fd) === '/proc/' + process.pid + '/meminfo' || readlinkSync('/proc/self/fd/' + fd) === '/proc/meminfo'; } catch { return false; } });
      print(fds.map((fd) => parseInt(/flags:\\s*(\\d+)/.exec(readFileSync('/proc/self/fdinfo/' + fd, 'utf8'))[1], 8) & 0o2000000));`);
    expect(open).toEqual([0o2000000]);
  });

  it('returns texts in the order of the paths; a missing file affects no other', () => {
    const [release, nothing, self] = native().readFiles([
      '/proc/sys/kernel/osrelease',
      '/proc/no-such-file',
      '/proc/self/comm',
    ]);
    expect(release).toBe(readFileSync('/proc/sys/kernel/osrelease', 'utf8'));
    expect(self).toBe(readFileSync('/proc/self/comm', 'utf8'));
    expect(nothing).toEqual({
      failed: true,
      source: 'kernel',
      call: 'read /proc/no-such-file',
      status: 2,
      name: 'ENOENT',
      message: 'No such file or directory',
    });
  });

  it('returns files larger than a page completely', async () => {
    // Not this process: with a thread sanitizer its smaps has more than the limit of 1 MiB.
    const program = "console.log('runs'); process.stdin.resume()";
    const child = spawn(process.execPath, ['-e', program], { env: inheritance, stdio: ['pipe', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    const [text] = native().readFiles([`/proc/${child.pid}/smaps`]);
    child.kill('SIGKILL');
    expect(text).toMatch(/VmFlags:[^\n]*\n$/);
    expect((text as string).length).toBeGreaterThan(16_384); // the first buffer
  });

  it('lists a directory', () => {
    const names = native().listDirectory('/proc/self');
    expect(names).toEqual(expect.arrayContaining(['comm', 'status', 'fd']));
    expect(names).not.toContain('.');
    expect(native().listDirectory('/proc/no-such-folder')).toMatchObject({ source: 'kernel', name: 'ENOENT' });
    expect(native().listDirectory('/proc/self/comm')).toMatchObject({ source: 'kernel', name: 'ENOTDIR' });
  });

  it.each(['/etc/passwd', 'proc/meminfo', '/proc/../etc/passwd', '/sys/..', '/procfs', '', '/proc/\0meminfo'])(
    'is not read for the path %j',
    (path) => {
      const refused = {
        failed: true,
        source: 'umaprobe',
        name: 'EINVAL',
        message: expect.stringContaining('under /proc or /sys'),
      };
      expect(native().readFiles([path])).toEqual([expect.objectContaining(refused)]);
      expect(native().listDirectory(path)).toMatchObject(refused);
    },
  );

  it('does not wait for files without data', () => {
    const started = performance.now();
    const [kmsg] = native().readFiles(['/proc/kmsg']);
    expect(performance.now() - started).toBeLessThan(1000);
    if (typeof kmsg !== 'string') expect(kmsg?.name).toMatch(/EAGAIN|EPERM|EACCES|ENOENT/);
  });
});

describe('a simulated kernel', () => {
  const read = `
    const memory = new Float64Array(35);
    const failure = b.hostMemory(memory);
    print({ failure, total: memory[0], machine: b.simulatedMachine(), files: b.readFiles(['/proc/meminfo', '/proc/nothing']) });`;

  it('answers in place of the real one', async () => {
    const [told] = await printedOnMachine('gb10', read);
    expect(told).toMatchObject({
      failure: null,
      total: 128518619136,
      machine: 'gb10',
      files: [expect.stringContaining('MemTotal:       125506464 kB'), { source: 'kernel', name: 'ENOENT' }],
    });
  });

  it('lists its own files', async () => {
    const [names] = await printedOnMachine('gb10', "print(b.listDirectory('/proc/sys/vm'))");
    expect(names).toEqual(expect.arrayContaining(['drop_caches', 'min_free_kbytes']));
    expect(names).not.toContain('laptop_mode');
  });

  it('is not replaced by the real one when it cannot be reached', async () => {
    await withMachine('gb10', async ({ env, statePath }) => {
      const [nowhere] = await printedBy(read, { ...env, UMAPROBE_SIM: join(statePath, '../nothing') });
      expect(nowhere).toMatchObject({ failure: { source: 'sim', name: 'NO_MACHINE' }, machine: { source: 'sim' } });
      expect((nowhere as { failure: Failure }).failure.message).toMatch(
        /^UMAPROBE_SIM=.*nothing is not.*Unset it, or use/,
      );
      writeFileSync(join(statePath, '../garbage'), 'x'.repeat(100_000));
      const [garbage] = await printedBy(read, { ...env, UMAPROBE_SIM: join(statePath, '../garbage') });
      expect(garbage).toMatchObject({
        failure: { source: 'sim', name: 'NO_MACHINE' },
        files: [{ source: 'sim' }, { failed: true }],
      });
      const [library] = await printedBy(read, { ...env, UMAPROBE_SIM_LIBRARY: '/nowhere/libumasim.so' });
      expect(library).toMatchObject({
        failure: { source: 'sim', name: 'LIBRARY_MISSING' },
        machine: { name: 'LIBRARY_MISSING' },
      });
    });
  });

  it('is found beside the binary when only the machine is named', async () => {
    const [told] = await withMachine('gb10', ({ statePath }) => printedBy(read, { UMAPROBE_SIM: statePath }));
    expect(told).toMatchObject({ failure: null, machine: 'gb10' });
  });
});
