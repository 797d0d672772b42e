/** The plan of a launch: which verdict is believed, and what the text of plan and receipt says. */
import { describe, expect, it } from 'vitest';
import { fitReport } from '../../../../lib/models/fit/report.ts';
import { isRefusal, type PlanInput, planOf, verdictFor } from '../../../../lib/run/launch/plan.ts';
import { receiptOf } from '../../../../lib/run/launch/receipt.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { launchPlanLines, launchReceiptLines } from '../../../../lib/show/render/text/launch.ts';
import type { Finding, FindingId, FitReport, Judgement } from '../../../../lib/types/index.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const OPTIONS = { width: 100, cut: 100, paint: createPaint(0), unicode: true, exact: false, hostName: 'spark' };

function fitOf(gib: number): FitReport {
  const bytes = gib * GiB;
  const total = { bytes, low: bytes, high: bytes };
  const need = {
    total,
    terms: [],
    kvBytesPerToken: null,
    peak: total,
    use: null,
    layers: null,
    maxContext: null,
    maxContextSglang: null,
    mtpLayers: null,
    heads: null,
    unknown: null,
  };
  return fitReport({ ...need, terms: [{ name: 'bytes', ...total }] }, snapshotOf(), {
    program: null,
    programVersion: null,
    utilization: null,
    device: null,
  });
}

function finding(id: FindingId, does: 'nothing' | 'refuses'): Finding {
  const remedy = { text: 'umaprobe watch', command: null, needsRoot: false, gains: null };
  const seen = { summary: `What ${id} says.`, cause: null, bytes: null, evidence: [], remedy };
  return { ...seen, id, severity: 'warning', normal: false, effect: { does } };
}

function inputOf(line: string, values: Partial<PlanInput> = {}): PlanInput {
  const command = line.split(' ');
  return {
    command,
    recognised: recognise(command, {}).command,
    machine: snapshotOf(),
    noFit: null,
    fit: fitOf(40),
    expected: null,
    flags: null,
    room: 40 * GiB,
    floor: { bytes: 8 * GiB, from: 'test' },
    prepare: true,
    anyway: false,
    ranks: [],
    record: { folder: '/r', problem: null },
    ...values,
  };
}

describe('the verdict that is believed', () => {
  it.each([
    ['vllm serve m', 40, 'fits'],
    ['vllm serve m', 200, 'no'],
    // Something takes more than was counted: no yes.
    ['vllm serve m --swap-space 4', 40, 'unknown'],
    ['vllm serve m --swap-space 4', 200, 'no'],
    // Something takes less: no no.
    ['sglang serve m --max-total-tokens 4096', 40, 'fits'],
    ['sglang serve m --max-total-tokens 4096', 200, 'unknown'],
    // Not known in which direction: neither.
    ['vllm serve m --frobnicate-cache', 40, 'unknown'],
    ['vllm serve m --frobnicate-cache', 200, 'unknown'],
    // An option that does not look like memory is passed over.
    ['vllm serve m --frobnicate 7', 40, 'fits'],
    ['vllm serve m --frobnicate 7', 200, 'no'],
    ['sleep 10', 40, 'unknown'],
  ])('%s, %d GiB: %s', (line, gib, verdict) => {
    const answer = verdictFor(inputOf(line, { fit: fitOf(gib) }));
    expect(answer.verdict).toBe(verdict);
    if (verdict === 'unknown') expect(answer.summary).toContain('Whether it fits is not known.');
  });

  it('without an answer of fit it is unknown, with the reason', () => {
    const answer = verdictFor(inputOf('vllm serve m', { fit: null, noFit: 'There is no model "m".' }));
    expect(answer).toEqual({ verdict: 'unknown', summary: 'Whether it fits is not known. There is no model "m".' });
  });

  it('is not-now where the machine refuses any load, whatever fits and whatever is known', () => {
    const judgement: Judgement = {
      ...snapshotOf().judgement,
      because: 'Huge pages are reserved.',
      next: 'release them',
      findings: [finding('hugepages', 'nothing'), finding('pressure', 'refuses')],
    };
    const machine = { ...snapshotOf(), judgement };
    for (const fit of [fitOf(40), fitOf(200), null])
      expect(verdictFor(inputOf('sleep 10', { fit, machine }))).toEqual({
        verdict: 'not-now',
        summary: 'What pressure says. What to do: umaprobe watch.',
      });
    const [asked, room] = planOf(inputOf('vllm serve m', { machine })).steps;
    expect([asked?.text, room?.state]).toEqual(['Nothing can be loaded now: it is not started.', 'skipped']);
    const plan = planOf(inputOf('vllm serve m', { machine, anyway: true }));
    expect([plan.judgement, plan.steps[0]?.text, plan.steps[1]?.state]).toEqual([
      judgement,
      'Nothing can be loaded now. It is started all the same.',
      'skipped',
    ]);
    const other = { ...machine, judgement: { ...judgement, findings: [finding('hugepages', 'nothing')] } };
    expect(verdictFor(inputOf('vllm serve m', { machine: other })).verdict).toBe('fits');
  });

  it('refuses a no, and what fits only after steps', () => {
    const refused = (expectedFits: boolean | null) =>
      (['fits', 'tight', 'fits-after', 'no', 'unknown', 'not-now'] as const).filter((verdict) =>
        isRefusal(verdict, { expectedFits }),
      );
    expect(refused(true)).toEqual(['no', 'not-now']);
    expect(refused(false)).toEqual(['tight', 'fits-after', 'no', 'not-now']);
  });

  it('what is expected to fit only after steps waits for room, and is started only if it then fits', () => {
    const fit = { ...fitOf(40), verdict: 'tight', expectedFits: false } as const;
    const [step, made] = planOf(inputOf('vllm serve m', { fit, prepare: true })).steps;
    expect(step?.text).toBe('Its expected size fits after room is made; otherwise nothing is started.');
    expect(made?.state).toBe('planned');
    const unprepared = planOf(inputOf('vllm serve m', { fit, prepare: false })).steps;
    expect(unprepared.map(({ state }) => state)).toEqual(['complete', 'skipped', 'skipped', 'skipped']);
    // As on a GPU with memory of its own.
    const own = planOf(inputOf('vllm serve m', { fit, room: null })).steps;
    expect(own.map(({ text }) => text)).toEqual([
      'Its expected size fits only after steps that launch does not take: it is not started.',
      ...Array(3).fill('Nothing is started.'),
    ]);
    const [forced] = planOf(inputOf('vllm serve m', { fit, room: null, anyway: true })).steps;
    expect(forced?.text).toMatch(/ launch does not take\. It is started all the same\.$/);
  });
});

describe('the steps', () => {
  const statesOf = (values: Partial<PlanInput>, line = 'vllm serve m') =>
    planOf(inputOf(line, values)).steps.map(({ state, step }) => `${step} ${state}`);

  it('all of them', () => {
    expect(statesOf({})).toEqual(['fit complete', 'prepare planned', 'guard planned', 'record planned']);
  });

  it('what is not wanted or not known is skipped', () => {
    expect(statesOf({ prepare: false, record: null })).toEqual([
      'fit complete',
      'prepare skipped',
      'guard planned',
      'record skipped',
    ]);
    expect(statesOf({ fit: null, room: null })).toEqual([
      'fit skipped',
      'prepare skipped',
      'guard planned',
      'record planned',
    ]);
  });

  it('say that nothing is started, or that it is started all the same', () => {
    expect(statesOf({ fit: fitOf(200) })).toEqual([
      'fit complete',
      'prepare skipped',
      'guard skipped',
      'record skipped',
    ]);
    const [refused] = planOf(inputOf('vllm serve m', { fit: fitOf(200) })).steps;
    const [forced] = planOf(inputOf('vllm serve m', { fit: fitOf(200), anyway: true })).steps;
    expect(refused?.text).toBe('It does not fit: it is not started.');
    expect(forced?.text).toBe('It does not fit. It is started all the same.');
  });
});

describe('the text', () => {
  it('of a plan says what was understood, assumed and not understood, and the verdict first', () => {
    const plan = planOf(
      inputOf(
        'docker run --gpus all nvcr.io/nvidia/vllm:26.04-py3 vllm serve org/m --max-model-len 8192 --swap-space 4',
        { machine: { ...snapshotOf(), simulated: 'gb10' } },
      ),
    );
    const lines = launchPlanLines(plan, OPTIONS);
    expect(lines[1]).toMatch(/^UNKNOWN {2}Whether it fits/);
    const text = lines.join('\n');
    expect(text).toContain('SIMULATED  machine gb10');
    expect(text).toContain('program     vLLM, started by docker run');
    expect(text).toContain('model       org/m');
    expect(text).toContain('settings    --max-model-len 8192');
    expect(text).toContain('assumed     Without --gpu-memory-utilization vLLM takes 0.92');
    expect(text).toContain('unclear     --swap-space pins memory of the host.');
    expect(text).toContain('After SIGKILL the container runs on');
    expect(text).toMatch(/UNKNOWN {2}Whether it fits is not known\. Without this it would fit:/);
    expect(text).toContain('complete fit');
    expect(text).toContain('planned  guard    Stop it before less than 8.0 GiB are available: test.');
  });

  it('control characters of a command line do not reach the terminal', () => {
    const command = ['vllm', 'serve', 'evil\u001b[2J\nmodel'];
    const input = { ...inputOf('x'), command, recognised: recognise(command, {}).command };
    expect(launchPlanLines(planOf(input), OPTIONS).join('\n')).not.toContain('\u001b');
  });

  it('of a receipt names each part once', () => {
    const readings = Array.from({ length: 60 }, (_, tick) => ({
      at: new Date(1_700_000_000_000 + tick * 100).toISOString(),
      available: 5 * GiB,
      free: 5 * GiB,
    }));
    const receipt = receiptOf({
      before: { available: 100 * GiB, free: 50 * GiB },
      readings,
      loadedAt: null,
      lowest: 5 * GiB,
      after: { available: 99 * GiB, free: 98 * GiB },
      total: 119 * GiB,
      floor: { bytes: 8 * GiB, from: 'test' },
      own: { bytes: GiB, gpuBytes: 90 * GiB },
      expected: null,
      command: recognise(['vllm', 'serve', 'm'], {}).command,
      isStopped: false,
      gpus: { gpus: [], gpuProblem: null },
      planned: null,
    });
    const report = { outcome: 'exited', record: null, simulated: null, summary: 'It ended with exit code 0.' } as const;
    const [first, ...rest] = launchReceiptLines(report, receipt, OPTIONS);
    expect(first).toMatch(/^ENDED {2}It ended with exit code 0\. It took at most 95\.00 GiB .* 3\.0 GiB below/);
    const text = rest.join('\n');
    expect(text).toContain('before      100.00 GiB');
    expect(text).toContain('peak        95.00 GiB');
    expect(text).toContain('plateau     95.00 GiB');
    expect(text).toContain('its own     at most 1.00 GiB (1.07 GB) of the host, 90.00 GiB (96.64 GB) of the GPU');
    expect(text).toContain('headroom    3.00 GiB (3.22 GB) below the floor of 8.0 GiB');
    expect(text).toContain('(+94.0 GiB); 1.0 GiB less than before');
    expect(text).toMatch(/^ +--gpu-memory-utilization 0\.89$/m);
    expect(text).not.toContain('weights');
  });
});
