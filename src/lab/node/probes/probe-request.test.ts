import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, HTTPGetAction } from '../../../api/generated/core-v1-types.ts';
import { containerPort, httpRequest, ProbeProblem, probeCommand } from './probe-request.ts';

const CONTAINER: Container = {
  name: 'web',
  ports: [
    { name: 'http', containerPort: 8080 },
    { name: 'high', containerPort: 70_000 },
  ],
};
const AT = { host: '10.16.32.5', userAgent: 'kube-probe/1.36' };

describe('containerPort', () => {
  it('lab/N21: resolves a name, and takes a number as it is', () => {
    assert.equal(containerPort('http', CONTAINER), 8080);
    assert.equal(containerPort(443, CONTAINER), 443);
  });

  const wrong: readonly (readonly [number | string, string])[] = [
    ['admin', 'port "admin" not found in container web'],
    ['8080', 'port "8080" not found in container web'],
    ['high', 'invalid port number: 70000; allowed are 1 to 65535'],
    [0, 'invalid port number: 0; allowed are 1 to 65535'],
    [1.5, 'invalid port number: 1.5; allowed are 1 to 65535'],
  ];
  for (const [port, message] of wrong) {
    it(`refuses ${JSON.stringify(port)}`, () => {
      assert.throws(() => containerPort(port, CONTAINER), new ProbeProblem(message));
    });
  }
});

describe('httpRequest', () => {
  const urls: readonly (readonly [string, HTTPGetAction, string])[] = [
    ['nothing but a port', { port: 80 }, 'http://10.16.32.5/'],
    ['a named port and a path', { port: 'http', path: '/healthz?a=b' }, 'http://10.16.32.5:8080/healthz?a=b'],
    ['another scheme', { port: 8443, scheme: 'HTTPS', path: '/x' }, 'https://10.16.32.5:8443/x'],
    ['a path without a slash', { port: 8080, path: 'healthz' }, 'http://10.16.32.5:8080/healthz'],
    ['a path with a space', { port: 8080, path: '/a b' }, 'http://10.16.32.5:8080/a%20b'],
    ['a path that names another server', { port: 8080, path: '//there/x' }, 'http://10.16.32.5:8080/x'],
    ['a path that is a whole address', { port: 8080, path: 'https://there/x' }, 'http://10.16.32.5:8080/x'],
  ];
  for (const [what, action, url] of urls) {
    it(`lab/N21: makes a request of ${what}`, () => {
      assert.equal(httpRequest(action, CONTAINER, AT).url.href, url);
    });
  }

  it('lab/N21: writes an address of version 6 in brackets', () => {
    const { url } = httpRequest({ port: 8080 }, CONTAINER, { ...AT, host: 'fd00::1' });
    assert.equal(url.href, 'http://[fd00::1]:8080/');
  });

  it('lab/N21: says who asks, and that everything is accepted', () => {
    const { headers } = httpRequest({ port: 80, httpHeaders: [{ name: 'X-A', value: '1' }] }, CONTAINER, AT);
    assert.deepEqual(headers, [
      { name: 'User-Agent', value: 'kube-probe/1.36' },
      { name: 'Accept', value: '*/*' },
      { name: 'X-A', value: '1' },
    ]);
  });

  it('lab/N21: leaves both to the manifest when it names them, also to leave them out', () => {
    const httpHeaders = [
      { name: 'user-agent', value: 'me' },
      { name: 'accept', value: '' },
    ];
    assert.deepEqual(httpRequest({ port: 80, httpHeaders }, CONTAINER, AT).headers, [httpHeaders[0]]);
  });

  it('refuses a host that is none', () => {
    assert.throws(
      () => httpRequest({ port: 80 }, CONTAINER, { ...AT, host: 'a b' }),
      /is no URL that can be asked/,
    );
  });
});

describe('probeCommand', () => {
  it('lab/N21: expands literal values only, without looking at them again', () => {
    const env = [
      { name: 'A', value: 'x' },
      { name: 'B', value: '$(A)' },
      { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    ];
    const command = ['sh', '-c', 'echo $(A) $(B) [$(S)] $(NONE) $$(A)'];
    assert.deepEqual(probeCommand(command, env), ['sh', '-c', 'echo x $(A) [] $(NONE) $(A)']);
  });
});
