import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { ControlLines } from '../../../../lib/run/guard/control.ts';

it('lines wait for the native guard, in their order, and are for nobody once it has ended', () => {
  const control = new ControlLines();
  const stream = new PassThrough().setEncoding('utf8');
  control.write('loaded');
  control.write('targets cgroup:/a');
  control.connect(stream);
  control.write('stop');
  expect(stream.read()).toBe('loaded\ntargets cgroup:/a\nstop\n');
  stream.end();
  expect(() => control.write('stop')).not.toThrow();
  expect(stream.read()).toBeNull();
});
