import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigMap } from '../../../api/generated/core-v1.ts';
import type { Infrastructure, Network } from '../../../api/openshift/config-v1.ts';
import { featureGates } from '../../config/feature-gates.ts';
import type { CloudConfigPolicy } from '../../definition.ts';
import { sameContent } from '../config-map-write.ts';
import { desiredCloudConfig, type ObservedCloudConfig } from './desired.ts';

const kind = (name: string) => ({
  apiVersion: 'config.openshift.io/v1',
  kind: name,
  metadata: { name: 'cluster' },
});
const network: Network = kind('Network');
const infra = (cloudConfig: { name?: string; key?: string } = {}): Infrastructure => ({
  ...kind('Infrastructure'),
  spec: { cloudConfig },
});
const configMap = (name: string, content: Partial<ConfigMap>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'openshift-config', name },
  ...content,
});

interface Given extends Partial<ObservedCloudConfig> {
  readonly policy?: Partial<CloudConfigPolicy>;
}
const desired = ({ policy = {}, ...observed }: Given) =>
  desiredCloudConfig(
    { sources: ['managed', 'user'], ...policy },
    { infra: infra(), network, gates: featureGates([]), ...observed },
  );

describe('the cloud config that is wanted', () => {
  const cases: readonly { readonly name: string; readonly given: Given; readonly want: object }[] = [
    { name: 'operator/R64: is empty without a source', given: {}, want: { data: { 'cloud.conf': '' } } },
    {
      name: 'operator/R64: comes from the first source that is there',
      given: {
        managed: configMap('m', { data: { 'cloud.conf': 'm' } }),
        user: configMap('u', { data: { 'cloud.conf': 'u' } }),
      },
      want: { data: { 'cloud.conf': 'm' } },
    },
    {
      name: 'operator/R64: never comes from a place that the platform does not name',
      given: { policy: { sources: ['user'] }, managed: configMap('m', { data: { 'cloud.conf': 'm' } }) },
      want: { data: { 'cloud.conf': '' } },
    },
    {
      name: 'operator/R65: prefers cloud.conf over the key of the Infrastructure',
      given: {
        infra: infra({ name: 'u', key: 'k' }),
        user: configMap('u', { data: { 'cloud.conf': 'c', k: 'v' } }),
      },
      want: { data: { 'cloud.conf': 'c', k: 'v' } },
    },
    {
      name: 'operator/R65: moves the key of the Infrastructure and carries all others along',
      given: {
        infra: infra({ name: 'u', key: 'k' }),
        user: configMap('u', { data: { 'ca-bundle.pem': 'pem', k: 'v' } }),
      },
      want: { data: { 'cloud.conf': 'v', 'ca-bundle.pem': 'pem' } },
    },
    {
      name: 'operator/R65: is empty for a source without data and without a key',
      given: { user: configMap('u', {}) },
      want: { data: { 'cloud.conf': '' } },
    },
    {
      name: 'operator/R66: copies binaryData and immutable as they are',
      given: {
        user: configMap('u', { data: { 'cloud.conf': 'c' }, binaryData: { b: 'AA==' }, immutable: false }),
      },
      want: { data: { 'cloud.conf': 'c' }, binaryData: { b: 'AA==' }, immutable: false },
    },
    {
      name: 'operator/R66: is what the transformer makes of it, even nothing',
      given: { policy: { transform: () => '' }, user: configMap('u', { data: { 'cloud.conf': 'c' } }) },
      want: { data: { 'cloud.conf': '' } },
    },
    {
      name: 'operator/R67: is made of the minimal text where a ConfigMap is named and missing',
      given: { infra: infra({ name: 'gone', key: 'k' }), policy: { minimal: () => 'minimal' } },
      want: { data: { 'cloud.conf': 'minimal' } },
    },
    {
      name: 'operator/R67: is not made of the minimal text where none is named',
      given: { policy: { minimal: () => 'minimal' } },
      want: { data: { 'cloud.conf': '' } },
    },
    {
      name: 'takes keys that only look like members of every object',
      given: { user: configMap('u', { data: { 'cloud.conf': 'c', constructor: 'x' } }) },
      want: { data: { 'cloud.conf': 'c', constructor: 'x' } },
    },
  ];
  for (const { name, given, want } of cases)
    it(name, () => {
      assert.deepEqual(desired(given).content, want);
    });

  it('operator/R67: is given to others where the platform says so', () => {
    const publishManaged: CloudConfigPolicy['publishManaged'] = (gates) => gates.isEnabled('G');
    assert.equal(desired({ policy: { publishManaged } }).isPublished, false);
    assert.equal(desired({ policy: { publishManaged }, gates: featureGates(['G']) }).isPublished, true);
  });

  it('hands the transformer what it needs, and collects its warnings', () => {
    const user = configMap('u', { data: { 'cloud.conf': 'c' } });
    const seen: unknown[] = [];
    const transform: CloudConfigPolicy['transform'] = (source, { warn, ...context }) => {
      seen.push(source, context.network);
      warn('one');
      warn('two');
      return source;
    };
    const found = desired({ policy: { transform }, user });
    assert.deepEqual([seen, found.warnings, found.source], [['c', network], ['one', 'two'], user]);
  });

  const refused: readonly { readonly name: string; readonly given: Given; readonly message: string }[] = [
    {
      name: 'operator/R65: a key that the source does not have',
      given: { infra: infra({ name: 'u', key: 'toString' }), user: configMap('u', { data: { a: 'b' } }) },
      message: 'key toString specified in infra resource does not exist in source configmap openshift-config/u',
    },
    {
      name: 'operator/R65: a key of a source that is not there',
      given: { infra: infra({ name: 'u', key: 'k' }) },
      message: 'key k specified in infra resource does not exist in source configmap openshift-config/u',
    },
    {
      name: 'binary text, which the server would refuse for ever',
      given: { user: configMap('u', { binaryData: { 'cloud.conf': 'AA==' } }) },
      message: 'ConfigMap openshift-config/u has cloud.conf as binaryData; write it as text under data',
    },
    {
      name: 'a key that the provider needs and that is not there',
      given: {
        policy: { requiredKeys: ['cloud.conf', 'endpoints'] },
        infra: infra({ name: 'u' }),
        user: configMap('u', { data: {} }),
      },
      message: 'the cloud config lacks endpoints; add it to ConfigMap openshift-config/u',
    },
    {
      name: 'a key that the provider needs where nothing is named',
      given: { policy: { requiredKeys: ['endpoints'] } },
      message:
        'the cloud config lacks endpoints; name a ConfigMap that has it in spec.cloudConfig of Infrastructure cluster',
    },
  ];
  for (const { name, given, message } of refused)
    it(`refuses ${name}`, () => {
      assert.throws(() => desired(given), { disposition: 'user', message });
    });

  it('operator/R58: a transformer that throws is final, whatever it throws', () => {
    const transform = () => {
      throw new TypeError('x is undefined');
    };
    const message = 'failed to transform cloud config: x is undefined';
    assert.throws(() => desired({ policy: { transform } }), { disposition: 'user', message });
  });
});

describe('the content of two ConfigMaps', () => {
  const cases: readonly {
    readonly name: string;
    readonly a: Partial<ConfigMap>;
    readonly b: Partial<ConfigMap>;
    readonly isSame: boolean;
  }[] = [
    { name: 'is the same without data and with none', a: {}, b: { data: {}, binaryData: {} }, isSame: true },
    {
      name: 'is the same in any order',
      a: { data: { a: '1', b: '2' } },
      b: { data: { b: '2', a: '1' } },
      isSame: true,
    },
    { name: 'is another with an empty text', a: { data: { a: '' } }, b: {}, isSame: false },
    { name: 'is another with another key', a: { data: { a: '' } }, b: { data: { b: '' } }, isSame: false },
    {
      name: 'is another with other bytes',
      a: { binaryData: { a: 'AA==' } },
      b: { binaryData: { a: 'AQ==' } },
      isSame: false,
    },
    { name: 'is the same where one says that it may change', a: { immutable: false }, b: {}, isSame: true },
    { name: 'is another where one may not change', a: { immutable: true }, b: {}, isSame: false },
  ];
  for (const { name, a, b, isSame } of cases)
    it(`operator/R68: ${name}`, () => {
      assert.equal(sameContent(a, b), isSame);
    });
});
