import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { kindFiles } from '../../scripts/generate-kinds.ts';
import { Deployment, type DeploymentSpec } from '../../src/api/generated/apps-v1.ts';
import type { Lease } from '../../src/api/generated/coordination-v1.ts';
import type { ConfigMap, Namespace, Pod, PodSpec } from '../../src/api/generated/core-v1.ts';
import { apiVersionOf, type Kind, resourceOf } from '../../src/api/object.ts';
import type { InputOf, KindOf } from '../../src/api/schema/define-kind.ts';
import { builtinResources } from '../../src/apiserver/builtin-data/builtin-resources.ts';

const FOLDER = join(import.meta.dirname, '../../src/api/generated');
const TABLES = join(import.meta.dirname, '../../src/apiserver/generated');
/** K2, with those that deployments need besides. */
const GROUPS = [
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
];

async function allKinds(): Promise<readonly Kind[]> {
  const modules: readonly Readonly<Record<string, Kind>>[] = await Promise.all(
    globSync('*.ts', { cwd: FOLDER }).map((file) => import(pathToFileURL(join(FOLDER, file)).href)),
  );
  return modules.flatMap((module) => Object.values(module));
}

const identityOf = (kind: Omit<Kind, 'scope'>, isNamespaced: boolean): string =>
  `${resourceOf(kind)} ${apiVersionOf(kind)} ${kind.kind} ${isNamespaced ? 'Namespaced' : 'Cluster'}`;

describe('the built-in kinds', () => {
  it('style/S9: are what the generator writes from the tables', () => {
    const present = new Map(
      globSync('*.ts', { cwd: FOLDER }).map((file) => [basename(file), readFileSync(join(FOLDER, file), 'utf8')]),
    );
    assert.deepEqual(Object.fromEntries(present), Object.fromEntries(kindFiles(TABLES)));
  });

  it('runtime/K2: are all that the server has, with the same names and scope', async () => {
    const kinds = await allKinds();
    const got = kinds.map((kind) => identityOf(kind, kind.scope === 'Namespaced')).toSorted();
    assert.deepEqual(
      got,
      builtinResources()
        .map((resource) => identityOf(resource, resource.isNamespaced))
        .toSorted(),
    );
    assert.deepEqual(
      GROUPS.filter((group) => !kinds.some((kind) => kind.group === group)),
      [],
    );
  });

  it('runtime/K2: are types and tiny constants without prose or zod', async () => {
    for (const [name, text] of kindFiles(TABLES)) {
      assert.match(text, /^\/\/ Written by scripts\/generate-kinds\.ts/);
      assert.doesNotMatch(text, /zod|\/\*\*/, name);
      // Nothing is loaded at run time: every import is of types.
      assert.deepEqual(text.match(/^(import|export) (?!type|interface|const)/gm), null, name);
    }
    for (const kind of await allKinds()) assert.ok(Object.keys(kind).length <= 6);
  });

  it('runtime/K1: have types that say what may be written and what is there', () => {
    const pod: InputOf<typeof Pod> = {
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'a', image: 'b', ports: [{ containerPort: 80, protocol: 'TCP' }] }] },
    };
    const template: DeploymentSpec['template'] = {
      metadata: { labels: { a: 'b' } },
      ...(pod.spec && { spec: pod.spec }),
    };
    const deployment: KindOf<typeof Deployment> = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { selector: { matchLabels: { a: 'b' } }, template, strategy: { rollingUpdate: { maxSurge: '25%' } } },
    };
    const namespace: InputOf<typeof Namespace> = { metadata: { name: 'a' } };
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'a' },
      spec: {},
    };
    const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } };
    // @ts-expect-error: a name that the kind does not have
    const wrong: PodSpec = { containers: [], contaners: [] };
    // @ts-expect-error: the kind is fixed
    const other: Lease = { ...lease, kind: 'Leash' };
    const parts = [Deployment, deployment.spec.selector, namespace.spec, map.data, wrong.containers, other.spec];
    assert.equal(parts.length, 6);
  });
});
