/** What a status of CUDA or NVML means: a cause and a remedy. The rows of the table that say them are in findings/. */
import { describe, expect, it } from 'vitest';
import { meaningOf } from '../../../../lib/core/memory/driver-status.ts';

describe('the meaning of a status', () => {
  it.each([
    ['cuda', [2, 3, 34, 35, 36, 46, 100, 101, 102, 214, 220, 304, 700, 719, 800, 802, 803, 804, 805, 809, 999]],
    ['nvml', [4, 8, 9, 11, 12, 14, 15, 16, 17, 18, 19, 20, 27, 999]],
  ] as const)('%s: each known status has a cause of its own and a remedy, as clauses', (library, statuses) => {
    for (const status of statuses) {
      const { cause, remedy } = meaningOf({ library, status, name: 'X' });
      expect(cause, String(status)).toMatch(/^[^A-Z].{15,}[^.]$/);
      expect(cause).not.toMatch(/gives X/);
      expect(remedy, String(status)).toMatch(/^[a-z].*[^.]$/);
    }
  });

  it('says to install a driver only where one may be missing', () => {
    const all = Array.from({ length: 1000 }, (_, status) => status);
    const installs = (library: 'cuda' | 'nvml') =>
      all.filter((status) =>
        /install (or update )?the (NVIDIA )?driver/.test(meaningOf({ library, status, name: 'X' }).remedy),
      );
    expect(installs('cuda')).toEqual([35]);
    expect(installs('nvml')).toEqual([9, 12]);
  });

  it('names an unknown status', () => {
    expect(meaningOf({ library: 'cuda', status: 718, name: 'CUDA_ERROR_718' }).cause).toContain('CUDA_ERROR_718');
  });
});
