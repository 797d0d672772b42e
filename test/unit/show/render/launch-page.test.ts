/** The page of a launch: receipt, plan, what the guard did, and the recording; what is missing is said. */
import { describe, expect, it } from 'vitest';
import { launchHtml } from '../../../../lib/show/render/html/launch.ts';
import { escapeText } from '../../../../lib/show/render/html/markup.ts';
import { planRows, receiptRows } from '../../../../lib/show/render/launch-facts.ts';
import type { LaunchReceipt, LaunchReport } from '../../../../lib/types/index.ts';
import { launchOf } from '../../../support/launches.ts';
import { sessionOf } from '../../../support/reports.ts';

const assets = { script: 'draw();', style: 'body { margin: 0 }', version: '9.9.9' };
const launched = await launchOf();

describe('the receipt', () => {
  const rowOf = (record: LaunchReport['record']) =>
    receiptRows(launched.receipt as LaunchReceipt, record).find(([label]) => label === 'recording')?.[1];
  it('says why there is no recording, or not all of it', () => {
    expect(rowOf({ folder: '/r', failure: 'write 1.umarec: no space left' })).toBe(
      'not whole: write 1.umarec: no space left',
    );
    expect(rowOf({ folder: null, failure: 'no space left' })).toBe('none: no space left');
    expect([rowOf({ folder: '/r', failure: null }), rowOf(null)]).toEqual([null, null]);
  });
});

describe('the page', () => {
  it('of a launch has its receipt, its plan, what the guard did, and the recording beside its document', () => {
    const page = launchHtml(launched, sessionOf(), assets);
    for (const [label, text] of [
      ...planRows(launched.plan),
      ...receiptRows(launched.receipt as LaunchReceipt, launched.record),
    ])
      if (text !== null) for (const part of [label, text]) expect(page).toContain(escapeText(part));
    for (const text of ['Caches are dropped', 'class="timeline" data-session="0"', '>fits<', 'exit code 0'])
      expect(page).toContain(text);
    const data = /<script type="application\/json" id="recording">(.*?)<\/script>/s.exec(page)?.[1] ?? '';
    expect(JSON.parse(data)).toEqual(JSON.parse(JSON.stringify(sessionOf())));
  });

  it('of a launch that was not started, or not recorded, says so and has no timeline', async () => {
    const outcome = { outcome: 'refused', summary: 'Not started.', guard: null, receipt: null, record: null } as const;
    const refused = launchHtml(await launchOf(outcome), null, assets);
    expect(refused).toContain('<strong class="warn">NOT STARTED</strong>');
    expect(refused).not.toContain('Timeline');
    const plan = { ...launched.plan, steps: [{ step: 'record', state: 'skipped', text: 'Not wanted.' } as const] };
    const bare = launchHtml(await launchOf({ record: null, plan }), null, assets);
    expect(bare).toContain('There is no recording. Not wanted.');
    for (const page of [refused, bare]) {
      expect(page).not.toContain('class="timeline"');
      expect(page).not.toContain('id="recording"');
    }
    const stopped = launchHtml(await launchOf({ outcome: 'stopped' }), null, assets);
    expect(stopped).toContain('<strong class="warn">STOPPED BY THE GUARD</strong>');
  });
});
