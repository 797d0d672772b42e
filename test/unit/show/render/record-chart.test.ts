/** The chart of the host's memory in a recording. */
import { expect, it } from 'vitest';
import { pointsOf, secondsOf } from '../../../../browser/report/points.ts';
import { specsOf } from '../../../../browser/report/record.ts';
import { createZoom } from '../../../../browser/zoom.ts';
import { recordTime, sessionOf } from '../../../support/reports.ts';

const session = sessionOf();
const [memory] = specsOf(session, pointsOf(session), createZoom({ from: 0, to: 1 }, 1));

it('the red shade is the time below the floor', () => {
  expect(memory?.events?.stretches.filter(({ colour }) => colour === 'warn')).toEqual([
    { from: secondsOf(recordTime(597)), to: secondsOf(recordTime(600)), height: null, colour: 'warn' },
  ]);
});

it('a low within a point has a line of its own', () => {
  const at200s = (line: string) => memory?.lines.find(({ name }) => name === line)?.values[200];
  expect([at200s('MemFree'), at200s('lowest MemFree')]).toEqual([64, 55]);
});
