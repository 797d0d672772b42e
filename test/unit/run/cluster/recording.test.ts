/** Recordings of other machines by ssh, and each answer that is none: never a recording, always a reason. */
import { describe, expect, it } from 'vitest';
import { readRecordingOf } from '../../../../lib/run/cluster/index.ts';
import { askRecording } from '../../../../lib/run/cluster/recording.ts';
import type { RecordedSession } from '../../../../lib/types/index.ts';
import { fakeSshOnPath, printing } from '../../../support/fake-ssh.ts';
import { recordOf, sessionOf } from '../../../support/reports.ts';

const ssh = fakeSshOnPath();

const ASKED = { lastMs: 86_400_000, sessions: 8, points: 1000 };

function answerOf(script: string, asked: Parameters<typeof readRecordingOf>[1] = ASKED) {
  ssh.host('spark', script);
  return readRecordingOf('spark', asked);
}

const sent = (overrides: object) => printing(recordOf(overrides));
const session = (overrides: Partial<RecordedSession>) => sent({ sessions: [sessionOf(overrides)] });

describe('a machine that answers', () => {
  it('is asked once for what the page shows, by the own ssh', async () => {
    expect(await answerOf(sent({}))).toEqual(recordOf());
    expect(ssh.calls().at(-1)).toMatch(
      /-T -- spark umaprobe record show --json --last 24h --sessions 8 --points 1000$/,
    );
  });

  it('is asked for another folder, whatever is in its name', async () => {
    const folder = `/var/lib/a b'; touch x #`;
    await answerOf(`eval "set -- $1"; echo "{\\"schema\\": \\"$#\\"}"; printf '%s' "\${@: -1}" >&2; exit 3`, {
      ...ASKED,
      folder,
    }).then((answer) => expect(answer).toMatchObject({ because: expect.stringContaining(`exit code 3: ${folder}`) }));
  });

  it('has eight sessions of a day with all that they may have', async () => {
    const { processSeries, series } = sessionOf();
    const [point] = series;
    const [process] = processSeries.processes;
    const full = sessionOf({
      series: Array(1000).fill(point),
      lastSeconds: Array(1000).fill(point),
      processSeries: {
        at: Array(500).fill(point?.at),
        processes: Array(12).fill({ ...process, held: Array(500).fill(1.2e11), gpuBytes: Array(500).fill(1.2e11) }),
      },
    });
    const report = recordOf({ sessions: Array(8).fill(full) });
    expect(await answerOf(printing(report))).toEqual(report);
  });

  it('may have no session', async () => {
    expect(await answerOf(`${sent({ sessions: [] })}\nexit 1`)).toMatchObject({ sessions: [] });
  });
});

describe('a machine without a usable recording', () => {
  const error = (code: string, message: string) =>
    `${printing({ schema: 'umaprobe/error/1', error: { code, message } })}\nexit 1`;

  it.each([
    ['on which nothing was recorded', error('ERR_UMA_NOT_FOUND', 'x'), 'failed', /^Nothing was recorded\.$/],
    [
      'whose recording may not be read',
      error('ERR_UMA_PERMISSION', 'it is another user’s'),
      'failed',
      /there failed: it is/,
    ],
    [
      'whose error is none',
      `${printing({ schema: 'umaprobe/error/1', error: 7 })}\nexit 1`,
      'failed',
      /without a reason/,
    ],
    [
      'that is off',
      'echo "ssh: connect to host spark port 22: No route to host" >&2; exit 255',
      'unreachable',
      /No route/,
    ],
    [
      'without umaprobe',
      'echo "bash: umaprobe: command not found" >&2; exit 127',
      'failed',
      /^It cannot run umaprobe: bash/,
    ],
    ['that prints escapes', `printf 'oh \\033[2J no' >&2; exit 4`, 'failed', /exit code 4: oh \?\[2J no\.$/],
    ['that prints nothing', 'true', 'unreadable', /^No recording came/],
    [
      'that prints half',
      printing(JSON.stringify(recordOf(), null, 2).slice(0, 5000)),
      'unreadable',
      /it ends in the middle/,
    ],
    ['that prints two', `${sent({})}\n${sent({})}`, 'unreadable', /2 documents came, and one recording/],
    ['that prints another document', printing({ schema: 'umaprobe/doctor/1' }), 'unreadable', /no recording of/],
    ['that prints a list', printing('[1]'), 'unreadable', /^No recording came/],
    ['of another version', sent({ schema: 'umaprobe/record/2' }), 'other-version', /another version/],
    ['whose recording lacks a part', session({ marks: undefined as never }), 'other-version', /no whole recording/],
    ['whose recording has a part more', sent({ more: 1 }), 'other-version', /no whole recording/],
    ['whose sizes are texts', session({ total: '<b>' as never }), 'other-version', /no whole recording/],
    [
      'with a time that there is not',
      session({ lastAt: '2026-99-99T99:99:99.999Z' }),
      'other-version',
      /no whole recording/,
    ],
    [
      'with a point that never ends',
      session({ series: [{ ...(sessionOf().series[0] as RecordedSession['series'][0]), spanMs: 1e300 }] }),
      'other-version',
      /no whole recording/,
    ],
    ['that was read at no time', sent({ at: '9999-99-99T00:00:00.000Z' }), 'other-version', /no whole recording/],
    [
      'that is longer than a recording can be',
      `echo '{"x": ['; yes '"0123456789012345678901234567890123456789",' | head -c 20000000; echo '1]}'`,
      'unreadable',
      /it is longer than \d+ characters/,
    ],
  ])('%s', async (_, script, state, because) => {
    expect(await answerOf(script)).toMatchObject({ state, because: expect.stringMatching(because), snapshot: null });
  });

  it('is waited for until its deadline', async () => {
    ssh.host('spark', 'exec sleep 60');
    expect(await askRecording('spark', ASKED, undefined, 300)).toMatchObject({
      state: 'timeout',
      because: 'No whole answer came within 300 ms.',
    });
  });

  it('is not waited for once the signal is aborted', async () => {
    ssh.host('spark', 'exec sleep 60');
    const ends = new AbortController();
    const asked = readRecordingOf('spark', ASKED, ends.signal);
    ends.abort(new Error('closed'));
    await expect(asked).rejects.toThrow('closed');
  });
});
