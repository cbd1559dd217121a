import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../src/api/generated/admissionregistration-v1.ts';
import type { DaemonSet, Deployment } from '../../src/api/generated/apps-v1.ts';
import type { ConfigMap, Service } from '../../src/api/generated/core-v1.ts';
import type { PodTemplateSpec } from '../../src/api/generated/core-v1-types.ts';
import type { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../src/api/generated/rbac-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Operands of one namespace, as a provider renders them: with little of what a server fills in. */
export class Operands {
  readonly namespace: string;
  /** Every operand has it, and no operand of others: some are in no namespace. */
  readonly labels: Readonly<Record<string, string>>;

  constructor(namespace: string) {
    this.namespace = namespace;
    this.labels = { 'slipway.dev/managed-by': namespace };
  }

  deployment(edit: { readonly app?: string; readonly image?: string } = {}): Deployment {
    const { app = 'ccm', image = 'example.com/ccm:1' } = edit;
    const { metadata, spec } = this.#workload('ccm', app, image);
    return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 2, ...spec } } as Deployment;
  }

  daemonSet(edit: { readonly app?: string; readonly image?: string } = {}): DaemonSet {
    const { app = 'cnm', image = 'example.com/cnm:1' } = edit;
    return { apiVersion: 'apps/v1', kind: 'DaemonSet', ...this.#workload('cnm', app, image) } as DaemonSet;
  }

  configMap(data: Readonly<Record<string, string>> = { a: '1' }): ConfigMap {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: this.#metadata('settings'), data };
  }

  budget(minAvailable = 1): PodDisruptionBudget {
    const spec = { minAvailable, selector: { matchLabels: { app: 'ccm' } } };
    return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: this.#metadata('ccm'), spec };
  }

  role(verbs: readonly string[] = ['get']): Role {
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs }];
    return { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: this.#metadata('ccm'), rules };
  }

  clusterRole(verbs: readonly string[] = ['get']): ClusterRole {
    const rules = [{ apiGroups: [''], resources: ['nodes'], verbs }];
    return { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: this.#clusterMetadata(), rules };
  }

  /** Without the groups that a server fills in. */
  roleBinding(role = 'ccm', user = 'someone'): RoleBinding {
    return {
      ...this.#binding('Role', role, user),
      kind: 'RoleBinding',
      metadata: this.#metadata('ccm'),
    } as RoleBinding;
  }

  clusterRoleBinding(role = this.#clusterName(), user = 'someone'): ClusterRoleBinding {
    const metadata = this.#clusterMetadata();
    return {
      ...this.#binding('ClusterRole', role, user),
      kind: 'ClusterRoleBinding',
      metadata,
    } as ClusterRoleBinding;
  }

  policy(expressions: readonly string[] = ['true']): ValidatingAdmissionPolicy {
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nodes'] }];
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: this.#clusterMetadata(),
      spec: {
        matchConstraints: { resourceRules },
        validations: expressions.map((expression) => ({ expression })),
      },
    } as ValidatingAdmissionPolicy;
  }

  policyBinding(actions: readonly string[] = ['Audit']): ValidatingAdmissionPolicyBinding {
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: this.#clusterMetadata(),
      spec: { policyName: this.#clusterName(), validationActions: actions, matchResources: {} },
    } as ValidatingAdmissionPolicyBinding;
  }

  service(ports: readonly number[] = [10_258]): Service {
    const spec = {
      selector: { app: 'ccm' },
      ports: ports.map((port) => ({ name: `port-${port}`, port })),
    };
    return { apiVersion: 'v1', kind: 'Service', metadata: this.#metadata('ccm'), spec } as Service;
  }

  /** One of each kind. */
  all(): readonly KubeObject[] {
    return [
      this.configMap(),
      this.role(),
      this.roleBinding(),
      this.clusterRole(),
      this.clusterRoleBinding(),
      this.policy(),
      this.policyBinding(),
      this.deployment(),
      this.daemonSet(),
      this.budget(),
      this.service(),
    ];
  }

  /** The same a release later: everything changed, some of it in ways that no server allows. */
  later(): readonly KubeObject[] {
    return [
      this.configMap({ b: '2' }),
      this.role(['get', 'list']),
      this.roleBinding('other'),
      this.clusterRole(['get', 'list']),
      this.clusterRoleBinding(`${this.#clusterName()}-other`),
      this.policy(['true', '1 == 1']),
      this.policyBinding(['Warn']),
      this.deployment({ app: 'ccm-later' }),
      this.daemonSet({ image: 'example.com/cnm:2' }),
      this.budget(2),
      this.service([10_259]),
    ];
  }

  #binding(kind: string, name: string, user: string) {
    return {
      apiVersion: `${RBAC}/v1`,
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: [
        { kind: 'User', name: user },
        { kind: 'Group', name: 'some' },
        { kind: 'ServiceAccount', name: 'ccm', namespace: this.namespace },
      ],
    };
  }

  #workload(name: string, app: string, image: string) {
    const template: PodTemplateSpec = {
      metadata: { labels: { app }, annotations: { 'target.workload.openshift.io/management': '{}' } },
      spec: {
        hostNetwork: true,
        serviceAccountName: name,
        containers: [
          {
            name,
            image,
            command: ['/bin/sh', '-c', 'exec ccm'],
            ports: [{ name: 'https', containerPort: 10_258 }],
            resources: { requests: { cpu: '0.2', memory: '50Mi' } },
            livenessProbe: { httpGet: { path: '/healthz', port: 10_258 } },
            volumeMounts: [{ name: 'conf', mountPath: '/etc/conf' }],
          },
        ],
        volumes: [
          { name: 'conf', configMap: { name: 'configmap' } },
          { name: 'credentials', secret: { secretName: 'secret' } },
          { name: 'scratch' },
        ],
      },
    } as PodTemplateSpec;
    return { metadata: this.#metadata(name), spec: { selector: { matchLabels: { app } }, template } };
  }

  #metadata(name: string) {
    return { name, namespace: this.namespace, labels: this.labels };
  }

  #clusterName(): string {
    return `ccm-${this.namespace}`;
  }

  #clusterMetadata() {
    return { name: this.#clusterName(), labels: this.labels };
  }
}
