import { SOME_BYTES } from '../../base/limits.ts';
import { bytes } from '../../base/options.ts';
import { clusterCheck } from '../../run/cluster/index.ts';
import { clusterCheckPage } from '../../show/render/text/cluster.ts';
import type { ClusterCheck, FitNeed } from '../../types/index.ts';
import { type Command, type Context, finished, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { readFromHub } from '../core/hub-model.ts';
import { flag, isGiven } from '../core/options.ts';
import { EXACT } from '../core/reading-options.ts';
import { optionTable, ownOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { HOSTS_ARGUMENTS, MACHINE_OPTIONS, machinesOf, unlessInterrupted } from './cluster-shared.ts';
import { checkSizeAlone, estimateOptions, MODEL_OPTIONS, modelOf } from './estimate.ts';
import { fitOptionsOf, PROGRAM_OPTIONS } from './fit.ts';

const NAME = 'cluster check';

const OWN = {
  needBytes: bytes({ ...SOME_BYTES, help: 'A size for each machine instead of a model' }),
  model: typedText((model) => model, {
    placeholder: '<model>',
    help: 'The model, as of fit: a folder, a file, a name in a store',
  }),
};

export const clusterCheckCommand: Command = {
  name: NAME,
  usage: '--need <size> --hosts <host,host> [options]',
  description:
    'Asks the machines as cluster does, and fit for each of them: whether a rank fits there. The weakest decides, and each machine that is short has its cause and what to do. ' +
    'A machine that is missing, late, old, of another version or counted twice is never a yes.\n' +
    'With --tensor-parallel or --pipeline-parallel the need is that of one rank, one on each machine; without them each machine holds the whole model.\n' +
    'Exit code: 0 it fits into all, 1 it does not, 3 a machine gave no usable answer or has no GPU.',
  options: {
    ...optionTable(OWN, MACHINE_OPTIONS),
    ...PROGRAM_OPTIONS,
    ...optionTable(EXACT),
    ...MODEL_OPTIONS,
  },
  examples: [
    { command: 'umaprobe cluster check --need 96GiB --hosts spark-1,spark-2', means: 'is there room on both?' },
    {
      command: 'umaprobe cluster check --model hf:org/name --for vllm --tensor-parallel 2 --hosts spark-1,spark-2',
      means: 'before it is downloaded',
    },
    {
      command: 'srun --label umaprobe snapshot --json | umaprobe cluster check --need 96GiB -',
      means: 'in a job, before the program starts',
    },
  ],
  readsMachine: false,
  arguments: HOSTS_ARGUMENTS,
  async run(context) {
    const machines = machinesOf(context, NAME);
    const { values } = context;
    const [need, fitting] = [await needOf(context), fitOptionsOf(values, NAME)];
    const document = await unlessInterrupted(context, machines, (asked) =>
      clusterCheck({ ...asked, ...need, ...fitting }),
    );
    if (typeof document === 'number') return finished(document);
    return shown(document, clusterCheckPage, exitCodeOf(document), { exact: flag(values, 'exact') });
  },
};

async function needOf(context: Context): Promise<FitNeed> {
  const { values } = context;
  const { model, needBytes } = ownOptions(values, OWN, NAME);
  const hasParams = isGiven(values, 'params');
  const second = model === undefined ? (hasParams ? '--params' : null) : '--model';
  if (needBytes !== undefined && second !== null)
    throw new UsageError(`--need and ${second} both say what is loaded: give one.`);
  if (needBytes !== undefined) {
    checkSizeAlone('--need', values);
    return { bytes: needBytes };
  }
  if (second === null)
    throw new UsageError('What shall fit into each machine? Give --need 96GiB, --model or --params 70e9.');
  const named = await readFromHub(modelOf(values, model === undefined ? [] : [model], NAME), context);
  return { model: named, use: estimateOptions(values, NAME) };
}

function exitCodeOf({ complete, ranks, verdict }: ClusterCheck): number {
  if (!complete || ranks.some(({ fit }) => fit?.device === null)) return EXIT.noGpu;
  return verdict === 'fits' ? EXIT.success : EXIT.negative;
}
