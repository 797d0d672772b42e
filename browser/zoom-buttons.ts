/** Buttons that zoom without a pointer, and the span that is shown. */
import type { Span, Zoom } from './zoom.ts';

export function zoomButtons(zoom: Zoom, nameOf: (span: Span) => string): HTMLElement {
  const row = document.createElement('p');
  row.className = 'zoom';
  const button = (text: string, act: () => void): HTMLButtonElement => {
    const element = document.createElement('button');
    element.type = 'button';
    element.textContent = text;
    element.addEventListener('click', act);
    return element;
  };
  const move = (share: number): void => {
    const { from, to } = zoom.span();
    const by = (to - from) * share;
    zoom.show({ from: from + by, to: to + by });
  };
  const shown = document.createElement('span');
  shown.setAttribute('role', 'status');
  const tell = (): void => {
    shown.textContent = nameOf(zoom.span());
  };
  zoom.onChange(tell);
  tell();
  row.append(
    button('Zoom in', () => zoom.scale(0.5)),
    button('Zoom out', () => zoom.scale(2)),
    button('Earlier', () => move(-0.5)),
    button('Later', () => move(0.5)),
    button('All', () => zoom.show(zoom.whole)),
    shown,
  );
  return row;
}
