/**
 * The steps of a probe as CSV (RFC 4180), one row per step. Column names are stable and carry their unit; an empty field
 * is an unknown number, never 0. Machine, device and driver are repeated in every row, so that files can be joined.
 */
import { printable } from '../../base/format.ts';
import type {
  CountersMoved,
  LayoutReport,
  ProbeHeader,
  ProfileReport,
  RecordReport,
  StressReport,
  StressStep,
  SweepReport,
  SweepStep,
  Times,
} from '../../types/index.ts';
import { COUNTERS } from './counters.ts';

type Cell = string | number | null;
type Columns<Row> = readonly (readonly [name: string, value: (row: Row) => Cell])[];

export function sweepCsv(report: SweepReport): string {
  return csv(
    [
      ...origin<SweepStep>(report),
      ['kind', (step) => step.kind],
      ['requested_bytes', (step) => step.requestedBytes],
      ['dtype', (step) => step.tensor?.dtype ?? null],
      ['shape', (step) => step.tensor?.shape?.join('x') ?? null],
      ['elements', (step) => step.tensor?.elements ?? null],
      ['state', (step) => step.state],
      ['reason', (step) => step.reason],
      ['repeats', (step) => step.repeats],
      ...times<SweepStep>('alloc', (step) => step.allocMs),
      ...times<SweepStep>('first_touch', (step) => step.firstTouchMs),
      ...times<SweepStep>('second_touch', (step) => step.secondTouchMs),
      ...times<SweepStep>('free', (step) => step.freeMs),
      ['first_touch_gb_per_s', (step) => step.firstTouchGbPerSecond],
      ['second_touch_gb_per_s', (step) => step.gbPerSecond],
      ['overhead_ms', (step) => step.overheadMs],
      ...moved<SweepStep>((step) => step.moved),
    ],
    report.steps,
  );
}

export function stressCsv(report: StressReport): string {
  const rows = report.steps.map((step, index) => ({ ...step, number: index + 1 }));
  return csv<StressStep & { number: number }>(
    [
      ...origin<StressStep>(report),
      ['kind', () => report.kind],
      ['mode', () => report.mode],
      ['step', (step) => step.number],
      ['requested_bytes', (step) => step.requestedBytes],
      ['held_bytes', (step) => step.heldBytes],
      ['predicted_cost_bytes', (step) => step.predictedCost],
      ['cost_bytes', (step) => step.cost],
      ['state', (step) => step.state],
      ['reason', (step) => step.reason],
      ['alloc_ms', (step) => step.allocMs],
      ['touch_ms', (step) => step.touchMs],
      ['verify_ms', (step) => step.verifyMs],
      ['mem_available_bytes', (step) => step.memAvailable],
      ['floor_bytes', () => report.floor?.bytes ?? null],
      ['pressure_full_percent', (step) => step.pressureFull],
    ],
    rows,
  );
}

export function layoutCsv(report: LayoutReport): string {
  return csv(
    [
      ...origin<LayoutReport['parts'][number]>(report),
      ['kind', () => report.kind],
      ['part', (part) => part.name],
      ['requested_bytes', (part) => part.expectedBytes],
      ['state', (part) => part.state],
      ['reason', (part) => part.reason],
      ['alloc_ms', (part) => part.allocMs],
      ['first_touch_ms', (part) => part.firstTouchMs],
    ],
    report.parts,
  );
}

function origin<Row>({ at, simulated, device }: ProbeHeader): Columns<Row> {
  return [
    ['at', () => at],
    ['simulated', () => simulated],
    ['device', () => device.name],
    ['device_uuid', () => device.uuid],
    ['driver_version', () => device.driverVersion],
  ];
}

function times<Row>(name: string, of: (row: Row) => Times | null): Columns<Row> {
  return (['min', 'median', 'max'] as const).map((which) => [
    `${name}_${which}_ms`,
    (row: Row) => of(row)?.[which] ?? null,
  ]);
}

function moved<Row>(of: (row: Row) => CountersMoved | null): Columns<Row> {
  const moments = ['afterAlloc', 'afterTouch', 'afterFree'] as const;
  return COUNTERS.flatMap(([counter]) =>
    moments.map((moment) => {
      const name = `${counter}_${moment}`.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return [`moved_${name}_bytes`, (row: Row) => of(row)?.[counter][moment] ?? null] as const;
    }),
  );
}

/**
 * A name from outside as the text that it is. A spreadsheet would run one that begins like a formula; the apostrophe
 * says that it is text. Numbers are written as they are.
 */
function plain(text: string): string {
  const line = printable(text);
  return /^\s*[=+\-@＝＋－＠]/.test(line) ? `'${line}` : line;
}

/** RFC 4180: CRLF, and quotes where a field has a comma or a quote. */
export function csv<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const lines = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, value]) => field(value(row))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function field(cell: Cell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' ? plain(cell) : String(cell);
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The series of a recording, session after session. */
export function recordCsv({ sessions }: RecordReport): string {
  const rows = sessions.flatMap(({ id, series, simulated }) => series.map((point) => ({ id, simulated, ...point })));
  return csv<(typeof rows)[number]>(
    [
      ['session', ({ id }) => id],
      ['simulated', ({ simulated }) => simulated],
      ['at', ({ at }) => at],
      ['span_ms', ({ spanMs }) => spanMs],
      ['mem_free_bytes', ({ free }) => free],
      ['lowest_mem_free_bytes', ({ lowestFree }) => lowestFree],
      ['mem_available_bytes', ({ available }) => available],
      ['lowest_mem_available_bytes', ({ lowestAvailable }) => lowestAvailable],
      ['swap_used_bytes', ({ swapUsed }) => swapUsed],
      ['some_percent', ({ somePercent }) => somePercent],
      ['full_percent', ({ fullPercent }) => fullPercent],
    ],
    rows,
  );
}

/** The trials of a profile: a column for each parameter, and sizes in GB beside the exact bytes. */
export function profileCsv({ bootId, limit, parameters, simulated, trials }: ProfileReport): string {
  const inGB = (bytes: number | null): string | null => (bytes === null ? null : (bytes / 1e9).toFixed(2));
  return csv<ProfileReport['trials'][number]>(
    [
      ['trial', ({ number }) => number],
      ['at', ({ startedAt }) => startedAt],
      ['simulated', () => simulated],
      ['boot_id', () => bootId],
      ...parameters.map(
        ({ name }) => [name, ({ params }) => params[name] ?? null] as Columns<(typeof trials)[number]>[0],
      ),
      ['peak_mem_gb', ({ peakBytes }) => inGB(peakBytes)],
      ['headroom', ({ headroomBytes }) => inGB(headroomBytes)],
      ['status', ({ status }) => status],
      ['notes', ({ notes }) => notes],
      ['peak_bytes', ({ peakBytes }) => peakBytes],
      ['headroom_bytes', ({ headroomBytes }) => headroomBytes],
      ['limit_bytes', () => limit.bytes],
      ['predicted_bytes', ({ predictedBytes }) => predictedBytes],
      ['predicted_low_bytes', ({ prediction }) => prediction?.low ?? null],
      ['predicted_high_bytes', ({ prediction }) => prediction?.high ?? null],
      ['prediction_model', ({ prediction }) => prediction?.model ?? null],
      ['group_bytes', ({ groupBytes }) => groupBytes],
      ['group_gpu_bytes', ({ groupGpuBytes }) => groupGpuBytes],
      ['start_bytes', ({ phases }) => phases.start],
      ['plateau_bytes', ({ phases }) => phases.plateau],
      ['after_bytes', ({ phases }) => phases.after],
      ['metric', ({ metric }) => metric],
      ['exit_code', ({ exitCode }) => exitCode],
      ['signal', ({ signal }) => signal],
      ['duration_ms', ({ durationMs }) => durationMs],
    ],
    trials,
  );
}
