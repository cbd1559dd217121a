import type { JsonObject } from '../../object/json.ts';
import {
  ensureObject,
  has,
  isTrue,
  numberAt,
  objectAt,
  objectsAt,
  optionalAt,
  setDefault,
  setDefaultText,
  textAt,
} from './fields.ts';
import { imageTag } from './image-name.ts';
import { claimSpecDefaults } from './volume-claims.ts';

/** 0644: files in volumes made from API objects. */
const FILE_MODE = 420;
const HOUR_SECONDS = 3600;

/** Defaults of a pod and of every template of one. */
export function podSpecDefaults(spec: JsonObject): void {
  setDefaultText(spec, 'dnsPolicy', 'ClusterFirst');
  setDefaultText(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'securityContext', {});
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  if ((numberAt(spec, 'terminationGracePeriodSeconds') ?? 0) < 0) spec['terminationGracePeriodSeconds'] = 1;
  setDefaultText(spec, 'schedulerName', 'default-scheduler');
  mirrorAccount(spec);
  for (const volume of objectsAt(spec, 'volumes')) volumeDefaults(volume);
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of objectsAt(spec, list)) containerDefaults(container);
  }
}

/** The old name of the account field is written beside the new one. */
export function mirrorAccount(spec: JsonObject): void {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (name === '') return;
  spec['serviceAccountName'] = name;
  spec['serviceAccount'] = name;
}

/** Defaults only pods get: templates keep what their author wrote. */
export function podDefaults(spec: JsonObject): void {
  for (const list of ['initContainers', 'containers']) {
    for (const container of objectsAt(spec, list)) requestsFromLimits(objectAt(container, 'resources'));
  }
  setDefault(spec, 'enableServiceLinks', true);
  if (!isTrue(spec, 'hostNetwork')) return;
  for (const list of ['initContainers', 'containers']) {
    for (const container of objectsAt(spec, list)) {
      for (const port of objectsAt(container, 'ports'))
        setDefaultText(port, 'hostPort', port['containerPort'] ?? 0);
    }
  }
}

function requestsFromLimits(resources: JsonObject): void {
  const limits = optionalAt(resources, 'limits');
  if (limits === undefined) return;
  const requests = ensureObject(resources, 'requests');
  for (const [name, value] of Object.entries(limits)) setDefault(requests, name, value);
}

function containerDefaults(container: JsonObject): void {
  if (textAt(container, 'imagePullPolicy') === '') container['imagePullPolicy'] = pullPolicyOf(container, 'image');
  setDefaultText(container, 'terminationMessagePath', '/dev/termination-log');
  setDefaultText(container, 'terminationMessagePolicy', 'File');
  for (const port of objectsAt(container, 'ports')) setDefaultText(port, 'protocol', 'TCP');
  for (const variable of objectsAt(container, 'env')) fieldRefDefaults(objectAt(variable, 'valueFrom'));
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = optionalAt(container, name);
    if (probe !== undefined) probeDefaults(probe);
  }
  const lifecycle = objectAt(container, 'lifecycle');
  for (const name of ['postStart', 'preStop']) httpDefaults(objectAt(lifecycle, name));
}

const pullPolicyOf = (holder: JsonObject, key: string): string =>
  imageTag(textAt(holder, key)) === 'latest' ? 'Always' : 'IfNotPresent';

function probeDefaults(probe: JsonObject): void {
  setDefaultText(probe, 'timeoutSeconds', 1);
  setDefaultText(probe, 'periodSeconds', 10);
  setDefaultText(probe, 'successThreshold', 1);
  setDefaultText(probe, 'failureThreshold', 3);
  httpDefaults(probe);
  const grpc = optionalAt(probe, 'grpc');
  if (grpc !== undefined) setDefault(grpc, 'service', '');
}

function httpDefaults(handler: JsonObject): void {
  const http = optionalAt(handler, 'httpGet');
  if (http === undefined) return;
  setDefaultText(http, 'path', '/');
  setDefaultText(http, 'scheme', 'HTTP');
}

function fieldRefDefaults(holder: JsonObject): void {
  const reference = optionalAt(holder, 'fieldRef');
  if (reference !== undefined) setDefaultText(reference, 'apiVersion', 'v1');
}

/** Go's name of the field every volume source but one keeps its mode in. */
const MODE_SOURCES = ['secret', 'configMap', 'downwardAPI', 'projected'];

function volumeDefaults(volume: JsonObject): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume['emptyDir'] = {};
  for (const name of MODE_SOURCES) {
    const source = optionalAt(volume, name);
    if (source !== undefined) setDefault(source, 'defaultMode', FILE_MODE);
  }
  for (const item of objectsAt(objectAt(volume, 'downwardAPI'), 'items')) fieldRefDefaults(item);
  for (const source of objectsAt(objectAt(volume, 'projected'), 'sources')) projectionDefaults(source);
  driverDefaults(volume);
  const claim = optionalAt(objectAt(volume, 'ephemeral'), 'volumeClaimTemplate');
  if (claim !== undefined) claimSpecDefaults(objectAt(claim, 'spec'));
  const image = optionalAt(volume, 'image');
  if (image !== undefined && !has(image, 'pullPolicy')) image['pullPolicy'] = pullPolicyOf(image, 'reference');
}

function projectionDefaults(source: JsonObject): void {
  for (const item of objectsAt(objectAt(source, 'downwardAPI'), 'items')) fieldRefDefaults(item);
  const token = optionalAt(source, 'serviceAccountToken');
  if (token !== undefined) setDefault(token, 'expirationSeconds', HOUR_SECONDS);
}

/** Volume sources of one vendor or protocol, also those of persistent volumes. */
export function driverDefaults(source: JsonObject): void {
  const hostPath = optionalAt(source, 'hostPath');
  if (hostPath !== undefined) setDefault(hostPath, 'type', '');
  const iscsi = optionalAt(source, 'iscsi');
  if (iscsi !== undefined) setDefaultText(iscsi, 'iscsiInterface', 'default');
  const rbd = optionalAt(source, 'rbd');
  if (rbd !== undefined) {
    setDefaultText(rbd, 'pool', 'rbd');
    setDefaultText(rbd, 'user', 'admin');
    setDefaultText(rbd, 'keyring', '/etc/ceph/keyring');
  }
  const azure = optionalAt(source, 'azureDisk');
  if (azure !== undefined) {
    setDefault(azure, 'cachingMode', 'ReadWrite');
    setDefault(azure, 'fsType', 'ext4');
    setDefault(azure, 'readOnly', false);
    setDefault(azure, 'kind', 'Shared');
  }
  const scale = optionalAt(source, 'scaleIO');
  if (scale === undefined) return;
  setDefaultText(scale, 'storageMode', 'ThinProvisioned');
  setDefaultText(scale, 'fsType', 'xfs');
}
