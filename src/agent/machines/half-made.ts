import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { CLONED_FROM_NAME_ANNOTATION, type Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Unstructured } from '../../api/unstructured.ts';
import { isOfControlPlane, isOfMachine } from '../control-plane/ownership.ts';
import { infrastructureReference } from './machine-objects.ts';
import { isConfigCurrent } from './up-to-date.ts';

/** What somebody who was killed left: parts of a set whose Machine was never made. */
export interface HalfMadeSet {
  readonly name: string;
  readonly config: OpenshiftAssistedConfig | undefined;
  readonly infrastructure: Unstructured | undefined;
  /** Whether its parts are what would be made now: then only the rest is made. */
  readonly isUsable: boolean;
}

export interface MadeObjects {
  readonly machines: readonly Machine[];
  readonly configs: readonly OpenshiftAssistedConfig[];
  readonly infrastructure: readonly Unstructured[];
}

/** Sets without a Machine, in the order of their names. Pure. */
export function halfMadeSets(
  object: OpenshiftAssistedControlPlane,
  { machines, configs, infrastructure }: MadeObjects,
): readonly HalfMadeSet[] {
  const made = new Set(machines.map(({ metadata: { name } }) => name));
  const isLeft = (part: KubeObject): boolean =>
    isOfControlPlane(part, object) &&
    !isOfMachine(part) &&
    part.metadata.deletionTimestamp === undefined &&
    !made.has(part.metadata.name);
  const left = { configs: configs.filter(isLeft), infrastructure: infrastructure.filter(isLeft) };
  const names = new Set([...left.configs, ...left.infrastructure].map(({ metadata: { name } }) => name));
  return [...names].toSorted().map((name) => {
    const isNamed = ({ metadata }: KubeObject) => metadata.name === name;
    const parts = { config: left.configs.find(isNamed), infrastructure: left.infrastructure.find(isNamed) };
    return { name, ...parts, isUsable: isUsable(object, parts) };
  });
}

function isUsable(
  object: OpenshiftAssistedControlPlane,
  { config, infrastructure }: Pick<HalfMadeSet, 'config' | 'infrastructure'>,
): boolean {
  const template = infrastructure?.metadata.annotations?.[CLONED_FROM_NAME_ANNOTATION];
  const isTemplateSame = template === undefined || template === infrastructureReference(object).name;
  return isTemplateSame && (config === undefined || isConfigCurrent(config, object));
}
