import type {
  OpenshiftAssistedControlPlane,
  OpenshiftAssistedControlPlaneTemplate,
} from '../../api/agent/controlplane-v1alpha3.ts';
import { installConfigOverride } from '../cluster-deployment/install-config.ts';
import { platformFields } from '../cluster-deployment/platform.ts';
import { unsupportedVersion } from '../release/release-image.ts';
import { type BootInput, bootAdvice, bootMethodProblem, lostFields, userMessage } from './config-advice.ts';

/** Machines of a control plane take its annotations over, and its config. */
const bootInputOf = ({ metadata: { annotations }, spec }: OpenshiftAssistedControlPlane): BootInput => ({
  ...(annotations !== undefined && { annotations }),
  ...(spec.openshiftAssistedConfigSpec !== undefined && { spec: spec.openshiftAssistedConfigSpec }),
});

/** Why the control plane cannot be meant; undefined when it can. Only annotations that upstream does not know are looked at. */
export const controlPlaneProblem = (object: OpenshiftAssistedControlPlane): string | undefined =>
  bootMethodProblem(bootInputOf(object)) ?? userMessage(() => platformFields(object));

/** What upstream takes as well and reports later, if at all. */
export function controlPlaneAdvice(object: OpenshiftAssistedControlPlane): readonly string[] {
  const { distributionVersion } = object.spec;
  const unsupported = unsupportedVersion(distributionVersion);
  const override = userMessage(() => installConfigOverride(object, false));
  return [
    ...(unsupported === undefined ? [] : [`${unsupported}; no machine is made: set spec.distributionVersion`]),
    ...(override === undefined ? [] : [override]),
    ...bootAdvice(bootInputOf(object), 'spec.openshiftAssistedConfigSpec'),
  ];
}

/** Fields that the stored version had and has no more (X8). */
export function lostControlPlaneFields(
  { spec: old }: OpenshiftAssistedControlPlane,
  { spec }: OpenshiftAssistedControlPlane,
): readonly string[] {
  const [before, now] = [old.openshiftAssistedConfigSpec, spec.openshiftAssistedConfigSpec];
  const isAliasLost = old.machineTemplate.spec !== undefined && spec.machineTemplate.spec === undefined;
  return [
    ...lostFields(before, now, 'spec.openshiftAssistedConfigSpec'),
    ...(isAliasLost ? ['spec.machineTemplate.spec'] : []),
    ...(old.version !== undefined && spec.version === undefined ? ['spec.version'] : []),
  ];
}

/** What a template says that no patch of a ClusterClass changes: its annotations, and how machines boot. */
function unpatched({ metadata, spec: { template } }: OpenshiftAssistedControlPlaneTemplate) {
  const { metadata: { annotations } = {}, spec } = template;
  const { openshiftAssistedConfigSpec } = spec;
  const made = { metadata: { ...metadata, annotations }, spec: { openshiftAssistedConfigSpec } };
  // What else a control plane has comes with a Cluster, and is judged then.
  return made as unknown as OpenshiftAssistedControlPlane;
}

export const controlPlaneTemplateProblem = (template: OpenshiftAssistedControlPlaneTemplate): string | undefined =>
  controlPlaneProblem(unpatched(template));

export const controlPlaneTemplateAdvice = (template: OpenshiftAssistedControlPlaneTemplate): readonly string[] =>
  bootAdvice(bootInputOf(unpatched(template)), 'spec.template.spec.openshiftAssistedConfigSpec');
