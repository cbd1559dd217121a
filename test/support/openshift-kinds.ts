import type { JsonObject } from '../../src/api/json.ts';
import type { Kind, KubeObject } from '../../src/api/object.ts';
import {
  ApiServerConfig,
  ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Network,
  Proxy,
} from '../../src/api/openshift/config-v1.ts';

const OPEN: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const TEXT: JsonObject = { type: 'string' };

/** As openshift/api has it: conditions are a list by type, and one cannot be without its time. */
const OPERATOR_STATUS: JsonObject = {
  type: 'object',
  properties: {
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['lastTransitionTime', 'status', 'type'],
        properties: {
          type: TEXT,
          status: TEXT,
          reason: TEXT,
          message: TEXT,
          lastTransitionTime: { type: 'string', format: 'date-time' },
        },
      },
    },
    versions: {
      type: 'array',
      items: { type: 'object', required: ['name', 'version'], properties: { name: TEXT, version: TEXT } },
    },
    relatedObjects: {
      type: 'array',
      items: {
        type: 'object',
        required: ['group', 'name', 'resource'],
        properties: { group: TEXT, resource: TEXT, namespace: TEXT, name: TEXT },
      },
    },
    extension: { nullable: true, ...OPEN },
  },
};

const definition = ({ group, version, kind, plural, scope }: Kind, status: JsonObject, required: string[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope,
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', required, properties: { spec: OPEN, status } } },
      },
    ],
  },
});

/** Definitions of the kinds of a cluster's configuration, for `crds` of a test environment. */
export const OPENSHIFT_DEFINITIONS: readonly (KubeObject & JsonObject)[] = [
  definition(ClusterOperator, OPERATOR_STATUS, ['spec']),
  ...[Infrastructure, ClusterVersion, FeatureGate, Proxy, Network, ApiServerConfig].map((kind) =>
    definition(kind, OPEN, []),
  ),
];

/** The same for `kinds`. */
export const OPENSHIFT_KINDS = OPENSHIFT_DEFINITIONS.map((one) => ({ toCRD: (): KubeObject => one }));
