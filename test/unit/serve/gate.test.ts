import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type GateRequest, rulesFor } from '../../../lib/serve/gate.ts';
import { checkReach, isLoopback, parseListen } from '../../../lib/serve/listen.ts';
import { temporaryToken } from '../../support/tokens.ts';

const { digest, token } = temporaryToken();
const histories = ['/history/0', '/history/1'];
const loopback = rulesFor('127.0.0.1', 'spark-1', null, histories);
const everywhere = rulesFor('0.0.0.0', 'Spark-1', digest, histories);

function ask(request: Partial<GateRequest>, rules = loopback): string | number {
  const decision = decide(
    {
      method: 'GET',
      target: '/metrics',
      host: '127.0.0.1:16121',
      origin: undefined,
      fetchSite: undefined,
      authorization: undefined,
      ...request,
    },
    rules,
  );
  return typeof decision === 'string' ? decision : decision.status;
}

describe('the Host header', () => {
  it.each(['127.0.0.1', '127.0.0.1:16121', 'localhost:8080', 'LOCALHOST', '[::1]:16121'])(
    '%s is of this machine',
    (host) => {
      expect(ask({ host })).toBe('metrics');
    },
  );

  it.each([
    undefined,
    '',
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '127.0.0.1@evil.example',
  ])('%s is refused', (host) => {
    expect(ask({ host })).toBe(403);
  });

  it.each(['192.168.1.5:16121', '0.0.0.0', 'spark-1', '127.0.0.1,evil.example', '127.0.0.1:99999x'])(
    '%s is refused by a server of this machine alone',
    (host) => {
      expect(ask({ host })).toBe(403);
    },
  );

  it('is checked before the method, the target and the token', () => {
    expect(ask({ host: 'evil.example', method: 'POST', target: '//x' }, everywhere)).toBe(403);
  });

  it('that another site pointed at this machine is refused, whatever its name', () => {
    const name = fc.domain().filter((domain) => domain !== 'localhost');
    fc.assert(fc.property(name, fc.nat(65_535), (host, port) => ask({ host: `${host}:${port}` }) === 403));
    const authorization = `Bearer ${token}`;
    fc.assert(fc.property(name, (host) => ask({ host, authorization }, everywhere) === 403));
  });

  it.each(['192.168.1.5:16121', '[fe80::1]', 'spark-1:16121', 'SPARK-1.local', 'localhost'])(
    '%s reaches a server of the network',
    (host) => {
      expect(ask({ host, authorization: `Bearer ${token}` }, everywhere)).toBe('metrics');
    },
  );
});

describe('the target', () => {
  it.each([
    '//',
    '//metrics',
    '/metrics/',
    '/metrics?x',
    '/./metrics',
    '/-/../metrics',
    '/%2e%2e/metrics',
    '/%6detrics',
    '/METRICS',
    'metrics',
    'http://127.0.0.1/metrics',
    '/../../etc/passwd',
    '/__proto__',
    '/history',
    '/history/',
    '/history/2',
    '/history/00',
    '/history/-1',
    '/history/0/',
    '/history/0?',
    'constructor',
    '',
    undefined,
  ])('%s is nothing', (target) => {
    expect(ask({ target })).toBe(404);
  });

  it('is one of a few whole strings', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const known = ['', 'metrics', 'events', 'history/0', 'history/1', '-/healthy', '-/ready'];
        return known.includes(text) || ask({ target: `/${text}` }) === 404;
      }),
    );
  });
});

it('a machine of the page has a history, for the page alone and with the token', () => {
  const target = '/history/1';
  expect(ask({ target })).toBe('history');
  expect(ask({ target, origin: 'http://evil.example' })).toBe(403);
  expect(ask({ target, fetchSite: 'cross-site' })).toBe(403);
  expect(ask({ target, host: 'localhost' }, everywhere)).toBe(401);
});

it.each(['/history/1', '/events'])(
  '%s is for the page of this server alone, whatever a browser says of the other',
  (target) => {
    for (const fetchSite of ['same-site', 'cross-site', 'none', 'Same-Origin', ''])
      expect(ask({ target, fetchSite })).toBe(403);
    for (const origin of ['null', 'http://127.0.0.1', 'https://127.0.0.1:16121', 'http://localhost:16121'])
      expect(ask({ target, origin })).toBe(403);
    expect(ask({ target, fetchSite: 'same-origin', origin: 'http://127.0.0.1:16121' })).not.toBe(403);
  },
);

it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT', 'get', undefined])('the method %s is refused', (method) => {
  expect(ask({ method })).toBe(405);
});

describe('the token', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  it.each([`Bearer ${token}`, `bearer  ${token}`, basic(`anyone:${token}`), basic(`:${token}`)])(
    '%s is right',
    (authorization) => {
      expect(ask({ authorization, host: 'localhost' }, everywhere)).toBe('metrics');
    },
  );

  it.each([
    undefined,
    '',
    'Bearer',
    token,
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `Bearer ${token.toUpperCase()}`,
    `Digest ${token}`,
    basic(`${token}:`),
    `Basic ${token}`,
  ])('%s is wrong', (authorization) => {
    expect(ask({ authorization, host: 'localhost' }, everywhere)).toBe(401);
  });

  it('is not in the target, where logs would keep it', () => {
    expect(ask({ target: `/metrics?token=${token}`, host: 'localhost' }, everywhere)).toBe(404);
  });

  it.each(['healthy', 'ready'])('is not needed for /-/%s', (route) => {
    expect(ask({ target: `/-/${route}`, host: 'localhost' }, everywhere)).toBe(route);
  });
});

describe('an address to listen on', () => {
  it.each([
    ['127.0.0.1:16121', { host: '127.0.0.1', port: 16_121 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['Spark-1.lan:80', { host: 'spark-1.lan', port: 80 }],
  ])('%s', (text, address) => {
    expect(parseListen('--listen', text)).toEqual(address);
  });

  it.each([
    '',
    '16121',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:65536',
    '127.0.0:80',
    '::1:80',
    '[127.0.0.1]:80',
    'a b:1',
    'http://a:1',
    '-a:1',
  ])('"%s" is an error that names it', (text) => {
    expect(() => parseListen('--listen', text)).toThrow(
      `--listen is ${JSON.stringify(text)}; expected an address and a port`,
    );
  });

  it('that others reach needs a token', () => {
    for (const host of ['0.0.0.0', '192.168.1.5', 'spark-1', '::', '128.0.0.1']) {
      expect(isLoopback(host)).toBe(false);
      expect(() => checkReach('--listen', { host, port: 1 }, undefined)).toThrow('needs a token (--token-file)');
      expect(() => checkReach('listen', { host, port: 1 }, 'file')).not.toThrow();
    }
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost'])
      expect(() => checkReach('--listen', { host, port: 1 }, undefined)).not.toThrow();
  });
});
