import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '../../src/api/object.ts';
import type { PolicyRule } from '../../src/kube/rbac/rules.ts';

/** A request as the API server wrote it down. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `nodes/status`; empty for a path. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly code: number;
  /** What the authorizer said: `RBAC: allowed by …`. */
  readonly reason: string;
}

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: Partial<
    Readonly<Record<'apiGroup' | 'resource' | 'subresource' | 'namespace' | 'name', string>>
  >;
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What makes an API server write down who asked for what; nothing of what was said (reliability T8.1). */
export class ServerAudit {
  readonly #logFile: string;
  readonly #policyFile: string;

  private constructor(directory: string) {
    this.#logFile = join(directory, 'audit.log');
    this.#policyFile = join(directory, 'audit-policy.yaml');
  }

  static async prepare(directory: string): Promise<ServerAudit> {
    const audit = new ServerAudit(directory);
    const policy = {
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules: [{ level: 'Metadata' }],
    };
    await writeFile(audit.#policyFile, JSON.stringify(policy));
    return audit;
  }

  get serverArguments(): readonly string[] {
    return [`--audit-policy-file=${this.#policyFile}`, `--audit-log-path=${this.#logFile}`];
  }

  /** Of some users, in the order of the log. A watch is there twice when it has ended: it counts from its beginning. */
  async requestsOf(...users: readonly string[]): Promise<readonly AuditedRequest[]> {
    // The last line may still be written.
    const lines = (await readFile(this.#logFile, 'utf8')).split('\n').slice(0, -1);
    return lines
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(({ user }) => users.includes(user.username))
      .map(requestOf);
  }
}

function requestOf({
  verb,
  requestURI,
  user,
  objectRef,
  responseStatus,
  annotations,
}: AuditEvent): AuditedRequest {
  const asked = { apiGroup: '', resource: '', subresource: '', namespace: '', name: '', ...objectRef };
  return {
    user: user.username,
    verb,
    group: asked.apiGroup,
    resource: asked.subresource === '' ? asked.resource : `${asked.resource}/${asked.subresource}`,
    namespace: asked.namespace,
    name: asked.name,
    path: requestURI,
    code: responseStatus?.code ?? 0,
    reason: annotations?.['authorization.k8s.io/reason'] ?? '',
  };
}

/** `get nodes`, `update leases.coordination.k8s.io "x" in kube-system`. */
export interface Permission {
  readonly role: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty: everywhere. */
  readonly namespace: string;
  /** Empty: any. */
  readonly name: string;
}

interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[];
}

interface Binding extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

const userOf = ({ name, namespace = '' }: { readonly name: string; readonly namespace?: string }): string =>
  `system:serviceaccount:${namespace}:${name}`;

/** Every single permission that rendered roles give, by the user who gets it. */
export function permissionsByUser(objects: readonly KubeObject[]): ReadonlyMap<string, readonly Permission[]> {
  const given = new Map<string, Permission[]>();
  const bindings = objects.filter(
    (one): one is Binding => one.kind === 'ClusterRoleBinding' || one.kind === 'RoleBinding',
  );
  for (const { roleRef, subjects = [], metadata } of bindings) {
    const role = objects.find(
      (one): one is Role =>
        one.kind === roleRef.kind &&
        one.metadata.name === roleRef.name &&
        (one.metadata.namespace ?? '') === (roleRef.kind === 'Role' ? (metadata.namespace ?? '') : ''),
    );
    const permissions = (role?.rules ?? []).flatMap((rule) => permissionsOf(rule, role?.metadata ?? metadata));
    for (const subject of subjects)
      given.set(userOf(subject), [...(given.get(userOf(subject)) ?? []), ...permissions]);
  }
  return given;
}

function permissionsOf(
  { apiGroups, resources, verbs, resourceNames = [''] }: PolicyRule,
  { name: role, namespace = '' }: KubeObject['metadata'],
): readonly Permission[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name) => ({ role, verb, group, resource, namespace, name }))),
    ),
  );
}

/** For people. */
const permissionText = ({ verb, group, resource, namespace, name }: Permission): string =>
  [
    verb,
    group === '' ? resource : `${resource}.${group}`,
    ...(name === '' ? [] : [`"${name}"`]),
    ...(namespace === '' ? [] : [`in ${namespace}`]),
  ].join(' ');

/** Permissions that no request of the user came under. */
export const unusedOf = (
  permissions: readonly Permission[],
  requests: readonly AuditedRequest[],
): readonly string[] =>
  permissions
    .filter((permission) => !requests.some((request) => isUnder(permission, request)))
    .map(permissionText)
    .toSorted();

const isUnder = ({ verb, group, resource, namespace, name }: Permission, asked: AuditedRequest): boolean =>
  asked.verb === verb &&
  asked.group === group &&
  (resource === '*' || asked.resource === resource) &&
  (namespace === '' || asked.namespace === namespace) &&
  (name === '' || asked.name === name);

/** What the server refused: `403 create pods in default`. */
export const refusedOf = (requests: readonly AuditedRequest[]): readonly string[] =>
  requests
    .filter(({ code }) => code === 401 || code === 403)
    .map(({ code, user, verb, resource, path }) => `${code} ${user}: ${verb} ${resource || path}`);
