/** The installed Chromium, and the demands on every page. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findTool } from '../../scripts/run.mjs';

const executable = findTool('chromium') ?? findTool('chromium-browser') ?? findTool('google-chrome');

export const NO_CHROMIUM = 'no chromium is installed (Debian: apt-get install chromium)';

export interface Chromium {
  browser: Browser;
  close(): Promise<void>;
}

/** null: none is installed. */
export async function startChromium(): Promise<Chromium | null> {
  if (executable === null) return null;
  // Chromium's socket there has a path of at most 107 bytes: the tests' own folder is too deep.
  const short = mkdtempSync('/tmp/umaprobe-');
  const browser = await chromium.launch({
    executablePath: executable,
    // There is no sandbox for root; all pages are our own.
    args: ['--no-sandbox', '--disable-gpu'],
    env: { ...process.env, TMPDIR: short } as Record<string, string>,
  });
  return {
    browser,
    async close() {
      await browser.close();
      rmSync(short, { recursive: true });
    },
  };
}

export const isWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth');

/** axe-core knows the rules of WCAG; it sees the page as a screen reader would. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Objections of axe-core, as "rule: element". */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`document.querySelectorAll('details').forEach((details) => { details.open = true; })`);
  await page.evaluate(axe);
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
}
