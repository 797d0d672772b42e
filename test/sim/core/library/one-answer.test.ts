/**
 * One answer everywhere: on every machine that is shipped with unified memory, what `snapshot` calls safe is what stress
 * reaches, prepare grants and doctor names, and a program that takes it leaves the host its floor. All *simulated*.
 */
import { describe, expect, it } from 'vitest';
import { machines } from '../../../../lib/sim.ts';
import type {
  DeviceSnapshot,
  DoctorReport,
  Finding,
  PrepareReport,
  Snapshot,
  StressReport,
} from '../../../../lib/types/index.ts';
import { runWithBinary } from '../../../support/binary-on-machine.ts';
import { withFastMachine } from '../../../support/machines.ts';
import { evaluateOnMachine } from '../../../support/package-on-machine.ts';
import { GiB } from '../../../support/units.ts';

/** The largest step of stress. */
const CHUNK = 4 * GiB;

interface Answers {
  snapshot: Snapshot;
  doctor: DoctorReport;
  granted: PrepareReport;
  refused: PrepareReport;
  stress: StressReport | { thrown: { code: string; message: string } };
}

const answersOn = (machine: string): Promise<Answers> =>
  evaluateOnMachine(
    machine,
    `const { doctor, prepare, snapshot, stress } = umaprobe;
     const seen = await snapshot({ memGetInfo: 'never', deadlineMs: 5000 });
     const bytes = seen.devices[0].allocatable.safe;
     return {
       snapshot: seen,
       doctor: await doctor({ skip: ['library.*'] }),
       granted: await prepare({ bytes: Math.max(1, bytes), dryRun: true }),
       refused: await prepare({ bytes: bytes + 1024 ** 2, dryRun: true }),
       stress: await stress({ journal: false }).catch(caught),
     };`,
  );

const safeOf = ({ devices }: Snapshot): number => devices[0]?.allocatable.safe as number;

/** Machines on which CUDA works and shares the host's memory, and why stress refuses to start on some. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'gb10-resting': /MemAvailable is 4\.90 GiB .* too little memory to test with/,
};
const WITHOUT_CUDA = ['gb10-no-context', 'gb10-cuda-hang', 'no-driver', 'gb10-hang'];
const OWN_MEMORY = ['gh200', 'h200', 'h200-lost', 'rtx3060-fallback'];
const UNIFIED = machines()
  .map(({ name }) => name)
  .filter((name) => ![...WITHOUT_CUDA, ...OWN_MEMORY].includes(name));

describe('what can be loaded (simulated)', () => {
  it('is asked of every machine with unified memory', () => expect(UNIFIED.length).toBeGreaterThanOrEqual(12));

  it.each(UNIFIED)(
    '%s: the answer of snapshot is that of stress, prepare and doctor, and keeps the floor',
    async (machine) => {
      const { doctor, granted, refused, snapshot, stress } = await answersOn(machine);
      const safe = safeOf(snapshot);
      expect(snapshot.devices[0]?.memoryModel).toBe('unified');
      expect(snapshot.devices[0]?.from['allocatable.safe']).toBeDefined();
      // A row says the same in both, and nowhere is one worse.
      const applies = doctor.checks.filter(({ status }) => status !== 'pass' && status !== 'unknown');
      const { findings, safe: range } = snapshot.judgement;
      expect(applies.map(({ id }) => id).sort()).toEqual(
        findings
          .map(({ id }) => id)
          .filter((id) => !id.startsWith('library.'))
          .sort(),
      );
      for (const { id, remedy, summary } of applies)
        expect({ remedy, summary }).toEqual(pick(findings.find((finding) => finding.id === id)));
      expect(range.bytes).toBe(safe);
      if (!(machine in REFUSED)) expect(granted.verdict).toMatch(/^(enough|planned|after-reclaim)$/);
      expect(refused.verdict).toBe('not-enough');
      if ('thrown' in stress) {
        expect(stress.thrown).toMatchObject({
          code: 'ERR_UMA_FLOOR',
          message: expect.stringMatching(REFUSED[machine] as RegExp),
        });
        expect(safe).toBe(0);
        expect(snapshot.judgement).toMatchObject({ mayLoad: 'not-now', level: expect.not.stringMatching('ok') });
      } else {
        expect(stress.state).toMatch(/^(floor|contiguity)$/);
        expect(Math.abs(stress.maxBytes - safe)).toBeLessThan(CHUNK);
        expect(stress.maxBytes).toBeGreaterThan(0.9 * safe);
      }
      // A program that takes exactly that leaves the host its floor.
      await withFastMachine(machine, async (simulation) => {
        if (safe > 0) {
          const program = `await b.allocOpen(0, 10000);
          const { block, failed } = await b.allocBlock('device', ${safe}, 60000);
          if (failed) throw new Error('refused'); await b.touchBlock(block, 1, 60000); print(block);`;
          expect((await runWithBinary(program, simulation.env)).stderr).toBe('');
        }
        const { peak, wedged } = simulation.record() as unknown as { peak: { leastAvailable: number }; wedged: null };
        expect(wedged).toBeNull();
        const floor = floorOf(snapshot);
        if (safe > 0) expect(peak.leastAvailable).toBeGreaterThanOrEqual(floor);
      });
    },
  );

  it.each(OWN_MEMORY.filter((name) => name !== 'h200-lost'))('%s: what is free on the device', async (machine) => {
    const [device] = await evaluateOnMachine<DeviceSnapshot[]>(
      machine,
      `return (await umaprobe.snapshot({ memGetInfo: 'inProcess' })).devices;`,
    );
    expect(device?.allocatable.safe).toBe(device?.allocatable.immediate);
    expect(device?.from['allocatable.safe']).toMatch(/^immediate/);
  });
});

const pick = (finding: Finding | undefined) => ({ remedy: finding?.remedy, summary: finding?.summary });

/** The floor by its definition, and not by the code that is tested: 7 % of MemTotal, or 8 GiB, or a quarter. */
function floorOf({ host: { total } }: Snapshot): number {
  return Math.min(Math.max(8 * GiB, 0.07 * total), Math.max(2 * GiB, total / 4));
}
