/** The recorder when its disk is late, or takes nothing: it counts what it drops, and writes the rest later. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NativeRecorder } from '../../../../lib/core/native/contract.ts';
import type { Frame, Note } from '../../../../lib/run/record/format.ts';
import { printedOnMachine } from '../../../support/binary-on-machine.ts';
import { HEADER, readSegment } from '../../../support/segments.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** Runs a program in which `start(options)` starts a recorder with frames of a millisecond, and `stop()` answers its last report. */
async function recorded(program: string): Promise<{ printed: NativeRecorder[]; records: (Frame | Note)[] }> {
  const folder = temporaryFolder('recorder');
  const printed = await printedOnMachine(
    'gb10',
    `import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    import { openSync } from 'node:fs';
    const folder = ${JSON.stringify(folder)};
    const fast = { intervalUs: 1000, frameUs: 1000, totalBytes: 2 ** 24, header: ${JSON.stringify(JSON.stringify(HEADER).slice(0, -1))} };
    const files = { folder, folderFd: openSync(folder, 'r'), lockFd: openSync(folder + '/lock', 'w') };
    const read = () => b.recorderRead();
    const start = (options) => { const failure = b.recorderStart({ ...fast, ...files, ...options }); if (failure) throw failure; };
    const stop = async () => { b.recorderStop(); await until(() => !read().running); return read(); };
    ${program}`,
  );
  const segments = readdirSync(folder).filter((name) => name.endsWith('.umarec'));
  const records = segments.flatMap((name) => readSegment(name, readFileSync(join(folder, name))).records);
  return { printed: printed as NativeRecorder[], records };
}

describe('a recorder', () => {
  it('counts the frames that were not written in time, in its report and in the recording', async () => {
    const { printed, records } = await recorded(`
      start({ segmentBytes: 2 ** 20, syncUs: 1e9 });
      await until(() => read().frames > 700);
      print(await stop());`);
    const lost = records.map((record) => (record.kind === 'frame' ? record.lost : 0)).reduce((a, b) => a + b);
    expect(lost).toBeGreaterThan(100);
    expect(printed).toEqual([expect.objectContaining({ lostFrames: lost })]);
  });

  it('counts a note as written when it is, and keeps what could not be written', async () => {
    const { printed, records } = await recorded(`
      start({ segmentBytes: 16_384, syncUs: 10_000 });
      // The next segment needs a descriptor, and none is left: another process has to set the limit.
      const shell = spawn('sh', { stdio: ['pipe', 'pipe', 'inherit'] });
      const limit = async (descriptors) => {
        shell.stdin.write('prlimit --pid ' + process.pid + ' --nofile=' + descriptors + ': && echo\\n');
        await once(shell.stdout, 'data');
      };
      await limit(3);
      await until(() => read().failure !== null);
      const { frames } = read();
      b.recorderNote('{"type":"test"}');
      await until(() => read().frames > frames + 50);
      print(read());
      await limit(1024);
      await until(() => read().failure === null);
      print(await stop());
      shell.kill();`);
    expect(printed).toEqual([
      expect.objectContaining({ failure: expect.objectContaining({ name: 'EMFILE' }), writtenNotes: 0 }),
      expect.objectContaining({ failure: null, writtenNotes: 1, lostFrames: 0 }),
    ]);
    const notes = records.filter((record) => record.kind === 'note' && record.note.type === 'test');
    expect(notes).toHaveLength(1);
    expect(records.filter(({ kind }) => kind === 'frame')).toHaveLength(printed[1]?.frames ?? 0);
  });
});
