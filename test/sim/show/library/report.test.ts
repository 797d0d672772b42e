/**
 * The HTML reports in an installed Chromium: charts are drawn, the console is quiet, narrow and dark screens work,
 * and every value can be read without seeing the picture.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { estimate } from '../../../../lib/models/estimate/index.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { compare } from '../../../../lib/show/compare/index.ts';
import { compareHtml } from '../../../../lib/show/render/html/compare.ts';
import { fitHtml } from '../../../../lib/show/render/html/fit.ts';
import { launchHtml } from '../../../../lib/show/render/html/launch.ts';
import { layoutHtml } from '../../../../lib/show/render/html/layout.ts';
import { profileHtml } from '../../../../lib/show/render/html/profile.ts';
import { recordHtml } from '../../../../lib/show/render/html/record.ts';
import { stressHtml } from '../../../../lib/show/render/html/stress.ts';
import { sweepHtml } from '../../../../lib/show/render/html/sweep.ts';
import { pageAssets } from '../../../../lib/show/report/package-files.ts';
import type { RecordedSession, StressStep } from '../../../../lib/types/index.ts';
import { type Chromium, isWide, NO_CHROMIUM, startChromium, violations } from '../../../support/chromium.ts';
import { runUmaprobe } from '../../../support/cli.ts';
import { launchOf } from '../../../support/launches.ts';
import { sftProfile } from '../../../support/profiles.ts';
import { headerOf, layoutOf, recordOf, sessionOf, stepOf, stressOf, sweepOf } from '../../../support/reports.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GB, GiB } from '../../../support/units.ts';

let chromium: Chromium | null = null;
const folder = temporaryFolder('pages');

const hostile = '</script><script>document.title = "taken"</script><img src=x onerror="document.title=1">';

/** Steps of a minute and more, which were not written. */
function slowSteps(): StressStep[] {
  return stressOf().steps.map((step) => ({ ...step, allocMs: 98_765.4, touchMs: null, verifyMs: null }));
}

/** A recording with one sample of its processes, a mark at its beginning and one at its end. */
function shortSession(): RecordedSession {
  const session = sessionOf();
  const { at, processes } = session.processSeries;
  const [course] = processes;
  if (course === undefined) throw new Error('the recording of the tests has no process');
  const once = { ...course, held: course.held.slice(3, 4), gpuBytes: course.gpuBytes.slice(3, 4) };
  const marks = [
    { ...markOf(session), at: session.startedAt, text: 'one' },
    { ...markOf(session), at: session.lastAt, text: 'evaluation of the last checkpoint' },
  ];
  return { ...session, marks, processSeries: { ...session.processSeries, at: at.slice(3, 4), processes: [once] } };
}

function markOf({ marks }: RecordedSession): RecordedSession['marks'][number] {
  const [mark] = marks;
  if (mark === undefined) throw new Error('the recording of the tests has no mark');
  return mark;
}

beforeAll(async () => {
  const assets = pageAssets('report');
  const write = (name: string, page: string): void => writeFileSync(join(folder, name), page);
  write('sweep.html', sweepHtml(sweepOf(), assets));
  write('stress.html', stressHtml(stressOf(), assets));
  write('layout.html', layoutHtml(layoutOf(), assets));
  write('one-size.html', sweepHtml(sweepOf({ steps: [stepOf('device', GB)] }), assets));
  const device = { ...headerOf().device, name: hostile };
  const machine = snapshotOf({ host: { cached: 90 * GiB, free: 8 * GiB } });
  const estimated = await estimate({ params: 8e9 }, { program: 'vllm' });
  const fitted = await fitInto({ estimate: estimated, snapshot: machine });
  write('fit.html', fitHtml(fitted, { heading: 'Qwen3-8B', estimated }, assets));
  const need = { bytes: 2 * machine.host.total };
  write(
    'no-fit.html',
    fitHtml(await fitInto({ ...need, snapshot: machine }), { heading: 'Too much', estimated: null }, assets),
  );
  write('hostile.html', sweepHtml(sweepOf({ device, reason: hostile, state: 'stopped' }), assets));
  const changed = await compare(snapshotOf(), snapshotOf({ processes: [{ pid: 7, name: hostile, gpuBytes: GiB }] }));
  write('compare.html', compareHtml(changed, assets));
  write('profile.html', profileHtml(await sftProfile(), assets));
  write('record.html', recordHtml(recordOf(), assets));
  write('launch.html', launchHtml(await launchOf(), sessionOf(), assets));
  write('no-launch.html', launchHtml(await launchOf({ outcome: 'refused', guard: null, receipt: null }), null, assets));
  const noSwap = sessionOf({ swapTotal: 0, end: 'running', startedAt: '2026-11-20T17:59:59.000Z' });
  write('unverified.html', stressHtml(stressOf({ verified: null, steps: slowSteps() }), assets));
  write('short.html', recordHtml(recordOf({ sessions: [shortSession()] }), assets));
  write('two-sessions.html', recordHtml(recordOf({ sessions: [sessionOf(), noSwap] }), assets));
  chromium = await startChromium();
});
afterAll(() => chromium?.close());

/** Notes each text that is drawn into a canvas, and whether the edge of the canvas cuts it off. */
const NOTE_TEXTS = `
  window.texts = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { width } = this.measureText(text);
    const turned = this.getTransform().b !== 0;
    const left = this.textAlign === 'right' ? x - width : this.textAlign === 'center' ? x - width / 2 : x;
    if (!turned) window.texts.push({ text, cut: left < -1 || left + width > this.canvas.width + 1 });
    return fillText.call(this, text, x, y);
  };
`;

interface Opened {
  page: Page;
  /** Console messages, errors, and requests for other addresses than the page's own. */
  noise: string[];
}

async function open(
  context: TestContext,
  name: string,
  options: { width?: number; dark?: boolean } = {},
): Promise<Opened> {
  if (chromium === null) return context.skip(NO_CHROMIUM);
  const { width = 1100, dark = false } = options;
  const page = await chromium.browser.newPage({
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
  });
  const noise: string[] = [];
  const own = `file://${join(folder, name)}`;
  page.on('console', (message) => {
    // A warning about `colours()` and `painted()`, which read the canvas.
    if (!message.text().includes('willReadFrequently')) noise.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => noise.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (request.url() !== own) noise.push(`request: ${request.url()}`);
  });
  await page.addInitScript(NOTE_TEXTS);
  await page.goto(own);
  return { page, noise };
}

/** The number of opaque colours of each canvas. */
function colours(page: Page): Promise<number[]> {
  return page.evaluate(`[...document.querySelectorAll('canvas')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) seen.add(data[at] * 65536 + data[at + 1] * 256 + data[at + 2]);
    return seen.size;
  })`);
}

/** Pixels of a colour "#rrggbb" in a canvas of the page, the first. */
function painted(page: Page, colour: string, place = 0): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.querySelectorAll('canvas')[${place}];
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const wanted = [1, 3, 5].map((at) => Number.parseInt('${colour}'.slice(at, at + 2), 16));
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (wanted.every((part, index) => data[at + index] === part) && data[at + 3] === 255) count++;
    return count;
  })()`);
}

describe('every page', () => {
  it.for([
    ['profile.html', 1, 1280, true],
    ['profile.html', 1, 390, false],
    ['sweep.html', 4, 1280, false],
    ['sweep.html', 4, 1280, true],
    ['sweep.html', 4, 390, false],
    ['sweep.html', 4, 390, true],
    ['stress.html', 2, 1280, true],
    ['stress.html', 2, 390, false],
    ['layout.html', 0, 1280, false],
    ['layout.html', 0, 390, true],
    ['one-size.html', 4, 390, false],
    ['fit.html', 0, 1280, false],
    ['no-fit.html', 0, 390, true],
    ['compare.html', 0, 390, true],
    ['record.html', 5, 1280, true],
    ['launch.html', 5, 1280, true],
    ['launch.html', 5, 390, false],
    ['no-launch.html', 0, 390, true],
    ['two-sessions.html', 9, 390, false],
  ] as const)(
    '%s: %d charts at %d pixels, dark: %s; quiet, no wider than the screen, nothing that axe-core objects to',
    async ([name, charts, width, dark], context) => {
      const { page, noise } = await open(context, name, { width, dark });
      const drawn = await colours(page);
      expect(drawn).toHaveLength(charts);
      for (const count of drawn) expect(count).toBeGreaterThan(2);
      expect(await isWide(page)).toBe(false);
      expect(noise).toEqual([]);
      expect(await violations(page)).toEqual([]);
      await page.close();
    },
  );
});

describe('a page', () => {
  it('paints kinds in the colours of its theme, and again when that changes', async (context) => {
    const { page, noise } = await open(context, 'sweep.html');
    expect(await painted(page, '#0072b2')).toBeGreaterThan(100);
    expect(await painted(page, '#c65a00')).toBeGreaterThan(50);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => painted(page, '#56b4e9')).toBeGreaterThan(100);
    expect(await painted(page, '#0072b2')).toBe(0);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await expect.poll(() => painted(page, '#0072b2')).toBeGreaterThan(100);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(noise).toEqual([]);
    await page.close();
  });

  it('switches its axes, and shows the values under the cursor', async (context) => {
    const { page, noise } = await open(context, 'sweep.html');
    const picture = (): Promise<string> => page.evaluate(`document.querySelector('canvas').toDataURL()`);
    // 1 to 80 GB: logarithmic, both axes.
    expect(await page.locator('input[value=log]').isChecked()).toBe(true);
    const first = await picture();
    await page.locator('input[value=linear]').click();
    await expect.poll(picture).not.toBe(first);
    const over = await page.locator('.u-over').first().boundingBox();
    if (over === null) throw new Error('the chart has no place on the page');
    await page.mouse.move(over.x + over.width * (80 / 120 / 1.03), over.y + 20);
    await expect.poll(() => page.locator('.legend').first().textContent()).toMatch(/80 GB[\s\S]*device 2,722 ms/);
    expect(noise).toEqual([]);
    await page.close();
  });

  it('gives every value to the keyboard and to a screen reader', async (context) => {
    const { page, noise } = await open(context, 'sweep.html');
    const chart = page.locator('.u-over').first();
    await chart.focus();
    const heard = (): Promise<string | null> => chart.getAttribute('aria-valuetext');
    for (const [key, text] of [
      ['Home', /^1 GB: device 36\.0 ms, managed 0\.06 ms$/],
      ['End', /^120 GB: managed refused$/],
      ['ArrowLeft', /^80 GB: device 2,722 ms$/],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(heard).toMatch(text);
    }
    // All charts show the place, each with its own values.
    expect(await page.locator('.legend').nth(3).textContent()).toMatch(/80 GB[\s\S]*device 227 GB\/s/);
    expect(await page.locator('canvas[role=img]').first().getAttribute('aria-label')).toMatch(
      /^Line chart\. Allocation in ms: device from 36\.0 ms at 1 GB to 2,722 ms at 80 GB; managed .*1 without a result\.$/,
    );
    expect(noise).toEqual([]);
    await page.close();
  });

  it('of fit draws its pool: labels inside the screen, also a narrow one', async (context) => {
    const { page } = await open(context, 'no-fit.html', { width: 390 });
    const boxes: { left: number; right: number; height: number }[] = await page.evaluate(
      `[...document.querySelectorAll('.pool rect, .pool text')].map((part) => part.getBoundingClientRect())
        .map(({ left, right, height }) => ({ left, right, height }))`,
    );
    expect(boxes.length).toBeGreaterThan(4);
    for (const { height, left, right } of boxes) {
      expect(height).toBeGreaterThan(8);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(right).toBeLessThanOrEqual(390);
    }
    await page.close();
  });

  it('of a recording zooms with the pointer, with buttons and back, in all its charts', async (context) => {
    const { page, noise } = await open(context, 'record.html');
    const shown = (): Promise<string | null> => page.locator('.zoom [role=status]').textContent();
    const pictures = (): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL())`);
    expect(await shown()).toBe('18:00:00 to 18:10:00 UTC');
    const whole = await pictures();
    const over = await page.locator('.u-over').first().boundingBox();
    if (over === null) throw new Error('the chart has no place on the page');
    // From 150 to 300 s: the middle of the load, with its transient.
    await page.mouse.move(over.x + over.width * 0.25, over.y + 40);
    await page.mouse.down();
    await page.mouse.move(over.x + over.width * 0.5, over.y + 60, { steps: 4 });
    await page.mouse.up();
    await expect.poll(shown).toMatch(/^18:02:(29|30|31) to 18:0(4:59|5:00|5:01) UTC$/);
    for (const [index, picture] of (await pictures()).entries()) expect(picture).not.toBe(whole[index]);
    // The cursor keys stay in what is shown.
    await page.locator('.u-over').first().focus();
    await page.keyboard.press('Home');
    await expect
      .poll(() => page.locator('.u-over').first().getAttribute('aria-valuetext'))
      .toMatch(/^18:02:(29|30|31)\.00 UTC: MemAvailable /);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(shown).toMatch(/^18:03:0[678] to 18:04:2[123] UTC$/);
    await page.locator('.u-over').first().dblclick();
    await expect.poll(shown).toBe('18:00:00 to 18:10:00 UTC');
    expect(noise).toEqual([]);
    await page.close();
  });

  it.for([
    ['unverified.html', 1280],
    ['unverified.html', 390],
    ['short.html', 1280],
    ['short.html', 390],
    ['record.html', 390],
  ] as const)('%s at %d pixels draws no text that its edge cuts off', async ([name, width], context) => {
    const { page } = await open(context, name, { width });
    const texts: { text: string; cut: boolean }[] = await page.evaluate('window.texts');
    expect(texts.length).toBeGreaterThan(10);
    expect(texts.filter(({ cut }) => cut)).toEqual([]);
    await page.close();
  });

  it('of a recording names its marks, the first and the last one, too', async (context) => {
    const { page } = await open(context, 'short.html', { width: 390 });
    const texts: { text: string }[] = await page.evaluate('window.texts');
    expect(texts.map(({ text }) => text)).toEqual(expect.arrayContaining(['one', 'evaluation of the last …']));
    await page.close();
  });

  it('shows a value that has no neighbour', async (context) => {
    const { page } = await open(context, 'short.html');
    const drawn = await colours(page);
    const alone = await painted(page, '#0072b2', drawn.length - 1);
    expect(alone).toBeGreaterThan(4);
    await page.close();
  });

  it('of a stress test says whether the memory was written', async (context) => {
    const { page } = await open(context, 'unverified.html');
    const said = await page.locator('main').textContent();
    expect(said).toContain('Nothing was written to the memory');
    expect(said).not.toContain('wrote every byte');
    await page.close();
  });

  it('saves its document as JSON', async (context) => {
    const { page } = await open(context, 'stress.html');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
    expect(download.suggestedFilename()).toBe('umaprobe-report.json');
    await page.close();
  });

  it('runs no script from a device name or reason', async (context) => {
    const { page, noise } = await open(context, 'hostile.html');
    expect(await page.title()).toContain('<script>');
    expect(await page.title()).not.toBe('taken');
    expect(await page.locator('h1').textContent()).toBe(hostile);
    expect(await page.locator('script').count()).toBe(2);
    expect(await isWide(page)).toBe(false);
    expect(noise).toEqual([]);
    await page.close();
  });

  it('is protected by its policy, not only by escaping', async (context) => {
    const { page, noise } = await open(context, 'sweep.html');
    await page.evaluate(`(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "taken"';
      document.body.append(script);
      const image = document.createElement('img');
      image.src = 'https://umaprobe.invalid/x.png';
      document.body.append(image);
    })()`);
    expect(await page.title()).not.toBe('taken');
    await expect
      .poll(() => noise.filter((line) => /Content Security Policy/.test(line)).length)
      .toBeGreaterThanOrEqual(2);
    await page.close();
  });

  it('is written by the command in the same quality', async (context) => {
    const ran = runUmaprobe(['sweep', '--sim', 'gb10', '--sizes', '256MB,512MB', '--html', join(folder, 'real.html')], {
      env: { XDG_STATE_HOME: folder },
    });
    expect(ran.code).toBe(0);
    const { page, noise } = await open(context, 'real.html', { width: 375 });
    for (const count of await colours(page)) expect(count).toBeGreaterThan(2);
    expect(await page.locator('.band').textContent()).toContain('SIMULATED');
    expect(await isWide(page)).toBe(false);
    expect(noise).toEqual([]);
    await page.close();
  });
});
