import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  asDefinition,
  closedObjects,
  differences,
  originals,
  outline,
  schemaOf,
  withoutOriginals,
} from '../../../test/support/original-definitions.ts';
import type { Schema } from '../schema/structural.ts';
import { openshiftDefinitions } from './definitions.schema.ts';

const skip = withoutOriginals('openshift');
const OURS = openshiftDefinitions().map(asDefinition);

/** Not in the corpus, which has no CRDs of operator.openshift.io but those of storage, DNS and ingress. */
const ABSENT = ['kubecontrollermanagers.operator.openshift.io'];
/** Not in the corpus, which has what every cluster serves: this one is behind a feature gate. */
const GATED = ['spec.tlsAdherence'];
/** What the cluster-version operator always writes, and whoever tries something out leaves out. */
const LEFT_OUT = [
  'spec: requires , not clusterID',
  'status: requires desired, not availableUpdates,desired,observedGeneration,versionHash',
  'status.desired: requires version, not image,version',
  'status.history[]: requires state, not completionTime,image,startedTime,state,verified',
];

describe('openshiftDefinitions', () => {
  it('has each kind once, and new definitions each time', () => {
    assert.deepEqual(
      OURS.map(({ metadata }) => metadata.name),
      [
        'infrastructures.config.openshift.io',
        'clusteroperators.config.openshift.io',
        'clusterversions.config.openshift.io',
        'featuregates.config.openshift.io',
        'proxies.config.openshift.io',
        'networks.config.openshift.io',
        'apiservers.config.openshift.io',
        'kubecontrollermanagers.operator.openshift.io',
        'credentialsrequests.cloudcredential.openshift.io',
      ],
    );
    assert.notEqual(openshiftDefinitions()[0], openshiftDefinitions()[0]);
    assert.deepEqual(openshiftDefinitions(), openshiftDefinitions());
  });

  for (const crd of OURS) {
    it(`keeps every field that ${crd.metadata.name} does not name`, () => {
      assert.deepEqual(closedObjects(schemaOf(crd, 'v1')), []);
    });
  }

  it('serves KubeControllerManager as OpenShift does', () => {
    const crd = OURS.find(({ metadata }) => ABSENT.includes(metadata.name));
    assert.ok(crd);
    assert.deepEqual(outline(crd, ['v1']), {
      name: 'kubecontrollermanagers.operator.openshift.io',
      group: 'operator.openshift.io',
      scope: 'Cluster',
      names: {
        kind: 'KubeControllerManager',
        listKind: 'KubeControllerManagerList',
        plural: 'kubecontrollermanagers',
        singular: 'kubecontrollermanager',
        categories: ['coreoperators'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          isDeprecated: false,
          subresources: { status: {} },
          columns: [],
        },
      ],
    });
  });
});

describe('openshiftDefinitions beside those of OpenShift', { skip }, () => {
  const theirs = originals('openshift');
  const compared = OURS.filter(({ metadata }) => !ABSENT.includes(metadata.name));

  for (const crd of compared) {
    const { name } = crd.metadata;
    const original = theirs.get(name);

    it(`operator/E6: ${name} has the same names, scope, versions, subresources and columns`, () => {
      assert.ok(original);
      assert.deepEqual(outline(crd, ['v1']), outline(original, ['v1']));
    });

    it(`operator/E7: ${name} has the same types, enums, defaults, keys of lists and needed fields`, () => {
      assert.ok(original);
      const found = differences(schemaOf(crd, 'v1'), schemaOf(original, 'v1'));
      assert.deepEqual(
        found.filter((text) => !GATED.some((path) => text === `${path}: is not in the original`)),
        name === 'clusterversions.config.openshift.io' ? LEFT_OUT : [],
      );
    });
  }

  it('notices a field of another type, another default and another key', () => {
    const original: Schema = {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, b: { type: 'array', 'x-kubernetes-list-type': 'map' } },
      required: ['a'],
    };
    const ours: Schema = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'array' }, c: {} } };
    assert.deepEqual(differences(ours, original), [
      ': requires , not a',
      'a: type is "integer", not "string"',
      'a: default is undefined, not "x"',
      'b: x-kubernetes-list-type is undefined, not "map"',
      'c: is not in the original',
    ]);
  });
});
