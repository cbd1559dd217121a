import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import {
  CLONED_FROM_GROUP_KIND_ANNOTATION,
  CLONED_FROM_NAME_ANNOTATION,
  CONVERSION_DATA_ANNOTATION,
  type ContractReference,
  type Machine,
} from '../../api/cluster-api/core-v1beta2.ts';
import { type ApplyOf, apiVersionOf, type Kind } from '../../api/object.ts';
import { fieldAt, type Unstructured } from '../../api/unstructured.ts';
import { userError } from '../../base/errors.ts';
import { ownedBy } from '../../object/owner-references.ts';
import { isRecord } from '../../object/record.ts';
import { controlPlaneLabels } from '../control-plane/labels.ts';
import { namespaceOf, plainOwner } from '../control-plane/ownership.ts';
import { machineDeletion } from './up-to-date.ts';

type TextMap = Readonly<Record<string, string>>;

/** Which Machine is to be made: its config and its infrastructure machine have the same name (C15). */
export interface MachineIdentity {
  readonly object: OpenshiftAssistedControlPlane;
  readonly clusterName: string;
  readonly name: string;
}

const ROLE_ANNOTATION = 'bmac.agent-install.openshift.io/role';
const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** What is said about the control plane itself and would be wrong of its configs (X28). */
const NOT_COPIED: ReadonlySet<string> = new Set([
  CONVERSION_DATA_ANNOTATION,
  LAST_APPLIED_ANNOTATION,
  CLONED_FROM_NAME_ANNOTATION,
  CLONED_FROM_GROUP_KIND_ANNOTATION,
]);

/** Where names of Machines begin. */
export const namePrefix = ({ metadata: { name } }: OpenshiftAssistedControlPlane): string => `${name}-`;

/** The template of Machines: the place of the contract, where a ClusterClass writes it, counts where the old one is empty (X6). */
export function infrastructureReference({ spec }: OpenshiftAssistedControlPlane): ContractReference {
  const { infrastructureRef: given, spec: alias } = spec.machineTemplate;
  const found = given ?? alias?.infrastructureRef;
  if (found !== undefined) return found;
  const message = 'spec.machineTemplate.infrastructureRef is not set; name the template of the Machines there';
  throw userError('InfrastructureTemplateCloningFailed', message);
}

const metadataOf = ({ object, name }: MachineIdentity) => ({
  namespace: namespaceOf(object),
  name,
  // Says where the name comes from, for whoever reads it; the server makes up nothing.
  generateName: namePrefix(object),
});

const templateAnnotations = ({ spec }: OpenshiftAssistedControlPlane): TextMap =>
  spec.machineTemplate.metadata?.annotations ?? {};

/** The infrastructure machine that a template asks for. Pure. */
export function desiredInfrastructureMachine(
  identity: MachineIdentity,
  template: Unstructured,
  kind: Kind<Unstructured>,
): Unstructured {
  const { object, clusterName } = identity;
  const content = fieldAt(template, 'spec', 'template');
  if (!isRecord(content)) {
    const what = `${template.kind} ${template.metadata.name} has no spec.template`;
    throw userError('InfrastructureTemplateCloningFailed', `${what}; it must hold what Machines are made from`);
  }
  const group = template.apiVersion.slice(0, Math.max(0, template.apiVersion.indexOf('/')));
  const { labels, annotations } = isRecord(content['metadata']) ? content['metadata'] : {};
  return {
    ...content,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      ...metadataOf(identity),
      labels: { ...(isRecord(labels) && textsOf(labels)), ...controlPlaneLabels(object, clusterName) },
      annotations: {
        ...(isRecord(annotations) && textsOf(annotations)),
        ...templateAnnotations(object),
        [CLONED_FROM_NAME_ANNOTATION]: template.metadata.name,
        [CLONED_FROM_GROUP_KIND_ANNOTATION]: `${template.kind}.${group}`,
      },
      ownerReferences: [plainOwner(object)],
    },
  };
}

const textsOf = (map: Readonly<Record<string, unknown>>): TextMap =>
  Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );

/** The config of the Machine. Labels and annotations of the control plane itself go there, too. Pure. */
export function desiredConfig(identity: MachineIdentity): OpenshiftAssistedConfig {
  const { object, clusterName } = identity;
  const { labels = {}, annotations = {} } = object.metadata;
  const copied = Object.entries(annotations).filter(([key]) => !NOT_COPIED.has(key));
  return {
    apiVersion: apiVersionOf(OpenshiftAssistedConfig),
    kind: OpenshiftAssistedConfig.kind,
    metadata: {
      ...metadataOf(identity),
      labels: { ...labels, ...controlPlaneLabels(object, clusterName) },
      annotations: { ...Object.fromEntries(copied), ...templateAnnotations(object) },
      ownerReferences: [plainOwner(object)],
    },
    spec: object.spec.openshiftAssistedConfigSpec ?? {},
  };
}

/** What of a Machine follows its template for as long as it lives. */
export const machineMetadata = ({ object, clusterName }: Omit<MachineIdentity, 'name'>) => ({
  labels: controlPlaneLabels(object, clusterName),
  annotations: { ...templateAnnotations(object), [ROLE_ANNOTATION]: 'master' },
});

/** The Machine, as it is applied when it is made. Pure. */
export function desiredMachine(identity: MachineIdentity, failureDomain: string | undefined): ApplyOf<Machine> {
  const { object, clusterName, name } = identity;
  const { apiGroup, kind } = infrastructureReference(object);
  return {
    metadata: {
      ...metadataOf(identity),
      ...machineMetadata(identity),
      ...ownedBy(object),
    },
    spec: {
      clusterName,
      bootstrap: {
        configRef: {
          apiGroup: OpenshiftAssistedConfig.group,
          kind: OpenshiftAssistedConfig.kind,
          name,
        },
      },
      infrastructureRef: { apiGroup, kind: machineKindOf(kind), name },
      ...(failureDomain !== undefined && { failureDomain }),
      deletion: machineDeletion(object),
    },
  };
}

/** The same for a Machine that exists: everything that is said of it, with its metadata as they should be now. Pure. */
export function refreshedMachine(
  machine: Machine,
  { object, clusterName }: Omit<MachineIdentity, 'name'>,
): ApplyOf<Machine> {
  const { name, uid, generateName } = machine.metadata;
  const { bootstrap, infrastructureRef, failureDomain, deletion } = machine.spec;
  return {
    metadata: {
      namespace: namespaceOf(machine),
      name,
      // Only this very Machine: applying makes what is not there, and this one may be gone.
      ...(uid !== undefined && { uid }),
      ...(generateName !== undefined && { generateName }),
      ...machineMetadata({ object, clusterName }),
      ...ownedBy(object),
    },
    spec: {
      clusterName: machine.spec.clusterName,
      bootstrap: { ...(bootstrap.configRef !== undefined && { configRef: bootstrap.configRef }) },
      infrastructureRef,
      ...(failureDomain !== undefined && { failureDomain }),
      ...(deletion !== undefined && { deletion }),
    },
  };
}

/** `Metal3MachineTemplate` makes a `Metal3Machine`. */
export const machineKindOf = (templateKind: string): string => templateKind.replace(/Template$/, '');
