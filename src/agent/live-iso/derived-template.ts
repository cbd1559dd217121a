import { CLUSTER_NAME_LABEL, Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import type { Metal3MachineTemplate } from '../../api/metal3/infrastructure-v1beta2.ts';
import { apiVersionOf, type Kind } from '../../api/object.ts';
import { childName } from '../../object/name-hash.ts';
import { setOwnerReference } from '../../object/owner-references.ts';
import { DEFAULT_ARCHITECTURE } from '../infra-env/infra-env.ts';
import { withLiveImage } from './live-image.ts';

/** On templates of ours: the template of the user that they were made from. */
export const DERIVED_FROM_ANNOTATION = 'bootstrap.cluster.x-k8s.io/derived-from';

/** Of which cluster, template and architecture an ISO is. */
export interface IsoIdentity {
  readonly cluster: string;
  /** Of the user, never one of ours. */
  readonly template: string;
  readonly architecture: string;
}

/** Pure: no name may have the underscore of `x86_64`. */
export const architectureName = (architecture: string): string =>
  architecture.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** Pure: `<template>-live-iso`, with the architecture where it is not the usual one. */
export function derivedTemplateName({ template, architecture }: IsoIdentity): string {
  const isUsual = architecture === DEFAULT_ARCHITECTURE;
  return childName(template, isUsual ? 'live-iso' : `${architectureName(architecture)}-live-iso`);
}

/** Pure: the template of the user that a machine stems from, also where somebody points at ours. */
export const originOf = (template: Metal3MachineTemplate | undefined, name: string): string =>
  template?.metadata.annotations?.[DERIVED_FROM_ANNOTATION] ?? name;

export interface TemplateParts {
  readonly kind: Kind<Metal3MachineTemplate>;
  readonly origin: Metal3MachineTemplate;
  readonly identity: IsoIdentity;
  readonly cluster: Cluster;
  readonly url: string;
}

/**
 * Pure: the template of the user with the ISO as its image. Machines do not need it: every infrastructure machine gets
 * the image before its host boots, whatever template it stems from. It is for people and GitOps who want a template that
 * says what really boots. It belongs to the Cluster, because a MachineDeployment of zero replicas may still name it.
 */
export function derivedTemplate({ kind, origin, identity, cluster, url }: TemplateParts): Metal3MachineTemplate {
  const { namespace = '', labels = {} } = origin.metadata;
  const { template } = origin.spec;
  const bare: Metal3MachineTemplate = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      name: derivedTemplateName(identity),
      namespace,
      labels: { ...labels, [CLUSTER_NAME_LABEL]: identity.cluster },
      annotations: { [DERIVED_FROM_ANNOTATION]: identity.template },
    },
    spec: { ...origin.spec, template: { ...template, spec: withLiveImage(template.spec, url, kind.version) } },
  };
  return setOwnerReference(cluster, bare, { kind: Cluster });
}

/** Pure: whether a template was made here for this cluster and from this template. */
export const isDerivedFor = (
  { metadata: { annotations = {}, labels = {} } }: Metal3MachineTemplate,
  { cluster, template }: IsoIdentity,
): boolean => annotations[DERIVED_FROM_ANNOTATION] === template && labels[CLUSTER_NAME_LABEL] === cluster;
