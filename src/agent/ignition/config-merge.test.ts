import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BAD_CONFIGS, ignitionConfig } from '../../../test/support/ignition-configs.ts';
import type { JsonObject } from '../../object/json.ts';
import { configProblem } from './config-check.ts';
import { mergeConfigs } from './config-merge.ts';

const NOTHING: JsonObject = { ignition: { version: '3.1.0' } };

describe('merging configs', () => {
  const cases: readonly { name: string; parent: JsonObject; child: JsonObject; want: JsonObject }[] = [
    {
      name: 'values of the child win where it has one',
      parent: { ignition: { timeouts: { httpTotal: 1, httpResponseHeaders: 2 } } },
      child: { ignition: { timeouts: { httpTotal: 0 } } },
      want: { ignition: { timeouts: { httpTotal: 0, httpResponseHeaders: 2 } } },
    },
    {
      name: 'null is no value',
      parent: { storage: { files: [{ path: '/a', mode: 1 }] }, systemd: { units: [] } },
      child: { storage: { files: [{ path: '/a', mode: null }] }, systemd: null },
      want: { storage: { files: [{ path: '/a', mode: 1 }] }, systemd: { units: [] } },
    },
    {
      name: 'items with the same key are merged in their place, others come last',
      parent: { systemd: { units: [{ name: 'a.service', mask: true }, { name: 'b.service' }] } },
      child: { systemd: { units: [{ name: 'c.service' }, { name: 'a.service', enabled: true }] } },
      want: {
        systemd: {
          units: [{ name: 'a.service', mask: true, enabled: true }, { name: 'b.service' }, { name: 'c.service' }],
        },
      },
    },
    {
      name: 'drop-ins are merged within their unit',
      parent: { systemd: { units: [{ name: 'a.service', dropins: [{ name: '1.conf', contents: 'x' }] }] } },
      child: {
        systemd: {
          units: [{ name: 'a.service', dropins: [{ name: '1.conf', contents: 'y' }, { name: '2.conf' }] }],
        },
      },
      want: {
        systemd: {
          units: [{ name: 'a.service', dropins: [{ name: '1.conf', contents: 'y' }, { name: '2.conf' }] }],
        },
      },
    },
    {
      name: 'what a file appends is kept, and more is appended',
      parent: { storage: { files: [{ path: '/a', append: [{ source: 'data:,1' }] }] } },
      child: { storage: { files: [{ path: '/a', append: [{ source: 'data:,1' }] }] } },
      want: { storage: { files: [{ path: '/a', append: [{ source: 'data:,1' }, { source: 'data:,1' }] }] } },
    },
    {
      name: 'a file becomes a link',
      parent: { storage: { files: [{ path: '/a' }, { path: '/b' }] } },
      child: { storage: { links: [{ path: '/a', target: '/x' }] } },
      want: { storage: { files: [{ path: '/b' }], links: [{ path: '/a', target: '/x' }] } },
    },
    {
      name: 'texts in lists are there once',
      parent: { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['1', '2'] }] } },
      child: { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['2', '3'] }] } },
      want: { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['1', '2', '3'] }] } },
    },
    {
      name: 'a header without a value takes one away',
      parent: {
        ignition: {
          config: {
            replace: {
              httpHeaders: [
                { name: 'A', value: '1' },
                { name: 'B', value: '2' },
              ],
            },
          },
        },
      },
      child: { ignition: { config: { replace: { httpHeaders: [{ name: 'A' }] } } } },
      want: { ignition: { config: { replace: { httpHeaders: [{ name: 'B', value: '2' }] } } } },
    },
    {
      name: 'partitions are known by number, else by label',
      parent: { storage: { disks: [{ device: '/d', partitions: [{ number: 1, label: 'x' }, { label: 'y' }] }] } },
      child: {
        storage: {
          disks: [
            {
              device: '/d',
              partitions: [
                { label: 'y', sizeMiB: 1 },
                { number: 1, sizeMiB: 2 },
              ],
            },
          ],
        },
      },
      want: {
        storage: {
          disks: [
            {
              device: '/d',
              partitions: [
                { number: 1, label: 'x', sizeMiB: 2 },
                { label: 'y', sizeMiB: 1 },
              ],
            },
          ],
        },
      },
    },
    {
      name: 'encrypted devices of newer versions are known by name',
      parent: { storage: { luks: [{ name: 'l', device: '/a' }] } },
      child: { storage: { luks: [{ name: 'l', label: 'x' }] } },
      want: { storage: { luks: [{ name: 'l', device: '/a', label: 'x' }] } },
    },
    {
      name: 'fields that are not known are merged as they look',
      parent: { new: { a: 1, list: [1] } },
      child: { new: { b: 2, list: [2] } },
      want: { new: { a: 1, list: [2], b: 2 } },
    },
  ];
  for (const { name, parent, child, want } of cases) {
    it(`agent/I9: ${name}`, () => assert.deepEqual(mergeConfigs(parent, child), want));
  }

  it('agent/I9: nothing over a config, and a config over nothing, is the config', () => {
    fc.assert(
      fc.property(ignitionConfig, (config) => {
        assert.deepEqual(mergeConfigs(config, NOTHING), config);
        assert.deepEqual(mergeConfigs(NOTHING, config), config);
      }),
    );
  });

  it('agent/I9: gives a valid config of two, changes neither, and keeps the order of keys', () => {
    fc.assert(
      fc.property(ignitionConfig, ignitionConfig, (parent, child) => {
        const before = structuredClone([parent, child]);
        const merged = mergeConfigs(parent, child);
        assert.deepEqual([parent, child], before);
        const keys = new Set([...Object.keys(parent), ...Object.keys(child)]);
        assert.deepEqual(Object.keys(merged), [...keys]);
        assert.doesNotMatch(configProblem(merged) ?? '', /twice|required/);
      }),
    );
  });

  it('agent/I9: the child once more changes nothing, but for lists that only grow', () => {
    const growing = new Set(['append', 'options', 'mountOptions', 'httpHeaders']);
    const withoutGrowing = (config: JsonObject): string =>
      JSON.stringify(config, (key, value: unknown) => (growing.has(key) ? undefined : value));
    fc.assert(
      fc.property(ignitionConfig, ignitionConfig, (parent, child) => {
        const once = mergeConfigs(parent, child);
        assert.equal(withoutGrowing(mergeConfigs(once, child)), withoutGrowing(once));
      }),
    );
  });
});

describe('what is no config', () => {
  for (const { name, config, want } of BAD_CONFIGS) {
    it(`agent/I9: ${name} is named`, () => assert.match(configProblem(config) ?? '', want));
  }

  it('agent/I9: no secret is in a message', () => {
    const config = { ignition: { version: '3.1.0' }, passwd: { users: [{ name: 'core', uid: 'hunter2' }] } };
    assert.equal(configProblem(config), 'passwd.users[0].uid must be an integer');
  });

  it('agent/I9: configs are accepted, with fields of other versions too', () => {
    fc.assert(fc.property(ignitionConfig, (config) => assert.equal(configProblem(config), undefined)));
    const newer = {
      ignition: { version: '3.1.0' },
      kernelArguments: 5,
      storage: { files: [], new: 1 },
      passwd: null,
    };
    assert.equal(configProblem(newer), undefined);
    assert.equal(configProblem({ ignition: { version: '3.0.0' } }), undefined);
  });
});
