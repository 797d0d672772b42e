/** The legend below a chart: each line with its dash and mark, and the values under the cursor. */
import { type ChartSpec, type Line, valueText } from './lines.ts';

const SVG = 'http://www.w3.org/2000/svg';

/** The marks of marks.ts as SVG, around 17, 6. */
const SHAPES = [
  'M20 6a3 3 0 1 1-6 0a3 3 0 1 1 6 0z',
  'M14.3 3.3h5.4v5.4h-5.4z',
  'M17 2l4 4l-4 4l-4-4z',
  'M17 2.4l3.6 6.6h-7.2z',
];

export interface Legend {
  element: HTMLElement;
  /** Shows the values at this place of the x axis; null: none. */
  show(index: number | null): void;
}

export function createLegend(spec: ChartSpec): Legend {
  const element = document.createElement('div');
  element.className = 'legend';
  const place = document.createElement('p');
  const list = document.createElement('ul');
  const values = spec.lines.map((line, index) => {
    const item = document.createElement('li');
    const value = document.createElement('b');
    item.append(sample(line, index, spec.time === undefined && line.bare !== true), line.name, ' ', value);
    list.append(item);
    return value;
  });
  for (const text of notes(spec)) {
    const item = document.createElement('li');
    item.className = 'soft';
    item.textContent = text;
    list.append(item);
  }
  element.append(place, list);
  const show = (index: number | null): void => {
    place.textContent = index === null ? 'Values: point at the chart, or use ← and →' : spec.xText(spec.xs[index] ?? 0);
    place.classList.toggle('soft', index === null);
    for (const [line, value] of values.entries())
      value.textContent = index === null ? '' : valueText(spec.lines[line] as Line, index, spec.unit);
  };
  show(null);
  return { element, show };
}

/** Meaning of the marks that belong to no line. */
function notes({ lines, notes: own = [] }: ChartSpec): string[] {
  const hasSpread = lines.some(({ spread = [] }) => spread.some((ends) => ends !== null));
  const hasFailed = lines.some(({ failed = [] }) => failed.some((state) => state !== null));
  return [...(hasSpread ? ['I fastest to slowest repeat'] : []), ...(hasFailed ? ['✕ no result'] : []), ...own];
}

/** A piece of the line, as it is drawn in the chart. */
function sample({ colour, dash }: Line, index: number, hasMark: boolean): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 34 12');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SVG, 'path');
  line.setAttribute('d', 'M0 6h34');
  line.setAttribute('stroke-dasharray', dash.join(' '));
  svg.append(line);
  if (hasMark) {
    const mark = document.createElementNS(SVG, 'path');
    mark.setAttribute('d', SHAPES[index % SHAPES.length] ?? '');
    mark.setAttribute('class', 'mark');
    svg.append(mark);
  }
  svg.style.stroke = `var(--${colour})`;
  return svg;
}
