/** In what hosts differ, and in what they do not. */
import { describe, expect, it } from 'vitest';
import { differencesOf } from '../../../../lib/core/memory/differences.ts';
import type { Reading } from '../../../../lib/types/index.ts';
import { changed, readingOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const spark = (change: (reading: Reading) => void = () => undefined): Reading => {
  const reading = readingOf();
  change(reading);
  return reading;
};
const hosts = (...readings: Reading[]) =>
  differencesOf(readings.map((snapshot, index) => ({ host: `spark-${index + 1}`, snapshot })));

describe('differences of hosts', () => {
  it('are none between equal ones, of one host, and of none', () => {
    expect(hosts(spark(), spark())).toEqual([]);
    expect(hosts(spark())).toEqual([]);
    expect(hosts()).toEqual([]);
  });

  it('name the value of each host, and those that share one together', () => {
    const newer = spark((reading) => {
      reading.kernel.release = '7.0.0-1019-nvidia';
    });
    const [kernel, ...others] = hosts(
      spark((reading) => {
        reading.kernel.release = '6.17.0';
      }),
      newer,
      newer,
      newer,
    );
    expect(others).toEqual([]);
    expect(kernel).toEqual({
      id: 'kernel',
      summary: 'The hosts differ: kernel 6.17.0 on spark-1, 7.0.0-1019-nvidia on spark-2, spark-3 and spark-4.',
      values: [
        { host: 'spark-1', value: '6.17.0' },
        { host: 'spark-2', value: '7.0.0-1019-nvidia' },
        { host: 'spark-3', value: '7.0.0-1019-nvidia' },
        { host: 'spark-4', value: '7.0.0-1019-nvidia' },
      ],
    });
  });

  it.each([
    [
      'driver',
      (reading: Reading) => {
        reading.driver.version = '590.48.01';
      },
      /driver .*590\.48\.01 on spark-2/,
    ],
    [
      'memory',
      (reading: Reading) => {
        reading.host.total = 62 * GiB;
      },
      /MemTotal 119\.7 GiB on spark-1, 62\.0 GiB on/,
    ],
    [
      'page-size',
      (reading: Reading) => {
        reading.contiguity = [{ order: 0, blockBytes: 65_536, freeBlocks: 1, movableBlocks: null }];
      },
      /pages of 4\.0 KiB on spark-1, 64\.0 KiB on/,
    ],
    [
      'gpus',
      (reading: Reading) => {
        reading.devices = [...reading.devices, ...reading.devices];
      },
      /GPUs 1 × .*2 × /,
    ],
  ] as const)('%s', (id, change, says) => {
    const found = hosts(spark(), spark(change));
    expect(found.map((difference) => difference.id)).toEqual([id]);
    expect(found[0]?.summary).toMatch(says);
  });

  it('are not what firmware reserves: 125.5 and 127.6 million kB were read on Sparks', () => {
    const with125 = spark((reading) => {
      reading.host.total = 125_500_000 * 1024;
    });
    const with127 = spark((reading) => {
      reading.host.total = 127_600_748 * 1024;
    });
    expect(hosts(with125, with127)).toEqual([]);
  });

  it('are not what is unknown, which stays unknown', () => {
    const unknown = spark((reading) => {
      reading.kernel.release = null;
      reading.contiguity = null;
      reading.driver.version = null;
      reading.libraries.nvml.driverVersion = null;
      reading.devices = [];
      reading.libraries.nvml.state = 'timeout';
      reading.libraries.cuda.state = 'timeout';
    });
    expect(hosts(spark(), unknown)).toEqual([]);
    const other = spark((reading) => {
      reading.kernel.release = '7.0.0';
    });
    expect(hosts(spark(), unknown, other)).toMatchObject([
      { id: 'kernel', values: [{}, { host: 'spark-2', value: null }, { value: '7.0.0' }] },
    ]);
  });

  it('bring nothing of a remote text to a terminal', () => {
    const nasty = spark((reading) => {
      reading.kernel.release = '\u001b[31mred\u0007';
    });
    expect(JSON.stringify(hosts(spark(), nasty))).not.toMatch(/\\u001b|\\u0007/);
  });

  it('of a snapshot as it was judged are the same', () => {
    const judged = changed((reading) => {
      reading.kernel.release = '7.0.0';
    });
    expect(hosts(spark(), judged)).toHaveLength(1);
  });
});
