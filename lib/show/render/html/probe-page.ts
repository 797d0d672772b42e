/** The frame of the pages of sweep, layout and stress: the GPU, the time, and the notes of the journal. */
import type { ProbeHeader } from '../../../types/index.ts';
import { html } from './markup.ts';
import { type Assets, type PageContent, page, timeText } from './page.ts';

export function probePage(
  report: ProbeHeader & { schema: string },
  content: Pick<PageContent, 'title' | 'sections'>,
  assets: Assets,
): string {
  const { at, device, journalNotes, simulated, unfinished } = report;
  const facts = [
    device.memoryModel === 'unified' ? 'unified memory' : `${device.memoryModel} memory`,
    device.driverVersion === null ? null : `driver ${device.driverVersion}`,
    device.cudaVersion === null ? null : `CUDA ${device.cudaVersion}`,
    timeText(at),
  ];
  const earlier =
    unfinished === null ? [] : [html`<strong>An earlier run did not finish.</strong> ${unfinished.sentence}`];
  const notices = [...journalNotes, ...earlier];
  return page(report, { ...content, heading: device.name ?? 'unnamed GPU', simulated, facts, notices }, assets);
}
