import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { childEnvironment, marks } from './child-environment.ts';

const SOMEBODY = {
  directory: '/lab/c/1',
  membership: { identity: 'lab-1', container: 'uid/main/0' },
  nodeDirectory: '/opt/node/bin',
  additions: { SLIPWAY_NETWORK: '{}' },
};

const environment = (env: Readonly<Record<string, string>>, preload?: string) =>
  childEnvironment({
    ...SOMEBODY,
    env,
    ...(preload !== undefined && { preload }),
  });

describe('the environment of a child', () => {
  it('lab/P3: is what every program needs, and who it belongs to', () => {
    assert.deepEqual(environment({}), {
      PATH: '/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/lab/c/1/home',
      TMPDIR: '/lab/c/1/tmp',
      LANG: 'C.UTF-8',
      SLIPWAY_NETWORK: '{}',
      SLIPWAY_LAB: 'lab-1',
      SLIPWAY_CONTAINER: 'uid/main/0',
    });
  });

  it('lab/P3: is the word of the manifest, except for what the lab itself has to say', () => {
    const given = { PATH: '/app', HOME: '/root', HOSTNAME: 'web-0', SLIPWAY_LAB: 'other', SLIPWAY_CONTAINER: 'x' };
    const { PATH, HOME, HOSTNAME, SLIPWAY_LAB, SLIPWAY_CONTAINER } = { ...given, ...environment(given) };
    assert.deepEqual([PATH, HOME, HOSTNAME], ['/app', '/root', 'web-0']);
    assert.deepEqual([SLIPWAY_LAB, SLIPWAY_CONTAINER], ['lab-1', 'uid/main/0']);
  });

  const preload = 'file:///opt/preload.ts';
  const options = [
    { given: {}, want: `--import=${preload}` },
    { given: { NODE_OPTIONS: '' }, want: `--import=${preload}` },
    { given: { NODE_OPTIONS: '--max-old-space-size=64' }, want: `--max-old-space-size=64 --import=${preload}` },
  ];
  for (const { given, want } of options) {
    it(`lab/P3: adds the preload to ${JSON.stringify(given)}`, () => {
      assert.equal(environment(given, preload)['NODE_OPTIONS'], want);
    });
  }

  it('lab/P3: says where Node keeps what it compiled, unless the manifest does', () => {
    const compileCache = '/tmp/cache';
    const variable = (env: Readonly<Record<string, string>>) =>
      childEnvironment({ ...SOMEBODY, env, compileCache })['NODE_COMPILE_CACHE'];
    assert.equal(variable({}), compileCache);
    assert.equal(variable({ NODE_COMPILE_CACHE: '/mine' }), '/mine');
  });

  it('lab/P4: tells the processes of a lab, of a container and of a probe apart', () => {
    assert.deepEqual(marks({ identity: 'lab-1' }), ['SLIPWAY_LAB=lab-1']);
    assert.deepEqual(marks({ identity: 'lab-1', container: 'u/c/0', run: '7' }), [
      'SLIPWAY_LAB=lab-1',
      'SLIPWAY_CONTAINER=u/c/0',
      'SLIPWAY_RUN=7',
    ]);
  });
});
