import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { DefinedKind } from '../schema/define-kind.ts';
import { CredentialsRequestDefinition } from './cloudcredential-v1.schema.ts';
import {
  ApiServerConfigDefinition,
  ClusterOperatorDefinition,
  ClusterVersionDefinition,
  FeatureGateDefinition,
  InfrastructureDefinition,
  NetworkDefinition,
  ProxyDefinition,
} from './config-v1.schema.ts';
import { KubeControllerManagerDefinition } from './operator-v1.schema.ts';

const KINDS: readonly Pick<DefinedKind, 'toCRD'>[] = [
  InfrastructureDefinition,
  ClusterOperatorDefinition,
  ClusterVersionDefinition,
  FeatureGateDefinition,
  ProxyDefinition,
  NetworkDefinition,
  ApiServerConfigDefinition,
  KubeControllerManagerDefinition,
  CredentialsRequestDefinition,
];

/** CustomResourceDefinitions of the kinds of OpenShift that we use, for clusters that are not OpenShift; new ones each time. */
export const openshiftDefinitions = (): readonly (JsonObject & KubeObject)[] => KINDS.map((kind) => kind.toCRD());
