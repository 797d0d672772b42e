/** The HTML reports in an installed Chromium: charts are drawn, the console is quiet, narrow and dark screens work. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { pageAssets } from '../../../lib/cli/core/package-files.ts';
import { layoutHtml } from '../../../lib/render/html/layout.ts';
import { stressHtml } from '../../../lib/render/html/stress.ts';
import { sweepHtml } from '../../../lib/render/html/sweep.ts';
import { findTool } from '../../../scripts/run.mjs';
import { runUmaprobe } from '../../support/cli.ts';
import { headerOf, layoutOf, stepOf, stressOf, sweepOf } from '../../support/reports.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GB } from '../../support/units.ts';

const executable = findTool('chromium') ?? findTool('chromium-browser') ?? findTool('google-chrome');
let browser: Browser | null = null;
const folder = temporaryFolder('pages');
let short: string | null = null;

const hostile = '</script><script>document.title = "taken"</script><img src=x onerror="document.title=1">';

beforeAll(async () => {
  const assets = pageAssets();
  const write = (name: string, page: string): void => writeFileSync(join(folder, name), page);
  write('sweep.html', sweepHtml(sweepOf(), assets));
  write('stress.html', stressHtml(stressOf(), assets));
  write('layout.html', layoutHtml(layoutOf(), assets));
  write('one-size.html', sweepHtml(sweepOf({ steps: [stepOf('device', GB)] }), assets));
  const device = { ...headerOf().device, name: hostile };
  write('hostile.html', sweepHtml(sweepOf({ device, reason: hostile, state: 'stopped' }), assets));
  if (executable === null) return;
  // Chromium's socket there has a path of at most 107 bytes: the tests' own folder is too deep.
  short = mkdtempSync('/tmp/umaprobe-');
  browser = await chromium.launch({
    executablePath: executable,
    // There is no sandbox for root; all pages are our own.
    args: ['--no-sandbox', '--disable-gpu'],
    env: { ...process.env, TMPDIR: short } as Record<string, string>,
  });
});
afterAll(async () => {
  await browser?.close();
  if (short !== null) rmSync(short, { recursive: true });
});

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
  if (browser === null) return context.skip('no chromium is installed (Debian: apt-get install chromium)');
  const { width = 1100, dark = false } = options;
  const page = await browser.newPage({
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

/** Pixels of a colour "#rrggbb" in the first canvas. */
function painted(page: Page, colour: string): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const wanted = [1, 3, 5].map((at) => Number.parseInt('${colour}'.slice(at, at + 2), 16));
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (wanted.every((part, index) => data[at + index] === part) && data[at + 3] === 255) count++;
    return count;
  })()`);
}

const wide = (page: Page): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth > innerWidth');

describe.each([
  ['sweep.html', 4],
  ['stress.html', 2],
  ['layout.html', 0],
  ['one-size.html', 4],
] as const)('%s', (name, charts) => {
  it.for([
    [1100, false],
    [1100, true],
    [375, false],
    [375, true],
  ] as const)(
    'at %d pixels, dark: %s, draws its charts, is quiet and does not scroll sideways',
    async ([width, dark], context) => {
      const { page, noise } = await open(context, name, { width, dark });
      const drawn = await colours(page);
      expect(drawn).toHaveLength(charts);
      for (const count of drawn) expect(count).toBeGreaterThan(2);
      expect(await wide(page)).toBe(false);
      expect(noise).toEqual([]);
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

  it('switches its scales, and shows the values under the cursor', async (context) => {
    const { page, noise } = await open(context, 'sweep.html');
    const picture = (): Promise<string> => page.evaluate(`document.querySelector('canvas').toDataURL()`);
    const first = await picture();
    await page.locator('#log-y').click();
    await expect.poll(picture).not.toBe(first);
    const second = await picture();
    await page.locator('#log-x').click();
    await expect.poll(picture).not.toBe(second);
    const over = await page.locator('.u-over').first().boundingBox();
    if (over === null) throw new Error('the chart has no place on the page');
    await page.mouse.move(over.x + over.width - 4, over.y + 20);
    await expect
      .poll(() => page.locator('.u-legend').first().textContent())
      .toMatch(/80 GB[\s\S]*device[\s\S]*2,722 ms/);
    expect(noise).toEqual([]);
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
    expect(await wide(page)).toBe(false);
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
    expect(await wide(page)).toBe(false);
    expect(noise).toEqual([]);
    await page.close();
  });
});
