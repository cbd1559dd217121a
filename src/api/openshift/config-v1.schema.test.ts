import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind } from '../object.ts';
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

/** Compiles only when the two types are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : { readonly a: A; readonly b: B };
const same = <A, B>(_isSame: Same<A, B>): void => {};

/** Which fields there are and of what type; not what may be missing, nor which texts are allowed. */
type Fields<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? Fields<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]-?: Fields<Exclude<T[Key], null | undefined>> }
      : T;
type Defined<K extends Kind> = Fields<KindOf<K>>;
type Part<T, Key extends keyof T> = Exclude<T[Key], undefined>;
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
    type Version = Defined<typeof ClusterVersionDefinition>['status'];
    same<Unread<Fields<Part<ClusterVersion, 'status'>>>, Unread<Version>>(true);
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
    const pairs: readonly (readonly [Kind, Kind])[] = [
      [Infrastructure, InfrastructureDefinition],
      [ClusterOperator, ClusterOperatorDefinition],
      [ClusterVersion, ClusterVersionDefinition],
      [FeatureGate, FeatureGateDefinition],
      [Proxy, ProxyDefinition],
      [Network, NetworkDefinition],
      [ApiServerConfig, ApiServerConfigDefinition],
    ];
    for (const [{ group, version, kind, plural, scope }, definition] of pairs) {
      const got = definition;
      assert.deepEqual(
        [got.group, got.version, got.kind, got.plural, got.scope],
        [group, version, kind, plural, scope],
      );
    }
  });
});
