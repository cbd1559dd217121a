import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acmeDefinition, acmeNeeds, plainDefinition } from '../../../test/support/acme-definition.ts';
import type { ClusterRole, RoleBinding } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { installManifests, installNeeds } from '../index.ts';
import { type InstallOptions, installNames } from './install-options.ts';
import { accountAndRoles } from './roles.ts';

const names = installNames(acmeDefinition());

const rendered = (options: Pick<InstallOptions, 'usesAccounts' | 'securePort'> = {}): readonly KubeObject[] =>
  accountAndRoles(names, acmeNeeds(names.namespace), options);

const place = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  [kind, ...(namespace === undefined ? [] : [namespace]), name].join(' ');

const find = <T extends KubeObject>(objects: readonly KubeObject[], where: string): T => {
  const found = objects.find((object) => place(object) === where);
  assert.ok(found, `${where} is not among ${objects.map(place).join(', ')}`);
  return found as T;
};

const OWN = 'acme-cloud-controller-manager';

describe('the roles of the cloud controller manager', () => {
  it('ccm/O6: are one identity with roles and bindings, under names that are the only ones of the provider', () => {
    assert.deepEqual(rendered().map(place), [
      `ServiceAccount ${OWN} cloud-controller-manager`,
      `ClusterRole ${OWN}`,
      `ClusterRoleBinding ${OWN}`,
      `Role ${OWN} ${OWN}`,
      `RoleBinding ${OWN} ${OWN}`,
      `RoleBinding kube-system ${OWN}-authentication-reader`,
    ]);
  });

  it('operator/D1: are not those of an installation without an operator', () => {
    const installed = { image: 'example.com/ccm:1', namespace: 'openshift-acme' };
    const definition = acmeDefinition();
    const placesOf = (operated: boolean) => {
      const options = { ...installed, operated, usesAccounts: true };
      return installManifests(definition, installNeeds(definition, options), options).roles.map(place);
    };
    const [operated, plain] = [placesOf(true), placesOf(false)];
    const isShared = (where: string) => !where.includes(' openshift-acme ');
    assert.deepEqual(
      operated.filter((where) => isShared(where) && plain.includes(where)),
      [],
    );
    assert.ok(operated.includes('ClusterRole openshift-acme'));
    assert.ok(operated.includes('RoleBinding kube-system openshift-acme-authentication-reader'));
  });

  it('ccm/O6: hold what the controllers say they need, and nothing else', () => {
    const { rules } = find<ClusterRole>(rendered(), `ClusterRole ${OWN}`);
    assert.deepEqual(rules, [
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      {
        apiGroups: [''],
        resources: ['nodes'],
        verbs: ['get', 'list', 'watch', 'update', 'patch', 'delete'],
      },
      { apiGroups: [''], resources: ['nodes/status', 'services/status'], verbs: ['patch'] },
      { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ]);
  });

  it('ccm/O6: let it have its one lease in the namespace that it runs in', () => {
    const { rules } = find<ClusterRole>(rendered(), `Role ${OWN} ${OWN}`);
    const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
    assert.deepEqual(rules, [
      { ...lease, verbs: ['create'] },
      { ...lease, resourceNames: ['cloud-controller-manager'], verbs: ['get', 'update'] },
    ]);
  });

  it('ccm/O6: are given to the account that the pods run as', () => {
    const subject = { kind: 'ServiceAccount', name: 'cloud-controller-manager', namespace: OWN };
    const bindings = rendered().filter(({ kind }) =>
      kind.endsWith('Binding'),
    ) as unknown as readonly RoleBinding[];
    assert.deepEqual(
      bindings.map(({ subjects }) => subjects),
      bindings.map(() => [subject]),
    );
    assert.equal(bindings.at(-1)?.roleRef.name, 'extension-apiserver-authentication-reader');
  });

  it('ccm/O6: have nothing about who signs certificates when nobody can come in', () => {
    const kinds = rendered({ securePort: 0 }).map(place);
    assert.ok(!kinds.some((kind) => kind.endsWith('-authentication-reader')));
  });

  it('ccm/O6, ccm/O11: with an account per controller, let it make accounts and tokens in kube-system only', () => {
    const objects = rendered({ usesAccounts: true });
    assert.deepEqual(find<ClusterRole>(objects, `Role kube-system ${OWN}`).rules, [
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get', 'create'] },
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
    ]);
    const own = find<ClusterRole>(objects, `ClusterRole ${OWN}`).rules ?? [];
    assert.deepEqual(
      own.filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch', 'create'].includes(verb))),
      [],
      'it writes nothing as itself',
    );
  });

  it('ccm/O6: give an account per controller only what the built-in role of Kubernetes lacks', () => {
    const objects = rendered({ usesAccounts: true });
    const more = objects.filter(({ metadata }) => metadata.name.endsWith('-controller'));
    assert.deepEqual(more.map(place), [
      `ClusterRole ${OWN}-service-controller`,
      `ClusterRoleBinding ${OWN}-service-controller`,
    ]);
    const [role, binding] = more as unknown as readonly [ClusterRole, RoleBinding];
    assert.deepEqual(role.rules, [{ apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] }]);
    assert.deepEqual(binding.subjects, [
      { kind: 'ServiceAccount', name: 'service-controller', namespace: 'kube-system' },
    ]);
  });

  it('ccm/O6, ccm/P14: of the real program may change Services in their status only, and nothing about routes', () => {
    const definition = acmeDefinition();
    const { roles } = installManifests(definition, installNeeds(definition), { image: 'example.com/ccm:1' });
    const { rules = [] } = find<ClusterRole>(roles, `ClusterRole ${OWN}`);
    const verbsOn = (resource: string) =>
      rules.flatMap(({ resources = [], verbs }) => (resources.includes(resource) ? verbs : []));
    assert.deepEqual(verbsOn('services'), ['get', 'list', 'watch']);
    assert.deepEqual(verbsOn('services/status'), ['patch']);
    assert.deepEqual(verbsOn('nodes'), ['get', 'list', 'watch', 'update', 'patch', 'delete']);
    assert.deepEqual(verbsOn('nodes/status'), ['patch']);
    const lease = find<ClusterRole>(roles, `Role ${OWN} ${OWN}`).rules ?? [];
    assert.ok(lease.some(({ resourceNames = [] }) => resourceNames.includes('cloud-controller-manager')));
  });

  it('ccm/O6: of a program without load balancers say nothing about Services', () => {
    const definition = plainDefinition();
    const { roles } = installManifests(definition, installNeeds(definition), { image: 'example.com/ccm:1' });
    assert.ok(!JSON.stringify(roles).includes('services'));
  });

  it('are refused for a need that no role may hold', () => {
    const process = [{ group: '', resource: '*', verbs: ['get'] }] as const;
    assert.throws(() => accountAndRoles(names, { process, accounts: new Map() }, {}), { reason: 'WildcardNeed' });
  });
});
