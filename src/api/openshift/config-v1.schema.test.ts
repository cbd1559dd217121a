import { describe, it } from 'node:test';
import { assertSameNames, type Defined, type Fields, type Part, same } from '../../../test/support/kind-fields.ts';
import type { KindOf } from '../schema/define-kind.ts';
import type { CredentialsRequestDefinition } from './cloudcredential-v1.schema.ts';
import type { CredentialsRequest } from './cloudcredential-v1.ts';
import {
  ApiServerConfigDefinition,
  ClusterOperatorDefinition,
  ClusterVersionDefinition,
  FeatureGateDefinition,
  InfrastructureDefinition,
  NetworkDefinition,
  ProxyDefinition,
} from './config-v1.schema.ts';
import {
  ApiServerConfig,
  ClusterOperator,
  ClusterVersion,
  type ControlPlaneTopology,
  FeatureGate,
  Infrastructure,
  Network,
  type PlatformStatus,
  type PlatformType,
  Proxy,
} from './config-v1.ts';

/** The conditions of kinds where we only look at other things: they are there for whoever writes them. */
type Unread<T> = Omit<T, 'conditions'>;

describe('the definitions of config.openshift.io/v1', () => {
  it('have the fields of the types that readers use', () => {
    same<Fields<Infrastructure>, Defined<typeof InfrastructureDefinition>>(true);
    // Its spec has no fields, which has several spellings.
    type Operator = Defined<typeof ClusterOperatorDefinition>['status'];
    same<Fields<Part<ClusterOperator, 'status'>>, Operator>(true);
    same<Fields<Proxy>, Defined<typeof ProxyDefinition>>(true);
    same<Fields<CredentialsRequest>, Defined<typeof CredentialsRequestDefinition>>(true);
    same<Fields<Part<Network, 'spec'>>, Defined<typeof NetworkDefinition>['spec']>(true);
    same<Fields<Part<ApiServerConfig, 'spec'>>, Defined<typeof ApiServerConfigDefinition>['spec']>(true);
    same<Fields<ClusterVersion>, Defined<typeof ClusterVersionDefinition>>(true);
    type Gates = Defined<typeof FeatureGateDefinition>['status'];
    same<Unread<Fields<Part<FeatureGate, 'status'>>>, Unread<Gates>>(true);
  });

  it('allow the texts of the types that readers use', () => {
    type Status = Part<KindOf<typeof InfrastructureDefinition>, 'status'>;
    type Platform = Part<Status, 'platformStatus'>;
    same<Part<Platform, 'type'>, PlatformType>(true);
    same<Status['controlPlaneTopology'], ControlPlaneTopology>(true);
    type State<T extends { readonly external?: unknown }> =
      NonNullable<T['external']> extends {
        readonly cloudControllerManager?: infer Manager;
      }
        ? Manager extends { readonly state?: infer Text }
          ? Exclude<Text, undefined>
          : never
        : never;
    same<State<Platform>, State<PlatformStatus>>(true);
  });

  it('have the names of the kinds that readers use', () => {
    assertSameNames([
      [Infrastructure, InfrastructureDefinition],
      [ClusterOperator, ClusterOperatorDefinition],
      [ClusterVersion, ClusterVersionDefinition],
      [FeatureGate, FeatureGateDefinition],
      [Proxy, ProxyDefinition],
      [Network, NetworkDefinition],
      [ApiServerConfig, ApiServerConfigDefinition],
    ]);
  });
});
