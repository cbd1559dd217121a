// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './storage-v1-types.ts';

export type * from './storage-v1-types.ts';

export type CSIDriver = types.CSIDriver;
export const CSIDriver: Kind<CSIDriver, CreateOf<CSIDriver>> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  scope: 'Cluster',
};

export type CSINode = types.CSINode;
export const CSINode: Kind<CSINode, CreateOf<CSINode>> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  scope: 'Cluster',
};

export type CSIStorageCapacity = types.CSIStorageCapacity;
export const CSIStorageCapacity: Kind<CSIStorageCapacity, CreateOf<CSIStorageCapacity>> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
};

export type StorageClass = types.StorageClass;
export const StorageClass: Kind<StorageClass, CreateOf<StorageClass>> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  scope: 'Cluster',
};

export type VolumeAttachment = types.VolumeAttachment;
export const VolumeAttachment: Kind<VolumeAttachment, CreateOf<VolumeAttachment>> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
};

export type VolumeAttributesClass = types.VolumeAttributesClass;
export const VolumeAttributesClass: Kind<VolumeAttributesClass, CreateOf<VolumeAttributesClass>> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  scope: 'Cluster',
};
