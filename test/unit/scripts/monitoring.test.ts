/** The dashboard and the pod of monitoring/: they name what there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { METRIC_NAMES } from '../../../lib/show/render/metrics.ts';
import { ROOT } from '../../support/root.ts';

/** Of node_exporter, which umaprobe does not repeat. */
const OF_NODE_EXPORTER = [
  'node_memory_MemAvailable_bytes',
  'node_memory_MemTotal_bytes',
  'node_pressure_memory_stalled_seconds_total',
];
const KNOWN = [...METRIC_NAMES, ...OF_NODE_EXPORTER];

interface Panel {
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string }[];
}
const read = (name: string): string => readFileSync(join(ROOT, 'monitoring', name), 'utf8');
const { panels, templating } = JSON.parse(read('umaprobe.dashboard.json')) as {
  panels: Panel[];
  templating: { list: { name: string; query: string | { query: string } }[] };
};
const namesIn = (text: string): string[] => [...new Set(text.match(/\b(?:umaprobe|node)_\w+/g) ?? [])];

describe('the dashboard', () => {
  it.each(panels.map((panel) => [panel.title, panel] as const))('%s asks for metrics that there are', (_, panel) => {
    const names = panel.targets.flatMap(({ expr }) => namesIn(expr));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !KNOWN.includes(name))).toEqual([]);
  });

  it('asks of the chosen machines only, by variables that there are', () => {
    const known = templating.list.map(({ name }) => name);
    for (const { expr } of panels.flatMap(({ targets }) => targets)) {
      expect(expr).toContain('instance=~"($host)(:.*)?"');
      for (const [, variable] of expr.matchAll(/\$(\w+)/g)) expect([...known, '__rate_interval']).toContain(variable);
    }
    for (const { query } of templating.list)
      if (typeof query !== 'string') expect(namesIn(query.query).every((name) => KNOWN.includes(name))).toBe(true);
  });

  it('has no panel upon another', () => {
    for (const [index, { gridPos: a }] of panels.entries()) {
      expect(a.x + a.w).toBeLessThanOrEqual(24);
      for (const { gridPos: b } of panels.slice(index + 1))
        expect(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y).toBe(true);
    }
  });
});

describe('the alerts', () => {
  it('ask for metrics that there are', () => {
    const expressions = [...read('umaprobe.rules.yml').matchAll(/expr: (\|\n(?: {10}.*\n)+|.*)/g)].map(
      ([, text]) => text,
    );
    expect(expressions.length).toBeGreaterThan(6);
    expect(namesIn(expressions.join('\n')).filter((name) => !KNOWN.includes(name))).toEqual([]);
  });
});
