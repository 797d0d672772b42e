/** The page of `umaprobe serve` in an installed Chromium: it is live, can be read without the picture, and old readings are unknown. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { LiveReading, RecordReport, SeriesPoint } from '../../../lib/types/index.ts';
import { type Chromium, isWide, NO_CHROMIUM, startChromium, violations } from '../../support/chromium.ts';
import { exitOf, startUmaprobe, umaprobe } from '../../support/cli.ts';
import { fakeSsh, printing, sentSnapshot } from '../../support/fake-ssh.ts';
import { recordOf, sessionOf } from '../../support/reports.ts';
import { get, type Served, startServing } from '../../support/serving.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { temporaryToken } from '../../support/tokens.ts';
import { GiB } from '../../support/units.ts';

let chromium: Chromium | null = null;
const started: Served[] = [];
beforeAll(async () => {
  chromium = await startChromium();
});
afterAll(async () => {
  await chromium?.close();
  for (const { child } of started) child.kill();
});

async function serving(...args: Parameters<typeof startServing>): Promise<Served> {
  const served = await startServing(...args);
  started.push(served);
  return served;
}

interface Opened {
  page: Page;
  /** Console messages, errors, and requests for other addresses than the server's. */
  noise: string[];
}

async function open(
  context: TestContext,
  url: string,
  options: { width?: number; dark?: boolean; prepare?: (page: Page) => Promise<unknown> } = {},
): Promise<Opened> {
  if (chromium === null) return context.skip(NO_CHROMIUM);
  const { dark = false, prepare, width = 1100 } = options;
  const page = await chromium.browser.newPage({
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
  });
  const noise: string[] = [];
  page.on('console', (message) => noise.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => noise.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin)) noise.push(`request: ${request.url()}`);
  });
  await prepare?.(page);
  await page.goto(url);
  return { page, noise };
}

async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().textContent()) ?? '';
}

const canvases = (page: Page): Promise<number> => page.locator('canvas:visible').count();

describe('the page of one machine', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serving(['--sim', 'gb10-busy']);
  });

  it.for([
    [1100, false],
    [1100, true],
    [320, false],
    [320, true],
  ] as const)(
    'at %d pixels, dark: %s: charts, quiet, no wider than the screen, nothing that axe-core objects to',
    async ([width, dark], context) => {
      const { noise, page } = await open(context, served.url, { width, dark });
      await expect.poll(() => canvases(page), { timeout: 15_000 }).toBe(5);
      expect(await isWide(page)).toBe(false);
      expect(await violations(page)).toEqual([]);
      expect(noise).toEqual([]);
      await page.close();
    },
  );

  it('says what the judgement says, and names what holds the memory, without command lines', async (context) => {
    const { page } = await open(context, served.url);
    const { stdout } = await umaprobe(['snapshot', '--sim', 'gb10-busy', '--json']);
    const { judgement } = JSON.parse(stdout) as { judgement: { because: string } };
    expect(await textOf(page, '[data-piece="verdict"]')).toContain(judgement.because);
    await expect.poll(() => textOf(page, '[data-piece="processes"]')).toContain('VLLM::EngineCor');
    expect(await textOf(page, '.band')).toContain('SIMULATED');
    await page.close();
  });

  it('is live: focus and what is open stay when a reading changes the numbers', async (context) => {
    const growing = await serving(['--sim', writeGrowing()]);
    const { page } = await open(context, growing.url);
    await expect.poll(() => textOf(page, '#connection')).toContain('Live');
    await page.locator('[data-keep="blocks"] summary').click();
    const region = page.getByRole('region', { name: 'Where the memory is' });
    await region.focus();
    const seen = new Set<string>();
    await expect
      .poll(async () => seen.add((await region.textContent()) ?? '').size, { timeout: 15_000 })
      .toBeGreaterThan(3);
    expect(await page.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe('Where the memory is');
    expect(await page.locator('[data-keep="blocks"]').getAttribute('open')).not.toBeNull();
    expect(await textOf(page, '[data-age]')).toMatch(/^Read [0-3] s ago\.$/);
    await page.close();
  });

  it('the keys move through a chart, and its values are read out', async (context) => {
    const { page } = await open(context, served.url);
    const slider = page.getByRole('slider', { name: /^Memory of the host/ });
    await expect.poll(() => slider.count(), { timeout: 15_000 }).toBe(1);
    // The words of the table of pressure.
    expect(await page.locator('body').textContent()).toMatch(
      /Time in which tasks waited for memory[\s\S]*some tasks\s*all tasks/,
    );
    await slider.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/MemAvailable [\d.]+ GiB, MemFree [\d.]+ GiB/);
    await page.close();
  });

  it('without a script it is one reading', async (context) => {
    if (chromium === null) return context.skip(NO_CHROMIUM);
    const page = await (await chromium.browser.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(served.url);
    expect(await textOf(page, '#connection')).toContain('One reading');
    expect(await textOf(page, '[data-piece="figures"]')).toContain('27.4 GiB');
    await page.context().close();
  });

  it('another page may not read its stream, its history or itself', async () => {
    for (const path of ['/events', '/history/0']) {
      expect((await get(served.port, path, { origin: 'http://evil.example' })).status).toBe(403);
      expect((await get(served.port, path, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    }
    const { headers } = await get(served.port, '/');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });
});

it('a connection that is lost is told, an old reading is unknown, and a server that is back is found', async (context) => {
  const served = await serving(['--sim', 'gb10']);
  const { page } = await open(context, served.url, { prepare: (page) => page.clock.install() });
  await expect.poll(() => textOf(page, '#connection')).toContain('Live');
  served.child.kill();
  await exitOf(served.child);
  await expect.poll(() => textOf(page, '#connection'), { timeout: 10_000 }).toContain('The connection is lost');
  await page.clock.fastForward(60_000);
  await expect.poll(() => textOf(page, '[data-stale]')).toMatch(/^UNKNOWN: the last reading is .* old\.$/);
  expect(await page.locator('[data-known]').isVisible()).toBe(false);
  const again = startUmaprobe(['serve', '--sim', 'gb10', '--listen', `127.0.0.1:${served.port}`]);
  await expect.poll(() => textOf(page, '#connection'), { timeout: 15_000 }).toContain('Live');
  expect(await page.locator('[data-known]').isVisible()).toBe(true);
  again.kill();
  await exitOf(again);
  await page.close();
});

it('the history of the recorder is there on open, with marks and how recordings ended', async (context) => {
  const folder = join(temporaryFolder('serve-record'), 'record');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const recorder = startUmaprobe(['record', '--sim', 'gb10-busy', '--folder', folder, '--duration', '4s']);
  const ended = exitOf(recorder);
  await expect
    .poll(async () => (await umaprobe(['mark', 'epoch <3>', '--folder', folder])).code, { timeout: 10_000 })
    .toBe(0);
  await ended;
  const served = await serving(['--sim', 'gb10-busy', '--folder', folder]);
  const { page } = await open(context, served.url);
  const marks = page.locator('details', { hasText: 'Marks, and how recordings ended' });
  await expect.poll(() => marks.count(), { timeout: 15_000 }).toBe(1);
  await marks.locator('summary').click();
  expect(await marks.textContent()).toMatch(/ENDED.*epoch <3>/s);
  await page.close();
});

it('a history that was late is asked for again', async (context) => {
  const served = await serving(['--sim', 'gb10']);
  const late = { sessions: [], why: 'No whole answer came.', isLate: true };
  const whole = { sessions: untilNow(recordOf()).sessions, why: null, isLate: false };
  let asked = 0;
  const { page } = await open(context, served.url, {
    prepare: async (page) => {
      await page.clock.install();
      await page.route('**/history/0', (route) => route.fulfill({ json: asked++ === 0 ? late : whole }));
    },
  });
  await expect.poll(() => textOf(page, '[data-history]')).toContain(late.why);
  await page.clock.fastForward(31_000);
  await expect.poll(() => textOf(page, '[data-history]')).not.toContain(late.why);
  expect(asked).toBe(2);
  await page.close();
});

it('a day of readings takes little memory, and its table has the lowest of each time', async (context) => {
  const served = await serving(['--sim', 'gb10']);
  const now = Date.now();
  const point = (second: number): LiveReading['point'] => ({
    at: new Date(now - (86_400 - second) * 1000).toISOString(),
    spanMs: 1000,
    free: 50 * GiB,
    lowestFree: 50 * GiB,
    available: 60 * GiB,
    lowestAvailable: (60 - (second % 7)) * GiB,
    swapUsed: 0,
    somePercent: second % 3,
    fullPercent: 0,
  });
  const reading = { index: 0, ageMs: 0, label: 'OK', pieces: {}, floor: 8 * GiB, swapTotal: 0, processes: null };
  const events = Array.from(
    { length: 86_400 },
    (_, second) => `event: machine\ndata: ${JSON.stringify({ ...reading, point: point(second) })}\n\n`,
  ).join('');
  const { page } = await open(context, served.url, {
    prepare: (page) =>
      page.route('**/events', (route) => route.fulfill({ contentType: 'text/event-stream', body: events }), {
        times: 1,
      }),
  });
  const slider = page.getByRole('slider', { name: /^Memory of the host/ });
  // Half an hour of one a second, and one a minute before.
  await expect
    .poll(async () => Number(await slider.getAttribute('aria-valuemax')), { timeout: 25_000 })
    .toBeGreaterThan(3000);
  const table = page.locator('details', { hasText: 'The charts as a table' });
  // Twenty minutes ago: five minutes of one a second.
  expect(await table.locator('tbody tr').nth(8).textContent()).toContain('54.0 GiB50.0 GiB2.0');
  expect(await usedMemory(page)).toBeLessThan(150 * 2 ** 20);
  await page.close();
});

describe('the page of sixteen machines', () => {
  let served: Served;
  let stderr = '';
  const hosts = Array.from({ length: 16 }, (_, index) => `spark-${index + 1}`);
  beforeAll(async () => {
    const ssh = fakeSsh();
    const frozen = recordOf({ sessions: [sessionOf({ marks: [{ at: sessionOf().lastAt, text: 'a <b>', pid: 1 }] })] });
    const nothing = { schema: 'umaprobe/error/1', error: { code: 'ERR_UMA_NOT_FOUND', message: 'x' } };
    const records: Record<string, string> = {
      'spark-2': printing(untilNow(frozen)),
      'spark-3': `printf 'oh \\033[2J <b>no\\n' >&2; exit 4`,
    };
    for (const [index, host] of hosts.entries()) {
      const record = records[host] ?? `${printing(nothing)}\nexit 1`;
      ssh.host(host, answering(host, (10 + index) * GiB, record));
    }
    ssh.host('spark-9', `printf 'ssh: connect to host spark-9 port 22: Connection refused \\033[2J\\n' >&2; exit 255`);
    served = await serving(['--hosts', hosts.join(',')], { PATH: `${ssh.folder}:${process.env.PATH}` });
    served.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
  });

  it.for([
    [1100, true],
    [320, false],
  ] as const)(
    'at %d pixels, dark: %s: each has a row, one without an answer is unknown, nothing that axe-core objects to',
    async ([width, dark], context) => {
      const { noise, page } = await open(context, served.url, { width, dark });
      await expect.poll(() => canvases(page), { timeout: 20_000 }).toBeGreaterThan(0);
      await expect.poll(() => textOf(page, '#summary .notice'), { timeout: 20_000 }).toMatch(/^spark-9 .*15 of 16/);
      expect(await page.locator('#summary tbody tr').count()).toBe(16);
      expect(await page.locator('#summary tbody tr').nth(8).textContent()).toMatch(
        /^spark-9UNKNOWNunknown.*Connection refused/,
      );
      expect(await isWide(page)).toBe(false);
      expect(await violations(page)).toEqual([]);
      expect(noise).toEqual([]);
      await page.close();
    },
  );

  it.for([
    [1100, true],
    [320, false],
  ] as const)(
    'at %d pixels, dark: %s: each has the history of its own recorder, or the reason why there is none',
    async ([width, dark], context) => {
      const { noise, page } = await open(context, served.url, { width, dark });
      const shown = page.locator('[data-machine]:visible');
      const history = async (host: string) => {
        const link = page.locator('#summary').getByRole('link', { name: host, exact: true });
        // A key between two readings may find no link: on a busy machine the summary goes until one comes.
        const heading = () => link.press('Enter').then(() => textOf(page, '[data-machine]:visible h2'));
        await expect.poll(heading, { timeout: 20_000 }).toBe(host);
        return expect.poll(() => shown.locator('[data-history]').textContent(), { timeout: 20_000 });
      };
      const stops = page.locator('#stops');
      await expect
        .poll(() => stops.locator('tbody tr').allTextContents(), { timeout: 20_000 })
        .toEqual([
          expect.stringMatching(
            /^spark-2MACHINE LOST\d{4}-\d\d-\d\d \d\d:\d\d:\d\d12\.9 GiB at \S+python3 4242, 82\.0 GiBThe machine stopped without/,
          ),
        ]);
      await expect
        .poll(() => stops.textContent())
        .toContain(`Not known of ${hosts.filter((host) => host !== 'spark-2').join(', ')}.`);
      const none = 'There is no history of the time before this page. ';
      await (await history('spark-1')).toContain(`${none}Nothing was recorded. Next: umaprobe record keeps a history.`);
      await (await history('spark-3')).toContain(`${none}It ended with exit code 4: oh ?[2J <b>no.`);
      await (await history('spark-9')).toContain(`${none}Connect to host spark-9 port 22: Connection refused`);
      await (await history('spark-2')).toMatch(/MACHINE LOST.*a <b>/s);
      expect(await shown.textContent()).not.toContain(none);
      await expect.poll(() => canvases(page)).toBe(5);
      const slider = shown.getByRole('slider', { name: /^Memory of the host/ });
      await slider.focus();
      await page.keyboard.press('Home');
      expect(await slider.getAttribute('aria-valuetext')).toMatch(/MemAvailable 110 GiB/);
      expect(await isWide(page)).toBe(false);
      expect(await violations(page)).toEqual([]);
      expect(noise).toEqual([]);
      await page.close();
    },
  );

  it('a link of the keyboard shows another machine', async (context) => {
    const { page } = await open(context, served.url);
    await expect.poll(() => textOf(page, '#connection'), { timeout: 20_000 }).toContain('Live');
    expect(await page.locator('[data-machine]:visible').count()).toBe(1);
    await page.locator('#summary').getByRole('link', { name: 'spark-12', exact: true }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => textOf(page, '[data-machine]:visible h2')).toBe('spark-12');
    expect(await page.locator('[data-machine]:visible').count()).toBe(1);
    expect(stderr).toBe('');
    await page.close();
  });
});

it('a machine that stopped and is back tells what happened on a page that was open', async (context) => {
  const ssh = fakeSsh();
  const [gone, back] = [join(ssh.folder, 'gone'), join(ssh.folder, 'back')];
  const recordings = [sessionOf({ end: 'running' }), sessionOf()].map((session) =>
    printing(untilNow(recordOf({ sessions: [session] }))),
  );
  const record = `if [[ -e ${back} ]]; then\n${recordings[1]}\nelse\n${recordings[0]}\nfi`;
  const lost = 'echo "Connection to spark-1 closed by remote host." >&2; exit 255';
  const readings = answering('spark-1', 10 * GiB, record).replace('while :;', `while [[ ! -e ${gone} ]];`);
  ssh.host('spark-1', `${readings}\n[[ ! -e ${gone} ]] || { ${lost}; }`);
  ssh.host('spark-2', answering('spark-2', 10 * GiB, printing(untilNow(recordOf()))));
  const served = await serving(['--hosts', 'spark-1,spark-2'], { PATH: `${ssh.folder}:${process.env.PATH}` });
  const { page } = await open(context, served.url, { prepare: (page) => page.clock.install() });
  const patient = { timeout: 30_000 };
  const stops = page.locator('#stops');
  const rows = async (): Promise<string[]> => (await stops.locator('tbody th').allTextContents()).toSorted();
  const verdict = page.locator('#machine-0 [data-piece="verdict"]');
  await expect.poll(rows, patient).toEqual(['spark-2']);
  await expect.poll(() => stops.textContent(), patient).not.toContain('Not known');
  writeFileSync(gone, '');
  await expect.poll(() => verdict.textContent(), patient).toContain('closed by remote host');
  await expect.poll(() => stops.textContent(), patient).toContain('Not known of spark-1.');
  writeFileSync(back, '');
  rmSync(gone);
  await expect.poll(() => verdict.textContent(), patient).toContain('can be loaded');
  // The server keeps the answer of before for ten seconds.
  await sleep(11_000);
  // In steps after which no reading is too old: a machine without one is asked once more, half a minute later.
  for (let step = 0; step < 3; step++) {
    for (const machine of ['#machine-0', '#machine-1'])
      await expect
        .poll(() => page.locator(`${machine} [data-age]`).textContent(), patient)
        .toMatch(/^Read [0-3] s ago/);
    await page.clock.fastForward(11_000);
  }
  await expect.poll(rows, patient).toEqual(['spark-1', 'spark-2']);
  await expect.poll(() => stops.textContent(), patient).not.toContain('Not known');
  await page.close();
}, 90_000);

it('a day of sixteen machines, each with all that its recorder can send, takes little memory', async (context) => {
  const ssh = fakeSsh();
  const hosts = Array.from({ length: 16 }, (_, index) => `spark-${index + 1}`);
  const path = join(ssh.folder, 'day.json');
  writeFileSync(path, JSON.stringify(untilNow(fullDay()), null, 2));
  // A reading now and then: what sixteen shells do each second took the time from the recordings, which have 15 s.
  for (const host of hosts) ssh.host(host, answering(host, 10 * GiB, `exec cat ${path}`, 10));
  const served = await serving(['--hosts', hosts.join(',')], { PATH: `${ssh.folder}:${process.env.PATH}` });
  const { page } = await open(context, served.url);
  for (const host of hosts) {
    await page.locator('#summary').getByRole('link', { name: host, exact: true }).click();
    const slider = page.locator('[data-machine]:visible').getByRole('slider', { name: /^Memory of the host/ });
    await expect
      .poll(async () => Number(await slider.getAttribute('aria-valuemax')), { timeout: 60_000 })
      .toBeGreaterThan(2500);
  }
  expect(await usedMemory(page)).toBeLessThan(150 * 2 ** 20);
  await page.close();
}, 240_000);

it('a token is asked for by the browser itself', async (context) => {
  if (chromium === null) return context.skip(NO_CHROMIUM);
  const { path, token } = temporaryToken();
  const served = await serving(['--sim', 'gb10', '--token-file', path]);
  const without = await chromium.browser.newPage();
  expect((await without.goto(served.url).catch(() => null))?.status() ?? 401).toBe(401);
  await without.close();
  const page = await chromium.browser.newPage({ httpCredentials: { username: 'me', password: token } });
  await page.goto(served.url);
  await expect.poll(() => textOf(page, '#connection')).toContain('Live');
  expect(page.url()).not.toContain(token);
  await page.close();
});

/** Of the page's own objects, in bytes. */
async function usedMemory(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
  expect(used).toBeGreaterThan(0);
  return used;
}

/** A script of a host that prints a snapshot every `seconds`, and its recording by another script. */
function answering(host: string, cached: number, record: string, seconds = 1): string {
  const snapshot = sentSnapshot(host, { host: { cached, free: 60 * GiB - cached } }, { at: '@AT@' });
  const now = '"s/@AT@/$(date -u +%FT%T.%3NZ)/"';
  return `if [[ $1 == *' record '* ]]; then\n${record}\nelse\nwhile :; do (${printing(snapshot, 0)}\n) | sed ${now}; echo; sleep ${seconds}; done\nfi`;
}

/** A recording that was read now. */
function untilNow(report: RecordReport): RecordReport {
  const later = Date.now() - Date.parse(report.at);
  return JSON.parse(JSON.stringify(report), (_, value: unknown) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
      ? new Date(Date.parse(value) + later).toISOString()
      : value,
  ) as RecordReport;
}

/** Eight sessions of three hours, with as many points and processes as a recording can have. */
function fullDay(): RecordReport {
  const { at } = recordOf();
  const spanMs = 10_000;
  const sessions = Array.from({ length: 8 }, (_, place) => {
    const start = Date.parse(at) - 86_000_000 + place * 10_700_000;
    const time = (index: number): string => new Date(start + index * spanMs).toISOString();
    const bytes = (index: number): number => (40 + (index % 40)) * GiB + index;
    const point = (index: number): SeriesPoint => ({
      at: time(index),
      spanMs,
      free: bytes(index),
      lowestFree: bytes(index) - 1,
      available: bytes(index),
      lowestAvailable: bytes(index) - 1,
      swapUsed: index,
      somePercent: (index % 9) / 7,
      fullPercent: (index % 5) / 7,
    });
    const values = Array.from({ length: 500 }, (_, index) => bytes(2 * index));
    const processes = Array.from({ length: 12 }, (_, process) => ({
      pid: 1000 * place + process,
      name: `python3-${process}`,
      highestHeld: bytes(39),
      highestGpuBytes: bytes(39),
      held: values,
      gpuBytes: values,
    }));
    return sessionOf({
      end: place % 2 === 0 ? 'machine-lost' : 'lost',
      startedAt: time(0),
      lastAt: time(1000),
      series: Array.from({ length: 1000 }, (_, index) => point(index)),
      lastSeconds: [],
      marks: Array.from({ length: 1000 }, (_, index) => ({ at: time(index), text: `step ${index}`, pid: 1 })),
      processSeries: { at: Array.from({ length: 500 }, (_, index) => time(2 * index)), processes },
    });
  });
  return recordOf({ sessions });
}

/** A machine on which memory of programs grows by 100 MiB a second. */
function writeGrowing(): string {
  const path = join(temporaryFolder('serve-growing'), 'growing.json');
  const events = [{ atMs: 0, what: 'anon', bytes: 20 * GiB, overMs: 200_000 }];
  const machine = { extends: 'gb10-busy', name: 'growing', description: 'A GB10 on which programs grow.', events };
  writeFileSync(path, JSON.stringify(machine));
  return path;
}
