/** Checks of other programs on this machine: whose own rules misfire here. */

import { capitalized, formatBytes } from '../base/format.ts';
import { type ForeignRule, foreignRules } from '../memory/foreign-rules.ts';
import { unifiedDevice } from '../memory/headroom.ts';
import { type Check, pass, skip, warn } from './check.ts';

export const toolChecks: readonly Check[] = [
  {
    id: 'tools.thresholds',
    title: 'Rules of other programs',
    needs: ['cuda'],
    async run({ processNames, snapshot }) {
      const { available, total } = snapshot.host;
      const rules = foreignRules(snapshot.host);
      if (unifiedDevice(snapshot) === undefined)
        return skip(
          'Only on a GPU that shares the host’s memory do the rules of other programs misfire.',
          'no unified device',
        );
      if (rules === null) return skip('MemAvailable is not known.', snapshot.from['host.available'] ?? '/proc/meminfo');
      const running = await processNames();
      const runs = ({ process }: ForeignRule): boolean => process !== null && running?.has(process) === true;
      const evidence =
        `${formatBytes(available)} of ${formatBytes(total)} available; ` +
        `${rules.map(({ name, text }) => `${name} ${text}`).join('; ')}; ${runningText(rules.filter(runs), running)}`;
      const acting = rules.filter(({ actsNow }) => actsNow);
      const misfiring = acting.filter(runs);
      if (misfiring.length > 0)
        return warn(
          `${misfiring.map((rule) => ruleText(rule, available)).join(' ')} CUDA memory is in no process’s resident set, so the kill frees little of it.`,
          evidence,
          `${misfiring.map(({ remedy }) => capitalized(remedy)).join('. ')}.`,
        );
      if (acting.length === 0) return pass('No known rule of another program would act now.', evidence);
      return pass(
        `${capitalized(acting.map(({ name, text }) => `${name} ${text}`).join('; '))}: ${formatBytes(available)} are. None of these programs is seen running here.`,
        evidence,
      );
    },
  },
];

/** "Ray’s memory monitor kills workers below 6.0 GiB available: 4.9 GiB are." */
function ruleText({ name, text }: ForeignRule, available: number | null): string {
  return `${capitalized(name)} ${text}: ${formatBytes(available)} are.`;
}

function runningText(running: readonly ForeignRule[], known: ReadonlySet<string> | null): string {
  if (known === null) return 'which programs run cannot be read';
  return running.length === 0
    ? 'none of them is seen here'
    : `running: ${running.map(({ process }) => process).join(', ')}`;
}
