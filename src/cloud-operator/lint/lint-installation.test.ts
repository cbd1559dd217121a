import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterRole, PolicyRule, Role } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { annotated, type ManifestFile } from '../manifests/installation.ts';
import { PLATFORMS } from '../platforms/index.ts';
import { operatorRules } from '../registry/operator-rules.ts';
import { imageReferences } from '../registry/payload.ts';
import { defineCloudProvider } from '../render/cloud-provider.ts';
import { specimenContext } from '../render/specimen.ts';
import { lintHeldRights, lintImageReferences, lintInstallation } from './lint-installation.ts';

const NAMESPACES = ['operator', 'managed'];

const object = (kind: string, name: string, namespace?: string): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }) },
});

const FILES: readonly ManifestFile[] = [
  ...NAMESPACES.map((name) => ({
    name: `10_${name}.yaml`,
    objects: [object('NetworkPolicy', 'default-deny', name)],
  })),
  { name: '15_request.yaml', objects: [object('CredentialsRequest', 'acme')] },
  { name: '50_deployment.yaml', objects: [object('Deployment', 'operator', 'operator')] },
  { name: '60_clusteroperator.yaml', objects: [object('ClusterOperator', 'acme')] },
].map(({ name, objects }) => ({ name, objects: objects.map(annotated) }));

const linted = (files: readonly ManifestFile[]): readonly string[] =>
  lintInstallation(files, NAMESPACES).map(
    ({ severity, rule, file, message }) => `${severity} ${rule} ${file} ${message}`,
  );

const role = (
  kind: 'Role' | 'ClusterRole',
  rules: readonly PolicyRule[],
  namespace?: string,
): Role | ClusterRole => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name: 'acme', ...(namespace !== undefined && { namespace }) },
  rules,
});

const PODS: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };
const NAMED: PolicyRule = { ...PODS, resourceNames: ['a', 'b'] };
const METRICS: PolicyRule = { nonResourceURLs: ['/metrics'], verbs: ['get'] };

describe('lintInstallation', () => {
  it('operator/CCM-M01: finds nothing in files that are in order', () => {
    assert.deepEqual(linted(FILES), []);
  });

  it('operator/CCM-M01: finds a CredentialsRequest behind what waits for it', () => {
    const late = FILES.map((file) => (file.name.startsWith('15') ? { ...file, name: '55_request.yaml' } : file));
    assert.deepEqual(linted(late), [
      'error CCM-M01 50_deployment.yaml Deployment/operator sorts before a CredentialsRequest',
    ]);
  });

  it('operator/CCM-M02: finds an object without its annotations, or one of them', () => {
    const extra = [object('Service', 'bare'), annotated(object('Service', 'half'))];
    const half = { ...extra[1], metadata: { name: 'half', annotations: { 'capability.openshift.io/name': 'X' } } };
    const files = [...FILES, { name: '70_more.yaml', objects: [extra[0], half] as KubeObject[] }];
    const profiles =
      'include.release.openshift.io/self-managed-high-availability, include.release.openshift.io/single-node-developer';
    assert.deepEqual(linted(files), [
      `error CCM-M02 70_more.yaml Service/bare lacks capability.openshift.io/name, ${profiles}`,
      `error CCM-M02 70_more.yaml Service/half lacks ${profiles}`,
    ]);
  });

  it('operator/CCM-M03: warns of a namespace without default-deny', () => {
    assert.deepEqual(linted(FILES.slice(1)), ['warning CCM-M03  namespace operator has no default-deny']);
  });
});

describe('lintHeldRights', () => {
  it('operator/CCM-R01: finds nothing that the operator would grant and does not hold, by its own rules', () => {
    const providers = PLATFORMS.map(defineCloudProvider);
    const held = operatorRules(providers);
    const operands = providers.flatMap((one) => one.getResources(specimenContext(one.definition)));
    assert.ok(operands.some(({ kind }) => kind === 'Role'));
    assert.deepEqual(lintHeldRights(operands, held), []);
  });

  const cases: readonly {
    readonly name: string;
    readonly granted: Role | ClusterRole;
    readonly held: Parameters<typeof lintHeldRights>[1];
    readonly isHeld: boolean;
  }[] = [
    { name: 'nothing', granted: role('ClusterRole', [PODS]), held: [], isHeld: false },
    {
      name: 'two halves',
      granted: role('ClusterRole', [PODS]),
      held: [
        {
          rules: [
            { ...PODS, verbs: ['get'] },
            { ...PODS, verbs: ['list'] },
          ],
        },
      ],
      isHeld: true,
    },
    {
      name: 'half',
      granted: role('ClusterRole', [PODS]),
      held: [{ rules: [{ ...PODS, verbs: ['get'] }] }],
      isHeld: false,
    },
    {
      name: 'everything',
      granted: role('Role', [PODS], 'a'),
      held: [{ rules: [{ ...PODS, resources: ['*'] }] }],
      isHeld: true,
    },
    {
      name: 'the same in its namespace',
      granted: role('Role', [PODS], 'a'),
      held: [{ namespace: 'a', rules: [PODS] }],
      isHeld: true,
    },
    {
      name: 'the same in another namespace',
      granted: role('Role', [PODS], 'a'),
      held: [{ namespace: 'b', rules: [PODS] }],
      isHeld: false,
    },
    {
      name: 'in one namespace what is granted in all',
      granted: role('ClusterRole', [PODS]),
      held: [{ namespace: 'a', rules: [PODS] }],
      isHeld: false,
    },
    {
      name: 'more names',
      granted: role('ClusterRole', [{ ...PODS, resourceNames: ['a'] }]),
      held: [{ rules: [NAMED] }],
      isHeld: true,
    },
    {
      name: 'names of what is granted without',
      granted: role('ClusterRole', [PODS]),
      held: [{ rules: [NAMED] }],
      isHeld: false,
    },
    {
      name: 'the same paths',
      granted: role('ClusterRole', [METRICS]),
      held: [{ rules: [METRICS] }],
      isHeld: true,
    },
    { name: 'no paths', granted: role('ClusterRole', [METRICS]), held: [{ rules: [PODS] }], isHeld: false },
  ];
  for (const { name, granted, held, isHeld } of cases) {
    it(`operator/CCM-R01: ${isHeld ? 'is content with' : 'finds a role when the operator holds'} ${name}`, () => {
      const rules = lintHeldRights([granted], held).map(({ rule }) => rule);
      assert.deepEqual(rules, isHeld ? [] : ['CCM-R01']);
    });
  }

  it('operator/CCM-R01: says what is not held', () => {
    assert.partialDeepStrictEqual(lintHeldRights([role('ClusterRole', [PODS])], []), [
      { severity: 'error', message: 'ClusterRole/acme: get,list on pods is not held by the operator' },
    ]);
  });
});

describe('lintImageReferences', () => {
  it('operator/CCM-I02: finds nothing in what the platforms come to', () => {
    assert.deepEqual(lintImageReferences(PLATFORMS, imageReferences(PLATFORMS)), []);
  });

  it('operator/CCM-I02: finds a key without a tag, and a tag without a key', () => {
    const stream = imageReferences(PLATFORMS);
    const [, first, ...rest] = stream.spec.tags;
    const operator = stream.spec.tags[0] ?? assert.fail('no tags');
    const tags = [operator, { ...operator, name: 'stray' }, ...rest];
    const found = lintImageReferences(PLATFORMS, { ...stream, spec: { tags } });
    assert.deepEqual(
      found.map(({ severity, rule, message }) => `${severity} ${rule} ${message}`),
      [
        `error CCM-I02 image key cloudControllerManagerAWS has no payload tag ${first?.name} in image-references`,
        'error CCM-I02 payload tag stray of image-references has no image key',
      ],
    );
  });
});
