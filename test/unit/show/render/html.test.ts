/** Pages as text: their content, and foreign text in it. test/sim/show/library/report.test.ts opens them in a browser. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obstacle, writeFileAtomic } from '../../../../lib/base/atomic-file.ts';
import { estimate } from '../../../../lib/models/estimate/index.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { fitHtml, fitTableHtml } from '../../../../lib/show/render/html/fit.ts';
import { launchHtml } from '../../../../lib/show/render/html/launch.ts';
import { layoutHtml } from '../../../../lib/show/render/html/layout.ts';
import { escapeText, html, jsonInScript } from '../../../../lib/show/render/html/markup.ts';
import type { Assets } from '../../../../lib/show/render/html/page.ts';
import { recordHtml } from '../../../../lib/show/render/html/record.ts';
import { stressHtml } from '../../../../lib/show/render/html/stress.ts';
import { sweepHtml } from '../../../../lib/show/render/html/sweep.ts';
import type { FitTable } from '../../../../lib/types/index.ts';
import { launchOf } from '../../../support/launches.ts';
import {
  headerOf,
  layoutOf,
  notMade,
  recordOf,
  sessionOf,
  settledOf,
  stepOf,
  stressOf,
  sweepOf,
} from '../../../support/reports.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GB, GiB } from '../../../support/units.ts';

const assets: Assets = { script: 'draw();', style: 'body { margin: 0 }', version: '9.9.9' };

describe('markup', () => {
  it('escapes values unless they are markup', () => {
    expect(html`<b title="${'"\''}">${'<i>&'}</b>${[html`<i>${1}</i>`, null]}`.text).toBe(
      '<b title="&quot;&#39;">&lt;i&gt;&amp;</b><i>1</i>',
    );
  });

  it('disarms control characters and changes of writing direction', () => {
    expect(escapeText('a\u202eb\x1b[31mc\td')).toBe('a\ufffdb\ufffd[31mc d');
  });

  it('lets no text end the script element of the document', () => {
    const hostile = { name: '</script><!--<script>\u2028' };
    const text = jsonInScript(hostile).text;
    expect(text).not.toMatch(/[<\u2028]/);
    expect(JSON.parse(text)).toEqual(hostile);
  });
});

/** The document that a page carries. */
function documentOf(page: string): unknown {
  const text = /<script type="application\/json" id="report">(.*)<\/script>\n/.exec(page)?.[1] ?? '';
  return JSON.parse(text);
}

const NASTY = '</script><script>alert(1)</script><img src=x onerror=alert(2)>';
const nastyHeader = headerOf({
  device: { ...headerOf().device, name: NASTY, uuid: NASTY, driverVersion: NASTY, cudaVersion: NASTY },
  simulated: NASTY,
  journal: NASTY,
  bootId: NASTY,
  kinds: [{ kind: 'device', supported: false, call: null, reason: NASTY }],
  from: { [NASTY]: NASTY },
  touch: { by: 'memset', reason: NASTY },
  floor: { bytes: GB, from: NASTY },
  unfinished: {
    command: 'stress',
    at: NASTY,
    bootId: null,
    otherBoot: true,
    kind: 'device',
    heldBytes: 1,
    targetBytes: 2,
    provenBytes: 1,
    sentence: NASTY,
  },
});
const settled = settledOf({ missing: { bytes: 1, explanation: NASTY } });

const pages = [
  ['sweep', sweepOf(), sweepHtml(sweepOf(), assets)],
  ['stress', stressOf(), stressHtml(stressOf(), assets)],
  ['layout', layoutOf(), layoutHtml(layoutOf(), assets)],
] as const;

/** An architecture of which each term can be estimated. */
const CONFIG = {
  model_type: 'llama',
  num_hidden_layers: 32,
  hidden_size: 4096,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  intermediate_size: 14_336,
  vocab_size: 128_256,
};
const machine = { ...snapshotOf({}), simulated: 'gb10' };
const estimated = await estimate({ config: CONFIG }, { context: 8192, program: 'vllm' });
const fitted = await fitInto({ estimate: estimated, snapshot: machine });
const fittedTable: FitTable = {
  schema: 'umaprobe/fit-table/1',
  at: machine.at,
  simulated: 'gb10',
  limit: 100 * GiB,
  program: 'vllm',
  rows: [
    {
      name: '70B',
      parameters: 70e9,
      cells: [
        {
          dtype: 'int4',
          weights: 35e9,
          need: { bytes: 35e9, low: 35e9, high: 36e9 },
          verdict: 'fits',
          expectedFits: true,
          headroom: GiB,
        },
      ],
    },
  ],
};
const view = { heading: 'Llama', estimated };
const memoryPages = [
  ['fit', fitted, fitHtml(fitted, view, assets)],
  ['fit-table', fittedTable, fitTableHtml(fittedTable, assets)],
] as const;

const launched = await launchOf();
const recordPages = [
  ['record', recordOf(), recordHtml(recordOf(), assets)],
  ['launch', launched, launchHtml(launched, sessionOf(), assets)],
] as const;

const hostilePages = [
  [
    'record',
    recordHtml(
      recordOf({
        folder: NASTY,
        problems: [{ segment: NASTY, offset: 0, bytes: 1, message: NASTY }],
        sessions: [
          sessionOf({
            hostName: NASTY,
            simulated: NASTY,
            end: 'complete',
            endReason: NASTY,
            bootId: NASTY,
            marks: [{ at: '2026-11-20T18:00:00.000Z', text: NASTY, pid: 1 }],
            kernelMessages: [{ at: '2026-11-20T18:00:00.000Z', text: NASTY }],
            gpus: [
              {
                index: 0,
                name: NASTY,
                total: 2,
                lowestFree: {
                  at: '2026-11-20T18:00:00.000Z',
                  bytes: 1,
                  holders: [{ pid: 1, name: NASTY, gpuBytes: 1 }],
                },
                at: ['2026-11-20T18:00:00.000Z'],
                used: [1],
              },
            ],
            processSeries: {
              at: ['2026-11-20T18:00:00.000Z'],
              processes: [{ pid: 1, name: NASTY, highestHeld: 1, highestGpuBytes: 1, held: [1], gpuBytes: [1] }],
            },
            deviceName: NASTY,
            driverVersion: NASTY,
            architecture: NASTY,
            notes: [{ at: '2026-11-20T18:00:00.000Z', text: NASTY }],
          }),
        ],
      }),
      assets,
    ),
  ],
  [
    'launch',
    launchHtml(
      {
        ...launched,
        simulated: NASTY,
        summary: NASTY,
        plan: {
          ...launched.plan,
          command: [NASTY],
          flags: { safe: NASTY, from: NASTY },
          steps: [{ step: 'fit', state: 'complete', text: NASTY }],
          recognised: {
            ...launched.plan.recognised,
            model: NASTY,
            assumed: [NASTY],
            unread: [{ text: NASTY, part: 'option', effect: 'more' }],
          },
        },
        guard: launched.guard && {
          ...launched.guard,
          actions: launched.guard.actions.map((action) => ({ ...action, sentence: NASTY })),
        },
        receipt: launched.receipt && { ...launched.receipt, flags: { safe: NASTY, from: NASTY } },
      },
      null,
      assets,
    ),
  ],
  [
    'fit',
    fitHtml(
      {
        ...fitted,
        summary: NASTY,
        notes: [NASTY],
        simulated: NASTY,
        need: { ...fitted.need, terms: fitted.need.terms.map((term) => ({ ...term, name: NASTY })) },
        remedies: [{ text: NASTY, command: NASTY, needsRoot: true, gains: 1 }],
        programs: fitted.programs.map((program) => ({ ...program, decision: NASTY, flags: NASTY, message: NASTY })),
      },
      {
        heading: NASTY,
        estimated: {
          ...estimated,
          terms: estimated.terms.map((term) => ({ ...term, name: NASTY, formula: NASTY, inputs: { [NASTY]: NASTY } })),
        },
      },
      assets,
    ),
  ],
  [
    'sweep',
    sweepHtml(
      sweepOf({
        ...nastyHeader,
        preset: NASTY,
        state: 'stopped',
        reason: NASTY,
        steps: [
          stepOf('device', GB, { tensor: { dtype: NASTY as never, shape: null, elements: 1, bytes: 1, note: NASTY } }),
          notMade('device', GB, 'failed', NASTY),
        ],
        spills: [{ kind: 'managed', atBytes: 1, slowdown: 2, evidence: [], sentence: NASTY }],
      }),
      assets,
    ),
  ],
  ['stress', stressHtml(stressOf({ ...nastyHeader, settled, boundBy: NASTY }), assets)],
  [
    'layout',
    layoutHtml(
      layoutOf({
        ...nastyHeader,
        settled,
        reason: NASTY,
        consumedFrom: NASTY,
        parts: [{ name: NASTY, expectedBytes: 1, state: 'failed', reason: NASTY, allocMs: null, firstTouchMs: null }],
      }),
      assets,
    ),
  ],
] as const;

describe('a page', () => {
  it.each([...pages, ...memoryPages, ...recordPages])('%s contains its document', (_name, document, page) => {
    expect(documentOf(page)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it.each([...pages, ...memoryPages, ...recordPages])(
    '%s allows only its own script and style',
    (_name, _document, page) => {
      const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
      const digest = (text: string): string => `&#39;sha256-${createHash('sha256').update(text).digest('base64')}&#39;`;
      const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? '';
      expect(style).toContain(assets.style);
      expect(policy.split('; ')).toEqual([
        'default-src &#39;none&#39;',
        `script-src ${digest(assets.script)}`,
        `style-src ${digest(style)}`,
        'base-uri &#39;none&#39;',
        'form-action &#39;none&#39;',
      ]);
      // No address, no inline style or handler: the policy would forbid them, and the page would be broken.
      expect(page).not.toMatch(/https?:\/\/|\sstyle=|\son[a-z]+=|src=|@import|url\(/);
    },
  );

  it.each([...pages, ...recordPages])(
    '%s says first and in its title that it is simulated',
    (_name, _document, page) => {
      expect(page).toMatch(
        /<body>\s*<div class="band" role="region" aria-label="Simulated machine">SIMULATED · machine gb10/,
      );
      expect(page).toMatch(/<title>[^<]*\(simulated\)<\/title>/);
    },
  );

  it.each([...pages, ...memoryPages])('%s has colours for every kind that it names', (_name, _document, page) => {
    const styles = new Set([...page.matchAll(/class="(kind-[^"]*)"/g)].map(([, style]) => style));
    expect(styles.size).toBeGreaterThan(0);
    for (const style of styles) {
      expect(page).toContain(`.${style} { --accent: var(--${style}); }`);
      expect(page.match(new RegExp(` --${style}: #`, 'g'))).toHaveLength(2);
    }
  });

  it.each(hostilePages)('%s takes no markup from foreign text', (_name, page) => {
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;script&gt;alert(1)');
  });

  it('has no band for real hardware', () => {
    const page = sweepHtml(sweepOf({ simulated: null, timeScale: null }), assets);
    expect(page).not.toContain('SIMULATED');
    expect(page).not.toContain('(simulated)');
  });

  it('of fit pictures the whole pool: parts of one scale, the limit, the upper end of the need', () => {
    const { need, pool } = fitted;
    if (pool === null) throw new Error('this machine has a pool');
    const picture = /<svg class="pool"[^>]*>(.*?)<\/svg>/s.exec(memoryPages[0][2])?.[1] ?? '';
    const percent = (name: string): number[] =>
      [...picture.matchAll(new RegExp(`<rect${name} x="([\\d.]+)%"[^>]* width="([\\d.]+)%"`, 'g'))].flatMap(
        ([, x, width]) => [Number(x), Number(width)],
      );
    const parts = percent('');
    const widths = parts.filter((_, index) => index % 2 === 1);
    expect(widths).toHaveLength(need.terms.filter(({ bytes }) => bytes > 0).length + 3);
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(100, 1);
    expect(widths[1]).toBeCloseTo(((need.terms[0]?.bytes ?? 0) / pool.total) * 100, 1);
    const [from = 0, width = 0] = percent(' class="most"');
    expect(from).toBeCloseTo(((pool.used + need.bytes) / pool.total) * 100, 1);
    expect(from + width).toBeCloseTo(((pool.used + need.high) / pool.total) * 100, 1);
    const limit = Number(/<line x1="([\d.]+)%"/.exec(picture)?.[1]);
    expect(limit).toBeCloseTo(((pool.total - pool.kept - pool.fragmented) / pool.total) * 100, 1);
  });

  it('of fit grows its scale where the need is more than the memory, and marks where that ends', async () => {
    const report = await fitInto({ bytes: 2 * machine.host.total, snapshot: machine });
    const page = fitHtml(report, { heading: 'Too much', estimated: null }, assets);
    expect(page).toContain('all the memory');
    const places = [...page.matchAll(/<line x1="([\d.]+)%"/g)].map(([, x]) => Number(x));
    expect(places).toHaveLength(2);
    for (const place of places) expect(place).toBeLessThan(60);
    expect(page).toContain('<strong class="warn">no</strong>');
  });

  it('has every term of an estimate with its formula and its inputs', () => {
    const [, , page] = memoryPages[0];
    for (const { formula, inputs } of estimated.terms)
      for (const text of [formula, ...Object.keys(inputs)]) expect(page).toContain(escapeText(text));
  });

  it('says of each program what it reads and decides, with its flags', () => {
    expect(fitted.programs.length).toBeGreaterThan(3);
    for (const { decision, flags, from } of fitted.programs)
      for (const text of [decision, from, flags ?? '']) expect(memoryPages[0][2]).toContain(escapeText(text));
  });

  it('of a recording says how each session ended, the newest first, and has its figures', () => {
    const sessions = [
      sessionOf({ startedAt: '2026-11-19T08:00:00.000Z', lastAt: '2026-11-19T09:00:00.000Z', end: 'shut-down' }),
      sessionOf(),
    ];
    const page = recordHtml(recordOf({ sessions }), assets);
    const [newest, oldest] = [page.indexOf('>MACHINE LOST<'), page.indexOf('>SHUT DOWN<')];
    expect(newest).toBeGreaterThan(0);
    expect(oldest).toBeGreaterThan(newest);
    expect(page.match(/class="timeline" data-session="(\d)"/g)).toEqual([
      'class="timeline" data-session="1"',
      'class="timeline" data-session="0"',
    ]);
    for (const text of [
      '3.00 s below 15.0 GiB',
      '0.90 GiB/s at 18:09:41.000',
      'weights loaded',
      'NVRM: Xid 31',
      'driver 580.142',
      'the disk is full',
      'python3',
    ])
      expect(page).toContain(text);
  });

  it('of an empty recording says so', () => {
    const page = recordHtml(recordOf({ sessions: [] }), assets);
    expect(page).toContain('<h1>Nothing was recorded</h1>');
    expect(page).not.toContain('class="timeline"');
  });

  it('shows an unfinished earlier run before anything else', () => {
    const { unfinished } = nastyHeader;
    const sentence = 'The machine vanished while taking 96.0 GiB to 100.0 GiB.';
    const page = stressHtml(stressOf({ unfinished: unfinished && { ...unfinished, sentence } }), assets);
    expect(page.indexOf(sentence)).toBeGreaterThan(0);
    expect(page.indexOf(sentence)).toBeLessThan(page.indexOf('<main>'));
  });
});

describe('the file', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'umaprobe-report-'));
    mkdirSync(join(folder, 'directory'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['link', /is a symbolic link/],
    ['directory', /is a directory/],
    ['none/report.html', /there is no directory .*none/],
    ['/dev/null', /is not a regular file/],
  ])('%s is refused', (name, words) => {
    expect(obstacle(name.startsWith('/') ? name : join(folder, name))).toMatch(words);
  });

  it('is written atomically with the mode of the umask, also over an old file', () => {
    const path = join(folder, 'report.html');
    const before = process.umask(0o022);
    try {
      expect(obstacle(path)).toBeNull();
      writeFileAtomic(path, 'old', 0o666);
      chmodSync(path, 0o600);
      writeFileAtomic(path, 'new ü', 0o666);
    } finally {
      process.umask(before);
    }
    expect(readFileSync(path, 'utf8')).toBe('new ü');
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('leaves nothing behind if it cannot be put in place', () => {
    expect(() => writeFileAtomic(join(folder, 'directory'), 'x', 0o666)).toThrow();
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('does not follow a link that was created after the check', () => {
    writeFileSync(join(folder, 'victim'), 'mine');
    symlinkSync(join(folder, 'victim'), join(folder, 'late'));
    writeFileAtomic(join(folder, 'late'), 'report', 0o666);
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('mine');
  });
});

describe('the documents of the fixtures match the published schemas', () => {
  const ajv = new Ajv({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
  it.each([...pages, ...memoryPages])('%s', (name, document) => {
    const schema = new URL(`../../../../schemas/${name}.schema.json`, import.meta.url);
    const validate = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')));
    validate(JSON.parse(JSON.stringify(document)));
    expect(validate.errors).toBeNull();
    validate({ ...document, surprise: 1 });
    expect(validate.errors).not.toBeNull();
  });
});
