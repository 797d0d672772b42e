/** Pages as text: their content, and foreign text in it. test/sim/library/report.test.ts opens them in a browser. */
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
import { obstacle, writeFileAtomic } from '../../../lib/base/atomic-file.ts';
import { layoutHtml } from '../../../lib/render/html/layout.ts';
import { escapeText, html, jsonInScript } from '../../../lib/render/html/markup.ts';
import type { Assets } from '../../../lib/render/html/page.ts';
import { stressHtml } from '../../../lib/render/html/stress.ts';
import { sweepHtml } from '../../../lib/render/html/sweep.ts';
import { headerOf, layoutOf, notMade, settledOf, stepOf, stressOf, sweepOf } from '../../support/reports.ts';
import { GB } from '../../support/units.ts';

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

const hostilePages = [
  [
    'sweep',
    sweepHtml(
      sweepOf({
        ...nastyHeader,
        preset: NASTY,
        state: 'stopped',
        reason: NASTY,
        steps: [
          stepOf('device', GB, { tensor: { dtype: NASTY, shape: null, elements: 1, bytes: 1, note: NASTY } }),
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
  it.each(pages)('%s contains its document', (_name, document, page) => {
    expect(documentOf(page)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it.each(pages)('%s allows only its own script and style', (_name, _document, page) => {
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
  });

  it.each(pages)('%s says first and in its title that it is simulated', (_name, _document, page) => {
    expect(page).toMatch(/<body>\s*<div class="band" role="note">SIMULATED · machine gb10/);
    expect(page).toMatch(/<title>[^<]*\(simulated\)<\/title>/);
  });

  it.each(pages)('%s has colours for every kind that it names', (_name, _document, page) => {
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
  it.each(pages)('%s', (name, document) => {
    const schema = new URL(`../../../schemas/${name}.schema.json`, import.meta.url);
    const validate = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')));
    validate(JSON.parse(JSON.stringify(document)));
    expect(validate.errors).toBeNull();
    validate({ ...document, surprise: 1 });
    expect(validate.errors).not.toBeNull();
  });
});
