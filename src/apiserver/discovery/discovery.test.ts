import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { builtins, gadgetSubresources, gadgets } from '../../../test/support/served-resources.ts';
import { AGGREGATED_CONTENT_TYPE, aggregatedDiscovery } from './aggregated.ts';
import { compareVersions, servedGroups } from './groups.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy.ts';
import { rootPaths } from './root-paths.ts';
import { serverVersion } from './server-version.ts';

const resources = [
  ...builtins(),
  gadgets('v1', {}, { group: 'z.io', kind: 'Zed', plural: 'zeds' }),
  gadgets('v1beta1', {}),
  gadgets('v1', {}, { subresources: gadgetSubresources('v1') }),
];

describe('versions of a group', () => {
  it('apiserver/D3: are ordered by stability, then number, then name', () => {
    const best = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];
    fc.assert(
      fc.property(fc.shuffledSubarray(best), (versions) => {
        const wanted = best.filter((version) => versions.includes(version));
        assert.deepEqual(versions.sort(compareVersions), wanted);
      }),
    );
    assert.equal(compareVersions('v1', 'v1'), 0);
    assert.equal(compareVersions('x', 'x'), 0);
  });

  it('apiserver/D3: give the first as the preferred one', () => {
    assert.deepEqual(apiGroup(resources, 'generated.slipway.dev'), {
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'generated.slipway.dev',
      versions: [
        { groupVersion: 'generated.slipway.dev/v1', version: 'v1' },
        { groupVersion: 'generated.slipway.dev/v1beta1', version: 'v1beta1' },
      ],
      preferredVersion: { groupVersion: 'generated.slipway.dev/v1', version: 'v1' },
    });
  });
});

describe('groups', () => {
  it('apiserver/D3: come in upstream order, custom ones last by name', () => {
    const names = servedGroups(resources).map(({ name }) => name);
    assert.deepEqual(names.slice(0, 4), ['', 'apiregistration.k8s.io', 'apps', 'events.k8s.io']);
    assert.deepEqual(names.slice(-3), ['flowcontrol.apiserver.k8s.io', 'generated.slipway.dev', 'z.io']);
  });

  it('apiserver/D2: are listed without the core group', () => {
    const { kind, apiVersion, groups } = apiGroupList(resources);
    assert.deepEqual([kind, apiVersion], ['APIGroupList', 'v1']);
    assert.ok(Array.isArray(groups));
    assert.equal(groups.length, servedGroups(resources).length - 1);
  });

  it('apiserver/D2: are unknown when nothing of them is served', () => {
    assert.equal(apiGroup(resources, 'nope.io'), undefined);
    assert.equal(apiGroup(resources, ''), undefined);
    assert.equal(apiResourceList(resources, 'apps', 'v9'), undefined);
  });
});

describe('legacy discovery', () => {
  it('apiserver/D1: says the version and the address of the core API', () => {
    assert.deepEqual(apiVersions('127.0.0.1:6443'), {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    });
  });

  it('apiserver/D5: lists a custom resource with its verbs and subresources', () => {
    const common = { namespaced: true, kind: 'Gadget' };
    assert.deepEqual(apiResourceList(resources, 'generated.slipway.dev', 'v1'), {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'generated.slipway.dev/v1',
      resources: [
        {
          name: 'gadgets',
          singularName: 'gadget',
          ...common,
          verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
          shortNames: ['gd'],
          categories: ['all', 'slip'],
          storageVersionHash: '+QQBNPuct/4=',
        },
        { name: 'gadgets/status', singularName: '', ...common, verbs: ['get', 'patch', 'update'] },
        {
          name: 'gadgets/scale',
          singularName: '',
          namespaced: true,
          group: 'autoscaling',
          version: 'v1',
          kind: 'Scale',
          verbs: ['get', 'patch', 'update'],
        },
      ],
    });
  });

  it('apiserver/D2: has no apiVersion in the list of the core group, and no hash for what is not stored', () => {
    const list = apiResourceList(resources, '', 'v1') ?? {};
    assert.deepEqual(Object.keys(list), ['kind', 'groupVersion', 'resources']);
    const [bindings] = list['resources'] as unknown[];
    assert.deepEqual(bindings, {
      name: 'bindings',
      singularName: 'binding',
      namespaced: true,
      kind: 'Binding',
      verbs: ['create'],
    });
  });
});

describe('aggregated discovery', () => {
  const bodyOf = (part: 'core' | 'groups') => JSON.parse(aggregatedDiscovery(resources, part).bytes.toString());

  it('apiserver/D4: names the kind of a built-in resource without group and version', () => {
    const { kind, apiVersion, metadata, items } = bodyOf('core');
    assert.deepEqual([kind, apiVersion, metadata], ['APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2', {}]);
    assert.deepEqual([items.length, items[0].metadata, items[0].versions[0].freshness], [1, {}, 'Current']);
    const namespaces = items[0].versions[0].resources.find(
      ({ resource }: { resource: string }) => resource === 'namespaces',
    );
    assert.deepEqual(namespaces, {
      resource: 'namespaces',
      responseKind: { group: '', version: '', kind: 'Namespace' },
      scope: 'Cluster',
      singularResource: 'namespace',
      verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['ns'],
      subresources: [
        {
          subresource: 'finalize',
          responseKind: { group: '', version: '', kind: 'Namespace' },
          verbs: ['update'],
        },
        {
          subresource: 'status',
          responseKind: { group: '', version: '', kind: 'Namespace' },
          verbs: ['get', 'patch', 'update'],
        },
      ],
    });
  });

  it('apiserver/D4: names the kind of a custom resource in full', () => {
    const { items } = bodyOf('groups');
    const group = items.find(({ metadata }: { metadata: { name: string } }) =>
      metadata.name.startsWith('generated'),
    );
    const [v1, v1beta1] = group.versions;
    assert.deepEqual(v1.resources[0].responseKind, {
      group: 'generated.slipway.dev',
      version: 'v1',
      kind: 'Gadget',
    });
    assert.deepEqual(v1.resources[0].subresources[1].responseKind, {
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    });
    assert.equal(v1beta1.version, 'v1beta1');
  });

  it('apiserver/D4: has a strong ETag that changes with what is served, and only then', () => {
    const tag = (list: typeof resources) => aggregatedDiscovery(list, 'groups').etag;
    assert.match(tag(resources), /^"[0-9A-F]{128}"$/);
    assert.equal(tag(resources), tag([...resources]));
    assert.notEqual(tag(resources), tag(resources.slice(0, -1)));
  });

  it('apiserver/D4: is v2, in the body and in the content type', () => {
    const { bytes } = aggregatedDiscovery(resources, 'core');
    assert.equal(JSON.parse(bytes.toString()).apiVersion, 'apidiscovery.k8s.io/v2');
    assert.equal(AGGREGATED_CONTENT_TYPE, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
  });
});

describe('the root', () => {
  it('apiserver/U8: lists all paths, sorted and once', () => {
    const paths = rootPaths(resources, ['/readyz/storage', '/api'])['paths'] as string[];
    assert.deepEqual(paths, [...new Set(paths)].sort());
    for (const path of [
      '/api/v1',
      '/apis/apps',
      '/apis/generated.slipway.dev/v1beta1',
      '/readyz/storage',
      '/version',
    ]) {
      assert.ok(paths.includes(path), path);
    }
  });

  it('apiserver/U8: has a version that says which Kubernetes it is like and who it is', () => {
    const release = {
      version: '0.1.0',
      commit: 'abc',
      buildDate: '2026-11-15T00:00:00Z',
      nodeVersion: '24.21.0',
      platform: 'linux/amd64',
    };
    const { major, minor, gitVersion, goVersion, minCompatibilityMinor } = serverVersion(release);
    assert.deepEqual(
      { major, minor, gitVersion, goVersion, minCompatibilityMinor },
      {
        major: '1',
        minor: '36',
        gitVersion: 'v1.36.0+slipway.0.1.0',
        goVersion: 'node24.21.0',
        minCompatibilityMinor: '35',
      },
    );
  });
});
