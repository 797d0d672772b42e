/**
 * A report as one file that opens offline, even years later: script, style and data are in it, and its policy forbids
 * it to load or to send anything.
 */
import { createHash } from 'node:crypto';
import { KIND_STYLES, PALETTE } from '../kinds.ts';
import { type Content, html, jsonInScript, Markup } from './markup.ts';

/** Parts of a page besides its report: browser/ as it was built, and the version that wrote the page. */
export interface Assets {
  script: string;
  style: string;
  version: string;
}

export interface PageContent {
  /** "Allocation sweep". */
  title: string;
  /** Subject of the page: the name of the GPU, of the model. */
  heading: string;
  /** Name of the simulated machine; null on real hardware. */
  simulated: string | null;
  /** A line below the heading; null is left out. */
  facts: readonly (string | null)[];
  /** Notes to read before everything else. */
  notices?: readonly Content[];
  /** Sections in the order of the page. */
  sections: readonly (Markup | null)[];
  /** True: the page asks its own server for news. */
  live?: boolean;
}

/**
 * Only this script and this style may run, by their digests, and nothing is loaded.
 *
 * @param live true: the page asks its own server.
 */
export function policyOf({ script, style }: Pick<Assets, 'script' | 'style'>, live: boolean): string {
  return [
    "default-src 'none'",
    `script-src '${sha256(script)}'`,
    `style-src '${sha256(styleOf(style))}'`,
    ...(live ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** The whole style of a page. */
function styleOf(style: string): string {
  return `${kindRules()}\n${style}`;
}

/**
 * @param report the document that the page carries, and that its button saves.
 * @param data further data of the charts, each by the id of its element.
 */
export function page(
  report: { schema: string },
  { title, heading, simulated, facts, notices = [], sections, live = false }: PageContent,
  assets: Assets,
  data: Readonly<Record<string, object>> = {},
): string {
  const windowTitle = `${heading}: ${title.toLowerCase()}${simulated === null ? '' : ' (simulated)'}`;
  const promise = live
    ? 'This page asks only the server that it came from.'
    : 'This page loads nothing and sends nothing.';
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(assets, live)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="umaprobe ${assets.version}">
<title>${windowTitle}</title>
<style>${new Markup(styleOf(assets.style))}</style>
</head>
<body>
${simulated === null ? null : html`<div class="band" role="region" aria-label="Simulated machine">SIMULATED · machine ${simulated}: none of these numbers comes from hardware</div>`}
<header>
<p class="eyebrow">umaprobe · ${title}</p>
<h1>${heading}</h1>
<p class="facts">${facts.filter((fact) => fact !== null).join(' · ')}</p>
${notices.map((notice) => html`<p class="notice">${notice}</p>`)}
</header>
<main>
${sections.filter((section) => section !== null)}
</main>
<footer>Made by umaprobe ${assets.version}. ${promise} Charts: uPlot, © 2022 Leon Sorokin, MIT licence (see this page's script).</footer>
${script(' type="application/json" id="report"', jsonInScript(report))}
${Object.entries(data).map(([id, value]) => script(` type="application/json" id="${id}"`, jsonInScript(value)))}
${script('', new Markup(assets.script))}
</body>
</html>
`;
  return document.text;
}

/** Each kind has one accent. Only a screen has a dark scheme: paper is light. */
function kindRules(): string {
  const colours = (ground: 'light' | 'dark'): string =>
    KIND_STYLES.map((style) => `--${style}: ${PALETTE[style][ground]};`).join(' ');
  return [
    `:root { ${colours('light')} }`,
    `@media screen and (prefers-color-scheme: dark) { :root { ${colours('dark')} } }`,
    ...KIND_STYLES.map((style) => `.${style} { --accent: var(--${style}); }`),
  ].join('\n');
}

/** No tagged template: a bundler rewrites the end of a script element in it, to keep its output embeddable. */
function script(attributes: string, content: Markup): Markup {
  return new Markup(`<script${attributes}>${content.text}</script>`);
}

/** "2026-11-20 18:00:00 UTC". */
export function timeText(at: string): string {
  return `${at.slice(0, 19).replace('T', ' ')} UTC`;
}

function sha256(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
