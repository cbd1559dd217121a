import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/generated/admissionregistration-v1.ts';
import type { DaemonSet, Deployment } from '../../api/generated/apps-v1.ts';
import type { Container, EnvVar, Pod, PodSpec } from '../../api/generated/core-v1.ts';
import type { RoleBinding } from '../../api/generated/rbac-v1.ts';
import type { KubeObject, Mutable } from '../../api/object.ts';
import type { Proxy } from '../../api/openshift/config-v1.ts';
import { mutable } from '../../object/mutable.ts';
import { type CloudProviderDefinition, MANAGED_NAMESPACE, type RenderContext } from '../definition.ts';

type Draft = Mutable<KubeObject>;

const INFRASTRUCTURE_NAME = 'OCP_INFRASTRUCTURE_NAME';

/** What a rendered operand becomes in this cluster (R25): a copy, whatever was given stays as it was. */
export function substituteOperand(
  rendered: KubeObject,
  definition: CloudProviderDefinition,
  context: RenderContext,
): KubeObject {
  const object = mutable(rendered);
  replaceNamespace(object, context.managedNamespace);
  replaceImages(object, definition, context);
  nameInfrastructure(object, context.infra.status?.infrastructureName ?? '');
  addProxy(object, context.proxy);
  if (isDeployment(object) && context.singleReplica) object.spec.replicas = 1;
  return object;
}

/** The same for a static pod: its images, the namespace of static pods (R95), and no file that is not there (R87). */
export function substituteStaticPod(
  rendered: KubeObject,
  definition: CloudProviderDefinition,
  context: RenderContext,
): KubeObject {
  const object = mutable(rendered);
  replaceImages(object, definition, context);
  if ((context.infra.spec?.cloudConfig?.name ?? '') === '') leaveOutCloudConfig(object);
  object.metadata.namespace = 'kube-system';
  return object;
}

// Decoding has made sure of the shape of each kind.
const isDeployment = (object: Draft): object is Mutable<Deployment> => object.kind === 'Deployment';
const isDaemonSet = (object: Draft): object is Mutable<DaemonSet> => object.kind === 'DaemonSet';
const isPod = (object: Draft): object is Mutable<Pod> => object.kind === 'Pod';
const isBinding = (object: Draft): object is Mutable<RoleBinding> =>
  object.kind === 'RoleBinding' || object.kind === 'ClusterRoleBinding';
const isPolicy = (object: Draft): object is Mutable<ValidatingAdmissionPolicy> =>
  object.kind === 'ValidatingAdmissionPolicy';
const isPolicyBinding = (object: Draft): object is Mutable<ValidatingAdmissionPolicyBinding> =>
  object.kind === 'ValidatingAdmissionPolicyBinding';

function podSpecOf(object: Draft): Mutable<PodSpec> | undefined {
  if (isDeployment(object) || isDaemonSet(object)) return object.spec?.template?.spec;
  return isPod(object) ? object.spec : undefined;
}

const containersOf = (object: Draft): Mutable<Container>[] => podSpecOf(object)?.containers ?? [];
const initContainersOf = (object: Draft): Mutable<Container>[] => podSpecOf(object)?.initContainers ?? [];

/** A program ends where the file of the flag is missing; scripts find out themselves whether it is there. */
function leaveOutCloudConfig(object: Draft): void {
  for (const container of containersOf(object)) {
    const { args } = container;
    if (args !== undefined) container.args = args.filter((word) => !word.startsWith('--cloud-config='));
  }
}

/** R25.1: from the status, which is what the cluster has checked; only containers, as init containers stay on the node. */
function addProxy(object: Draft, proxy: Proxy | undefined): void {
  const { httpProxy = '', httpsProxy = '', noProxy = '' } = proxy?.status ?? {};
  const variables: readonly EnvVar[] = [
    { name: 'HTTP_PROXY', value: httpProxy },
    { name: 'HTTPS_PROXY', value: httpsProxy },
    { name: 'NO_PROXY', value: noProxy },
  ].filter(({ value }) => value !== '');
  if (variables.length === 0) return;
  for (const container of containersOf(object)) {
    container.env = [...(container.env ?? []), ...variables.map((variable) => ({ ...variable }))];
  }
}

/** R25.3: by the name of the container, unless the template has named an image of the payload already. */
function replaceImages(
  object: Draft,
  { images }: CloudProviderDefinition,
  { images: configured }: RenderContext,
): void {
  const templated = new Set(Object.keys(images).map((key) => configured.get(key)));
  const byContainer = new Map(
    Object.entries(images).flatMap(([key, { container = [] }]) => {
      const names = typeof container === 'string' ? [container] : container;
      return names.map((name) => [name, configured.get(key) ?? ''] as const);
    }),
  );
  for (const container of [...containersOf(object), ...initContainersOf(object)]) {
    const image = byContainer.get(container.name) ?? '';
    if (image !== '' && !templated.has(container.image)) container.image = image;
  }
}

/** R25.4 */
function nameInfrastructure(object: Draft, name: string): void {
  if (!isDeployment(object) || name === '') return;
  for (const variable of containersOf(object).flatMap(({ env }) => env ?? [])) {
    if (variable.name === INFRASTRUCTURE_NAME && variable.valueFrom === undefined) variable.value = name;
  }
}

/** Not as a part of a longer name, such as that of the namespace of the operator. */
const WORD = new RegExp(`(?<![\\w.-])${MANAGED_NAMESPACE}(?![\\w.-])`, 'g');
const FLAG = '--leader-elect-resource-namespace';
/** As one word, or as part of a script, where the value may be in quotes. */
const FLAG_VALUE = new RegExp(`(?<=${FLAG}(?:=|\\s+)["']?)${MANAGED_NAMESPACE}(?![\\w.-])`, 'g');
const EXPRESSIONS: ReadonlySet<string> = new Set(['expression', 'messageExpression', 'valueExpression']);

/** R25.5: only where a manifest has the default; whatever it has on purpose in another namespace stays there. */
function replaceNamespace(object: Draft, namespace: string): void {
  if (object.metadata.namespace === MANAGED_NAMESPACE) object.metadata.namespace = namespace;
  if (isBinding(object)) for (const subject of object.subjects ?? []) moveSubject(subject, namespace);
  if (isPolicy(object)) replaceExpressions(object.spec, namespace);
  if (isPolicyBinding(object)) moveParameters(object, namespace);
  for (const container of [...containersOf(object), ...initContainersOf(object)]) {
    for (const field of ['command', 'args'] as const) {
      const words = container[field];
      if (words !== undefined) container[field] = withLeaseIn(namespace, words);
    }
  }
}

const withLeaseIn = (namespace: string, words: readonly string[]): string[] =>
  words.map((word, at) => {
    const isValue = words[at - 1] === FLAG && word === MANAGED_NAMESPACE;
    return isValue ? namespace : word.replaceAll(FLAG_VALUE, () => namespace);
  });

function moveParameters({ spec }: Mutable<ValidatingAdmissionPolicyBinding>, namespace: string): void {
  if (spec?.paramRef?.namespace === MANAGED_NAMESPACE) spec.paramRef.namespace = namespace;
}

/** A service account, or the user that it is: `system:serviceaccount:<namespace>:<name>`. */
function moveSubject(subject: { name: string; namespace?: string }, namespace: string): void {
  if (subject.namespace === MANAGED_NAMESPACE) subject.namespace = namespace;
  if (subject.name.startsWith('system:serviceaccount')) {
    subject.name = subject.name.replaceAll(WORD, () => namespace);
  }
}

function replaceExpressions(value: unknown, namespace: string): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Record<string, unknown>;
  for (const [key, item] of Object.entries(fields)) {
    if (typeof item === 'string' && EXPRESSIONS.has(key)) fields[key] = item.replaceAll(WORD, () => namespace);
    else replaceExpressions(item, namespace);
  }
}
