import type { Schema } from '../../src/api/schema/structural.ts';
import { builtinResources, completeResource } from '../../src/apiserver/builtin-data/builtin-resources.ts';
import type { Columns, Resource, Strategy, Subresource } from '../../src/apiserver/registry/resource.ts';

const COLUMNS: Columns = { definitions: [], cells: () => [] };

/** Kinds whose deletion answers with the object (DE2). */
const RETURNED = new Set([
  'CSIDriver',
  'CSINode',
  'Namespace',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Pod',
  'PodTemplate',
  'ResourceQuota',
  'Service',
  'ServiceAccount',
  'StorageClass',
  'VolumeAttachment',
  'VolumeAttributesClass',
]);

/** All built-in resources with strategies that know just what documents show. */
export const builtins = (): readonly Resource[] =>
  builtinResources().map((builtin) => {
    const strategy: Strategy = {
      tracksGeneration: false,
      allowsUnconditionalUpdate: true,
      returnsDeletedObject: RETURNED.has(builtin.kind),
    };
    return completeResource(builtin, strategy, COLUMNS);
  });

/** One version of the resource `gadgets.generated.slipway.dev`; the test server gets the same definition. */
export function gadgets(version: string, schema: Schema, change: Partial<Resource> = {}): Resource {
  const group = 'generated.slipway.dev';
  return {
    group,
    version,
    kind: 'Gadget',
    listKind: 'GadgetList',
    plural: 'gadgets',
    singular: 'gadget',
    shortNames: ['gd'],
    categories: ['all', 'slip'],
    isNamespaced: true,
    isCustom: true,
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    subresources: new Map(),
    prefix: `/registry/${group}/gadgets/`,
    storageVersion: 'v1',
    schema,
    strategy: { tracksGeneration: true, allowsUnconditionalUpdate: false },
    columns: COLUMNS,
    ...change,
  };
}

const verbs = ['get', 'patch', 'update'];

/** Status and scale of a custom resource. */
export const gadgetSubresources = (version: string): ReadonlyMap<string, Subresource> =>
  new Map<string, Subresource>([
    ['status', { name: 'status', kind: 'Gadget', group: 'generated.slipway.dev', version, verbs, type: 'status' }],
    ['scale', { name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs, type: 'scale' }],
  ]);
