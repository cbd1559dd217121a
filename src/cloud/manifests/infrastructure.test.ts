import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acmeDefinition } from '../../../test/support/acme-definition.ts';
import {
  expectedInfrastructure,
  type Infrastructure,
  infrastructureChangeProblems,
  installConfigPlatform,
  isCloudProviderExternal,
} from './infrastructure.ts';

type PlatformStatus = NonNullable<NonNullable<Infrastructure['status']>['platformStatus']>;

const cluster = (platformStatus: PlatformStatus, platformName?: string): Infrastructure => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  spec: { platformSpec: { type: 'External', external: platformName === undefined ? {} : { platformName } } },
  status: { platformStatus },
});

/** `null`: there is no entry for the cloud controller manager at all; undefined: one that says nothing. */
const external = (state: string | undefined | null): PlatformStatus => ({
  type: 'External',
  external: state === null ? {} : { cloudControllerManager: state === undefined ? {} : { state } },
});

describe('the Infrastructure of a cluster on platform External', () => {
  it('ccm/O1: is asked for in install-config.yaml by the name of the platform and who initialises nodes', () => {
    assert.deepEqual(installConfigPlatform(acmeDefinition({ platformName: 'Acme' })), {
      platform: { external: { platformName: 'Acme', cloudControllerManager: 'External' } },
    });
    assert.deepEqual(installConfigPlatform(acmeDefinition({ ccm: { external: false } })), {
      platform: { external: { platformName: 'acme', cloudControllerManager: '' } },
    });
  });

  it('ccm/O2: says so in its status, and None without a cloud controller manager', () => {
    const state = (isExternal: boolean) =>
      expectedInfrastructure(acmeDefinition({ ccm: { external: isExternal } })).status?.platformStatus;
    assert.deepEqual(state(true), external('External'));
    assert.deepEqual(state(false), external('None'));
  });

  const platforms = [
    'AlibabaCloud',
    'AWS',
    'Azure',
    'GCP',
    'IBMCloud',
    'KubeVirt',
    'Nutanix',
    'OpenStack',
    'PowerVS',
    'VSphere',
  ].map((type) => ({ status: { type }, want: true }));
  const others = [
    { status: external('External'), want: true },
    { status: external('None'), want: false },
    { status: external(''), want: false },
    { status: external(undefined), want: false },
    { status: { type: 'External' }, want: false },
    { status: { type: 'BareMetal' }, want: false },
    { status: { type: 'None' }, want: false },
    { status: {}, want: false },
  ];
  for (const { status, want } of [...platforms, ...others]) {
    it(`ccm/O3: makes nodes ${want ? 'wait' : 'not wait'} for ${JSON.stringify(status)}`, () => {
      assert.equal(isCloudProviderExternal(cluster(status)), want);
    });
  }

  it('ccm/O3: is an error while it has no status', () => {
    const unknown = {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Infrastructure',
      metadata: { name: 'cluster' },
    };
    assert.throws(() => isCloudProviderExternal(unknown), { reason: 'PlatformUnknown' });
    assert.throws(() => isCloudProviderExternal({ ...unknown, status: {} }), { reason: 'PlatformUnknown' });
  });

  const names = [
    { from: 'Unknown', to: 'Acme', problems: 0 },
    { from: undefined, to: 'Acme', problems: 0 },
    { from: 'Acme', to: 'Acme', problems: 0 },
    { from: 'Acme', to: 'Other', problems: 1 },
    { from: 'Acme', to: undefined, problems: 1 },
  ];
  for (const { from, to, problems } of names) {
    it(`ccm/O1: ${problems === 0 ? 'lets' : 'does not let'} the platform be renamed from ${from} to ${to}`, () => {
      const [before, after] = [cluster(external('None'), from), cluster(external('None'), to)];
      assert.equal(infrastructureChangeProblems(before, after).length, problems);
    });
  }

  const states = [
    { from: 'External', to: 'External', want: [] },
    { from: 'None', to: 'External', want: ['state is immutable once set'] },
    { from: 'External', to: 'None', want: ['state is immutable once set'] },
    { from: '', to: 'External', want: ['state is immutable once set'] },
    { from: undefined, to: 'External', want: ['state may not be added or removed once set'] },
    { from: undefined, to: 'None', want: [] },
    { from: 'External', to: undefined, want: ['state may not be added or removed once set'] },
    { from: null, to: 'External', want: ['cloudControllerManager may not be added or removed once set'] },
    { from: 'None', to: null, want: ['cloudControllerManager may not be added or removed once set'] },
    { from: null, to: null, want: [] },
  ];
  for (const { from, to, want } of states) {
    it(`ccm/O2: ${want.length === 0 ? 'lets' : 'does not let'} the decision change from ${from} to ${to}`, () => {
      assert.deepEqual(infrastructureChangeProblems(cluster(external(from)), cluster(external(to))), want);
    });
  }
});
