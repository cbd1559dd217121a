import type { Container, Pod, Volume } from '../../../api/generated/core-v1-types.ts';

/** Pure: the first object of the API that a pod needs, as `<resource> (<field>)`; undefined when it needs none (N38). */
export function apiReference({ spec }: Pod): string | undefined {
  const containers = [
    ...spec.containers.map((container, index) => ({ container, path: `spec.containers[${index}]` })),
    ...(spec.initContainers ?? []).map((container, index) => ({
      container,
      path: `spec.initContainers[${index}]`,
    })),
  ];
  const found: readonly (string | undefined)[] = [
    isSet(spec.serviceAccountName) ? 'serviceaccounts (spec.serviceAccountName)' : undefined,
    isFilled(spec.imagePullSecrets) ? 'secrets (spec.imagePullSecrets)' : undefined,
    isFilled(spec.resourceClaims) ? 'resourceclaims (spec.resourceClaims)' : undefined,
    ...containers.flatMap(({ container, path }) => containerReferences(container, path)),
    ...(spec.volumes ?? []).flatMap((volume, index) => volumeReferences(volume, `spec.volumes[${index}]`)),
  ];
  return found.find((reference) => reference !== undefined);
}

const isSet = (text: string | undefined): boolean => text !== undefined && text !== '';
const isFilled = (list: readonly unknown[] | undefined): boolean => list !== undefined && list.length > 0;

function containerReferences({ env = [], envFrom = [] }: Container, path: string): readonly string[] {
  return [
    ...envFrom.flatMap(({ configMapRef, secretRef }, index) => [
      ...(configMapRef === undefined ? [] : [`configmaps (${path}.envFrom[${index}])`]),
      ...(secretRef === undefined ? [] : [`secrets (${path}.envFrom[${index}])`]),
    ]),
    ...env.flatMap(({ valueFrom }, index) => [
      ...(valueFrom?.configMapKeyRef === undefined ? [] : [`configmaps (${path}.env[${index}])`]),
      ...(valueFrom?.secretKeyRef === undefined ? [] : [`secrets (${path}.env[${index}])`]),
    ]),
  ];
}

const SOURCES: Readonly<Record<string, string>> = {
  configMap: 'configmaps',
  secret: 'secrets',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims',
  csi: 'csidrivers',
  serviceAccountToken: 'serviceaccounts',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificaterequests',
};

function volumeReferences({ projected, ...volume }: Volume, path: string): readonly string[] {
  const direct = named(volume, path);
  const sources = (projected?.sources ?? []).flatMap((source, index) =>
    named(source, `${path}.projected.sources[${index}]`),
  );
  return [...direct, ...sources];
}

const named = (sources: object, path: string): readonly string[] =>
  Object.keys(sources).flatMap((key) => {
    const resource = Object.hasOwn(SOURCES, key) ? SOURCES[key] : undefined;
    return resource === undefined ? [] : [`${resource} (${path}.${key})`];
  });
