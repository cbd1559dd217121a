import { CLUSTER_NAME_LABEL, type MachineAddress } from '../../../api/cluster-api/core-v1beta2.ts';
import { diskFormatOf, Metal3Machine } from '../../../api/metal3/infrastructure-v1beta2.ts';
import type { BareMetalHost, HostImage } from '../../../api/metal3/metal3-v1alpha1.ts';
import { apiVersionOf } from '../../../api/object.ts';
import { userError } from '../../../base/errors.ts';
import { labelSelectorOf, matchesLabels } from '../../../object/label-selector.ts';
import { stateOf } from './host-states.ts';

type HostSpec = NonNullable<BareMetalHost['spec']>;

const NOT_FOR_US = [
  'baremetalhost.metal3.io/paused',
  'capi.metal3.io/unhealthy',
  'capm3.metal3.io/unhealthy',
] as const;

/** Whether somebody may take the host (S12): free, healthy, and what the machine asks for. */
function isFreeFor(host: BareMetalHost, machine: Metal3Machine): boolean {
  // Plain JSON, whatever its type names.
  const selector = labelSelectorOf(JSON.parse(JSON.stringify(machine.spec?.hostSelector ?? {})));
  return isFree(host) && isHealthy(host) && matchesLabels(selector, { ...host.metadata.labels });
}

/** A host with an image and no consumer was booted by hand: somebody uses it. */
function isFree(host: BareMetalHost): boolean {
  const { consumerRef, image } = hostSpec(host);
  return stateOf(host) === 'available' && consumerRef === undefined && image === undefined;
}

function isHealthy({ metadata, status = {} }: BareMetalHost): boolean {
  const { annotations = {}, deletionTimestamp } = metadata;
  const { errorMessage = '' } = status;
  return (
    deletionTimestamp === undefined &&
    errorMessage === '' &&
    !NOT_FOR_US.some((annotation) => Object.hasOwn(annotations, annotation))
  );
}

export const isConsumedBy = ({ spec }: BareMetalHost, { metadata }: Metal3Machine): boolean =>
  spec?.consumerRef?.kind === Metal3Machine.kind &&
  spec.consumerRef.name === metadata.name &&
  (spec.consumerRef.namespace ?? metadata.namespace) === metadata.namespace;

/** By name, so that the same hosts are taken every time; Metal3 itself picks any. */
export const chosenHost = (hosts: readonly BareMetalHost[], machine: Metal3Machine): BareMetalHost | undefined =>
  hosts.find((host) => isConsumedBy(host, machine)) ??
  hosts
    .filter((host) => isFreeFor(host, machine))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .at(0);

export function claimedHost(host: BareMetalHost, machine: Metal3Machine, clusterName: string): BareMetalHost {
  const { namespace = '', name } = machine.metadata;
  return {
    ...host,
    metadata: { ...host.metadata, labels: { ...host.metadata.labels, [CLUSTER_NAME_LABEL]: clusterName } },
    spec: {
      ...hostSpec(host),
      consumerRef: { apiVersion: apiVersionOf(Metal3Machine), kind: Metal3Machine.kind, name, namespace },
    },
  };
}

/** The host with what the machine is to become. An image that it has is not replaced: that takes another machine. */
export function provisionedHost(host: BareMetalHost, machine: Metal3Machine): BareMetalHost {
  const { namespace = '' } = machine.metadata;
  const { userData, metaData } = (machine.status ?? {}) as SecretsOfMachine;
  const spec = hostSpec(host);
  const isNew = spec.image === undefined;
  const { automatedCleaningMode } = machine.spec ?? {};
  return {
    ...host,
    spec: {
      ...spec,
      ...(isNew && {
        image: imageOf(machine),
        ...(userData?.name !== undefined && { userData: { name: userData.name, namespace } }),
        ...(metaData?.name !== undefined && { metaData: { name: metaData.name, namespace } }),
      }),
      ...(automatedCleaningMode !== undefined && { automatedCleaningMode }),
      online: true,
    },
  };
}

interface SecretsOfMachine {
  readonly userData?: { readonly name?: string };
  readonly metaData?: { readonly name?: string };
}

function imageOf(machine: Metal3Machine): HostImage {
  const { image = {} } = machine.spec ?? {};
  const { url = '', checksum, checksumType } = image;
  if (url === '')
    throw userError(
      'InvalidImage',
      'spec.image.url is empty; name an image: the lab does not simulate spec.customDeploy without one',
    );
  const format = diskFormatOf(image);
  return {
    url,
    ...(checksum !== undefined && { checksum }),
    ...(checksumType !== undefined && { checksumType }),
    ...(format !== undefined && { format }),
  };
}

/** The host without anything of the machine, still held by it (S15). */
export function emptiedHost(host: BareMetalHost): BareMetalHost {
  const { image: _image, userData: _user, metaData: _meta, networkData: _network, ...rest } = hostSpec(host);
  const { customDeploy: _deploy, ...spec } = rest;
  return { ...host, spec: { ...spec, online: false } };
}

/** Nothing of the last machine is on it any more. */
export const isEmptied = (host: BareMetalHost): boolean =>
  host.spec?.image === undefined &&
  host.spec?.online !== true &&
  !['preparing', 'provisioning', 'provisioned', 'deprovisioning'].includes(stateOf(host));

export function releasedHost(host: BareMetalHost): BareMetalHost {
  const { consumerRef: _consumer, ...spec } = hostSpec(host);
  const { [CLUSTER_NAME_LABEL]: _cluster, ...labels } = host.metadata.labels ?? {};
  return { ...host, metadata: { ...host.metadata, labels }, spec };
}

const hostSpec = ({ spec }: BareMetalHost): HostSpec => spec ?? { online: false };

export function addressesOf({ status }: BareMetalHost): readonly MachineAddress[] {
  const { nics = [], hostname = '' } = status?.hardware ?? {};
  return [
    ...nics.flatMap(({ ip = '' }) => (ip === '' ? [] : [{ type: 'InternalIP', address: ip }])),
    ...(hostname === ''
      ? []
      : [
          { type: 'Hostname', address: hostname },
          { type: 'InternalDNS', address: hostname },
        ]),
  ];
}
