import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  asDefinition,
  type Definition,
  differences,
  FORM_AND_BOUNDS,
  missingFields,
  originals,
  outline,
  schemaOf,
  versionOf,
  withoutOriginals,
} from '../../../test/support/original-definitions.ts';
import { lintKind } from '../schema/lint-kind.ts';
import { visitSchema } from '../schema/visit.ts';
import {
  OpenshiftAssistedConfigTemplateV1alpha1Definition,
  OpenshiftAssistedConfigV1alpha1Definition,
} from './bootstrap-v1alpha1.schema.ts';
import {
  OpenshiftAssistedConfigDefinition,
  OpenshiftAssistedConfigTemplateDefinition,
} from './bootstrap-v1alpha2.schema.ts';
import { OpenshiftAssistedControlPlaneV1alpha2Definition } from './controlplane-v1alpha2.schema.ts';
import {
  OpenshiftAssistedControlPlaneDefinition,
  OpenshiftAssistedControlPlaneTemplateDefinition,
} from './controlplane-v1alpha3.schema.ts';
import { agentDefinitions, bootstrapDefinitions, controlPlaneDefinitions } from './definitions.schema.ts';

const skip = withoutOriginals('openshift-assisted');
const OURS = agentDefinitions().map(asDefinition);
const KINDS = [
  OpenshiftAssistedConfigDefinition,
  OpenshiftAssistedConfigV1alpha1Definition,
  OpenshiftAssistedConfigTemplateDefinition,
  OpenshiftAssistedConfigTemplateV1alpha1Definition,
  OpenshiftAssistedControlPlaneDefinition,
  OpenshiftAssistedControlPlaneV1alpha2Definition,
  OpenshiftAssistedControlPlaneTemplateDefinition,
];

/** Where ours has more than the original, and why. */
const MORE: Readonly<Record<string, string>> = {
  'openshiftassistedcontrolplanes v1alpha3 spec.machineTemplate: requires , not infrastructureRef':
    'a ClusterClass writes it below spec; a rule wants it in one of the two places',
  'openshiftassistedcontrolplanes v1alpha3 spec.machineTemplate.spec: is not in the original':
    'agent/X6: others read the template of machines there',
  'openshiftassistedcontrolplanes v1alpha3 spec.version: is not in the original':
    'core writes the version of a topology there',
};

const hasVersions = ({ spec }: Definition): boolean => spec.versions.length > 1;

const SERVED = [
  ['openshiftassistedconfigs.bootstrap.cluster.x-k8s.io', ['v1alpha1', 'v1alpha2']],
  ['openshiftassistedconfigtemplates.bootstrap.cluster.x-k8s.io', ['v1alpha1', 'v1alpha2']],
  ['openshiftassistedcontrolplanes.controlplane.cluster.x-k8s.io', ['v1alpha2', 'v1alpha3']],
] as const;

describe('agentDefinitions', () => {
  it('has the kinds of both providers, and new definitions each time', () => {
    assert.deepEqual(
      OURS.map(({ metadata }) => metadata.name),
      [...SERVED.map(([name]) => name), 'openshiftassistedcontrolplanetemplates.controlplane.cluster.x-k8s.io'],
    );
    assert.deepEqual([...bootstrapDefinitions(), ...controlPlaneDefinitions()], agentDefinitions());
    assert.notEqual(agentDefinitions()[0], agentDefinitions()[0]);
  });

  it('says which version follows which contract, and to which provider a kind belongs', () => {
    const bootstrap = {
      'cluster.x-k8s.io/provider': 'bootstrap-openshift-assisted',
      'cluster.x-k8s.io/v1beta1': 'v1alpha1',
      'cluster.x-k8s.io/v1beta2': 'v1alpha2',
    };
    const controlPlane = {
      'cluster.x-k8s.io/provider': 'control-plane-openshift-assisted',
      'cluster.x-k8s.io/v1beta1': 'v1alpha2',
      'cluster.x-k8s.io/v1beta2': 'v1alpha3',
    };
    const { 'cluster.x-k8s.io/v1beta1': _older, ...template } = controlPlane;
    assert.deepEqual(
      OURS.map(({ metadata }) => metadata.labels),
      [bootstrap, bootstrap, controlPlane, template],
    );
  });

  it('warns who uses the older version', () => {
    const warnings = OURS.flatMap(({ spec }) => spec.versions.map((version) => version.deprecationWarning));
    assert.deepEqual(warnings, [
      undefined,
      'v1alpha1 is deprecated, use v1alpha2',
      undefined,
      'v1alpha1 is deprecated, use v1alpha2',
      undefined,
      'v1alpha2 is deprecated, use v1alpha3',
      undefined,
    ]);
  });

  it('converts nothing unless told who does', () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/convert' } },
    } as const;
    for (const { spec } of OURS.filter(hasVersions)) assert.deepEqual(spec.conversion, { strategy: 'None' });
    for (const { spec } of agentDefinitions(conversion).map(asDefinition).filter(hasVersions))
      assert.deepEqual(spec.conversion, conversion);
  });

  for (const kind of KINDS) {
    it(`describes every field of ${kind.kind} ${kind.version}`, () => {
      const silent: string[] = [];
      visitSchema(kind.schema, '', ({ description = '' }, path) => {
        const isItem = path.endsWith('[]') || path.endsWith('.*');
        const isServers = ['apiVersion', 'kind', 'metadata'].includes(path);
        // Conditions are the same everywhere; their own page says what they are.
        const isCondition = path.startsWith('status.conditions[]');
        if (description === '' && !isItem && !isServers && !isCondition) silent.push(path);
      });
      assert.deepEqual(silent, []);
    });

    it(`names only paths that ${kind.kind} ${kind.version} has`, () => assert.deepEqual(lintKind(kind), []));
  }
});

describe('agentDefinitions beside those of upstream', { skip }, () => {
  const theirs = originals('openshift-assisted');

  for (const [name, versions] of SERVED) {
    const ours = asDefinition(OURS.find(({ metadata }) => metadata.name === name) ?? {});
    const original = asDefinition(theirs.get(name) ?? {});

    it(`${name} has the same names, scope, versions, subresources and columns`, () => {
      assert.deepEqual(outline(ours, versions), outline(original, versions));
    });

    for (const version of versions) {
      const [mine, its] = [schemaOf(ours, version), schemaOf(original, version)];

      it(`${name} has in ${version} every field of upstream`, () => {
        assert.deepEqual(missingFields(mine, its), []);
      });

      it(`${name} has in ${version} the same types, enums, defaults, bounds, patterns and needed fields`, () => {
        const found = differences(mine, its, { keys: [...FORM_AND_BOUNDS, 'maxItems'] });
        const place = `${name.split('.')[0]} ${version} `;
        assert.deepEqual(
          found.map((text) => `${place}${text}`),
          Object.keys(MORE).filter((text) => text.startsWith(place)),
        );
      });

      it(`${name} warns in ${version} as upstream does`, () => {
        const words = ({ deprecationWarning = '' } = {}) => deprecationWarning;
        assert.equal(words(versionOf(ours, version)), words(versionOf(original, version)));
      });
    }
  }
});
